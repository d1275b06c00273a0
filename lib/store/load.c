/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/internal.h"

/* Jobs are 64-bit ids stored as the same bits, signed: their order is the non-negative ones first. */
static const int64_t halves[2][2] = {{0, INT64_MAX}, {INT64_MIN, -1}};

/* A blob column as bytes of our own. */
static enum lbm_err
copy_blob(const struct lbm_store *store, sqlite3_stmt *statement, int column, uint8_t **out, size_t *len,
          struct lbm_diag *diag)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    size_t n = (size_t)sqlite3_column_bytes(statement, column);
    uint8_t *copy = lbm_copy(bytes, n, 1);
    if (copy == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for what is stored");
    *out = copy;
    *len = n;
    return LBM_OK;
}

static enum lbm_err
take_self(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    uint64_t columns[3];
    for (int i = 0; i < 3; i++)
        columns[i] = (uint64_t)sqlite3_column_int64(s, i);
    if ((uint64_t)sqlite3_column_int64(s, 3) != lbm_store_crc(columns, 3, NULL, 0))
        return lbm_store_damaged(store->path, diag, "damaged: the host's identity");
    out->known = 1;
    out->cluster = columns[0];
    out->host = (uint32_t)columns[1];
    out->incarnation = columns[2];
    return LBM_OK;
}

static enum lbm_err
take_entry(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    struct lbm_recovered_entry entry = {.index = (uint64_t)sqlite3_column_int64(s, 0)};
    if (entry.index != out->log.n + 1)
        return lbm_store_damaged(store->path, diag, "damaged: entry %zu of the control log is missing",
                                 out->log.n + 1);
    enum lbm_err err = copy_blob(store, s, 1, &entry.command, &entry.len, diag);
    if (err != LBM_OK)
        return err;
    if ((uint64_t)sqlite3_column_int64(s, 2) != lbm_store_crc(&entry.index, 1, entry.command, entry.len))
        err = lbm_store_damaged(store->path, diag, "damaged: entry %" PRIu64 " of the control log",
                                entry.index);
    else if (lbm_vec_push(&out->log, entry) != LBM_OK)
        err = lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the control log");
    if (err != LBM_OK)
        free(entry.command);
    return err;
}

static enum lbm_err
take_job(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    uint64_t columns[2] = {(uint64_t)sqlite3_column_int64(s, 0), (uint64_t)sqlite3_column_int64(s, 1)};
    struct lbm_recovered_job job = {.job = columns[0], .state = (enum lbm_job_state)columns[1]};
    enum lbm_err err = copy_blob(store, s, 2, &job.command, &job.len, diag);
    if (err != LBM_OK)
        return err;
    if ((uint64_t)sqlite3_column_int64(s, 3) != lbm_store_crc(columns, 2, job.command, job.len) ||
        columns[1] >= LBM_JOB_STATE_COUNT)
        err = lbm_store_damaged(store->path, diag, "damaged: job %" PRIx64, job.job);
    else if (lbm_vec_push(&out->jobs, job) != LBM_OK)
        err = lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the jobs");
    if (err != LBM_OK)
        free(job.command);
    return err;
}

typedef enum lbm_err take_fn(const struct lbm_store *store, sqlite3_stmt *statement,
                             struct lbm_recovered *out, struct lbm_diag *diag);

/* Call take on every row of a statement whose parameters are bound. */
static enum lbm_err
each(struct lbm_store *store, enum lbm_sql id, take_fn *take, struct lbm_recovered *out,
     struct lbm_diag *diag)
{
    sqlite3_stmt *statement = store->statement[id];
    enum lbm_err err = LBM_OK;
    int result;
    while (err == LBM_OK && (result = sqlite3_step(statement)) != SQLITE_DONE)
        err = result == SQLITE_ROW ? take(store, statement, out, diag)
                                   : lbm_store_error(store->db, store->path, diag, "reading");
    sqlite3_reset(statement);
    return err;
}

/* Bind one half of all job ids to ?1 and ?2. Binding numbers to parameters that exist cannot fail. */
static void
bind_half(struct lbm_store *store, enum lbm_sql id, int half)
{
    for (int i = 0; i < 2; i++) {
        int result = sqlite3_bind_int64(store->statement[id], i + 1, halves[half][i]);
        LBM_ASSERT(result == SQLITE_OK);
    }
}

static enum lbm_err
take_row(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    struct lbm_row row;
    enum lbm_err err = lbm_store_read_row(store, s, &row, diag);
    if (err != LBM_OK)
        return err;
    if (lbm_vec_push(&out->rows, row) == LBM_OK)
        return LBM_OK;
    free(row.half);
    return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for its rows");
}

static enum lbm_err
verify_row(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    (void)out;
    struct lbm_row row;
    enum lbm_err err = lbm_store_read_row(store, s, &row, diag);
    if (err == LBM_OK)
        free(row.half);
    return err;
}

static enum lbm_err
read_all(struct lbm_store *store, int keep_rows, struct lbm_recovered *out, struct lbm_diag *diag)
{
    enum lbm_err err = each(store, LBM_SQL_SELF_GET, take_self, out, diag);
    if (err == LBM_OK)
        err = each(store, LBM_SQL_LOG_GET, take_entry, out, diag);
    for (int i = 0; err == LBM_OK && i < 2; i++) {
        bind_half(store, LBM_SQL_JOB_GET, i);
        err = each(store, LBM_SQL_JOB_GET, take_job, out, diag);
    }
    for (int i = 0; err == LBM_OK && i < 2; i++) {
        bind_half(store, LBM_SQL_ROW_ALL, i);
        err = each(store, LBM_SQL_ROW_ALL, keep_rows ? take_row : verify_row, out, diag);
    }
    return err;
}

enum lbm_err
lbm_store_read(struct lbm_store *store, int keep_rows, struct lbm_recovered **out, struct lbm_diag *diag)
{
    struct lbm_recovered *recovered = lbm_alloc(1, sizeof *recovered);
    if (recovered == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for what is stored");
    /* One snapshot: a daemon may be writing while its database is verified. */
    enum lbm_err err = lbm_store_exec(store->db, "BEGIN", NULL, store->path, diag);
    if (err == LBM_OK) {
        err = read_all(store, keep_rows, recovered, diag);
        enum lbm_err ended =
            lbm_store_exec(store->db, "COMMIT", NULL, store->path, err == LBM_OK ? diag : NULL);
        err = err != LBM_OK ? err : ended;
    }
    if (err != LBM_OK) {
        lbm_recovered_free(recovered);
        return err;
    }
    *out = recovered;
    return LBM_OK;
}

enum lbm_err
lbm_store_load(struct lbm_store *store, struct lbm_recovered **out, struct lbm_diag *diag)
{
    return lbm_store_read(store, 1, out, diag);
}
