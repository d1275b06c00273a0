/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Vertices that come and go, and what can be done with them (invariants: steps.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/mutants.h"
#include "api/steps.h"

int
lbm_steps_is_done(const struct lbm_steps *steps, const struct lbm_line *line)
{
    return lbm_line_step(line) == steps->program.steps;
}

void
lbm_steps_consider(struct lbm_steps *steps, struct lbm_line *line)
{
    if (line->token == 0 || line->queued || !line->has_edges || line->have < line->edges.n ||
        lbm_steps_is_done(steps, line) || line->n > steps->window ||
        !lbm_reduce_is_there(steps, lbm_line_step(line)))
        return;
    if (lbm_vec_push(&steps->ready, line) != LBM_OK)
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a queue of %zu vertices", steps->ready.n);
    else
        line->queued = 1;
}

void
lbm_steps_count(struct lbm_steps *steps, struct lbm_line *line)
{
    line->have = 0;
    for (size_t i = 0; i < line->edges.n; i++)
        line->have += lbm_export_has(line->edges.at[i].to, lbm_line_step(line), line->vertex);
    lbm_steps_consider(steps, line);
}

/* A state of this line has come, or was made: whoever waited for it may go on. */
void
lbm_steps_grown(struct lbm_steps *steps, struct lbm_line *line)
{
    uint64_t step = lbm_line_step(line);
    line->asked = line->unheard = 0;
    line->asked_ms = 0;
    for (size_t i = 0; i < line->used.n; i++) {
        struct lbm_line *user = line->used.at[i];
        if (lbm_line_step(user) == step && lbm_export_has(line, step, user->vertex)) {
            user->have++;
            lbm_steps_consider(steps, user);
        }
    }
}

/* States that no neighbour of an own line can need again. */
void
lbm_steps_drop_old(struct lbm_steps *steps, struct lbm_line *line)
{
    uint64_t least = UINT64_MAX;
    size_t before = line->n;
    for (size_t i = 0; i < line->edges.n; i++)
        least = line->edges.at[i].to->durable < least &&
                        !(line->edges.at[i].to->token == 0 && LBM_API_BUG(STATES_DROPPED))
                    ? line->edges.at[i].to->durable
                    : least;
    if (line->has_edges)
        lbm_line_drop(line, least);
    if (before > steps->window)
        lbm_steps_consider(steps, line);
}

/* The same of another host's line: those that users here have all passed. */
void
lbm_steps_drop_passed(struct lbm_line *line)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < line->used.n; i++)
        least = lbm_line_step(line->used.at[i]) < least ? lbm_line_step(line->used.at[i]) : least;
    if (line->used.n == 0 || least >= lbm_line_next(line))
        lbm_line_begin(line, least != UINT64_MAX ? least : 0);
    else
        lbm_line_drop(line, least);
}

void
lbm_steps_set_durable(struct lbm_steps *steps, struct lbm_line *line, uint64_t durable)
{
    if (durable <= line->durable)
        return;
    line->durable = durable;
    for (size_t i = 0; i < line->used.n; i++)
        lbm_steps_drop_old(steps, line->used.at[i]);
}

/* ---- the daemon gives and takes ---- */

void
lbm_steps_share(struct lbm_steps *steps, uint32_t vertex, struct lbm_state *state)
{
    const struct lbmap_steps *program = &steps->program;
    state->shared_len = state->len;
    if (program->share == NULL)
        return;
    state->shared_len =
        program->share(program->context, vertex, state->bytes, state->len, state->bytes + state->shared_at);
    if (state->shared_len > program->share_size)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "vertex %u shares %zu bytes, share_size is %zu", vertex,
                       state->shared_len, program->share_size);
}

static struct lbm_state *
state_at(const struct lbm_line *line, uint64_t step)
{
    return line->ring[step & (line->ring_size - 1)];
}

/* The same of all states that were kept of it as a whole. */
static void
share_all(struct lbm_steps *steps, struct lbm_line *line)
{
    for (uint64_t step = line->lo; step < lbm_line_next(line); step++)
        if (state_at(line, step)->form == LBM_WHOLE)
            lbm_steps_share(steps, line->vertex, state_at(line, step));
}

static void
make_first(struct lbm_steps *steps, struct lbm_line *line)
{
    const struct lbmap_steps *program = &steps->program;
    struct lbm_state *state =
        lbm_state_new(NULL, program->state_size, program->state_size, program->share_size);
    lbm_line_begin(line, 0);
    lbm_line_clear_parts(line);
    if (state != NULL) {
        program->init(program->context, line->vertex, state->bytes);
        if (program->length != NULL)
            state->len = program->length(program->context, line->vertex, state->bytes);
        lbm_steps_share(steps, line->vertex, state);
    }
    if (state == NULL || lbm_line_push(line, state) != LBM_OK) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a state of %zu bytes", program->state_size);
    }
}

