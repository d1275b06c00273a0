/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backup's side of replication: what this host keeps of others, how far their replication logs have come,
 * and the leases it grants (protocol.md sections 4 and 5). An acknowledgement leaves only after what it
 * acknowledges is durable. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"
#include "node/records/record_packed.h"
#include "node/records/records.h"
#include "node/replication/internal.h"
#include "node/replication/replication.h"

struct replica *
lbm_replication_replica_of(const struct lbm_node *node, uint32_t owner, uint64_t incarnation)
{
    for (size_t i = 0; i < node->replicas.n; i++)
        if (node->replicas.at[i]->owner == owner && node->replicas.at[i]->incarnation == incarnation)
            return node->replicas.at[i];
    return NULL;
}

static void
free_job(struct replica_job *held)
{
    for (size_t i = 0; i < held->rows.n; i++)
        free(held->rows.at[i]);
    lbm_vec_free(&held->rows);
    lbm_idmap_free(&held->index);
}

static void
free_rows(struct replica *replica)
{
    for (size_t j = 0; j < replica->jobs.n; j++)
        free_job(&replica->jobs.at[j]);
    lbm_vec_free(&replica->jobs);
    replica->jobs.n = 0;
}

static void
replica_free(struct replica *replica)
{
    free_rows(replica);
    lbm_vec_free(&replica->marks);
    free(replica);
}

void
lbm_replication_replicas_free(struct lbm_node *node)
{
    for (size_t i = 0; i < node->replicas.n; i++)
        replica_free(node->replicas.at[i]);
    lbm_vec_free(&node->replicas);
    node->replicas.n = 0;
}

static struct replica *
replica_add(struct lbm_node *node, uint32_t owner, uint64_t incarnation)
{
    struct replica *replica = lbm_alloc(1, sizeof *replica);
    if (replica == NULL || lbm_vec_push(&node->replicas, replica) != LBM_OK) {
        free(replica);
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    replica->owner = owner;
    replica->incarnation = incarnation;
    return replica;
}

static struct replica_job *
job_in(struct replica *replica, uint64_t job)
{
    for (size_t j = 0; j < replica->jobs.n; j++)
        if (replica->jobs.at[j].job == job)
            return &replica->jobs.at[j];
    struct replica_job fresh = {.job = job};
    return lbm_vec_push(&replica->jobs, fresh) == LBM_OK ? &replica->jobs.at[replica->jobs.n - 1] : NULL;
}

/* Returns nonzero if there was something of it. */
static int
remove_job(struct replica *replica, uint64_t job)
{
    for (size_t j = 0; j < replica->jobs.n; j++) {
        struct replica_job *held = &replica->jobs.at[j];
        if (held->job != job)
            continue;
        free_job(held);
        *held = replica->jobs.at[--replica->jobs.n];
        return 1;
    }
    return 0;
}

/* Keep a row in memory. */
static enum lbm_err
put_row(struct replica_job *held, const struct lbm_row *row, struct lbm_buf *scratch)
{
    uint32_t at = lbm_idmap_get(&held->index, row->vertex);
    uint8_t *kept = lbm_records_pack(row, scratch);
    if (kept != NULL && at != LBM_NONE) {
        free(held->rows.at[at]);
        held->rows.at[at] = kept;
        return LBM_OK;
    }
    if (kept == NULL || lbm_vec_reserve(&held->rows, 1) != LBM_OK ||
        lbm_idmap_put(&held->index, row->vertex, (uint32_t)held->rows.n) != LBM_OK) {
        free(kept);
        return LBM_E_NOMEM;
    }
    held->rows.at[held->rows.n++] = kept;
    return LBM_OK;
}

/* The last row takes its place. */
static void
remove_row(struct replica_job *held, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&held->index, vertex);
    if (at == LBM_NONE)
        return;
    free(held->rows.at[at]);
    lbm_idmap_remove(&held->index, vertex);
    held->rows.at[at] = held->rows.at[--held->rows.n];
    if (at < held->rows.n) /* it is in the index already, which does not grow */
        LBM_ASSERT(lbm_idmap_put(&held->index, lbm_records_packed_head(held->rows.at[at]).vertex, at) ==
                   LBM_OK);
}

