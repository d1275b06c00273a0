/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers and offers that are due since a record is acknowledged; they are sent in batches at the end of the
 * step. */
#include "node/core/core.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"

void
lbm_migration_due(struct lbm_node *node, enum due_kind kind, const struct job *job, uint32_t to,
                  const struct lbm_vertex *vertex, uint64_t epoch)
{
    struct due due = {.kind = kind, .job = job->id, .to = to, .vertex = vertex->id, .epoch = epoch};
    if (to != LBM_NONE && to != node->host && lbm_vec_push(&node->due, due) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}
