/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of reasons and ends of moves, for programs that run no node. */
#include "node/migration/history.h"

static const struct {
    const char *name, *text;
} reasons[] = {
#define REASON_ROW(id, number, name, text) [number] = {name, text},
    LBM_MOVE_REASON_LIST(REASON_ROW)
#undef REASON_ROW
};

const char *
lbm_move_reason_name(unsigned reason)
{
    return reason < LBM_MOVE_REASON_COUNT ? reasons[reason].name : "other";
}

const char *
lbm_move_reason_text(unsigned reason)
{
    return reason < LBM_MOVE_REASON_COUNT ? reasons[reason].text : "a newer daemon knows why";
}

const char *
lbm_move_state_name(unsigned state)
{
    static const char *const names[] = {
#define STATE_NAME(id, number, name) [number] = name,
        LBM_MOVE_STATE_LIST(STATE_NAME)
#undef STATE_NAME
    };
    return state < LBM_MOVE_STATE_COUNT ? names[state] : "other";
}
