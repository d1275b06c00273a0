/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for whole units on hypercubes (RJK03). A step is a dimension, low to high; CWA's high to low.
 *
 * The links of colour i are those of dimension i, from the host without the bit to the host with it. */
#include <math.h>

#include "balance/internal.h"

/* Section 3: of an odd sum 2m + 1 the host without the bit gets m if m is odd, else m + 1. The rule names the
 * pair by P_k and P_j without order; the example, P6 = 4 and P7 = 7 to 5 and 6, says that P_k has no bit. */
double
lbm_flow_oem(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace, const struct lbm_ends *e)
{
    (void)rule;
    (void)integer;
    (void)pace;
    double sum = e->load_p + e->load_q, m = floor(sum / 2.0);
    int odd_sum = sum != 2.0 * m, odd_m = fmod(m, 2.0) != 0.0;
    return e->load_p - (odd_sum && LBM_MUTANT(OEM_ODD, !odd_m, 1) ? m + 1.0 : m);
}

/* Section 2: the larger keeps the odd unit. */
double
lbm_flow_dem(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace, const struct lbm_ends *e)
{
    (void)rule;
    (void)integer;
    (void)pace;
    double half = (e->load_p - e->load_q) / 2.0;
    return LBM_MUTANT(DEM_ODD, trunc(half), copysign(ceil(fabs(half)), half));
}

/* The DEM that table 1 counts: a difference of one stays, else the larger gives half of it, rounded up. */
double
lbm_flow_dem_table(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
                   const struct lbm_ends *e)
{
    (void)rule;
    (void)integer;
    (void)pace;
    double d = e->load_p - e->load_q;
    return fabs(d) <= LBM_MUTANT(DEM_TABLE_BAND, 1.0, 0.0) ? 0.0 : d > 0.0 ? ceil(d / 2.0) : floor(d / 2.0);
}

/* ---- CWA ----------------------------------------------------------------------------------------- */

static double
sum(const double *load, uint32_t first, uint32_t n)
{
    double total = 0.0;
    for (uint32_t p = first; p < first + n; p++)
        total += load[p];
    return total;
}

/* What host p is to have of all the units: at each dimension, high to low, the lower half has the floor. */
static double
quota(double units, uint32_t p, uint32_t n)
{
    for (uint32_t bit = n / 2; bit > 0; bit /= 2) {
        double lower = LBM_MUTANT(CWA_FLOOR, floor(units / 2.0), ceil(units / 2.0));
        units = (p & bit) == 0 ? lower : units - lower;
    }
    return units;
}

/* Level the halves [first, first + half) and the next half: the lower is to have the floor of half of the
 * units. Of the half that has too many, hosts above their quota give in the order of their ids.
 * In: units of the whole cube of n; link: colour's links, by p; those of this block are consecutive. */
static void
level_halves(const struct lbm_link *link, uint32_t first, uint32_t half, double units, uint32_t n,
             double *load, double *flow)
{
    double lower = sum(load, first, half), upper = sum(load, first + half, half);
    double all = lower + upper;
    double excess = lower - LBM_MUTANT(CWA_FLOOR, floor(all / 2.0), ceil(all / 2.0)); /* of the lower half, if positive */
    double sign = excess < 0.0 ? -1.0 : 1.0, left = fabs(excess);
    for (uint32_t k = 0; k < half && left > 0.0; k++) {
        uint32_t giver = excess > 0.0 ? first + k : first + half + k;
        double given = fmin(left, fmax(load[giver] - LBM_MUTANT(CWA_QUOTA, quota(units, giver, n), 0.0), 0.0));
        flow[k] = sign * given;
        lbm_carry(load, &link[k], flow[k]);
        left -= given;
    }
}

void
lbm_step_cwa(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    uint32_t n = b->net->h->n;
    uint32_t dimension = c->n_colours - 1 - (uint32_t)(b->t % c->n_colours), half = UINT32_C(1) << dimension;
    double units = sum(load, 0, n);
    uint32_t i = c->first[dimension];
    for (uint32_t first = 0; first < n; first += 2 * half, i += half)
        level_halves(&c->link[i], first, half, units, n, load, &flow[i]);
}
