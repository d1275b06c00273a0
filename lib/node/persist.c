/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/persist.h"

#include <stdlib.h>

static void
op_free(struct lbm_persist_op *op)
{
    switch (op->kind) {
    case LBM_PERSIST_LOG:
        free(op->as.log.command);
        break;
    case LBM_PERSIST_JOB:
        free(op->as.state.command);
        break;
    case LBM_PERSIST_ROW:
        free(op->as.row.half);
        break;
    case LBM_PERSIST_PLAN:
    case LBM_PERSIST_POSITIONS:
        free(op->as.plan.vertex);
        free(op->as.plan.position);
        free(op->as.plan.anchored);
        free(op->as.plan.host);
        break;
    case LBM_PERSIST_SELF:
    case LBM_PERSIST_JOB_DELETE:
    case LBM_PERSIST_GUEST:
    case LBM_PERSIST_COUNT:
        break;
    }
}

void
lbm_persist_free(struct lbm_persist *persist)
{
    if (persist == NULL)
        return;
    for (size_t i = 0; i < persist->ops.n; i++)
        op_free(&persist->ops.at[i]);
    lbm_vec_free(&persist->ops);
    free(persist);
}

void
lbm_recovered_free(struct lbm_recovered *recovered)
{
    if (recovered == NULL)
        return;
    for (size_t i = 0; i < recovered->log.n; i++)
        free(recovered->log.at[i].command);
    for (size_t i = 0; i < recovered->jobs.n; i++)
        free(recovered->jobs.at[i].command);
    for (size_t i = 0; i < recovered->rows.n; i++)
        free(recovered->rows.at[i].half);
    lbm_vec_free(&recovered->log);
    lbm_vec_free(&recovered->jobs);
    lbm_vec_free(&recovered->rows);
    free(recovered);
}
