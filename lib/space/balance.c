/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights that give every region its share of given points: a balanced power diagram.
 * Source: HEI97 section 10 asks for it; the rule is lbm_regions_adapt.
 *
 * Most points stay where they are while weights settle, so each keeps a slack: how much other weights may
 * still rise against its own region's before it must be looked at again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "space/near.h"

/* Below this a slack is as good as none: above the rounding of powers of the unit box. */
static const double slack_min = 1e-12;

struct balance {
    struct lbm_regions regions; /* weight is this struct's own */
    struct lbm_near near;
    uint32_t n_points;
    const double *point;
    const uint32_t *work;
    double *weight; /* [n] */
    double *load;   /* [n] */
    double *target; /* [n] */
    double *gain;   /* [n] of the adaptation */
    double *lack;   /* [n] of the adaptation before */
    double *change; /* [n] of the weights in this round */
    double *slack;  /* [n_points] */
    uint32_t *host; /* [n_points] */
};

static double
work_of(const struct balance *b, uint32_t i)
{
    return b->work != NULL ? b->work[i] : 1.0;
}

static void
assign_all(struct balance *b)
{
    for (uint32_t i = 0; i < b->n_points; i++) {
        struct lbm_winner winner = lbm_find_winner(&b->regions, &b->point[(size_t)i * b->regions.m]);
        b->host[i] = winner.region;
        b->slack[i] = winner.margin;
        b->load[winner.region] += work_of(b, i);
    }
}

/* After weights have changed: look at the points whose slack is used up. */
static void
assign_again(struct balance *b)
{
    double most = -HUGE_VAL, weight_most = -HUGE_VAL;
    for (uint32_t p = 0; p < b->regions.n; p++) {
        most = fmax(most, b->change[p]);
        weight_most = fmax(weight_most, b->weight[p]);
    }
    for (uint32_t i = 0; i < b->n_points; i++) {
        uint32_t host = b->host[i];
        b->slack[i] -= most - b->change[host];
        if (b->slack[i] > slack_min)
            continue;
        const double *x = &b->point[(size_t)i * b->regions.m];
        struct lbm_winner winner = lbm_near_find(&b->near, &b->regions, x, host, weight_most);
        b->slack[i] = winner.margin;
        if (winner.region != host) {
            b->load[host] -= work_of(b, i);
            b->load[winner.region] += work_of(b, i);
            b->host[i] = winner.region;
        }
    }
}

static void
adapt_all(struct balance *b, double delta)
{
    for (uint32_t p = 0; p < b->regions.n; p++) {
        b->change[p] = lbm_regions_adapt(b->load[p], b->target[p], delta, &b->gain[p], &b->lack[p]);
        b->weight[p] += b->change[p];
    }
}

static double
imbalance(const struct balance *b)
{
    double most = 0.0;
    for (uint32_t p = 0; p < b->regions.n; p++)
        most = fmax(most, b->load[p] / b->target[p]);
    return most - 1.0;
}

static int
set_targets(struct balance *b, const double *capacity)
{
    double total = 0.0, capacities = 0.0;
    for (uint32_t i = 0; i < b->n_points; i++)
        total += work_of(b, i);
    for (uint32_t p = 0; p < b->regions.n; p++) {
        LBM_ASSERT(capacity[p] > 0.0);
        capacities += capacity[p];
    }
    for (uint32_t p = 0; p < b->regions.n; p++) {
        b->target[p] = total * LBM_MUTANT(CELL_SHARE, capacity[p] / capacities, 1.0 / b->regions.n);
        b->gain[p] = 1.0;
    }
    return total > 0.0;
}

/* The step's unit: what separates neighbouring sites, on average. Of a grid it is the least distance, which
 * a host that adapts alone would take; two sites that happen to be close must not slow down all others. */
static double
spacing(const struct lbm_regions *r)
{
    double sum = 0.0;
    uint32_t n = 0;
    for (uint32_t p = 0; p < r->n; p++) {
        double nearest = HUGE_VAL;
        for (uint32_t q = 0; q < r->n; q++) {
            double d = lbm_metric2(&r->site[(size_t)p * r->m], &r->site[(size_t)q * r->m], r->m, r->wrap);
            nearest = d < nearest && d > 0.0 ? d : nearest;
        }
        if (isfinite(nearest)) {
            sum += nearest;
            n++;
        }
    }
    return n > 0 ? sqrt(sum / n) : 1.0;
}

static double
run(struct balance *b, double tolerance, int rounds, double *weight, uint32_t *host)
{
    double delta = spacing(&b->regions), best = HUGE_VAL;
    assign_all(b);
    for (int round = 0;; round++) {
        double now = imbalance(b);
        if (now < best) {
            best = now;
            memcpy(weight, b->weight, b->regions.n * sizeof *weight);
            memcpy(host, b->host, b->n_points * sizeof *host);
        }
        if (best <= tolerance || round >= rounds)
            return best;
        adapt_all(b, delta);
        assign_again(b);
    }
}

double
lbm_regions_balance(uint32_t n, unsigned m, int wrap, const double *site, const double *capacity,
                    uint32_t n_points, const double *point, const uint32_t *work, double tolerance,
                    int rounds, double *weight, uint32_t *host)
{
    LBM_ASSERT(n >= 1 && (m == 2 || m == 3));
    /* One block for the six arrays by region. */
    double *block = lbm_alloc((size_t)n * 6, sizeof *block);
    struct balance b = {
        .regions = {.n = n, .m = m, .wrap = wrap, .site = site, .weight = block},
        .n_points = n_points,
        .point = point,
        .work = work,
        .slack = lbm_alloc(n_points, sizeof *b.slack),
        .host = lbm_alloc(n_points, sizeof *b.host),
    };
    double reached = -1.0;
    if (block != NULL && b.slack != NULL && b.host != NULL && lbm_near_build(&b.regions, &b.near) == LBM_OK) {
        double **arrays[] = {&b.weight, &b.load, &b.target, &b.gain, &b.lack, &b.change};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            *arrays[i] = block + i * n;
        memset(weight, 0, n * sizeof *weight);
        reached = set_targets(&b, capacity) ? run(&b, tolerance, rounds, weight, host) : 0.0;
    }
    lbm_near_free(&b.near);
    free(block);
    free(b.slack);
    free(b.host);
    return reached;
}
