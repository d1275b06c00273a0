/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distances to pivots, by waves that go through all hosts at once: each carries on what it has heard as far
 * as it can, and tells the hosts of its boundary what has become shorter. Late, lost and repeated messages
 * are harmless: distances only fall, and all are told again while the stage lasts. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/records/records.h"

/* Edges that a tick carries distances over: some milliseconds. */
enum { EDGES_TICK = 1 << 18 };

void
lbm_mapping_waves_free(struct waves *w)
{
    free(w->hops);
    free(w->offset);
    free(w->row);
    free(w->is_queued);
    free(w->is_news);
    lbm_vec_free(&w->queue);
    *w = (struct waves){0};
}

/* The rows next to each ghost. */
static enum lbm_err
turn_round(const struct lbm_patch *patch, struct waves *w)
{
    const struct lbm_graph *g = &patch->g;
    uint64_t n = 0;
    for (uint64_t e = 0; e < g->offset[g->n]; e++)
        if (g->target[e] >= g->n) {
            w->offset[g->target[e] - g->n + 1]++;
            n++;
        }
    for (uint32_t i = 0; i < patch->n_ghosts; i++)
        w->offset[i + 1] += w->offset[i];
    uint64_t *at = lbm_copy(w->offset, (size_t)patch->n_ghosts + 1, sizeof *at);
    w->row = lbm_alloc(n, sizeof *w->row);
    if (at == NULL || w->row == NULL) {
        free(at);
        return LBM_E_NOMEM;
    }
    for (uint32_t row = 0; row < g->n; row++)
        for (uint64_t e = g->offset[row]; e < g->offset[row + 1]; e++)
            if (g->target[e] >= g->n)
                w->row[at[g->target[e] - g->n]++] = row;
    free(at);
    return LBM_OK;
}

static enum lbm_err
queue(struct waves *w, uint32_t at)
{
    if (w->is_queued[at])
        return LBM_OK;
    w->is_queued[at] = 1;
    return lbm_vec_push(&w->queue, at);
}

/* The pivots are vertices that everybody draws alike. Ids are dense: vertices of a job that begins. */
static uint32_t
pivot(const struct lbm_job_entry *entry, unsigned k)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, entry->seed + UINT64_C(0x9E3779B97F4A7C15) * (k + 1));
    return lbm_rng_below(&rng, entry->vertices);
}

static enum lbm_err
start(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct waves *w = &job->diffuse.waves;
    const struct lbm_patch *patch = &job->shard.patch;
    size_t n = (size_t)patch->g.n + patch->n_ghosts;
    lbm_mapping_waves_free(w);
    w->hops = lbm_alloc(n * LBM_PIVOTS, sizeof *w->hops);
    w->offset = lbm_alloc((size_t)patch->n_ghosts + 1, sizeof *w->offset);
    w->is_queued = lbm_alloc(n, 1);
    w->is_news = lbm_alloc(patch->g.n, 1);
    if (w->hops == NULL || w->offset == NULL || w->is_queued == NULL || w->is_news == NULL)
        return LBM_E_NOMEM;
    w->n = patch->g.n;
    w->n_ghosts = patch->n_ghosts;
    w->version = job->shard.built;
    w->changed_us = node->now_us;
    memset(w->hops, 0xff, n * LBM_PIVOTS * sizeof *w->hops);
    enum lbm_err err = turn_round(patch, w);
    for (unsigned k = 0; k < LBM_PIVOTS && err == LBM_OK; k++) {
        const struct lbm_vertex *vertex = lbm_records_of(job, pivot(entry, k));
        if (vertex == NULL || vertex->row == LBM_NONE)
            continue;
        w->hops[(size_t)vertex->row * LBM_PIVOTS + k] = 0;
        w->is_news[vertex->row] = 1;
        err = queue(w, vertex->row);
    }
    return err;
}

/* Shorten what leads over `from`. Nonzero if anything did. */
static int
shorten(uint16_t *hops, const uint16_t *from)
{
    int has_changed = 0;
    for (int k = 0; k < LBM_PIVOTS; k++) {
        uint16_t over = from[k] < LBM_PIVOT_HOPS_MAX ? (uint16_t)(from[k] + 1) : from[k];
        if (over < hops[k]) {
            hops[k] = over;
            has_changed = 1;
        }
    }
    return has_changed;
}

static enum lbm_err
reach(struct waves *w, uint32_t from, uint32_t row)
{
    if (!shorten(&w->hops[(size_t)row * LBM_PIVOTS], &w->hops[(size_t)from * LBM_PIVOTS]))
        return LBM_OK;
    w->is_news[row] = 1;
    return queue(w, row);
}

static enum lbm_err
carry_on(struct lbm_node *node, struct job *job)
{
    struct waves *w = &job->diffuse.waves;
    const struct lbm_graph *g = &job->shard.patch.g;
    enum lbm_err err = LBM_OK;
    for (uint64_t edges = 0; w->head < w->queue.n && edges < EDGES_TICK && err == LBM_OK;) {
        uint32_t from = w->queue.at[w->head++];
        w->is_queued[from] = 0;
        w->changed_us = node->now_us;
        if (from < w->n) {
            edges += g->offset[from + 1] - g->offset[from];
            for (uint64_t e = g->offset[from]; e < g->offset[from + 1] && err == LBM_OK; e++)
                if (g->target[e] < w->n)
                    err = reach(w, from, g->target[e]);
            w->has_news = 1;
        } else {
            const uint64_t *range = &w->offset[from - w->n];
            edges += range[1] - range[0];
            for (uint64_t i = range[0]; i < range[1] && err == LBM_OK; i++)
                err = reach(w, from, w->row[i]);
        }
    }
    if (w->head == w->queue.n)
        w->head = w->queue.n = 0;
    return err;
}

