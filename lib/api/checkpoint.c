/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include "api/checkpoint.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/mutants.h"
#include "api/payloads.h"
#include "api/returns.h"
#include "api/send.h"
#include "api/serve.h"
#include "api/service.h"

enum {
    WORK_MS = 4,               /* of a turn */
    LOOK_MS = 100,             /* between looks at the clock while waiting */
    AWAY_MS = 1000,            /* without a turn: nobody looked for answers */
    HASH_BYTES = 1 << 20,      /* hashed between looks at the clock */
    PIECES_MAX = 8,            /* that the daemon has not stored: it has them in memory */
    REQUESTS_MAX = 4,          /* that are not kept */
    AHEAD_MAX = 4,             /* large payloads that are hashed while one is brought */
    BACKUP_BYTES_PER_MS = 500, /* large payloads travel to a backup at least so fast */
};

/* Of an awaited request. */
enum kind {
    KIND_ASK,    /* does the daemon have the payload of `which`, of large? */
    KIND_PIECE,  /* a piece of it, */
    KIND_LAST,   /* or the last one */
    KIND_REQUEST /* request `which` */
};

enum stage { STAGE_NEW, STAGE_HASHED, STAGE_ASKED, STAGE_WANTED, STAGE_BROUGHT };

struct row {
    uint32_t vertex;
    uint64_t token, since;
    const void *body; /* the program's bytes, or NULL: they are in copies behind the head */
    size_t at;        /* in copies: of a large one the words that stand for it; the head */
    size_t head, len; /* bytes before the program's; all of them */
    enum stage stage; /* of a large one */
    int is_large;
};

/* Rows [from, end) in one request. */
struct sent {
    size_t from, end, blob_bytes;
};

struct lbm_checkpoint {
    LBM_VEC(struct row) rows;
    LBM_VEC(uint32_t) large; /* rows that are */
    struct lbm_buf copies;
    size_t hashing, asking, bringing; /* indices of large: what is next */
    size_t hashed;                    /* bytes of `hashing` */
    uint32_t piece;                   /* next one of `bringing` */
    struct sha256_ctx sha;
    struct lbm_buf first; /* a piece with a head and the program's bytes */
    size_t next;          /* rows before it are in a request */
    struct lbm_returns returns;
    LBM_VEC(struct sent) requests;
    size_t n_pieces, n_requests; /* that are not answered */
    size_t blob_bytes;           /* large payloads in the latter */
    uint64_t connection;
    int64_t turn_ms, deadline_ms;
    int has_work, is_over, was_told;
    enum lbm_err err;
    char message[LBM_DIAG_TEXT_MAX];
};

/* ---- the end ------------------------------------------------------------------------------------------- */

static void
end(struct lbmap *map, struct lbm_checkpoint *c, enum lbm_err err, const char *why)
{
    c->is_over = 1;
    c->has_work = 0;
    c->err = err;
    snprintf(c->message, sizeof c->message, "%s", why);
    lbm_api_abandon(map);
}

void
lbm_checkpoint_free(struct lbmap *map, struct lbm_checkpoint *c)
{
    if (c == NULL)
        return;
    if (!c->is_over && map->connections == c->connection)
        lbm_api_abandon(map);
    lbm_vec_free(&c->rows);
    lbm_vec_free(&c->large);
    lbm_vec_free(&c->requests);
    lbm_buf_free(&c->copies);
    lbm_buf_free(&c->first);
    lbm_returns_free(&c->returns);
    free(c);
}

