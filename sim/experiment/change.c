/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/experiment/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "file/file.h"
#include "graph/generate.h"
#include "map/map.h"

enum {
    SECOND_US = 1000000,
    FORM_US = 120 * SECOND_US,
    SETTLE_US = 900 * SECOND_US,
    CHANGE_US = 120 * SECOND_US, /* for one change */
    IDLE_US = 20 * SECOND_US,    /* after which all that belonged to the beginning is over */
    REST_US = 20 * SECOND_US,    /* measured at rest */
    LOOK_US = SECOND_US / 50,
    STILL_US = 3 * SECOND_US, /* the rest must last: copies and answers are in flight */
};

struct change {
    const struct change_options *options;
    struct change_result *result;
    struct lbm_hosts h;
    struct lbm_graph g;
    struct cluster *cluster;
    struct reporter reporter[CHANGES_MAX]; /* of each host whose load grows */
    struct cluster_meter *before;          /* [h.n] */
    uint32_t *part, *start;                /* [g.n] */
    uint32_t *given;                       /* [g.n] the mapping to begin with; NULL: a plan */
    uint32_t *work;                        /* [g.n] */
    uint8_t at_rest[CLUSTER_KINDS];
    uint32_t host[CHANGES_MAX]; /* whose load grows */
};

static int
fails(struct change *c, const char *why)
{
    const char *text, *invariant = c->cluster != NULL ? cluster_violation(c->cluster, &text) : NULL;
    if (invariant != NULL)
        snprintf(c->result->why, sizeof c->result->why, "%s: %.180s", invariant, text);
    else
        snprintf(c->result->why, sizeof c->result->why, "%s", why);
    return 0;
}

/* ---- what is counted ----------------------------------------------------------------------------------- */

static void
count_from_here(struct change *c)
{
    for (uint32_t p = 0; p < c->h.n; p++)
        c->before[p] = cluster_meter(c->cluster, p);
}

/* Kinds that a cluster at rest has: who is alive, who may work, where the log is. Repeated ghosts too: those
 * of a change are not told from them, and go to neighbours alone. Most hosts send such a kind; what one in a
 * thousand sends now and then is none. */
static void
measure_rest(struct change *c)
{
    uint64_t messages = 0;
    uint32_t senders[CLUSTER_KINDS] = {0};
    cluster_run(c->cluster, IDLE_US, NULL, NULL);
    count_from_here(c);
    cluster_run(c->cluster, REST_US, NULL, NULL);
    for (uint32_t p = 0; p < c->h.n; p++) {
        struct cluster_meter now = cluster_meter(c->cluster, p);
        messages += now.messages - c->before[p].messages;
        for (unsigned k = 0; k < CLUSTER_KINDS; k++)
            senders[k] += now.sent[k] != c->before[p].sent[k];
    }
    for (unsigned k = 0; k < CLUSTER_KINDS; k++)
        c->at_rest[k] = senders[k] > c->h.n / 2;
    c->result->rest_messages = (double)messages / c->h.n / (REST_US / SECOND_US);
}

/* Links between the changed host and all others [h.n]. */
static void
find_ways(const struct change *c, uint32_t from, uint32_t *links)
{
    uint32_t *order = lbm_alloc(c->h.n, sizeof *order), n = 1;
    LBM_ASSERT(order != NULL);
    memset(links, 0xff, c->h.n * sizeof *links);
    order[0] = from;
    links[from] = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = c->h.offset[order[i]]; e < c->h.offset[order[i] + 1]; e++)
            if (links[c->h.target[e]] == LBM_NONE) {
                links[c->h.target[e]] = links[order[i]] + 1;
                order[n++] = c->h.target[e];
            }
    free(order);
}

static const char *
kind_name(unsigned kind)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(&lbm__peer__descriptor, kind);
    return field != NULL ? field->name : "other";
}

