/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job begins at a host, with a whole guest (submit.c) or with a part of one (ingest_slice.c): what is
 * stored of it before the control log knows it. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/records/records.h"
#include "node/replication/replication.h"

enum lbm_err
lbm_job_store_pending(struct lbm_node *node, struct job *job, const Lbm__JobCreate *create)
{
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = (Lbm__JobCreate *)create;
    struct lbm_persist_op op = {.kind = LBM_PERSIST_JOB, .job = job->id};
    op.as.state.state = LBM_JOB_PENDING;
    op.as.state.len = lbm__command__get_packed_size(&command);
    op.as.state.command = lbm_alloc(op.as.state.len, 1);
    uint8_t *pending = lbm_alloc(op.as.state.len, 1);
    if (op.as.state.command == NULL || pending == NULL) {
        free(op.as.state.command);
        free(pending);
        return LBM_E_NOMEM;
    }
    lbm__command__pack(&command, pending);
    memcpy(op.as.state.command, pending, op.as.state.len);
    free(job->pending);
    job->pending = pending;
    job->pending_len = op.as.state.len;
    job->stored = LBM_JOB_PENDING;
    lbm_core_persist(node, op);
    return LBM_OK;
}

enum lbm_err
lbm_job_store_rows(struct lbm_node *node, struct job *job, uint32_t first, uint32_t whole,
                   struct lbm_rng *places)
{
    const struct lbm_graph *g = job->guest;
    struct lbm_persist_op guest = {.kind = LBM_PERSIST_GUEST, .job = job->id};
    guest.as.guest.graph = g;
    guest.as.guest.seq = node->replication.seq + 1;
    guest.as.guest.first = first;
    guest.as.guest.whole = whole;
    lbm_core_persist(node, guest);
    for (uint32_t v = 0; v < g->n && node->failed == LBM_OK; v++) {
        struct lbm_half *half = lbm_alloc(g->offset[v + 1] - g->offset[v], sizeof *half);
        if (half == NULL)
            return LBM_E_NOMEM;
        struct lbm_row row = lbm_guest_row(&guest, v, half);
        for (unsigned k = 0; places != NULL && k < job->shard.m; k++)
            row.position[k] = lbm_rng_unit(places);
        if (lbm_shard_put(&job->shard, &row) != LBM_OK) {
            lbm_row_free(&row);
            return LBM_E_NOMEM;
        }
        node->replication.seq = row.seq;
        lbm_replication_push(node, row.seq, job->id, row.vertex);
    }
    job->pending_seq = node->replication.seq;
    job->guest_id = node->persist_id;
    lbm_core_persist_flush(node);
    return LBM_OK;
}

enum lbm_err
lbm_job_store_payloads(struct lbm_node *node, struct job *job, const struct upload *upload)
{
    const char *payload = upload->payload.at;
    for (size_t v = 0; v < upload->payload_len.n && node->failed == LBM_OK; v++) {
        struct lbm_vertex *vertex = lbm_records_of(job, (uint32_t)v);
        uint32_t len = upload->payload_len.at[v];
        uint8_t *copy = len != 0 ? lbm_copy(payload, len, 1) : NULL;
        if (len != 0 && copy == NULL)
            return LBM_E_NOMEM;
        if (copy != NULL)
            lbm_records_payload(node, job, vertex, copy, len, upload->blob.at[v] != 0);
        payload += len;
    }
    if (upload->payload_len.n != 0) {
        job->pending_seq = node->replication.seq;
        lbm_core_persist_flush(node);
    }
    return LBM_OK;
}