/* It is over. Returns how it ended. */
static enum lbm_err
take_end(struct lbmap *map)
{
    struct lbm_checkpoint *c = map->service->checkpoint;
    enum lbm_err err = c->err != LBM_OK ? lbm_api_fail(map, c->err, "%s", c->message) : LBM_OK;
    map->service->checkpoint = NULL;
    lbm_checkpoint_free(map, c);
    return err;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static int
is_held(const struct lbmap *map, const struct row *row)
{
    return lbm_api_serve_since(map, row->vertex, row->token) == row->since;
}

static uint8_t *
words_of(const struct lbm_checkpoint *c, const struct row *row)
{
    return (uint8_t *)c->copies.at + row->at;
}

static const uint8_t *
head_of(const struct lbm_checkpoint *c, const struct row *row)
{
    if (c->copies.at == NULL) /* nothing is copied */
        return NULL;
    return (const uint8_t *)c->copies.at + row->at + (row->is_large ? LBM_API_BLOB_WORDS : 0);
}

static const uint8_t *
body_of(const struct lbm_checkpoint *c, const struct row *row)
{
    const uint8_t *head = row->body != NULL ? row->body : head_of(c, row);
    return row->body != NULL || head == NULL ? head : head + row->head;
}

/* How many of the next `most` bytes from `at` on lie together. Out: *bytes, where. */
static size_t
part_of(const struct lbm_checkpoint *c, const struct row *row, size_t at, size_t most, const uint8_t **bytes)
{
    size_t left = at < row->head ? row->head - at : row->len - at;
    *bytes = at < row->head ? head_of(c, row) + at : body_of(c, row) + (at - row->head);
    return left < most ? left : most;
}

/* Errors: LBM_E_RANGE, LBM_E_STATE, LBM_E_NOMEM; noted. */
static enum lbm_err
add_row(struct lbmap *map, struct lbm_checkpoint *c, const struct lbmap_state *state, int borrows)
{
    static const uint8_t room[LBM_API_BLOB_WORDS];
    const struct lbmap_payload *payload = &state->payload;
    struct row row = {.vertex = state->vertex, .token = state->token, .at = c->copies.len};
    row.since = lbm_api_serve_since(map, state->vertex, state->token);
    if (payload->len > LBM_BLOB_BYTES_MAX)
        return lbm_api_fail(map, LBM_E_RANGE, "vertex %u: a payload has up to %d bytes", state->vertex,
                            LBMAP_PAYLOAD_MAX);
    if (row.since == 0)
        return lbm_api_fail(map, LBM_E_STATE, "vertex %u is not held", state->vertex);
    enum lbm_err err = lbm_send_pack(map, state->vertex, payload->len, &c->copies);
    if (err != LBM_OK)
        return err;
    row.head = c->copies.len - row.at;
    row.len = row.head + payload->len;
    row.is_large = row.len > LBM_PAYLOAD_MAX;
    if (row.is_large) { /* its words go before the head */
        lbm_buf_put(&c->copies, room, sizeof room);
        if (!c->copies.failed && row.head != 0)
            memmove(c->copies.at + row.at + sizeof room, c->copies.at + row.at, row.head);
    }
    int copied = payload->len <= LBM_PAYLOAD_MAX && (!borrows || (row.head != 0 && !row.is_large));
    if (copied)
        lbm_buf_put(&c->copies, payload->bytes, payload->len);
    row.body = copied ? NULL : payload->bytes;
    if (c->copies.failed || lbm_vec_push(&c->rows, row) != LBM_OK ||
        (row.is_large && lbm_vec_push(&c->large, (uint32_t)(c->rows.n - 1)) != LBM_OK))
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for a checkpoint");
    return LBM_OK;
}

/* ---- large payloads ------------------------------------------------------------------------------------ */

static struct row *
large_row(const struct lbm_checkpoint *c, size_t at)
{
    return at < c->large.n ? &c->rows.at[c->large.at[at]] : NULL;
}

/* Hash some more. Returns 0 if there is nothing to hash now. */
static int
hash_some(const struct lbmap *map, struct lbm_checkpoint *c)
{
    struct row *row = large_row(c, c->hashing);
    const uint8_t *bytes;
    if (row == NULL || c->hashing > c->bringing + AHEAD_MAX)
        return 0;
    if (!is_held(map, row)) {
        row->stage = STAGE_BROUGHT;
        c->hashed = 0;
        c->hashing++;
        return 1;
    }
    if (c->hashed == 0)
        sha256_init(&c->sha);
    size_t n = part_of(c, row, c->hashed, HASH_BYTES, &bytes);
    sha256_update(&c->sha, n, bytes);
    c->hashed += n;
    if (c->hashed < row->len)
        return 1;
    uint8_t *words = words_of(c, row);
    for (size_t i = 0; i < 8; i++)
        words[i] = (uint8_t)((uint64_t)row->len >> (8 * i));
    sha256_digest(&c->sha, LBM_SHA256_BYTES, words + 8);
    row->stage = STAGE_HASHED;
    c->hashed = 0;
    c->hashing++;
    return 1;
}

static enum lbm_err
start_put(struct lbmap *map, const struct lbm_checkpoint *c, const struct row *row, uint32_t piece,
          ProtobufCBinaryData data, struct lbm_api_awaited as)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__BlobPut put;
    lbm__blob_put__init(&put);
    put.digest = (ProtobufCBinaryData){LBM_SHA256_BYTES, words_of(c, row) + 8};
    put.length = row->len;
    put.piece = piece;
    put.data = data;
    request.what_case = LBM__REQUEST__WHAT_BLOB_PUT;
    request.blob_put = &put;
    return lbm_api_start(map, &request, as);
}

