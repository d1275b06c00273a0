/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAPPING without a coordinator, stage by stage. Waves from pivots give first coordinates; they diffuse; the
 * regions of hosts are drawn in several rotations, of which the one with the least hop-bytes counts; records
 * follow. Then, as often as it helps: each host coarsens what it holds, coordinates diffuse from clusters
 * down to vertices, regions, records. A stage ends for a host when all have told what they add to its sum;
 * from the same numbers all draw the same regions. Nobody knows more of the guest than what it holds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum {
    SAMPLE_ALL = 4096,  /* positions that regions are weighed with, of all hosts together */
    WEIGH_ROUNDS = 200, /* of the adaptation of weights */
    TRIES = 8,          /* of annealing, by a host that waits for nobody */
};

enum stage_kind { KIND_WAVES, KIND_PLACES, KIND_REGIONS, KIND_LABELS, KIND_RECORDS };

/* Stages, numbered from 1. */
static const enum stage_kind stages[] = {KIND_WAVES,   KIND_PLACES,  KIND_REGIONS, KIND_RECORDS, KIND_PLACES,
                                         KIND_REGIONS, KIND_RECORDS, KIND_PLACES,  KIND_REGIONS, KIND_LABELS,
                                         KIND_RECORDS, KIND_LABELS,  KIND_RECORDS};
enum {
    STAGE_WAVES = 1,
    STAGE_FLAT = 2,   /* without levels */
    STAGE_GATHER = 3, /* records follow at once, if neighbours are far from one another */
    STAGE_LAST = sizeof stages / sizeof *stages
};

/* What a host adds in KIND_REGIONS: hop-bytes of each rotation first, the loads of hosts in each rotation
 * behind the rest. */
enum { REGIONS_DIRECTIONS = DIFFUSE_ROTATIONS, REGIONS_ELSEWHERE, REGIONS_LOADS };

/* Regions within that of what is due to them. */
static const double EVEN = 0.01;
/* Temperatures that labels are annealed from, in mean edges. */
static const double HOT = 2, WARM = 0.5;
/* Neighbours are gathered first where more than this part of the edges lead to other hosts. */
static const double SCATTERED = 0.25;

static enum stage_kind
kind_of(uint32_t stage)
{
    return stages[stage - 1];
}

static void
forget_tries(struct diffuse *d)
{
    free(d->origin);
    free(d->best);
    d->origin = d->best = NULL;
    d->tries = 0;
}

void
lbm_mapping_diffuse_free(struct job *job)
{
    struct diffuse *d = &job->diffuse;
    lbm_mapping_sums_free(d);
    lbm_mapping_waves_free(&d->waves);
    lbm_mapping_levels_free(&d->levels);
    for (int k = 0; k < DIFFUSE_ROTATIONS; k++)
        free(d->weight[k]);
    free(d->label);
    free(d->halved);
    forget_tries(d);
    lbm_mapping_labels_free(&d->labels);
    *d = (struct diffuse){.is_halving = d->is_halving};
}

/* Add up what was told in this stage. Out: sum [n]. */
static void
total(const struct diffuse *d, size_t n, double *sum)
{
    memset(sum, 0, n * sizeof *sum);
    for (size_t i = 0; i < d->rows.n; i++)
        for (size_t k = 0; d->rows.at[i].stage == d->stage && d->rows.at[i].n == n && k < n; k++)
            sum[k] += d->rows.at[i].value[k];
}

/* ---- waves --------------------------------------------------------------------------------------------- */

static void
tell_waves(struct lbm_node *node, struct job *job)
{
    double sums[LBM_PIVOT_SUMS] = {0};
    const struct lbm_patch *patch = &job->shard.patch;
    lbm_pivot_sums_add(patch->g.n, job->diffuse.waves.hops, patch->g.work, sums);
    lbm_mapping_sums_tell(node, job, LBM_PIVOT_SUMS, sums, 0, NULL, NULL);
}

