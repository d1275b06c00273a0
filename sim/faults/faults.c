/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/faults/faults.h"

#include "sim/faults/fault_actions.h"

const struct fault_row fault_rows[FAULT_COUNT] = {
#define FAULT_ROW(id, name, weight, least, most, text) {name, weight, least, most, text},
    FAULT_LIST(FAULT_ROW)
#undef FAULT_ROW
};

/* ---- the table ----------------------------------------------------------------------------------------- */

static const struct {
    int (*begins)(struct run *s, const struct fault *fault);
    void (*ends)(struct run *s, const struct fault *fault);
} actions[FAULT_COUNT] = {
    [FAULT_DELAY] = {fault_delay, fault_no_delay},
    [FAULT_DISCONNECT] = {fault_disconnect, NULL},
    [FAULT_REPEAT] = {fault_soft, fault_usual_soft},
    [FAULT_LOSE] = {fault_soft, fault_usual_soft},
    [FAULT_CUT_ONE_WAY] = {fault_cut, fault_mend},
    [FAULT_CUT] = {fault_cut, fault_mend},
    [FAULT_PARTITION] = {fault_cut, fault_mend},
    [FAULT_BRIDGE] = {fault_cut, fault_mend},
    [FAULT_LAG] = {fault_lag, fault_no_lag},
    [FAULT_HOLD] = {fault_hold, fault_let_pass},
    [FAULT_FORGE] = {fault_forge, NULL},
    [FAULT_LIE] = {fault_lie, fault_no_lie},
    [FAULT_PASS] = {fault_pass, NULL},
    [FAULT_FLAP] = {fault_flap, NULL},
    [FAULT_CRASH_BEFORE] = {fault_crash, fault_restart},
    [FAULT_CRASH_INSIDE] = {fault_crash, fault_restart},
    [FAULT_CRASH_AFTER] = {fault_crash, fault_restart},
    [FAULT_DEATH] = {fault_die, NULL},
    [FAULT_EVICT_DEAD] = {fault_crash, fault_restart},
    [FAULT_EVICT_LIVE] = {fault_cut, fault_mend},
    [FAULT_LEASH] = {fault_leash, fault_unleash},
    [FAULT_DEAF] = {fault_deafen, fault_undeafen},
    [FAULT_EVICT] = {fault_evict, NULL},
    [FAULT_EVICT_UNHEARD] = {fault_evict_unheard, fault_undeafen_all},
    [FAULT_RETURN] = {fault_return_all, NULL},
    [FAULT_DOUBLE] = {fault_crash_two, fault_restart_two},
    [FAULT_ROLL_BACK] = {fault_image, fault_roll_back},
    [FAULT_ROLL_BACK_TWO] = {fault_image_two, fault_roll_back_two},
    [FAULT_EMPTY] = {fault_empty, fault_restart},
    [FAULT_CLOCK_RATE] = {fault_clock_rate, NULL},
    [FAULT_SUSPEND] = {fault_pause_host, fault_go_on},
    [FAULT_STOP] = {fault_pause_host, fault_go_on},
    [FAULT_SLOW_DISK] = {fault_slow_disk, fault_usual_disk},
    [FAULT_STALLED_DISK] = {fault_stall_disk, NULL},
    [FAULT_FULL_DISK] = {fault_fill_disk, fault_empty_disk},
    [FAULT_SYNC_ERROR] = {fault_sync_error, NULL},
    [FAULT_MEMORY] = {fault_memory, NULL},
    [FAULT_SLOW_APPLICATION] = {fault_client_model, fault_obedient},
    [FAULT_DISOBEDIENT] = {fault_client_model, fault_obedient},
    [FAULT_DEAD_APPLICATION] = {fault_kill_applications, NULL},
    [FAULT_NEW_APPLICATION] = {fault_new_application, NULL},
    [FAULT_KILL] = {fault_kill_daemon, fault_restart},
    [FAULT_LOG_AWAY] = {fault_log_away, fault_log_back},
    [FAULT_LOG_LOSES] = {fault_log_away, fault_log_back},
    [FAULT_JOIN] = {fault_join, NULL},
    [FAULT_DRAIN] = {fault_operate, NULL},
    [FAULT_TO_AND_FRO] = {fault_operate, fault_rejoin},
    [FAULT_LEAVE] = {fault_operate, NULL},
    [FAULT_SET] = {fault_set, NULL},
    [FAULT_SUBMIT] = {fault_submit, NULL},
    [FAULT_CANCEL] = {fault_cancel, NULL},
    [FAULT_PROMOTE] = {fault_promote, NULL},
    [FAULT_ENSEMBLE_LOST] = {fault_ensemble_lost, NULL},
    [FAULT_PROGRAM_KILLED] = {fault_kill_program, NULL},
    [FAULT_PROGRAM_STILL] = {fault_stop_program, fault_continue_program},
    [FAULT_PROGRAM_CUT] = {fault_cut_program, NULL},
};

/* Faults in which others may evict a host that is there. */
static int
ends_in_eviction(enum fault_kind kind)
{
    static const unsigned char does[FAULT_COUNT] = {
        [FAULT_PARTITION] = 1, [FAULT_BRIDGE] = 1,  [FAULT_LAG] = 1,  [FAULT_EVICT_LIVE] = 1,
        [FAULT_LEASH] = 1,     [FAULT_SUSPEND] = 1, [FAULT_STOP] = 1,
    };
    return does[kind];
}

int
fault_begins(struct run *s, const struct fault *fault)
{
    /* Who lost its disk has yet to join again: its backup, evicted, would be a second loss. */
    if (ends_in_eviction(fault->kind) && run_lacks_copies(s))
        return 0;
    return actions[fault->kind].begins(s, fault);
}

void
fault_ends(struct run *s, const struct fault *fault)
{
    if (actions[fault->kind].ends != NULL)
        actions[fault->kind].ends(s, fault);
}
