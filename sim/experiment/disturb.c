/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The course of one run with a fault. Owners are those of the disks, whatever hosts say of them. */
#include "sim/experiment/disturb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "file/file.h"
#include "graph/generate.h"
#include "map/map.h"

enum {
    JOIN_US = 120 * 1000000,   /* for the last host to be active */
    SETTLE_US = 300 * 1000000, /* for the job */
    LOOK_US = 20000,           /* between looks at what has become of it */
    STILL_US = 5 * 1000000,    /* the rest must last */
    LAG_US = 500000,
};

static const double LOST = 0.1;

struct disturb {
    const struct disturb_options *options;
    enum disturbance disturbance;
    struct disturb_result *result;
    struct lbm_hosts h;
    struct lbm_graph g;
    struct cluster *cluster;
    uint32_t *part; /* [g.n] */
    uint32_t none, doubles, victim;
    int is_gone; /* the host of the fault, for good */
};

static int
is_well(const struct disturb *d)
{
    const char *text;
    return cluster_violation(d->cluster, &text) == NULL;
}

/* Largest load over its share of the hosts that are left, less one. */
static double
imbalance_now(struct disturb *d)
{
    uint64_t *load = lbm_alloc(d->h.n, sizeof *load), work = 0, most = 0;
    LBM_ASSERT(load != NULL);
    cluster_owners(d->cluster, d->g.n, d->part, &d->doubles, &d->none);
    for (uint32_t v = 0; v < d->g.n; v++) {
        work += lbm_graph_work(&d->g, v);
        if (d->part[v] != LBM_NONE)
            load[d->part[v]] += lbm_graph_work(&d->g, v);
    }
    for (uint32_t p = 0; p < d->h.n; p++)
        most = load[p] > most ? load[p] : most;
    free(load);
    return (double)most * cluster_count_active(d->cluster, 0) / (double)work - 1;
}

static int
is_mapping(struct cluster *cluster, void *arg)
{
    (void)arg;
    const Lbm__JobEntry *job = cluster_job(cluster, 0, "job");
    return job != NULL && strcmp(job->phase, lbm_phase_name(LBM_PHASE_MAPPING)) == 0;
}

static int
has_settled(struct cluster *cluster, void *arg)
{
    (void)arg;
    return cluster_settled_at(cluster, 0, "job");
}

static void
happen(struct disturb *d)
{
    (void)cluster_run(d->cluster, JOIN_US, is_mapping, NULL);
    (void)cluster_run(d->cluster, (int64_t)(d->options->after_s * 1e6), has_settled, NULL);
    if (d->disturbance == DISTURB_STOPS)
        cluster_stop(d->cluster, d->victim);
    else
        cluster_kill(d->cluster, d->victim, CRASH_SOME);
}

/* What is left does not include the host of the fault. */
static uint32_t
active_at_the_end(const struct disturb *d)
{
    int is_lost =
        d->disturbance == DISTURB_ABSENT || d->disturbance == DISTURB_STOPS || d->disturbance == DISTURB_DIES;
    return d->h.n - (is_lost != 0);
}

/* A host that was evicted is switched off, so that its disk has no vertices that its successor has. */
static void
see_off(struct disturb *d)
{
    int may_be_gone = d->disturbance == DISTURB_STOPS || d->disturbance == DISTURB_DIES;
    if (!may_be_gone || d->is_gone || cluster_count_active(d->cluster, 0) == d->h.n)
        return;
    if (cluster_is_up(d->cluster, d->victim))
        cluster_kill(d->cluster, d->victim, CRASH_SOME);
    cluster_lose_disk(d->cluster, d->victim);
    d->is_gone = 1;
}

