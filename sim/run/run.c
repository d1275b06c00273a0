/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/mutants.h"
#include "base/check.h"
#include "node/mutants.h"
#include "sim/scenario/directed.h"

enum {
    JOIN_US = 30000000,
    HASTE_US = 300000,
    TRIGGER_US = 1500000,             /* for a trigger to come */
    ENTRY_US = 6000000,               /* for an entry of some kind */
    LOSS_US = 60000000,               /* at most, until a loss is in the log */
    AGAIN_US = 500000,                /* to see whether it is */
    HELD_US = 3000000,                /* to renew replicas once messages come through */
    STARTS_FIRST = LBM_START_DIFFUSE, /* of a third of the jobs any start before that one; */
    STARTS = 4,                       /* one in STARTS of the others diffuses */
    QUIESCENT_US = 4000000,           /* at most, before the first fault */
    WORK_US = 30000000,               /* after the faults, until every vertex is worked on */
    SETTLE_US = 120000000,            /* until all jobs have settled */
    SETTLE_HOP_US = 8000000,          /* the same, for each hop that load may have to go */
    SETTLE_LINK_US = 4000000,         /* the same, for each link of the host that has most */
    PROGRAMS_US = 400000000,          /* after the faults, until all programs have ended */
    LOOK_US = 500000,                 /* between looks at that */
    JOBS_US = 3000000,                /* for jobs that are submitted to reach the log */
    STILL_US = 5000000,               /* for what may come after all */
};

static const struct run *running;

const struct run *
run_running(void)
{
    return running;
}

static void
fails(struct run *s, const char *invariant, const char *text)
{
    if (s->result->invariant[0] != '\0')
        return;
    snprintf(s->result->invariant, sizeof s->result->invariant, "%s", invariant);
    snprintf(s->result->text, sizeof s->result->text, "%s", text);
}

/* Nonzero if nothing was violated so far. */
static int
is_well(struct run *s)
{
    const char *text, *invariant = cluster_violation(s->cluster, &text);
    if (invariant != NULL)
        fails(s, invariant, text);
    return s->result->invariant[0] == '\0';
}

static void
begin(struct run *s)
{
    run_draw(s);
    s->dead = lbm_alloc(s->h.n, 1);
    s->down = lbm_alloc(s->h.n, 1);
    s->emptied = lbm_alloc(s->h.n, 1);
    s->lost = lbm_alloc(s->h.n, sizeof *s->lost);
    s->cluster = cluster_new(&s->h, &s->cluster_options);
    cluster_trace(s->cluster, s->options.line != NULL);
}

/* ---- jobs and applications ----------------------------------------------------------------------------- */

void
run_submit(struct run *s, uint32_t host, uint32_t shape)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "job%" PRIu32, s->jobs);
    enum lbm_start start = shape % 3 == 0            ? (enum lbm_start)(shape / 3 % STARTS_FIRST)
                           : shape / 3 % STARTS == 3 ? LBM_START_DIFFUSE
                                                     : LBM_START_PLAN;
    if (cluster_send_guest(s->cluster, host, name, &s->g[s->jobs], start) == LBM_OK)
        s->jobs++;
}

void
run_cancel(struct run *s, uint32_t host, uint32_t number)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "job%" PRIu32, number);
    cluster_cancel(s->cluster, host, name);
}

void
run_run_applications(struct run *s, int everywhere)
{
    char name[LBM_NAME_MAX + 1];
    for (uint32_t i = 0; i < s->jobs; i++) {
        snprintf(name, sizeof name, "job%" PRIu32, i);
        for (uint32_t p = 0; p < s->h.n; p++) {
            if (s->dead[p] || cluster_serves(s->cluster, p, name))
                continue;
            if (everywhere || (s->directed_scenario != NULL && s->directed_scenario->work))
                cluster_run_application(s->cluster, p, name, CLIENT_MODEL_OBEDIENT);
            else if (lbm_rng_below(&s->rng, 4) != 0)
                cluster_run_application(s->cluster, p, name,
                                        (enum client_model)lbm_rng_below(&s->rng, CLIENT_MODEL_COUNT));
        }
    }
}

/* ---- the course of a run ----------------------------------------------------------------------------- */

static int
takes_place(const struct run *s, uint32_t i)
{
    return (s->options.left_out >> i & 1) == 0;
}

static void
tell(struct run *s, uint32_t i, const char *what)
{
    char line[128];
    if (s->options.line == NULL)
        return;
    snprintf(line, sizeof line, "%10.3f ms  -- fault %" PRIu32 ": %s%s",
             (double)cluster_now(s->cluster) / 1000, i, fault_rows[s->fault[i].kind].name, what);
    s->options.line(s->options.line_arg, line);
}

