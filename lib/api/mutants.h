/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Mistakes of the library that can be planted on purpose, to measure whether the simulator finds them
 * (`lbsim-bugs cluster --programs KIND --bug NAME`).
 *
 * LBM_API_BUG(id) stands where the rule is that the mistake breaks, and is looked at last. In every ordinary
 * build it is 0 and costs nothing; with -DLBM_BUGS it is nonzero if lbm_api_bug names this row. */
#ifndef LBM_API_MUTANTS_H
#define LBM_API_MUTANTS_H

#include <stdint.h>

#define LBM_API_BUG_LIST(X)                                                                                  \
    X(LETTER_FORGOTTEN_ON_DELIVERY, "a letter is forgotten at its sender once it is delivered, not kept")    \
    X(LETTER_TAKEN_TWICE, "a letter that was here before is delivered again")                                \
    X(LETTER_GAP, "a letter is delivered though one before it is missing")                                   \
    X(LETTER_NOT_HELD_BACK, "with send_kept a letter is sent before the payload that has it is kept")        \
    X(LETTER_KEPT_UNASKED, "letters count as kept though the checkpoint was not answered")                   \
    X(STABLE_BEFORE_KEPT, "a vertex counts as kept once its checkpoint is sent")                             \
    X(OLD_STATE, "a vertex that is acquired again goes on with the states that are here")                    \
    X(STATES_DROPPED, "states are dropped as soon as neighbours here do not need them")                      \
    X(LEASE_TO_ITS_END, "a step begins until the very end of a lease")                                       \
    X(LEASE_OF_OLD_TERM, "what was acquired in an earlier term is worked on")                                \
    X(HELD_AFTER_CUT, "what is held stays so though the daemon has cut the program off")

enum lbm_api_bug {
    LBM_API_BUG_NONE,
#define LBM_API_BUG_ENUM(id, text) LBM_API_BUG_##id,
    LBM_API_BUG_LIST(LBM_API_BUG_ENUM)
#undef LBM_API_BUG_ENUM
        LBM_API_BUG_COUNT
};

_Static_assert(LBM_API_BUG_COUNT <= 64, "a bit for each");

#ifdef LBM_BUGS
extern enum lbm_api_bug lbm_api_bug; /* of the program that was built so */
extern uint64_t lbm_api_bugs_met;    /* bit per mistake: the rule that it breaks was needed */
#define LBM_API_BUG(id) (lbm_api_bugs_met |= UINT64_C(1) << LBM_API_BUG_##id, lbm_api_bug == LBM_API_BUG_##id)
#define LBM_API_BUGS_MET lbm_api_bugs_met
#else
#define LBM_API_BUG(id) 0
#define LBM_API_BUGS_MET UINT64_C(0)
#endif

#endif
