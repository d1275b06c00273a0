/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Parts: what single neighbours see of a state, in place of the state (LBM_PARTS).
 *
 * In messages and payloads: vertex, len (4 bytes each), bytes, one part after the other. In a state: the same
 * with both made up to 16 bytes, so that bytes are aligned. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "api/steps_bytes.h"

enum { ALIGNED = LBM_PART_HEAD };

struct head {
    uint32_t vertex, len;
};

static size_t
aligned(size_t n)
{
    return (n + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* The head of the part that begins there. */
static struct head
head_at(const struct lbm_state *state, size_t at)
{
    struct head head;
    memcpy(&head, state->bytes + at, sizeof head);
    return head;
}

static size_t
next(const struct lbm_state *state, size_t at)
{
    return at + ALIGNED + aligned(head_at(state, at).len);
}

const void *
lbm_seen_find(const struct lbm_state *state, uint32_t user, size_t *at, size_t *size)
{
    size_t from = *at < state->len ? *at : 0, i = from;
    if (state->len == 0)
        return NULL;
    do {
        struct head head = head_at(state, i);
        const uint8_t *bytes = state->bytes + i + ALIGNED;
        i = next(state, i) < state->len ? next(state, i) : 0;
        if (head.vertex == user) {
            *at = i;
            *size = head.len;
            return bytes;
        }
    } while (i != from);
    return NULL;
}

void
lbm_seen_put(struct lbm_buf *parts, uint32_t user, const void *bytes, size_t len)
{
    static const uint8_t nothing[ALIGNED];
    const struct head head = {user, (uint32_t)len};
    lbm_buf_put(parts, &head, sizeof head);
    lbm_buf_put(parts, nothing, ALIGNED - sizeof head);
    lbm_buf_put(parts, bytes, len);
    lbm_buf_put(parts, nothing, aligned(len) - len);
}

struct lbm_state *
lbm_seen_state(const struct lbm_buf *parts)
{
    struct lbm_state *state = parts->failed ? NULL : lbm_state_new(parts->at, parts->len, parts->len, 0);
    if (state != NULL)
        state->form = LBM_PARTS;
    return state;
}

void
lbm_seen_pack(const struct lbm_state *state, struct lbm_buf *buf)
{
    for (size_t at = 0; at < state->len; at = next(state, at)) {
        struct head head = head_at(state, at);
        lbm_put32(buf, head.vertex);
        lbm_put32(buf, head.len);
        lbm_buf_put(buf, state->bytes + at + ALIGNED, head.len);
    }
}

enum lbm_err
lbm_seen_unpack(const uint8_t *bytes, size_t len, size_t part_max, struct lbm_state **state)
{
    struct lbm_reader reader = {bytes, len, 0};
    struct lbm_buf parts = {0};
    int64_t last = -1;
    while (reader.left != 0 && !reader.failed) {
        uint32_t user = lbm_get32(&reader), n = lbm_get32(&reader);
        const uint8_t *seen = lbm_get_bytes(&reader, n);
        reader.failed |= n > part_max || (int64_t)user <= last;
        last = user;
        if (!reader.failed)
            lbm_seen_put(&parts, user, seen, n);
    }
    *state = reader.failed ? NULL : lbm_seen_state(&parts);
    lbm_buf_free(&parts);
    return reader.failed ? LBM_E_CORRUPT : *state == NULL ? LBM_E_NOMEM : LBM_OK;
}
