/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which vertices an exchange round may move: those near the boundary with the partner. */
#include <stdlib.h>

#include "node/core/core.h"
#include "node/exchange/decision.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

/* Does some neighbour of a row pull it from self towards the partner? */
static int
is_pulled(const struct lbm_node *node, const struct lbm_shard *shard, uint32_t row, uint32_t self,
          uint32_t partner)
{
    const struct lbm_patch *patch = &shard->patch;
    for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1]; e++) {
        if (patch->g.target[e] < patch->g.n)
            continue;
        uint32_t host = shard->ghosts.at[patch->ghost[patch->g.target[e] - patch->g.n]].host;
        uint32_t number = lbm_view_number(&node->view, host), r = number != LBM_NONE ? number : self;
        if (lbm_dist(&node->view.hosts, self, r) > lbm_dist(&node->view.hosts, partner, r))
            return 1;
    }
    return 0;
}

/* Rows enough that the surplus of this host can leave by them and refinement has room on both sides. */
static size_t
band_size(const struct lbm_node *node, const struct job *job, uint64_t load, size_t n_seeds)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    double target = lbm_local_target(node, entry, node->host);
    double surplus = (double)load - target;
    double mean = job->shard.n_own != 0 ? (double)job->shard.load / job->shard.n_own : 1;
    size_t layers = job->was_settled ? BAND_LAYERS_AGAIN : BAND_LAYERS;
    size_t want = layers * n_seeds + 16 + (surplus > 0 ? (size_t)(surplus / mean) : 0);
    return want < BAND_VERTICES_MAX ? want : BAND_VERTICES_MAX;
}

/* Neither on its way nor in doubt, nor perhaps worked on under a lease that has ended; unless its host has
 * too much, not exchanged a moment ago. */
static int
may_move(const struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex, int is_over)
{
    int was_refused = vertex->offered_us != 0 && node->now_us - vertex->offered_us < REFUSED_US;
    return node->lease.fence_us == 0 && vertex->stage == LBM_STAGE_OWN && vertex->fin &&
           vertex->move_to == LBM_NONE && vertex->n_news == 0 && !was_refused &&
           lbm_records_is_acked(node, vertex) &&
           (is_over || !lbm_migration_throttle_cools(node, job, vertex));
}

enum lbm_err
lbm_exchange_band(struct lbm_node *node, struct job *job, uint32_t partner_host, slot_list *band)
{
    struct lbm_shard *shard = &job->shard;
    if (lbm_shard_patch(shard) != LBM_OK)
        return LBM_E_NOMEM;
    lbm_shard_write_back(shard);
    const struct lbm_patch *patch = &shard->patch;
    uint32_t self = lbm_view_number(&node->view, node->host);
    uint32_t partner = lbm_view_number(&node->view, partner_host);
    if (lbm_hosts_route_from(&node->view.hosts, self) != LBM_OK ||
        lbm_hosts_route_from(&node->view.hosts, partner) != LBM_OK)
        return LBM_E_NOMEM;
    uint8_t *seen = lbm_alloc(patch->g.n, 1);
    slot_list rows = {0};
    enum lbm_err err = seen == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t row = 0; err == LBM_OK && row < patch->g.n && rows.n < BAND_VERTICES_MAX; row++)
        if (is_pulled(node, shard, row, self, partner)) {
            seen[row] = 1;
            err = lbm_vec_push(&rows, row);
        }
    if (err == LBM_OK && rows.n == 0 && patch->g.n != 0) {
        uint32_t row = lbm_local_nearest_row(node, job, partner);
        seen[row] = 1;
        err = lbm_vec_push(&rows, row);
    }
    /* Breadth first from the seeds. */
    int64_t outstanding = lbm_exchange_netting_outstanding(&job->rounds, partner_host);
    uint64_t load = lbm_local_load(job) + (outstanding > 0 ? (uint64_t)outstanding : 0);
    size_t want = band_size(node, job, load, rows.n);
    for (size_t i = 0; err == LBM_OK && i < rows.n && rows.n < want; i++)
        for (uint64_t e = patch->g.offset[rows.at[i]]; e < patch->g.offset[rows.at[i] + 1] && rows.n < want;
             e++) {
            uint32_t next = patch->g.target[e];
            if (next >= patch->g.n || seen[next])
                continue;
            seen[next] = 1;
            if ((err = lbm_vec_push(&rows, next)) != LBM_OK)
                break;
        }
    uint64_t halves = 0;
    int is_over =
        outstanding > 0 || load > lbm_local_limit(node, lbm_view_job(&node->view, job->id), node->host);
    for (size_t i = 0; err == LBM_OK && i < rows.n && halves < BAND_HALVES_MAX; i++) {
        uint32_t slot = patch->vertex[rows.at[i]];
        halves += shard->vertices.at[slot].degree;
        if (shard->vertices.at[slot].pin == LBM_NONE &&
            may_move(node, job, &shard->vertices.at[slot], is_over))
            err = lbm_vec_push(band, slot);
    }
    lbm_vec_free(&rows);
    free(seen);
    return err;
}

uint64_t
lbm_exchange_movable(struct lbm_node *node, struct job *job, uint64_t enough)
{
    uint64_t free = 0;
    uint32_t room = lbm_migration_throttle_budget(node, job);
    for (size_t i = 0; i < job->shard.vertices.n && room > 0 && free < enough; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (vertex->stage != LBM_STAGE_OWN || vertex->pin != LBM_NONE || !may_move(node, job, vertex, 1))
            continue;
        free += vertex->work;
        room--;
    }
    return free;
}
