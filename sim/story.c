/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/story.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "graph/generate.h"

enum {
    JOIN_US = 30000000,
    CALM_US = 4000000,     /* at most, before the first fault */
    SPAN_US = 60000000,    /* at most, of all faults */
    WORK_US = 30000000,    /* after the faults, until every vertex is worked on */
    SETTLE_US = 120000000, /* until all jobs have settled */
    PROMOTE_AGAIN_US = 4000000,
    STILL_US = 5000000,      /* for what may come after all */
    AFTER_LOSS_US = 5000000, /* between two losses of a disk, at least */
};

static const struct story *running;

const struct story *
story_running(void)
{
    return running;
}

static void
fails(struct story *s, const char *invariant, const char *text)
{
    if (s->result->invariant[0] != '\0')
        return;
    snprintf(s->result->invariant, sizeof s->result->invariant, "%s", invariant);
    snprintf(s->result->text, sizeof s->result->text, "%s", text);
}

/* Nonzero if nothing was violated so far. */
static int
is_well(struct story *s)
{
    const char *text, *invariant = cluster_violation(s->cluster, &text);
    if (invariant != NULL)
        fails(s, invariant, text);
    return s->result->invariant[0] == '\0';
}

/* ---- what is drawn ----------------------------------------------------------------------------------------
 */

static void
draw_hosts(struct story *s)
{
    static const char *const shapes[] = {"chain", "ring", "star", "complete", "mesh", "ring"};
    uint32_t least = s->options.hosts_least, most = s->options.hosts_most;
    /* Mostly small: there, everything meets everything. */
    uint32_t usual = least + 6 < most ? least + 6 : most;
    uint32_t span = lbm_rng_below(&s->rng, 40) == 0 ? most - least + 1 : usual - least + 1;
    uint32_t n = least + lbm_rng_below(&s->rng, span);
    const char *shape = shapes[lbm_rng_below(&s->rng, sizeof shapes / sizeof *shapes)];
    char spec[32];
    struct lbm_diag diag;
    if (strcmp(shape, "mesh") == 0)
        snprintf(spec, sizeof spec, "mesh:%" PRIu32 "x2", (n + 1) / 2);
    else if (strcmp(shape, "complete") == 0 && n > 16)
        snprintf(spec, sizeof spec, "ring:%" PRIu32, n);
    else
        snprintf(spec, sizeof spec, "%s:%" PRIu32, shape, n);
    LBM_ASSERT(lbm_hosts_generate(spec, &s->h, &diag) == LBM_OK);
}

static void
draw_weights(struct lbm_rng *rng, struct lbm_graph *g)
{
    g->work = lbm_alloc(g->n, sizeof *g->work);
    g->weight = lbm_alloc(lbm_graph_directions(g), sizeof *g->weight);
    for (uint32_t v = 0; v < g->n; v++) {
        g->work[v] = 1 + lbm_rng_below(rng, 5);
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            g->weight[e] = 1 + (v ^ g->target[e]) % 7; /* the same both ways */
    }
}

static void
draw_guest(struct story *s, struct lbm_graph *g)
{
    char spec[40];
    struct lbm_diag diag;
    uint32_t width = 2 + lbm_rng_below(&s->rng, 9);
    uint32_t height = 5 + lbm_rng_below(&s->rng, 8);
    if (lbm_rng_below(&s->rng, 12) == 0)
        width *= 3;
    snprintf(spec, sizeof spec, "lattice:%" PRIu32 "x%" PRIu32, width, height);
    LBM_ASSERT(lbm_graph_generate(spec, 1, g, &diag) == LBM_OK);
    if (lbm_rng_below(&s->rng, 2) != 0)
        draw_weights(&s->rng, g);
}

static uint64_t
draw_kinds(struct story *s)
{
    uint64_t kinds = 0;
    uint32_t share = 1 + lbm_rng_below(&s->rng, 8); /* of eight: some seeds know few faults, some all */
    for (uint32_t k = 0; k < FAULT_COUNT; k++)
        if (lbm_rng_below(&s->rng, 8) < share)
            kinds |= UINT64_C(1) << k;
    return kinds & s->options.kinds;
}

