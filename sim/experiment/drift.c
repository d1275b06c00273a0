/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/experiment/drift.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "file/file.h"
#include "graph/generate.h"
#include "map/map.h"
#include "node/view/view.h"
#include "sim/model/cluster.h"

enum {
    SECOND_US = 1000000,
    JOIN_US = 60 * SECOND_US,
    FORM_US = 120 * SECOND_US,
    SETTLE_US = 120 * SECOND_US,
    ATTACH_US = 5 * SECOND_US, /* until applications have what is theirs, and their reports are believed */
    REST_US = 20 * SECOND_US,  /* before loads are constant, or noisy: what was in flight is over */
    LOOK_US = SECOND_US / 10,
    USUAL = 100, /* what a vertex costs at first */
    CORNERS = 4,
    LOG_COMPACT_MIN = 1024,
};

static const double even = 0.05, soon_s = 5;

struct drift {
    const struct drift_options *options;
    struct drift_result *result;
    struct lbm_hosts h;
    struct lbm_graph g; /* work: present loads */
    struct cluster *cluster;
    uint32_t *part, *start; /* [g.n] owners now, and when the step began */
    double *load;           /* [g.n] */
    double *sum, *limit;    /* [h.n] scratch */
    uint8_t *corner;        /* [g.n] of the hosts where vertices were at first */
    struct lbm_rng rng;     /* of noise */
    double noise;
};

static char job_name[] = "drift";

static int
fails(struct drift *d, const char *why)
{
    const char *text, *invariant = d->cluster != NULL ? cluster_violation(d->cluster, &text) : NULL;
    if (invariant != NULL)
        snprintf(d->result->why, sizeof d->result->why, "%s: %.180s", invariant, text);
    else
        snprintf(d->result->why, sizeof d->result->why, "%s", why);
    return 0;
}

/* ---- what is measured ---------------------------------------------------------------------------------- */

static void
look(struct drift *d)
{
    uint32_t doubles, none;
    if (d->cluster == NULL)
        return;
    uint32_t *now = lbm_alloc(d->g.n, sizeof *now);
    LBM_ASSERT(now != NULL);
    cluster_owners(d->cluster, d->g.n, now, &doubles, &none);
    for (uint32_t v = 0; v < d->g.n; v++)
        d->part[v] = now[v] != LBM_NONE ? now[v] : d->part[v]; /* on its way: where it was */
    free(now);
}

static double
share(const struct drift *d, uint32_t p)
{
    double all = 0, capacity = 0;
    for (uint32_t v = 0; v < d->g.n; v++)
        all += d->load[v];
    for (uint32_t q = 0; q < d->h.n; q++)
        capacity += d->h.capacity[q];
    return all * d->h.capacity[p] / capacity;
}

/* Sums the loads of hosts. */
static double
imbalance(struct drift *d)
{
    double most = 0, unit = share(d, 0) / d->h.capacity[0];
    for (uint32_t p = 0; p < d->h.n; p++)
        d->sum[p] = 0;
    for (uint32_t v = 0; v < d->g.n; v++)
        d->sum[d->part[v]] += d->load[v];
    for (uint32_t p = 0; p < d->h.n; p++)
        most = fmax(most, d->sum[p] / (unit * d->h.capacity[p]));
    return most - 1;
}

static double
moved_work(const struct drift *d)
{
    double moved = 0;
    for (uint32_t v = 0; v < d->g.n; v++)
        moved += d->part[v] != d->start[v] ? d->load[v] : 0;
    return moved;
}

static uint64_t
handed_over(struct drift *d)
{
    const Lbm__JobEntry *job = d->cluster != NULL ? cluster_job(d->cluster, 0, job_name) : NULL;
    return job != NULL ? job->moved : 0;
}

/* ---- plans --------------------------------------------------------------------------------------------- */

static void
weigh(struct drift *d)
{
    for (uint32_t v = 0; v < d->g.n; v++)
        d->g.work[v] = (uint32_t)fmax(1, floor(d->load[v] + 0.5));
}

/* Errors: LBM_E_NOMEM, LBM_E_LIMIT. */
static enum lbm_err
plan(struct drift *d, uint64_t seed, const uint32_t *current, uint32_t *part, struct lbm_diag *diag)
{
    struct lbm_plan_options options;
    struct lbm_plan made;
    lbm_plan_defaults(&options);
    options.seed = seed;
    options.imbalance = d->options->imbalance;
    options.current = current;
    weigh(d);
    options.migration_cost = current == NULL        ? 0
                             : d->options->cost > 0 ? d->options->cost
                                                    : lbm_map_migration_cost(&d->g, d->h.n);
    enum lbm_err err = lbm_plan_make(&d->g, &d->h, &options, &made, diag);
    if (err != LBM_OK)
        return err;
    memcpy(part, made.part, d->g.n * sizeof *part);
    lbm_plan_free(&made);
    return LBM_OK;
}