static void
await_rest(struct disturb *d, int64_t began)
{
    struct disturb_result *r = d->result;
    int64_t end = began + SETTLE_US, since = -1;
    while (cluster_now(d->cluster) < end && is_well(d)) {
        int is_settled = cluster_settled_at(d->cluster, 0, "job");
        see_off(d);
        if (is_settled && r->first_s == 0) {
            r->first_s = (double)(cluster_now(d->cluster) - began) / 1e6;
            r->first_imbalance = imbalance_now(d);
        }
        if (!is_settled || cluster_count_active(d->cluster, 0) != active_at_the_end(d))
            since = -1;
        else if (since < 0)
            since = cluster_now(d->cluster);
        else if (cluster_now(d->cluster) - since >= STILL_US) {
            r->virtual_s = (double)(since - began) / 1e6;
            r->settled = 1;
            return;
        }
        cluster_run(d->cluster, LOOK_US, NULL, NULL);
    }
    snprintf(r->why, sizeof r->why, "no rest");
}

static void
judge(struct disturb *d)
{
    struct disturb_result *r = d->result;
    const char *text, *invariant = cluster_violation(d->cluster, &text);
    struct lbm_quality quality;
    struct lbm_diag diag;
    r->imbalance = imbalance_now(d);
    if (d->none == 0 && lbm_map_evaluate(&d->g, &d->h, d->part, &quality, &diag) == LBM_OK)
        r->dilation = quality.dilation_mean;
    const Lbm__JobEntry *job = cluster_job(d->cluster, 0, "job");
    r->moved = job != NULL ? (double)job->moved / d->g.n : 0;
    if (invariant != NULL)
        snprintf(r->why, sizeof r->why, "%s: %.180s", invariant, text);
    else if (d->none != 0 || d->doubles != 0)
        snprintf(r->why, sizeof r->why, "%" PRIu32 " vertices without an owner, %" PRIu32 " with two",
                 d->none, d->doubles);
    r->settled = r->settled && r->why[0] == '\0';
}

/* Any neighbour of the host of the fault, but the one that everybody asks. */
static uint32_t
neighbour(const struct disturb *d)
{
    uint32_t victim = d->victim, other = LBM_NONE;
    for (uint32_t e = d->h.offset[victim]; e < d->h.offset[victim + 1]; e++)
        other = other == LBM_NONE || other == 0 ? d->h.target[e] : other;
    return other;
}

static void
course(struct disturb *d)
{
    const struct disturb_options *o = d->options;
    uint8_t *later = lbm_alloc(d->h.n, 1);
    LBM_ASSERT(later != NULL);
    later[d->victim] = d->disturbance == DISTURB_ABSENT;
    int found = cluster_roll_out(d->cluster, later, JOIN_US);
    free(later);
    if (!found) {
        snprintf(d->result->why, sizeof d->result->why, "the hosts do not find together");
        return;
    }
    if (d->disturbance == DISTURB_LAGS) {
        uint32_t other = neighbour(d);
        cluster_lag(d->cluster, d->victim, other, LAG_US);
        cluster_lag(d->cluster, other, d->victim, LAG_US);
        cluster_run(d->cluster, STILL_US, NULL, NULL);
    }
    if (d->disturbance == DISTURB_LOSES)
        cluster_soft_loss(d->cluster, LOST, 0);
    int64_t began = cluster_now(d->cluster);
    enum lbm_err err = o->parts != 0 ? cluster_submit_parts(d->cluster, o->parts, "job", &d->g, o->start)
                                     : cluster_submit(d->cluster, 0, "job", &d->g, o->start);
    if (err != LBM_OK) {
        snprintf(d->result->why, sizeof d->result->why, "the job is not taken: %s", lbm_err_text(err));
        return;
    }
    if (d->disturbance == DISTURB_STOPS || d->disturbance == DISTURB_DIES)
        happen(d);
    await_rest(d, began);
    judge(d);
}

