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

/* n numbers whose checksum is the column behind them. */
static int
take_checked(sqlite3_stmt *s, int n, uint64_t *columns)
{
    for (int i = 0; i < n; i++)
        columns[i] = (uint64_t)sqlite3_column_int64(s, i);
    return (uint64_t)sqlite3_column_int64(s, n) == lbm_store_crc(columns, (size_t)n, NULL, 0);
}

static enum lbm_err
take_progress(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
              struct lbm_diag *diag)
{
    return take_checked(s, 1, &out->seq) ? LBM_OK
                                         : lbm_store_damaged(store->path, diag, "damaged: its progress");
}

static enum lbm_err
take_term(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    uint64_t columns[2];
    if (!take_checked(s, 2, columns))
        return lbm_store_damaged(store->path, diag, "damaged: the control log's term");
    out->term = columns[0];
    out->leader = (uint32_t)columns[1];
    out->forced = columns[1] >> 32 != 0 ? columns[0] + 1 - (columns[1] >> 32) : 0;
    return LBM_OK;
}

static enum lbm_err
take_snapshot(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
              struct lbm_diag *diag)
{
    uint64_t index = (uint64_t)sqlite3_column_int64(s, 0);
    enum lbm_err err = copy_blob(store, s, 1, &out->snapshot, &out->snapshot_len, diag);
    if (err != LBM_OK)
        return err;
    out->snapshot_index = index;
    if ((uint64_t)sqlite3_column_int64(s, 2) != lbm_store_crc(&index, 1, out->snapshot, out->snapshot_len))
        return lbm_store_damaged(store->path, diag, "damaged: the control log's snapshot");
    return LBM_OK;
}

static enum lbm_err
take_takeover(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
              struct lbm_diag *diag)
{
    uint64_t columns[2];
    if (!take_checked(s, 2, columns))
        return lbm_store_damaged(store->path, diag, "damaged: a takeover");
    struct lbm_recovered_takeover takeover = {(uint32_t)columns[0], columns[1]};
    return lbm_vec_push(&out->takeovers, takeover) == LBM_OK
               ? LBM_OK
               : lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the takeovers");
}

static enum lbm_err
take_replica_log(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
                 struct lbm_diag *diag)
{
    uint64_t columns[4];
    if (!take_checked(s, 4, columns))
        return lbm_store_damaged(store->path, diag, "damaged: the position of a replica");
    struct lbm_recovered_replica replica = {.owner = (uint32_t)columns[0],
                                            .incarnation = columns[1],
                                            .repl_epoch = columns[2],
                                            .seq = columns[3]};
    return lbm_vec_push(&out->replicas, replica) == LBM_OK
               ? LBM_OK
               : lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the replicas");
}

static enum lbm_err
take_entry(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    struct lbm_recovered_entry entry = {.index = (uint64_t)sqlite3_column_int64(s, 0)};
    uint64_t next = out->snapshot_index + out->log.n + 1;
    if (entry.index != next)
        return lbm_store_damaged(store->path, diag,
                                 "damaged: entry %" PRIu64 " of the control log is missing", next);
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
    lbm_row_free(&row);
    return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for its rows");
}

static enum lbm_err
verify_row(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out, struct lbm_diag *diag)
{
    (void)out;
    struct lbm_row row;
    enum lbm_err err = lbm_store_read_row(store, s, &row, diag);
    if (err == LBM_OK)
        lbm_row_free(&row);
    return err;
}

/* Whose the record is, which is behind its columns. */
static enum lbm_err
find_replica(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
             struct lbm_recovered_replica **replica, struct lbm_diag *diag)
{
    uint32_t owner = (uint32_t)sqlite3_column_int64(s, 18);
    uint64_t incarnation = (uint64_t)sqlite3_column_int64(s, 19);
    for (size_t i = 0; i < out->replicas.n; i++)
        if (out->replicas.at[i].owner == owner && out->replicas.at[i].incarnation == incarnation) {
            *replica = &out->replicas.at[i];
            return LBM_OK;
        }
    return lbm_store_damaged(store->path, diag, "damaged: records of host %" PRIu32 " without a position",
                             owner);
}

static enum lbm_err
verify_replica_row(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
                   struct lbm_diag *diag)
{
    struct lbm_recovered_replica *replica;
    enum lbm_err err = find_replica(store, s, out, &replica, diag);
    return err == LBM_OK ? verify_row(store, s, out, diag) : err;
}

static enum lbm_err
take_replica_row(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
                 struct lbm_diag *diag)
{
    struct lbm_recovered_replica *replica;
    struct lbm_row row;
    enum lbm_err err = find_replica(store, s, out, &replica, diag);
    if (err == LBM_OK)
        err = lbm_store_read_row(store, s, &row, diag);
    if (err != LBM_OK || lbm_vec_push(&replica->rows, row) == LBM_OK)
        return err;
    lbm_row_free(&row);
    return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for its rows");
}

static enum lbm_err
read_all(struct lbm_store *store, int keep_rows, struct lbm_recovered *out, struct lbm_diag *diag)
{
    static const struct {
        enum lbm_sql id;
        take_fn *take;
    } whole[] = {
        {LBM_SQL_SELF_GET, take_self},           {LBM_SQL_PROGRESS_GET, take_progress},
        {LBM_SQL_TERM_GET, take_term},           {LBM_SQL_SNAPSHOT_GET, take_snapshot},
        {LBM_SQL_LOG_GET, take_entry},           {LBM_SQL_REPLICA_LOG_GET, take_replica_log},
        {LBM_SQL_TAKEN_OVER_GET, take_takeover}, {LBM_SQL_BLOB_LIST, lbm_store_take_blob},
    };
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < sizeof whole / sizeof *whole; i++)
        err = each(store, whole[i].id, whole[i].take, out, diag);
    if (err == LBM_OK && !keep_rows) /* each is looked at when it is read; here all at once */
        err = each(store, LBM_SQL_BLOB_ALL, lbm_store_verify_piece, out, diag);
    store->seq = out->seq;
    for (int i = 0; err == LBM_OK && i < 2; i++) {
        bind_half(store, LBM_SQL_JOB_GET, i);
        err = each(store, LBM_SQL_JOB_GET, take_job, out, diag);
    }
    for (int i = 0; err == LBM_OK && i < 2; i++) {
        bind_half(store, LBM_SQL_ROW_ALL, i);
        err = each(store, LBM_SQL_ROW_ALL, keep_rows ? take_row : verify_row, out, diag);
    }
    for (int i = 0; err == LBM_OK && i < 2; i++) {
        bind_half(store, LBM_SQL_REPLICA_ALL, i);
        err = each(store, LBM_SQL_REPLICA_ALL, keep_rows ? take_replica_row : verify_replica_row, out, diag);
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
