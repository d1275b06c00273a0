/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operations on what this host keeps of others. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "store/internal.h"

static enum lbm_err
put_row(struct lbm_store *store, const struct lbm_persist_op *op, const struct lbm_row *row,
        struct lbm_diag *diag)
{
    sqlite3_stmt *put = store->statement[LBM_SQL_REPLICA_PUT];
    LBM_ASSERT(row->job == op->job);
    enum lbm_err err = lbm_store_bind_row(store, LBM_SQL_REPLICA_PUT, row, diag);
    if (err != LBM_OK)
        return err;
    if (sqlite3_bind_int64(put, 19, (int64_t)op->as.replica.owner) != SQLITE_OK ||
        sqlite3_bind_int64(put, 20, (int64_t)op->as.replica.incarnation) != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "binding a row");
    err = lbm_store_run(store, LBM_SQL_REPLICA_PUT, diag);
    if (err != LBM_OK || sqlite3_changes(store->db) == 1)
        return err;
    return lbm_diag_set(diag, LBM_E_STATE, store->path, 0,
                        "host %" PRIu32 "'s record of job %" PRIx64 " vertex %" PRIu32
                        " would fall to epoch %" PRIu64 " stage %d; nothing was stored",
                        op->as.replica.owner, row->job, row->vertex, row->epoch, (int)row->stage);
}

enum lbm_err
lbm_store_apply_replica(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const uint64_t position[4] = {op->as.replica.owner, op->as.replica.incarnation, op->as.replica.repl_epoch,
                                  op->as.replica.seq};
    enum lbm_err err = LBM_OK;
    if (op->as.replica.fresh)
        err = lbm_store_exec_bound(store, LBM_SQL_REPLICA_DROP, position, 2, diag);
    for (size_t i = 0; err == LBM_OK && i < op->as.replica.n_gone; i++) {
        const uint64_t key[4] = {position[0], position[1], op->job, op->as.replica.gone[i]};
        err = lbm_store_exec_bound(store, LBM_SQL_REPLICA_DELETE, key, 4, diag);
    }
    for (size_t i = 0; err == LBM_OK && i < op->as.replica.n; i++)
        err = put_row(store, op, &op->as.replica.row[i], diag);
    return err == LBM_OK ? lbm_store_exec_checked(store, LBM_SQL_REPLICA_LOG_PUT, position, 4, diag) : err;
}

enum lbm_err
lbm_store_apply_replica_drop(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const uint64_t key[3] = {op->as.drop.owner, op->as.drop.incarnation, op->job};
    if (op->job != 0)
        return lbm_store_exec_bound(store, LBM_SQL_REPLICA_DROP_JOB, key, 3, diag);
    enum lbm_err err = lbm_store_exec_bound(store, LBM_SQL_REPLICA_DROP, key, 2, diag);
    return err == LBM_OK ? lbm_store_exec_bound(store, LBM_SQL_REPLICA_LOG_DROP, key, 2, diag) : err;
}
