/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to columns and back. The layout is in docs/formats.md, section "Database". */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/check.h"
#include "store/internal.h"

enum {
    HALF_BYTES = 12, /* to, weight, host */
    CRC_BYTES = 4,
    COLUMNS_MAX = 13, /* that a checksum covers */
    ANCHORED = 1,     /* bits of the column `anchored`: it does not move in Omega, */
    HAS_BLOB = 2,     /* and its payload describes a blob */
};

static void
put_le(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t
get_le(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

uint32_t
lbm_store_crc(const uint64_t *columns, size_t n, const void *blob, size_t len)
{
    uint8_t head[8 * COLUMNS_MAX];
    LBM_ASSERT(n <= COLUMNS_MAX);
    for (size_t i = 0; i < n; i++)
        put_le(head + 8 * i, columns[i], 8);
    uint32_t crc = (uint32_t)crc32_z(0, head, 8 * n);
    return len != 0 ? (uint32_t)crc32_z(crc, blob, len) : crc;
}

struct blob {
    const void *at;
    size_t len;
};

/* Numbers, then three blobs; an empty one changes nothing. */
static uint32_t
row_crc(const uint64_t *columns, struct blob adjacency, struct blob payload, struct blob news)
{
    uint32_t crc = lbm_store_crc(columns, COLUMNS_MAX, adjacency.at, adjacency.len);
    crc = payload.len != 0 ? (uint32_t)crc32_z(crc, payload.at, payload.len) : crc;
    return news.len != 0 ? (uint32_t)crc32_z(crc, news.at, news.len) : crc;
}

static void
sql_crc(sqlite3_context *context, int n, sqlite3_value **value)
{
    uint64_t columns[COLUMNS_MAX];
    if (n < 2 || n - 2 > COLUMNS_MAX) {
        sqlite3_result_error(context, "lbm_crc takes numbers and two blobs", -1);
        return;
    }
    for (int i = 0; i < n - 2; i++)
        columns[i] = (uint64_t)sqlite3_value_int64(value[i]);
    const void *last = sqlite3_value_blob(value[n - 1]);
    size_t len = (size_t)sqlite3_value_bytes(value[n - 1]);
    uint32_t crc = lbm_store_crc(columns, (size_t)(n - 2), sqlite3_value_blob(value[n - 2]),
                                 (size_t)sqlite3_value_bytes(value[n - 2]));
    sqlite3_result_int64(context, len != 0 ? (uint32_t)crc32_z(crc, last, len) : crc);
}

int
lbm_store_add_crc(sqlite3 *db)
{
    return sqlite3_create_function(db, "lbm_crc", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_crc, NULL,
                                   NULL);
}

/* ---- position ----------------------------------------------------------------------------------- */

enum lbm_err
lbm_store_encode_position(struct lbm_buf *out, uint64_t job, uint32_t v, const double position[3],
                          struct lbm_diag *diag)
{
    uint8_t bytes[3 * 8 + CRC_BYTES];
    uint64_t bits[3];
    memcpy(bits, position, sizeof bits);
    int m = bits[2] != 0 ? 3 : 2;
    for (int i = 0; i < m; i++) {
        if (!isfinite(position[i]))
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "job %" PRIx64 " vertex %" PRIu32 " has a position that is not finite", job,
                                v);
        put_le(bytes + 8 * i, bits[i], 8);
    }
    put_le(bytes + 8 * m, lbm_store_crc((uint64_t[]){job, v}, 2, bytes, 8 * (size_t)m), CRC_BYTES);
    out->len = 0;
    lbm_buf_put(out, bytes, 8 * (size_t)m + CRC_BYTES);
    return out->failed ? lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "no memory for a row") : LBM_OK;
}