static int
by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Fresh plans of the same loads differ by several parts of a hundred in J, as they are drawn. */
static enum lbm_err
compare(struct drift *d, struct drift_step *step, struct lbm_diag *diag)
{
    uint32_t *fresh = lbm_alloc(d->g.n, sizeof *fresh);
    uint64_t hop_bytes[DRIFT_FRESH_MAX];
    enum lbm_err err = fresh != NULL ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t i = 0; i < d->options->fresh && err == LBM_OK; i++) {
        err = plan(d, d->options->seed + i, NULL, fresh, diag);
        if (err == LBM_OK)
            hop_bytes[i] = lbm_map_hop_bytes(&d->g, &d->h, fresh);
    }
    if (err == LBM_OK) {
        qsort(hop_bytes, d->options->fresh, sizeof *hop_bytes, by_size);
        step->fresh = hop_bytes[(d->options->fresh - 1) / 2];
        step->luckiest = hop_bytes[0];
    }
    free(fresh);
    return err;
}

/* ---- a step -------------------------------------------------------------------------------------------- */

static void
mix(struct drift *d, uint32_t ramp, uint32_t k)
{
    double at = (double)k / d->options->steps;
    for (uint32_t v = 0; v < d->g.n; v++) {
        double low = ramp != 0 && d->corner[v] == (ramp - 1) % CORNERS ? 2 : 1;
        double high = d->corner[v] == ramp % CORNERS ? 2 : 1;
        d->load[v] = USUAL * (low + (high - low) * at);
    }
}

static void
watch(struct drift *d, struct drift_step *step)
{
    int64_t began_us = cluster_now(d->cluster),
            end_us = began_us + (int64_t)(d->options->seconds * SECOND_US);
    step->back_s = -1;
    while (cluster_now(d->cluster) < end_us) {
        const char *text;
        cluster_run(d->cluster, LOOK_US, NULL, NULL);
        if (cluster_violation(d->cluster, &text) != NULL)
            return;
        look(d);
        double passed_s = (double)(cluster_now(d->cluster) - began_us) / SECOND_US;
        if (imbalance(d) > even)
            step->back_s = -1;
        else if (step->back_s < 0)
            step->back_s = passed_s;
        uint64_t now = lbm_map_hop_bytes(&d->g, &d->h, d->part);
        step->most = fmax(step->most, (double)now);
    }
}

static enum lbm_err
take_step(struct drift *d, uint32_t ramp, uint32_t k, struct lbm_diag *diag)
{
    const struct drift_options *o = d->options;
    struct drift_step *step = &d->result->step[d->result->n++];
    enum lbm_err err = LBM_OK;
    memcpy(d->start, d->part, d->g.n * sizeof *d->part);
    mix(d, ramp, k);
    step->before = imbalance(d);
    for (uint32_t p = 0; p < d->h.n; p++) {
        d->limit[p] = (1 + o->imbalance) * share(d, p);
        step->least += fmax(0, d->sum[p] - d->limit[p]);
    }
    err = drift_least_flow(&d->h, d->sum, d->limit, &step->flow);
    if (err == LBM_OK && o->remap)
        err = plan(d, o->seed, d->start, d->part, diag);
    else if (err == LBM_OK)
        watch(d, step);
    step->after = imbalance(d);
    step->moved = moved_work(d);
    step->hop_bytes = lbm_map_hop_bytes(&d->g, &d->h, d->part);
    if (err == LBM_OK && o->plans != 0 && k % o->plans == 0)
        err = compare(d, step, diag);
    step->most = step->fresh != 0 ? fmax(step->most, (double)step->hop_bytes) / (double)step->fresh : 0;
    return err;
}

static void
sum_up(struct drift_result *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct drift_step *step = &r->step[i];
        r->least += step->least;
        r->flow += step->flow;
        r->moved += step->moved;
        r->late += step->back_s < 0 || step->back_s > soon_s;
        r->slowest_s = fmax(r->slowest_s, step->back_s < 0 ? HUGE_VAL : step->back_s);
        if (step->fresh == 0)
            continue;
        double ratio = (double)step->hop_bytes / (double)step->fresh;
        r->worst = fmax(r->worst, ratio);
        r->luckiest = fmax(r->luckiest, (double)step->hop_bytes / (double)step->luckiest);
        r->worst_ever = fmax(r->worst_ever, step->most);
        r->mean_ratio += ratio;
        n++;
    }
    r->mean_ratio = n != 0 ? r->mean_ratio / n : 0;
}

/* ---- the course ---------------------------------------------------------------------------------------- */