/* A guest whose distances span no space begins at random places. */
static void
place_by_waves(struct lbm_node *node, struct job *job)
{
    const struct lbm_patch *patch = &job->shard.patch;
    const struct waves *w = &job->diffuse.waves;
    double sums[LBM_PIVOT_SUMS];
    struct lbm_pivot_map map;
    unsigned m = job->shard.m;
    total(&job->diffuse, LBM_PIVOT_SUMS, sums);
    int is_placed = w->hops != NULL && w->version == job->shard.built && patch->valid &&
                    lbm_pivot_sums_solve(sums, m, &map) == LBM_OK;
    for (uint32_t v = 0; is_placed && v < w->n + w->n_ghosts; v++)
        lbm_pivot_place(&map, &w->hops[(size_t)v * LBM_PIVOTS], &patch->x[(size_t)v * m]);
    if (!is_placed)
        lbm_start_random(patch->g.n, m, NULL, patch->x, &node->rng);
    lbm_mapping_waves_free(&job->diffuse.waves);
    lbm_local_ghosts_due(job, GHOSTS_ALL);
}

/* ---- places -------------------------------------------------------------------------------------------- */

/* A vertex is in the sample by its id alone (Fibonacci hashing). */
static int
is_sampled(const struct lbm_job_entry *entry, uint32_t vertex)
{
    double part = (double)SAMPLE_ALL / (entry->vertices != 0 ? entry->vertices : 1);
    return (double)(vertex * UINT32_C(2654435769)) < part * 4294967296.0;
}

static void
tell_places(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    struct lbm_moments moments = {0};
    LBM_VEC(double) x = {0};
    LBM_VEC(uint32_t) work = {0};
    enum lbm_err err = LBM_OK;
    lbm_moments_take(&moments, &patch->g, m, patch->x);
    for (uint32_t row = 0; row < patch->g.n && work.n < LBM_SAMPLE_MAX && err == LBM_OK; row++) {
        if (!is_sampled(entry, job->shard.vertices.at[patch->vertex[row]].id))
            continue;
        err = lbm_vec_push(&work, lbm_graph_work(&patch->g, row));
        for (unsigned k = 0; k < m && err == LBM_OK; k++)
            err = lbm_vec_push(&x, patch->x[(size_t)row * m + k]);
    }
    double value[1 + 3 + 6] = {moments.work};
    memcpy(&value[1], moments.sum, m * sizeof(double));
    memcpy(&value[1 + m], moments.prod, m * (m + 1) / 2 * sizeof(double));
    if (err == LBM_OK)
        lbm_mapping_sums_tell(node, job, 1 + m + m * (m + 1) / 2, value, work.n, x.at, work.at);
    else
        lbm_core_fail(node, err);
    lbm_vec_free(&x);
    lbm_vec_free(&work);
}

/* The normalization, turned by that many steps of a right angle in the plane. */
static struct lbm_affine
turned(const struct lbm_affine *whitened, int rotation)
{
    struct lbm_affine out = *whitened;
    double angle = rotation * acos(-1) / 2 / DIFFUSE_ROTATIONS, c = cos(angle), s = sin(angle);
    if (out.m != 2)
        return out;
    for (unsigned k = 0; k < 2; k++) {
        out.matrix[k] = c * whitened->matrix[k] - s * whitened->matrix[2 + k];
        out.matrix[2 + k] = s * whitened->matrix[k] + c * whitened->matrix[2 + k];
    }
    double x = whitened->shift[0] - 0.5, y = whitened->shift[1] - 0.5;
    out.shift[0] = 0.5 + c * x - s * y;
    out.shift[1] = 0.5 + s * x + c * y;
    return out;
}

static int
rotations(const struct job *job)
{
    return job->shard.m == 2 ? DIFFUSE_ROTATIONS : 1;
}

struct sample {
    LBM_VEC(double) raw, x;
    LBM_VEC(uint32_t) work;
};

