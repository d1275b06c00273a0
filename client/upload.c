/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/upload.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { ROWS_MAX = 8192, NEIGHBOURS_MAX = 100000, BYTES_MAX = 1 << 20 };
_Static_assert(BYTES_MAX + LBM_PAYLOAD_MAX + 10 * NEIGHBOURS_MAX + 20 * ROWS_MAX <= LBM_FRAME_BYTES_MAX,
               "rows fit a frame");

/* Rows that go in one message. */
struct piece {
    uint32_t n, degree[ROWS_MAX], payload_len[ROWS_MAX], blob[ROWS_MAX];
    int has_blobs;
    struct lbm_buf payload;
};

static int
has_room(const struct piece *piece, const struct lbm_graph *g, uint32_t from)
{
    uint32_t v = from + piece->n;
    if (v >= g->n || piece->n == ROWS_MAX)
        return 0;
    return piece->n == 0 ||
           (g->offset[v + 1] - g->offset[from] <= NEIGHBOURS_MAX && piece->payload.len <= BYTES_MAX);
}

/* A large payload goes ahead, and the row describes it. */
static enum lbm_status
put_large(struct lbm_daemon *daemon, struct piece *piece, size_t at)
{
    uint8_t words[LBM_API_BLOB_WORDS];
    const struct lbmap_payload payload = {piece->payload.at + at, piece->payload.len - at};
    enum lbm_status status = lbm_daemon_put(daemon, &payload, words);
    piece->payload.len = at;
    lbm_buf_put(&piece->payload, words, sizeof words);
    piece->has_blobs = piece->blob[piece->n] = 1;
    return status;
}

static enum lbm_status
fill(struct lbm_daemon *daemon, struct piece *piece, const struct lbm_graph *g, uint32_t from,
     const struct lbm_payloads *payloads)
{
    struct lbm_diag diag;
    piece->has_blobs = 0;
    for (piece->n = 0; has_room(piece, g, from); piece->n++) {
        uint32_t v = from + piece->n;
        size_t before = piece->payload.len;
        enum lbm_err err =
            payloads != NULL ? payloads->read(payloads->context, v, &piece->payload, &diag) : LBM_OK;
        if (err != LBM_OK)
            return lbm_cli_refuse(daemon->client, &diag);
        piece->blob[piece->n] = 0;
        if (piece->payload.len - before > LBM_PAYLOAD_MAX) {
            enum lbm_status status = put_large(daemon, piece, before);
            if (status != LBM_STATUS_DONE)
                return status;
        }
        piece->degree[piece->n] = (uint32_t)(g->offset[v + 1] - g->offset[v]);
        piece->payload_len[piece->n] = (uint32_t)(piece->payload.len - before);
    }
    return LBM_STATUS_DONE;
}

static enum lbm_status
send_piece(struct lbm_daemon *daemon, const struct lbm_graph *g, uint32_t from, struct piece *piece,
           int has_payloads)
{
    uint64_t first = g->offset[from];
    Lbm__SubmitRows rows = LBM__SUBMIT_ROWS__INIT;
    rows.n_degree = piece->n;
    rows.degree = piece->degree;
    rows.n_work = g->work != NULL ? piece->n : 0;
    rows.work = g->work != NULL ? g->work + from : NULL;
    rows.n_pin = g->pin != NULL ? piece->n : 0;
    rows.pin = g->pin != NULL ? g->pin + from : NULL;
    rows.n_neighbour = g->offset[from + piece->n] - first;
    rows.neighbour = g->target + first;
    rows.n_weight = g->weight != NULL ? rows.n_neighbour : 0;
    rows.weight = g->weight != NULL ? g->weight + first : NULL;
    rows.n_payload_len = has_payloads ? piece->n : 0;
    rows.payload_len = piece->payload_len;
    rows.n_blob = piece->has_blobs ? piece->n : 0;
    rows.blob = piece->blob;
    rows.payload = (ProtobufCBinaryData){piece->payload.len, (uint8_t *)piece->payload.at};
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_ROWS;
    request.submit_rows = &rows;
    return lbm_daemon_ask(daemon, &request, NULL, NULL);
}

static enum lbm_status
send_rows(struct lbm_daemon *daemon, const struct lbm_graph *g, const struct lbm_payloads *payloads)
{
    struct lbm_diag diag;
    enum lbm_status status = LBM_STATUS_DONE;
    struct piece *piece = lbm_alloc(1, sizeof *piece);
    if (piece == NULL) {
        lbm_diag_set(&diag, LBM_E_NOMEM, "", 0, "no memory");
        return lbm_cli_fail(daemon->client, &diag);
    }
    for (uint32_t at = 0; status == LBM_STATUS_DONE && at < g->n; at += piece->n) {
        status = fill(daemon, piece, g, at, payloads);
        if (status == LBM_STATUS_DONE)
            status = send_piece(daemon, g, at, piece, payloads != NULL);
        lbm_buf_free(&piece->payload);
    }
    free(piece);
    return status;
}

enum lbm_status
lbm_upload(struct lbm_daemon *daemon, Lbm__SubmitBegin *begin, const struct lbm_graph *g,
           const struct lbm_payloads *payloads, unsigned end_ms)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    begin->payloads = payloads != NULL;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_BEGIN;
    request.submit_begin = begin;
    enum lbm_status status = lbm_daemon_ask(daemon, &request, NULL, NULL);
    if (status == LBM_STATUS_DONE)
        status = send_rows(daemon, g, payloads);
    if (status != LBM_STATUS_DONE)
        return status;
    request = (Lbm__Request)LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_END;
    request.submit_end = &empty;
    daemon->handle.timeout_ms = end_ms;
    return lbm_daemon_ask(daemon, &request, NULL, NULL);
}

enum lbm_err
lbm_payload_file(const char *dir, uint32_t vertex, size_t most, struct lbm_buf *out, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%" PRIu32, dir, vertex);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, path, 0, "cannot be read: %s", strerror(errno));
    uint8_t *bytes = lbm_alloc(most + 1, 1);
    size_t n = bytes != NULL ? fread(bytes, 1, most + 1, file) : 0;
    int failed = ferror(file);
    fclose(file);
    if (bytes != NULL && !failed && n <= most)
        lbm_buf_put(out, bytes, n);
    free(bytes);
    if (bytes == NULL || out->failed)
        return LBM_E_NOMEM;
    if (n > most)
        return lbm_diag_set(diag, LBM_E_LIMIT, path, 0,
                            "is larger than the %zu bytes that a payload may have here", most);
    return failed ? lbm_diag_set(diag, LBM_E_IO, path, 0, "cannot be read") : LBM_OK;
}
