/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Last states that are too long for a message go to the collector in pieces, a few at a time. The collector
 * puts them together in order, and answers each with how much it has: that is where the owner goes on, or the
 * next owner, since a state is the same wherever it was computed. What is lost is told again. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"

enum { PIECES_AT_ONCE = 4 };

/* A last state that is coming. */
struct lbm_coming {
    uint32_t vertex;
    size_t have;
    struct lbm_state *state; /* of all bytes that it will have */
};

void
lbm_pieces_free(struct lbm_steps *steps)
{
    for (size_t i = 0; i < steps->coming.n; i++)
        free(steps->coming.at[i].state);
    lbm_vec_free(&steps->coming);
}

void
lbm_pieces_send(struct lbm_steps *steps, uint32_t host, struct lbm_line *line)
{
    const struct lbm_state *last = lbm_line_get(line, lbm_line_step(line));
    line->result_sent = line->result_have;
    for (int i = 0; i < PIECES_AT_ONCE && line->result_sent < last->len; i++) {
        size_t left = last->len - line->result_sent,
               n = left < LBMAP_STEPS_BYTES_MAX ? left : LBMAP_STEPS_BYTES_MAX;
        lbm_mail_piece(steps, host, line, line->result_sent, n);
        line->result_sent += n;
    }
}

void
lbm_pieces_answered(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t have)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    struct lbm_line *line = at != LBM_NONE ? steps->lines.at[at] : NULL;
    int is_told = line != NULL && line->token != 0 && lbm_steps_is_done(steps, line) && line->told_ms != 0 &&
                  line->told_ms != INT64_MAX;
    if (!is_told || host != steps->collector || have > lbm_line_get(line, lbm_line_step(line))->len)
        return;
    line->result_have = (size_t)have;
    if (line->result_have == line->result_sent)
        lbm_pieces_send(steps, host, line);
}

/* The one of a vertex; begun if this is its first piece. NULL: it is not, or memory is short. */
static struct lbm_coming *
coming_of(struct lbm_steps *steps, uint32_t vertex, size_t total, size_t offset)
{
    for (size_t i = 0; i < steps->coming.n; i++)
        if (steps->coming.at[i].vertex == vertex)
            return &steps->coming.at[i];
    struct lbm_coming coming = {.vertex = vertex};
    if (offset != 0 || (coming.state = lbm_state_new(NULL, total, total, 0)) == NULL)
        return NULL;
    if (lbm_vec_push(&steps->coming, coming) == LBM_OK)
        return &steps->coming.at[steps->coming.n - 1];
    free(coming.state);
    return NULL;
}

void
lbm_pieces_take(struct lbm_steps *steps, uint32_t host, uint32_t vertex, size_t total, size_t offset,
                const uint8_t *bytes, size_t n)
{
    if (vertex >= lbmap_vertices(steps->map))
        return;
    if (steps->result != NULL && steps->result[vertex] != NULL) {
        lbm_mail_got(steps, host, vertex);
        return;
    }
    struct lbm_coming *coming = coming_of(steps, vertex, total, offset);
    if (coming != NULL && offset == coming->have && total == coming->state->len &&
        n <= total - coming->have) {
        memcpy(coming->state->bytes + offset, bytes, n);
        coming->have += n;
    }
    if (coming == NULL || coming->have != coming->state->len) {
        lbm_mail_step(steps, host, LBM_ROW_HAVE, vertex, coming != NULL ? coming->have : 0);
        return;
    }
    struct lbm_state *state = coming->state;
    *coming = steps->coming.at[--steps->coming.n];
    lbm_steps_collect(steps, host, vertex, state);
}
