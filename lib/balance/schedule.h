/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transfers in time: what rounds of a policy cost if they wait for one another, overlap, or are pipelined.
 * Source: RJK03 section 6. A transfer of u units over a link takes u time steps. */
#ifndef LBM_BALANCE_SCHEDULE_H
#define LBM_BALANCE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/numbers.h"

/* What one host gives another in one round (a dimension, a colour). */
struct lbm_transfer {
    uint32_t from, to;
    uint32_t round;
    uint64_t units;
};

#define LBM_SCHEDULE_LIST(X)                                                                                 \
    X(PLAIN, 0, "plain", "a round begins when the one before has ended")                                     \
    X(OVERLAPPED, 1, "overlapped", "a host sends what its load allows, of all rounds, in their order")       \
    X(PIPELINED, 2, "pipelined", "a unit is passed on as soon as it arrives, links served in turn")

enum lbm_schedule {
#define LBM_SCHEDULE_ENUM(id, number, name, text) LBM_SCHEDULE_##id = number,
    LBM_SCHEDULE_LIST(LBM_SCHEDULE_ENUM)
#undef LBM_SCHEDULE_ENUM
        LBM_SCHEDULE_COUNT = 0 LBM_SCHEDULE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_SCHEDULE_LIST, LBM_SCHEDULE_COUNT);

struct lbm_schedule_result {
    uint64_t time;   /* units over a link: the sum of the largest transfers of each phase; pipelined: steps */
    uint64_t phases; /* rounds that carried anything; phases of overlapping; pipelined: steps */
    uint64_t task_hops; /* the sum of all units, the same in each */
};

/* Predict one way of carrying the transfers out.
 * In:      load [n_hosts] before the first; transfers ordered by round, carried out in that order they never
 *          take more from a host than it has (checked: LBM_E_STATE).
 * Errors:  LBM_E_NOMEM, LBM_E_STATE.
 * Cost:    plain O(n); overlapped phases * n; pipelined steps * n. */
enum lbm_err lbm_schedule_predict(enum lbm_schedule schedule, uint32_t n_hosts, const uint64_t *load,
                                  const struct lbm_transfer *transfer, size_t n,
                                  struct lbm_schedule_result *out) LBM_MUST_CHECK;

#endif