void
lbm_replication_replicas_start(struct lbm_node *node, struct lbm_recovered *recovered)
{
    struct lbm_buf scratch = {0};
    for (size_t i = 0; i < recovered->replicas.n && node->failed == LBM_OK; i++) {
        struct lbm_recovered_replica *old = &recovered->replicas.at[i];
        struct replica *replica = replica_add(node, old->owner, old->incarnation);
        if (replica == NULL)
            break;
        replica->repl_epoch = old->repl_epoch;
        replica->seq = replica->stored = old->seq;
        for (size_t k = 0; k < old->rows.n && node->failed == LBM_OK; k++) {
            struct replica_job *held = job_in(replica, old->rows.at[k].job);
            if (held == NULL || put_row(held, &old->rows.at[k], &scratch) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        }
    }
    lbm_buf_free(&scratch);
}

/* ---- what goes ----------------------------------------------------------------------------------------- */

void
lbm_replication_replica_drop(struct lbm_node *node, struct replica *replica)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_REPLICA_DROP};
    op.as.drop.owner = replica->owner;
    op.as.drop.incarnation = replica->incarnation;
    lbm_core_persist(node, op);
    for (size_t i = 0; i < node->replicas.n; i++)
        if (node->replicas.at[i] == replica) {
            node->replicas.at[i] = node->replicas.at[--node->replicas.n];
            break;
        }
    replica_free(replica);
}

/* A replica is of use while its owner takes part and has this host as backup, or while it is to be merged. */
static int
is_wanted(const struct lbm_node *node, const struct replica *replica)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, replica->owner, replica->incarnation);
    if (gone != NULL)
        return gone->evicted &&
               ((gone->successor == node->host && gone->successor_incarnation == node->incarnation) ||
                (gone->reserve == node->host && gone->reserve_incarnation == node->incarnation));
    const struct lbm_member *owner = lbm_view_member(&node->view, replica->owner);
    return owner == NULL || owner->incarnation < replica->incarnation ||
           (owner->incarnation == replica->incarnation && lbm_view_backup_slot(owner, node->host) != NULL);
}

void
lbm_replication_replicas_view_changed(struct lbm_node *node)
{
    for (size_t i = node->replicas.n; i-- > 0;)
        if (!is_wanted(node, node->replicas.at[i]))
            lbm_replication_replica_drop(node, node->replicas.at[i]);
}

int
lbm_replication_replicas_job_deleted(struct lbm_node *node, uint64_t job)
{
    int is_held = 0;
    node->deleted[node->n_deleted++ % LBM_JOBS_MAX] = job;
    for (size_t i = 0; i < node->replicas.n; i++)
        is_held |= remove_job(node->replicas.at[i], job); /* the database drops them with the job */
    return is_held;
}

static int
was_deleted(const struct lbm_node *node, uint64_t job)
{
    int found = 0;
    for (uint32_t i = 0; i < node->n_deleted && i < LBM_JOBS_MAX; i++)
        found |= node->deleted[i] == job;
    return found;
}

/* ---- the replication log arrives
 * -------------------------------------------------------------------------------- */

/* The member that a message claims as its owner, if this host is its backup in that epoch. */
static const struct lbm_member *
primary_of(const struct lbm_node *node, const Lbm__Peer *message, uint64_t repl_epoch)
{
    const struct lbm_member *owner = lbm_view_member(&node->view, message->src);
    if (owner == NULL || owner->incarnation != message->src_incarnation || !lbm_local_is_alive(node))
        return NULL;
    if (!lbm_view_participates(owner))
        return message->body_case == LBM__PEER__BODY_REPL && LBM_BUG(REPLICATE_FOR_EVICTED) ? owner : NULL;
    const struct lbm_backup *slot = lbm_view_backup_slot(owner, node->host);
    return slot != NULL && slot->view == repl_epoch ? owner : NULL;
}

/* A tombstone that the owner has collected may still be here when an inheritance brings it an older one of
 * the same vertex. The newer says more. */
static int
is_outranked(const struct lbm_row *row, struct kept_head before)
{
    return row->stage != LBM_STAGE_OWN && row->stage != LBM_STAGE_OUT &&
           (before.epoch > row->epoch || (before.epoch == row->epoch && before.stage > row->stage));
}

/* A bare row has the content that it had before. */
static enum lbm_err
take_content(struct lbm_row *row, const uint8_t *kept)
{
    struct lbm_row before;
    enum lbm_err err = lbm_records_unpack(kept, row->job, &before);
    if (err != LBM_OK)
        return err;
    free(row->half);
    row->half = before.half;
    row->degree = before.degree;
    row->payload = before.payload;
    row->payload_len = before.payload_len;
    row->is_blob = before.is_blob;
    free(before.news);
    return LBM_OK;
}