/* Loads are told apart by where vertices are at first: below and above the middle of Omega, in a circle. */
static void
mark_corners(struct drift *d)
{
    static const uint8_t circle[] = {0, 1, 3, 2};
    for (uint32_t v = 0; v < d->g.n; v++) {
        const double *site = &d->h.site[(size_t)d->part[v] * d->h.m];
        d->corner[v] = circle[(site[0] > 0.5) + 2 * (site[1] > 0.5)];
    }
}

static enum lbm_err
save(const struct drift *d, uint32_t step, struct lbm_diag *diag)
{
    char path[4096];
    if (d->options->maps == NULL)
        return LBM_OK;
    char *text = lbm_alloc(d->g.n, 12);
    size_t len = 0;
    for (uint32_t v = 0; text != NULL && v < d->g.n; v++)
        len += (size_t)sprintf(text + len, "%" PRIu32 "\n", d->part[v]);
    snprintf(path, sizeof path, "%s/after-%" PRIu32 ".part", d->options->maps, step);
    enum lbm_err err = text != NULL ? lbm_file_write(path, text, len, diag)
                                    : lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for it");
    free(text);
    return err;
}

static enum lbm_err
drift(struct drift *d, struct lbm_diag *diag)
{
    const struct drift_options *o = d->options;
    uint64_t handed = handed_over(d), messages = 0, bytes = 0;
    enum lbm_err err = save(d, 0, diag);
    for (uint32_t p = 0; p < d->h.n && d->cluster != NULL; p++) {
        messages += cluster_meter(d->cluster, p).messages;
        bytes += cluster_meter(d->cluster, p).bytes;
    }
    for (uint32_t ramp = 0; ramp < o->ramps && err == LBM_OK; ramp++) {
        for (uint32_t k = 1; k <= o->steps && err == LBM_OK; k++) {
            const char *text;
            err = take_step(d, ramp, k, diag);
            if (err == LBM_OK)
                err = save(d, ramp * o->steps + k, diag);
            if (d->cluster != NULL && cluster_violation(d->cluster, &text) != NULL) {
                (void)fails(d, "");
                return LBM_OK;
            }
        }
    }
    for (uint32_t p = 0; p < d->h.n && d->cluster != NULL; p++) {
        d->result->messages += cluster_meter(d->cluster, p).messages;
        d->result->bytes += cluster_meter(d->cluster, p).bytes;
    }
    d->result->messages -= messages;
    d->result->bytes -= bytes;
    d->result->handed = (double)(handed_over(d) - handed) * share(d, 0) * d->h.n / d->g.n;
    sum_up(d->result);
    return err;
}

static double
reported(void *arg, uint32_t vertex, int64_t now_us)
{
    struct drift *d = arg;
    (void)now_us;
    return d->load[vertex] * (1 + d->noise * (2 * lbm_rng_unit(&d->rng) - 1));
}

/* Such a cluster is there from the beginning. */
static int
is_large(const struct drift *d)
{
    return d->h.n > LBM_VIEW_SMALL;
}

/* Of a large cluster only the coordinator hears at once that all have settled. */
static int
has_settled(struct cluster *cluster, void *arg)
{
    const struct drift *d = arg;
    return is_large(d) ? cluster_settled_at(cluster, 0, job_name) : cluster_settled(cluster, job_name);
}

static struct drift_rest
rest(struct drift *d, double seconds, double noise)
{
    struct drift_rest rest = {.seconds = seconds};
    d->noise = noise;
    if (seconds <= 0)
        return rest;
    cluster_run(d->cluster, REST_US, NULL, NULL);
    cluster_run(d->cluster, SETTLE_US, has_settled, d);
    uint64_t before = handed_over(d);
    cluster_run(d->cluster, (int64_t)(seconds * SECOND_US), NULL, NULL);
    rest.handed = handed_over(d) - before;
    rest.a_minute = (double)rest.handed / d->g.n * 60 / seconds;
    return rest;
}

static int
set_up(struct drift *d)
{
    if (is_large(d)) {
        if (!cluster_form(d->cluster, FORM_US))
            return fails(d, "the hosts do not come together");
    } else {
        cluster_run(d->cluster, JOIN_US, NULL, NULL);
        for (int i = 0; i < 60 && cluster_count_active(d->cluster, 0) != d->h.n; i++)
            cluster_run(d->cluster, SECOND_US, NULL, NULL);
    }
    if (cluster_submit(d->cluster, 0, job_name, &d->g, LBM_START_PLAN) != LBM_OK)
        return fails(d, "the job is not taken");
    if (!cluster_run(d->cluster, SETTLE_US, has_settled, d))
        return fails(d, "the job does not settle");
    cluster_report_loads(d->cluster, reported, d);
    for (uint32_t p = 0; p < d->h.n; p++)
        cluster_run_application(d->cluster, p, job_name, CLIENT_MODEL_OBEDIENT);
    cluster_run(d->cluster, ATTACH_US, NULL, NULL);
    if (!cluster_run(d->cluster, SETTLE_US, has_settled, d))
        return fails(d, "the job does not settle with applications");
    look(d);
    return 1;
}

