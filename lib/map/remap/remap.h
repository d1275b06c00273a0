/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A remapping in progress: what remap.c and remap_ways.c share, and no other file. */
#ifndef LBM_MAP_REMAP_REMAP_H
#define LBM_MAP_REMAP_REMAP_H

#include "map/internal.h"

enum { REMAP_STALL_LIMIT = 100 /* of refinement */ };

/* Temperatures. Nothing but a hot way finds other borders than those there are, where moves are nearly free;
 * where they are dear a warm one forgets less of where vertices are. */
#define REMAP_HOT 2.5
#define REMAP_WARM 1

struct remap_effort {
    int rounds;                       /* of refinement */
    int cycles_way;                   /* annealed V-cycles of each way */
    int cycles_final;                 /* of the best way's */
    uint32_t draws_vertex, draws_max; /* on each level, for a vertex; at most */
};

struct remap {
    const struct problem *problem;
    struct mapping m; /* its part is the plan's */
    const struct remap_effort *effort;
    struct lbm_rng rng;
    double hot;     /* temperature that hot ways begin at */
    uint64_t *load; /* [hosts] scratch */
    int64_t *stay;  /* [n] */
    int64_t budget;
};

/* Annealed V-cycles. In: m r's mapping, or that of a way.  Errors: LBM_E_NOMEM. */
enum lbm_err remap_anneal(const struct remap *r, const struct mapping *m, int cycles, double hot,
                          struct lbm_rng *rng) LBM_MUST_CHECK;

/* Balance in several ways, next to each other if whoever asked for the plan can do that, from r->m.part,
 * where every vertex has a host. Out: what they make is offered to the pool, in their order.  Errors:
 * LBM_E_NOMEM.
 */
enum lbm_err remap_compete(const struct remap *r, struct pool *pool) LBM_MUST_CHECK;

#endif
