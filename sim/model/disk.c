/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/model/disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void
tell(struct disk *disk, const struct disk_replica *replica, const struct lbm_row *before,
     const struct lbm_row *after)
{
    if (disk->watcher != NULL)
        disk->watcher(disk->watcher_arg, disk, replica, before, after);
}

static void
advance(struct disk *disk, uint64_t seq)
{
    if (seq > disk->seq)
        disk->seq = seq;
}

/* reliability.md, I9: no record's rank ever falls. */
static int
rank_falls(const struct lbm_row *before, const struct lbm_row *after)
{
    return after->epoch < before->epoch || (after->epoch == before->epoch && after->stage < before->stage);
}

static struct disk_blob *
blob_of(const struct disk *disk, const struct lbm_blob_name *name)
{
    for (size_t i = 0; i < disk->blobs.n; i++) {
        struct disk_blob *blob = &disk->blobs.at[i];
        if (blob->name.job == name->job && blob->name.len == name->len &&
            memcmp(blob->name.digest, name->digest, sizeof name->digest) == 0)
            return blob;
    }
    return NULL;
}

const struct lbm_buf *
disk_piece(const struct disk *disk, const struct lbm_blob_name *name, uint32_t piece)
{
    const struct disk_blob *blob = blob_of(disk, name);
    return blob != NULL && piece < blob->pieces ? &blob->piece[piece] : NULL;
}

int
disk_has_payload(const struct disk *disk, const struct lbm_row *row)
{
    struct lbm_blob_name name;
    uint64_t bytes = 0;
    if (!row->is_blob)
        return 1;
    if (!lbm_blob_read_name(row->job, row->payload, row->payload_len, &name))
        return 0;
    for (uint32_t i = 0; disk_piece(disk, &name, i) != NULL; i++)
        bytes += disk_piece(disk, &name, i)->len;
    return bytes == name.len;
}

/* Put a record into the host's own rows, or a replica's. Takes the row. */
static const char *
put(struct disk *disk, struct disk_replica *replica, struct lbm_row row)
{
    struct row_set *set = replica != NULL ? &replica->rows : &disk->rows;
    struct lbm_row before;
    rows_put(set, row, &before);
    int known = before.stage != LBM_STAGE_NONE;
    int falls = known && rank_falls(&before, &row);
    tell(disk, replica, known ? &before : NULL, &row);
    lbm_row_free(&before);
    if (!disk_has_payload(disk, rows_get(set, row.job, row.vertex)))
        return "a record is stored whose large payload is not there";
    if (!falls)
        return NULL;
    return replica != NULL ? "the rank of a replicated record falls" : "the rank of a record falls";
}

static void
remove_row(struct disk *disk, struct disk_replica *replica, uint64_t job, uint32_t vertex)
{
    struct row_set *set = replica != NULL ? &replica->rows : &disk->rows;
    const struct lbm_row *row = rows_get(set, job, vertex);
    if (row == NULL)
        return;
    tell(disk, replica, row, NULL);
    rows_remove(set, job, vertex);
}

/* Remove all rows of a job, or all (0), from the host's own rows or a replica. */
static void
remove_rows(struct disk *disk, struct disk_replica *replica, uint64_t job)
{
    struct row_set *set = replica != NULL ? &replica->rows : &disk->rows;
    for (size_t i = set->jobs.n; i-- > 0;) {
        uint64_t of = set->jobs.at[i].job;
        if (job != 0 && of != job)
            continue;
        while (set->jobs.at[i].rows.n != 0) {
            size_t last = set->jobs.at[i].rows.n - 1;
            remove_row(disk, replica, of, set->jobs.at[i].rows.at[last].vertex);
        }
        lbm_vec_free(&set->jobs.at[i].rows);
        lbm_idmap_free(&set->jobs.at[i].index);
        set->jobs.at[i] = set->jobs.at[--set->jobs.n];
    }
}

/* ---- operations --------------------------------------------------------------------------------------- */

static const char *
apply_self(struct disk *disk, const struct lbm_persist_op *op)
{
    disk->known = 1;
    disk->cluster = op->as.self.cluster;
    disk->host = op->as.self.host;
    disk->incarnation = op->as.self.incarnation;
    return NULL;
}

