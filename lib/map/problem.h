/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is to be planned, in units of its own: the same for all guests that differ by a factor. For the files
 * of lib/map only. */
#ifndef LBM_MAP_PROBLEM_H
#define LBM_MAP_PROBLEM_H

#include "map/map.h"

/* Weights are divided by their common divisor, those of vertices and those of edges each by their own. A
 * vertex that is heavier than any host may carry counts as the whole of such a host, so that the others share
 * evenly what is left. */
struct problem {
    const struct lbm_hosts *h;       /* borrowed */
    struct lbm_graph g;              /* borrows offset, target, position, pin; its weights may be its own */
    struct lbm_plan_options options; /* those given, the migration cost and loads in the problem's units */
    uint32_t work_unit, weight_unit; /* of a unit of work and of weight here, in the guest's */
    uint32_t *work, *weight;         /* owned by the problem; NULL: the guest's */
    const uint32_t *price_work; /* [n] work before heavy vertices were cut; NULL: all 1. What moves cost. */
    uint32_t *uncut;            /* owned: price_work where it is not work */
    uint32_t fineness;          /* parts of a unit in which works and loads count, 1 where none is cut */
    uint64_t *limit;            /* [hosts] largest load: the bound asked, or what a packing reaches */
    uint64_t *least;            /* [hosts] smallest load */
    uint64_t *whole;            /* [hosts] as limit, with heavy vertices whole; of lbm_map_limits */
    uint32_t *packing;          /* [n] longest first, improved: within limit; NULL: any order would do */
};

/* A copy of numbers in units of the largest divisor of all that are not 0, and the unit.
 * In:      number [n], NULL: all are 1.  Out: *scaled, owned by the caller; untouched where the unit is 1.
 * Errors:  LBM_E_NOMEM. */
enum lbm_err units_scale(const uint32_t *number, uint64_t n, uint32_t *unit,
                         uint32_t **scaled) LBM_MUST_CHECK;

/* In:      g, options borrowed; pins are right.  Errors: LBM_E_NOMEM; to be closed all the same.
 * Cost:    O(n + m) where the heaviest vertex is small against the imbalance allowed; else that of a packing.
 */
enum lbm_err problem_open(struct problem *p, const struct lbm_graph *g, const struct lbm_hosts *h,
                          const struct lbm_plan_options *options) LBM_MUST_CHECK;
/* The limits of a problem whose guest is in units, and its heavy vertices cut. For problem_open.
 * Errors:  LBM_E_NOMEM. */
enum lbm_err problem_share(struct problem *p) LBM_MUST_CHECK;
void problem_close(struct problem *p);

#endif
