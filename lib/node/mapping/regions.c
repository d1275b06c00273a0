/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of hosts for places that nobody has all of: moments and a sample of places make the normalization
 * and the weights of regions, in several rotations; hop-bytes and loads of the labels that regions give
 * choose one. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/records/records.h"

enum {
    SAMPLE_ALL = 4096,  /* positions that regions are weighed with, of all hosts together */
    SAMPLE_EACH = 16,   /* at least, for each host, where places are cut */
    WEIGH_ROUNDS = 200, /* of the adaptation of weights */
};

/* What a host adds in KIND_REGIONS: hop-bytes of each rotation first, the loads of hosts in each rotation
 * behind the rest. */
enum { REGIONS_DIRECTIONS = DIFFUSE_ROTATIONS, REGIONS_ELSEWHERE, REGIONS_LOADS };

/* Regions within that of what is due to them. */
static const double EVEN = 0.01;
/* Neighbours are gathered first where more than this part of the edges lead to other hosts; in a large
 * cluster also where it is several times what leads out of a square: labels of stripes, of which all
 * neighbours change at once, do not come to rest. */
static const double SCATTERED = 0.25, SQUARES = 3.5;

/* ---- places -------------------------------------------------------------------------------------------- */

/* A vertex is in the sample by its id alone (Fibonacci hashing). */
static int
is_sampled(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t vertex)
{
    double all = fmax(SAMPLE_ALL, SAMPLE_EACH * (double)node->view.hosts.n),
           part = fmin(all, LBM_SUMS_SAMPLE_MAX / 2.0) / (entry->vertices != 0 ? entry->vertices : 1);
    return (double)(vertex * UINT32_C(2654435769)) < part * 4294967296.0;
}

