/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One level of coarsening: match neighbours, contract what is matched. levels.c repeats it. */
#ifndef LBM_EMBED_COARSEN_H
#define LBM_EMBED_COARSEN_H

#include "base/rng.h"
#include "graph/graph.h"

/* Match each vertex with its best free neighbour, by the rating w_e^2 / (w_u w_v); vertices that find none
 * are matched through their heaviest neighbour, isolated ones among themselves.
 * In:      part [n] or NULL: only vertices of equal part are matched; equal pins too; at most max_work
 *          together.
 * Out:     mate [n]: mate[mate[v]] == v; mate[v] == v if v is alone.
 * Errors:  LBM_E_NOMEM.  Cost: O(n + m). */
enum lbm_err lbm_matching_find(const struct lbm_graph *g, const uint32_t *part, uint64_t max_work,
                               struct lbm_rng *rng, uint32_t *mate) LBM_MUST_CHECK;

/* Number the pairs in order of their first vertex. Out: parent [n]. Returns how many. */
uint32_t lbm_matching_number(uint32_t n, const uint32_t *mate, uint32_t *parent);

/* The graph of the pairs: work and parallel edges add up, pins are carried, neighbours sorted by id. An edge
 * weight beyond LBM_WEIGHT_MAX stays there.
 * In:      parent and n_coarse as lbm_matching_number gives them.
 * Out:     *out owned by the caller.
 * Errors:  LBM_E_NOMEM.  Cost: O(n + m), and the sorting of rows. */
enum lbm_err lbm_matching_contract(const struct lbm_graph *g, const uint32_t *mate, const uint32_t *parent,
                                   uint32_t n_coarse, struct lbm_graph *out) LBM_MUST_CHECK;

#endif
