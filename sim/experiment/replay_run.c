/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One policy over a trace: the hosts join, the job is placed where its vertices were and settles,
 * applications attach, and then the trace begins. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/experiment/replay.h"

enum {
    SECOND_US = 1000000,
    JOIN_US = 120 * SECOND_US,
    PLACE_US = 600 * SECOND_US,
    ATTACH_US = 3 * SECOND_US, /* until applications have what is theirs */
    LOOK_US = SECOND_US / 10,
    STILL_US = 2 * SECOND_US, /* the rest must last in the end: reports take a while to be believed */
};

struct replay_run {
    const struct lbm_trace *trace;
    const struct replay_place *place;
    const struct replay_options *options;
    struct replay_result *result;
    struct replay_state state;
    struct replay_watch watch;
    struct cluster *cluster;
    struct lbm_graph g;       /* as submitted: pins by number */
    uint32_t *now;            /* [trace->n] owners at this moment */
    uint32_t *recorded;       /* [trace->n] hosts that had them by then, LBM_NONE: not there yet */
    uint32_t *near;           /* [trace->n] of new ones, next to which they begin */
    int64_t unrest_us;        /* when something was last seen to happen */
    int64_t phase_us;         /* when the phase began */
    uint64_t messages, bytes; /* of all hosts, then */
};

static char job_name[] = "job";

static int
is_well(struct replay_run *c)
{
    const char *text, *invariant = cluster_violation(c->cluster, &text);
    if (invariant != NULL && c->result->why[0] == '\0')
        snprintf(c->result->why, sizeof c->result->why, "%s: %.200s", invariant, text);
    return c->result->why[0] == '\0';
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* Whoever can be asked: the first host that is up. */
static uint32_t
teller(const struct replay_run *c)
{
    uint32_t p = 0;
    while (p + 1 < c->place->h.n && (!cluster_is_up(c->cluster, p) || !c->state.participates[p]))
        p++;
    return cluster_is_up(c->cluster, p) ? p : 0;
}

static void
change_host(struct replay_run *c, uint32_t asked, Lbm__HostChange *change)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = change;
    cluster_request(c->cluster, asked, 0, &request);
}

static void
act_on_host(struct replay_run *c, uint32_t asked, Lbm__HostAction action, uint32_t host)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = action;
    change.host = host;
    change.lost = action == LBM__HOST_ACTION__HOST_EVICT;
    change_host(c, asked, &change);
}

/* Capacity and links as the trace describes them now. */
static void
set_host(struct replay_run *c, const struct lbm_trace_host *host)
{
    size_t n = host->links.n;
    uint32_t *to = lbm_alloc(n, sizeof *to), *cost = lbm_alloc(n, sizeof *cost);
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    LBM_ASSERT(to != NULL && cost != NULL);
    change.action = LBM__HOST_ACTION__HOST_SET;
    change.host = c->place->number[host->id];
    change.capacity = host->capacity;
    change.change_links = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t q = c->place->number[host->links.at[i].host];
        if (q == LBM_NONE)
            continue;
        to[change.n_link_host++] = q;
        cost[change.n_link_cost++] = host->links.at[i].cost;
    }
    change.link_host = to;
    change.link_cost = cost;
    change_host(c, teller(c), &change);
    free(to);
    free(cost);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

static void
count_messages(const struct replay_run *c, uint64_t *messages, uint64_t *bytes)
{
    *messages = *bytes = 0;
    for (uint32_t p = 0; p < c->place->h.n; p++) {
        struct cluster_meter meter = cluster_meter(c->cluster, p);
        *messages += meter.messages;
        *bytes += meter.bytes;
    }
}

static void
begin_phase(struct replay_run *c, double at_s, int is_change)
{
    c->phase_us = c->unrest_us = cluster_now(c->cluster);
    count_messages(c, &c->messages, &c->bytes);
    replay_watch_begin(&c->watch, &c->state, at_s, is_change);
}

static int
end_phase(struct replay_run *c)
{
    struct replay_phase *phase = &c->watch.phase;
    uint64_t messages, bytes;
    count_messages(c, &messages, &bytes);
    phase->messages = messages - c->messages;
    phase->bytes = bytes - c->bytes;
    phase->settled_s = -1;
    if (cluster_now(c->cluster) - c->unrest_us >= LOOK_US)
        phase->settled_s = (double)(c->unrest_us - c->phase_us) / SECOND_US;
    return replay_watch_end(&c->watch, &c->state, c->result) == LBM_OK;
}