/* The same graph with ids that are drawn. Errors: LBM_E_NOMEM. */
static enum lbm_err
shuffle(struct lbm_graph *g, uint64_t seed, struct lbm_diag *diag)
{
    struct lbm_graph shuffled = {0};
    struct lbm_rng rng;
    uint32_t *at = lbm_alloc(g->n, sizeof *at), *work = lbm_alloc(g->n, sizeof *work);
    size_t m = 0;
    struct lbm_edge *edges = lbm_alloc(lbm_graph_directions(g) / 2, sizeof *edges);
    enum lbm_err err = at == NULL || work == NULL || edges == NULL
                           ? lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the guest")
                           : LBM_OK;
    lbm_rng_seed(&rng, seed);
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        uint32_t to = lbm_rng_below(&rng, v + 1);
        at[v] = at[to];
        at[to] = v;
    }
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        work[at[v]] = lbm_graph_work(g, v);
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                edges[m++] = (struct lbm_edge){at[v], at[g->target[e]], lbm_graph_weight(g, e)};
    }
    if (err == LBM_OK)
        err = lbm_graph_build(g->n, edges, m, LBM_MERGE_REJECT, &shuffled, diag);
    free(at);
    free(edges);
    if (err != LBM_OK) {
        free(work);
        return err;
    }
    lbm_graph_free(g);
    *g = shuffled;
    g->work = work;
    return LBM_OK;
}

static enum lbm_err
read_guest(const struct disturb_options *options, struct lbm_graph *g, struct lbm_diag *diag)
{
    int is_spec = strchr(options->guest, ':') != NULL && strchr(options->guest, '/') == NULL;
    enum lbm_err err = is_spec ? lbm_graph_generate(options->guest, options->seed, g, diag)
                               : lbm_file_graph(options->guest, LBM_FORMAT_COUNT, NULL, g, diag);
    return err == LBM_OK && options->is_shuffled ? shuffle(g, options->seed, diag) : err;
}

static void
print_note(void *arg, const char *line)
{
    (void)arg;
    if (strstr(line, "note: ") != NULL)
        puts(line);
}

enum lbm_err
disturb_run(const struct disturb_options *options, enum disturbance disturbance,
            struct disturb_result *result, struct lbm_diag *diag)
{
    struct disturb d = {.options = options, .disturbance = disturbance, .result = result};
    struct cluster_options cluster = {.seed = options->seed,
                                      .delay_least_us = 100,
                                      .delay_most_us = 1000,
                                      .sync_us = 2000,
                                      .limited_host = LBM_NONE,
                                      .engine = LBM_LOG_ENGINE_LOCAL,
                                      .evict_share = 0.3,
                                      .log_compact_min = 4096,
                                      .unwatched = 1,
                                      .judged = 1,
                                      .line = print_note};
    *result = (struct disturb_result){0};
    enum lbm_err err = lbm_hosts_generate(options->hosts, &d.h, diag);
    if (err == LBM_OK)
        d.victim = options->victim != 0 ? options->victim : d.h.n - 1;
    if (err == LBM_OK && (d.victim == 0 || d.victim >= d.h.n))
        err =
            lbm_diag_set(diag, LBM_E_RANGE, "--host", 0, "from 1 to %" PRIu32 ": host 0 is asked", d.h.n - 1);
    if (err == LBM_OK && options->parts > d.h.n)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--parts", 0, "there are %" PRIu32 " hosts", d.h.n);
    if (err == LBM_OK)
        err = read_guest(options, &d.g, diag);
    if (err == LBM_OK && (d.part = lbm_alloc(d.g.n, sizeof *d.part)) == NULL)
        err = lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the guest");
    if (err == LBM_OK) {
        cluster.late = d.h.n - 1;
        result->vertices = d.g.n;
        d.cluster = cluster_new(&d.h, &cluster);
        cluster_trace(d.cluster, options->traces);
        course(&d);
        cluster_free(d.cluster);
    }
    free(d.part);
    lbm_hosts_free(&d.h);
    lbm_graph_free(&d.g);
    return err;
}
