/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the nodes have the vertices of a job in Omega. */
#include "sim/model/positions.h"

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/records/records.h"

static uint32_t
read_shard(struct job *job, uint32_t n, double *x)
{
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    uint32_t read = 0;
    if (lbm_shard_patch(&job->shard) != LBM_OK)
        return 0;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        if (vertex->stage != LBM_STAGE_OWN || vertex->id >= n)
            continue;
        lbm_local_place(job, &patch->x[(size_t)row * m], &x[(size_t)vertex->id * m]);
        read++;
    }
    return read;
}

uint32_t
node_positions(struct lbm_node *node, uint32_t n, double *x, uint64_t *sweeps)
{
    uint32_t read = 0;
    for (size_t j = 0; j < node->jobs.n; j++) {
        struct job *job = node->jobs.at[j];
        *sweeps = job->sweeps > *sweeps ? job->sweeps : *sweeps;
        read += read_shard(job, n, x);
    }
    return read;
}