/* Let time pass, and look at what has happened. */
static void
pass(struct replay_run *c, int64_t us)
{
    uint32_t none, moved = c->watch.phase.moved_vertices;
    int64_t before_us = cluster_now(c->cluster);
    cluster_run(c->cluster, us, NULL, NULL);
    replay_watch_pass(&c->watch, &c->state, (double)(cluster_now(c->cluster) - before_us) / SECOND_US);
    cluster_owners_by_number(c->cluster, c->now, &none);
    replay_state_owners(&c->state, c->now, &c->watch.phase.moved, &c->watch.phase.moved_vertices);
    if (moved != c->watch.phase.moved_vertices || none != 0 || cluster_edits_left(c->cluster) != 0 ||
        !cluster_settled_at(c->cluster, teller(c), job_name))
        c->unrest_us = cluster_now(c->cluster);
}

static void
pass_until(struct replay_run *c, int64_t until_us)
{
    while (cluster_now(c->cluster) < until_us && is_well(c)) {
        int64_t left_us = until_us - cluster_now(c->cluster);
        pass(c, left_us < LOOK_US ? left_us : LOOK_US);
    }
}

/* Until nothing has happened for a while. Returns nonzero if it came to that. */
static int
pass_until_rest(struct replay_run *c, int64_t still_us)
{
    int64_t end_us = cluster_now(c->cluster) + (int64_t)(c->options->rest_s * SECOND_US);
    while (cluster_now(c->cluster) < end_us && is_well(c)) {
        if (cluster_now(c->cluster) - c->unrest_us >= still_us)
            return 1;
        pass(c, LOOK_US);
    }
    return 0;
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

/* Vertices begin where the trace has them. Planned hosts have the numbers of those that are there first. */
static void
put_recorded(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    const struct replay_run *c = arg;
    int is_first = task->hosts->n == c->place->n_first;
    for (uint32_t v = 0; v < plan->n && is_first; v++)
        if (c->g.pin == NULL || c->g.pin[v] == LBM_NONE)
            plan->part[v] = c->state.part[v];
}

static int
roll_out(struct replay_run *c)
{
    uint8_t *later = lbm_alloc(c->place->h.n, 1);
    LBM_ASSERT(later != NULL);
    memset(later + c->place->n_first, 1, c->place->h.n - c->place->n_first);
    int found = cluster_roll_out(c->cluster, later, JOIN_US);
    free(later);
    return found;
}

static int
is_placed(struct replay_run *c)
{
    const Lbm__JobEntry *job = cluster_job(c->cluster, teller(c), job_name);
    return job != NULL && strcmp(job->phase, lbm_phase_name(LBM_PHASE_SUBMITTED)) != 0 &&
           strcmp(job->phase, lbm_phase_name(LBM_PHASE_PLACED)) != 0;
}

static int
set_gates(struct replay_run *c)
{
    const struct replay_options *o = c->options;
    Lbm__JobGates gates = LBM__JOB_GATES__INIT;
    Lbm__JobChange change = LBM__JOB_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    if (o->gates == 0)
        return 1;
    gates.given = o->gates;
    gates.cooldown_s = o->cooldown_s;
    gates.payback_s = o->payback_s;
    gates.bytes_per_s = o->bytes_per_s;
    gates.in_flight = (uint32_t)o->in_flight;
    change.job = job_name;
    change.keeps_policy = 1;
    change.gates = &gates;
    request.what_case = LBM__REQUEST__WHAT_JOB_CHANGE;
    request.job_change = &change;
    const Lbm__Response *response = cluster_ask(c->cluster, 0, 0, &request);
    if (response != NULL && response->code == LBM_OK)
        return 1;
    snprintf(c->result->why, sizeof c->result->why, "the gates are not taken: %.200s",
             response != NULL ? response->text : "no answer");
    return 0;
}

/* What the node said when it refused, or the code in words. */
static const char *
refusal(struct cluster *cluster, enum lbm_err err)
{
    const char *text = lbm_err_text(err);
    const Lbm__Response *reply;
    for (size_t i = 0; (reply = cluster_reply(cluster, 0, i)) != NULL; i++)
        if (reply->code != LBM_OK && reply->text[0] != '\0')
            text = reply->text;
    return text;
}

/* Nonzero if the job is there and its vertices are where it begins. */
static int
place(struct replay_run *c)
{
    enum lbm_start start = c->options->start == LBM_START_COUNT ? LBM_START_PLAN : c->options->start;
    struct replay_result *r = c->result;
    uint32_t doubles, none;
    uint64_t work = 0;
    if (!roll_out(c)) {
        snprintf(r->why, sizeof r->why, "the hosts do not find together");
        return 0;
    }
    enum lbm_err err = cluster_submit(c->cluster, 0, job_name, &c->g, start);
    if (err != LBM_OK) {
        snprintf(r->why, sizeof r->why, "the job is not taken: %.200s", refusal(c->cluster, err));
        return 0;
    }
    if (!set_gates(c))
        return 0;
    for (int64_t end = cluster_now(c->cluster) + PLACE_US; !is_placed(c) && is_well(c);) {
        if (cluster_now(c->cluster) >= end) {
            snprintf(r->why, sizeof r->why, "the vertices do not come to where they begin");
            return 0;
        }
        cluster_run(c->cluster, LOOK_US / 5, NULL, NULL);
    }
    cluster_follow_script(c->cluster, job_name, c->g.n);
    cluster_owners_by_number(c->cluster, c->now, &none);
    replay_state_owners(&c->state, c->now, &work, &doubles);
    return is_well(c);
}

/* ---- the trace ----------------------------------------------------------------------------------------- */

static double
present_load(void *arg, uint32_t vertex, int64_t now_us)
{
    const struct replay_run *c = arg;
    uint32_t number = cluster_number(c->cluster, vertex);
    (void)now_us;
    return number != LBM_NONE ? c->state.g.work[number] : 1;
}

/* description: of a host that was not there; NULL: it goes on as it was. */
static void
join(struct replay_run *c, uint32_t p, const struct lbm_trace_host *description)
{
    if (cluster_is_up(c->cluster, p)) {
        act_on_host(c, p, LBM__HOST_ACTION__HOST_JOIN, p); /* it had left, or is about to */
        return;
    }
    if (description != NULL)
        cluster_configure(c->cluster, p, description->capacity);
    cluster_restart(c->cluster, p);
    if (!cluster_serves(c->cluster, p, job_name))
        cluster_run_application(c->cluster, p, job_name, CLIENT_MODEL_OBEDIENT);
}

static void
happen(struct replay_run *c, const struct lbm_trace_event *event)
{
    const struct lbm_trace_host *host =
        &c->trace->hosts.at[event->kind == LBM_TRACE_JOIN || event->kind == LBM_TRACE_HOST ? event->a : 0];
    uint32_t p = event->kind > LBM_TRACE_HOST ? c->place->number[event->a] : c->place->number[host->id];
    switch (event->kind) {
    case LBM_TRACE_JOIN:
    case LBM_TRACE_BACK: /* it drains, or has left sooner than the recorded one would have */
        join(c, p, event->kind == LBM_TRACE_JOIN ? host : NULL);
        break;
    case LBM_TRACE_HOST:
        set_host(c, host);
        break;
    case LBM_TRACE_DRAIN:
    case LBM_TRACE_LEFT: /* a drain that nobody saw, or is done */
        act_on_host(c, teller(c), LBM__HOST_ACTION__HOST_DRAIN, p);
        break;
    case LBM_TRACE_LOST:
        if (cluster_is_up(c->cluster, p))
            cluster_crash_with(c->cluster, p, CRASH_NONE);
        cluster_lose_disk(c->cluster, p);
        act_on_host(c, teller(c), LBM__HOST_ACTION__HOST_EVICT, p);
        break;
    case LBM_TRACE_ADD: /* edit_guest */
    case LBM_TRACE_EDGE:
    case LBM_TRACE_REMOVE:
    case LBM_TRACE_LOAD: /* applications report it */
    case LBM_TRACE_OWN:  /* what the recorded cluster did */
    case LBM_TRACE_EVENT_COUNT:
        break;
    }
}

/* Once loads are as they are after the step. */
static void
edit_guest(struct replay_run *c, const struct lbm_trace_event *event)
{
    struct cluster_edit edit = {.a = event->a, .b = event->b, .c = event->c};
    if (event->kind == LBM_TRACE_ADD) {
        edit.kind = CLUSTER_EDIT_ADD;
        edit.b = c->near[event->a];
        edit.c = c->state.g.work[event->a] != 0 ? c->state.g.work[event->a] : 1;
    } else if (event->kind == LBM_TRACE_EDGE || event->kind == LBM_TRACE_REMOVE) {
        edit.kind = event->kind == LBM_TRACE_EDGE ? CLUSTER_EDIT_EDGE : CLUSTER_EDIT_REMOVE;
    } else {
        return;
    }
    cluster_edit(c->cluster, edit);
}

/* The other end of an edge of a new vertex: one that was on the host where it began, if there is one. */
static void
find_near(struct replay_run *c, uint32_t v, uint32_t other)
{
    uint32_t *near = &c->near[v];
    if (c->state.is_new[v] &&
        (*near == LBM_NONE || (c->recorded[*near] != c->recorded[v] && c->recorded[other] == c->recorded[v] &&
                               !c->state.is_new[other])))
        *near = other;
}

static void
find_births(struct replay_run *c, const struct lbm_trace_step *step)
{
    for (size_t i = step->first; i < step->first + step->n; i++) {
        const struct lbm_trace_event *event = &c->trace->events.at[i];
        if (event->kind == LBM_TRACE_OWN || event->kind == LBM_TRACE_ADD)
            c->recorded[event->a] = event->b;
    }
    for (size_t i = step->first; i < step->first + step->n; i++) {
        const struct lbm_trace_event *event = &c->trace->events.at[i];
        if (event->kind != LBM_TRACE_EDGE || event->c == 0)
            continue;
        find_near(c, event->a, event->b);
        find_near(c, event->b, event->a);
    }
}

struct turn {
    uint64_t key;
    size_t event;
};

static int
by_key(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->event > y->event) - (x->event < y->event);
}

