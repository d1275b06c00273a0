/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The normalization through which coordinates of a job are looked at, and the weights of its regions. A guest
 * without anchors is renormalized while it diffuses (HEI97 section 5): hosts tell the coordinator the moments
 * of what they own, and where a few of their vertices are. The coordinator makes the normalization of the
 * former. It lies thicker in some places than in others, so the latter say how large regions have to be for
 * hosts to own about the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"

enum {
    SAMPLE_EACH = 64,   /* vertices sampled for each host there is */
    SAMPLE_LEAST = 8,   /* fewer for each say nothing */
    WEIGH_ROUNDS = 100, /* of the adaptation of weights */
};

/* Weights stay while no region has more than so much too much of the sample, in parts: else vertices at the
 * borders would go to and fro. */
static const double UNEVEN = 0.3, EVEN = 0.1;

/* Some vertices: where they are, and what each weighs. */
struct sample {
    LBM_VEC(double) x; /* [work.n * m] */
    LBM_VEC(uint32_t) work;
};

/* A vertex is in the sample by its id alone (Fibonacci hashing): it stays in it, wherever it goes. */
static int
is_sampled(const struct lbm_job_entry *entry, uint32_t n_hosts, uint32_t vertex)
{
    double part = (double)SAMPLE_EACH * n_hosts / (entry->vertices != 0 ? entry->vertices : 1);
    return (double)(vertex * UINT32_C(2654435769)) < part * 4294967296.0;
}

/* ---- weights of regions -------------------------------------------------------------------------------- */

static double
weight_of(const struct job *job, uint32_t host)
{
    for (size_t i = 0; i < job->region_host.n; i++)
        if (job->region_host.at[i] == host)
            return job->region_weight.at[i];
    return 0;
}

