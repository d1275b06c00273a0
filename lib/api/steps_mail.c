/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Messages between programs of lbmap_steps: rows of any kind, one after the other. Messages may be lost;
 * whoever misses something asks for it (steps.c). */
#include "config.h"

#include <stdlib.h>

#include "api/peers.h"
#include "api/steps.h"
#include "api/steps_bytes.h"

enum {
    FULL_BYTES = 128 << 10,  /* a message that has become so long is posted */
    AT_ONCE_BYTES = 2 << 20, /* of one request */
    NO_STATE = -1,           /* as a length: UINT32_MAX */
};

_Static_assert(FULL_BYTES + LBMAP_STEPS_BYTES_MAX + 64 <= LBM_POST_BYTES_MAX, "one more row fits a message");
_Static_assert(AT_ONCE_BYTES + LBM_POST_BYTES_MAX + 65536 <= LBM_FRAME_BYTES_MAX,
               "one more message fits a request");

static void
post_one(struct lbm_steps *steps, struct lbm_outbox *box)
{
    uint32_t len = (uint32_t)box->rows.len;
    if (len != 0 && !box->rows.failed)
        (void)lbm_api_peers_post(steps->map, &box->host, &len, 1, box->rows.at, len);
    box->rows.len = 0;
    box->rows.failed = 0;
}

/* The message to a host that is being written. */
static struct lbm_buf *
open_box(struct lbm_steps *steps, uint32_t host)
{
    struct lbm_outbox box = {.host = host};
    if (host == LBMAP_NOWHERE || host == lbmap_host(steps->map))
        return &steps->nowhere;
    for (size_t i = 0; i < steps->out.n; i++)
        if (steps->out.at[i].host == host) {
            if (steps->out.at[i].rows.len >= FULL_BYTES)
                post_one(steps, &steps->out.at[i]);
            return &steps->out.at[i].rows;
        }
    return lbm_vec_push(&steps->out, box) == LBM_OK ? &steps->out.at[steps->out.n - 1].rows : &steps->nowhere;
}

static void
put_head(struct lbm_buf *buf, enum lbm_row kind, uint32_t vertex)
{
    lbm_put32(buf, kind);
    lbm_put32(buf, vertex);
}

/* What neighbours see of a state. */
static void
put_shared(struct lbm_buf *buf, const struct lbm_state *state)
{
    lbm_put32(buf, state != NULL ? (uint32_t)state->shared_len : (uint32_t)NO_STATE);
    if (state != NULL)
        lbm_buf_put(buf, state->bytes + state->shared_at, state->shared_len);
}

/* What neighbours at that host see of it, in as many rows as that takes. */
static void
mail_parts(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, uint64_t step)
{
    for (size_t at = 0; lbm_export_pack(steps, line, step, host, &at);) {
        struct lbm_buf *buf = open_box(steps, host);
        put_head(buf, LBM_ROW_EXPORT, line->vertex);
        lbm_put64(buf, step);
        lbm_put64(buf, line->durable);
        lbm_put32(buf, (uint32_t)steps->parts.len);
        lbm_buf_put(buf, steps->parts.at, steps->parts.len);
    }
}

void
lbm_mail_state(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, uint64_t step)
{
    if (steps->program.share_with != NULL) {
        mail_parts(steps, host, line, step);
        return;
    }
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, LBM_ROW_STATE, line->vertex);
    lbm_put64(buf, step);
    lbm_put64(buf, line->durable);
    put_shared(buf, lbm_line_get(line, step));
}

void
lbm_mail_durable(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line)
{
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, LBM_ROW_STATE, line->vertex);
    lbm_put64(buf, lbm_line_next(line));
    lbm_put64(buf, line->durable);
    put_shared(buf, NULL);
}

void
lbm_mail_want(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, uint32_t other,
              uint64_t from)
{
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, LBM_ROW_WANT, line->vertex);
    lbm_put64(buf, line->durable);
    lbm_put32(buf, other);
    lbm_put64(buf, from);
}

void
lbm_mail_done(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line)
{
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, LBM_ROW_DONE, line->vertex);
    const struct lbm_state *last = lbm_line_get(line, lbm_line_step(line));
    lbm_put32(buf, (uint32_t)last->len);
    lbm_buf_put(buf, last->bytes, last->len);
}

void
lbm_mail_piece(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, size_t offset, size_t n)
{
    const struct lbm_state *last = lbm_line_get(line, lbm_line_step(line));
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, LBM_ROW_PIECE, line->vertex);
    lbm_put32(buf, (uint32_t)last->len);
    lbm_put32(buf, (uint32_t)offset);
    lbm_put32(buf, (uint32_t)n);
    lbm_buf_put(buf, last->bytes + offset, n);
}

void
lbm_mail_got(struct lbm_steps *steps, uint32_t host, uint32_t vertex)
{
    put_head(open_box(steps, host), LBM_ROW_GOT, vertex);
}

void
lbm_mail_step(struct lbm_steps *steps, uint32_t host, enum lbm_row kind, uint32_t vertex, uint64_t step)
{
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, kind, vertex);
    lbm_put64(buf, step);
}

void
lbm_mail_value(struct lbm_steps *steps, uint32_t host, enum lbm_row kind, uint32_t vertex, uint64_t step,
               const uint8_t *value)
{
    struct lbm_buf *buf = open_box(steps, host);
    put_head(buf, kind, vertex);
    lbm_put64(buf, step);
    lbm_buf_put(buf, value, steps->value_size);
}

