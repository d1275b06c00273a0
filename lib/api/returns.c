/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/returns.h"

#include <stdlib.h>

#include "api/call.h"
#include "api/payloads.h"

enum { ROW_BYTES = 16 }; /* of id, token and length in a message, at most */

/* payload NULL: none. */
static enum lbm_err
add_row(struct lbm_returns *returns, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload,
        int is_blob)
{
    size_t len = returns->payload.len;
    if (payload != NULL)
        lbm_buf_put(&returns->payload, payload->bytes, payload->len);
    if (returns->payload.failed || lbm_vec_reserve(&returns->vertex, 1) != LBM_OK ||
        lbm_vec_reserve(&returns->token, 1) != LBM_OK ||
        lbm_vec_reserve(&returns->payload_len, 1) != LBM_OK || lbm_vec_reserve(&returns->blob, 1) != LBM_OK) {
        returns->payload.len = len;
        returns->payload.failed = 0;
        return LBM_E_NOMEM;
    }
    returns->vertex.at[returns->vertex.n++] = vertex;
    returns->token.at[returns->token.n++] = token;
    if (payload != NULL) {
        returns->payload_len.at[returns->payload_len.n++] = (uint32_t)payload->len;
        returns->blob.at[returns->blob.n++] = is_blob != 0;
    }
    return LBM_OK;
}

enum lbm_err
lbm_returns_add_blob(struct lbm_returns *returns, uint32_t vertex, uint64_t token, const uint8_t *words,
                     size_t bytes)
{
    const struct lbmap_payload row = {words, LBM_API_BLOB_WORDS};
    enum lbm_err err = add_row(returns, vertex, token, &row, 1);
    if (err == LBM_OK)
        returns->blob_bytes += bytes;
    return err;
}

enum lbm_err
lbm_returns_add(struct lbmap *map, struct lbm_returns *returns, uint32_t vertex, uint64_t token,
                const struct lbmap_payload *payload)
{
    uint8_t words[LBM_API_BLOB_WORDS];
    if (payload == NULL || payload->len <= LBM_PAYLOAD_MAX)
        return add_row(returns, vertex, token, payload, 0);
    enum lbm_err err = lbm_api_payload_put(map, payload, words);
    return err == LBM_OK ? lbm_returns_add_blob(returns, vertex, token, words, payload->len) : err;
}

int
lbm_returns_are_many(const struct lbm_returns *returns)
{
    size_t bytes = ROW_BYTES * returns->vertex.n + returns->payload.len;
    return returns->vertex.n >= LBM_ROWS_MAX || bytes > LBM_BATCH_BYTES_MAX ||
           returns->blob_bytes >= LBM_BLOB_BYTES_MAX;
}

enum lbm_err
lbm_returns_send(struct lbmap *map, struct lbm_returns *returns, uint64_t term)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__ReleasedRequest released;
    lbm__released_request__init(&released);
    released.term = term;
    released.n_vertex = released.n_token = returns->vertex.n;
    released.vertex = returns->vertex.at;
    released.token = returns->token.at;
    released.n_payload_len = returns->payload_len.n;
    released.payload_len = returns->payload_len.at;
    released.n_blob = returns->blob_bytes != 0 ? returns->blob.n : 0;
    released.blob = returns->blob.at;
    released.payload = (ProtobufCBinaryData){returns->payload.len, (uint8_t *)returns->payload.at};
    request.what_case = LBM__REQUEST__WHAT_RELEASED;
    request.released = &released;
    enum lbm_err err = returns->vertex.n != 0 ? lbm_api_tell(map, &request) : LBM_OK;
    lbm_returns_clear(returns);
    return err;
}

void
lbm_returns_clear(struct lbm_returns *returns)
{
    returns->vertex.n = returns->token.n = returns->payload_len.n = returns->blob.n = 0;
    returns->payload.len = returns->blob_bytes = 0;
}

void
lbm_returns_free(struct lbm_returns *returns)
{
    lbm_vec_free(&returns->vertex);
    lbm_vec_free(&returns->token);
    lbm_vec_free(&returns->payload_len);
    lbm_vec_free(&returns->blob);
    lbm_buf_free(&returns->payload);
}
