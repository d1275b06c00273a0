/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What single neighbours see of a state, where a program has `share_with`. An own state, and one that was
 * own, is here as a whole, and parts are made of it when they are looked at. Of another host's there are only
 * parts for those neighbours that its owner takes to be here; whoever lacks its own asks, and it is added.
 *
 * In a message: vertex, len (4 bytes each), bytes, one part after the other. In a state: the same with both
 * made up to 16 bytes, so that bytes are aligned. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "api/steps_bytes.h"

enum {
    ALIGNED = 16,
    ROW_BYTES = 64 << 10, /* of parts in a row, about */
};

_Static_assert(ROW_BYTES + LBMAP_STEPS_BYTES_MAX / 2 + 8 <= LBMAP_STEPS_BYTES_MAX,
               "one more part fits a row");

static size_t
aligned(size_t n)
{
    return (n + ALIGNED - 1) / ALIGNED * ALIGNED;
}

struct seen {
    uint32_t vertex, len;
};

/* The part for that vertex, or NULL. */
static const uint8_t *
find(const struct lbm_state *state, uint32_t vertex, size_t *size)
{
    struct seen seen;
    for (size_t at = 0; at < state->len; at += ALIGNED + aligned(seen.len)) {
        memcpy(&seen, state->bytes + at, sizeof seen);
        if (seen.vertex != vertex)
            continue;
        *size = seen.len;
        return state->bytes + at + ALIGNED;
    }
    return NULL;
}

int
lbm_export_has(const struct lbm_line *of, uint64_t step, uint32_t user)
{
    const struct lbm_state *state = lbm_line_get(of, step);
    size_t size;
    return state != NULL && (!state->is_parts || find(state, user, &size) != NULL);
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
    if (state->is_parts)
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
    *each = aligned(steps->export_size);
    return reserve(steps, *each * line->edges.n);
}

int
lbm_export_pack(struct lbm_steps *steps, const struct lbm_line *line, uint64_t step, uint32_t host,
                size_t *at)
{
    const struct lbm_state *state = lbm_line_get(line, step);
    uint8_t *room = reserve(steps, steps->export_size);
    steps->parts.len = 0;
    steps->parts.failed = 0;
    for (; state != NULL && room != NULL && *at < line->edges.n && steps->parts.len < ROW_BYTES; ++*at) {
        const struct lbm_line *to = line->edges.at[*at].to;
        if (to->token != 0 || to->host != host)
            continue;
        size_t n = make(steps, line->vertex, to->vertex, state, room);
        lbm_put32(&steps->parts, to->vertex);
        lbm_put32(&steps->parts, (uint32_t)n);
        lbm_buf_put(&steps->parts, room, n);
    }
    return steps->parts.len != 0 && !steps->parts.failed;
}

static void
put_aligned(struct lbm_buf *buf, uint32_t vertex, const uint8_t *bytes, uint32_t len)
{
    static const uint8_t nothing[ALIGNED];
    const struct seen seen = {vertex, len};
    lbm_buf_put(buf, &seen, sizeof seen);
    lbm_buf_put(buf, nothing, ALIGNED - sizeof seen);
    lbm_buf_put(buf, bytes, len);
    lbm_buf_put(buf, nothing, aligned(len) - len);
}

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
            put_aligned(&buf, vertex, seen, len);
    }
    struct lbm_state *state = reader.failed || buf.failed ? NULL : lbm_state_new(buf.at, buf.len, buf.len, 0);
    if (state != NULL)
        state->is_parts = 1;
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
    if (here == NULL || !here->is_parts) {
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