/* Messages have been held back since a loss, or before: replicas may not have been renewed. */
static int
is_held(const struct run *s, int64_t start)
{
    for (uint32_t i = 0; i < s->n_faults; i++)
        if (s->fault[i].kind == FAULT_HOLD && s->happened[i] == 1 && start + s->fault[i].at_us < s->loss_us)
            return 1;
    return 0;
}

/* A disk that went back in time has made replicas old without anybody knowing: until they are renewed,
 * nothing else may go wrong. Nor while a loss has not reached the log, which takes an operator when who
 * ordered it is lost. */
static int
is_recovering(struct run *s, int64_t start)
{
    int64_t now = cluster_now(s->cluster);
    int may_last = now >= s->no_fault_until_us && now < s->loss_us + LOSS_US;
    if (may_last && is_held(s, start))
        s->no_fault_until_us = now + HELD_US;
    else if (may_last && run_has_undead(s))
        s->no_fault_until_us = now + AGAIN_US;
    return now < s->no_fault_until_us;
}

/* A fault is due: see who it happens to, and wait for its trigger. */
static void
wait_for_trigger(struct run *s, uint32_t i)
{
    struct fault *f = &s->fault[i];
    f->a = f->role != ROLE_ANY ? directed_host(s, f->role, f->a) : f->a;
    f->b = f->role_b != ROLE_ANY ? directed_host(s, f->role_b, f->b) : f->b;
    if (f->trigger == TRIGGER_NONE)
        return;
    int is_rare = f->trigger > TRIGGER_ENTRY || f->trigger == TRIGGER_HELD;
    uint32_t at = f->at != ROLE_ANY ? directed_host(s, f->at, f->a) : f->a % s->h.n;
    cluster_run_to_trigger(s->cluster, f->trigger, f->anyone ? LBM_NONE : at,
                           is_rare ? ENTRY_US : TRIGGER_US);
    cluster_run(s->cluster, f->then_us, NULL, NULL);
}

/* The step after this one of a directed scenario has a time from now on. */
static void
next_step(struct run *s, uint32_t i, int64_t now)
{
    for (uint32_t k = 0; k < s->n_faults && s->fault[i].step != 0; k++)
        if (s->fault[k].step == s->fault[i].step + 1)
            s->fault[k].at_us = now + s->fault[k].gap_us;
}

/* A fault that is due begins, if it can. Returns the time, of the faults. */
static int64_t
fault_due(struct run *s, uint32_t i, int64_t start)
{
    struct fault *f = &s->fault[i];
    wait_for_trigger(s, i);
    tell(s, i, "");
    f->at_us = cluster_now(s->cluster) - start; /* it lasts from now on */
    s->happened[i] = fault_begins(s, f) ? 1 : 2;
    s->result->count[f->kind] += s->happened[i] == 1;
    next_step(s, i, f->at_us);
    return f->at_us;
}

/* Begin what is due, and end it; the next trigger at which something is, or INT64_MAX. */
static int64_t
faults_due(struct run *s, int64_t start)
{
    int64_t next = INT64_MAX, now = cluster_now(s->cluster) - start;
    run_find_head(s);
    for (uint32_t i = 0; i < s->n_faults && is_well(s); i++) {
        const struct fault *f = &s->fault[i];
        if (!takes_place(s, i)) {
            if (f->at_us <= now && s->happened[i] == 0) {
                s->happened[i] = 2;
                next_step(s, i, now);
            }
            next = s->happened[i] == 0 && f->at_us < next ? f->at_us : next;
            continue;
        }
        if (f->at_us <= now && s->happened[i] == 0 && is_recovering(s, start)) {
            next = s->no_fault_until_us - start < next ? s->no_fault_until_us - start : next;
            continue;
        }
        if (f->at_us <= now && s->happened[i] == 0)
            now = fault_due(s, i, start);
        if (s->happened[i] == 1 && f->at_us + f->lasts_us <= now) {
            if (f->lasts_us != 0)
                tell(s, i, " ends");
            fault_ends(s, f);
            s->happened[i] = 2;
        }
        int64_t due = s->happened[i] == 0   ? f->at_us
                      : s->happened[i] == 1 ? f->at_us + f->lasts_us
                                            : INT64_MAX;
        next = due < next ? due : next;
    }
    return next;
}