/* Ask whether the daemon has the next one. Returns 0 if there is none to ask for. */
static int
ask(struct lbmap *map, struct lbm_checkpoint *c, enum lbm_err *err)
{
    struct row *row = large_row(c, c->asking);
    if (row == NULL || (row->stage != STAGE_HASHED && row->stage != STAGE_BROUGHT))
        return 0;
    if (row->stage == STAGE_HASHED) {
        const struct lbm_api_awaited as = {0, KIND_ASK, (uint32_t)c->asking};
        row->stage = STAGE_ASKED;
        *err = start_put(map, c, row, 0, (ProtobufCBinaryData){0, NULL}, as);
    }
    c->asking++;
    return 1;
}

/* Bytes [at, at + len) of a large payload, in one place. data NULL: no memory. */
static ProtobufCBinaryData
piece_of(struct lbm_checkpoint *c, const struct row *row, size_t at, size_t len)
{
    const uint8_t *bytes;
    size_t n = part_of(c, row, at, len, &bytes);
    if (n == len)
        return (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)bytes};
    c->first.len = 0;
    lbm_buf_put(&c->first, bytes, n);
    (void)part_of(c, row, at + n, len - n, &bytes);
    lbm_buf_put(&c->first, bytes, len - n);
    return (ProtobufCBinaryData){len, c->first.failed ? NULL : (uint8_t *)c->first.at};
}

