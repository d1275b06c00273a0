/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generalized dimension exchange of one pair. */
#include <math.h>

#include "balance/balance.h"
#include "base/check.h"
#include "base/mutants.h"

/* floor(d * numerator / denominator), without a product beyond 64 bits. */
static uint64_t
fraction(uint64_t d, uint32_t numerator, uint32_t denominator)
{
    return d / denominator * numerator +
           (d % denominator * numerator + LBM_MUTANT(GDE_ROUNDING, 0, denominator - 1)) / denominator;
}

uint64_t
lbm_gde_exchange(uint64_t heavier, uint64_t lighter, uint32_t lambda_numerator, uint32_t lambda_denominator)
{
    LBM_ASSERT(heavier >= lighter);
    LBM_ASSERT(lambda_denominator > 0 && lambda_numerator <= lambda_denominator);
    uint64_t d = heavier - lighter;
    /* d - ceil((1 - lambda) d) = floor(lambda d) */
    return d <= LBM_MUTANT(GDE_BAND, 1, 2) ? 0 : fraction(d, lambda_numerator, lambda_denominator);
}

/* What the host above its share gives; its load is `load`. */
static int64_t
give(uint64_t load, double twice_excess, double lambda)
{
    if (twice_excess <= 1.0)
        return 0;
    /* A product that is an integer but for rounding is that integer. */
    double share = floor(lambda * twice_excess * (1.0 + 1e-12));
    return share >= (double)load ? (int64_t)load : (int64_t)share;
}

int64_t
lbm_gde_share(uint64_t load_p, double target_p, uint64_t load_q, double target_q, uint32_t lambda_numerator,
              uint32_t lambda_denominator)
{
    LBM_ASSERT(target_p >= 0.0 && target_q >= 0.0 && load_p <= INT64_MAX && load_q <= INT64_MAX);
    LBM_ASSERT(lambda_denominator > 0 && lambda_numerator <= lambda_denominator);
    if (target_p == target_q) {
        if (load_p >= load_q)
            return (int64_t)lbm_gde_exchange(load_p, load_q, lambda_numerator, lambda_denominator);
        return -(int64_t)lbm_gde_exchange(load_q, load_p, lambda_numerator, lambda_denominator);
    }
    double lambda = (double)lambda_numerator / lambda_denominator;
    double to_p = target_p / (target_p + target_q), to_q = target_q / (target_p + target_q);
    double twice_excess = 2.0 * ((double)load_p * to_q - (double)load_q * to_p);
    if (twice_excess >= 0.0)
        return give(load_p, twice_excess, lambda);
    return -give(load_q, -twice_excess, lambda);
}
