/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The course of a large cluster. Records are not checked one by one as in runs: at the end every vertex
 * must have one owner, and the control log is compared all the time. */
#include "sim/experiment/scale.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "file/file.h"
#include "graph/generate.h"
#include "map/map.h"

enum {
    SECOND_US = 1000000,
    JOIN_US = 120 * SECOND_US,   /* for the last of them to be active */
    SETTLE_US = 900 * SECOND_US, /* for the job */
    LOOK_US = SECOND_US / 2,     /* between looks at what has become of it */
    IDLE_US = 60 * SECOND_US,
    STILL_US = 5 * SECOND_US, /* the rest must last */
    LOST_SHARE = 128,         /* of that many hosts one is lost for good */
};

enum fate { STAYS, JOINS, LEAVES, IS_LOST };

/* Something that happens to a host during the churn. */
struct change {
    int64_t at_us;
    uint32_t host;
};

struct scale {
    const struct scale_options *options;
    struct scale_result *result;
    struct lbm_hosts h;
    struct lbm_graph g;
    struct lbm_rng rng;
    struct cluster *cluster;
    enum fate *fate;       /* [h.n] */
    uint8_t *went;         /* [h.n] drained or lost */
    struct change *change; /* [n_changes] by time */
    uint32_t n_changes;
    struct cluster_meter *before; /* [h.n] when the phase began */
    int64_t phase_us;
    struct timespec phase_wall;
    uint64_t phase_entries;
};

static int
is_well(const struct scale *s)
{
    const char *text;
    return cluster_violation(s->cluster, &text) == NULL;
}

/* ---- what a phase took --------------------------------------------------------------------------------- */

static void
phase_begins(struct scale *s)
{
    for (uint32_t p = 0; p < s->h.n; p++)
        s->before[p] = cluster_meter(s->cluster, p);
    s->phase_us = cluster_now(s->cluster);
    s->phase_entries = cluster_log_entries(s->cluster);
    clock_gettime(CLOCK_MONOTONIC, &s->phase_wall);
}

static void
add_to(struct scale_mean *mean, double value)
{
    mean->mean += value;
    mean->most = value > mean->most ? value : mean->most;
}

static void
phase_ends(struct scale *s, enum scale_phase phase)
{
    struct scale_cost *cost = &s->result->cost[phase];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    cost->wall_s =
        difftime(now.tv_sec, s->phase_wall.tv_sec) + (double)(now.tv_nsec - s->phase_wall.tv_nsec) / 1e9;
    cost->virtual_s = (double)(cluster_now(s->cluster) - s->phase_us) / SECOND_US;
    cost->entries = cluster_log_entries(s->cluster) - s->phase_entries;
    for (uint32_t p = 0; p < s->h.n; p++) {
        struct cluster_meter after = cluster_meter(s->cluster, p), before = s->before[p];
        if (!cluster_is_up(s->cluster, p))
            continue;
        cost->hosts++;
        add_to(&cost->messages, (double)(after.messages - before.messages));
        add_to(&cost->bytes, (double)(after.bytes - before.bytes));
        add_to(&cost->steps, (double)(after.steps - before.steps));
        add_to(&cost->transactions, (double)(after.transactions - before.transactions));
        add_to(&cost->node_ms, (double)(after.node_ns - before.node_ns) / 1e6);
    }
    struct scale_mean *means[] = {&cost->messages, &cost->bytes, &cost->steps, &cost->transactions,
                                  &cost->node_ms};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        means[i]->mean /= cost->hosts != 0 ? cost->hosts : 1;
    phase_begins(s);
}

/* ---- what is drawn beforehand -------------------------------------------------------------------------- */

/* Hosts of one fate reach one another without the others, so that they can start without those. */
static int
is_connected(const struct scale *s, enum fate without, uint32_t *order, uint8_t *seen)
{
    uint32_t n = 0, all = 0;
    memset(seen, 0, s->h.n);
    order[n++] = 0;
    seen[0] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = s->h.offset[order[i]]; e < s->h.offset[order[i] + 1]; e++) {
            uint32_t q = s->h.target[e];
            if (seen[q] || s->fate[q] == without)
                continue;
            seen[q] = 1;
            order[n++] = q;
        }
    for (uint32_t p = 0; p < s->h.n; p++)
        all += s->fate[p] != without;
    return n == all;
}

/* Give `n` hosts that would stay another fate, such that the hosts without those of fate JOINS are connected.
 */
