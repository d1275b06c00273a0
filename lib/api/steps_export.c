/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What neighbours see of a state. With `share` that is the same for all; with `share_with` there are parts
 * for single neighbours: of an own state that is here as a whole they are made when they are looked at. Own
 * states of which neighbours alone may need something yet are made short: then there is only what those see.
 * Of another host's there are only parts for those neighbours that its owner takes to be here; whoever lacks
 * its own asks, and it is added. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "api/steps_bytes.h"

enum { ROW_BYTES = 64 << 10 /* of parts in a row, about */ };

_Static_assert(ROW_BYTES + LBMAP_STEPS_BYTES_MAX / 2 + 8 <= LBMAP_STEPS_BYTES_MAX,
               "one more part fits a row");

/* The part for that vertex, or NULL. */
static const void *
find(const struct lbm_state *state, uint32_t vertex, size_t *size)
{
    size_t at = 0;
    return lbm_seen_find(state, vertex, &at, size);
}

int
lbm_export_has(const struct lbm_line *of, uint64_t step, uint32_t user)
{
    const struct lbm_state *state = lbm_line_get(of, step);
    size_t size;
    return state != NULL && (state->form != LBM_PARTS || find(state, user, &size) != NULL);
}

/* Out: seen [export_size]. Returns its length. */
static size_t
make(struct lbm_steps *steps, uint32_t vertex, uint32_t user, const struct lbm_state *state, void *seen)
{
    const struct lbmap_steps *program = &steps->program;
    memset(seen, 0, steps->export_size);
    size_t n = program->share_with(program->context, vertex, user, state->bytes, state->len, seen);
    if (n <= steps->export_size)
        return n;
    lbm_steps_fail(steps, LBMAP_E_RANGE, "vertex %u shares %zu bytes with vertex %u, share_size is %zu",
                   vertex, n, user, steps->export_size);
    return 0;
}

const void *
lbm_export_view(struct lbm_steps *steps, const struct lbm_line *of, const struct lbm_state *state,
                uint32_t user, void *room, size_t *size)
{
    if (steps->program.share_with == NULL) {
        *size = state->shared_len;
        return state->bytes + state->shared_at;
    }
    if (state->form == LBM_PARTS)
        return find(state, user, size);
    *size = make(steps, of->vertex, user, state, room);
    return room;
}

/* In steps->room: as many bytes. NULL: memory is short. */
static uint8_t *
reserve(struct lbm_steps *steps, size_t n)
{
    void *at = steps->room.at;
    if (lbm_reserve(&at, &steps->room.capacity, n + 1, 1) != LBM_OK)
        return NULL;
    steps->room.at = at;
    return at;
}

uint8_t *
lbm_export_room(struct lbm_steps *steps, const struct lbm_line *line, size_t *each)
{
    *each = (steps->export_size + LBM_PART_HEAD - 1) / LBM_PART_HEAD * LBM_PART_HEAD; /* aligned */
    return reserve(steps, *each * line->edges.n);
}

int
lbm_export_pack(struct lbm_steps *steps, const struct lbm_line *line, uint64_t step, uint32_t host,
                size_t *at)
{
    const struct lbm_state *state = lbm_line_get(line, step);
    uint8_t *room = reserve(steps, steps->export_size);
    size_t from = 0;
    steps->parts.len = 0;
    steps->parts.failed = 0;
    for (; state != NULL && room != NULL && *at < line->edges.n && steps->parts.len < ROW_BYTES; ++*at) {
        const struct lbm_line *to = line->edges.at[*at].to;
        if (to->token != 0 || to->host != host)
            continue;
        const void *seen = room;
        size_t n = 0;
        if (state->form == LBM_PARTS)
            seen = lbm_seen_find(state, to->vertex, &from, &n);
        else
            n = make(steps, line->vertex, to->vertex, state, room);
        if (seen == NULL)
            continue;
        lbm_put32(&steps->parts, to->vertex);
        lbm_put32(&steps->parts, (uint32_t)n);
        lbm_buf_put(&steps->parts, seen, n);
    }
    return steps->parts.len != 0 && !steps->parts.failed;
}

/* ---- own states that are short ---- */