static enum lbm_err
join_samples(const struct job *job, struct sample *all)
{
    const struct diffuse *d = &job->diffuse;
    unsigned m = job->shard.m;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sums_row *row = &d->rows.at[i];
        if (row->stage != d->stage || row->n_sample == 0)
            continue;
        size_t n = (size_t)row->n_sample * m;
        if (lbm_vec_reserve(&all->raw, n) != LBM_OK || lbm_vec_reserve(&all->work, row->n_sample) != LBM_OK)
            return LBM_E_NOMEM;
        memcpy(&all->raw.at[all->raw.n], row->sample, n * sizeof(double));
        memcpy(&all->work.at[all->work.n], row->sample_work, row->n_sample * sizeof(uint32_t));
        all->raw.n += n;
        all->work.n += row->n_sample;
    }
    return lbm_vec_reserve(&all->x, all->raw.n);
}

/* Weights of the regions in each rotation. due [hosts]; host [sample] is scratch. */
static enum lbm_err
weigh(struct lbm_node *node, struct job *job, struct sample *all, const double *due, uint32_t *host)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_hosts *h = &node->view.hosts;
    unsigned m = job->shard.m;
    for (int k = 0; k < rotations(job); k++) {
        struct lbm_affine map = turned(&d->whitened, k);
        for (size_t i = 0; i < all->work.n; i++)
            lbm_affine_apply(&map, &all->raw.at[i * m], &all->x.at[i * m]);
        free(d->weight[k]);
        d->weight[k] = lbm_alloc(h->n, sizeof(double));
        if (d->weight[k] == NULL ||
            lbm_regions_balance(h->n, m, 0, h->site, due, (uint32_t)all->work.n, all->x.at, all->work.at,
                                EVEN, WEIGH_ROUNDS, d->weight[k], host) < 0)
            return LBM_E_NOMEM;
    }
    d->n_weights = h->n;
    return LBM_OK;
}

static void
draw_regions(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    unsigned m = job->shard.m;
    double sum[1 + 3 + 6];
    struct lbm_moments moments = {0};
    struct sample all = {0};
    total(d, 1 + m + m * (m + 1) / 2, sum);
    moments.work = sum[0];
    memcpy(moments.sum, &sum[1], m * sizeof(double));
    memcpy(moments.prod, &sum[1 + m], m * (m + 1) / 2 * sizeof(double));
    d->n_weights = 0;
    if (lbm_moments_whiten(&moments, m, &d->whitened) != LBM_OK) {
        lbm_affine_identity(&d->whitened, m); /* all in one place, or on a line: there is nothing to draw */
        return;
    }
    double *due = lbm_alloc(node->view.hosts.n, sizeof *due);
    enum lbm_err err = due == NULL ? LBM_E_NOMEM : join_samples(job, &all);
    uint32_t *host = err == LBM_OK ? lbm_alloc(all.work.n, sizeof *host) : NULL;
    if (err == LBM_OK && host == NULL)
        err = LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < node->view.hosts.n; p++)
        due[p] = fmax(lbm_local_target(node, entry, lbm_view_host(&node->view, p)), 1);
    if (err == LBM_OK)
        err = weigh(node, job, &all, due, host);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
    lbm_vec_free(&all.raw);
    lbm_vec_free(&all.x);
    lbm_vec_free(&all.work);
    free(due);
    free(host);
}

/* ---- regions ------------------------------------------------------------------------------------------- */

/* The number of the host that each row and ghost of the patch would go to. label [rows + ghosts]. */
static void
label(const struct lbm_node *node, const struct job *job, int rotation, uint32_t *label)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    const struct lbm_hosts *h = &node->view.hosts;
    struct lbm_regions regions = {.n = h->n, .m = h->m, .site = h->site, .weight = d->weight[rotation]};
    struct lbm_affine map = turned(&d->whitened, rotation);
    double x[LBM_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < patch->g.n + patch->n_ghosts; i++) {
        uint32_t pin = i < patch->g.n ? job->shard.vertices.at[patch->vertex[i]].pin : LBM_NONE;
        lbm_affine_apply(&map, &patch->x[(size_t)i * job->shard.m], x);
        label[i] = pin != LBM_NONE ? lbm_view_number(&node->view, pin) : LBM_NONE;
        if (label[i] == LBM_NONE)
            label[i] = lbm_regions_find(&regions, x, NULL);
    }
}