static void
run_faults(struct run *s)
{
    int64_t start = cluster_now(s->cluster);
    for (int64_t next = faults_due(s, start); next != INT64_MAX && is_well(s); next = faults_due(s, start)) {
        int64_t wait = start + next - cluster_now(s->cluster);
        cluster_run(s->cluster, wait > 0 ? wait : 1, NULL, NULL);
    }
}

static void
all_is_well_again(struct run *s)
{
    if (s->options.line != NULL)
        s->options.line(s->options.line_arg, "-- the faults are over");
    cluster_slow_network(s->cluster, 1);
    cluster_soft_loss(s->cluster, s->cluster_options.lose_soft, s->cluster_options.repeat_soft);
    cluster_log_unavailable(s->cluster, 0);
    cluster_log_loses(s->cluster, 0);
    cluster_pass_all(s->cluster);
    cluster_set_client_model(s->cluster, CLIENT_MODEL_OBEDIENT);
    cluster_leave_guests(s->cluster);
    for (uint32_t p = 0; p < s->h.n; p++) {
        cluster_fill_disk(s->cluster, p, 0);
        cluster_slow_disk(s->cluster, p, 1);
        cluster_short_of_memory(s->cluster, p, 0);
        for (uint32_t q = 0; q < s->h.n; q++) {
            if (q < p)
                cluster_cut(s->cluster, p, q, 0);
            cluster_lag(s->cluster, p, q, 0);
        }
        if (s->dead[p])
            continue;
        if (!cluster_is_up(s->cluster, p))
            cluster_restart(s->cluster, p);
        else if (cluster_is_stopped(s->cluster, p))
            cluster_continue(s->cluster, p);
    }
}

/* Jobs may come to the log late: applications begin as soon as they can. */
static int
all_work(struct cluster *cluster, void *arg)
{
    run_find_head(arg);
    run_run_applications(arg, 1);
    return cluster_idle_vertices(cluster) == 0;
}

static int
all_settled(struct cluster *cluster, void *arg)
{
    struct run *s = arg;
    const char *why;
    char name[LBM_NAME_MAX + 1];
    run_find_head(s); /* applications may work on for a while after the last fault */
    run_run_applications(s, 1);
    if (cluster_idle_vertices(cluster) != 0 || !cluster_quiescent(cluster, &why))
        return 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        for (uint32_t i = 0; i < s->jobs && cluster_is_up(cluster, p) && run_is_active(s, p); i++) {
            snprintf(name, sizeof name, "job%" PRIu32, i);
            /* Where a host refuses what it should have, hosts need not come to agree on anything. */
            if (s->cluster_options.vertices_max == 0 && cluster_job_lives(cluster, name) &&
                !cluster_settled_at(cluster, p, name))
                return 0;
        }
    return 1;
}

/* What each host says about what has not settled. */
static void
tell_jobs(struct run *s)
{
    char name[LBM_NAME_MAX + 1], line[160];
    for (uint32_t p = 0; p < s->h.n && s->options.line != NULL; p++)
        for (uint32_t i = 0; i < s->jobs && cluster_is_up(s->cluster, p); i++) {
            snprintf(name, sizeof name, "job%" PRIu32, i);
            int active = run_is_active(s, p), has = cluster_has_job(s->cluster, p, name);
            snprintf(line, sizeof line, "-- host %" PRIu32 " is %s, %s %s", p,
                     active ? "active" : "not active",
                     !has                                      ? "does not know"
                     : cluster_settled_at(s->cluster, p, name) ? "has settled"
                                                               : "has not settled",
                     name);
            s->options.line(s->options.line_arg, line);
        }
}

/* Diffusion needs more sweeps the farther hosts are apart, and a sweep is long in a long chain, and where one
 * host has many neighbours, which it meets one after the other. */
static int64_t
settle_us(const struct run *s)
{
    uint32_t links = 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        links = s->h.offset[p + 1] - s->h.offset[p] > links ? s->h.offset[p + 1] - s->h.offset[p] : links;
    return SETTLE_US + SETTLE_HOP_US * (int64_t)lbm_hosts_diameter_hops(&s->h) +
           SETTLE_LINK_US * (int64_t)links;
}

static int
programs_are_done(struct cluster *cluster, void *arg)
{
    struct run *s = arg;
    int64_t now_us = cluster_now(cluster);
    if (now_us < s->looked_us + LOOK_US)
        return 0;
    s->looked_us = now_us;
    uint8_t *absent = lbm_alloc(s->h.n, 1);
    run_find_head(s);
    run_run_applications(s, 1);
    for (uint32_t p = 0; p < s->h.n; p++)
        absent[p] = s->dead[p] || !run_is_active(s, p);
    int done = now_us > s->over_us + JOBS_US && cluster_programs_are_done(cluster, absent);
    free(absent);
    return done;
}