static enum lbm_err
course(struct drift *d, struct lbm_diag *diag)
{
    const struct drift_options *o = d->options;
    const struct cluster_options options = {.seed = o->seed,
                                            .job_seed = o->seed,
                                            .imbalance = o->imbalance,
                                            .delay_least_us = 100,
                                            .delay_most_us = 300,
                                            .sync_us = 2000,
                                            .limited_host = LBM_NONE,
                                            .late = is_large(d) ? d->h.n : 0,
                                            .shares = is_large(d),
                                            .log_compact_min = is_large(d) ? LOG_COMPACT_MIN : 0,
                                            .judged = 1};
    enum lbm_err err = LBM_OK;
    lbm_rng_seed(&d->rng, o->seed);
    if (o->remap) {
        err = plan(d, o->seed, NULL, d->part, diag);
    } else {
        d->cluster = cluster_new(&d->h, &options);
        if (!set_up(d))
            return LBM_OK;
    }
    mark_corners(d);
    if (err == LBM_OK)
        err = drift(d, diag);
    if (err == LBM_OK && d->cluster != NULL && d->result->why[0] == '\0') {
        d->result->still = rest(d, o->still_s, 0);
        d->result->noisy = rest(d, o->noisy_s, o->noise);
        d->result->hash = cluster_hash(d->cluster);
    }
    return err;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static enum lbm_err
read_guest(struct drift *d, struct lbm_diag *diag)
{
    const char *guest = d->options->guest, *colon = strchr(guest, ':');
    int is_spec = colon != NULL && strchr(guest, '/') == NULL;
    enum lbm_err err = is_spec ? lbm_graph_generate(guest, d->options->seed, &d->g, diag)
                               : lbm_file_graph(guest, LBM_FORMAT_COUNT, NULL, &d->g, diag);
    if (err == LBM_OK && d->g.work == NULL && (d->g.work = lbm_alloc(d->g.n, sizeof *d->g.work)) == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, "--guest", 0, "no memory for it");
    for (uint32_t v = 0; err == LBM_OK && v < d->g.n; v++)
        d->g.work[v] = USUAL;
    return err;
}

static enum lbm_err
make_room(struct drift *d, struct lbm_diag *diag)
{
    d->part = lbm_alloc(d->g.n, sizeof *d->part);
    d->start = lbm_alloc(d->g.n, sizeof *d->start);
    d->load = lbm_alloc(d->g.n, sizeof *d->load);
    d->corner = lbm_alloc(d->g.n, sizeof *d->corner);
    d->sum = lbm_alloc(d->h.n, sizeof *d->sum);
    d->limit = lbm_alloc(d->h.n, sizeof *d->limit);
    if (d->part == NULL || d->start == NULL || d->load == NULL || d->corner == NULL || d->sum == NULL ||
        d->limit == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, "--guest", 0, "no memory for it");
    for (uint32_t v = 0; v < d->g.n; v++)
        d->load[v] = USUAL;
    return LBM_OK;
}

enum lbm_err
drift_run(const struct drift_options *options, struct drift_result *result, struct lbm_diag *diag)
{
    struct drift d = {.options = options, .result = result};
    memset(result, 0, sizeof *result);
    enum lbm_err err = lbm_file_hosts(options->hosts, &d.h, diag);
    if (err == LBM_OK && options->ramps * options->steps > DRIFT_STEPS_MAX)
        err = lbm_diag_set(diag, LBM_E_LIMIT, "--steps", 0, "no more than %d in all ramps", DRIFT_STEPS_MAX);
    if (err == LBM_OK && d.h.n < 2)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--hosts", 0, "%.60s is one host alone", options->hosts);
    if (err == LBM_OK)
        err = read_guest(&d, diag);
    if (err == LBM_OK)
        err = lbm_map_check_sums(&d.g, &d.h, diag);
    if (err == LBM_OK)
        err = make_room(&d, diag);
    result->n_hosts = d.h.n;
    result->vertices = d.g.n;
    if (err == LBM_OK)
        err = course(&d, diag);
    if (d.cluster != NULL)
        cluster_free(d.cluster);
    free(d.part);
    free(d.start);
    free(d.load);
    free(d.corner);
    free(d.sum);
    free(d.limit);
    lbm_hosts_free(&d.h);
    lbm_graph_free(&d.g);
    return err;
}