static void
count_cost(struct change *c, struct change_cost *cost)
{
    uint32_t *links = lbm_alloc(c->h.n, sizeof *links);
    LBM_ASSERT(links != NULL);
    find_ways(c, cost->host, links);
    for (uint32_t p = 0; p < c->h.n; p++) {
        struct cluster_meter now = cluster_meter(c->cluster, p);
        int touched = 0;
        for (unsigned k = 0; k < CLUSTER_KINDS; k++) {
            uint64_t sent = now.sent[k] - c->before[p].sent[k];
            if (c->at_rest[k] || (sent == 0 && now.got[k] == c->before[p].got[k]))
                continue;
            touched = 1;
            cost->kind[k].name = kind_name(k);
            cost->kind[k].messages += sent;
            cost->kind[k].bytes += now.sent_bytes[k] - c->before[p].sent_bytes[k];
            cost->messages += sent;
            cost->bytes += now.sent_bytes[k] - c->before[p].sent_bytes[k];
        }
        cost->touched += (uint32_t)touched;
        cost->far = touched && links[p] > cost->far ? links[p] : cost->far;
    }
    free(links);
}

static double
imbalance(struct change *c)
{
    uint64_t *load = lbm_alloc(c->h.n, sizeof *load), most = 0, all = 0;
    uint32_t doubles, none;
    LBM_ASSERT(load != NULL);
    cluster_owners(c->cluster, c->g.n, c->part, &doubles, &none);
    for (uint32_t v = 0; v < c->g.n; v++) {
        all += c->work[v];
        if (c->part[v] != LBM_NONE)
            load[c->part[v]] += c->work[v];
    }
    for (uint32_t p = 0; p < c->h.n; p++)
        most = load[p] > most ? load[p] : most;
    free(load);
    return (double)most * c->h.n / (double)all - 1;
}

static void
count_moves(struct change *c, struct change_cost *cost)
{
    uint8_t *moves = lbm_alloc(c->h.n, 1);
    LBM_ASSERT(moves != NULL);
    for (uint32_t v = 0; v < c->g.n; v++) {
        if (c->part[v] == c->start[v] || c->part[v] == LBM_NONE || c->start[v] == LBM_NONE)
            continue;
        cost->moved++;
        moves[c->part[v]] = moves[c->start[v]] = 1;
    }
    for (uint32_t p = 0; p < c->h.n; p++)
        cost->movers += moves[p];
    free(moves);
}

/* ---- the course ---------------------------------------------------------------------------------------- */

static int
has_reporter(const struct change *c, uint32_t host)
{
    for (uint32_t i = 0; i < c->options->changes; i++)
        if (c->host[i] == host)
            return 1;
    return 0;
}

/* The job's coordinator: a host that can be asked how the job stands. Questions on the connection of an
 * application would cost it what it is told meanwhile. */
static uint32_t
coordinator(const struct change *c)
{
    uint32_t p = 0;
    while (has_reporter(c, p))
        p++;
    return p;
}

/* Until the job has settled as its coordinator knows, which hears of every host twice a second. Others hear
 * of hosts far away in turn, and may believe for minutes that one of them has not. */
static int
await_rest(struct change *c, int64_t us, int64_t *since_us)
{
    int64_t end = cluster_now(c->cluster) + us;
    uint32_t at = coordinator(c);
    const char *text;
    *since_us = cluster_now(c->cluster);
    while (cluster_now(c->cluster) < end && cluster_violation(c->cluster, &text) == NULL) {
        for (uint32_t i = 0; i < c->options->changes && c->reporter[i].cluster != NULL; i++)
            reporter_look(&c->reporter[i]);
        cluster_run(c->cluster, LOOK_US, NULL, NULL);
        if (!cluster_settled_at(c->cluster, at, "change"))
            *since_us = cluster_now(c->cluster);
        else if (cluster_now(c->cluster) - *since_us >= STILL_US)
            return 1;
    }
    return 0;
}

