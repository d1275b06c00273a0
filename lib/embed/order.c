/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "embed/order.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/mutants.h"

/* How each order prepares a sweep and fills a batch; one row of `kinds` each. */
struct kind {
    uint32_t (*units)(uint32_t n);
    uint32_t (*fill)(struct lbm_sweep_order *order, struct lbm_rng *rng);
};

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- block: a random block, inside it the order they all share ------------------------------------- */

static uint32_t
units_block(uint32_t n)
{
    return n / LBM_ORDER_BLOCK_VERTICES + (n % LBM_ORDER_BLOCK_VERTICES != 0);
}

static uint32_t
fill_block(struct lbm_sweep_order *order, struct lbm_rng *rng)
{
    (void)rng;
    uint32_t first = order->unit[order->next++] * LBM_ORDER_BLOCK_VERTICES;
    uint32_t size = least(order->n, LBM_ORDER_BLOCK_VERTICES), rest = order->n - first;
    const uint32_t *restrict inside = order->inside;
    uint32_t *restrict batch = order->batch;
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++) {
        batch[count] = first + inside[i];
        count += inside[i] < rest; /* the last block may be short */
    }
    return count;
}

/* ---- permutation of all vertices ------------------------------------------------------------------- */

static uint32_t
units_permutation(uint32_t n)
{
    return n;
}

static uint32_t
fill_permutation(struct lbm_sweep_order *order, struct lbm_rng *rng)
{
    (void)rng;
    uint32_t count = least(order->left, LBM_ORDER_BLOCK_VERTICES);
    for (uint32_t i = 0; i < count; i++)
        order->batch[i] = order->unit[order->next++];
    return count;
}

/* ---- with replacement ------------------------------------------------------------------------------ */

static uint32_t
units_none(uint32_t n)
{
    (void)n;
    return 0;
}

static uint32_t
fill_replacement(struct lbm_sweep_order *order, struct lbm_rng *rng)
{
    uint32_t count = least(order->left, LBM_ORDER_BLOCK_VERTICES);
    for (uint32_t i = 0; i < count; i++)
        order->batch[i] = lbm_rng_below(rng, order->n - LBM_MUTANT(ORDER_REPLACEMENT, 0, order->n / 4));
    return count;
}

/* ---- as they are numbered -------------------------------------------------------------------------- */

static uint32_t
fill_ids(struct lbm_sweep_order *order, struct lbm_rng *rng)
{
    (void)rng;
    uint32_t count = least(order->left, LBM_ORDER_BLOCK_VERTICES), first = order->n - order->left;
    for (uint32_t i = 0; i < count; i++)
        order->batch[i] = first + i;
    return count;
}

static const struct kind kinds[LBM_ORDER_COUNT] = {
    [LBM_ORDER_BLOCK] = {units_block, fill_block},
    [LBM_ORDER_PERMUTATION] = {units_permutation, fill_permutation},
    [LBM_ORDER_REPLACEMENT] = {units_none, fill_replacement},
    [LBM_ORDER_JACOBI] = {units_none, fill_ids},
    [LBM_ORDER_IDS] = {units_none, fill_ids},
};

static void
count_up(uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i;
}

enum lbm_err
lbm_order_open(struct lbm_sweep_order *out, enum lbm_order order, uint32_t n)
{
    LBM_ASSERT((unsigned)order < LBM_ORDER_COUNT);
    struct lbm_sweep_order o = {.order = order, .n = n, .n_units = kinds[order].units(n)};
    uint32_t size = least(n, LBM_ORDER_BLOCK_VERTICES);
    o.unit = lbm_alloc(o.n_units, sizeof *o.unit);
    o.inside = lbm_alloc(size, sizeof *o.inside);
    o.batch = lbm_alloc(size, sizeof *o.batch);
    if (o.unit == NULL || o.inside == NULL || o.batch == NULL) {
        lbm_order_close(&o);
        return LBM_E_NOMEM;
    }
    count_up(o.unit, o.n_units);
    count_up(o.inside, size);
    *out = o;
    return LBM_OK;
}

void
lbm_order_close(struct lbm_sweep_order *order)
{
    free(order->unit);
    free(order->inside);
    free(order->batch);
    *order = (struct lbm_sweep_order){0};
}

void
lbm_order_shuffle(struct lbm_sweep_order *order, struct lbm_rng *rng)
{
    order->left = order->n;
    order->next = 0;
    lbm_rng_shuffle(rng, order->unit, order->n_units);
    if (order->order == LBM_ORDER_BLOCK)
        lbm_rng_shuffle(rng, order->inside, least(order->n, LBM_ORDER_BLOCK_VERTICES));
}

uint32_t
lbm_order_next(struct lbm_sweep_order *order, struct lbm_rng *rng)
{
    if (order->left == 0)
        return 0;
    uint32_t count = kinds[order->order].fill(order, rng);
    LBM_ASSERT(count > 0 && count <= order->left);
    order->left -= count;
    return count;
}

uint32_t
lbm_order_coming(const struct lbm_sweep_order *order, uint32_t distance, uint32_t *first)
{
    LBM_ASSERT(distance >= 1);
    if (order->order != LBM_ORDER_BLOCK || distance > order->n_units - order->next)
        return 0;
    *first = order->unit[order->next + distance - 1] * LBM_ORDER_BLOCK_VERTICES;
    return least(order->n - *first, LBM_ORDER_BLOCK_VERTICES);
}
