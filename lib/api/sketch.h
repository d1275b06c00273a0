/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Who talks with whom, and how much: counters for the pairs that talk most, in memory that does not grow.
 * Source: the Space-Saving sketch (Metwally, Agrawal, El Abbadi 2005), in sets like those of a cache: a pair
 * that has no counter takes that of the least pair of its set.
 *
 * Owns: the counters and their smoothing.  Never: a clock; knows whose vertices they are. */
#ifndef LBM_API_SKETCH_H
#define LBM_API_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { LBM_SKETCH_SETS = 1024, LBM_SKETCH_WAYS = 8, LBM_SKETCH_COUNTERS = LBM_SKETCH_SETS * LBM_SKETCH_WAYS };

#define LBM_SKETCH_UNTOLD UINT32_MAX

struct lbm_counter {
    uint32_t vertex, other; /* the same: the counter is free */
    uint32_t told;          /* weight that the edge was given last, or LBM_SKETCH_UNTOLD */
    uint32_t measures;      /* that rate is made of */
    double amount;          /* since since_ms */
    double rate;            /* amount a second, smoothed: each measure counts a quarter */
    double score;           /* what the pair is worth, for its place; older amounts count less */
    int64_t since_ms;
};

struct lbm_sketch {
    struct lbm_counter counter[LBM_SKETCH_COUNTERS];
};

/* Count. vertex < other. */
void lbm_sketch_add(struct lbm_sketch *sketch, uint32_t vertex, uint32_t other, double amount,
                    int64_t now_ms);

/* Make rates of what was counted by counters that are old enough for it. */
void lbm_sketch_measure(struct lbm_sketch *sketch, int64_t now_ms);

/* The weight an edge should have, if one is 1 for so much a second and what it was told is not near enough;
 * else told. */
uint32_t lbm_sketch_weight(const struct lbm_counter *counter, double unit);

void lbm_sketch_clear(struct lbm_counter *counter);

#endif
