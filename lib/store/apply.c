/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Persist operations as statements, one function a kind; any number of transactions in one commit. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/check.h"
#include "store/internal.h"

enum {
    WAL_PAGES_MAX = 4096, /* 16 MiB: then the write-ahead log is folded into the file */
    CACHE_COMMITS = 64,   /* between looks at how large the cache should be */
};

/* Bind n whole numbers, then a command, then the checksum of both; run. */
static enum lbm_err
put_command(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n, const uint8_t *command,
            size_t len, struct lbm_diag *diag)
{
    sqlite3_stmt *put = store->statement[id];
    enum lbm_err err = lbm_store_bind(store, id, columns, n, diag);
    if (err != LBM_OK)
        return err;
    int result = sqlite3_bind_blob64(put, n + 1, len != 0 ? (const void *)command : "", len, SQLITE_STATIC);
    result |= sqlite3_bind_int64(put, n + 2, lbm_store_crc(columns, (size_t)n, command, len));
    if (result != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "binding a command");
    return lbm_store_run(store, id, diag);
}

enum lbm_err
lbm_store_exec_bound(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n,
                     struct lbm_diag *diag)
{
    enum lbm_err err = lbm_store_bind(store, id, columns, n, diag);
    return err == LBM_OK ? lbm_store_run(store, id, diag) : err;
}

enum lbm_err
lbm_store_exec_checked(struct lbm_store *store, enum lbm_sql id, const uint64_t *columns, int n,
                       struct lbm_diag *diag)
{
    uint64_t checked[8];
    LBM_ASSERT(n < 8);
    for (int i = 0; i < n; i++)
        checked[i] = columns[i];
    checked[n] = lbm_store_crc(columns, (size_t)n, NULL, 0);
    return lbm_store_exec_bound(store, id, checked, n + 1, diag);
}

void
lbm_store_saw_seq(struct lbm_store *store, uint64_t seq)
{
    if (seq > store->seq_new)
        store->seq_new = seq;
}

static enum lbm_err
apply_self(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const uint64_t columns[3] = {op->as.self.cluster, op->as.self.host, op->as.self.incarnation};
    return lbm_store_exec_checked(store, LBM_SQL_SELF_PUT, columns, 3, diag);
}

static enum lbm_err
apply_taken_over(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const uint64_t columns[2] = {op->as.drop.owner, op->as.drop.incarnation};
    return lbm_store_exec_checked(store, LBM_SQL_TAKEN_OVER_PUT, columns, 2, diag);
}

static enum lbm_err
apply_term(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    uint64_t ago = op->as.term.forced != 0 ? op->as.term.term - op->as.term.forced + 1 : 0;
    const uint64_t columns[2] = {op->as.term.term, ago << 32 | op->as.term.leader};
    return lbm_store_exec_checked(store, LBM_SQL_TERM_PUT, columns, 2, diag);
}

static enum lbm_err
apply_snapshot(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    enum lbm_err err = put_command(store, LBM_SQL_SNAPSHOT_PUT, &op->as.snapshot.index, 1,
                                   op->as.snapshot.view, op->as.snapshot.len, diag);
    return err == LBM_OK ? lbm_store_exec_bound(store, LBM_SQL_LOG_CUT, &op->as.snapshot.index, 1, diag)
                         : err;
}

/* The archive was written before the transaction began. */
static enum lbm_err
apply_reset(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    uint64_t self[3] = {0, 0, op->as.reset.incarnation};
    int64_t cluster = 0, host = 0;
    enum lbm_err err = lbm_store_exec(store->db, "SELECT cluster FROM self", &cluster, store->path, diag);
    if (err == LBM_OK)
        err = lbm_store_exec(store->db, "SELECT host FROM self", &host, store->path, diag);
    static const char *const emptied[] = {"DELETE FROM vertex", "DELETE FROM replica",
                                          "DELETE FROM stream", "DELETE FROM adopted",
                                          "DELETE FROM job",    "DELETE FROM progress"};
    for (size_t i = 0; err == LBM_OK && i < sizeof emptied / sizeof *emptied; i++)
        err = lbm_store_exec(store->db, emptied[i], NULL, store->path, diag);
    if (err == LBM_OK && op->as.reset.has_no_log)
        err = lbm_store_exec(store->db, "DELETE FROM log", NULL, store->path, diag);
    if (err == LBM_OK && op->as.reset.has_no_log)
        err = lbm_store_exec(store->db, "DELETE FROM snapshot", NULL, store->path, diag);
    self[0] = (uint64_t)cluster;
    self[1] = (uint64_t)host;
    store->seq = store->seq_new = 0;
    return err == LBM_OK ? lbm_store_exec_checked(store, LBM_SQL_SELF_PUT, self, 3, diag) : err;
}

