/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices of a job that runs whose host, by their pins, is another one: it was away, lost perhaps, and is
 * back. They go to it; sessions and plans of loads leave them where they are. */
#include "node/internal.h"

enum { PUMP_US = 100000 /* while some may not go yet */ };

void
pinned_look(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        const struct lbm_member *host = vertex->pin != LBM_NONE && vertex->pin != node->host
                                            ? lbm_view_member(&node->view, vertex->pin)
                                            : NULL;
        if (vertex->stage != LBM_STAGE_OWN || host == NULL || host->state != LBM_MEMBER_ACTIVE)
            continue;
        vertex->wish = vertex->pin;
        wishes_changed(job);
        job->pinned_us = node->now_us;
    }
}

void
pinned_timer(struct lbm_node *node, struct job *job)
{
    if (node->now_us < job->pinned_us)
        return;
    job->pinned_us = wishes_pump(node, job) != 0 ? node->now_us + PUMP_US : INT64_MAX;
}
