/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices of a job that runs whose host, by their pins, is another one: it was away, lost perhaps, and is
 * back. They go to it; rounds and plans of loads leave them where they are. */
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"

enum {
    PUMP_US = 100000,   /* while some may not go yet */
    AGAIN_US = 1000000, /* while some are on their way: they may be refused, or not let go of */
};

/* Nonzero if the vertex should be elsewhere, and can be. */
static int
is_misplaced(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    int is_here = vertex->stage == LBM_STAGE_OWN || vertex->stage == LBM_STAGE_OUT;
    if (!is_here || vertex->pin == LBM_NONE || vertex->pin == node->host)
        return 0;
    const struct lbm_member *host = lbm_view_member(&node->view, vertex->pin);
    return host != NULL && host->state == LBM_MEMBER_ACTIVE;
}

void
lbm_migration_pinned_look(struct lbm_node *node, struct job *job)
{
    job->pinned_us = node->now_us;
}

void
lbm_migration_pinned_came(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex)
{
    if (is_misplaced(node, vertex))
        lbm_migration_pinned_look(node, job);
}

void
lbm_migration_pinned_timer(struct lbm_node *node, struct job *job)
{
    int waits = 0;
    if (node->now_us < job->pinned_us)
        return;
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (!is_misplaced(node, vertex))
            continue;
        waits = 1;
        if (vertex->stage == LBM_STAGE_OWN && vertex->destination != vertex->pin) {
            vertex->destination = vertex->pin;
            lbm_local_queue_changed(job);
        }
    }
    uint32_t left = waits ? lbm_migration_queue_pump(node, job) : 0;
    job->pinned_us = waits ? node->now_us + (left != 0 ? PUMP_US : AGAIN_US) : INT64_MAX;
}
