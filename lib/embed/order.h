/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders of update: which vertices a sweep visits, batch by batch (HEI97 section 5: any order converges).
 *
 * Owns: the permutations. A batch is small enough for the caller to look at it twice while it is cached. */
#ifndef LBM_EMBED_ORDER_H
#define LBM_EMBED_ORDER_H

#include "embed/embed.h"

/* Vertices of a block: three of them (the one at work and the two coming) with rows, coordinates and
 * neighbours, about 80 bytes a vertex of a mesh, fill half a second-level cache of 1 MiB. */
enum { LBM_ORDER_BLOCK_VERTICES = 2048 };

struct lbm_sweep_order {
    enum lbm_order order;
    uint32_t n;       /* vertices */
    uint32_t left;    /* vertices not yet handed out in this sweep */
    uint32_t n_units; /* entries of unit */
    uint32_t next;    /* unit to hand out */
    uint32_t *unit;   /* BLOCK: the blocks; PERMUTATION: the vertices; else none */
    uint32_t *inside; /* BLOCK: one permutation of a block's vertices, shared by the blocks of a sweep */
    uint32_t *batch;  /* [LBM_ORDER_BLOCK_VERTICES] */
};

/* Errors: LBM_E_NOMEM, *out untouched.  The caller closes it. */
enum lbm_err lbm_order_open(struct lbm_sweep_order *out, enum lbm_order order, uint32_t n) LBM_MUST_CHECK;
void lbm_order_close(struct lbm_sweep_order *order);

/* Begin a sweep: draw its permutations. Cost: O(n) for PERMUTATION, O(n / block + block) for BLOCK. */
void lbm_order_shuffle(struct lbm_sweep_order *order, struct lbm_rng *rng);

/* Hand out the next vertices of the sweep in order->batch; the caller may overwrite them.
 * Returns how many, 0 at the end of the sweep, which is after n vertices in any order. */
uint32_t lbm_order_next(struct lbm_sweep_order *order, struct lbm_rng *rng);

/* The vertices *first .. *first + count of the batch that comes `distance` >= 1 after the present one, so
 * that they can be fetched from memory meanwhile.
 * Returns count; 0 if the sweep ends before, or if a batch of this order is no range. */
uint32_t lbm_order_coming(const struct lbm_sweep_order *order, uint32_t distance, uint32_t *first);

#endif
