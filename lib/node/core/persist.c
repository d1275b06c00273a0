/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/core/persist.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "node/core/transitions.h"

const char *
lbm_stage_name(enum lbm_stage stage)
{
    static const char *const names[] = {
#define STAGE_NAME(id, number, name) [number] = name,
        LBM_STAGE_LIST(STAGE_NAME)
#undef STAGE_NAME
    };
    return names[stage];
}

void
lbm_row_free(struct lbm_row *row)
{
    free(row->half);
    free(row->payload);
    free(row->news);
    row->news = NULL;
    row->half = NULL; /* a step that fails for want of memory leaves the row where it is */
    row->payload = NULL;
}

struct lbm_row
lbm_guest_row(const struct lbm_persist_op *op, uint32_t v, struct lbm_half *half)
{
    const struct lbm_graph *g = op->as.guest.graph;
    struct lbm_row row = {.job = op->job,
                          .vertex = op->as.guest.first + v,
                          .epoch = lbm_transition_epoch(LBM_TRANSITION_BEGIN, 0),
                          .stage = lbm_transition_rules[LBM_TRANSITION_BEGIN].to,
                          .peer = LBM_NONE,
                          .work = lbm_graph_work(g, v),
                          .pin = g->pin != NULL ? g->pin[v] : LBM_NONE,
                          .seq = op->as.guest.seq + v,
                          .source = LBM_NONE,
                          .fin = 1,
                          .degree = (uint32_t)(g->offset[v + 1] - g->offset[v]),
                          .half = half};
    if (g->position != NULL)
        memcpy(row.position, g->position + 2 * (size_t)v, 2 * sizeof *row.position);
    for (uint32_t i = 0; i < row.degree; i++) {
        uint64_t e = g->offset[v] + i;
        half[i] = (struct lbm_half){.to = g->target[e], .weight = lbm_graph_weight(g, e), .host = LBM_NONE};
    }
    return row;
}

int
lbm_blob_read_name(uint64_t job, const uint8_t *payload, size_t len, struct lbm_blob_name *name)
{
    if (len != LBM_BLOB_WORDS)
        return 0;
    *name = (struct lbm_blob_name){.job = job};
    for (size_t i = 8; i-- > 0;)
        name->len = name->len << 8 | payload[i];
    memcpy(name->digest, payload + 8, sizeof name->digest);
    return name->len != 0 && name->len <= LBM_BLOB_BYTES_MAX;
}

void
lbm_blob_write_name(const struct lbm_blob_name *name, uint8_t payload[LBM_BLOB_WORDS])
{
    for (size_t i = 0; i < 8; i++)
        payload[i] = (uint8_t)(name->len >> (8 * i));
    memcpy(payload + 8, name->digest, sizeof name->digest);
}

static size_t
row_bytes(const struct lbm_row *row)
{
    return sizeof *row + ((size_t)row->degree + row->n_news) * sizeof *row->half + row->payload_len;
}

size_t
lbm_persist_bytes(const struct lbm_persist *persist)
{
    size_t bytes = sizeof *persist;
    for (size_t i = 0; i < persist->ops.n; i++) {
        const struct lbm_persist_op *op = &persist->ops.at[i];
        bytes += sizeof *op;
        if (op->kind == LBM_PERSIST_ROW)
            bytes += row_bytes(&op->as.row);
        if (op->kind == LBM_PERSIST_BLOB_PIECE)
            bytes += op->as.blob.len;
        for (size_t k = 0; op->kind == LBM_PERSIST_REPLICA && k < op->as.replica.n; k++)
            bytes += row_bytes(&op->as.replica.row[k]);
    }
    return bytes;
}

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
        lbm_row_free(&op->as.row);
        break;
    case LBM_PERSIST_PLAN:
    case LBM_PERSIST_POSITIONS:
        free(op->as.plan.vertex);
        free(op->as.plan.position);
        free(op->as.plan.anchored);
        free(op->as.plan.host);
        break;
    case LBM_PERSIST_REPLICA:
        for (size_t i = 0; i < op->as.replica.n; i++)
            lbm_row_free(&op->as.replica.row[i]);
        free(op->as.replica.row);
        free(op->as.replica.gone);
        break;
    case LBM_PERSIST_SNAPSHOT:
        free(op->as.snapshot.view);
        break;
    case LBM_PERSIST_BLOB_PIECE:
        free(op->as.blob.bytes);
        break;
    case LBM_PERSIST_BLOB_DELETE:
    case LBM_PERSIST_SELF:
    case LBM_PERSIST_JOB_DELETE:
    case LBM_PERSIST_GUEST:
    case LBM_PERSIST_ROW_DELETE:
    case LBM_PERSIST_REPLICA_DROP:
    case LBM_PERSIST_TAKEN_OVER:
    case LBM_PERSIST_RESET:
    case LBM_PERSIST_TERM:
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
        lbm_row_free(&recovered->rows.at[i]);
    for (size_t i = 0; i < recovered->replicas.n; i++) {
        for (size_t k = 0; k < recovered->replicas.at[i].rows.n; k++)
            lbm_row_free(&recovered->replicas.at[i].rows.at[k]);
        lbm_vec_free(&recovered->replicas.at[i].rows);
    }
    free(recovered->snapshot);
    lbm_vec_free(&recovered->log);
    lbm_vec_free(&recovered->jobs);
    lbm_vec_free(&recovered->rows);
    lbm_vec_free(&recovered->replicas);
    lbm_vec_free(&recovered->takeovers);
    lbm_vec_free(&recovered->blobs);
    free(recovered);
}