static int64_t
lasts(struct lbm_rng *rng, const struct fault_row *row)
{
    return (row->least_ms + (int64_t)lbm_rng_below(rng, row->most_ms - row->least_ms + 1)) * 1000;
}

static void
draw_faults(struct story *s)
{
    uint64_t kinds = draw_kinds(s);
    uint32_t total = 0, n = 4 + lbm_rng_below(&s->rng, 28);
    int64_t span = 5000000 + lbm_rng_below(&s->rng, SPAN_US - 5000000), at = 0;
    for (uint32_t k = 0; k < FAULT_COUNT; k++)
        total += (kinds >> k & 1) != 0 ? fault_rows[k].weight : 0;
    for (uint32_t i = 0; i < n && total != 0; i++) {
        uint32_t draw = lbm_rng_below(&s->rng, total), kind = 0;
        for (;; kind++) {
            uint32_t weight = (kinds >> kind & 1) != 0 ? fault_rows[kind].weight : 0;
            if (draw < weight)
                break;
            draw -= weight;
        }
        at += (int64_t)(lbm_rng_unit(&s->rng) * 2 * (double)span / n);
        struct fault *f = &s->fault[i];
        *f = (struct fault){.kind = (enum fault_kind)kind, .at_us = at};
        f->lasts_us = lasts(&s->rng, &fault_rows[kind]);
        f->a = (uint32_t)lbm_rng_next(&s->rng);
        f->b = (uint32_t)lbm_rng_next(&s->rng);
        f->c = (uint32_t)lbm_rng_next(&s->rng);
        s->n_faults = i + 1;
    }
    s->result->n_faults = s->n_faults;
}

/* Draws in order: what initializers evaluate first is the compiler's choice. */
static void
draw_options(struct story *s)
{
    struct cluster_options *o = &s->cluster_options;
    *o = (struct cluster_options){.seed = s->options.seed,
                                  .delay_least_us = 50,
                                  .limited_host = LBM_NONE,
                                  .evict_per_minute = 60,
                                  .evict_share = 1,
                                  .judged = 1,
                                  .line = s->options.line,
                                  .line_arg = s->options.line_arg};
    o->delay_most_us = 100 + lbm_rng_below(&s->rng, 30000);
    o->sync_us = 100 + lbm_rng_below(&s->rng, 30000);
    o->lose_soft = 0.2 * lbm_rng_unit(&s->rng);
    o->repeat_soft = 0.2 * lbm_rng_unit(&s->rng);
    o->late = lbm_rng_below(&s->rng, 3) == 0 && s->h.n > 3;
    o->engine = (enum lbm_log_engine)lbm_rng_below(&s->rng, LBM_LOG_ENGINE_COUNT);
    o->restart_us = 200000 + lbm_rng_below(&s->rng, 2000000);
}

static void
begin(struct story *s)
{
    lbm_rng_seed(&s->rng, s->options.seed);
    draw_hosts(s);
    s->dead = lbm_alloc(s->h.n, 1);
    s->down = lbm_alloc(s->h.n, 1);
    for (uint32_t i = 0; i < STORY_JOBS_MAX; i++)
        draw_guest(s, &s->g[i]);
    draw_options(s);
    draw_faults(s);
    s->cluster = cluster_new(&s->h, &s->cluster_options);
    cluster_trace(s->cluster, s->options.line != NULL);
}

/* ---- what can be seen of a cluster ------------------------------------------------------------------------
 */

static const Lbm__HostsReply *
hosts_as_seen_by(struct story *s, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    cluster_request(s->cluster, host, 0, &request);
    const Lbm__Response *response = cluster_reply(s->cluster, host, 0);
    return response != NULL && response->code == LBM_OK ? response->hosts : NULL;
}

static int
all_active(struct cluster *cluster, void *arg)
{
    struct story *s = arg;
    uint32_t n_up = 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        n_up += (uint32_t)cluster_is_up(cluster, p);
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (!cluster_is_up(cluster, p))
            continue;
        const Lbm__HostsReply *reply = hosts_as_seen_by(s, p);
        uint32_t n_active = 0;
        for (size_t i = 0; reply != NULL && i < reply->n_hosts; i++)
            n_active += strcmp(reply->hosts[i]->state, "ACTIVE") == 0;
        if (n_active != n_up)
            return 0;
    }
    return 1;
}

