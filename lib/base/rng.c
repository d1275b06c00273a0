/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/rng.h"

#include "base/check.h"

static uint64_t
splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t
rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

void
lbm_rng_seed(struct lbm_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix64(&seed);
}

void
lbm_rng_stream(struct lbm_rng *rng, uint64_t seed, uint64_t index)
{
    uint64_t mixed = seed;
    mixed = splitmix64(&mixed) ^ index;
    lbm_rng_seed(rng, splitmix64(&mixed));
}

uint64_t
lbm_rng_next(struct lbm_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint32_t
lbm_rng_below(struct lbm_rng *rng, uint32_t bound)
{
    LBM_ASSERT(bound > 0);
    /* Lemire's multiply-shift; the rejected low range has fewer than `bound` values. */
    uint64_t product = (lbm_rng_next(rng) >> 32) * bound;
    uint32_t reject = (uint32_t)(-bound) % bound;
    while ((uint32_t)product < reject)
        product = (lbm_rng_next(rng) >> 32) * bound;
    return (uint32_t)(product >> 32);
}

double
lbm_rng_unit(struct lbm_rng *rng)
{
    return (double)(lbm_rng_next(rng) >> 11) * 0x1p-53;
}

void
lbm_rng_shuffle(struct lbm_rng *rng, uint32_t *ids, size_t n)
{
    LBM_ASSERT(n <= UINT32_MAX);
    for (size_t i = n; i > 1; i--) {
        size_t j = lbm_rng_below(rng, (uint32_t)i);
        uint32_t id = ids[i - 1];
        ids[i - 1] = ids[j];
        ids[j] = id;
    }
}