/* A vertex comes with its edges, as programs add it: one that had none yet would go wherever there is room.
 * What concerns no new vertex comes afterwards. */
static enum lbm_err
edit_step(struct replay_run *c, const struct lbm_trace_step *step)
{
    struct turn *turn = lbm_alloc(step->n, sizeof *turn);
    if (turn == NULL)
        return LBM_E_NOMEM;
    find_births(c, step);
    for (size_t i = 0; i < step->n; i++) {
        const struct lbm_trace_event *event = &c->trace->events.at[step->first + i];
        uint32_t last = event->a > event->b ? event->a : event->b;
        turn[i] = (struct turn){UINT64_MAX, step->first + i};
        if (event->kind == LBM_TRACE_ADD)
            turn[i].key = 2 * (uint64_t)event->a;
        else if (event->kind == LBM_TRACE_EDGE && c->state.is_new[last])
            turn[i].key = 2 * (uint64_t)last + 1;
    }
    if (step->n > 1)
        qsort(turn, step->n, sizeof *turn, by_key);
    for (size_t i = 0; i < step->n; i++)
        edit_guest(c, &c->trace->events.at[turn[i].event]);
    free(turn);
    return LBM_OK;
}

static enum lbm_err
take_step(struct replay_run *c, const struct lbm_trace_step *step)
{
    for (size_t i = step->first; i < step->first + step->n && is_well(c); i++) {
        const struct lbm_trace_event *event = &c->trace->events.at[i];
        replay_state_event(&c->state, event);
        happen(c, event);
    }
    enum lbm_err err = edit_step(c, step);
    return err == LBM_OK ? replay_state_edges(&c->state, step) : err;
}