static void
draw_fate(struct scale *s, uint32_t n, enum fate fate)
{
    uint32_t *order = lbm_alloc(s->h.n, sizeof *order);
    uint8_t *seen = lbm_alloc(s->h.n, 1);
    LBM_ASSERT(order != NULL && seen != NULL);
    for (uint32_t tries = 0; n > 0 && tries < 100 * s->h.n; tries++) {
        uint32_t p = lbm_rng_below(&s->rng, s->h.n);
        if (p == 0 || s->fate[p] != STAYS) /* host 0 orders the control log */
            continue;
        s->fate[p] = fate;
        if (fate == JOINS && !is_connected(s, JOINS, order, seen))
            s->fate[p] = STAYS;
        else
            n--;
    }
    free(order);
    free(seen);
}

static int
by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->host < y->host ? -1 : x->host > y->host;
}

static void
draw(struct scale *s)
{
    uint32_t n = (uint32_t)(s->options->churn * s->h.n + 0.5), lost = s->h.n / LOST_SHARE;
    s->fate = lbm_alloc(s->h.n, sizeof *s->fate);
    s->went = lbm_alloc(s->h.n, 1);
    s->change = lbm_alloc(s->h.n, sizeof *s->change);
    s->before = lbm_alloc(s->h.n, sizeof *s->before);
    LBM_ASSERT(s->fate != NULL && s->went != NULL && s->change != NULL && s->before != NULL);
    draw_fate(s, n, JOINS);
    draw_fate(s, n, LEAVES);
    draw_fate(s, n != 0 && lost == 0 ? 1 : n != 0 ? lost : 0, IS_LOST);
    for (uint32_t p = 0; p < s->h.n; p++)
        if (s->fate[p] != STAYS)
            s->change[s->n_changes++] =
                (struct change){(int64_t)(lbm_rng_unit(&s->rng) * s->options->minutes * 60 * SECOND_US), p};
    qsort(s->change, s->n_changes, sizeof *s->change, by_time);
}

/* ---- what the hosts say -------------------------------------------------------------------------------- */

static const Lbm__HostsReply *
hosts_as_seen_by_leader(struct scale *s)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    cluster_request(s->cluster, 0, 0, &request);
    const Lbm__Response *response = cluster_reply(s->cluster, 0, 0);
    return response != NULL && response->code == LBM_OK ? response->hosts : NULL;
}

static int
is_in(const Lbm__HostEntry *entry, const char *state)
{
    return strcmp(entry->state, state) == 0;
}

/* Who has left is switched off. Returns how many members have yet to leave, to be taken over or to be copied.
 */
static uint32_t
see_off(struct scale *s)
{
    const Lbm__HostsReply *reply = hosts_as_seen_by_leader(s);
    uint32_t open = 0;
    for (size_t i = 0; reply != NULL && i < reply->n_hosts; i++) {
        const Lbm__HostEntry *entry = reply->hosts[i];
        int participates = is_in(entry, "ACTIVE") || is_in(entry, "DRAINING") || is_in(entry, "JOINING");
        int is_open = participates ? !is_in(entry, "ACTIVE") || !entry->insync
                                   : is_in(entry, "EVICTED") && !entry->taken_over;
        open += is_open || (participates && s->went[entry->host]);
        if (is_in(entry, "LEFT") && s->fate[entry->host] == LEAVES &&
            cluster_is_up(s->cluster, entry->host)) {
            cluster_kill(s->cluster, entry->host, CRASH_ALL);
            s->result->left++;
        }
    }
    return open;
}

/* ---- the course ---------------------------------------------------------------------------------------- */

static int
await_rest(struct scale *s)
{
    int64_t end = cluster_now(s->cluster) + SETTLE_US;
    for (int64_t since = -1; cluster_now(s->cluster) < end && is_well(s);) {
        if (see_off(s) != 0 || !cluster_settled_at(s->cluster, 0, "scale"))
            since = -1;
        else if (since < 0)
            since = cluster_now(s->cluster);
        else if (cluster_now(s->cluster) - since >= STILL_US)
            return 1;
        cluster_run(s->cluster, LOOK_US, NULL, NULL);
    }
    return 0;
}

static void
drain(struct scale *s, uint32_t host)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = LBM__HOST_ACTION__HOST_DRAIN;
    change.host = host;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    cluster_request(s->cluster, 0, 0, &request);
}