/* P4: when faults stop, programs come to their end. */
static void
end_of_programs(struct run *s)
{
    char text[RUN_TEXT_MAX], what[RUN_TEXT_MAX - 100];
    all_is_well_again(s);
    s->over_us = cluster_now(s->cluster);
    cluster_continue_programs(s->cluster);
    if (!cluster_run(s->cluster, PROGRAMS_US, programs_are_done, s) && is_well(s)) {
        cluster_tell_programs(s->cluster, what, sizeof what);
        snprintf(text, sizeof text, "no end within %d s after the faults: %s", (int)(PROGRAMS_US / 1000000),
                 what);
        fails(s, "P4", text);
    }
}

/* I8: when faults stop, every vertex is worked on within 30 s and the jobs settle. */
void
run_come_to_rest(struct run *s)
{
    char text[RUN_TEXT_MAX];
    const char *why;
    all_is_well_again(s);
    s->over_us = cluster_now(s->cluster);
    cluster_run(s->cluster, 1000000, NULL, NULL);
    if (!cluster_run(s->cluster, WORK_US, all_work, s) && is_well(s)) {
        snprintf(text, sizeof text, "%" PRIu32 " vertices are worked on by nobody 30 s after the faults",
                 cluster_idle_vertices(s->cluster));
        fails(s, "I8", text);
        cluster_trace_idle(s->cluster);
    }
    if (is_well(s) && !cluster_run(s->cluster, settle_us(s), all_settled, s) && is_well(s)) {
        snprintf(text, sizeof text, "no rest within %d s after the faults: %" PRIu32 " vertices idle, %s",
                 (int)(settle_us(s) / 1000000), cluster_idle_vertices(s->cluster),
                 cluster_quiescent(s->cluster, &why) ? "each has one owner" : why);
        fails(s, "I8", text);
        cluster_trace_idle(s->cluster);
        tell_jobs(s);
    }
    if (is_well(s))
        cluster_run(s->cluster, STILL_US, NULL, NULL);
    if (is_well(s) && !cluster_run(s->cluster, settle_us(s), all_settled, s) && is_well(s))
        fails(s, "I8", "the rest does not last");
}

void
run_run(const struct run_options *options, struct run_result *result)
{
    struct run s = {.options = *options,
                    .result = result,
                    .promoted = LBM_NONE,
                    .taker = LBM_NONE,
                    .victims_backup = LBM_NONE};
    *result = (struct run_result){.seed = options->seed};
    begin(&s);
    running = &s;
    if (!cluster_run(s.cluster, JOIN_US, run_all_active, &s) && is_well(&s))
        fails(&s, "I8", "the hosts do not find together");
    if (is_well(&s)) {
        uint32_t coordinator = lbm_rng_below(&s.rng, s.h.n - s.cluster_options.late);
        uint32_t shape = lbm_rng_below(&s.rng, 9);
        if (s.directed_scenario == NULL || !s.directed_scenario->empty)
            run_submit(&s, coordinator, shape);
        uint32_t quiescent_us = lbm_rng_below(&s.rng, 2) != 0 ? QUIESCENT_US : HASTE_US;
        cluster_run(s.cluster, lbm_rng_below(&s.rng, quiescent_us), NULL, NULL);
        run_run_applications(&s, 0);
        cluster_run(s.cluster, lbm_rng_below(&s.rng, quiescent_us), NULL, NULL);
    }
    if (is_well(&s))
        run_faults(&s);
    if (is_well(&s) && options->programs != CLUSTER_PROGRAMS_NONE)
        end_of_programs(&s);
    else if (is_well(&s))
        run_come_to_rest(&s);
    for (int i = 0; i < LBM_BUG_WORDS; i++)
        result->met[i] = LBM_BUGS_MET(i);
    result->met[LBM_BUG_WORDS] = LBM_API_BUGS_MET;
    result->hash = cluster_hash(s.cluster);
    result->steps = cluster_steps(s.cluster);
    result->lasted_us = cluster_now(s.cluster);
    running = NULL;
    cluster_free(s.cluster);
    lbm_hosts_free(&s.h);
    for (uint32_t i = 0; i < RUN_JOBS_MAX; i++)
        lbm_graph_free(&s.g[i]);
    free(s.dead);
    free(s.down);
    free(s.emptied);
    free(s.lost);
}
