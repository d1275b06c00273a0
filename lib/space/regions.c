/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which region holds a point, and how the weight of one region adapts to its load. */
#include <math.h>

#include "base/check.h"
#include "space/metric.h"

double
lbm_space_distance2(const double *x, const double *y, unsigned m, int wrap)
{
    return lbm_metric2(x, y, m, wrap);
}

uint32_t
lbm_regions_find(const struct lbm_regions *r, const double *x, double *margin)
{
    LBM_ASSERT(r->n >= 1 && (r->m == 2 || r->m == 3));
    struct lbm_winner winner = lbm_find_winner(r, x);
    if (margin != NULL)
        *margin = winner.margin;
    return winner.region;
}

double
lbm_regions_least_distance(const struct lbm_regions *r)
{
    double least = HUGE_VAL;
    for (uint32_t p = 0; p < r->n; p++)
        for (uint32_t q = 0; q < p; q++) {
            double d = lbm_metric2(&r->site[(size_t)p * r->m], &r->site[(size_t)q * r->m], r->m, r->wrap);
            if (d < least && d > 0.0)
                least = d;
        }
    return isfinite(least) ? sqrt(least) : 1.0;
}

double
lbm_regions_adapt(double load, double target, double delta, double *gain, double *previous)
{
    /* Without a target the region shall vanish: any load is too much. */
    double lack = target > 0.0 ? (target - load) / target : load > 0.0 ? -1.0 : 0.0;
    lack = fmin(fmax(lack, -1.0), 1.0);
    if (lack * *previous < 0.0)
        *gain *= 0.6;
    else
        *gain = fmin(2.0, *gain * 1.15);
    *previous = lack;
    return LBM_MUTANT(CELL_GAIN, 0.5, -0.5) * *gain * delta * delta * lack;
}
