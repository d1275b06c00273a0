/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "api/steps_bytes.h"
#include "base/check.h"

/* A payload: MAGIC, n (4 bytes each), lo (8), then n times length (4) and bytes. With values of the job then
 * their number (4), and so often step (8) and value. */
enum { MAGIC = 0x31736d6c /* "lms1" */, HEADER_BYTES = 16 };

struct lbm_line *
lbm_steps_line(struct lbm_steps *steps, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    if (at != LBM_NONE)
        return steps->lines.at[at];
    struct lbm_line *line = lbm_alloc(1, sizeof *line);
    if (line == NULL || lbm_vec_reserve(&steps->lines, 1) != LBM_OK ||
        lbm_idmap_put(&steps->at, vertex, (uint32_t)steps->lines.n) != LBM_OK) {
        free(line);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for vertex %u", vertex);
        return NULL;
    }
    line->vertex = vertex;
    line->host = LBMAP_NOWHERE;
    steps->lines.at[steps->lines.n++] = line;
    return line;
}

void
lbm_line_free(struct lbm_line *line)
{
    lbm_line_begin(line, 0);
    free(line->ring);
    lbm_line_clear_parts(line);
    lbm_vec_free(&line->parts);
    lbm_vec_free(&line->edges);
    lbm_vec_free(&line->used);
    free(line);
}

static struct lbm_state **
slot(const struct lbm_line *line, uint64_t step)
{
    return &line->ring[step & (line->ring_size - 1)];
}

void
lbm_line_begin(struct lbm_line *line, uint64_t step)
{
    for (size_t i = 0; i < line->n; i++)
        free(*slot(line, line->lo + i));
    line->n = 0;
    line->lo = step;
}

void
lbm_line_drop(struct lbm_line *line, uint64_t lo)
{
    for (; line->lo < lo && line->n > 1; line->lo++, line->n--)
        free(*slot(line, line->lo));
}

const struct lbm_state *
lbm_line_get(const struct lbm_line *line, uint64_t step)
{
    return step >= line->lo && step - line->lo < line->n ? *slot(line, step) : NULL;
}

static enum lbm_err
widen(struct lbm_line *line)
{
    size_t size = line->ring_size != 0 ? 2 * line->ring_size : 4;
    struct lbm_state **ring = lbm_alloc(size, sizeof(struct lbm_state *));
    if (ring == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < line->n; i++)
        ring[(line->lo + i) & (size - 1)] = *slot(line, line->lo + i);
    free(line->ring);
    line->ring = ring;
    line->ring_size = size;
    return LBM_OK;
}

enum lbm_err
lbm_line_push(struct lbm_line *line, struct lbm_state *state)
{
    if (line->n == line->ring_size && widen(line) != LBM_OK)
        return LBM_E_NOMEM;
    *slot(line, lbm_line_next(line)) = state;
    line->n++;
    return LBM_OK;
}

void
lbm_line_replace(struct lbm_line *line, uint64_t step, struct lbm_state *state)
{
    LBM_ASSERT(lbm_line_get(line, step) != NULL);
    free(*slot(line, step));
    *slot(line, step) = state;
}

struct lbm_state *
lbm_state_new(const void *bytes, size_t len, size_t room, size_t share_size)
{
    LBM_ASSERT(len <= room);
    size_t aligned = (room + 15) / 16 * 16;
    struct lbm_state *state = lbm_alloc(1, sizeof *state + (share_size != 0 ? aligned + share_size : room));
    if (state == NULL)
        return NULL;
    state->len = len;
    state->shared_at = share_size != 0 ? aligned : 0;
    state->shared_len = len;
    if (bytes != NULL)
        memcpy(state->bytes, bytes, len);
    return state;
}

void
lbm_line_clear_parts(struct lbm_line *line)
{
    for (size_t i = 0; i < line->parts.n; i++)
        free(line->parts.at[i].value);
    line->parts.n = 0;
}

static void
pack_parts(const struct lbm_line *line, size_t value_size, struct lbm_buf *buf)
{
    lbm_put32(buf, (uint32_t)line->parts.n);
    for (size_t i = 0; i < line->parts.n; i++) {
        lbm_put64(buf, line->parts.at[i].step);
        lbm_buf_put(buf, line->parts.at[i].value, value_size);
    }
}

static enum lbm_err
unpack_parts(struct lbm_line *line, size_t value_size, struct lbm_reader *reader)
{
    uint32_t n = lbm_get32(reader);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t step = lbm_get64(reader);
        const uint8_t *value = lbm_get_bytes(reader, value_size);
        if (value == NULL)
            return LBM_E_CORRUPT;
        struct lbm_part part = {step, lbm_copy(value, value_size, 1)};
        if (part.value == NULL || lbm_vec_push(&line->parts, part) != LBM_OK) {
            free(part.value);
            return LBM_E_NOMEM;
        }
    }
    return reader->failed ? LBM_E_CORRUPT : LBM_OK;
}

void
lbm_line_pack(const struct lbm_line *line, size_t value_size, struct lbm_buf *buf)
{
    lbm_put32(buf, MAGIC);
    lbm_put32(buf, (uint32_t)line->n);
    lbm_put64(buf, line->lo);
    for (size_t i = 0; i < line->n; i++) {
        const struct lbm_state *state = *slot(line, line->lo + i);
        lbm_put32(buf, (uint32_t)state->len);
        lbm_buf_put(buf, state->bytes, state->len);
    }
    if (value_size != 0)
        pack_parts(line, value_size, buf);
}

enum lbm_err
lbm_line_unpack(struct lbm_line *line, const struct lbmap_payload *payload, size_t state_max,
                size_t share_size, size_t value_size)
{
    struct lbm_reader reader = {payload->bytes, payload->len, 0};
    lbm_line_begin(line, 0);
    lbm_line_clear_parts(line);
    if (lbm_get32(&reader) != MAGIC)
        return LBM_E_CORRUPT;
    uint32_t n = lbm_get32(&reader);
    line->lo = lbm_get64(&reader);
    enum lbm_err err = n != 0 && line->lo <= UINT64_MAX - n ? LBM_OK : LBM_E_CORRUPT;
    for (uint32_t i = 0; i < n && err == LBM_OK; i++) {
        uint32_t len = lbm_get32(&reader);
        const uint8_t *bytes = lbm_get_bytes(&reader, len);
        struct lbm_state *state = NULL;
        if (bytes == NULL || len > state_max)
            err = LBM_E_CORRUPT;
        else if ((state = lbm_state_new(bytes, len, len, share_size)) == NULL ||
                 lbm_line_push(line, state) != LBM_OK)
            err = LBM_E_NOMEM;
        if (err != LBM_OK)
            free(state);
    }
    if (err == LBM_OK && value_size != 0)
        err = unpack_parts(line, value_size, &reader);
    if (err == LBM_OK && (reader.failed || reader.left != 0))
        err = LBM_E_CORRUPT;
    if (err != LBM_OK)
        lbm_line_begin(line, 0);
    return err;
}
