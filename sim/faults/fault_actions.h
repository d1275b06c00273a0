/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How each fault begins (0: it cannot happen now) and ends. */
#ifndef LBM_SIM_FAULTS_FAULT_ACTIONS_H
#define LBM_SIM_FAULTS_FAULT_ACTIONS_H

#include "sim/run/run.h"

static inline uint32_t
host_of(const struct run *s, uint32_t number)
{
    return number % s->h.n;
}

int fault_crash(struct run *s, const struct fault *f);
int fault_kill_daemon(struct run *s, const struct fault *f);
void fault_restart(struct run *s, const struct fault *f);
int fault_crash_two(struct run *s, const struct fault *f);
void fault_restart_two(struct run *s, const struct fault *f);
int fault_return_all(struct run *s, const struct fault *f);
int fault_die(struct run *s, const struct fault *f);
int fault_image(struct run *s, const struct fault *f);
void fault_roll_back(struct run *s, const struct fault *f);
int fault_image_two(struct run *s, const struct fault *f);
void fault_roll_back_two(struct run *s, const struct fault *f);
int fault_empty(struct run *s, const struct fault *f);
int fault_pause_host(struct run *s, const struct fault *f);
void fault_go_on(struct run *s, const struct fault *f);
int fault_clock_rate(struct run *s, const struct fault *f);
int fault_memory(struct run *s, const struct fault *f);
int fault_slow_disk(struct run *s, const struct fault *f);
void fault_usual_disk(struct run *s, const struct fault *f);
int fault_stall_disk(struct run *s, const struct fault *f);
int fault_fill_disk(struct run *s, const struct fault *f);
void fault_empty_disk(struct run *s, const struct fault *f);
int fault_sync_error(struct run *s, const struct fault *f);
int fault_delay(struct run *s, const struct fault *f);
void fault_no_delay(struct run *s, const struct fault *f);
int fault_soft(struct run *s, const struct fault *f);
void fault_usual_soft(struct run *s, const struct fault *f);
int fault_lag(struct run *s, const struct fault *f);
void fault_no_lag(struct run *s, const struct fault *f);
int fault_hold(struct run *s, const struct fault *f);
void fault_let_pass(struct run *s, const struct fault *f);
int fault_forge(struct run *s, const struct fault *f);
int fault_lie(struct run *s, const struct fault *f);
void fault_no_lie(struct run *s, const struct fault *f);
int fault_pass(struct run *s, const struct fault *f);
int fault_disconnect(struct run *s, const struct fault *f);
int fault_cut(struct run *s, const struct fault *f);
void fault_mend(struct run *s, const struct fault *f);
int fault_flap(struct run *s, const struct fault *f);
int fault_client_model(struct run *s, const struct fault *f);
void fault_obedient(struct run *s, const struct fault *f);
int fault_kill_applications(struct run *s, const struct fault *f);
int fault_new_application(struct run *s, const struct fault *f);
int fault_log_away(struct run *s, const struct fault *f);
void fault_log_back(struct run *s, const struct fault *f);
int fault_evict(struct run *s, const struct fault *f);
int fault_evict_unheard(struct run *s, const struct fault *f);
void fault_undeafen_all(struct run *s, const struct fault *f);
int fault_operate(struct run *s, const struct fault *f);
int fault_set(struct run *s, const struct fault *f);
void fault_rejoin(struct run *s, const struct fault *f);
int fault_join(struct run *s, const struct fault *f);
int fault_submit(struct run *s, const struct fault *f);
int fault_cancel(struct run *s, const struct fault *f);
int fault_ensemble_lost(struct run *s, const struct fault *f);
int fault_promote(struct run *s, const struct fault *f);
int fault_kill_program(struct run *s, const struct fault *f);
int fault_stop_program(struct run *s, const struct fault *f);
void fault_continue_program(struct run *s, const struct fault *f);
int fault_cut_program(struct run *s, const struct fault *f);
int fault_leash(struct run *s, const struct fault *f);
void fault_unleash(struct run *s, const struct fault *f);
int fault_deafen(struct run *s, const struct fault *f);
void fault_undeafen(struct run *s, const struct fault *f);

#endif
