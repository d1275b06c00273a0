/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/payloads.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/system.h"

enum {
    WINDOW = 4,               /* pieces that the daemon has not stored, or we have not read */
    BUSY_MS = 50,             /* before a daemon that reads much, or gets it from elsewhere, is asked again */
    COMES_BYTES_PER_MS = 500, /* a payload comes from another host at least so fast */
};
_Static_assert((int)WINDOW <= LBM_BLOB_PIECES_ASKED_MAX, "the daemon gives as many at a time");
_Static_assert(LBM_API_BLOB_WORDS == 8 + LBM_SHA256_BYTES, "a length and a digest");

static uint32_t
pieces_of(size_t len)
{
    return (uint32_t)((len + LBM_BLOB_PIECE_MAX - 1) / LBM_BLOB_PIECE_MAX);
}

/* ---- to the daemon ------------------------------------------------------------------------------------- */

static enum lbm_err
take_known(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    if (chunk->what_case != LBM__RESPONSE__WHAT_BLOB)
        return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon does not say whether it has a payload");
    *(int *)arg = chunk->blob->known != 0;
    return LBM_OK;
}

/* Send a piece; with known: wait until it is stored. */
static enum lbm_err
put_piece(struct lbmap *map, Lbm__BlobPut *put, const struct lbmap_payload *payload, uint32_t piece,
          int *known)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    size_t at = (size_t)piece * LBM_BLOB_PIECE_MAX, left = payload->len - at;
    put->piece = piece;
    put->data.len = left < LBM_BLOB_PIECE_MAX ? left : LBM_BLOB_PIECE_MAX;
    put->data.data = (uint8_t *)payload->bytes + at;
    request.what_case = LBM__REQUEST__WHAT_BLOB_PUT;
    request.blob_put = put;
    return known != NULL ? lbm_api_call(map, &request, take_known, known) : lbm_api_tell(map, &request);
}

enum lbm_err
lbm_api_payload_put(struct lbmap *map, const struct lbmap_payload *payload, uint8_t words[LBM_API_BLOB_WORDS])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, payload->len, payload->bytes);
    for (size_t i = 0; i < 8; i++)
        words[i] = (uint8_t)((uint64_t)payload->len >> (8 * i));
    sha256_digest(&sha, LBM_SHA256_BYTES, words + 8);
    Lbm__BlobPut put;
    lbm__blob_put__init(&put);
    put.digest = (ProtobufCBinaryData){LBM_SHA256_BYTES, words + 8};
    put.length = payload->len;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_BLOB_PUT;
    request.blob_put = &put;
    int known = 0;
    enum lbm_err err = lbm_api_call(map, &request, take_known, &known); /* is it there? */
    uint32_t n = pieces_of(payload->len);
    for (uint32_t i = 0; err == LBM_OK && !known && i < n; i++)
        err = put_piece(map, &put, payload, i, i % WINDOW == WINDOW - 1 || i + 1 == n ? &known : NULL);
    if (err == LBM_OK && !known)
        err =
            lbm_api_fail(map, LBM_E_IO, "the daemon has not got all of a payload of %zu bytes", payload->len);
    return err;
}

/* ---- from the daemon ----------------------------------------------------------------------------------- */

struct reading {
    uint8_t *bytes;
    size_t len, got;
};

static enum lbm_err
take_piece(struct lbmap *map, const Lbm__Response *chunk, void *arg)
{
    struct reading *reading = arg;
    if (chunk->what_case != LBM__RESPONSE__WHAT_BLOB || chunk->blob->data.len > reading->len - reading->got ||
        (size_t)chunk->blob->piece * LBM_BLOB_PIECE_MAX != reading->got)
        return lbm_api_fail(map, LBM_E_SYNTAX,
                            "the daemon gave another piece of a payload than the next one");
    memcpy(reading->bytes + reading->got, chunk->blob->data.data, chunk->blob->data.len);
    reading->got += chunk->blob->data.len;
    return LBM_OK;
}

/* A window of pieces. A daemon that reads too much for others is asked again, within the usual time. */
static enum lbm_err
get_some(struct lbmap *map, Lbm__BlobRead *read, struct reading *reading)
{
    int64_t end_ms = lbm_api_now_ms() + map->timeout_ms + (int64_t)(reading->len / COMES_BYTES_PER_MS);
    for (;;) {
        Lbm__Request request = LBM__REQUEST__INIT;
        read->first = (uint32_t)(reading->got / LBM_BLOB_PIECE_MAX);
        read->count = WINDOW;
        request.what_case = LBM__REQUEST__WHAT_BLOB_READ;
        request.blob_read = read;
        enum lbm_err err = lbm_api_call(map, &request, take_piece, reading);
        if (err != LBM_E_BUSY || map->fd < 0 || lbm_api_now_ms() >= end_ms)
            return err;
        lbm_system_sleep(BUSY_MS);
    }
}

enum lbm_err
lbm_api_payload_get(struct lbmap *map, const char *job, uint32_t host, const uint8_t *words, size_t len,
                    struct lbmap_payload *payload)
{
    uint64_t length = 0;
    for (size_t i = 8; len == LBM_API_BLOB_WORDS && i-- > 0;)
        length = length << 8 | words[i];
    if (length == 0 || length > LBM_BLOB_BYTES_MAX)
        return lbm_api_fail(map, LBM_E_SYNTAX, "the daemon describes a payload in a way that is not known");
    struct reading reading = {lbm_alloc((size_t)length, 1), (size_t)length, 0};
    if (reading.bytes == NULL)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for a payload of %zu bytes", reading.len);
    Lbm__BlobRead read;
    lbm__blob_read__init(&read);
    read.digest = (ProtobufCBinaryData){LBM_SHA256_BYTES, (uint8_t *)words + 8};
    read.length = length;
    char name[LBM_NAME_MAX + 1] = "";
    if (job != NULL)
        snprintf(name, sizeof name, "%s", job);
    read.job = name;
    read.host = host;
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && reading.got < reading.len)
        err = get_some(map, &read, &reading);
    struct sha256_ctx sha;
    uint8_t digest[LBM_SHA256_BYTES];
    sha256_init(&sha);
    sha256_update(&sha, reading.got, reading.bytes);
    sha256_digest(&sha, LBM_SHA256_BYTES, digest);
    if (err == LBM_OK && memcmp(digest, words + 8, sizeof digest) != 0)
        err = lbm_api_fail(map, LBM_E_CORRUPT, "a payload of %zu bytes is damaged", reading.len);
    if (err != LBM_OK) {
        free(reading.bytes);
        return err;
    }
    *payload = (struct lbmap_payload){reading.bytes, reading.len};
    return LBM_OK;
}
