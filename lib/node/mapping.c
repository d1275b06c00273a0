/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAPPING: each host diffuses the vertices it owns against what it knows of the others, and ownership
 * follows regions (HEI97 sections 5 and 7). Raw coordinates are never rescaled: the diffusion commutes
 * with affine maps, so the renormalization is a frame through which they are looked at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/internal.h"

enum {
    CALM_TICKS = 5, /* without anything to do, before a host calls itself ready */
};

/* A vertex changes hands only if the other region is nearer by this part of the squared least distance of
 * sites: while it still moves, it does not hop back and forth on a border. */
static const double HYSTERESIS = 0.02;

void
mapping_place(const struct job *job, const double *raw, double *x)
{
    lbm_affine_apply(&job->frame, raw, x);
}

/* Length that one unit of raw coordinates has in Omega, at most. */
static double
frame_scale(const struct lbm_affine *frame)
{
    double most = 0;
    for (unsigned r = 0; r < frame->m; r++) {
        double row = 0;
        for (unsigned c = 0; c < frame->m; c++)
            row += frame->matrix[r * frame->m + c] * frame->matrix[r * frame->m + c];
        most = row > most ? row : most;
    }
    return sqrt(most);
}

/* Displacement of a sweep at which the slowest mode of a lattice of n vertices is within a twentieth of a
 * cell: error e moves by about e pi^2 / (2 n) a sweep, a cell is n^(-1/m). */
static double
calm_displacement(const struct lbm_job_entry *entry, unsigned m)
{
    double n = entry->vertices > 1 ? entry->vertices : 2;
    return 0.25 * pow(n, -1.0 / m) / n;
}

static void
sweep(struct lbm_node *node, struct job *job, int sweeps)
{
    struct lbm_patch *patch = &job->shard.patch;
    double largest = 0;
    if (lbm_shard_patch(&job->shard) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    struct lbm_diffusion how = {.m = job->shard.m, .order = LBM_ORDER_BLOCK, .pinned = patch->anchored};
    if (patch->g.n != 0 &&
        lbm_diffuse(&patch->g, &how, sweeps, patch->x, &node->rng, NULL, &largest) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    job->sweeps += (uint64_t)sweeps;
    job->largest = largest * frame_scale(&job->frame);
    job->ghosts_largest += job->largest * sweeps;
}

/* ---- regions ---------------------------------------------------------------------------------------- */

static double
weight_of(const struct job *job, uint32_t host)
{
    for (size_t i = 0; i < job->region_host.n; i++)
        if (job->region_host.at[i] == host)
            return job->region_weight.at[i];
    return 0;
}

/* |x - s_p|^2 - a_p */
static double
power(const struct lbm_regions *regions, const double *x, uint32_t p)
{
    return lbm_space_distance2(x, &regions->site[(size_t)p * regions->m], regions->m, regions->wrap) -
           regions->weight[p];
}

/* Set the wish of every own vertex by the region it lies in. Returns how many lie elsewhere. */
static uint32_t
follow_regions(struct lbm_node *node, struct job *job, double hysteresis)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host), away = 0;
    if (self == LBM_NONE)
        return 0; /* others know already that we are ACTIVE, and gave us vertices */
    double *weight = lbm_alloc(h->n, sizeof *weight);
    uint32_t *ids = lbm_alloc(h->n, sizeof *ids);
    if (weight == NULL || ids == NULL)
        fail(node, LBM_E_NOMEM);
    for (uint32_t p = 0; node->failed == LBM_OK && p < h->n; p++) {
        ids[p] = lbm_view_host(&node->view, p);
        weight[p] = weight_of(job, ids[p]);
    }
    struct lbm_regions regions = {.n = h->n, .m = job->shard.m, .site = h->site, .weight = weight};
    const struct lbm_patch *patch = &job->shard.patch;
    double delta = lbm_regions_least_distance(&regions);
    for (uint32_t row = 0; node->failed == LBM_OK && patch->valid && row < patch->g.n; row++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        double x[LBM_DIMENSIONS_MAX];
        mapping_place(job, &patch->x[(size_t)row * job->shard.m], x);
        uint32_t region = lbm_regions_find(&regions, x, NULL);
        vertex->wish = LBM_NONE;
        if (vertex->pin != LBM_NONE)
            vertex->wish = vertex->pin != node->host ? vertex->pin : LBM_NONE;
        else if (region != self &&
                 power(&regions, x, self) - power(&regions, x, region) > hysteresis * delta * delta)
            vertex->wish = ids[region];
        away += vertex->wish != LBM_NONE;
    }
    wishes_changed(job);
    free(weight);
    free(ids);
    return away;
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
        fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &job->moments.at[job->moments.n - 1];
}