/* ---- telling ------------------------------------------------------------------------------------------- */

struct wave_batch {
    uint32_t host, last_row;
    LBM_VEC(uint32_t) vertex, hops;
};

static void
send_wave(struct lbm_node *node, const struct job *job, struct wave_batch *batch)
{
    Lbm__Waves waves = LBM__WAVES__INIT;
    waves.job = job->id;
    waves.n_vertex = batch->vertex.n;
    waves.vertex = batch->vertex.at;
    waves.n_hops = batch->hops.n;
    waves.hops = batch->hops.at;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_WAVES;
    message.waves = &waves;
    if (batch->vertex.n != 0)
        lbm_core_send_now(node, batch->host, &message);
    batch->vertex.n = batch->hops.n = 0;
}

typedef LBM_VEC(struct wave_batch) wave_batches;

static enum lbm_err
add_wave(struct lbm_node *node, struct job *job, wave_batches *batches, uint32_t host, uint32_t row)
{
    size_t i = 0;
    while (i < batches->n && batches->at[i].host != host)
        i++;
    struct wave_batch fresh = {.host = host, .last_row = LBM_NONE};
    if (i == batches->n && lbm_vec_push(batches, fresh) != LBM_OK)
        return LBM_E_NOMEM;
    struct wave_batch *batch = &batches->at[i];
    if (batch->last_row == row)
        return LBM_OK;
    batch->last_row = row;
    enum lbm_err err = lbm_vec_push(&batch->vertex, job->shard.vertices.at[job->shard.patch.vertex[row]].id);
    for (int k = 0; k < LBM_PIVOTS && err == LBM_OK; k++)
        err = lbm_vec_push(&batch->hops, job->diffuse.waves.hops[(size_t)row * LBM_PIVOTS + (size_t)k]);
    if (batch->vertex.n == LBM_ROWS_MAX / LBM_PIVOTS)
        send_wave(node, job, batch);
    return err;
}

/* To the hosts of neighbours: what has become shorter, or everything. */
static void
tell(struct lbm_node *node, struct job *job, int all)
{
    struct waves *w = &job->diffuse.waves;
    const struct lbm_patch *patch = &job->shard.patch;
    wave_batches batches = {0};
    enum lbm_err err = LBM_OK;
    w->has_news = 0;
    for (uint32_t row = 0; row < w->n && err == LBM_OK; row++) {
        if (!w->is_news[row] && !all)
            continue;
        w->is_news[row] = 0;
        for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1] && err == LBM_OK; e++) {
            if (patch->g.target[e] < w->n)
                continue;
            uint32_t host = job->shard.ghosts.at[patch->ghost[patch->g.target[e] - w->n]].host;
            if (host != LBM_NONE && host != node->host)
                err = add_wave(node, job, &batches, host, row);
        }
    }
    for (size_t i = 0; i < batches.n; i++) {
        if (err == LBM_OK)
            send_wave(node, job, &batches.at[i]);
        lbm_vec_free(&batches.at[i].vertex);
        lbm_vec_free(&batches.at[i].hops);
    }
    lbm_vec_free(&batches);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
}

int
lbm_mapping_waves_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct waves *w = &job->diffuse.waves;
    enum lbm_err err = lbm_shard_patch(&job->shard);
    if (err == LBM_OK && (w->hops == NULL || w->version != job->shard.built))
        err = start(node, job, entry);
    if (err == LBM_OK)
        err = carry_on(node, job);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return 0;
    }
    if (w->has_news)
        tell(node, job, 0);
    return w->queue.n == 0 && node->now_us - w->changed_us >= WAVES_SETTLE_US;
}

void
lbm_mapping_waves_tell_again(struct lbm_node *node, struct job *job)
{
    const struct waves *w = &job->diffuse.waves;
    if (w->hops != NULL && job->shard.patch.valid && w->version == job->shard.built)
        tell(node, job, 1);
}

void
lbm_mapping_on_waves(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Waves *waves = message->waves;
    struct job *job = lbm_local_job(node, waves->job);
    if (job == NULL || waves->n_hops != waves->n_vertex * LBM_PIVOTS)
        return;
    struct waves *w = &job->diffuse.waves;
    if (w->hops == NULL || !job->shard.patch.valid || w->version != job->shard.built)
        return; /* they come again */
    for (size_t i = 0; i < waves->n_vertex && node->failed == LBM_OK; i++) {
        const struct lbm_ghost *ghost = lbm_shard_ghost(&job->shard, waves->vertex[i]);
        if (ghost == NULL || ghost->at == LBM_NONE || ghost->at < w->n || ghost->at >= w->n + w->n_ghosts)
            continue;
        uint16_t *own = &w->hops[(size_t)ghost->at * LBM_PIVOTS];
        int has_changed = 0;
        for (int k = 0; k < LBM_PIVOTS; k++) {
            uint32_t heard = waves->hops[i * LBM_PIVOTS + (size_t)k];
            has_changed |= heard < own[k];
            own[k] = heard < own[k] ? (uint16_t)heard : own[k];
        }
        if (has_changed && queue(w, ghost->at) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        if (has_changed)
            w->changed_us = node->now_us;
    }
}