/* One host's word about all of them. */
static int
is_repaired(const Lbm__HostsReply *reply)
{
    if (reply == NULL || reply->n_hosts < 2)
        return 0;
    for (size_t i = 0; i < reply->n_hosts; i++) {
        const Lbm__HostEntry *entry = reply->hosts[i];
        int evicted = strcmp(entry->state, "EVICTED") == 0, left = strcmp(entry->state, "LEFT") == 0;
        if ((evicted && !entry->adopted) ||
            (!evicted && !left && (!entry->insync || entry->buddy == LBM_NONE)))
            return 0;
    }
    return 1;
}

int
story_may_lose(struct story *s)
{
    if (s->loss_us != 0 && cluster_now(s->cluster) < s->loss_us + AFTER_LOSS_US)
        return 0;
    uint32_t n = 0;
    for (uint32_t p = 0; p < s->h.n; p++) {
        if (s->dead[p])
            continue;
        if (!cluster_is_up(s->cluster, p) || cluster_is_stopped(s->cluster, p) ||
            !is_repaired(hosts_as_seen_by(s, p)))
            return 0;
        n++;
    }
    return n >= 3;
}

/* ---- the control log --------------------------------------------------------------------------------------
 */

uint32_t
story_founder(struct story *s, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    cluster_request(s->cluster, host, 0, &request);
    const Lbm__Response *response = cluster_reply(s->cluster, host, 0);
    return response != NULL && response->code == LBM_OK ? response->status->founder : LBM_NONE;
}

static const Lbm__Response *
ask_promote(struct story *s, uint32_t host, uint32_t uid, int force)
{
    Lbm__PromoteRequest promote = LBM__PROMOTE_REQUEST__INIT;
    promote.force = force != 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &promote;
    cluster_request(s->cluster, host, uid, &request);
    return cluster_reply(s->cluster, host, 0);
}

void
story_promote(struct story *s, uint32_t host, int force)
{
    (void)ask_promote(s, host, 0, force);
}

int
story_can_promote(struct story *s, uint32_t host)
{
    const Lbm__Response *response = ask_promote(s, host, 1000, 0);
    return response != NULL && response->code == LBM_E_DENIED;
}

/* What an operator does when who ordered the control log is lost: promote another host, until it is. */
static void
find_head(struct story *s)
{
    uint32_t at = LBM_NONE;
    if (!s->headless || cluster_now(s->cluster) < s->promoted_us + PROMOTE_AGAIN_US)
        return;
    for (uint32_t p = 0; p < s->h.n && s->headless; p++) {
        if (s->dead[p] || !cluster_is_up(s->cluster, p) || cluster_is_stopped(s->cluster, p))
            continue;
        uint32_t founder = story_founder(s, p);
        s->headless = founder == LBM_NONE || s->dead[founder];
        at = p;
    }
    s->promoted_us = cluster_now(s->cluster);
    if (s->headless && at != LBM_NONE)
        story_promote(s, at, 1);
}

/* ---- jobs and applications --------------------------------------------------------------------------------
 */

void
story_submit(struct story *s, uint32_t host, uint32_t shape)
{
    char name[LBM_NAME_MAX + 1];
    snprintf(name, sizeof name, "job%" PRIu32, s->jobs);
    enum lbm_start start = shape % 3 != 0 ? LBM_START_PLAN : (enum lbm_start)(shape / 3 % LBM_START_COUNT);
    if (cluster_send_guest(s->cluster, host, name, &s->g[s->jobs], start) == LBM_OK)
        s->jobs++;
}

