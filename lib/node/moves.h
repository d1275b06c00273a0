/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a vertex changed hosts, and what became of that: the words of `lbctl explain`. */
#ifndef LBM_NODE_MOVES_H
#define LBM_NODE_MOVES_H

#define LBM_MOVE_REASON_LIST(X)                                                                              \
    X(UNKNOWN, "unknown", "decided before its daemon started again")                                         \
    X(SUBMIT, "submit", "it began there")                                                                    \
    X(PLAN, "plan", "the job's plan has it there")                                                           \
    X(REGION, "region", "its position lies in the region of that host")                                      \
    X(PIN, "pin", "it is pinned there")                                                                      \
    X(LEVEL, "level", "a flow of the job's load policy")                                                     \
    X(BALANCE, "balance", "its host was over the limit: a share of the excess")                              \
    X(PASS, "pass-on", "its host was over the limit: the excess goes on to where there is room")             \
    X(BOUNDARY, "boundary", "refinement of the boundary between two hosts")                                  \
    X(DRAIN, "drain", "its host gave everything away")                                                       \
    X(ADOPT, "adopt", "its host was lost: the heir took over")                                               \
    X(REMAP, "remap", "loads were uneven: a plan from the mapping there was has it there")

enum lbm_move_reason {
#define LBM_MOVE_REASON_ENUM(id, name, text) LBM_MOVE_##id,
    LBM_MOVE_REASON_LIST(LBM_MOVE_REASON_ENUM)
#undef LBM_MOVE_REASON_ENUM
        LBM_MOVE_REASON_COUNT
};

#define LBM_MOVE_STATE_LIST(X)                                                                               \
    X(WAITS, "waits")           /* for its application to let go */                                          \
    X(UNDER_WAY, "under way")   /* offered, or about to be */                                                \
    X(ARRIVED, "arrived")       /* the taker has said so */                                                  \
    X(REFUSED, "refused")       /* by the taker: it stayed */                                                \
    X(TAKEN_BACK, "taken back") /* the taker is gone and never had it */                                     \
    X(KEPT, "kept")             /* its application did not let go, or it could not go any more */

enum lbm_move_state {
#define LBM_MOVE_STATE_ENUM(id, name) LBM_MOVE_##id,
    LBM_MOVE_STATE_LIST(LBM_MOVE_STATE_ENUM)
#undef LBM_MOVE_STATE_ENUM
        LBM_MOVE_STATE_COUNT
};

const char *lbm_move_reason_name(unsigned reason); /* "other" if there is none of that number */
const char *lbm_move_reason_text(unsigned reason);
const char *lbm_move_state_name(unsigned state);

#endif
