/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffusion in closed form: random walks (SAN Theorems 5 and 15). */
#include <math.h>

#include "balance/field.h"
#include "base/check.h"
#include "base/mutants.h"

/* Place of i in an array of n that is continued by its mirror image, again and again. */
static uint32_t
reflected(int64_t i, uint32_t n)
{
    int64_t period = 2 * (int64_t)n, place = (i % period + period) % period;
    return (uint32_t)(place < n ? place : (period - LBM_MUTANT(WALK_REFLECTION, 1, 0) - place) % n);
}

/* 2^-t times the binomial coefficient of (t + k) / 2, 0 if t + k is odd or |k| > t. */
static double
path_share(int64_t t, int64_t k)
{
    if ((t + k) % 2 != 0 || k > t || k < -t)
        return 0.0;
    double chosen = (double)(t + k) / 2, all = (double)t;
    return exp(lgamma(all + 1) - lgamma(chosen + 1) - lgamma(all - chosen + 1) - all * log(2.0));
}

static double
closed_line(const double *start, uint32_t n, int64_t t, int64_t i)
{
    double sum = 0.0;
    for (int64_t j = i - t; j <= i + t; j++)
        sum += path_share(t, i - j) * start[reflected(j, n)];
    return sum;
}

/* omega of Theorem 15 is the product of two one-dimensional walks along the diagonals. */
static double
closed_square(const double *start, uint32_t n, int64_t t, int64_t x, int64_t y)
{
    double sum = 0.0;
    for (int64_t dx = -t; dx <= t; dx++)
        for (int64_t dy = -t; dy <= t; dy++)
            sum += path_share(t, dx + dy) * path_share(t, LBM_MUTANT(WALK_PLANE, dx - dy, dx + dy)) *
                   start[(size_t)reflected(y - dy, n) * n + reflected(x - dx, n)];
    return sum;
}

double
lbm_field_closed(const double *start, unsigned d, uint32_t side, uint32_t steps, size_t host)
{
    LBM_ASSERT(d == 1 || d == 2);
    if (d == 1)
        return closed_line(start, side, steps, (int64_t)host);
    return closed_square(start, side, steps, (int64_t)(host % side), (int64_t)(host / side));
}
