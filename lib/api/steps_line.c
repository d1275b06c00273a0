/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "api/steps_bytes.h"
#include "base/check.h"

/* A payload: MAGIC, n (4 bytes each), lo (8), then n times length (4) and bytes. With values of the job then
 * their number (4), and so often step (8) and value. With MAGIC_FORMS the two high bits of each length are an
 * enum lbm_form, and bytes are as that has them; the last state is a whole one. */
enum {
    MAGIC = 0x31736d6c,       /* "lms1": all states as a whole */
    MAGIC_FORMS = 0x32736d6c, /* "lms2" */
    FORM_SHIFT = 30,
};

_Static_assert(LBMAP_PAYLOAD_MAX < 1 << FORM_SHIFT, "a length leaves room for a form");

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

/* Write a number over 4 bytes that have been put. */
static void
set32(struct lbm_buf *buf, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4 && !buf->failed; i++)
        buf->at[at + i] = (char)(value >> (8 * i));
}

static void
pack_state(const struct lbm_state *state, struct lbm_buf *buf)
{
    size_t from = buf->len;
    lbm_put32(buf, 0);
    if (state->form == LBM_PARTS)
        lbm_seen_pack(state, buf);
    else
        lbm_buf_put(buf, state->bytes, state->len);
    set32(buf, from, (uint32_t)(buf->len - from - 4) | (uint32_t)state->form << FORM_SHIFT);
}

void
lbm_line_pack(const struct lbm_line *line, size_t value_size, struct lbm_buf *buf)
{
    size_t from = buf->len;
    lbm_put32(buf, MAGIC);
    lbm_put32(buf, (uint32_t)line->n);
    lbm_put64(buf, line->lo);
    for (size_t i = 0; i < line->n; i++) {
        const struct lbm_state *state = *slot(line, line->lo + i);
        pack_state(state, buf);
        if (state->form != LBM_WHOLE)
            set32(buf, from, MAGIC_FORMS);
    }
    if (value_size != 0)
        pack_parts(line, value_size, buf);
}

/* The next state, in one of the forms that the program has. */
static enum lbm_err
unpack_state(const struct lbm_steps *steps, struct lbm_reader *reader, int has_forms,
             struct lbm_state **state)
{
    const struct lbmap_steps *program = &steps->program;
    uint32_t word = lbm_get32(reader);
    uint32_t form = has_forms ? word >> FORM_SHIFT : LBM_WHOLE;
    size_t len = has_forms ? word & ((UINT32_C(1) << FORM_SHIFT) - 1) : word;
    const uint8_t *bytes = lbm_get_bytes(reader, len);
    *state = NULL;
    if (bytes == NULL)
        return LBM_E_CORRUPT;
    if (form == LBM_PARTS && program->share_with != NULL)
        return lbm_seen_unpack(bytes, len, steps->export_size, state);
    if (form == LBM_WHOLE && len <= program->state_size)
        *state = lbm_state_new(bytes, len, len, program->share_size);
    else if (form == LBM_SHARED && program->share != NULL && len <= program->share_size)
        *state = lbm_state_new(bytes, len, len, 0);
    else
        return LBM_E_CORRUPT;
    if (*state == NULL)
        return LBM_E_NOMEM;
    (*state)->form = (enum lbm_form)form;
    return LBM_OK;
}

enum lbm_err
lbm_line_unpack(const struct lbm_steps *steps, struct lbm_line *line, const struct lbmap_payload *payload)
{
    struct lbm_reader reader = {payload->bytes, payload->len, 0};
    lbm_line_begin(line, 0);
    lbm_line_clear_parts(line);
    uint32_t magic = lbm_get32(&reader), n = lbm_get32(&reader);
    line->lo = lbm_get64(&reader);
    int is_one = (magic == MAGIC || magic == MAGIC_FORMS) && n != 0 && line->lo <= UINT64_MAX - n;
    enum lbm_err err = is_one ? LBM_OK : LBM_E_CORRUPT;
    for (uint32_t i = 0; i < n && err == LBM_OK; i++) {
        struct lbm_state *state;
        err = unpack_state(steps, &reader, magic == MAGIC_FORMS, &state);
        if (err == LBM_OK && i + 1 == n && state->form != LBM_WHOLE)
            err = LBM_E_CORRUPT;
        else if (err == LBM_OK)
            err = lbm_line_push(line, state);
        if (err != LBM_OK)
            free(state);
    }
    if (err == LBM_OK && steps->value_size != 0)
        err = unpack_parts(line, steps->value_size, &reader);
    if (err == LBM_OK && (reader.failed || reader.left != 0))
        err = LBM_E_CORRUPT;
    if (err != LBM_OK)
        lbm_line_begin(line, 0);
    return err;
}