static size_t
regions_values(const struct lbm_node *node, const struct job *job)
{
    return REGIONS_LOADS + (size_t)rotations(job) * node->view.hosts.n;
}

/* What labels cost, as far as this host's edges go: each edge counts at both ends; and the loads they give.
 */
static enum lbm_err
weigh_labels(struct lbm_node *node, const struct job *job, const uint32_t *labels, double *hop_bytes,
             double *load)
{
    const struct lbm_graph *g = &job->shard.patch.g;
    struct lbm_hosts *h = &node->view.hosts;
    for (uint32_t v = 0; v < g->n; v++) {
        if (lbm_hosts_route_from(h, labels[v]) != LBM_OK)
            return LBM_E_NOMEM;
        load[labels[v]] += lbm_graph_work(g, v);
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            *hop_bytes += (double)lbm_graph_weight(g, e) * lbm_dist(h, labels[v], labels[g->target[e]]);
    }
    return LBM_OK;
}

static void
tell_regions(struct lbm_node *node, struct job *job)
{
    const struct lbm_patch *patch = &job->shard.patch;
    const struct lbm_graph *g = &patch->g;
    size_t n = regions_values(node, job);
    double *value = lbm_alloc(n, sizeof *value);
    uint32_t *labels = lbm_alloc((size_t)g->n + patch->n_ghosts, sizeof *labels),
             n_hosts = node->view.hosts.n;
    enum lbm_err err = labels == NULL || value == NULL ? LBM_E_NOMEM : LBM_OK;
    for (int k = 0; k < rotations(job) && job->diffuse.n_weights == n_hosts && err == LBM_OK; k++) {
        label(node, job, k, labels);
        err = weigh_labels(node, job, labels, &value[k], &value[REGIONS_LOADS + (size_t)k * n_hosts]);
    }
    for (uint64_t e = 0; e < g->offset[g->n] && err == LBM_OK; e++)
        value[REGIONS_ELSEWHERE] += g->target[e] >= g->n;
    if (err == LBM_OK) {
        value[REGIONS_DIRECTIONS] = (double)g->offset[g->n];
        lbm_mapping_sums_tell(node, job, n, value, 0, NULL, NULL);
    } else {
        lbm_core_fail(node, err);
    }
    free(labels);
    free(value);
}

/* Hop-bytes, more where a host has too much. */
static double
cost(const struct lbm_node *node, const struct lbm_job_entry *entry, double hop_bytes, const double *load)
{
    double excess = 0;
    for (uint32_t p = 0; p < node->view.hosts.n; p++) {
        double target = fmax(lbm_local_target(node, entry, lbm_view_host(&node->view, p)), 1);
        excess = fmax(excess, load[p] / target - 1 - entry->imbalance);
    }
    return hop_bytes * (1 + excess);
}

/* The best labels so far. */
static void
keep_labels(struct lbm_node *node, struct job *job, int rotation)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    free(d->label);
    d->label = lbm_alloc((size_t)patch->g.n + patch->n_ghosts, sizeof *d->label);
    if (d->label == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    label(node, job, rotation, d->label);
    d->label_version = job->shard.built;
    for (uint32_t i = 0; i < patch->g.n; i++)
        d->label[i] = lbm_view_host(&node->view, d->label[i]);
}

/* Through which coordinates are looked at from now on. */
static void
normalize(struct lbm_node *node, struct job *job, int rotation)
{
    struct diffuse *d = &job->diffuse;
    uint32_t n = node->view.hosts.n, *id = lbm_alloc(n, sizeof *id);
    if (id == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t p = 0; p < n; p++)
        id[p] = lbm_view_host(&node->view, p);
    d->rotation = rotation;
    job->normalization = turned(&d->whitened, rotation);
    job->normalization_fixed = 1;
    job->normalization_seq = d->stage;
    lbm_mapping_normalization_set_regions(node, job, n, id, d->weight[rotation]);
    free(id);
}

/* Coordinates themselves are renormalized before they diffuse on: what is left of them after many sweeps
 * would be lost in rounding. All do so with the same map; what comes late from a neighbour is told again. */
