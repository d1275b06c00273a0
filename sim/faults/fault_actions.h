/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How each fault begins (0: it cannot happen now) and ends. */
#ifndef LBM_SIM_FAULTS_FAULT_ACTIONS_H
#define LBM_SIM_FAULTS_FAULT_ACTIONS_H

#include "sim/run/story.h"

static inline uint32_t
host_of(const struct story *s, uint32_t number)
{
    return number % s->h.n;
}

int fault_crash(struct story *s, const struct fault *f);
int fault_kill_daemon(struct story *s, const struct fault *f);
void fault_restart(struct story *s, const struct fault *f);
int fault_crash_two(struct story *s, const struct fault *f);
void fault_restart_two(struct story *s, const struct fault *f);
int fault_return_all(struct story *s, const struct fault *f);
int fault_die(struct story *s, const struct fault *f);
int fault_image(struct story *s, const struct fault *f);
void fault_roll_back(struct story *s, const struct fault *f);
int fault_image_two(struct story *s, const struct fault *f);
void fault_roll_back_two(struct story *s, const struct fault *f);
int fault_empty(struct story *s, const struct fault *f);
int fault_pause_host(struct story *s, const struct fault *f);
void fault_go_on(struct story *s, const struct fault *f);
int fault_clock_rate(struct story *s, const struct fault *f);
int fault_memory(struct story *s, const struct fault *f);
int fault_slow_disk(struct story *s, const struct fault *f);
void fault_usual_disk(struct story *s, const struct fault *f);
int fault_stall_disk(struct story *s, const struct fault *f);
int fault_fill_disk(struct story *s, const struct fault *f);
void fault_empty_disk(struct story *s, const struct fault *f);
int fault_sync_error(struct story *s, const struct fault *f);
int fault_delay(struct story *s, const struct fault *f);
void fault_no_delay(struct story *s, const struct fault *f);
int fault_soft(struct story *s, const struct fault *f);
void fault_usual_soft(struct story *s, const struct fault *f);
int fault_lag(struct story *s, const struct fault *f);
void fault_no_lag(struct story *s, const struct fault *f);
int fault_hold(struct story *s, const struct fault *f);
void fault_let_pass(struct story *s, const struct fault *f);
int fault_forge(struct story *s, const struct fault *f);
int fault_pass(struct story *s, const struct fault *f);
int fault_disconnect(struct story *s, const struct fault *f);
int fault_cut(struct story *s, const struct fault *f);
void fault_mend(struct story *s, const struct fault *f);
int fault_flap(struct story *s, const struct fault *f);
int fault_manner(struct story *s, const struct fault *f);
void fault_obedient(struct story *s, const struct fault *f);
int fault_kill_applications(struct story *s, const struct fault *f);
int fault_new_application(struct story *s, const struct fault *f);
int fault_log_away(struct story *s, const struct fault *f);
void fault_log_back(struct story *s, const struct fault *f);
int fault_evict(struct story *s, const struct fault *f);
int fault_evict_unheard(struct story *s, const struct fault *f);
void fault_undeafen_all(struct story *s, const struct fault *f);
int fault_operate(struct story *s, const struct fault *f);
int fault_set(struct story *s, const struct fault *f);
void fault_rejoin(struct story *s, const struct fault *f);
int fault_join(struct story *s, const struct fault *f);
int fault_submit(struct story *s, const struct fault *f);
int fault_cancel(struct story *s, const struct fault *f);
int fault_promote(struct story *s, const struct fault *f);
int fault_leash(struct story *s, const struct fault *f);
void fault_unleash(struct story *s, const struct fault *f);
int fault_deafen(struct story *s, const struct fault *f);
void fault_undeafen(struct story *s, const struct fault *f);

#endif