static const char *
apply_log(struct disk *disk, const struct lbm_persist_op *op)
{
    if (op->as.log.index != disk->snapshot_index + disk->log.n + 1)
        return "a gap in the control log";
    struct lbm_recovered_entry entry = {op->as.log.index, lbm_copy(op->as.log.command, op->as.log.len, 1),
                                        op->as.log.len};
    LBM_ASSERT(entry.command != NULL && lbm_vec_push(&disk->log, entry) == LBM_OK);
    return NULL;
}

static const char *
apply_job(struct disk *disk, const struct lbm_persist_op *op)
{
    for (size_t i = 0; i < disk->jobs.n; i++)
        if (disk->jobs.at[i].job == op->job) {
            disk->jobs.at[i].state = op->as.state.state;
            return NULL;
        }
    size_t len = op->as.state.len;
    struct lbm_recovered_job entry = {op->job, op->as.state.state,
                                      len != 0 ? lbm_copy(op->as.state.command, len, 1) : NULL, len};
    LBM_ASSERT(lbm_vec_push(&disk->jobs, entry) == LBM_OK);
    return NULL;
}

static const char *
apply_job_delete(struct disk *disk, const struct lbm_persist_op *op)
{
    remove_rows(disk, NULL, op->job);
    for (size_t i = 0; i < disk->replicas.n; i++)
        remove_rows(disk, &disk->replicas.at[i], op->job);
    for (size_t i = disk->jobs.n; i-- > 0;)
        if (disk->jobs.at[i].job == op->job) {
            free(disk->jobs.at[i].command);
            disk->jobs.at[i] = disk->jobs.at[--disk->jobs.n];
        }
    return NULL;
}

static const char *
apply_row(struct disk *disk, const struct lbm_persist_op *op)
{
    advance(disk, op->as.row.seq);
    return put(disk, NULL, row_copy(&op->as.row));
}

static const char *
apply_guest(struct disk *disk, const struct lbm_persist_op *op)
{
    const struct lbm_graph *g = op->as.guest.graph;
    const char *wrong = NULL;
    for (uint32_t v = 0; v < g->n && wrong == NULL; v++) {
        uint64_t degree = g->offset[v + 1] - g->offset[v];
        struct lbm_row row = lbm_guest_row(op, v, degree != 0 ? lbm_alloc(degree, sizeof *row.half) : NULL);
        advance(disk, row.seq);
        wrong = put(disk, NULL, row);
    }
    return wrong;
}

static const char *
apply_positions(struct disk *disk, const struct lbm_persist_op *op)
{
    for (uint32_t i = 0; i < op->as.plan.n; i++) {
        uint32_t v = op->as.plan.vertex != NULL ? op->as.plan.vertex[i] : i;
        struct lbm_row *row = rows_get(&disk->rows, op->job, v);
        if (row == NULL)
            continue;
        memcpy(row->position, &op->as.plan.position[(size_t)i * op->as.plan.m],
               op->as.plan.m * sizeof(double));
        if (op->as.plan.anchored != NULL)
            row->anchored = op->as.plan.anchored[i];
        if (op->as.plan.host != NULL && row->stage == LBM_STAGE_OWN)
            row->peer = op->as.plan.host[i];
    }
    return NULL;
}

static const char *
apply_row_delete(struct disk *disk, const struct lbm_persist_op *op)
{
    const struct lbm_row *row = rows_get(&disk->rows, op->job, op->as.gone.vertex);
    advance(disk, op->as.gone.seq);
    if (row == NULL)
        return NULL;
    int finished = row->stage == LBM_STAGE_MOV || row->stage == LBM_STAGE_REF;
    remove_row(disk, NULL, op->job, op->as.gone.vertex);
    return finished ? NULL : "a record is deleted that is neither moved nor refused";
}

static struct disk_replica *
replica_of(struct disk *disk, uint32_t owner, uint64_t incarnation)
{
    for (size_t i = 0; i < disk->replicas.n; i++)
        if (disk->replicas.at[i].owner == owner && disk->replicas.at[i].incarnation == incarnation)
            return &disk->replicas.at[i];
    return NULL;
}