/* Send the next piece. Returns 0 if there is none to send now. */
static int
bring(struct lbmap *map, struct lbm_checkpoint *c, enum lbm_err *err)
{
    struct row *row = large_row(c, c->bringing);
    if (row == NULL || (row->stage != STAGE_WANTED && row->stage != STAGE_BROUGHT))
        return 0;
    if (row->stage == STAGE_WANTED && !is_held(map, row))
        row->stage = STAGE_BROUGHT;
    if (row->stage == STAGE_BROUGHT) {
        c->bringing++;
        c->piece = 0;
        return 1;
    }
    if (c->n_pieces >= PIECES_MAX)
        return 0;
    size_t at = (size_t)c->piece * LBM_BLOB_PIECE_MAX, left = row->len - at;
    int is_last = left <= LBM_BLOB_PIECE_MAX;
    const ProtobufCBinaryData data = piece_of(c, row, at, is_last ? left : LBM_BLOB_PIECE_MAX);
    const struct lbm_api_awaited as = {0, is_last ? KIND_LAST : KIND_PIECE, (uint32_t)c->bringing};
    *err = data.data != NULL ? start_put(map, c, row, c->piece++, data, as)
                             : lbm_api_fail(map, LBM_E_NOMEM, "no memory for a piece of a payload");
    c->n_pieces++;
    if (is_last)
        row->stage = STAGE_BROUGHT; /* requests take effect in order: it may be named from here on */
    return 1;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* Rows from c->next on that can go now. Out: *end, behind the last one. Errors: LBM_E_NOMEM. */
static enum lbm_err
collect(struct lbmap *map, struct lbm_checkpoint *c, size_t *end_of)
{
    enum lbm_err err = LBM_OK;
    size_t i = c->next;
    lbm_returns_clear(&c->returns);
    for (; i < c->rows.n && err == LBM_OK && !lbm_returns_are_many(&c->returns); i++) {
        const struct row *row = &c->rows.at[i];
        const struct lbmap_payload payload = {row->is_large    ? NULL
                                              : row->head != 0 ? head_of(c, row)
                                                               : body_of(c, row),
                                              row->len};
        if (row->is_large && row->stage != STAGE_BROUGHT)
            break;
        if (!is_held(map, row))
            continue;
        err = row->is_large
                  ? lbm_returns_add_blob(&c->returns, row->vertex, row->token, words_of(c, row), row->len)
                  : lbm_returns_add(map, &c->returns, row->vertex, row->token, &payload);
    }
    *end_of = i;
    return err != LBM_OK ? lbm_api_fail(map, err, "no memory for %zu payloads", c->rows.n) : LBM_OK;
}

static enum lbm_err
start_request(struct lbmap *map, struct lbm_checkpoint *c)
{
    const struct lbm_returns *kept = &c->returns;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__CheckpointRequest checkpoint;
    lbm__checkpoint_request__init(&checkpoint);
    checkpoint.n_vertex = checkpoint.n_token = checkpoint.n_payload_len = kept->vertex.n;
    checkpoint.vertex = kept->vertex.at;
    checkpoint.token = kept->token.at;
    checkpoint.payload_len = kept->payload_len.at;
    checkpoint.n_blob = kept->blob_bytes != 0 ? kept->blob.n : 0;
    checkpoint.blob = kept->blob.at;
    checkpoint.payload = (ProtobufCBinaryData){kept->payload.len, (uint8_t *)kept->payload.at};
    checkpoint.term = map->service->term;
    request.what_case = LBM__REQUEST__WHAT_CHECKPOINT;
    request.checkpoint = &checkpoint;
    const struct lbm_api_awaited as = {0, KIND_REQUEST, (uint32_t)(c->requests.n - 1)};
    return lbm_api_start(map, &request, as);
}

static void
rows_are_kept(struct lbmap *map, const struct lbm_checkpoint *c, const struct sent *sent)
{
    for (size_t i = sent->from; i < sent->end; i++)
        if (is_held(map, &c->rows.at[i]))
            lbm_send_kept(map->service, c->rows.at[i].vertex);
}

/* Send rows that can go. Returns 0 if none can now. */
static int
send_rows(struct lbmap *map, struct lbm_checkpoint *c, enum lbm_err *err)
{
    struct sent sent = {.from = c->next};
    const struct row *row = c->next < c->rows.n ? &c->rows.at[c->next] : NULL;
    if (row == NULL || c->n_requests >= REQUESTS_MAX || (row->is_large && row->stage != STAGE_BROUGHT))
        return 0;
    *err = collect(map, c, &sent.end);
    sent.blob_bytes = c->returns.blob_bytes;
    if (*err == LBM_OK && c->returns.vertex.n != 0) {
        if (lbm_vec_push(&c->requests, sent) != LBM_OK) {
            *err = lbm_api_fail(map, LBM_E_NOMEM, "no memory for %zu payloads", c->rows.n);
            return 1;
        }
        c->n_requests++;
        c->blob_bytes += sent.blob_bytes;
        *err = start_request(map, c);
        if (LBM_API_BUG(LETTER_KEPT_UNASKED))
            rows_are_kept(map, c, &sent);
    }
    c->next = sent.end;
    return 1;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static void
extend(const struct lbmap *map, struct lbm_checkpoint *c)
{
    c->deadline_ms = lbm_api_now_ms() + map->timeout_ms + (int64_t)(c->blob_bytes / BACKUP_BYTES_PER_MS);
}

static void
on_answer(struct lbmap *map, const struct lbm_api_awaited *request, const Lbm__Response *chunk)
{
    struct lbm_checkpoint *c = map->service != NULL ? map->service->checkpoint : NULL;
    if (c == NULL || c->is_over)
        return;
    if (chunk->code != LBM_OK) {
        enum lbm_err code = (enum lbm_err)chunk->code;
        end(map, c, code, chunk->text[0] != '\0' ? chunk->text : lbm_err_text(code));
        return;
    }
    if (request->kind == KIND_REQUEST) {
        const struct sent *sent = &c->requests.at[request->which];
        rows_are_kept(map, c, sent);
        c->n_requests--;
        c->blob_bytes -= sent->blob_bytes;
    } else if (chunk->what_case != LBM__RESPONSE__WHAT_BLOB) {
        end(map, c, LBM_E_SYNTAX, "the daemon does not say whether it has a payload");
        return;
    } else if (request->kind == KIND_ASK) {
        large_row(c, request->which)->stage = chunk->blob->known != 0 ? STAGE_BROUGHT : STAGE_WANTED;
    } else {
        c->n_pieces--;
        if (request->kind == KIND_LAST && chunk->blob->known == 0) {
            end(map, c, LBM_E_IO, "the daemon has not got all of a payload");
            return;
        }
    }
    extend(map, c);
}

/* ---- turns --------------------------------------------------------------------------------------------- */

/* Do one thing that can be done without waiting. Returns 0 if there is none. */
static int
do_something(struct lbmap *map, struct lbm_checkpoint *c, enum lbm_err *err)
{
    int is_free = map->out == NULL;
    if (is_free && (send_rows(map, c, err) || ask(map, c, err) || bring(map, c, err))) {
        extend(map, c);
        return 1;
    }
    return hash_some(map, c);
}

/* What has come is taken, and one more turn of work done. */
static void
go_on(struct lbmap *map, struct lbm_checkpoint *c)
{
    int64_t end_ms = lbm_api_now_ms() + WORK_MS;
    enum lbm_err err = LBM_OK;
    for (int did = 1; did && !c->is_over && err == LBM_OK;) {
        err = lbm_api_go_on(map);
        if (err == LBM_OK)
            err = lbm_api_take(map);
        did = err == LBM_OK && !c->is_over && do_something(map, c, &err);
        c->has_work = did;
        if (lbm_api_now_ms() >= end_ms)
            break;
    }
    if (err != LBM_OK && map->connections == c->connection && map->fd >= 0 && !c->is_over)
        end(map, c, err, map->message);
}

int
lbm_checkpoint_turn(struct lbmap *map)
{
    struct lbm_checkpoint *c = map->service != NULL ? map->service->checkpoint : NULL;
    if (c == NULL || c->was_told)
        return 0;
    int64_t now_ms = lbm_api_now_ms();
    if (now_ms - c->turn_ms > AWAY_MS)
        c->deadline_ms += now_ms - c->turn_ms;
    c->turn_ms = now_ms;
    if (!c->is_over && map->fd >= 0 && map->connections == c->connection)
        go_on(map, c);
    if (!c->is_over && (map->fd < 0 || map->connections != c->connection))
        end(map, c, LBM_E_BUSY, "the daemon went away before all was kept: dispatch, and try again");
    if (!c->is_over && c->next == c->rows.n && c->n_requests == 0)
        end(map, c, LBM_OK, "");
    if (!c->is_over && lbm_api_now_ms() >= c->deadline_ms)
        end(map, c, LBM_E_TIMEOUT, "the daemon did not answer in time");
    c->was_told = c->is_over;
    return c->is_over;
}

int
lbm_checkpoint_has_work(const struct lbmap *map)
{
    const struct lbm_checkpoint *c = map->service != NULL ? map->service->checkpoint : NULL;
    return c != NULL && c->has_work;
}

/* ---- from outside -------------------------------------------------------------------------------------- */

enum lbm_err
lbm_checkpoint_begin(struct lbmap *map, const struct lbmap_state *states, size_t n, int borrows)
{
    struct lbm_service *s = map->service;
    enum lbm_err err = LBM_OK;
    if (s == NULL)
        return lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (s->checkpoint != NULL)
        return lbm_api_fail(map, LBM_E_BUSY,
                            "a checkpoint is in progress: call lbmap_checkpoint_done until it is done");
    struct lbm_checkpoint *c = lbm_alloc(1, sizeof *c);
    if (c == NULL)
        return lbm_api_fail(map, LBM_E_NOMEM, "no memory for a checkpoint");
    c->connection = map->connections;
    c->turn_ms = lbm_api_now_ms();
    for (size_t i = 0; i < n && err == LBM_OK; i++)
        err = add_row(map, c, &states[i], borrows);
    if (err == LBM_OK && n != 0 && map->fd < 0)
        err = lbm_api_fail(map, LBM_E_BUSY, "the daemon is away: dispatch, and try again");
    if (err != LBM_OK) {
        lbm_checkpoint_free(map, c);
        return err;
    }
    extend(map, c);
    c->has_work = n != 0;
    map->answered = on_answer;
    s->checkpoint = c;
    return LBM_OK;
}

enum lbmap_error
lbmap_checkpoint_start(struct lbmap *map, const struct lbmap_state *states, size_t n)
{
    return (enum lbmap_error)lbm_checkpoint_begin(map, states, n, 0);
}

enum lbmap_error
lbmap_checkpoint_done(struct lbmap *map, int *done)
{
    struct lbm_service *s = map->service;
    *done = 1;
    if (s == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    (void)lbm_checkpoint_turn(map);
    if (s->checkpoint == NULL)
        return LBMAP_OK;
    *done = s->checkpoint->is_over;
    return *done ? (enum lbmap_error)take_end(map) : LBMAP_OK;
}

enum lbmap_error
lbmap_checkpoint(struct lbmap *map, const struct lbmap_state *states, size_t n)
{
    enum lbm_err err = lbm_checkpoint_begin(map, states, n, 1);
    if (err != LBM_OK)
        return (enum lbmap_error)err;
    while (!lbm_checkpoint_turn(map))
        if (!lbm_checkpoint_has_work(map) && lbm_api_listen(map, LOOK_MS) != LBM_OK)
            continue; /* the next turn sees it */
    return (enum lbmap_error)take_end(map);
}