/* Parts for all neighbours; NULL: they are no shorter, memory is short, or the program is about to end. */
static struct lbm_state *
make_parts(struct lbm_steps *steps, const struct lbm_line *line, struct lbm_state *state)
{
    uint8_t *room = reserve(steps, steps->export_size);
    size_t heads = line->edges.n * LBM_PART_HEAD;
    if (room == NULL)
        return NULL;
    steps->parts.len = 0;
    steps->parts.failed = 0;
    for (size_t i = 0; i < line->edges.n && heads < state->len && steps->parts.len < state->len; i++) {
        uint32_t user = line->edges.at[i].to->vertex;
        size_t n = make(steps, line->vertex, user, state, room);
        lbm_seen_put(&steps->parts, user, room, n);
    }
    state->stays_whole = heads >= state->len || steps->parts.len >= state->len;
    return state->stays_whole || lbm_steps_must_end(steps) ? NULL : lbm_seen_state(&steps->parts);
}

static struct lbm_state *
make_shared(const struct lbm_state *state)
{
    if (state->shared_len >= state->len)
        return NULL;
    struct lbm_state *seen =
        lbm_state_new(state->bytes + state->shared_at, state->shared_len, state->shared_len, 0);
    if (seen != NULL)
        seen->form = LBM_SHARED;
    return seen;
}

void
lbm_export_shorten(struct lbm_steps *steps, struct lbm_line *line, uint64_t from, uint64_t to)
{
    for (uint64_t step = from > line->lo ? from : line->lo; step < to && step < lbm_line_step(line); step++) {
        struct lbm_state *state = line->ring[step & (line->ring_size - 1)], *seen = NULL;
        if (state->form != LBM_WHOLE || state->stays_whole)
            continue;
        if (steps->program.share != NULL)
            seen = make_shared(state);
        else if (steps->program.share_with != NULL && line->has_edges)
            seen = make_parts(steps, line, state);
        if (seen != NULL)
            lbm_line_replace(line, step, seen);
    }
}

int
lbm_export_is_complete(const struct lbm_line *line)
{
    for (uint64_t step = line->lo; step < lbm_line_next(line); step++) {
        const struct lbm_state *state = lbm_line_get(line, step);
        size_t at = 0, size;
        for (size_t i = 0; i < line->edges.n && state->form == LBM_PARTS; i++)
            if (lbm_seen_find(state, line->edges.at[i].to->vertex, &at, &size) == NULL)
                return 0;
    }
    return 1;
}

/* ---- states of other hosts ---- */

static int
is_user(const struct lbm_line *line, uint32_t vertex)
{
    size_t i = 0;
    while (i < line->used.n && line->used.at[i]->vertex != vertex)
        i++;
    return i < line->used.n;
}

/* What own vertices see by a message, behind what is here already (or NULL). NULL: it makes no sense, or
 * memory is short. */
static struct lbm_state *
join(struct lbm_steps *steps, const struct lbm_line *line, const struct lbm_state *here, const uint8_t *bytes,
     size_t n)
{
    struct lbm_reader reader = {bytes, n, 0};
    struct lbm_buf buf = {0};
    size_t size;
    if (here != NULL)
        lbm_buf_put(&buf, here->bytes, here->len);
    while (reader.left != 0 && !reader.failed) {
        uint32_t vertex = lbm_get32(&reader), len = lbm_get32(&reader);
        const uint8_t *seen = lbm_get_bytes(&reader, len);
        reader.failed |= len > steps->export_size;
        if (!reader.failed && is_user(line, vertex) && (here == NULL || find(here, vertex, &size) == NULL))
            lbm_seen_put(&buf, vertex, seen, len);
    }
    struct lbm_state *state = reader.failed ? NULL : lbm_seen_state(&buf);
    lbm_buf_free(&buf);
    return state;
}

void
lbm_export_heard(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step, uint64_t durable,
                 const uint8_t *bytes, size_t n)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    struct lbm_line *line = at != LBM_NONE ? steps->lines.at[at] : NULL;
    if (line == NULL || line->token != 0)
        return;
    const struct lbm_state *here = lbm_line_get(line, step);
    if (here == NULL || here->form != LBM_PARTS) {
        lbm_steps_heard(steps, host, vertex, step, durable, join(steps, line, NULL, bytes, n));
        return;
    }
    struct lbm_state *state = join(steps, line, here, bytes, n);
    lbm_steps_heard(steps, host, vertex, step, durable, NULL);
    if (state == NULL || lbm_line_get(line, step) != here) {
        free(state);
        return;
    }
    lbm_line_replace(line, step, state);
    line->asked = 0;
    line->asked_ms = 0;
    for (size_t i = 0; i < line->used.n; i++)
        if (lbm_line_step(line->used.at[i]) == step)
            lbm_steps_count(steps, line->used.at[i]);
}