static const char *
apply_replica(struct disk *disk, const struct lbm_persist_op *op)
{
    const char *wrong = NULL;
    struct disk_replica *replica = replica_of(disk, op->as.replica.owner, op->as.replica.incarnation);
    if (replica == NULL) {
        struct disk_replica fresh = {.owner = op->as.replica.owner,
                                     .incarnation = op->as.replica.incarnation};
        LBM_ASSERT(lbm_vec_push(&disk->replicas, fresh) == LBM_OK);
        replica = &disk->replicas.at[disk->replicas.n - 1];
    }
    if (op->as.replica.fresh)
        remove_rows(disk, replica, 0);
    else if (replica->repl_epoch == op->as.replica.repl_epoch && op->as.replica.seq < replica->seq)
        wrong = "the position of a replica falls";
    replica->repl_epoch = op->as.replica.repl_epoch;
    replica->seq = op->as.replica.seq;
    for (size_t i = 0; i < op->as.replica.n && wrong == NULL; i++) {
        struct lbm_row row = row_copy(&op->as.replica.row[i]);
        row.job = op->job;
        wrong = put(disk, replica, row);
    }
    for (size_t i = 0; i < op->as.replica.n_gone; i++)
        remove_row(disk, replica, op->job, op->as.replica.gone[i]);
    return wrong;
}

static const char *
apply_replica_drop(struct disk *disk, const struct lbm_persist_op *op)
{
    struct disk_replica *replica = replica_of(disk, op->as.drop.owner, op->as.drop.incarnation);
    if (replica == NULL)
        return NULL;
    remove_rows(disk, replica, op->job);
    if (op->job == 0) {
        rows_free(&replica->rows);
        *replica = disk->replicas.at[--disk->replicas.n];
    }
    return NULL;
}

static const char *
apply_taken_over(struct disk *disk, const struct lbm_persist_op *op)
{
    struct lbm_recovered_takeover takeover = {op->as.drop.owner, op->as.drop.incarnation};
    for (size_t i = 0; i < disk->takeovers.n; i++)
        if (disk->takeovers.at[i].host == takeover.host &&
            disk->takeovers.at[i].incarnation == takeover.incarnation)
            return "a replica is merged twice";
    LBM_ASSERT(lbm_vec_push(&disk->takeovers, takeover) == LBM_OK);
    return NULL;
}

static const char *
apply_reset(struct disk *disk, const struct lbm_persist_op *op)
{
    if (op->as.reset.incarnation <= disk->incarnation)
        return "a new life does not have a new incarnation";
    remove_rows(disk, NULL, 0);
    for (size_t i = 0; i < disk->replicas.n; i++) {
        remove_rows(disk, &disk->replicas.at[i], 0);
        rows_free(&disk->replicas.at[i].rows);
    }
    disk->replicas.n = 0;
    disk->takeovers.n = 0;
    for (size_t i = 0; i < disk->jobs.n; i++)
        free(disk->jobs.at[i].command);
    disk->jobs.n = 0;
    for (size_t i = 0; op->as.reset.has_no_log && i < disk->log.n; i++)
        free(disk->log.at[i].command);
    if (op->as.reset.has_no_log) {
        disk->log.n = 0;
        disk->snapshot_index = 0;
        lbm_buf_free(&disk->snapshot);
    }
    disk->incarnation = op->as.reset.incarnation;
    disk->seq = 0;
    return NULL;
}

static const char *
apply_snapshot(struct disk *disk, const struct lbm_persist_op *op)
{
    uint64_t index = op->as.snapshot.index;
    if (index < disk->snapshot_index)
        return "a snapshot older than the one stored";
    size_t n = 0;
    for (size_t i = 0; i < disk->log.n; i++)
        if (disk->log.at[i].index <= index)
            free(disk->log.at[i].command);
        else
            disk->log.at[n++] = disk->log.at[i];
    disk->log.n = n;
    disk->snapshot_index = index;
    lbm_buf_free(&disk->snapshot);
    lbm_buf_put(&disk->snapshot, op->as.snapshot.view, op->as.snapshot.len);
    return NULL;
}

