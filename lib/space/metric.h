/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distances and powers, inlined with m and wrap as constants; not for other modules. */
#ifndef LBM_SPACE_METRIC_H
#define LBM_SPACE_METRIC_H

#include <math.h>

#include "base/mutants.h"
#include "space/space.h"

#define LBM_INLINE static inline __attribute__((always_inline))

LBM_INLINE double
lbm_metric2(const double *x, const double *y, unsigned m, int wrap)
{
    double sum = 0.0;
    for (unsigned k = 0; k < m; k++) {
        double d = x[k] - y[k];
        if (wrap)
            d -= nearbyint(d);
        sum += d * d;
    }
    return sum;
}

/* Power of x with respect to region p: the least one owns x. */
LBM_INLINE double
lbm_power(const struct lbm_regions *r, uint32_t p, const double *x, unsigned m, int wrap)
{
    return lbm_metric2(x, &r->site[(size_t)p * m], m, wrap) - LBM_MUTANT(CELL_WEIGHT, r->weight[p], 0.0);
}

/* The region that holds x and how much less its power is than the next region's. */
struct lbm_winner {
    uint32_t region;
    double power, margin; /* margin is infinite if there is one region */
};

LBM_INLINE struct lbm_winner
lbm_scan_regions(const struct lbm_regions *r, const double *x, unsigned m, int wrap)
{
    uint32_t region = 0;
    double least = lbm_power(r, 0, x, m, wrap), second = HUGE_VAL;
    for (uint32_t p = 1; p < r->n; p++) {
        double power = lbm_power(r, p, x, m, wrap);
        if (power < least) {
            second = least;
            least = power;
            region = p;
        } else if (power < second) {
            second = power;
        }
    }
    return (struct lbm_winner){region, least, second - least};
}

/* The scan of a case: both dimensions of the plane are worth a loop of their own. */
LBM_INLINE struct lbm_winner
lbm_find_winner(const struct lbm_regions *r, const double *x)
{
    if (r->wrap)
        return lbm_scan_regions(r, x, r->m, 1);
    return r->m == 2 ? lbm_scan_regions(r, x, 2, 0) : lbm_scan_regions(r, x, 3, 0);
}

#endif