static int
change_once(struct change *c, struct reporter *reporter, struct change_cost *cost)
{
    size_t n = reporter->vertex.n;
    double *load = lbm_alloc(n, sizeof *load);
    int64_t began_us = cluster_now(c->cluster), since_us;
    LBM_ASSERT(load != NULL);
    for (size_t i = 0; i < n; i++) {
        uint32_t v = reporter->vertex.at[i];
        load[i] = c->work[v] * c->options->factor;
        c->work[v] = (uint32_t)(load[i] + 0.5);
    }
    cost->host = reporter->host;
    cost->before = imbalance(c);
    memcpy(c->start, c->part, c->g.n * sizeof *c->part);
    count_from_here(c);
    reporter_tell(reporter, load);
    free(load);
    int settled = await_rest(c, CHANGE_US, &since_us);
    cost->settled_s = settled ? (double)(since_us - began_us) / SECOND_US : -1;
    cost->after = imbalance(c);
    count_moves(c, cost);
    count_cost(c, cost);
    return settled;
}

static int
course(struct change *c)
{
    struct change_result *r = c->result;
    int64_t since_us;
    if (!cluster_form(c->cluster, FORM_US))
        return fails(c, "the hosts do not find together");
    if (cluster_submit(c->cluster, coordinator(c), "change", &c->g, LBM_START_PLAN) != LBM_OK)
        return fails(c, "the job is not taken");
    if (!await_rest(c, SETTLE_US, &since_us))
        return fails(c, "the job does not settle");
    for (uint32_t i = 0; i < c->options->changes; i++) {
        c->reporter[i] = (struct reporter){.cluster = c->cluster, .host = c->host[i]};
        if (!reporter_attach(&c->reporter[i]))
            return fails(c, "an application is not served, or has nothing");
    }
    if (!await_rest(c, SETTLE_US, &since_us))
        return fails(c, "the job does not settle with applications");
    measure_rest(c);
    while (r->n < c->options->changes) {
        struct change_cost *cost = &r->cost[r->n];
        if (!change_once(c, &c->reporter[r->n++], cost))
            return fails(c, "the job does not settle after a change");
        cluster_run(c->cluster, IDLE_US, NULL, NULL);
        r->messages += (double)cost->messages / c->options->changes;
        r->bytes += (double)cost->bytes / c->options->changes;
        r->touched += (double)cost->touched / c->options->changes;
        r->touched_most = cost->touched > r->touched_most ? cost->touched : r->touched_most;
    }
    return 1;
}

/* The host whose farthest one is nearest; of several the first. */
static uint32_t
middle(const struct change *c)
{
    uint32_t *links = lbm_alloc(c->h.n, sizeof *links), best = 0, least = UINT32_MAX;
    LBM_ASSERT(links != NULL);
    for (uint32_t p = 0; p < c->h.n; p++) {
        uint32_t most = 0;
        find_ways(c, p, links);
        for (uint32_t q = 0; q < c->h.n; q++)
            most = links[q] > most ? links[q] : most;
        if (most < least) {
            least = most;
            best = p;
        }
    }
    free(links);
    return best;
}

/* Hosts whose loads grow: all different, and so far apart. Zero if there are not that many. */
static int
choose_hosts(struct change *c)
{
    enum { TRIES = 100 };
    uint32_t *links = lbm_alloc(c->h.n, sizeof *links), n = 1;
    struct lbm_rng rng;
    LBM_ASSERT(links != NULL);
    lbm_rng_seed(&rng, c->options->seed);
    c->host[0] = c->options->host != LBM_NONE ? c->options->host : middle(c);
    for (uint32_t tries = 0; n < c->options->changes && tries < TRIES * c->h.n; tries++) {
        uint32_t before = 0;
        c->host[n] = lbm_rng_below(&rng, c->h.n);
        find_ways(c, c->host[n], links);
        while (before < n && links[c->host[before]] >= c->options->apart)
            before++;
        n += before == n;
    }
    free(links);
    return n == c->options->changes;
}

