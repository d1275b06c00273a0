/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What applications, operators and users do; the external log. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/faults/fault_actions.h"

/* ---- applications, the log ----------------------------------------------------------------------------- */

int
fault_client_model(struct run *s, const struct fault *f)
{
    cluster_set_client_model(s->cluster,
                             f->kind == FAULT_DISOBEDIENT ? CLIENT_MODEL_DISOBEDIENT : CLIENT_MODEL_SLOW);
    return 1;
}

void
fault_obedient(struct run *s, const struct fault *f)
{
    (void)f;
    cluster_set_client_model(s->cluster, CLIENT_MODEL_OBEDIENT);
}

int
fault_kill_applications(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a);
    int happens = cluster_applications(s->cluster, host) != 0;
    cluster_kill_applications(s->cluster, host);
    return happens;
}

int
fault_new_application(struct run *s, const struct fault *f)
{
    char name[LBM_NAME_MAX + 1];
    if (s->jobs == 0 || cluster_applications(s->cluster, host_of(s, f->a)) != 0)
        return 0;
    snprintf(name, sizeof name, "job%" PRIu32, f->b % s->jobs);
    cluster_run_application(s->cluster, host_of(s, f->a), name,
                            (enum client_model)(f->c % CLIENT_MODEL_COUNT));
    return 1;
}

int
fault_kill_program(struct run *s, const struct fault *f)
{
    return cluster_kill_program(s->cluster, f->a);
}

int
fault_stop_program(struct run *s, const struct fault *f)
{
    return cluster_stop_program(s->cluster, f->a, 1);
}

void
fault_continue_program(struct run *s, const struct fault *f)
{
    (void)cluster_stop_program(s->cluster, f->a, 0);
}

int
fault_cut_program(struct run *s, const struct fault *f)
{
    return cluster_cut_program(s->cluster, f->a);
}

int
fault_log_away(struct run *s, const struct fault *f)
{
    if (!cluster_log_is_external(s->cluster))
        return 0;
    if (f->kind == FAULT_LOG_AWAY)
        cluster_log_unavailable(s->cluster, 1);
    else
        cluster_log_loses(s->cluster, 0.5);
    return 1;
}

void
fault_log_back(struct run *s, const struct fault *f)
{
    if (f->kind == FAULT_LOG_AWAY)
        cluster_log_unavailable(s->cluster, 0);
    else
        cluster_log_loses(s->cluster, 0);
}

/* A host that runs, from `number` on; LBM_NONE: there is none. */
static uint32_t
running_host(const struct run *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->h.n; i++) {
        uint32_t p = host_of(s, number + i);
        if (cluster_is_up(s->cluster, p) && !cluster_is_stopped(s->cluster, p))
            return p;
    }
    return LBM_NONE;
}

/* ---- operators and users ------------------------------------------------------------------------------- */

static int
change_host(struct run *s, const struct fault *f, Lbm__HostAction action)
{
    uint32_t at = running_host(s, f->b);
    if (at == LBM_NONE)
        return 0;
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = action;
    change.host = host_of(s, f->a);
    change.capacity = action == LBM__HOST_ACTION__HOST_SET ? 0.5 + f->c % 8 / 2.0 : 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    cluster_request(s->cluster, at, 0, &request);
    return 1;
}

/* Eviction by an operator is a loss like another. */
int
fault_evict(struct run *s, const struct fault *f)
{
    if (!cluster_is_whole(s->cluster) || !run_may_evict(s))
        return 0;
    run_lost(s);
    return change_host(s, f, LBM__HOST_ACTION__HOST_EVICT);
}

/* The successor hears of it, so that it takes over; the evicted host and others go on for a while as if
 * nothing had happened. */
int
fault_evict_unheard(struct run *s, const struct fault *f)
{
    uint32_t host = host_of(s, f->a), successor = LBM_NONE;
    if (!cluster_log_is_external(s->cluster) || !cluster_is_whole(s->cluster) || !run_may_evict(s) ||
        (successor = run_backup(s, host)) == LBM_NONE)
        return 0;
    struct fault at_successor = *f;
    at_successor.b = successor;
    for (uint32_t p = 0; p < s->h.n; p++)
        if (p != successor && (f->c >> p % 32 & 1) != 0)
            cluster_log_deaf(s->cluster, p, 1);
    run_lost(s);
    return change_host(s, &at_successor, LBM__HOST_ACTION__HOST_EVICT);
}