static void
renormalize(struct job *job)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    if (d->n_weights == 0)
        return;
    for (uint32_t i = 0; i < patch->g.n + patch->n_ghosts; i++)
        lbm_affine_apply(&d->whitened, &patch->x[(size_t)i * m], &patch->x[(size_t)i * m]);
    lbm_affine_identity(&d->whitened, m);
    job->normalization = turned(&d->whitened, d->rotation);
}

/* All choose the same rotation, and whether records follow: at once if neighbours have yet to be gathered,
 * else once, at the end. */
static void
choose_regions(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    uint32_t n_hosts = node->view.hosts.n;
    size_t n = regions_values(node, job);
    double *sum = lbm_alloc(n, sizeof *sum), least = 0;
    int best = 0;
    if (sum == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    total(d, n, sum);
    for (int k = 0; k < rotations(job); k++) {
        double own = cost(node, entry, sum[k], &sum[REGIONS_LOADS + (size_t)k * n_hosts]);
        best = k == 0 || own < least ? k : best;
        least = best == k ? own : least;
    }
    int is_scattered = sum[REGIONS_ELSEWHERE] > SCATTERED * sum[REGIONS_DIRECTIONS],
        is_drawn = d->n_weights == n_hosts, is_better = is_drawn && (d->label == NULL || least < d->cost);
    if (is_better) {
        d->cost = least;
        keep_labels(node, job, best);
    }
    if (is_drawn)
        normalize(node, job, best);
    d->is_placed = is_better;
    d->moves = d->label != NULL && (d->has_moved ? is_better : is_scattered && d->stage == STAGE_GATHER);
    d->has_moved |= d->moves;
    lbm_core_note(
        node, LBM_NOTE_DEBUG,
        "job %016" PRIx64 ": hop-bytes %.0f in rotation %d, %.0f with what is too much, %.0f %% elsewhere%s",
        job->id, sum[best] / 2, best, least / 2,
        100 * sum[REGIONS_ELSEWHERE] / fmax(sum[REGIONS_DIRECTIONS], 1), d->moves ? ": records follow" : "");
    free(sum);
}

/* ---- halves -------------------------------------------------------------------------------------------- */

/* A host that holds the whole guest halves it, hosts and vertices, again and again: what no drawing shows
 * (trees, circuits). Elsewhere, since it takes a while. */
static void
ask_for_halves(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_diag diag;
    if (job->planning || entry->vertices < 2 || !lbm_shard_is_whole(&job->shard, entry->vertices))
        return;
    lbm_local_free_guest(job);
    job->guest = lbm_alloc(1, sizeof *job->guest);
    enum lbm_err err =
        job->guest == NULL ? LBM_E_NOMEM : lbm_shard_whole(&job->shard, entry->vertices, job->guest);
    if (err == LBM_OK)
        err = lbm_view_build_hosts(&node->view, &job->plan_hosts, &diag);
    for (uint32_t p = 0; err == LBM_OK && p < job->plan_hosts.n; p++)
        err = lbm_vec_push(&job->plan_ids, lbm_view_host(&node->view, p));
    if (err != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    job->diffuse.is_halving = 1;
    node->raise->job_plan_ask(node, job, entry, LBM_START_DIFFUSE);
}

void
lbm_mapping_diffuse_halved(struct lbm_node *node, struct job *job, enum lbm_err err,
                           const struct lbm_plan *plan)
{
    struct diffuse *d = &job->diffuse;
    d->is_halving = 0;
    free(d->halved);
    d->halved = err == LBM_OK && plan != NULL ? lbm_alloc(plan->n, sizeof *d->halved) : NULL;
    d->n_halved = d->halved != NULL ? plan->n : 0;
    for (uint32_t v = 0; v < d->n_halved; v++)
        d->halved[v] = job->plan_ids.at[plan->part[v]];
    lbm_local_free_guest(job);
    if (err == LBM_E_NOMEM)
        lbm_core_fail(node, err);
}

/* The halves as labels; pinned vertices as they are. In/out: label [rows], numbers. */
static void
take_halves(const struct lbm_node *node, const struct job *job, uint32_t *label)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        uint32_t to =
            vertex->id < d->n_halved ? lbm_view_number(&node->view, d->halved[vertex->id]) : LBM_NONE;
        label[row] = vertex->pin == LBM_NONE && to < node->view.hosts.n ? to : label[row];
    }
}

