/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Payloads of simulated applications: each is the number of its writing, so that an old one is known by it.
 * Some vertices have large ones, in runs that ask for that. */
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/hash.h"
#include "sim/model/internal.h"

enum { SMALL_BYTES = 16, LARGE_ONE_IN = 6 };
_Static_assert(LARGE_BYTES <= BLOB_PIECE * DISK_PIECES_MAX, "a disk holds its pieces");

static size_t
payload_write(uint32_t vertex, uint64_t number, size_t len, uint8_t out[LARGE_BYTES])
{
    for (size_t i = 0; i < len; i++) {
        uint64_t word = i < 8 ? number : hash_number(vertex + i / 8, number);
        out[i] = (uint8_t)(word >> (8 * (i % 8)));
    }
    return len;
}

uint64_t
payload_read(uint32_t vertex, const uint8_t *bytes, size_t len)
{
    uint8_t expected[LARGE_BYTES];
    uint64_t number = 0;
    if (len == 0)
        return 0;
    if (len != SMALL_BYTES && len != LARGE_BYTES)
        return UINT64_MAX;
    for (size_t i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    payload_write(vertex, number, len, expected);
    return memcmp(expected, bytes, len) == 0 ? number : UINT64_MAX;
}

/* One piece after the other, as the library does. */
static void
put(struct cluster *c, uint32_t application, const struct lbm_blob_name *name, const uint8_t *bytes)
{
    for (uint32_t at = 0; at < name->len; at += BLOB_PIECE) {
        Lbm__BlobPut body = LBM__BLOB_PUT__INIT;
        body.digest = (ProtobufCBinaryData){sizeof name->digest, (uint8_t *)name->digest};
        body.length = name->len;
        body.piece = at / BLOB_PIECE;
        size_t left = (size_t)name->len - at;
        body.data = (ProtobufCBinaryData){left < BLOB_PIECE ? left : BLOB_PIECE, (uint8_t *)bytes + at};
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_BLOB_PUT;
        request.blob_put = &body;
        application_asks(c, application, &request);
    }
}

void
parcel_add(struct cluster *c, uint32_t application, struct parcel *parcel, uint32_t vertex, uint64_t number)
{
    uint8_t bytes[LARGE_BYTES], words[LBM_BLOB_WORDS];
    int is_large = c->options.large && number != 0 && vertex % LARGE_ONE_IN == 0;
    size_t len = number == 0 ? 0 : payload_write(vertex, number, is_large ? LARGE_BYTES : SMALL_BYTES, bytes);
    if (is_large) {
        struct sha256_ctx sha;
        struct lbm_blob_name name = {.len = len};
        sha256_init(&sha);
        sha256_update(&sha, len, bytes);
        sha256_digest(&sha, LBM_SHA256_BYTES, name.digest);
        put(c, application, &name, bytes);
        lbm_blob_write_name(&name, words);
        len = sizeof words;
    }
    LBM_ASSERT(lbm_vec_push(&parcel->len, (uint32_t)len) == LBM_OK);
    LBM_ASSERT(lbm_vec_push(&parcel->blob, is_large != 0) == LBM_OK);
    lbm_buf_put(&parcel->payload, is_large ? words : bytes, len);
}

void
parcel_free(struct parcel *parcel)
{
    lbm_vec_free(&parcel->len);
    lbm_vec_free(&parcel->blob);
    lbm_buf_free(&parcel->payload);
}

void
payload_judge(struct cluster *c, uint32_t application, const struct held *held)
{
    const struct application *a = &c->applications.at[application];
    const struct truth *truth = &check_guest(&c->check, a->job)->vertex[held->vertex];
    if (is_working(c, a, held) && (held->payload < held->least || held->payload > truth->payload))
        check_violated(&c->check, "I4",
                       "host %" PRIu32 " gives vertex %" PRIu32 " with payload %" PRId64
                       ", kept was %" PRIu64,
                       a->host, held->vertex, (int64_t)held->payload, held->least);
    trace(c, a->host,
          "application %" PRIu32 " gets vertex %" PRIu32 " of %04x, token %" PRIu64 ", payload %" PRIu64,
          application, held->vertex, (unsigned)(a->job & 0xffff), held->token, held->payload);
}

static void
ask(struct cluster *c, uint32_t application, struct held *held, const struct lbm_blob_name *name)
{
    Lbm__BlobRead body = LBM__BLOB_READ__INIT;
    body.digest = (ProtobufCBinaryData){sizeof name->digest, (uint8_t *)name->digest};
    body.length = name->len;
    body.count = (uint32_t)(name->len + BLOB_PIECE - 1) / BLOB_PIECE;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_BLOB_READ;
    request.blob_read = &body;
    application_asks(c, application, &request);
    held->read = c->applications.at[application].requests;
    held->len = 0;
}

void
payload_ask(struct cluster *c, uint32_t application, struct held *held, const uint8_t *described, size_t len)
{
    struct lbm_blob_name name;
    if (!lbm_blob_read_name(0, described, len, &name)) {
        check_violated(&c->check, "I4", "host %" PRIu32 " describes a payload of vertex %" PRIu32 " wrongly",
                       c->applications.at[application].host, held->vertex);
        return;
    }
    held->described = name;
    ask(c, application, held, &name);
}

int
payload_told(struct cluster *c, uint32_t application, const Lbm__Response *response)
{
    struct application *a = &c->applications.at[application];
    struct held *held = NULL;
    for (size_t k = 0; k < a->held.n && held == NULL; k++)
        held = a->held.at[k].read == response->id ? &a->held.at[k] : NULL;
    if (held == NULL || response->id == 0)
        return 0;
    if (response->code == LBM_E_BUSY) {
        ask(c, application, held, &held->described);
        return 1;
    }
    size_t len = response->what_case == LBM__RESPONSE__WHAT_BLOB ? response->blob->data.len : 0;
    if (held->len + len <= sizeof held->bytes && len != 0)
        memcpy(held->bytes + held->len, response->blob->data.data, len);
    held->len += len;
    if (!response->last)
        return 1;
    held->read = 0;
    held->payload = response->code == LBM_OK && held->len == held->described.len
                        ? payload_read(held->vertex, held->bytes, held->len)
                        : UINT64_MAX;
    /* The payloads of a job that is cancelled go before its applications have heard of that. */
    if (response->code == LBM_OK || !check_guest(&c->check, a->job)->deleted)
        payload_judge(c, application, held);
    if (held->payload == UINT64_MAX)
        application_drops(c, application, (size_t)(held - a->held.at));
    return 1;
}
