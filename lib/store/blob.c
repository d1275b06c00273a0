/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large payloads in pieces, a row each with a checksum of its own. */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "store/internal.h"

/* Numbers of a piece, which its checksum covers with its bytes. */
static void
piece_columns(const struct lbm_blob_name *name, uint32_t piece, uint64_t columns[3])
{
    columns[0] = name->job;
    columns[1] = name->len;
    columns[2] = piece;
}

enum lbm_err
lbm_store_apply_blob_piece(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    sqlite3_stmt *put = store->statement[LBM_SQL_BLOB_PUT];
    const struct lbm_blob_name *name = &op->as.blob.name;
    uint64_t columns[4];
    piece_columns(name, op->as.blob.piece, columns);
    columns[3] = lbm_store_crc(columns, 3, op->as.blob.bytes, op->as.blob.len);
    enum lbm_err err = lbm_store_bind(store, LBM_SQL_BLOB_PUT, columns, 4, diag);
    if (err != LBM_OK)
        return err;
    int result = sqlite3_bind_blob(put, 5, name->digest, sizeof name->digest, SQLITE_STATIC);
    result |= sqlite3_bind_blob(put, 6, op->as.blob.bytes, (int)op->as.blob.len, SQLITE_STATIC);
    if (result != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "binding a piece of a payload");
    return lbm_store_run(store, LBM_SQL_BLOB_PUT, diag);
}

enum lbm_err
lbm_store_apply_blob_delete(struct lbm_store *store, const struct lbm_persist_op *op, struct lbm_diag *diag)
{
    const struct lbm_blob_name *name = &op->as.blob.name;
    const uint64_t columns[2] = {name->job, name->len};
    enum lbm_err err = lbm_store_bind(store, LBM_SQL_BLOB_DELETE, columns, 2, diag);
    if (err == LBM_OK && sqlite3_bind_blob(store->statement[LBM_SQL_BLOB_DELETE], 3, name->digest,
                                           sizeof name->digest, SQLITE_STATIC) != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "binding a digest");
    return err == LBM_OK ? lbm_store_run(store, LBM_SQL_BLOB_DELETE, diag) : err;
}

/* The piece that a statement stands at. */
static enum lbm_err
copy_piece(const struct lbm_store *store, sqlite3_stmt *get, const uint64_t columns[3], uint8_t **bytes,
           size_t *len, struct lbm_diag *diag)
{
    const void *stored = sqlite3_column_blob(get, 1);
    size_t n = (size_t)sqlite3_column_bytes(get, 1);
    if ((uint64_t)sqlite3_column_int64(get, 0) != lbm_store_crc(columns, 3, stored, n))
        return lbm_store_damaged(store->path, diag, "damaged: piece %" PRIu64 " of a payload of job %" PRIx64,
                                 columns[2], columns[0]);
    *bytes = lbm_copy(stored, n, 1);
    *len = n;
    return *bytes != NULL ? LBM_OK : lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for a piece");
}

enum lbm_err
lbm_store_read_blob(struct lbm_store *store, const struct lbm_blob_name *name, uint32_t piece,
                    uint8_t **bytes, size_t *len, struct lbm_diag *diag)
{
    sqlite3_stmt *get = store->statement[LBM_SQL_BLOB_GET];
    uint64_t columns[3];
    piece_columns(name, piece, columns);
    enum lbm_err err = lbm_store_bind(store, LBM_SQL_BLOB_GET, columns, 3, diag);
    if (err == LBM_OK &&
        sqlite3_bind_blob(get, 4, name->digest, sizeof name->digest, SQLITE_STATIC) != SQLITE_OK)
        return lbm_store_error(store->db, store->path, diag, "binding a digest");
    if (err != LBM_OK)
        return err;
    int result = sqlite3_step(get);
    if (result == SQLITE_ROW)
        err = copy_piece(store, get, columns, bytes, len, diag);
    else if (result == SQLITE_DONE)
        err = lbm_diag_set(diag, LBM_E_NOTFOUND, store->path, 0, "there is no such piece of a payload");
    else
        err = lbm_store_error(store->db, store->path, diag, "reading a piece of a payload");
    sqlite3_reset(get);
    return err;
}

enum lbm_err
lbm_store_take_blob(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
                    struct lbm_diag *diag)
{
    struct lbm_recovered_blob blob = {
        .name = {.job = (uint64_t)sqlite3_column_int64(s, 0), .len = (uint64_t)sqlite3_column_int64(s, 1)},
        .pieces = (uint32_t)sqlite3_column_int64(s, 3)};
    const void *digest = sqlite3_column_blob(s, 2);
    if (digest == NULL || sqlite3_column_bytes(s, 2) != sizeof blob.name.digest || blob.name.len == 0 ||
        blob.name.len > LBM_BLOB_BYTES_MAX || sqlite3_column_int64(s, 4) + 1 != sqlite3_column_int64(s, 3))
        return lbm_store_damaged(store->path, diag, "damaged: a payload of job %" PRIx64, blob.name.job);
    memcpy(blob.name.digest, digest, sizeof blob.name.digest);
    return lbm_vec_push(&out->blobs, blob) == LBM_OK
               ? LBM_OK
               : lbm_diag_set(diag, LBM_E_NOMEM, store->path, 0, "no memory for the payloads");
}

enum lbm_err
lbm_store_verify_piece(const struct lbm_store *store, sqlite3_stmt *s, struct lbm_recovered *out,
                       struct lbm_diag *diag)
{
    uint64_t columns[3];
    (void)out;
    for (int i = 0; i < 3; i++)
        columns[i] = (uint64_t)sqlite3_column_int64(s, i);
    if ((uint64_t)sqlite3_column_int64(s, 3) ==
        lbm_store_crc(columns, 3, sqlite3_column_blob(s, 5), (size_t)sqlite3_column_bytes(s, 5)))
        return LBM_OK;
    return lbm_store_damaged(store->path, diag, "damaged: piece %" PRIu64 " of a payload of job %" PRIx64,
                             columns[2], columns[0]);
}