/* Returns nonzero if the blob is a position of this row. */
static int
decode_position(const uint8_t *bytes, size_t len, struct lbm_row *row)
{
    if (len != 2 * 8 + CRC_BYTES && len != 3 * 8 + CRC_BYTES)
        return 0;
    size_t m = len / 8;
    if (get_le(bytes + 8 * m, CRC_BYTES) !=
        lbm_store_crc((uint64_t[]){row->job, row->vertex}, 2, bytes, 8 * m))
        return 0;
    for (size_t i = 0; i < m; i++) {
        uint64_t bits = get_le(bytes + 8 * i, 8);
        memcpy(&row->position[i], &bits, sizeof bits);
        if (!isfinite(row->position[i]))
            return 0;
    }
    return 1;
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* The columns before crc, in the order of the schema. */
static void
row_columns(const struct lbm_row *row, uint64_t columns[COLUMNS_MAX])
{
    const uint64_t values[COLUMNS_MAX] = {row->job,
                                          row->vertex,
                                          row->epoch,
                                          row->stage,
                                          row->peer,
                                          row->peer_incarnation,
                                          row->work,
                                          row->pin,
                                          (row->anchored != 0 ? ANCHORED : 0U) |
                                              (row->is_blob ? HAS_BLOB : 0U),
                                          row->seq,
                                          row->source,
                                          row->source_incarnation,
                                          (uint64_t)(row->fin != 0)};
    memcpy(columns, values, sizeof values);
}

static enum lbm_err
encode_halves(struct lbm_buf *out, const struct lbm_half *half, uint32_t n)
{
    size_t len = (size_t)n * HALF_BYTES;
    if (lbm_reserve(&out->at, &out->capacity, len, 1) != LBM_OK)
        return LBM_E_NOMEM;
    uint8_t *at = (uint8_t *)out->at;
    for (uint32_t i = 0; i < n; i++, at += HALF_BYTES) {
        put_le(at, half[i].to, 4);
        put_le(at + 4, half[i].weight, 4);
        put_le(at + 8, half[i].host, 4);
    }
    out->len = len;
    return LBM_OK;
}

enum lbm_err
lbm_store_bind_row(struct lbm_store *store, enum lbm_sql id, const struct lbm_row *row, struct lbm_diag *diag)
{
    if (row->stage <= LBM_STAGE_NONE || row->stage >= LBM_STAGE_COUNT || row->epoch < 1 ||
        row->epoch > INT64_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, store->path, 0,
                            "job %" PRIx64 " vertex %" PRIu32 ": no record has epoch %" PRIu64
                            " and stage %d",
                            row->job, row->vertex, row->epoch, (int)row->stage);
    enum lbm_err err =
        lbm_store_encode_position(&store->position, row->job, row->vertex, row->position, diag);
    if (err != LBM_OK)
        return err;
    if (encode_halves(&store->adjacency, row->half, row->degree) != LBM_OK ||
        encode_halves(&store->news, row->news, row->n_news) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for a row");
    uint64_t columns[COLUMNS_MAX];
    row_columns(row, columns);
    sqlite3_stmt *put = store->statement[id];
    int result = SQLITE_OK, at = 1;
    for (int i = 0; i < COLUMNS_MAX; i++)
        result |= sqlite3_bind_int64(put, at++, (int64_t)columns[i]);
    const struct blob adjacency = {store->adjacency.at != NULL ? store->adjacency.at : "",
                                   store->adjacency.len};
    const struct blob payload = {row->payload != NULL ? (const void *)row->payload : "", row->payload_len};
    const struct blob news = {store->news.at != NULL ? store->news.at : "", store->news.len};
    result |= sqlite3_bind_int64(put, at++, row_crc(columns, adjacency, payload, news));
    result |= sqlite3_bind_blob(put, at++, store->position.at, (int)store->position.len, SQLITE_STATIC);
    result |= sqlite3_bind_blob(put, at++, adjacency.at, (int)adjacency.len, SQLITE_STATIC);
    result |= sqlite3_bind_blob(put, at++, payload.at, (int)payload.len, SQLITE_STATIC);
    result |= sqlite3_bind_blob(put, at++, news.at, (int)news.len, SQLITE_STATIC);
    return result == SQLITE_OK ? LBM_OK : lbm_store_error(store->db, store->path, diag, "binding a row");
}

static struct lbm_half *
decode_halves(const uint8_t *bytes, uint32_t degree)
{
    struct lbm_half *half = lbm_alloc(degree, sizeof *half);
    for (uint32_t i = 0; half != NULL && i < degree; i++, bytes += HALF_BYTES)
        half[i] = (struct lbm_half){.to = (uint32_t)get_le(bytes, 4),
                                    .weight = (uint32_t)get_le(bytes + 4, 4),
                                    .host = (uint32_t)get_le(bytes + 8, 4)};
    return half;
}

static struct blob
column_blob(sqlite3_stmt *statement, int column)
{
    const void *at = sqlite3_column_blob(statement, column);
    return (struct blob){at, (size_t)sqlite3_column_bytes(statement, column)};
}

enum lbm_err
lbm_store_read_row(const struct lbm_store *store, sqlite3_stmt *statement, struct lbm_row *row,
                   struct lbm_diag *diag)
{
    uint64_t columns[COLUMNS_MAX], again[COLUMNS_MAX];
    for (int i = 0; i < COLUMNS_MAX; i++)
        columns[i] = (uint64_t)sqlite3_column_int64(statement, i);
    struct lbm_row read = {.job = columns[0],
                           .vertex = (uint32_t)columns[1],
                           .epoch = columns[2],
                           .stage = (enum lbm_stage)columns[3],
                           .peer = (uint32_t)columns[4],
                           .peer_incarnation = columns[5],
                           .work = (uint32_t)columns[6],
                           .pin = (uint32_t)columns[7],
                           .anchored = (columns[8] & ANCHORED) != 0,
                           .is_blob = (columns[8] & HAS_BLOB) != 0,
                           .seq = columns[9],
                           .source = (uint32_t)columns[10],
                           .source_incarnation = columns[11],
                           .fin = columns[12] != 0};
    const uint8_t *position = sqlite3_column_blob(statement, COLUMNS_MAX + 1);
    size_t position_len = (size_t)sqlite3_column_bytes(statement, COLUMNS_MAX + 1);
    const struct blob adjacency = column_blob(statement, COLUMNS_MAX + 2);
    const struct blob payload = column_blob(statement, COLUMNS_MAX + 3);
    const struct blob news = column_blob(statement, COLUMNS_MAX + 4);
    row_columns(&read, again); /* a value wider than its field would come back changed */
    uint64_t crc = (uint64_t)sqlite3_column_int64(statement, COLUMNS_MAX);
    int sound = memcmp(columns, again, sizeof columns) == 0 && read.stage > LBM_STAGE_NONE &&
                read.stage < LBM_STAGE_COUNT && adjacency.len % HALF_BYTES == 0 &&
                news.len % HALF_BYTES == 0 && crc == row_crc(columns, adjacency, payload, news) &&
                decode_position(position, position_len, &read);
    if (!sound)
        return lbm_store_damaged(store->path, diag, "damaged: record of job %" PRIx64 " vertex %" PRIu64,
                                 columns[0], columns[1]);
    read.degree = (uint32_t)(adjacency.len / HALF_BYTES);
    read.n_news = (uint32_t)(news.len / HALF_BYTES);
    read.payload_len = (uint32_t)payload.len;
    if ((read.degree != 0 && (read.half = decode_halves(adjacency.at, read.degree)) == NULL) ||
        (read.n_news != 0 && (read.news = decode_halves(news.at, read.n_news)) == NULL) ||
        (payload.len != 0 && (read.payload = lbm_copy(payload.at, payload.len, 1)) == NULL)) {
        lbm_row_free(&read);
        return lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for its rows");
    }
    *row = read;
    return LBM_OK;
}