static void
happen(struct scale *s, uint32_t host)
{
    s->went[host] = s->fate[host] != JOINS;
    switch (s->fate[host]) {
    case JOINS:
        cluster_restart(s->cluster, host);
        s->result->joined++;
        break;
    case LEAVES:
        drain(s, host);
        break;
    case IS_LOST:
        cluster_crash_with(s->cluster, host, CRASH_NONE);
        cluster_lose_disk(s->cluster, host);
        s->result->lost++;
        break;
    case STAYS:
        break;
    }
}

static void
churn(struct scale *s)
{
    int64_t began = cluster_now(s->cluster), end = began + (int64_t)(s->options->minutes * 60 * SECOND_US);
    uint32_t next = 0;
    while (cluster_now(s->cluster) < end && is_well(s)) {
        int64_t due = next < s->n_changes ? began + s->change[next].at_us : end;
        int64_t look = cluster_now(s->cluster) + LOOK_US;
        int64_t until = due < look ? due : look;
        if (until > cluster_now(s->cluster))
            cluster_run(s->cluster, until - cluster_now(s->cluster), NULL, NULL);
        if (next < s->n_changes && cluster_now(s->cluster) >= due)
            happen(s, s->change[next++].host);
        else
            (void)see_off(s);
    }
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void
judge(struct scale *s, int settled)
{
    struct scale_result *r = s->result;
    const char *text, *invariant = cluster_violation(s->cluster, &text);
    uint32_t *part = lbm_alloc(s->g.n, sizeof *part), doubles, none;
    uint64_t *load = lbm_alloc(s->h.n, sizeof *load), work = 0, most = 0;
    LBM_ASSERT(part != NULL && load != NULL);
    cluster_owners(s->cluster, s->g.n, part, &doubles, &none);
    for (uint32_t v = 0; v < s->g.n; v++) {
        work += lbm_graph_work(&s->g, v);
        if (part[v] != LBM_NONE)
            load[part[v]] += lbm_graph_work(&s->g, v);
    }
    for (uint32_t p = 0; p < s->h.n; p++)
        most = load[p] > most ? load[p] : most;
    struct lbm_quality quality;
    struct lbm_diag diag;
    if (none == 0 && lbm_map_evaluate(&s->g, &s->h, part, &quality, &diag) == LBM_OK) {
        r->dilation = quality.dilation_mean;
        r->hop_bytes = (double)quality.hop_bytes;
    }
    r->n_active = cluster_count_active(s->cluster, 0);
    r->imbalance = (double)most * r->n_active / (double)work - 1;
    r->settled = settled && invariant == NULL && doubles == 0 && none == 0;
    if (invariant != NULL)
        snprintf(r->why, sizeof r->why, "%s: %.180s", invariant, text);
    else if (!settled)
        snprintf(r->why, sizeof r->why, "no rest, %" PRIu32 " members wait for something", see_off(s));
    else if (!r->settled)
        snprintf(r->why, sizeof r->why, "%" PRIu32 " vertices without an owner, %" PRIu32 " with two", none,
                 doubles);
    free(part);
    free(load);
}

/* What all that took. */
static void
count_moves(struct scale *s)
{
    for (uint32_t p = 0; p < s->h.n; p++) {
        Lbm__Empty empty = LBM__EMPTY__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_STATUS;
        request.status = &empty;
        if (!cluster_is_up(s->cluster, p))
            continue;
        cluster_request(s->cluster, p, 0, &request);
        const Lbm__Response *response = cluster_reply(s->cluster, p, 0);
        if (response == NULL || response->code != LBM_OK)
            continue;
        s->result->plans += response->status->plans;
        s->result->moved += response->status->handoffs;
        if (response->status->sweeps > s->result->sweeps)
            s->result->sweeps = response->status->sweeps;
    }
}

static int
course(struct scale *s)
{
    uint8_t *later = lbm_alloc(s->h.n, 1);
    LBM_ASSERT(later != NULL);
    for (uint32_t p = 0; p < s->h.n; p++)
        later[p] = s->fate[p] == JOINS;
    phase_begins(s);
    int found = s->options->is_formed ? cluster_form(s->cluster, JOIN_US)
                                      : cluster_roll_out(s->cluster, later, JOIN_US);
    free(later);
    if (!found) {
        snprintf(s->result->why, sizeof s->result->why, "the hosts do not find together");
        return 0;
    }
    phase_ends(s, SCALE_JOINING);
    enum lbm_err err =
        s->options->holders > 1
            ? cluster_submit_parts(s->cluster, s->options->holders, "scale", &s->g, s->options->start)
            : cluster_submit(s->cluster, 0, "scale", &s->g, s->options->start);
    if (err != LBM_OK) {
        snprintf(s->result->why, sizeof s->result->why, "the job is not taken: %s", lbm_err_text(err));
        return 0;
    }
    int settled = await_rest(s);
    phase_ends(s, SCALE_SETTLING);
    if (settled)
        cluster_run(s->cluster, IDLE_US, NULL, NULL);
    phase_ends(s, SCALE_IDLE);
    if (settled)
        churn(s);
    phase_ends(s, SCALE_CHURN);
    settled = settled && await_rest(s);
    phase_ends(s, SCALE_RESTING);
    judge(s, settled);
    return s->result->settled;
}

/* Number vertices at random. */
static enum lbm_err
scatter(struct lbm_graph *g, uint64_t seed, struct lbm_diag *diag)
{
    uint32_t *number = lbm_alloc(g->n, sizeof *number);
    struct lbm_edge *edges = lbm_alloc(lbm_graph_directions(g) / 2, sizeof *edges);
    struct lbm_rng rng;
    size_t m = 0;
    LBM_ASSERT(number != NULL && edges != NULL);
    lbm_rng_seed(&rng, seed);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t at = lbm_rng_below(&rng, v + 1);
        number[v] = number[at];
        number[at] = v;
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                edges[m++] = (struct lbm_edge){number[v], number[g->target[e]], lbm_graph_weight(g, e)};
    struct lbm_graph out = {0};
    enum lbm_err err = lbm_graph_build(g->n, edges, m, LBM_MERGE_REJECT, &out, diag);
    for (uint32_t v = 0; err == LBM_OK && g->work != NULL && v < g->n; v++) {
        out.work = out.work != NULL ? out.work : lbm_alloc(g->n, sizeof *out.work);
        LBM_ASSERT(out.work != NULL);
        out.work[number[v]] = g->work[v];
    }
    free(number);
    free(edges);
    if (err == LBM_OK) {
        lbm_graph_free(g);
        *g = out;
    }
    return err;
}

enum lbm_err
scale_run(const struct scale_options *options, struct scale_result *result, struct lbm_diag *diag)
{
    struct scale s = {.options = options, .result = result};
    struct cluster_options cluster = {.seed = options->seed,
                                      .copies = options->copies,
                                      .delay_least_us = 100,
                                      .delay_most_us = 1000,
                                      .sync_us = 2000,
                                      .lose_soft = options->loss,
                                      .limited_host = LBM_NONE,
                                      .engine = LBM_LOG_ENGINE_LOCAL,
                                      .evict_share = 0.1,
                                      .log_compact_min = 4096,
                                      .unwatched = 1,
                                      .metered = 1,
                                      .judged = 1};
    *result = (struct scale_result){0};
    enum lbm_err err = lbm_hosts_generate(options->hosts, &s.h, diag);
    if (err == LBM_OK)
        err = strchr(options->guest, ':') != NULL && strchr(options->guest, '/') == NULL
                  ? lbm_graph_generate(options->guest, options->seed, &s.g, diag)
                  : lbm_file_graph(options->guest, LBM_FORMAT_COUNT, NULL, &s.g, diag);
    if (err == LBM_OK && options->is_scattered)
        err = scatter(&s.g, options->seed, diag);
    if (err == LBM_OK && options->holders > s.h.n)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--holders", 0, "%.60s has %" PRIu32 " hosts", options->hosts,
                           s.h.n);
    if (err == LBM_OK && options->is_formed && options->churn > 0)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--formed", 0, "hosts join and leave: give --churn 0 too");
    if (err == LBM_OK && s.h.n < 2)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--hosts", 0, "%.60s is one host alone", options->hosts);
    if (err == LBM_OK) {
        lbm_rng_seed(&s.rng, options->seed);
        cluster.late = options->is_formed ? s.h.n : s.h.n - 1;
        cluster.shares = options->is_formed;
        result->n_hosts = s.h.n;
        result->vertices = s.g.n;
        draw(&s);
        s.cluster = cluster_new(&s.h, &cluster);
        course(&s);
        result->hash = cluster_hash(s.cluster);
        count_moves(&s);
        result->memory_kib = cluster_memory_kib();
        cluster_free(s.cluster);
    }
    free(s.fate);
    free(s.went);
    free(s.change);
    free(s.before);
    lbm_hosts_free(&s.h);
    lbm_graph_free(&s.g);
    return err;
}
