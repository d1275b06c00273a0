/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a vertex changed hosts, and what became of that: the words of `lbctl explain`. */
#ifndef LBM_NODE_MIGRATION_HISTORY_H
#define LBM_NODE_MIGRATION_HISTORY_H

#include "base/numbers.h"

#define LBM_MOVE_REASON_LIST(X)                                                                              \
    X(UNKNOWN, 0, "unknown", "decided before its daemon started again")                                      \
    X(SUBMIT, 1, "submit", "it began there")                                                                 \
    X(PLAN, 2, "plan", "the job's plan has it there")                                                        \
    X(REGION, 3, "region", "its position lies in the region of that host")                                   \
    X(PIN, 4, "pin", "it is pinned there")                                                                   \
    X(FLOW, 5, "flow", "a flow of the job's load policy")                                                    \
    X(BALANCE, 6, "balance", "its host was over the limit: a share of the excess")                           \
    X(PASS, 7, "pass-on", "its host was over the limit: the excess goes on to where there is room")          \
    X(BOUNDARY, 8, "boundary", "refinement of the boundary between two hosts")                               \
    X(DRAIN, 9, "drain", "its host gave everything away")                                                    \
    X(TAKE_OVER, 10, "takeover", "its host was lost: the successor took over")                               \
    X(REMAP, 11, "remap", "loads were uneven: a plan from the mapping there was has it there")

enum lbm_move_reason {
#define LBM_MOVE_REASON_ENUM(id, number, name, text) LBM_MOVE_##id = number,
    LBM_MOVE_REASON_LIST(LBM_MOVE_REASON_ENUM)
#undef LBM_MOVE_REASON_ENUM
        LBM_MOVE_REASON_COUNT = 0 LBM_MOVE_REASON_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_MOVE_REASON_LIST, LBM_MOVE_REASON_COUNT);

#define LBM_MOVE_STATE_LIST(X)                                                                               \
    X(WAITS, 0, "waits")           /* for its application to let go */                                       \
    X(IN_FLIGHT, 1, "in flight")   /* offered, or about to be */                                             \
    X(ARRIVED, 2, "arrived")       /* the taker has said so */                                               \
    X(REFUSED, 3, "refused")       /* by the taker: it stayed */                                             \
    X(TAKEN_BACK, 4, "taken back") /* the taker is gone and never had it */                                  \
    X(KEPT, 5, "kept")             /* its application did not let go, or it could not go any more */

enum lbm_move_state {
#define LBM_MOVE_STATE_ENUM(id, number, name) LBM_MOVE_##id = number,
    LBM_MOVE_STATE_LIST(LBM_MOVE_STATE_ENUM)
#undef LBM_MOVE_STATE_ENUM
        LBM_MOVE_STATE_COUNT = 0 LBM_MOVE_STATE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_MOVE_STATE_LIST, LBM_MOVE_STATE_COUNT);

const char *lbm_move_reason_name(unsigned reason); /* "other" if there is none of that number */
/* Returns why a vertex moved, as a sentence; static. */
const char *lbm_move_reason_text(unsigned reason);
/* Returns the name of the state of a move; static. */
const char *lbm_move_state_name(unsigned state);

#endif
