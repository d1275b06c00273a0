/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for whole units on hypercubes (RJK03). A step is a dimension, low to high; CWA's high to low.
 * The hybrid (section 5.5) is OEM in the lowest dimensions, then CWA among hosts that agree in these.
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

/* ---- CWA, and the hybrid of OEM and CWA --------------------------------------------------------------- */

/* Hosts whose lowest `low` bits are `bits`: a cube of `size` hosts of its own, numbered without these bits.
 */
struct subcube {
    uint32_t low, bits, size;
};

static uint32_t
host_of(const struct subcube *s, uint32_t k)
{
    return s->bits + (k << s->low);
}

static double
sum(const struct subcube *s, const double *load, uint32_t first, uint32_t n)
{
    double total = 0.0;
    for (uint32_t k = first; k < first + n; k++)
        total += load[host_of(s, k)];
    return total;
}

/* What host k is to have of all the units: at each dimension, high to low, the lower half has the floor. */
static double
quota(double units, uint32_t k, uint32_t n)
{
    for (uint32_t bit = n / 2; bit > 0; bit /= 2) {
        double lower = LBM_MUTANT(CWA_FLOOR, floor(units / 2.0), ceil(units / 2.0));
        units = (k & bit) == 0 ? lower : units - lower;
    }
    return units;
}

/* Level the halves [first, first + half) and the next half: the lower is to have the floor of half of the
 * units. Of the half that has too many, hosts above their quota give in the order of their ids.
 * In: units of the whole subcube; link, flow: those of the dimension, by the host without its bit. */
static void
flow_halves(const struct subcube *s, uint32_t first, uint32_t half, double units, const struct lbm_link *link,
            double *load, double *flow)
{
    double lower = sum(s, load, first, half), all = lower + sum(s, load, first + half, half);
    double excess = lower - LBM_MUTANT(CWA_FLOOR, floor(all / 2.0), ceil(all / 2.0)); /* of the lower half */
    double sign = excess < 0.0 ? -1.0 : 1.0, left = fabs(excess);
    for (uint32_t k = 0; k < half && left > 0.0; k++) {
        uint32_t giver = excess > 0.0 ? first + k : first + half + k, p = host_of(s, first + k);
        double over = load[host_of(s, giver)] - LBM_MUTANT(CWA_QUOTA, quota(units, giver, s->size), 0.0);
        double given = fmin(left, fmax(over, 0.0));
        uint32_t bit = half << s->low, at = p / (2 * bit) * bit + p % bit;
        flow[at] = sign * given;
        lbm_carry(load, &link[at], flow[at]);
        left -= given;
    }
}

static void
step_oem(struct lbm_balancer *b, uint32_t dimension, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    for (uint32_t i = c->first[dimension]; i < c->first[dimension + 1]; i++) {
        const struct lbm_ends ends = {.load_p = load[c->link[i].p], .load_q = load[c->link[i].q]};
        flow[i] = lbm_flow_oem(&b->rule, 1, NULL, &ends);
        lbm_carry(load, &c->link[i], flow[i]);
    }
}

void
lbm_step_cwa(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    uint32_t d = c->n_colours, t = (uint32_t)(b->t % d), low = b->rule.low;
    b->talks = b->net->h->n / 2;
    if (low > 0 && t < low - LBM_MUTANT(HYBRID_ORDER, 0, 1)) {
        step_oem(b, t, load, flow);
        return;
    }
    if (t < low)
        return;
    uint32_t dimension = d - 1 - (t - low), half = UINT32_C(1) << (dimension - low);
    const struct lbm_link *link = &c->link[c->first[dimension]];
    for (uint32_t bits = 0; bits < UINT32_C(1) << low; bits++) {
        struct subcube s = {.low = low, .bits = bits, .size = b->net->h->n >> low};
        double units = sum(&s, load, 0, s.size);
        for (uint32_t first = 0; first < s.size; first += 2 * half)
            flow_halves(&s, first, half, units, link, load, &flow[c->first[dimension]]);
    }
}

uint32_t
lbm_collection_rounds(const struct lbm_network *net, const struct lbm_rule *rule)
{
    uint32_t d = net->colouring.n_colours;
    return rule->policy == LBM_POLICY_CWA && rule->low < d
               ? LBM_MUTANT(CWA_COLLECTION, 2, 1) * (d - rule->low)
               : 0;
}

uint32_t
lbm_cwa_difference(const struct lbm_network *net, const struct lbm_rule *rule)
{
    uint32_t d = net->colouring.n_colours;
    return (rule->low + 1) / 2 + (rule->low < d);
}