double *
lbm_mapping_normalization_weights(struct lbm_node *node, const struct job *job)
{
    uint32_t n = node->view.hosts.n;
    double *weight = lbm_alloc(n, sizeof *weight);
    if (weight == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (uint32_t p = 0; weight != NULL && p < n; p++)
        weight[p] = weight_of(job, lbm_view_host(&node->view, p));
    return weight;
}

void
lbm_mapping_normalization_set_regions(struct lbm_node *node, struct job *job, size_t n, const uint32_t *host,
                                      const double *weight)
{
    job->region_host.n = job->region_weight.n = 0;
    for (size_t i = 0; i < n; i++)
        if (lbm_vec_push(&job->region_host, host[i]) != LBM_OK ||
            lbm_vec_push(&job->region_weight, weight[i]) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
}

/* All samples together, where they are in Omega. */
static enum lbm_err
join_samples(const struct job *job, struct sample *all)
{
    unsigned m = job->shard.m;
    for (size_t i = 0; i < job->moments.n; i++) {
        const struct host_moments *part = &job->moments.at[i];
        if (!part->is_new)
            continue;
        if (lbm_vec_reserve(&all->x, part->n_sample * m) != LBM_OK ||
            lbm_vec_reserve(&all->work, part->n_sample) != LBM_OK)
            return LBM_E_NOMEM;
        for (uint32_t k = 0; k < part->n_sample; k++, all->x.n += m) {
            lbm_local_place(job, &part->sample[(size_t)k * m], &all->x.at[all->x.n]);
            all->work.at[all->work.n++] = part->sample_work[k];
        }
    }
    return LBM_OK;
}

/* What the region with most, for its due share, has too much of the sample, in parts. load [hosts] is room to
 * count in. */
static double
unevenness(const struct lbm_regions *regions, const struct sample *all, const double *due, double *load)
{
    double whole = 0, due_whole = 0, most = 0;
    memset(load, 0, regions->n * sizeof *load);
    for (size_t i = 0; i < all->work.n; i++) {
        load[lbm_regions_find(regions, &all->x.at[i * regions->m], NULL)] += all->work.at[i];
        whole += all->work.at[i];
    }
    for (uint32_t p = 0; p < regions->n; p++)
        due_whole += due[p];
    for (uint32_t p = 0; p < regions->n; p++)
        most = fmax(most, load[p] / whole / (due[p] / due_whole));
    return most - 1;
}

/* Weights by which regions have their due parts of the sample. In: room [hosts]. In/out: weight [hosts].
 * Errors: LBM_E_NOMEM. */
static enum lbm_err
balance(const struct lbm_hosts *h, const struct sample *all, const double *due, double *room, double *weight)
{
    struct lbm_regions regions = {.n = h->n, .m = h->m, .site = h->site, .weight = weight};
    uint32_t n = (uint32_t)all->work.n;
    if (n < SAMPLE_LEAST * h->n || unevenness(&regions, all, due, room) <= UNEVEN)
        return LBM_OK;
    uint32_t *host = lbm_alloc(n, sizeof *host);
    double reached = host == NULL ? -1
                                  : lbm_regions_balance(h->n, h->m, 0, h->site, due, n, all->x.at,
                                                        all->work.at, EVEN, WEIGH_ROUNDS, weight, host);
    free(host);
    return reached < 0 ? LBM_E_NOMEM : LBM_OK;
}

/* Coordinator. Hosts of a large cluster send no sample: it would be too large to look at that often. */
static void
weigh_regions(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    const struct lbm_hosts *h = &node->view.hosts;
    if (!lbm_membership_is_routable(node) || h->n > LBM_VIEW_SMALL)
        return;
    struct sample all = {0};
    double *due = lbm_alloc(h->n, sizeof *due), *room = lbm_alloc(h->n, sizeof *room);
    double *weight = lbm_mapping_normalization_weights(node, job);
    uint32_t *id = lbm_alloc(h->n, sizeof *id);
    enum lbm_err err =
        due == NULL || room == NULL || weight == NULL || id == NULL ? LBM_E_NOMEM : join_samples(job, &all);
    for (uint32_t p = 0; err == LBM_OK && p < h->n; p++) {
        id[p] = lbm_view_host(&node->view, p);
        due[p] = fmax(lbm_local_target(node, entry, id[p]), 1);
    }
    if (err == LBM_OK)
        err = balance(h, &all, due, room, weight);
    if (err == LBM_OK)
        lbm_mapping_normalization_set_regions(node, job, h->n, id, weight);
    else
        lbm_core_fail(node, err);
    lbm_vec_free(&all.x);
    lbm_vec_free(&all.work);
    free(due);
    free(room);
    free(weight);
    free(id);
}

/* ---- renormalization ---------------------------------------------------------------------------------- */

static struct host_moments *
moments_of(struct lbm_node *node, struct job *job, uint32_t host)
{
    for (size_t i = 0; i < job->moments.n; i++)
        if (job->moments.at[i].host == host)
            return &job->moments.at[i];
    struct host_moments moments = {.host = host};
    if (lbm_vec_push(&job->moments, moments) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &job->moments.at[job->moments.n - 1];
}

/* Coordinator: once hosts have told of all of the guest again, make the next normalization and tell everyone.
 */
static void
renormalize(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_moments all = {0};
    for (size_t i = 0; i < job->moments.n; i++)
        if (job->moments.at[i].is_new)
            lbm_moments_add(&all, &job->moments.at[i].moments);
    if (fabs(all.work - (double)lbm_local_load_whole(node, entry)) >
        0.02 * (double)lbm_local_load_whole(node, entry))
        return; /* vertices in flight are counted nowhere or twice */
    struct lbm_affine normalization;
    if (lbm_moments_whiten(&all, job->shard.m, &normalization) != LBM_OK)
        return; /* all in one place yet */
    job->normalization = normalization;
    lbm_mapping_normalization_is_new(job);
    weigh_regions(node, job, entry);
    for (size_t i = 0; i < job->moments.n; i++)
        job->moments.at[i].is_new = 0;
    lbm_mapping_normalization_send_all(node, job);
}

/* Remember where this host's vertices are. */
static enum lbm_err
note_own(struct job *job)
{
    const struct lbm_patch *patch = &job->shard.patch;
    struct points *told = &job->told;
    size_t n_x = (size_t)patch->g.n * job->shard.m;
    told->vertex.n = told->x.n = 0;
    if (lbm_vec_reserve(&told->vertex, patch->g.n) != LBM_OK || lbm_vec_reserve(&told->x, n_x) != LBM_OK)
        return LBM_E_NOMEM;
    for (uint32_t row = 0; row < patch->g.n; row++)
        told->vertex.at[told->vertex.n++] = job->shard.vertices.at[patch->vertex[row]].id;
    if (n_x != 0)
        memcpy(told->x.at, patch->x, n_x * sizeof(double));
    told->x.n = n_x;
    return LBM_OK;
}

/* Those of this host's vertices that are in the sample, in raw coordinates. */
static enum lbm_err
sample_own(const struct job *job, const struct lbm_job_entry *entry, uint32_t n_hosts, struct sample *own)
{
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    for (uint32_t row = 0; row < patch->g.n && own->work.n < LBM_SAMPLE_MAX; row++) {
        if (!is_sampled(entry, n_hosts, job->told.vertex.at[row]))
            continue;
        if (lbm_vec_reserve(&own->x, m) != LBM_OK || lbm_vec_push(&own->work, patch->g.work[row]) != LBM_OK)
            return LBM_E_NOMEM;
        memcpy(&own->x.at[own->x.n], &patch->x[(size_t)row * m], m * sizeof(double));
        own->x.n += m;
    }
    return LBM_OK;
}

/* Coordinator: this is the newest of that host. */
static void
take_stats(struct lbm_node *node, const struct job *job, struct host_moments *part,
           const struct lbm_moments *moments, size_t n_sample, const double *sample, const uint32_t *work)
{
    double *x = lbm_copy(sample, n_sample * job->shard.m, sizeof *x);
    uint32_t *works = lbm_copy(work, n_sample, sizeof *works);
    if (x == NULL || works == NULL) {
        free(x);
        free(works);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    free(part->sample);
    free(part->sample_work);
    part->is_new = 1;
    part->moments = *moments;
    part->n_sample = (uint32_t)n_sample;
    part->sample = x;
    part->sample_work = works;
}

static void
send_stats(struct lbm_node *node, const struct job *job, uint32_t coordinator,
           const struct lbm_moments *moments, const struct sample *sample)
{
    unsigned m = job->shard.m;
    double packed[1 + 3 + 6] = {moments->work};
    memcpy(&packed[1], moments->sum, m * sizeof(double));
    memcpy(&packed[1 + m], moments->prod, m * (m + 1) / 2 * sizeof(double));
    Lbm__Stats stats = LBM__STATS__INIT;
    stats.job = job->id;
    stats.stamp = (uint64_t)node->now_us;
    stats.n_moments = 1 + m + m * (m + 1) / 2;
    stats.moments = packed;
    stats.n_sample = sample->x.n;
    stats.sample = sample->x.at;
    stats.n_sample_work = sample->work.n;
    stats.sample_work = sample->work.at;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_STATS;
    message.stats = &stats;
    lbm_core_send_lossy(node, coordinator, &message);
}

int
lbm_mapping_normalization_wants_stats(const struct lbm_node *node, const struct job *job,
                                      const struct lbm_job_entry *entry)
{
    int is_answered = job->told_seq != job->normalization_seq,
        has_changed = job->told.vertex.n != job->shard.n_own;
    return entry->coordinator == node->host || is_answered || has_changed ||
           node->now_us >= job->stats_us + STATS_AGAIN_US;
}

void
lbm_mapping_normalization_tell(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_moments moments = {0};
    struct sample sample = {0};
    struct host_moments *own = entry->coordinator == node->host ? moments_of(node, job, node->host) : NULL;
    uint32_t n_hosts = node->view.hosts.n;
    lbm_moments_take(&moments, &job->shard.patch.g, job->shard.m, job->shard.patch.x);
    job->told_seq = job->normalization_seq;
    enum lbm_err err = note_own(job);
    if (err == LBM_OK && n_hosts <= LBM_VIEW_SMALL)
        err = sample_own(job, entry, n_hosts, &sample);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
    if (own != NULL)
        take_stats(node, job, own, &moments, sample.work.n, sample.x.at, sample.work.at);
    if (own != NULL && node->failed == LBM_OK)
        renormalize(node, job, entry);
    if (entry->coordinator != node->host)
        send_stats(node, job, entry->coordinator, &moments, &sample);
    lbm_vec_free(&sample.x);
    lbm_vec_free(&sample.work);
}

void
lbm_mapping_on_stats(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Stats *stats = message->stats;
    struct job *job = lbm_local_job(node, stats->job);
    unsigned m = job != NULL ? job->shard.m : 0;
    if (job == NULL || job->phase > LBM_PHASE_MAPPING || stats->n_moments != 1 + m + m * (m + 1) / 2 ||
        stats->n_sample != stats->n_sample_work * m)
        return;
    struct host_moments *theirs = moments_of(node, job, message->src);
    if (theirs == NULL || stats->stamp <= theirs->stamp)
        return;
    struct lbm_moments moments = {.work = stats->moments[0]};
    memcpy(moments.sum, &stats->moments[1], m * sizeof(double));
    memcpy(moments.prod, &stats->moments[1 + m], m * (m + 1) / 2 * sizeof(double));
    theirs->stamp = stats->stamp;
    take_stats(node, job, theirs, &moments, stats->n_sample_work, stats->sample, stats->sample_work);
}

void
lbm_mapping_normalization_free(struct job *job)
{
    for (size_t i = 0; i < job->moments.n; i++) {
        free(job->moments.at[i].sample);
        free(job->moments.at[i].sample_work);
    }
    lbm_vec_free(&job->moments);
    lbm_vec_free(&job->told.vertex);
    lbm_vec_free(&job->told.x);
}

/* ---- normalizations
 * -------------------------------------------------------------------------------------------- */

void
lbm_mapping_normalization_send(struct lbm_node *node, struct job *job, uint32_t host)
{
    unsigned m = job->shard.m;
    double affine[9 + 3 + 3];
    memcpy(affine, job->normalization.matrix, m * m * sizeof(double));
    memcpy(&affine[m * m], job->normalization.centre, m * sizeof(double));
    memcpy(&affine[m * m + m], job->normalization.shift, m * sizeof(double));
    Lbm__Normalization normalization = LBM__NORMALIZATION__INIT;
    normalization.job = job->id;
    normalization.seq = job->normalization_seq;
    normalization.n_affine = m * m + 2 * m;
    normalization.affine = affine;
    normalization.n_host = normalization.n_weight = job->region_host.n;
    normalization.host = job->region_host.at;
    normalization.weight = job->region_weight.at;
    normalization.fixed = job->normalization_fixed != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_NORMALIZATION;
    message.normalization = &normalization;
    lbm_core_send_lossy(node, host, &message);
}

void
lbm_mapping_normalization_send_all(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < node->view.members.n; i++)
        if (node->view.members.at[i].host != node->host)
            lbm_mapping_normalization_send(node, job, node->view.members.at[i].host);
}

void
lbm_mapping_normalization_is_new(struct job *job)
{
    for (size_t i = 0; i < job->load_reports.n; i++)
        if (job->load_reports.at[i].normalization > job->normalization_seq &&
            job->load_reports.at[i].normalization - job->normalization_seq <= LBM_SWEEP_STEP)
            job->normalization_seq = job->load_reports.at[i].normalization;
    job->normalization_seq++;
}

void
lbm_mapping_on_normalization(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Normalization *normalization = message->normalization;
    struct job *job = lbm_local_job(node, normalization->job);
    unsigned m = job != NULL ? job->shard.m : 0;
    if (job == NULL || normalization->seq <= job->normalization_seq ||
        normalization->n_affine != m * m + 2 * m)
        return;
    if (!lbm_local_within_reach(node, message->src, "normalization", normalization->seq,
                                job->normalization_seq, LBM_SWEEP_STEP))
        return;
    job->normalization_seq = normalization->seq;
    job->normalization_fixed = normalization->fixed != 0;
    job->normalization.m = m;
    memcpy(job->normalization.matrix, normalization->affine, m * m * sizeof(double));
    memcpy(job->normalization.centre, &normalization->affine[m * m], m * sizeof(double));
    memcpy(job->normalization.shift, &normalization->affine[m * m + m], m * sizeof(double));
    lbm_mapping_normalization_set_regions(node, job, normalization->n_host, normalization->host,
                                          normalization->weight);
}