static int
run_trace(struct replay_run *c, const uint8_t *begins)
{
    const struct lbm_trace *t = c->trace;
    int64_t began_us = cluster_now(c->cluster);
    begin_phase(c, 0, 0);
    for (size_t i = 0; i < t->steps.n && is_well(c); i++) {
        pass_until(c, began_us + t->steps.at[i].at_us);
        /* Nothing is lost by leaving out a phase in which no time has passed. */
        if (begins[i] && cluster_now(c->cluster) > c->phase_us && !end_phase(c))
            return 0;
        if (take_step(c, &t->steps.at[i]) != LBM_OK)
            return 0;
        if (begins[i])
            begin_phase(c, (double)t->steps.at[i].at_us / SECOND_US, 1);
    }
    pass_until(c, began_us + t->end_us);
    c->result->settled = pass_until_rest(c, STILL_US) && is_well(c);
    return end_phase(c);
}

static enum lbm_err
run_replay_run(struct replay_run *c)
{
    uint8_t *begins = replay_phases_find(c->trace);
    if (begins == NULL)
        return LBM_E_NOMEM;
    int goes_on = 1;
    if (place(c)) {
        begin_phase(c, 0, 0);
        (void)pass_until_rest(c, STILL_US);
        goes_on = end_phase(c);
        if (c->trace->measured)
            cluster_report_loads(c->cluster, present_load, c);
        else
            cluster_set_loads(c->cluster, present_load, c);
        for (uint32_t p = 0; p < c->place->n_first && is_well(c); p++)
            cluster_run_application(c->cluster, p, job_name, CLIENT_MODEL_OBEDIENT);
        cluster_run(c->cluster, ATTACH_US, NULL, NULL);
        goes_on = goes_on && is_well(c) ? run_trace(c, begins) : goes_on;
    }
    free(begins);
    if (!c->result->settled && is_well(c))
        snprintf(c->result->why, sizeof c->result->why, "the job has not settled in the end");
    return goes_on ? LBM_OK : LBM_E_NOMEM;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

/* The guest with pins by number. */
static enum lbm_err
copy_guest(struct replay_run *c)
{
    c->g = c->trace->g;
    c->g.pin = NULL;
    c->now = lbm_alloc(c->trace->n, sizeof *c->now);
    c->recorded = lbm_alloc(c->trace->n, sizeof *c->recorded);
    c->near = lbm_alloc(c->trace->n, sizeof *c->near);
    if (c->now == NULL || c->recorded == NULL || c->near == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < c->trace->n; v++) {
        c->recorded[v] = v < c->g.n ? c->trace->owner[v] : LBM_NONE;
        c->near[v] = LBM_NONE;
    }
    if (c->trace->g.pin == NULL)
        return LBM_OK;
    c->g.pin = lbm_alloc(c->g.n, sizeof *c->g.pin);
    for (uint32_t v = 0; c->g.pin != NULL && v < c->g.n; v++) {
        uint32_t pin = c->trace->g.pin[v];
        c->g.pin[v] = pin != LBM_NONE ? c->place->number[pin] : LBM_NONE;
    }
    return c->g.pin != NULL ? LBM_OK : LBM_E_NOMEM;
}

static struct cluster *
new_cluster(struct replay_run *c, uint32_t policy)
{
    const struct replay_options *o = c->options;
    uint64_t seed = o->has_seed ? o->seed : c->trace->seed;
    double bound = o->imbalance > 0 ? o->imbalance : c->trace->imbalance;
    struct cluster_options options = {.seed = seed,
                                      .job_seed = seed,
                                      .imbalance = bound > 0 ? bound : -1,
                                      .delay_least_us = 100,
                                      .delay_most_us = 1000,
                                      .sync_us = 2000,
                                      .lose_soft = 0.001,
                                      .limited_host = LBM_NONE,
                                      .engine =
                                          c->place->stays ? LBM_LOG_ENGINE_LOCAL : LBM_LOG_ENGINE_EXTERNAL,
                                      .policy = policy,
                                      .schedule = o->schedule,
                                      .late = c->place->h.n - 1,
                                      .log_compact_min = 4096,
                                      .judged = 1};
    if (o->start == LBM_START_COUNT) {
        options.planned = put_recorded;
        options.planned_arg = c;
    }
    return cluster_new(&c->place->h, &options);
}

enum lbm_err
replay_run(const struct lbm_trace *trace, const struct replay_place *place,
           const struct replay_options *options, uint32_t policy, struct replay_result *result)
{
    struct replay_run c = {.trace = trace, .place = place, .options = options, .result = result};
    double bound = options->imbalance > 0 ? options->imbalance : trace->imbalance;
    *result = (struct replay_result){0};
    snprintf(result->policy, sizeof result->policy, "%s", lbm_job_policy_name(policy));
    enum lbm_err err = replay_state_make(trace, place, bound, &c.state);
    if (err != LBM_OK)
        return err;
    err = copy_guest(&c);
    if (err == LBM_OK) {
        c.cluster = new_cluster(&c, policy);
        err = run_replay_run(&c);
        result->hash = cluster_hash(c.cluster);
        replay_summarize(&c.state, result);
        cluster_free(c.cluster);
    }
    free(c.now);
    free(c.recorded);
    free(c.near);
    free(c.g.pin);
    replay_state_free(&c.state);
    return err;
}
