/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Division of one group's vertices between the two halves of the group. */
#ifndef LBM_MAP_INITIAL_BISECTION_CUT_H
#define LBM_MAP_INITIAL_BISECTION_CUT_H

#include "map/internal.h"

/* What bisections of one guest share. Vertices outside the group count with where they are. */
struct bisector {
    const struct mapping *m; /* of groups: m->h is the group graph, m->limit and m->part by group */
    struct lbm_rng *rng;
    struct lbm_pair_workspace *ws;
    uint32_t *local; /* [n] place in the group, or LBM_NONE */
    uint32_t *order; /* [n] and below: scratch, by place */
    uint32_t *hops;
    uint32_t *queue;
    uint32_t *moved;
    uint32_t *best;
    double *value;
};

enum lbm_err bisector_open(struct bisector *b, const struct mapping *m, struct lbm_rng *rng) LBM_MUST_CHECK;
void bisector_close(struct bisector *b);

/* Divide the members between groups p and q: orders by smoothed random values (towards the Fiedler vector)
 * and by the difference of hop distances to two far ends, both ways around, each refined; the best stays. In:
 * member [n_members], not pinned; fixed [2]: pinned work on p and q.  Errors: LBM_E_NOMEM. */
enum lbm_err bisector_divide(struct bisector *b, const uint32_t *member, uint32_t n_members, uint32_t p,
                             uint32_t q, const uint64_t *fixed) LBM_MUST_CHECK;

#endif