static enum lbm_err
apply_log(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    sqlite3_stmt *last = store->statement[LBM_SQL_LOG_LAST];
    if (sqlite3_step(last) != SQLITE_ROW)
        return lbm_store_error(store->db, store->path, diag, "reading the control log's end");
    uint64_t index = (uint64_t)sqlite3_column_int64(last, 0);
    sqlite3_reset(last);
    if (op->as.log.index != index + 1)
        return lbm_diag_set(diag, LBM_E_STATE, store->path, 0,
                            "entry %" PRIu64 " of the control log cannot follow entry %" PRIu64,
                            op->as.log.index, index);
    return put_command(store, LBM_SQL_LOG_PUT, &op->as.log.index, 1, op->as.log.command, op->as.log.len,
                       diag);
}

static enum lbm_err
apply_job(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    LBM_ASSERT(op->as.state.state < LBM_JOB_STATE_COUNT);
    const uint64_t columns[2] = {op->job, op->as.state.state};
    return put_command(store, LBM_SQL_JOB_PUT, columns, 2, op->as.state.command, op->as.state.len, diag);
}

static enum lbm_err
apply_job_delete(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    static const enum lbm_sql deletes[] = {LBM_SQL_JOB_DELETE_ROWS, LBM_SQL_JOB_DELETE_REPLICAS,
                                           LBM_SQL_JOB_DELETE};
    enum lbm_err err = LBM_OK;
    for (int i = 0; i < 3 && err == LBM_OK; i++)
        err = lbm_store_exec_bound(store, deletes[i], &op->job, 1, diag);
    return err;
}

static lbm_store_op_fn *const op_fns[] = {
    [LBM_PERSIST_SELF] = apply_self,
    [LBM_PERSIST_LOG] = apply_log,
    [LBM_PERSIST_JOB] = apply_job,
    [LBM_PERSIST_JOB_DELETE] = apply_job_delete,
    [LBM_PERSIST_ROW] = lbm_store_apply_row,
    [LBM_PERSIST_GUEST] = lbm_store_apply_guest,
    [LBM_PERSIST_PLAN] = lbm_store_apply_plan,
    [LBM_PERSIST_POSITIONS] = lbm_store_apply_positions,
    [LBM_PERSIST_ROW_DELETE] = lbm_store_apply_row_delete,
    [LBM_PERSIST_REPLICA] = lbm_store_apply_replica,
    [LBM_PERSIST_REPLICA_DROP] = lbm_store_apply_replica_drop,
    [LBM_PERSIST_TAKEN_OVER] = apply_taken_over,
    [LBM_PERSIST_RESET] = apply_reset,
    [LBM_PERSIST_SNAPSHOT] = apply_snapshot,
    [LBM_PERSIST_TERM] = apply_term,
    [LBM_PERSIST_BLOB_PIECE] = lbm_store_apply_blob_piece,
    [LBM_PERSIST_BLOB_DELETE] = lbm_store_apply_blob_delete,
};
_Static_assert(sizeof op_fns / sizeof *op_fns == LBM_PERSIST_COUNT, "an operation without a function");

/* ---- transactions ------------------------------------------------------------------------------- */

static enum lbm_err
apply_ops(struct lbm_store *store, const struct lbm_persist *persist, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < persist->ops.n; i++) {
        LBM_ASSERT(persist->ops.at[i].kind < LBM_PERSIST_COUNT);
        err = op_fns[persist->ops.at[i].kind](store, &persist->ops.at[i], diag);
    }
    return err;
}

/* Fold the write-ahead log into the file once it is long. A reader in the way only delays it. Done here and
 * not by SQLite, which would not report that a sync failed, and try again. */
static enum lbm_err
checkpoint(struct lbm_store *store, struct lbm_diag *diag)
{
    if (store->wal_pages < WAL_PAGES_MAX)
        return LBM_OK;
    int result = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (result != SQLITE_OK && result != SQLITE_BUSY)
        return lbm_store_error(store->db, store->path, diag, "folding in the write-ahead log");
    return LBM_OK;
}