/* Home: once the hosts' moments cover the guest, make the next frame and tell everyone. */
static void
renormalize(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_moments all = {0};
    for (size_t i = 0; i < job->moments.n; i++)
        lbm_moments_add(&all, &job->moments.at[i].moments);
    if (fabs(all.work - (double)load_whole(node, entry)) > 0.02 * (double)load_whole(node, entry))
        return; /* vertices under way are counted nowhere or twice */
    struct lbm_affine frame;
    if (lbm_moments_whiten(&all, job->shard.m, &frame) != LBM_OK)
        return; /* all in one place yet */
    job->frame = frame;
    for (size_t i = 0; i < job->pulses.n; i++)
        if (job->pulses.at[i].frame > job->frame_seq)
            job->frame_seq = job->pulses.at[i].frame;
    job->frame_seq++;
    for (size_t i = 0; i < node->view.members.n; i++)
        if (node->view.members.at[i].host != node->host)
            mapping_send_frame(node, job, node->view.members.at[i].host);
}

static void
send_stats(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_moments moments = {0};
    lbm_moments_take(&moments, &job->shard.patch.g, job->shard.m, job->shard.patch.x);
    if (entry->home == node->host) {
        struct host_moments *own = moments_of(node, job, node->host);
        if (own != NULL)
            own->moments = moments;
        renormalize(node, job, entry);
        return;
    }
    unsigned m = job->shard.m;
    double packed[1 + 3 + 6] = {moments.work};
    memcpy(&packed[1], moments.sum, m * sizeof(double));
    memcpy(&packed[1 + m], moments.prod, m * (m + 1) / 2 * sizeof(double));
    Lbm__Stats stats = LBM__STATS__INIT;
    stats.job = job->id;
    stats.stamp = (uint64_t)node->now_us;
    stats.n_moments = 1 + m + m * (m + 1) / 2;
    stats.moments = packed;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_STATS;
    message.stats = &stats;
    send_soft(node, entry->home, &message);
}

void
on_stats(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Stats *stats = message->stats;
    struct job *job = job_of(node, stats->job);
    unsigned m = job != NULL ? job->shard.m : 0;
    if (job == NULL || stats->n_moments != 1 + m + m * (m + 1) / 2)
        return;
    struct host_moments *theirs = moments_of(node, job, message->src);
    if (theirs == NULL || stats->stamp <= theirs->stamp)
        return;
    theirs->stamp = stats->stamp;
    theirs->moments = (struct lbm_moments){.work = stats->moments[0]};
    memcpy(theirs->moments.sum, &stats->moments[1], m * sizeof(double));
    memcpy(theirs->moments.prod, &stats->moments[1 + m], m * (m + 1) / 2 * sizeof(double));
}

void
mapping_send_frame(struct lbm_node *node, struct job *job, uint32_t host)
{
    unsigned m = job->shard.m;
    double affine[9 + 3 + 3];
    memcpy(affine, job->frame.matrix, m * m * sizeof(double));
    memcpy(&affine[m * m], job->frame.centre, m * sizeof(double));
    memcpy(&affine[m * m + m], job->frame.shift, m * sizeof(double));
    Lbm__Frame frame = LBM__FRAME__INIT;
    frame.job = job->id;
    frame.seq = job->frame_seq;
    frame.n_affine = m * m + 2 * m;
    frame.affine = affine;
    frame.n_host = frame.n_weight = job->region_host.n;
    frame.host = job->region_host.at;
    frame.weight = job->region_weight.at;
    frame.fixed = job->frame_fixed != 0;
    frame.outlined = job->outlined != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_FRAME;
    message.frame = &frame;
    send_soft(node, host, &message);
}