/* ---- labels -------------------------------------------------------------------------------------------- */

/* Numbers of the hosts that rows and ghosts are to go to as it stands: the kept labels, or where they are. */
static enum lbm_err
begin_labels(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    size_t n = (size_t)patch->g.n + patch->n_ghosts;
    uint32_t *label = lbm_alloc(n, sizeof *label), self = lbm_view_number(&node->view, node->host);
    int is_kept = d->label != NULL && d->label_version == job->shard.built && (d->is_placed || !d->has_moved);
    if (label == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i < patch->g.n ? node->host : job->shard.ghosts.at[patch->ghost[i - patch->g.n]].host;
        label[i] = is_kept && i >= patch->g.n ? d->label[i]
                                              : lbm_view_number(&node->view, is_kept ? d->label[i] : at);
        uint32_t pin = i < patch->g.n ? job->shard.vertices.at[patch->vertex[i]].pin : LBM_NONE;
        if (pin != LBM_NONE)
            label[i] = lbm_view_number(&node->view, pin);
        if (label[i] >= node->view.hosts.n) /* a host that is no member any more, or this one is not active */
            label[i] = self < node->view.hosts.n ? self : 0;
    }
    forget_tries(&job->diffuse);
    enum lbm_err err = lbm_mapping_labels_begin(node, job, entry, label);
    free(label);
    return err;
}

/* A host whose neighbours are all here waits for nobody: it anneals several times, from the labels to begin
 * with, from the best so far, from the halves, from the best again, and keeps the best. Which start leads
 * further cannot be told by what it costs. Returns nonzero if it begins again. */
static int
try_again(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    if (patch->n_ghosts != 0 || patch->g.n == 0)
        return 0;
    double *load = lbm_alloc(node->view.hosts.n, sizeof *load), bytes = 0;
    size_t n = patch->g.n;
    enum lbm_err err = load == NULL ? LBM_E_NOMEM : weigh_labels(node, job, d->labels.label, &bytes, load);
    double own = err == LBM_OK ? cost(node, entry, bytes, load) : 0;
    free(load);
    if (err == LBM_OK && d->origin == NULL) {
        d->origin = lbm_copy(d->labels.first, n, sizeof *d->origin);
        d->best = lbm_alloc(n, sizeof *d->best);
        err = d->origin == NULL || d->best == NULL ? LBM_E_NOMEM : LBM_OK;
    }
    if (err == LBM_OK && (d->tries == 0 || own < d->best_cost)) {
        memcpy(d->best, d->labels.label, n * sizeof *d->best);
        d->best_cost = own;
    }
    int is_again = ++d->tries < TRIES;
    uint32_t *from =
        err == LBM_OK ? lbm_copy(is_again && d->tries % 2 == 0 ? d->origin : d->best, n, sizeof *from) : NULL;
    if (err == LBM_OK && from == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK && is_again && d->tries % 4 == 2 && !d->has_moved)
        take_halves(node, job, from);
    if (err == LBM_OK)
        err = lbm_mapping_labels_begin(node, job, entry, from);
    free(from);
    if (err == LBM_OK && !is_again) /* that is over: what was found, next to what there was */
        err = lbm_mapping_labels_end(job, d->origin);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
    return is_again;
}

/* What a host adds in KIND_LABELS: hop-bytes of the labels to begin with, of those now; loads of both. */
enum { LABELS_LOADS = 2 };

static void
tell_labels(struct lbm_node *node, struct job *job)
{
    const struct labels *l = &job->diffuse.labels;
    size_t n = LABELS_LOADS + 2 * (size_t)l->n_hosts;
    double *value = lbm_alloc(n, sizeof *value);
    enum lbm_err err =
        value == NULL ? LBM_E_NOMEM : weigh_labels(node, job, l->first, &value[0], &value[LABELS_LOADS]);
    if (err == LBM_OK)
        err = weigh_labels(node, job, l->label, &value[1], &value[LABELS_LOADS + l->n_hosts]);
    if (err == LBM_OK)
        lbm_mapping_sums_tell(node, job, n, value, 0, NULL, NULL);
    else
        lbm_core_fail(node, err);
    free(value);
}