/* Leave a transaction that has failed; SQLite has left it by itself after some errors. */
static void
roll_back(struct lbm_store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        store->failed |= sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK;
}

/* SQLite 3.40 syncs neither what VACUUM INTO wrote nor that its journal is gone, which would undo the copy
 * after a power cut. A commit in the copy does both: EXTRA syncs the directory after the journal's removal.
 */
static enum lbm_err
sync_archive(const char *path, struct lbm_diag *diag)
{
    sqlite3 *db = NULL;
    char touch[48];
    snprintf(touch, sizeof touch, "PRAGMA application_id = %d", LBM_STORE_APPLICATION_ID);
    enum lbm_err err = LBM_OK;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        err = lbm_store_error(db, path, diag, "opening the archive");
    if (err == LBM_OK)
        err = lbm_store_exec(db, "PRAGMA synchronous = EXTRA", NULL, path, diag);
    if (err == LBM_OK)
        err = lbm_store_exec(db, touch, NULL, path, diag);
    sqlite3_close(db);
    return err;
}

/* What fails leaves no file behind. */
static enum lbm_err
write_archive(struct lbm_store *store, const char *name, struct lbm_diag *diag)
{
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", name);
    if (sql == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory to archive it");
    enum lbm_err err = lbm_store_create_file(name, O_EXCL, diag); /* SQLite writes into an empty file */
    if (err == LBM_OK && sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        err = lbm_store_error(store->db, store->path, diag, "archiving it");
    if (err == LBM_OK)
        err = sync_archive(name, diag);
    sqlite3_free(sql);
    if (err != LBM_OK)
        unlink(name);
    return err;
}

/* A copy of the whole database next to it, "<path>.incarnation-N", never over an older one: what an evicted
 * incarnation had is kept for whoever wants to look. */
static enum lbm_err
archive(struct lbm_store *store, uint64_t incarnation, struct lbm_diag *diag)
{
    char suffix[48];
    struct lbm_buf name = {0};
    snprintf(suffix, sizeof suffix, ".incarnation-%" PRIu64, incarnation);
    enum lbm_err err = lbm_store_unused_name(store, suffix, &name, diag);
    if (err != LBM_OK)
        return err;
    err = write_archive(store, name.at, diag);
    lbm_buf_free(&name);
    return err;
}

static enum lbm_err
archive_before_resets(struct lbm_store *store, const struct lbm_persist *const *persists, size_t n,
                      struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; err == LBM_OK && k < persists[i]->ops.n; k++)
            if (persists[i]->ops.at[k].kind == LBM_PERSIST_RESET)
                err = archive(store, persists[i]->ops.at[k].as.reset.incarnation - 1, diag);
    return err;
}

enum lbm_err
lbm_store_apply(struct lbm_store *store, const struct lbm_persist *const *persists, size_t n,
                struct lbm_diag *diag)
{
    if (store->failed)
        return lbm_diag_set(diag, LBM_E_IO, store->path, 0,
                            "an earlier write failed: what is stored is known only after a restart");
    uint64_t last_id = store->last_id;
    uint64_t seq = store->seq;
    store->seq_new = seq;
    enum lbm_err err = archive_before_resets(store, persists, n, diag);
    if (err == LBM_OK)
        err = lbm_store_run(store, LBM_SQL_BEGIN, diag);
    for (size_t i = 0; err == LBM_OK && i < n; i++) {
        LBM_ASSERT(persists[i]->id > last_id);
        last_id = persists[i]->id;
        err = apply_ops(store, persists[i], diag);
    }
    if (err == LBM_OK && store->seq_new != store->seq)
        err = lbm_store_exec_checked(store, LBM_SQL_PROGRESS_PUT, &store->seq_new, 1, diag);
    if (err == LBM_OK)
        err = lbm_store_run(store, LBM_SQL_COMMIT, diag);
    if (err == LBM_OK)
        err = lbm_store_in_place(store, diag); /* else it is in a file that nobody will find */
    if (err != LBM_OK) {
        roll_back(store);
        store->seq = seq;
    } else {
        store->last_id = last_id;
        store->seq = store->seq_new;
        err = checkpoint(store, diag);
        if (err == LBM_OK && ++store->commits % CACHE_COMMITS == 0)
            err = lbm_store_fit_cache(store, diag);
    }
    /* A refusal undid everything in memory; after anything else only the file knows. */
    if (err != LBM_OK && err != LBM_E_STATE && err != LBM_E_RANGE)
        store->failed = 1;
    return err;
}