void
on_frame(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Frame *frame = message->frame;
    struct job *job = job_of(node, frame->job);
    unsigned m = job != NULL ? job->shard.m : 0;
    if (job == NULL || frame->seq <= job->frame_seq || frame->n_affine != m * m + 2 * m ||
        (frame->outlined && outline_awaits_plan(node, job)))
        return;
    job->frame_seq = frame->seq;
    job->frame_fixed = frame->fixed != 0;
    job->outlined |= frame->outlined != 0;
    job->frame.m = m;
    memcpy(job->frame.matrix, frame->affine, m * m * sizeof(double));
    memcpy(job->frame.centre, &frame->affine[m * m], m * sizeof(double));
    memcpy(job->frame.shift, &frame->affine[m * m + m], m * sizeof(double));
    job->region_host.n = job->region_weight.n = 0;
    for (size_t i = 0; i < frame->n_host; i++)
        if (lbm_vec_push(&job->region_host, frame->host[i]) != LBM_OK ||
            lbm_vec_push(&job->region_weight, frame->weight[i]) != LBM_OK)
            fail(node, LBM_E_NOMEM);
}

/* ---- the tick --------------------------------------------------------------------------------------- */

static void
set_ready(struct lbm_node *node, struct job *job, int ready)
{
    if (job->ready == ready)
        return;
    job->ready = ready;
    node->ping_us = node->now_us; /* the others wait for this */
}

/* A planned job: smooth the coordinates a little; ownership stays as planned. */
static void
tick_planned(struct lbm_node *node, struct job *job)
{
    uint32_t waiting = wishes_pump(node, job);
    if (job->sweeps < PLAN_SWEEPS)
        sweep(node, job, 1);
    set_ready(node, job, waiting == 0 && job->shard.n_out == 0 && job->sweeps >= PLAN_SWEEPS);
}

static void
tick_following(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    double calm = calm_displacement(entry, job->shard.m);
    if (lbm_shard_patch(&job->shard) != LBM_OK)
        fail(node, LBM_E_NOMEM);
    else if (job->ghosts_due != GHOSTS_ALL) /* else others have yet to hear of the last sweep */
        sweep(node, job, MAPPING_SWEEPS);
    if (node->failed != LBM_OK)
        return;
    if (job->ghosts_largest > 0.1 * calm)
        ghosts_are_due(job, GHOSTS_ALL);
    if (!job->frame_fixed && node->now_us >= job->stats_us) {
        job->stats_us = node->now_us + STATS_US;
        send_stats(node, job, entry);
    }
    /* Enough is enough: a vertex on a border may change hands for ever while the frame trembles, and
     * points that have collapsed give no frame. What is planned to move still does. */
    int may_rest = job->frame_fixed && entry->vertices <= MAPPING_REST_VERTICES;
    int is_spent = job->sweeps >= (may_rest ? MAPPING_SWEEPS_MAX : MAPPING_SWEEPS_FREE);
    int at_rest = job->largest <= calm || is_spent;
    uint32_t waiting = 0;
    if (is_routable(node) && job->frame_seq != 0 && !is_spent &&
        (node->now_us >= job->follow_us || at_rest)) {
        job->follow_us = node->now_us + FOLLOW_US;
        waiting = follow_regions(node, job, at_rest ? 0 : HYSTERESIS);
    }
    waiting += wishes_pump(node, job);
    job->calm = at_rest && waiting == 0 && job->shard.n_out == 0 ? job->calm + 1 : 0;
    set_ready(node, job, job->calm >= CALM_TICKS && (job->frame_seq != 0 || is_spent));
}

void
mapping_timer(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (node->now_us < job->tick_us)
        return;
    job->tick_us = node->now_us + MAPPING_TICK_US;
    if (!follows_regions(job, entry))
        tick_planned(node, job);
    else if (entry->start == LBM_START_OUTLINE)
        set_ready(node, job, job->shard.n_out == 0); /* as it is, until the outline is planned */
    else
        tick_following(node, job, entry);
}
