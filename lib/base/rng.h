/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Random streams: explicit state, the same bytes from the same seed on every machine.
 * Source: xoshiro256** (Blackman & Vigna 2018), seeded by splitmix64. Not for cryptography. */
#ifndef LBM_BASE_RNG_H
#define LBM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct lbm_rng {
    uint64_t s[4];
};

void lbm_rng_seed(struct lbm_rng *rng, uint64_t seed);

/* A stream of its own for sub-task `index` of `seed`: independent of how many threads share the work. */
void lbm_rng_stream(struct lbm_rng *rng, uint64_t seed, uint64_t index);

uint64_t lbm_rng_next(struct lbm_rng *rng);

/* Uniform in [0, bound), without modulo bias; bound > 0. */
uint32_t lbm_rng_below(struct lbm_rng *rng, uint32_t bound);

/* Uniform in [0, 1), 53 bits. */
double lbm_rng_unit(struct lbm_rng *rng);

/* Fisher-Yates permutation of an array of n ids. */
void lbm_rng_shuffle(struct lbm_rng *rng, uint32_t *ids, size_t n);

#endif
