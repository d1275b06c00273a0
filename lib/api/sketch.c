/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "api/sketch.h"

#include <math.h>

#include "base/limits.h"

enum {
    MEASURE_LEAST_MS = 200, /* less is no measure */
    MEAN_OF = 4,            /* a measure counts one part in that many */
    MEASURES_LEAST = 2,     /* before a weight is told: the first one begins anywhere */
};

/* A weight may be wrong by that part; smaller changes are not worth a transaction. */
static const double NEAR = 0.25;

/* Less than that part of a unit is silence; from there on an edge weighs 1. */
static const double SILENCE = 0.1;

/* What was counted before the last measure is worth that part of it. */
static const double FADE = 0.5;

static size_t
set_of(uint32_t vertex, uint32_t other)
{
    uint64_t x = ((uint64_t)vertex << 32 | other) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(x >> 54) % LBM_SKETCH_SETS;
}

static int
is_free(const struct lbm_counter *counter)
{
    return counter->vertex == counter->other;
}

void
lbm_sketch_clear(struct lbm_counter *counter)
{
    *counter = (struct lbm_counter){0};
}

/* A pair without a counter gets a free one, or takes that of the least; it begins with its score, since it
 * may have come as often before. */
static struct lbm_counter *
counter_of(struct lbm_sketch *sketch, uint32_t vertex, uint32_t other, int64_t now_ms)
{
    struct lbm_counter *set = &sketch->counter[set_of(vertex, other) * LBM_SKETCH_WAYS], *least = set;
    for (size_t i = 0; i < LBM_SKETCH_WAYS; i++) {
        if (set[i].vertex == vertex && set[i].other == other)
            return &set[i];
        if (!is_free(least) && (is_free(&set[i]) || set[i].score < least->score))
            least = &set[i];
    }
    *least = (struct lbm_counter){.vertex = vertex,
                                  .other = other,
                                  .told = LBM_SKETCH_UNTOLD,
                                  .score = least->score,
                                  .since_ms = now_ms};
    return least;
}

void
lbm_sketch_add(struct lbm_sketch *sketch, uint32_t vertex, uint32_t other, double amount, int64_t now_ms)
{
    struct lbm_counter *counter = counter_of(sketch, vertex, other, now_ms);
    counter->amount += amount;
    counter->score += amount;
}

void
lbm_sketch_measure(struct lbm_sketch *sketch, int64_t now_ms)
{
    for (size_t i = 0; i < LBM_SKETCH_COUNTERS; i++) {
        struct lbm_counter *counter = &sketch->counter[i];
        if (is_free(counter) || now_ms - counter->since_ms < MEASURE_LEAST_MS)
            continue;
        double measured = counter->amount * 1000 / (double)(now_ms - counter->since_ms);
        counter->rate += (measured - counter->rate) / (counter->measures == 0 ? 1 : MEAN_OF);
        counter->measures++;
        counter->score *= FADE;
        counter->amount = 0;
        counter->since_ms = now_ms;
    }
}

uint32_t
lbm_sketch_weight(const struct lbm_counter *counter, double unit)
{
    double weight = round(counter->rate / unit), told = counter->told;
    if (counter->measures < MEASURES_LEAST)
        return counter->told;
    if (weight < 1)
        weight = counter->rate >= SILENCE * unit ? 1 : 0;
    weight = fmin(weight, LBM_WEIGHT_MAX);
    if (counter->told != LBM_SKETCH_UNTOLD && (weight > 0) == (told > 0) &&
        fabs(weight - told) <= NEAR * told)
        return counter->told;
    return (uint32_t)weight;
}