static void
run_applications(struct story *s, int everywhere)
{
    char name[LBM_NAME_MAX + 1];
    for (uint32_t i = 0; i < s->jobs; i++) {
        snprintf(name, sizeof name, "job%" PRIu32, i);
        for (uint32_t p = 0; p < s->h.n; p++) {
            if (s->dead[p] || cluster_serves(s->cluster, p, name))
                continue;
            if (everywhere)
                cluster_run_application(s->cluster, p, name, MANNER_OBEDIENT);
            else if (lbm_rng_below(&s->rng, 4) != 0)
                cluster_run_application(s->cluster, p, name,
                                        (enum manner)lbm_rng_below(&s->rng, MANNER_COUNT));
        }
    }
}

/* ---- the course of a story --------------------------------------------------------------------------------
 */

static int
takes_place(const struct story *s, uint32_t i)
{
    return (s->options.left_out >> i & 1) == 0;
}

static void
tell(struct story *s, uint32_t i, const char *what)
{
    char line[128];
    if (s->options.line == NULL)
        return;
    snprintf(line, sizeof line, "%10.3f ms  -- fault %" PRIu32 ": %s%s",
             (double)cluster_now(s->cluster) / 1000, i, fault_rows[s->fault[i].kind].name, what);
    s->options.line(s->options.line_arg, line);
}

/* A disk that went back in time has made replicas old without anybody knowing: until they are renewed,
 * nothing else may go wrong. */
static int
is_recovering(const struct story *s)
{
    return cluster_now(s->cluster) < s->quiet_until_us;
}