void
lbm_steps_on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct lbm_steps *steps = context;
    struct lbm_line *line = lbm_steps_line(steps, vertex);
    if (line == NULL)
        return;
    if (line->n != 0 && state_at(line, lbm_line_step(line))->form == LBM_WHOLE && LBM_API_BUG(OLD_STATE)) {
        /* they may be older than those that are given, or newer */
    } else if (payload->len == 0) {
        make_first(steps, line);
    } else {
        enum lbm_err err = lbm_line_unpack(steps, line, payload);
        if (err == LBM_E_CORRUPT)
            lbm_steps_fail(
                steps, LBMAP_E_CORRUPT,
                "vertex %u: what is kept of it is not of this program; cancel the job and submit it again",
                vertex);
        else if (err != LBM_OK)
            lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for vertex %u", vertex);
        else if (lbm_line_step(line) > steps->program.steps)
            lbm_steps_fail(steps, LBMAP_E_CORRUPT, "vertex %u has done more steps than this program does",
                           vertex);
        else
            share_all(steps, line);
    }
    if (steps->error != LBMAP_OK || lbm_vec_reserve(&steps->own, 1) != LBM_OK ||
        lbm_vec_reserve(&steps->fresh, 1) != LBM_OK) {
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for vertex %u", vertex);
        return;
    }
    line->token = token;
    line->acquired++;
    line->at = steps->own.n;
    line->has_edges = 0;
    line->told_ms = 0;
    steps->own.at[steps->own.n++] = line;
    steps->fresh.at[steps->fresh.n++] = line;
    lbm_steps_set_durable(steps, line, lbm_line_step(line));
    for (size_t i = 0; i < line->used.n; i++)
        lbm_steps_count(steps, line->used.at[i]);
}

static void
remove_user(struct lbm_line *line, const struct lbm_line *user)
{
    for (size_t i = 0; i < line->used.n; i++)
        if (line->used.at[i] == user) {
            line->used.at[i] = line->used.at[--line->used.n];
            return;
        }
}

/* The vertex is not here any more; its states are as good as if they had been sent. */
static void
leave(struct lbm_steps *steps, struct lbm_line *line)
{
    struct lbm_line *last = steps->own.at[--steps->own.n];
    steps->own.at[line->at] = last;
    last->at = line->at;
    line->token = 0;
    line->host = LBMAP_NOWHERE;
    for (size_t i = 0; i < line->edges.n; i++) {
        remove_user(line->edges.at[i].to, line);
        if (line->edges.at[i].to->token == 0)
            lbm_steps_drop_passed(line->edges.at[i].to);
    }
    line->edges.n = 0;
    line->has_edges = 0;
    lbm_steps_drop_passed(line);
}

static struct lbm_line *
own_line(struct lbm_steps *steps, uint32_t vertex, uint64_t token)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    return at != LBM_NONE && steps->lines.at[at]->token == token ? steps->lines.at[at] : NULL;
}

void
lbm_steps_on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct lbm_steps *steps = context;
    struct lbm_line *line = own_line(steps, vertex, token);
    struct lbm_buf buf = {0};
    if (line == NULL)
        return;
    lbm_steps_drop_old(steps, line);
    lbm_export_shorten(steps, line, line->lo, lbm_line_step(line));
    lbm_line_pack(line, steps->value_size, &buf);
    if (buf.failed || lbm_vec_push(&steps->payloads, buf) != LBM_OK)
        lbm_buf_free(&buf); /* it goes on from its checkpoint */
    else
        *payload = (struct lbmap_payload){buf.at, buf.len};
    leave(steps, line);
}

void
lbm_steps_on_revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct lbm_steps *steps = context;
    struct lbm_line *line = own_line(steps, vertex, token);
    if (line != NULL)
        leave(steps, line);
}

static int
by_vertex(const void *a, const void *b)
{
    uint32_t x = ((const struct lbm_edge *)a)->to->vertex, y = ((const struct lbm_edge *)b)->to->vertex;
    return (x > y) - (x < y);
}

/* The edges are told again when they may have changed: only where neighbours are may differ. */
static void
check_edges(struct lbm_steps *steps, const struct lbm_line *line, const struct lbmap_edge *edges, size_t n)
{
    int is_same = n == line->edges.n;
    for (size_t i = 0; i < n && is_same; i++) {
        size_t k = 0;
        while (k < n && line->edges.at[k].to->vertex != edges[i].other)
            k++;
        is_same = k < n && line->edges.at[k].weight == edges[i].weight;
    }
    if (!is_same)
        lbm_steps_fail(steps, LBMAP_E_UNSUPPORTED, "edges of vertex %u have changed", line->vertex);
}

void
lbm_steps_on_edges(void *context, uint32_t vertex, uint64_t token, const struct lbmap_edge *edges, size_t n)
{
    struct lbm_steps *steps = context;
    struct lbm_line *line = own_line(steps, vertex, token);
    if (line == NULL)
        return;
    if (line->has_edges) {
        check_edges(steps, line, edges, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct lbm_edge edge = {lbm_steps_line(steps, edges[i].other), edges[i].weight};
        if (edge.to == NULL || lbm_vec_push(&line->edges, edge) != LBM_OK ||
            lbm_vec_push(&edge.to->used, line) != LBM_OK) {
            lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for edges of vertex %u", vertex);
            return;
        }
        if (edge.to->token != 0)
            continue;
        if (edge.to->host == LBMAP_NOWHERE)
            edge.to->host = edges[i].host;
        if (edge.to->used.n == 1 || lbm_line_step(line) < edge.to->lo)
            lbm_line_begin(edge.to, lbm_line_step(line));
    }
    if (line->edges.n > 1)
        qsort(line->edges.at, line->edges.n, sizeof *line->edges.at, by_vertex);
    line->has_edges = 1;
    if (!lbm_export_is_complete(line))
        lbm_steps_fail(steps, LBMAP_E_UNSUPPORTED, "edges of vertex %u have changed since it was kept",
                       vertex);
    lbm_steps_drop_old(steps, line); /* its neighbours may have been kept since its payload was made */
    lbm_steps_count(steps, line);
}
