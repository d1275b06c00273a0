/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of reasons and ends of moves, for programs that run no node. */
#include "node/moves.h"

const char *
lbm_move_reason_name(unsigned reason)
{
    static const char *const names[] = {
#define REASON_NAME(id, name, text) name,
        LBM_MOVE_REASON_LIST(REASON_NAME)
#undef REASON_NAME
    };
    return reason < LBM_MOVE_REASON_COUNT ? names[reason] : "other";
}

const char *
lbm_move_reason_text(unsigned reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(id, name, text) text,
        LBM_MOVE_REASON_LIST(REASON_TEXT)
#undef REASON_TEXT
    };
    return reason < LBM_MOVE_REASON_COUNT ? texts[reason] : "a newer daemon knows why";
}

const char *
lbm_move_state_name(unsigned state)
{
    static const char *const names[] = {
#define STATE_NAME(id, name) name,
        LBM_MOVE_STATE_LIST(STATE_NAME)
#undef STATE_NAME
    };
    return state < LBM_MOVE_STATE_COUNT ? names[state] : "other";
}