/* Begin what is due, and end it; the next moment at which something is, or INT64_MAX. */
static int64_t
faults_due(struct story *s, int64_t start)
{
    int64_t next = INT64_MAX, now = cluster_now(s->cluster) - start;
    find_head(s);
    for (uint32_t i = 0; i < s->n_faults && is_well(s); i++) {
        const struct fault *f = &s->fault[i];
        if (!takes_place(s, i))
            continue;
        if (f->at_us <= now && s->happened[i] == 0 && is_recovering(s)) {
            next = s->quiet_until_us - start < next ? s->quiet_until_us - start : next;
            continue;
        }
        if (f->at_us <= now && s->happened[i] == 0) {
            tell(s, i, "");
            s->happened[i] = fault_begins(s, f) ? 1 : 2;
            s->result->count[f->kind] += s->happened[i] == 1;
        }
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
run_faults(struct story *s)
{
    int64_t start = cluster_now(s->cluster);
    for (int64_t next = faults_due(s, start); next != INT64_MAX && is_well(s); next = faults_due(s, start)) {
        int64_t wait = start + next - cluster_now(s->cluster);
        cluster_run(s->cluster, wait > 0 ? wait : 1, NULL, NULL);
    }
}

static void
all_is_well_again(struct story *s)
{
    if (s->options.line != NULL)
        s->options.line(s->options.line_arg, "-- the faults are over");
    cluster_slow_network(s->cluster, 1);
    cluster_soft_loss(s->cluster, s->cluster_options.lose_soft, s->cluster_options.repeat_soft);
    cluster_log_unavailable(s->cluster, 0);
    cluster_log_loses(s->cluster, 0);
    cluster_set_manner(s->cluster, MANNER_OBEDIENT);
    for (uint32_t p = 0; p < s->h.n; p++) {
        cluster_fill_disk(s->cluster, p, 0);
        cluster_slow_disk(s->cluster, p, 1);
        cluster_short_of_memory(s->cluster, p, 0);
        for (uint32_t q = 0; q < p; q++)
            cluster_cut(s->cluster, p, q, 0);
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
    find_head(arg);
    run_applications(arg, 1);
    return cluster_idle_vertices(cluster) == 0;
}

/* Nonzero if the host takes part, as it sees it. */
static int
is_active(struct story *s, uint32_t host)
{
    const Lbm__HostsReply *reply = hosts_as_seen_by(s, host);
    for (size_t i = 0; reply != NULL && i < reply->n_hosts; i++)
        if (reply->hosts[i]->host == host)
            return strcmp(reply->hosts[i]->state, "ACTIVE") == 0;
    return 0;
}

static int
all_settled(struct cluster *cluster, void *arg)
{
    struct story *s = arg;
    const char *why;
    char name[LBM_NAME_MAX + 1];
    run_applications(s, 1);
    if (cluster_idle_vertices(cluster) != 0 || !cluster_quiet(cluster, &why))
        return 0;
    for (uint32_t p = 0; p < s->h.n; p++)
        for (uint32_t i = 0; i < s->jobs && cluster_is_up(cluster, p) && is_active(s, p); i++) {
            snprintf(name, sizeof name, "job%" PRIu32, i);
            if (cluster_job_lives(cluster, name) && !cluster_settled_at(cluster, p, name))
                return 0;
        }
    return 1;
}

/* What each host says about what has not settled. */
static void
tell_jobs(struct story *s)
{
    char name[LBM_NAME_MAX + 1], line[160];
    for (uint32_t p = 0; p < s->h.n && s->options.line != NULL; p++)
        for (uint32_t i = 0; i < s->jobs && cluster_is_up(s->cluster, p); i++) {
            snprintf(name, sizeof name, "job%" PRIu32, i);
            int active = is_active(s, p), has = cluster_has_job(s->cluster, p, name);
            snprintf(line, sizeof line, "-- host %" PRIu32 " is %s, %s %s", p,
                     active ? "active" : "not active",
                     !has                                      ? "does not know"
                     : cluster_settled_at(s->cluster, p, name) ? "has settled"
                                                               : "has not settled",
                     name);
            s->options.line(s->options.line_arg, line);
        }
}

/* I8: when faults stop, every vertex is worked on within 30 s and the jobs settle. */
static void
come_to_rest(struct story *s)
{
    char text[STORY_TEXT_MAX];
    const char *why;
    all_is_well_again(s);
    cluster_run(s->cluster, 1000000, NULL, NULL);
    if (!cluster_run(s->cluster, WORK_US, all_work, s) && is_well(s)) {
        snprintf(text, sizeof text, "%" PRIu32 " vertices are worked on by nobody 30 s after the faults",
                 cluster_idle_vertices(s->cluster));
        fails(s, "I8", text);
        cluster_trace_idle(s->cluster);
    }
    if (is_well(s) && !cluster_run(s->cluster, SETTLE_US, all_settled, s) && is_well(s)) {
        snprintf(text, sizeof text, "no rest within 120 s after the faults: %" PRIu32 " vertices idle, %s",
                 cluster_idle_vertices(s->cluster),
                 cluster_quiet(s->cluster, &why) ? "each has one owner" : why);
        fails(s, "I8", text);
        cluster_trace_idle(s->cluster);
        tell_jobs(s);
    }
    if (is_well(s))
        cluster_run(s->cluster, STILL_US, NULL, NULL);
    if (is_well(s) && !cluster_run(s->cluster, SETTLE_US, all_settled, s) && is_well(s))
        fails(s, "I8", "the rest does not last");
}

void
story_run(const struct story_options *options, struct story_result *result)
{
    struct story s = {.options = *options, .result = result};
    *result = (struct story_result){.seed = options->seed};
    begin(&s);
    running = &s;
    if (!cluster_run(s.cluster, JOIN_US, all_active, &s) && is_well(&s))
        fails(&s, "I8", "the hosts do not find together");
    if (is_well(&s)) {
        uint32_t home = lbm_rng_below(&s.rng, s.h.n - s.cluster_options.late);
        story_submit(&s, home, lbm_rng_below(&s.rng, 9));
        cluster_run(s.cluster, lbm_rng_below(&s.rng, CALM_US), NULL, NULL);
        run_applications(&s, 0);
        cluster_run(s.cluster, lbm_rng_below(&s.rng, CALM_US), NULL, NULL);
    }
    if (is_well(&s))
        run_faults(&s);
    if (is_well(&s))
        come_to_rest(&s);
    result->hash = cluster_hash(s.cluster);
    result->steps = cluster_steps(s.cluster);
    result->lasted_us = cluster_now(s.cluster);
    running = NULL;
    cluster_free(s.cluster);
    lbm_hosts_free(&s.h);
    for (uint32_t i = 0; i < STORY_JOBS_MAX; i++)
        lbm_graph_free(&s.g[i]);
    free(s.dead);
    free(s.down);
}
