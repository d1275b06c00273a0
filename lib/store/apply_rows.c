/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operations on vertex records. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/internal.h"

/* ---- rows --------------------------------------------------------------------------------------- */

/* Stand the statement ROW_GET on a row; *found 0: there is none. The caller resets it. */
static enum lbm_err
seek_row(struct lbm_store *store, uint64_t job, uint32_t v, int *found, struct lbm_diag *diag)
{
    const uint64_t key[2] = {job, v};
    enum lbm_err err = lbm_store_bind(store, LBM_SQL_ROW_GET, key, 2, diag);
    if (err != LBM_OK)
        return err;
    int result = sqlite3_step(store->statement[LBM_SQL_ROW_GET]);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        return lbm_store_error(store->db, store->path, diag, "reading a row");
    *found = result == SQLITE_ROW;
    return LBM_OK;
}

/* Read a row; *found 0: there is none. Out: row->half owned by the caller. */
static enum lbm_err
get_row(struct lbm_store *store, uint64_t job, uint32_t v, int *found, struct lbm_row *row,
        struct lbm_diag *diag)
{
    sqlite3_stmt *get = store->statement[LBM_SQL_ROW_GET];
    enum lbm_err err = seek_row(store, job, v, found, diag);
    if (err == LBM_OK && *found)
        err = lbm_store_read_row(store, get, row, diag);
    sqlite3_reset(get);
    return err;
}

/* The record in the way of a lower rank, for the message. */
static enum lbm_err
refuse_rank(struct lbm_store *store, const struct lbm_row *row, struct lbm_diag *diag)
{
    struct lbm_row stored;
    int found;
    enum lbm_err err = get_row(store, row->job, row->vertex, &found, &stored, diag);
    if (err != LBM_OK)
        return err;
    LBM_ASSERT(found);
    lbm_row_free(&stored);
    return lbm_diag_set(diag, LBM_E_STATE, store->path, 0,
                        "record of job %" PRIx64 " vertex %" PRIu32 " would fall from epoch %" PRIu64
                        " stage %d to epoch %" PRIu64 " stage %d; nothing was stored",
                        row->job, row->vertex, stored.epoch, (int)stored.stage, row->epoch, (int)row->stage);
}

static enum lbm_err
put_row(struct lbm_store *store, const struct lbm_row *row, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_store_bind_row(store, LBM_SQL_ROW_PUT, row, diag);
    lbm_store_saw_seq(store, row->seq);
    if (err == LBM_OK)
        err = lbm_store_run(store, LBM_SQL_ROW_PUT, diag);
    if (err != LBM_OK)
        return err;
    return sqlite3_changes(store->db) == 1 ? LBM_OK : refuse_rank(store, row, diag);
}

enum lbm_err
lbm_store_apply_row(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    LBM_ASSERT(op->as.row.job == op->job);
    return put_row(store, &op->as.row, diag);
}

enum lbm_err
lbm_store_apply_row_delete(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const uint64_t key[2] = {op->job, op->as.gone.vertex};
    lbm_store_saw_seq(store, op->as.gone.seq);
    return op->as.gone.vertex != LBM_NONE ? lbm_store_exec_bound(store, LBM_SQL_ROW_DELETE, key, 2, diag)
                                          : LBM_OK;
}

enum lbm_err
lbm_store_apply_guest(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const struct lbm_graph *g = op->as.guest.graph;
    uint64_t degree_max = 0;
    for (uint32_t v = 0; v < g->n; v++)
        degree_max =
            g->offset[v + 1] - g->offset[v] > degree_max ? g->offset[v + 1] - g->offset[v] : degree_max;
    struct lbm_half *half = lbm_alloc(degree_max, sizeof *half);
    if (half == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for a row");
    enum lbm_err err = LBM_OK;
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        struct lbm_row row = lbm_guest_row(op, v, half);
        err = put_row(store, &row, diag);
    }
    free(half);
    return err;
}

/* ---- plans and positions ------------------------------------------------------------------------- */

static uint32_t
plan_vertex(const struct lbm_persist_op *op, uint32_t i)
{
    return op->as.plan.vertex != NULL ? op->as.plan.vertex[i] : i;
}

static void
plan_position(const struct lbm_persist_op *op, uint32_t i, double position[3])
{
    unsigned m = op->as.plan.m;
    LBM_ASSERT(m == 2 || m == 3);
    position[2] = 0;
    memcpy(position, op->as.plan.position + (size_t)i * m, m * sizeof *position);
}

enum lbm_err
lbm_store_apply_plan(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < op->as.plan.n; i++) {
        struct lbm_row row;
        int found;
        uint32_t v = plan_vertex(op, i);
        err = get_row(store, op->job, v, &found, &row, diag);
        if (err == LBM_OK && !found)
            err = lbm_diag_set(diag, LBM_E_STATE, store->path, 0,
                               "a plan names vertex %" PRIu32 " of job %" PRIx64 ", which is not stored here",
                               v, op->job);
        if (err != LBM_OK)
            return err;
        plan_position(op, i, row.position);
        if (op->as.plan.anchored != NULL)
            row.anchored = op->as.plan.anchored[i];
        if (op->as.plan.host != NULL && row.stage == LBM_STAGE_OWN)
            row.peer = op->as.plan.host[i];
        err = put_row(store, &row, diag);
        lbm_row_free(&row);
    }
    return err;
}

/* Positions are soft: a row that is gone by now has no use for one. */
enum lbm_err
lbm_store_apply_positions(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    sqlite3_stmt *update = store->statement[LBM_SQL_ROW_POSITION];
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < op->as.plan.n; i++) {
        const uint64_t key[2] = {op->job, plan_vertex(op, i)};
        double position[3];
        plan_position(op, i, position);
        err = lbm_store_encode_position(&store->position, op->job, (uint32_t)key[1], position, diag);
        if (err == LBM_OK)
            err = lbm_store_bind(store, LBM_SQL_ROW_POSITION, key, 2, diag);
        if (err != LBM_OK)
            return err;
        if (sqlite3_bind_blob(update, 3, store->position.at, (int)store->position.len, SQLITE_STATIC) !=
            SQLITE_OK)
            return lbm_store_error(store->db, store->path, diag, "binding a position");
        err = lbm_store_run(store, LBM_SQL_ROW_POSITION, diag);
    }
    return err;
}