/* One request with all messages that fit. */
void
lbm_mail_flush(struct lbm_steps *steps)
{
    LBM_VEC(uint32_t) host = {0};
    LBM_VEC(uint32_t) len = {0};
    struct lbm_buf all = {0};
    for (size_t i = 0; i < steps->out.n; i++) {
        struct lbm_outbox *box = &steps->out.at[i];
        if (box->rows.len == 0 || box->rows.failed || lbm_vec_reserve(&host, 1) != LBM_OK ||
            lbm_vec_reserve(&len, 1) != LBM_OK) {
            post_one(steps, box);
            continue;
        }
        host.at[host.n++] = box->host;
        len.at[len.n++] = (uint32_t)box->rows.len;
        lbm_buf_put(&all, box->rows.at, box->rows.len);
        box->rows.len = 0;
        if (all.len < AT_ONCE_BYTES && i + 1 < steps->out.n)
            continue;
        if (!all.failed)
            (void)lbm_api_peers_post(steps->map, host.at, len.at, host.n, all.at, all.len);
        host.n = len.n = all.len = 0;
        all.failed = 0;
    }
    if (host.n != 0 && !all.failed)
        (void)lbm_api_peers_post(steps->map, host.at, len.at, host.n, all.at, all.len);
    lbm_vec_free(&host);
    lbm_vec_free(&len);
    lbm_buf_free(&all);
}

/* Out: *state NULL if only the rest of the row is told, or memory is short. Nonzero if the row makes sense.
 */
static int
get_state(struct lbm_reader *reader, size_t len_max, struct lbm_state **state)
{
    uint32_t len = lbm_get32(reader);
    *state = NULL;
    if (reader->failed || len == (uint32_t)NO_STATE)
        return !reader->failed;
    const uint8_t *bytes = lbm_get_bytes(reader, len);
    if (bytes == NULL || len > len_max)
        return 0;
    *state = lbm_state_new(bytes, len, len, 0);
    return 1;
}

static int
take_value(struct lbm_steps *steps, enum lbm_row kind, uint32_t vertex, struct lbm_reader *reader)
{
    uint64_t step = lbm_get64(reader);
    const uint8_t *value = lbm_get_bytes(reader, steps->value_size);
    if (value == NULL)
        return 0;
    if (kind == LBM_ROW_PART)
        lbm_reduce_take_part(steps, vertex, step, value);
    else
        lbm_reduce_take_whole(steps, step, value);
    return 1;
}

static int
take_piece(struct lbm_steps *steps, uint32_t host, uint32_t vertex, struct lbm_reader *reader)
{
    uint32_t total = lbm_get32(reader), offset = lbm_get32(reader), n = lbm_get32(reader);
    const uint8_t *bytes = lbm_get_bytes(reader, n);
    if (bytes == NULL || total == 0 || total > steps->program.state_size)
        return 0;
    lbm_pieces_take(steps, host, vertex, total, offset, bytes, n);
    return 1;
}

static int
take_row(struct lbm_steps *steps, uint32_t host, struct lbm_reader *reader)
{
    struct lbm_state *state;
    uint32_t kind = lbm_get32(reader), vertex = lbm_get32(reader);
    if (kind == LBM_ROW_STATE) {
        uint64_t step = lbm_get64(reader), durable = lbm_get64(reader);
        size_t share_size = steps->program.share_size;
        if (!get_state(reader, share_size != 0 ? share_size : steps->program.state_size, &state))
            return 0;
        if (state != NULL && share_size != 0)
            state->form = LBM_SHARED;
        lbm_steps_heard(steps, host, vertex, step, durable, state);
    } else if (kind == LBM_ROW_EXPORT) {
        uint64_t step = lbm_get64(reader), durable = lbm_get64(reader);
        uint32_t len = lbm_get32(reader);
        const uint8_t *bytes = lbm_get_bytes(reader, len);
        if (bytes == NULL || steps->program.share_with == NULL)
            return 0;
        lbm_export_heard(steps, host, vertex, step, durable, bytes, len);
    } else if (kind == LBM_ROW_WANT) {
        uint64_t durable = lbm_get64(reader);
        uint32_t other = lbm_get32(reader);
        uint64_t from = lbm_get64(reader);
        if (reader->failed)
            return 0;
        lbm_steps_wanted(steps, host, vertex, durable, other, from);
    } else if (kind == LBM_ROW_DONE) {
        if (!get_state(reader, steps->program.state_size, &state))
            return 0;
        lbm_steps_collect(steps, host, vertex, state);
    } else if (kind == LBM_ROW_PIECE) {
        return take_piece(steps, host, vertex, reader);
    } else if (kind == LBM_ROW_KEPT || kind == LBM_ROW_STABLE || kind == LBM_ROW_HAVE) {
        uint64_t step = lbm_get64(reader);
        if (reader->failed)
            return 0;
        if (kind == LBM_ROW_KEPT)
            lbm_steps_kept(steps, vertex, step);
        else if (kind == LBM_ROW_HAVE)
            lbm_pieces_answered(steps, host, vertex, step);
        else
            lbm_steps_stable(steps, step);
    } else if (kind == LBM_ROW_PART || kind == LBM_ROW_WHOLE) {
        return take_value(steps, (enum lbm_row)kind, vertex, reader);
    } else if (kind == LBM_ROW_WANT_WHOLE || kind == LBM_ROW_WANT_PARTS) {
        uint64_t step = lbm_get64(reader);
        if (reader->failed)
            return 0;
        lbm_reduce_asked(steps, host, step, kind == LBM_ROW_WANT_PARTS);
    } else if (kind == LBM_ROW_GOT && !reader->failed) {
        lbm_steps_collected(steps, host, vertex);
    } else {
        return 0;
    }
    return 1;
}

void
lbm_mail_take(struct lbm_steps *steps, uint32_t host, const uint8_t *bytes, size_t n)
{
    struct lbm_reader reader = {bytes, n, 0};
    while (reader.left != 0 && take_row(steps, host, &reader))
        continue;
}