void
lbm_mapping_regions_tell_places(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    struct lbm_moments moments = {0};
    LBM_VEC(double) x = {0};
    LBM_VEC(uint32_t) work = {0};
    size_t most = job->diffuse.is_tree ? LBM_SUMS_SAMPLE_MAX : LBM_SAMPLE_MAX;
    enum lbm_err err = LBM_OK;
    lbm_moments_take(&moments, &patch->g, m, patch->x);
    for (uint32_t row = 0; row < patch->g.n && work.n < most && err == LBM_OK; row++) {
        if (!is_sampled(node, entry, job->shard.vertices.at[patch->vertex[row]].id))
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
struct lbm_affine
lbm_mapping_regions_normalization(const struct lbm_affine *whitened, int rotation)
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

int
lbm_mapping_regions_count(const struct job *job)
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
    for (int k = 0; k < lbm_mapping_regions_count(job); k++) {
        struct lbm_affine map = lbm_mapping_regions_normalization(&d->whitened, k);
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

/* Numbers of moments in m dimensions. */
unsigned
lbm_mapping_regions_sum_count(unsigned m)
{
    return 1 + m + m * (m + 1) / 2;
}

struct lbm_moments
lbm_mapping_regions_sum(const double *value, unsigned m)
{
    struct lbm_moments moments = {.work = value[0]};
    memcpy(moments.sum, &value[1], m * sizeof(double));
    memcpy(moments.prod, &value[1 + m], m * (m + 1) / 2 * sizeof(double));
    return moments;
}

/* What is due to each host. due [hosts]. */
void
lbm_mapping_regions_due(const struct lbm_node *node, const struct lbm_job_entry *entry, double *due)
{
    for (uint32_t p = 0; p < node->view.hosts.n; p++)
        due[p] = fmax(lbm_local_target(node, entry, lbm_view_host(&node->view, p)), 1);
}

void
lbm_mapping_regions_draw(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    unsigned m = job->shard.m;
    double sum[1 + 3 + 6];
    struct sample all = {0};
    lbm_mapping_sums_total(d, lbm_mapping_regions_sum_count(m), sum);
    struct lbm_moments moments = lbm_mapping_regions_sum(sum, m);
    d->n_weights = 0;
    d->is_whitened = 1;
    if (lbm_moments_whiten(&moments, m, &d->whitened) != LBM_OK) {
        lbm_affine_identity(&d->whitened, m); /* all in one place, or on a line: there is nothing to draw */
        return;
    }
    if (d->is_tree) {
        lbm_mapping_cuts_draw(node, job);
        return;
    }
    double *due = lbm_alloc(node->view.hosts.n, sizeof *due);
    enum lbm_err err = due == NULL ? LBM_E_NOMEM : join_samples(job, &all);
    uint32_t *host = err == LBM_OK ? lbm_alloc(all.work.n, sizeof *host) : NULL;
    if (err == LBM_OK && host == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        lbm_mapping_regions_due(node, entry, due);
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
    struct lbm_affine map = lbm_mapping_regions_normalization(&d->whitened, rotation);
    double x[LBM_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < patch->g.n + patch->n_ghosts; i++) {
        uint32_t pin = i < patch->g.n ? job->shard.vertices.at[patch->vertex[i]].pin : LBM_NONE;
        lbm_affine_apply(&map, &patch->x[(size_t)i * job->shard.m], x);
        label[i] = pin != LBM_NONE ? lbm_view_number(&node->view, pin) : LBM_NONE;
        if (label[i] == LBM_NONE)
            label[i] = d->is_tree ? lbm_cuts_find(&d->cuts, d->weight[rotation], x)
                                  : lbm_regions_find(&regions, x, NULL);
    }
}

static size_t
regions_values(const struct lbm_node *node, const struct job *job)
{
    return REGIONS_LOADS + (size_t)lbm_mapping_regions_count(job) * node->view.hosts.n;
}

void
lbm_mapping_regions_tell(struct lbm_node *node, struct job *job)
{
    const struct lbm_patch *patch = &job->shard.patch;
    const struct lbm_graph *g = &patch->g;
    size_t n = regions_values(node, job);
    double *value = lbm_alloc(n, sizeof *value);
    uint32_t *labels = lbm_alloc((size_t)g->n + patch->n_ghosts, sizeof *labels),
             n_hosts = node->view.hosts.n;
    enum lbm_err err = labels == NULL || value == NULL ? LBM_E_NOMEM : LBM_OK;
    for (int k = 0; k < lbm_mapping_regions_count(job) && job->diffuse.n_weights == n_hosts && err == LBM_OK;
         k++) {
        label(node, job, k, labels);
        err = lbm_mapping_labels_weigh(node, job, labels, &value[k],
                                       &value[REGIONS_LOADS + (size_t)k * n_hosts]);
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

enum lbm_err
lbm_mapping_regions_total(struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
                          struct sums_row *sum)
{
    uint32_t n_hosts = node->view.hosts.n, n = REGIONS_LOADS + (uint32_t)lbm_mapping_regions_count(job);
    double *value = lbm_alloc(n, sizeof *value);
    if (value == NULL)
        return LBM_E_NOMEM;
    if (sum->n == regions_values(node, job)) {
        memcpy(value, sum->value, REGIONS_LOADS * sizeof *value);
        for (int k = 0; k < lbm_mapping_regions_count(job); k++)
            value[REGIONS_LOADS + k] = lbm_mapping_labels_cost(
                node, entry, sum->value[k], &sum->value[REGIONS_LOADS + (size_t)k * n_hosts]);
    }
    free(sum->value);
    sum->value = value;
    sum->n = n;
    return LBM_OK;
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
    job->normalization = lbm_mapping_regions_normalization(&d->whitened, rotation);
    job->normalization_fixed = 1;
    job->normalization_seq = d->stage;
    if (!d->is_tree) /* cuts have no weights */
        lbm_mapping_normalization_set_regions(node, job, n, id, d->weight[rotation]);
    free(id);
}

/* Coordinates themselves are renormalized before they diffuse on: what is left of them after many sweeps
 * would be lost in rounding. All do so with the same map; what comes late from a neighbour is told again. */
void
lbm_mapping_regions_renormalize(struct job *job)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    if (!d->is_whitened)
        return;
    for (uint32_t i = 0; i < patch->g.n + patch->n_ghosts; i++)
        lbm_affine_apply(&d->whitened, &patch->x[(size_t)i * m], &patch->x[(size_t)i * m]);
    lbm_affine_identity(&d->whitened, m);
    job->normalization = lbm_mapping_regions_normalization(&d->whitened, d->rotation);
}

/* The part of the edges that may lead to other hosts while labels are annealed. */
static double
scattered(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    double share = (double)entry->vertices / node->view.hosts.n;
    return job->diffuse.is_tree ? fmin(SCATTERED, SQUARES / sqrt(share)) : SCATTERED;
}

/* All choose the same rotation, and whether records follow: at once if neighbours have yet to be gathered,
 * else once, at the end. */
void
lbm_mapping_regions_choose(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
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
    lbm_mapping_sums_total(d, n, sum);
    for (int k = 0; k < lbm_mapping_regions_count(job); k++) {
        double own = d->is_tree ? sum[REGIONS_LOADS + k]
                                : lbm_mapping_labels_cost(node, entry, sum[k],
                                                          &sum[REGIONS_LOADS + (size_t)k * n_hosts]);
        best = k == 0 || own < least ? k : best;
        least = best == k ? own : least;
    }
    int is_scattered = sum[REGIONS_ELSEWHERE] > scattered(node, job, entry) * sum[REGIONS_DIRECTIONS],
        is_drawn = d->n_weights == n_hosts, is_better = is_drawn && (d->label == NULL || least < d->cost);
    if (is_better) {
        d->cost = least;
        keep_labels(node, job, best);
    }
    if (is_drawn)
        normalize(node, job, best);
    d->is_placed = is_better;
    d->moves = d->label != NULL &&
               (d->has_moved ? is_better : is_scattered && d->stage % LBM_STAGE_LAP == LBM_STAGE_GATHER);
    d->has_moved |= d->moves;
    lbm_core_note(
        node, LBM_NOTE_DEBUG,
        "job %016" PRIx64 ": hop-bytes %.0f in rotation %d, %.0f with what is too much, %.0f %% elsewhere%s",
        job->id, sum[best] / 2, best, least / 2,
        100 * sum[REGIONS_ELSEWHERE] / fmax(sum[REGIONS_DIRECTIONS], 1), d->moves ? ": records follow" : "");
    free(sum);
}