/* Keep one row of a message, and store it with the operation. */
static enum lbm_err
take_row(struct replica_job *held, struct lbm_row *row, int is_bare, struct lbm_buf *scratch,
         struct lbm_persist_op *op)
{
    uint32_t known = lbm_idmap_get(&held->index, row->vertex);
    /* Bare and not known: the job was cancelled here already, its owner will hear of it. */
    if ((is_bare && known == LBM_NONE) ||
        (known != LBM_NONE && is_outranked(row, lbm_records_packed_head(held->rows.at[known])))) {
        lbm_row_free(row);
        return LBM_OK;
    }
    enum lbm_err err = LBM_OK;
    if (is_bare && (row->stage == LBM_STAGE_OWN || row->stage == LBM_STAGE_OUT))
        err = take_content(row, held->rows.at[known]);
    if (err == LBM_OK)
        err = put_row(held, row, scratch);
    if (err == LBM_OK)
        op->as.replica.row[op->as.replica.n++] = *row;
    else
        lbm_row_free(row);
    return err;
}

/* All of one message as an operation. */
static enum lbm_err
take_rows(struct lbm_node *node, struct replica *replica, const Lbm__Repl *repl, struct lbm_persist_op *op)
{
    const Lbm__Records *r = repl->records;
    struct replica_job *held = job_in(replica, repl->job);
    if (held == NULL ||
        (r != NULL && (op->as.replica.row = lbm_alloc(r->n_vertex, sizeof(struct lbm_row))) == NULL))
        return LBM_E_NOMEM;
    struct columns_place place = {0};
    struct lbm_buf scratch = {0};
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; r != NULL && i < r->n_vertex && err == LBM_OK; i++) {
        struct lbm_row row;
        err = lbm_records_batch_row(r, i, &place, node->view.m, repl->job, &row);
        row.seq = repl->seq;
        if (err == LBM_OK)
            err = take_row(held, &row, r->bare[i] != 0, &scratch, op);
    }
    lbm_buf_free(&scratch);
    if (err != LBM_OK)
        return err;
    for (size_t i = 0; i < repl->n_gone; i++)
        remove_row(held, repl->gone[i]);
    op->as.replica.gone = lbm_copy(repl->gone, repl->n_gone, sizeof *repl->gone);
    op->as.replica.n_gone = repl->n_gone;
    return repl->n_gone != 0 && op->as.replica.gone == NULL ? LBM_E_NOMEM : LBM_OK;
}