/* Where vertices begin. */
static void
put_given(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    const struct change *c = arg;
    (void)task;
    if (c->given != NULL)
        memcpy(plan->part, c->given, plan->n * sizeof *plan->part);
}

static void
begin(struct change *c)
{
    const struct change_options *o = c->options;
    struct cluster_options cluster = {.seed = o->seed,
                                      .job_seed = o->seed, /* plans of several runs are not the same one */
                                      .delay_least_us = 100,
                                      .delay_most_us = 1000,
                                      .sync_us = 2000,
                                      .limited_host = LBM_NONE,
                                      .engine = LBM_LOG_ENGINE_LOCAL,
                                      .late = c->h.n,
                                      .log_compact_min = 1024,
                                      .planned = put_given,
                                      .planned_arg = c,
                                      .unwatched = 1,
                                      .shares = 1,
                                      .large_members = UINT32_MAX, /* who waits shares with nobody */
                                      .judged = 1};
    c->before = lbm_alloc(c->h.n, sizeof *c->before);
    c->part = lbm_alloc(c->g.n, sizeof *c->part);
    c->start = lbm_alloc(c->g.n, sizeof *c->start);
    c->work = lbm_alloc(c->g.n, sizeof *c->work);
    LBM_ASSERT(c->before != NULL && c->part != NULL && c->start != NULL && c->work != NULL);
    for (uint32_t v = 0; v < c->g.n; v++)
        c->work[v] = lbm_graph_work(&c->g, v);
    c->result->n_hosts = c->h.n;
    c->result->vertices = c->g.n;
    c->cluster = cluster_new(&c->h, &cluster);
}

/* Loads in units fine enough that a part of them can be told. */
static enum lbm_err
weigh(struct lbm_graph *g)
{
    enum { WEIGHT = 100 };
    if (g->work == NULL)
        g->work = lbm_alloc(g->n, sizeof *g->work);
    for (uint32_t v = 0; g->work != NULL && v < g->n; v++)
        g->work[v] = WEIGHT;
    return g->work != NULL ? LBM_OK : LBM_E_NOMEM;
}

enum lbm_err
change_run(const struct change_options *options, struct change_result *result, struct lbm_diag *diag)
{
    struct change c = {.options = options, .result = result};
    memset(result, 0, sizeof *result);
    enum lbm_err err = lbm_hosts_generate(options->hosts, &c.h, diag);
    if (err == LBM_OK)
        err = lbm_graph_generate(options->guest, options->seed, &c.g, diag);
    if (err == LBM_OK && c.h.n < 2)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--hosts", 0, "%.60s is one host alone", options->hosts);
    if (err == LBM_OK && options->host != LBM_NONE && options->host >= c.h.n)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--host", 0, "there are hosts 0 to %" PRIu32, c.h.n - 1);
    if (err == LBM_OK && options->changes >= c.h.n)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--changes", 0, "one of the %" PRIu32 " hosts stays as it is",
                           c.h.n);
    if (err == LBM_OK && weigh(&c.g) != LBM_OK)
        err = lbm_diag_set(diag, LBM_E_NOMEM, "--guest", 0, "no memory for it");
    if (err == LBM_OK && options->map != NULL)
        err = lbm_file_map(options->map, &c.g, c.h.n, &c.given, diag);
    if (err == LBM_OK && !choose_hosts(&c))
        err = lbm_diag_set(diag, LBM_E_RANGE, "--apart", 0, "%" PRIu32 " hosts are not so far apart",
                           options->changes);
    if (err == LBM_OK) {
        begin(&c);
        result->settled = course(&c);
        result->hash = cluster_hash(c.cluster);
        result->memory_kib = cluster_memory_kib();
        cluster_free(c.cluster);
        for (uint32_t i = 0; i < options->changes; i++)
            reporter_free(&c.reporter[i]);
    }
    free(c.given);
    free(c.before);
    free(c.part);
    free(c.start);
    free(c.work);
    lbm_hosts_free(&c.h);
    lbm_graph_free(&c.g);
    return err;
}
