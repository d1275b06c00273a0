/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Persist operations as statements, one function a kind; any number of transactions in one commit. */
#include <inttypes.h>

#include "base/check.h"
#include "store/internal.h"

enum { WAL_PAGES_MAX = 4096 }; /* 16 MiB: then the write-ahead log is folded into the file */

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

static enum lbm_err
apply_self(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    uint64_t columns[4] = {op->as.self.cluster, op->as.self.host, op->as.self.incarnation};
    columns[3] = lbm_store_crc(columns, 3, NULL, 0);
    enum lbm_err err = lbm_store_bind(store, LBM_SQL_SELF_PUT, columns, 4, diag);
    return err != LBM_OK ? err : lbm_store_run(store, LBM_SQL_SELF_PUT, diag);
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
    static const enum lbm_sql deletes[] = {LBM_SQL_JOB_DELETE_ROWS, LBM_SQL_JOB_DELETE};
    for (int i = 0; i < 2; i++) {
        enum lbm_err err = lbm_store_bind(store, deletes[i], &op->job, 1, diag);
        if (err == LBM_OK)
            err = lbm_store_run(store, deletes[i], diag);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
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

enum lbm_err
lbm_store_apply(struct lbm_store *store, const struct lbm_persist *const *persists, size_t n,
                struct lbm_diag *diag)
{
    if (store->failed)
        return lbm_diag_set(diag, LBM_E_IO, store->path, 0,
                            "an earlier write failed: what is stored is known only after a restart");
    uint64_t last_id = store->last_id;
    enum lbm_err err = lbm_store_run(store, LBM_SQL_BEGIN, diag);
    for (size_t i = 0; err == LBM_OK && i < n; i++) {
        LBM_ASSERT(persists[i]->id > last_id);
        last_id = persists[i]->id;
        err = apply_ops(store, persists[i], diag);
    }
    if (err == LBM_OK)
        err = lbm_store_run(store, LBM_SQL_COMMIT, diag);
    if (err != LBM_OK) {
        roll_back(store);
    } else {
        store->last_id = last_id;
        err = checkpoint(store, diag);
    }
    /* A refusal undid everything in memory; after anything else only the file knows. */
    if (err != LBM_OK && err != LBM_E_STATE && err != LBM_E_RANGE)
        store->failed = 1;
    return err;
}