static const char *
apply_term(struct disk *disk, const struct lbm_persist_op *op)
{
    if (op->as.term.term < disk->term)
        return "the term of the control log falls";
    disk->term = op->as.term.term;
    disk->leader = op->as.term.leader;
    disk->forced = op->as.term.forced;
    return NULL;
}

static const char *
apply_blob_piece(struct disk *disk, const struct lbm_persist_op *op)
{
    struct disk_blob *blob = blob_of(disk, &op->as.blob.name);
    if (blob == NULL) {
        struct disk_blob fresh = {.name = op->as.blob.name};
        LBM_ASSERT(lbm_vec_push(&disk->blobs, fresh) == LBM_OK);
        blob = &disk->blobs.at[disk->blobs.n - 1];
    }
    if (op->as.blob.piece != blob->pieces || blob->pieces == DISK_PIECES_MAX)
        return "a piece of a large payload does not follow the one before";
    lbm_buf_put(&blob->piece[blob->pieces++], op->as.blob.bytes, op->as.blob.len);
    return NULL;
}

/* What a host has of a blob that some record still names may not go. */
static int
is_in(const struct row_set *set, const struct lbm_blob_name *name)
{
    struct lbm_blob_name own;
    for (size_t j = 0; j < set->jobs.n; j++)
        for (size_t i = 0; i < set->jobs.at[j].rows.n; i++) {
            const struct lbm_row *row = &set->jobs.at[j].rows.at[i];
            if (row->is_blob && lbm_blob_read_name(row->job, row->payload, row->payload_len, &own) &&
                own.job == name->job && own.len == name->len &&
                memcmp(own.digest, name->digest, sizeof own.digest) == 0)
                return 1;
        }
    return 0;
}

static const char *
apply_blob_delete(struct disk *disk, const struct lbm_persist_op *op)
{
    struct disk_blob *blob = blob_of(disk, &op->as.blob.name);
    int is_named = is_in(&disk->rows, &op->as.blob.name);
    for (size_t i = 0; i < disk->replicas.n; i++)
        is_named |= is_in(&disk->replicas.at[i].rows, &op->as.blob.name);
    if (is_named)
        return "a large payload goes that a record has";
    if (blob == NULL)
        return NULL;
    for (uint32_t i = 0; i < blob->pieces; i++)
        lbm_buf_free(&blob->piece[i]);
    *blob = disk->blobs.at[--disk->blobs.n];
    return NULL;
}

const char *
disk_apply(struct disk *disk, const struct lbm_persist_op *op)
{
    static const char *(*const apply[LBM_PERSIST_COUNT])(struct disk *, const struct lbm_persist_op *) = {
        [LBM_PERSIST_SELF] = apply_self,
        [LBM_PERSIST_LOG] = apply_log,
        [LBM_PERSIST_JOB] = apply_job,
        [LBM_PERSIST_JOB_DELETE] = apply_job_delete,
        [LBM_PERSIST_ROW] = apply_row,
        [LBM_PERSIST_GUEST] = apply_guest,
        [LBM_PERSIST_PLAN] = apply_positions,
        [LBM_PERSIST_POSITIONS] = apply_positions,
        [LBM_PERSIST_ROW_DELETE] = apply_row_delete,
        [LBM_PERSIST_REPLICA] = apply_replica,
        [LBM_PERSIST_REPLICA_DROP] = apply_replica_drop,
        [LBM_PERSIST_TAKEN_OVER] = apply_taken_over,
        [LBM_PERSIST_RESET] = apply_reset,
        [LBM_PERSIST_SNAPSHOT] = apply_snapshot,
        [LBM_PERSIST_TERM] = apply_term,
        [LBM_PERSIST_BLOB_PIECE] = apply_blob_piece,
        [LBM_PERSIST_BLOB_DELETE] = apply_blob_delete,
    };
    LBM_ASSERT(op->kind < LBM_PERSIST_COUNT && apply[op->kind] != NULL);
    return apply[op->kind](disk, op);
}