void
fault_undeafen_all(struct run *s, const struct fault *f)
{
    (void)f;
    for (uint32_t p = 0; p < s->h.n; p++)
        cluster_log_deaf(s->cluster, p, 0);
}

/* A job gets other gates, none of which keeps it from rest for long. */
static int
change_gates(struct run *s, const struct fault *f)
{
    char name[LBM_NAME_MAX + 1];
    uint32_t at = running_host(s, f->b);
    if (at == LBM_NONE || s->jobs == 0)
        return 0;
    snprintf(name, sizeof name, "job%" PRIu32, f->a % s->jobs);
    Lbm__JobGates gates = LBM__JOB_GATES__INIT;
    gates.given = 1 + f->c % LBM_GATE_ALL;
    gates.cooldown_s = f->c / 16 % 5;
    gates.payback_s = f->c / 16 % 3;
    gates.bytes_per_s = 20000 * (f->c / 64 % 4);
    gates.in_flight = 4 * (f->c / 16 % 4);
    Lbm__JobChange change = LBM__JOB_CHANGE__INIT;
    change.job = name;
    change.keeps_policy = 1;
    change.gates = &gates;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_JOB_CHANGE;
    request.job_change = &change;
    cluster_request(s->cluster, at, 0, &request);
    return 1;
}

int
fault_set(struct run *s, const struct fault *f)
{
    return f->c / 8 % 2 != 0 ? change_gates(s, f) : change_host(s, f, LBM__HOST_ACTION__HOST_SET);
}

int
fault_operate(struct run *s, const struct fault *f)
{
    static const Lbm__HostAction action[FAULT_COUNT] = {[FAULT_DRAIN] = LBM__HOST_ACTION__HOST_DRAIN,
                                                        [FAULT_TO_AND_FRO] = LBM__HOST_ACTION__HOST_DRAIN,
                                                        [FAULT_LEAVE] = LBM__HOST_ACTION__HOST_LEAVE};
    return change_host(s, f, action[f->kind]);
}

void
fault_rejoin(struct run *s, const struct fault *f)
{
    (void)change_host(s, f, LBM__HOST_ACTION__HOST_JOIN);
}

int
fault_join(struct run *s, const struct fault *f)
{
    for (uint32_t p = 0; p < s->h.n; p++)
        if (!cluster_is_up(s->cluster, p) && s->down[p] == 0 && !s->dead[p]) {
            cluster_restart(s->cluster, p);
            return 1;
        }
    return change_host(s, f, LBM__HOST_ACTION__HOST_JOIN);
}

int
fault_submit(struct run *s, const struct fault *f)
{
    uint32_t at = running_host(s, f->a);
    if (at == LBM_NONE || s->jobs == RUN_JOBS_MAX)
        return 0;
    run_submit(s, at, f->b);
    if (s->jobs == 1) /* there were none before */
        run_run_applications(s, 0);
    return 1;
}

int
fault_cancel(struct run *s, const struct fault *f)
{
    uint32_t at = running_host(s, f->a);
    if (at == LBM_NONE || s->jobs < 2)
        return 0;
    run_cancel(s, at, f->b % s->jobs);
    return 1;
}

/* What etcd alone has is lost with it, so that all hosts have the same entries; an operator sees to the rest.
 */
int
fault_ensemble_lost(struct run *s, const struct fault *f)
{
    return cluster_log_is_managed(s->cluster) && cluster_log_is_everywhere(s->cluster) &&
           cluster_lose_ensemble(s->cluster, f->a);
}

int
fault_promote(struct run *s, const struct fault *f)
{
    uint32_t at = running_host(s, f->a);
    if (at == LBM_NONE || (cluster_log_is_external(s->cluster) && !cluster_log_is_managed(s->cluster)))
        return 0;
    if (s->has_etcd && f->b % 2 != 0)
        run_move_log(s, at, !cluster_log_is_external(s->cluster));
    else if (cluster_log_is_external(s->cluster))
        return 0;
    else
        run_promote(s, at, 0);
    return 1;
}