static void
choose_labels(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    const struct labels *l = &d->labels;
    const struct lbm_patch *patch = &job->shard.patch;
    uint32_t n_hosts = l->n_hosts;
    size_t n = LABELS_LOADS + 2 * (size_t)n_hosts;
    double *sum = lbm_alloc(n, sizeof *sum);
    if (sum == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    if (sum == NULL || n_hosts != node->view.hosts.n || d->levels.version != job->shard.built) {
        free(sum);
        return;
    }
    total(d, n, sum);
    double before = cost(node, entry, sum[0], &sum[LABELS_LOADS]),
           now = cost(node, entry, sum[1], &sum[LABELS_LOADS + n_hosts]);
    int is_better = now < before;
    lbm_core_note(node, LBM_NOTE_DEBUG,
                  "job %016" PRIx64 ": hop-bytes %.0f, annealed %.0f (%.0f, %.0f with what is too much)",
                  job->id, sum[0] / 2, sum[1] / 2, before / 2, now / 2);
    free(sum);
    free(d->label);
    d->label =
        lbm_copy(is_better ? l->label : l->first, (size_t)patch->g.n + patch->n_ghosts, sizeof *d->label);
    if (d->label == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t i = 0; i < patch->g.n; i++)
        d->label[i] = lbm_view_host(&node->view, d->label[i]);
    d->label_version = job->shard.built;
    d->cost = is_better ? now : before;
    d->moves = 1;
    d->has_moved = 1;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static void
send_records(struct lbm_node *node, struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    for (uint32_t row = 0; d->label != NULL && d->label_version == job->shard.built && row < patch->g.n;
         row++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        vertex->destination = d->label[row] != node->host ? d->label[row] : LBM_NONE;
    }
    lbm_local_queue_changed(job);
    lbm_local_ghosts_due(job, GHOSTS_ALL);
}

/* ---- stages -------------------------------------------------------------------------------------------- */

/* Work on the stage. Returns nonzero once this host has told what it adds. */
static int
work(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    int is_first = !d->has_begun;
    d->has_begun = 1;
    switch (kind_of(d->stage)) {
    case KIND_WAVES:
        if (!lbm_mapping_waves_tick(node, job, entry))
            return 0;
        tell_waves(node, job);
        return 1;
    case KIND_PLACES:
        if (is_first)
            renormalize(job);
        if (is_first && d->stage == STAGE_FLAT)
            ask_for_halves(node, job, entry);
        if (d->levels.graph == NULL || d->levels.level != 0 || d->levels.sweeps != 0) {
            (void)lbm_mapping_levels_tick(node, job, entry, d->stage == STAGE_FLAT);
            return 0;
        }
        if (job->ghosts_due != GHOSTS_NONE)
            return 0; /* what is told of hop-bytes counts on them */
        tell_places(node, job, entry);
        return 1;
    case KIND_REGIONS:
        tell_regions(node, job);
        return 1;
    case KIND_LABELS:
        if (d->is_halving) {
            d->has_begun = 0;
            return 0;
        }
        if ((is_first || d->levels.version != job->shard.built) && begin_labels(node, job, entry) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return 0;
        }
        if (!lbm_mapping_labels_tick(node, job, entry,
                                     d->stage == STAGE_LAST - 1 || d->tries % 2 != 0 ? WARM : HOT) ||
            try_again(node, job, entry))
            return 0;
        tell_labels(node, job);
        return 1;
    case KIND_RECORDS:
        if (is_first && d->moves)
            send_records(node, job);
        if (lbm_migration_queue_pump(node, job) != 0 || lbm_migration_waits(node, job))
            return 0;
        lbm_mapping_sums_tell(node, job, 0, NULL, 0, NULL, NULL);
        return 1;
    }
    return 0;
}

static void
conclude(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    switch (kind_of(job->diffuse.stage)) {
    case KIND_WAVES:
        place_by_waves(node, job);
        break;
    case KIND_PLACES:
        draw_regions(node, job, entry);
        break;
    case KIND_REGIONS:
        choose_regions(node, job, entry);
        break;
    case KIND_LABELS:
        choose_labels(node, job, entry);
        break;
    case KIND_RECORDS:
        break;
    }
}

/* The highest stage that anybody has told of. */
static uint32_t
highest(const struct diffuse *d)
{
    uint32_t stage = 0;
    for (size_t i = 0; i < d->rows.n; i++)
        stage = d->rows.at[i].stage > stage ? d->rows.at[i].stage : stage;
    return stage;
}

static void
go_to(struct job *job, uint32_t stage)
{
    struct diffuse *d = &job->diffuse;
    forget_tries(d);
    d->stage = stage;
    d->has_begun = d->is_told = 0;
    d->moves = d->moves && stage <= STAGE_LAST && kind_of(stage) == KIND_RECORDS;
    lbm_mapping_levels_free(&d->levels);
    lbm_mapping_labels_free(&d->labels);
    lbm_mapping_sums_forget(d, stage - 1);
}

/* One step. Returns nonzero if another one can follow at once. */
static int
step(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    if (lbm_shard_patch(&job->shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return 0;
    }
    if (d->is_told && kind_of(d->stage) == KIND_WAVES && !lbm_mapping_waves_tick(node, job, entry))
        d->is_told = 0; /* something has become shorter since */
    if (!d->is_told && !work(node, job, entry))
        return 0;
    if (node->failed != LBM_OK)
        return 0;
    enum sums_state state = lbm_mapping_sums_state(node, job);
    if (state == SUMS_PASSED) {
        go_to(job, highest(d) > d->stage ? highest(d) : d->stage + 1);
        return d->stage <= STAGE_LAST;
    }
    if (state == SUMS_COMPLETE) {
        conclude(node, job, entry);
        go_to(job, d->stage + 1);
        return d->stage <= STAGE_LAST;
    }
    if (node->now_us >= d->told_us) {
        if (kind_of(d->stage) == KIND_WAVES)
            lbm_mapping_waves_tell_again(node, job);
        lbm_mapping_sums_tell_again(node, job);
    }
    return 0;
}

/* Numbers of hosts mean other hosts than before: what goes by them is void, and the stage begins again. */
static void
hosts_changed(const struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t p = 0; p < node->view.hosts.n; p++)
        hash = (hash ^ lbm_view_host(&node->view, p)) * UINT64_C(1099511628211); /* FNV-1a */
    if (hash == d->hosts)
        return;
    d->hosts = hash;
    d->n_weights = 0;
    free(d->label);
    d->label = NULL;
    lbm_mapping_levels_free(&d->levels);
    lbm_mapping_labels_free(&d->labels);
    d->has_begun = d->is_told = 0;
}

void
lbm_mapping_diffuse_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    job->tick_us = node->now_us + DIFFUSE_TICK_US;
    if (!lbm_membership_is_routable(node))
        return;
    hosts_changed(node, job);
    if (job->heard_phase >= LBM_PHASE_BALANCING && d->stage <= STAGE_LAST)
        go_to(job, STAGE_LAST + 1); /* the others have done without this host */
    if (d->stage == 0)
        go_to(job, highest(d) > STAGE_WAVES + 1 ? highest(d) : STAGE_WAVES);
    while (d->stage <= STAGE_LAST && node->failed == LBM_OK && step(node, job, entry))
        ;
    if (d->stage <= STAGE_LAST)
        return;
    if (!d->is_told) /* for those that still wait, and may have missed something */
        lbm_mapping_sums_tell(node, job, 0, NULL, 0, NULL, NULL);
    uint32_t waiting = lbm_migration_queue_pump(node, job);
    int ready = waiting == 0 && !lbm_migration_waits(node, job);
    if (job->ready != ready)
        node->ping_us = node->now_us;
    job->ready = ready;
}