/* The position of a replication log moves on, in the transaction of this step. */
static void
store_position(struct lbm_node *node, struct replica *replica, struct lbm_persist_op op)
{
    op.kind = LBM_PERSIST_REPLICA;
    op.as.replica.owner = replica->owner;
    op.as.replica.incarnation = replica->incarnation;
    op.as.replica.repl_epoch = replica->repl_epoch;
    op.as.replica.seq = replica->seq;
    lbm_core_persist(node, op);
    struct stored_position mark = {node->persist_id, replica->seq};
    if (lbm_vec_push(&replica->marks, mark) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* How far the replication log is on the disk for certain. */
static uint64_t
stored_position(const struct lbm_node *node, struct replica *replica)
{
    size_t n = 0;
    while (n < replica->marks.n && replica->marks.at[n].persist <= node->persisted)
        replica->stored = replica->marks.at[n++].seq;
    if (n != 0)
        memmove(replica->marks.at, &replica->marks.at[n], (replica->marks.n - n) * sizeof *replica->marks.at);
    replica->marks.n -= n;
    return replica->stored;
}

/* An epoch that this host has nothing of yet: what was held of an earlier one is void. */
static void
begin_repl_epoch(struct lbm_node *node, struct replica *replica, uint64_t repl_epoch)
{
    free_rows(replica);
    replica->repl_epoch = repl_epoch;
    replica->seq = replica->stored = 0;
    replica->marks.n = 0;
    struct lbm_persist_op op = {0};
    op.as.replica.fresh = 1;
    store_position(node, replica, op);
}

static struct replica *
replica_for(struct lbm_node *node, const Lbm__Peer *message, uint64_t repl_epoch)
{
    struct replica *replica = lbm_replication_replica_of(node, message->src, message->src_incarnation);
    if (replica == NULL)
        replica = replica_add(node, message->src, message->src_incarnation);
    if (replica != NULL && replica->repl_epoch != repl_epoch)
        begin_repl_epoch(node, replica, repl_epoch);
    return replica;
}

/* Nonzero if this host has every large payload that the records describe; else they are asked for, and the
 * owner sends the records again. */
static int
has_blobs(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Records *r = message->repl->records;
    size_t lacking = 0, at = 0;
    for (size_t i = 0; r != NULL && i < r->n_blob; at += r->payload_len[i++])
        lacking += !lbm_blobs_row_has(node, r, i, at, message->repl->job, message->src);
    return lacking == 0 || LBM_BUG(REPLICA_WITHOUT_BLOB);
}

void
lbm_replication_on_repl(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Repl *repl = message->repl;
    unsigned m = node->view.m;
    if (primary_of(node, message, repl->repl_epoch) == NULL ||
        (repl->records != NULL &&
         (repl->records->n_position != repl->records->n_vertex * m ||
          !lbm_records_payload_fits(repl->records->n_payload_len, repl->records->payload_len,
                                    &repl->records->payload) ||
          !lbm_blobs_fit(repl->records, repl->job))))
        return;
    if (!was_deleted(node, repl->job) && !has_blobs(node, message))
        return;
    struct replica *replica = replica_for(node, message, repl->repl_epoch);
    if (replica == NULL)
        return;
    int follows = repl->after <= replica->seq; /* records repeated are the same or newer */
    if (follows && repl->seq > replica->seq) {
        struct lbm_persist_op op = {.job = repl->job};
        replica->seq = repl->seq;
        if (repl->drop_job) {
            struct lbm_persist_op drop = {.kind = LBM_PERSIST_REPLICA_DROP, .job = repl->job};
            drop.as.drop.owner = replica->owner;
            drop.as.drop.incarnation = replica->incarnation;
            lbm_core_persist(node, drop);
            remove_job(replica, repl->job);
        } else if (!was_deleted(node, repl->job) && take_rows(node, replica, repl, &op) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
        }
        store_position(node, replica, op);
    }
    Lbm__ReplAck ack = LBM__REPL_ACK__INIT;
    ack.repl_epoch = replica->repl_epoch;
    ack.seq = replica->seq;
    Lbm__Peer answer = LBM__PEER__INIT;
    answer.body_case = LBM__PEER__BODY_REPL_ACK;
    answer.repl_ack = &ack;
    if (node->failed != LBM_OK)
        return;
    if (LBM_BUG(ACK_BEFORE_DURABLE))
        lbm_core_send_now(node, message->src, &answer);
    else
        lbm_core_send(node, message->src, &answer);
}

/* Jobs of the replica that are not in the log: the owner is about to propose them, or has given them up in an
 * earlier life, whose last changes are lost. Out: job [LBM_UNKNOWN_JOBS_MAX]. Returns how many. */
static size_t
unknown_jobs(const struct lbm_node *node, const struct replica *replica, uint64_t *job)
{
    size_t n = 0;
    for (size_t i = 0; i < replica->jobs.n && n < LBM_UNKNOWN_JOBS_MAX; i++)
        if (replica->jobs.at[i].index.n != 0 && lbm_view_job(&node->view, replica->jobs.at[i].job) == NULL)
            job[n++] = replica->jobs.at[i].job;
    return n;
}

void
lbm_replication_on_lease_req(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LeaseReq *request = message->lease_req;
    if (primary_of(node, message, request->repl_epoch) == NULL)
        return;
    const struct replica *before = lbm_replication_replica_of(node, message->src, message->src_incarnation);
    int begins = before == NULL || before->repl_epoch != request->repl_epoch;
    struct replica *replica = replica_for(node, message, request->repl_epoch);
    if (replica == NULL)
        return;
    Lbm__Lease lease = LBM__LEASE__INIT;
    lease.sent_us = request->sent_us;
    lease.repl_epoch = replica->repl_epoch;
    lease.seq = stored_position(node, replica);
    /* What is not on this disk yet counts too: it is of a life that has gone on further than that disk. */
    lease.rolled_back = (LBM_BUG(COMPARE_STORED) ? lease.seq : replica->seq) > request->seq;
    if (!lease.rolled_back) {
        lease.lease_us = LEASE_US;
        if (!begins || !LBM_BUG(KEEP_LEASE))
            replica->granted_us = node->now_us + GRANT_US;
    }
    uint64_t unknown[LBM_UNKNOWN_JOBS_MAX];
    lease.unknown = unknown;
    lease.n_unknown = unknown_jobs(node, replica, unknown);
    Lbm__Peer answer = LBM__PEER__INIT;
    answer.body_case = LBM__PEER__BODY_LEASE;
    answer.lease = &lease;
    lbm_core_send_now(node, message->src, &answer);
}
