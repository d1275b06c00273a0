/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The loop of lbmap_steps: take what the daemon and others say, do steps that can be done, send what came of
 * them, keep, ask for what is missing (invariants: steps.h).
 *
 * Owns: all lines, messages on their way, results.  Never: a decision that rests on a message having arrived.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/steps.h"
#include "base/check.h"

enum {
    KEEP_DEFAULT = 32,
    WORK_MS = 10,         /* of steps before the daemon and others are listened to again */
    IDLE_MS = 20,         /* waiting for them while no step can be done */
    LOOK_MS = 50,         /* between looks at what is missing */
    ASK_MS = 100,         /* a missing state is asked for again after that, then twice, four times ... */
    ASK_DOUBLINGS = 4,    /* up to so often */
    ASK_ALL = 2,          /* asked so often in vain: the owner may be any other host */
    KEEP_MS = 500,        /* what is due for its checkpoint waits so long for more */
    LOAD_MS = 1000,       /* between reports of loads */
    TELL_MS = 1000,       /* the collector is told again */
    KEEP_AT_ONCE = 512,   /* payloads packed at a time, */
    KEEP_BYTES = 4 << 20, /* about */
};

void
lbm_steps_fail(struct lbm_steps *steps, enum lbmap_error error, const char *fmt, ...)
{
    va_list args;
    if (steps->error != LBMAP_OK)
        return;
    steps->error = error;
    va_start(args, fmt);
    vsnprintf(steps->message, sizeof steps->message, fmt, args);
    va_end(args);
}

static int
is_done(const struct lbm_steps *steps, const struct lbm_line *line)
{
    return lbm_line_step(line) == steps->program.steps;
}

/* ---- what can be done ---------------------------------------------------------------------------------- */

static void
consider(struct lbm_steps *steps, struct lbm_line *line)
{
    if (line->token == 0 || line->queued || !line->has_edges || line->have < line->edges.n ||
        is_done(steps, line) || line->n > steps->window)
        return;
    if (lbm_vec_push(&steps->ready, line) != LBM_OK)
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a queue of %zu vertices", steps->ready.n);
    else
        line->queued = 1;
}

static void
count_neighbours(struct lbm_steps *steps, struct lbm_line *line)
{
    line->have = 0;
    for (size_t i = 0; i < line->edges.n; i++)
        line->have += lbm_line_get(line->edges.at[i].to, lbm_line_step(line)) != NULL;
    consider(steps, line);
}

/* A state of this line has come, or was made: whoever waited for it may go on. */
static void
has_grown(struct lbm_steps *steps, struct lbm_line *line)
{
    uint64_t step = lbm_line_step(line);
    line->asked = line->unheard = 0;
    line->asked_ms = 0;
    for (size_t i = 0; i < line->used.n; i++) {
        struct lbm_line *user = line->used.at[i];
        if (lbm_line_step(user) == step) {
            user->have++;
            consider(steps, user);
        }
    }
}

/* States that no neighbour of an own line can need again. */
static void
drop_old(struct lbm_steps *steps, struct lbm_line *line)
{
    uint64_t least = UINT64_MAX;
    size_t before = line->n;
    for (size_t i = 0; i < line->edges.n; i++)
        least = line->edges.at[i].to->durable < least ? line->edges.at[i].to->durable : least;
    if (line->has_edges)
        lbm_line_drop(line, least);
    if (before > steps->window)
        consider(steps, line);
}

/* The same of another host's line: those that users here have all passed. */
static void
drop_passed(struct lbm_line *line)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < line->used.n; i++)
        least = lbm_line_step(line->used.at[i]) < least ? lbm_line_step(line->used.at[i]) : least;
    if (line->used.n == 0 || least >= lbm_line_next(line))
        lbm_line_begin(line, least != UINT64_MAX ? least : 0);
    else
        lbm_line_drop(line, least);
}

static void
set_durable(struct lbm_steps *steps, struct lbm_line *line, uint64_t durable)
{
    if (durable <= line->durable)
        return;
    line->durable = durable;
    for (size_t i = 0; i < line->used.n; i++)
        drop_old(steps, line->used.at[i]);
}

/* ---- to and from others -------------------------------------------------------------------------------- */

/* Hosts of the neighbours of an own line, each once. Returns how many, at most max. */
static size_t
find_hosts(const struct lbm_line *line, uint32_t *host, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < line->edges.n && n < max; i++) {
        const struct lbm_line *to = line->edges.at[i].to;
        size_t k = 0;
        while (k < n && host[k] != to->host)
            k++;
        if (to->token == 0 && to->host != LBMAP_NOWHERE && k == n)
            host[n++] = to->host;
    }
    return n;
}

enum { HOSTS_OF_ONE = 64 }; /* neighbours at more hosts ask for what they miss */

static void
send_last(struct lbm_steps *steps, const struct lbm_line *line)
{
    uint32_t host[HOSTS_OF_ONE];
    size_t n = find_hosts(line, host, HOSTS_OF_ONE);
    for (size_t i = 0; i < n; i++)
        lbm_mail_state(steps, host[i], line, lbm_line_step(line));
}

static int
is_known(const struct lbm_steps *steps, uint32_t vertex)
{
    return vertex < lbmap_vertices(steps->map);
}

void
lbm_steps_heard(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step, uint64_t durable,
                struct lbm_state *state)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    struct lbm_line *line = at != LBM_NONE ? steps->lines.at[at] : NULL;
    if (line == NULL || line->token != 0) {
        free(state);
        return;
    }
    line->host = host;
    line->unheard = 0;
    set_durable(steps, line, durable);
    if (state == NULL || line->used.n == 0 || step != lbm_line_next(line)) {
        free(state);
        return;
    }
    if (lbm_line_push(line, state) != LBM_OK) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a state of vertex %u", vertex);
        return;
    }
    has_grown(steps, line);
}

static void
ask(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, const struct lbm_line *of)
{
    lbm_mail_want(steps, host, line, of->vertex, lbm_line_next(of));
}

void
lbm_steps_wanted(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t durable, uint32_t other,
                 uint64_t from)
{
    struct lbm_line *asker = is_known(steps, vertex) ? lbm_steps_line(steps, vertex) : NULL;
    uint32_t at = lbm_idmap_get(&steps->at, other);
    struct lbm_line *line = at != LBM_NONE ? steps->lines.at[at] : NULL;
    if (asker == NULL || line == NULL || line->token == 0)
        return;
    if (asker->token == 0) {
        int is_new = asker->host != host;
        asker->host = host;
        set_durable(steps, asker, durable);
        if (is_new && line->has_edges && line->have < line->edges.n &&
            lbm_line_get(asker, lbm_line_step(line)) == NULL)
            ask(steps, host, line, asker);
    }
    if (from < line->lo)
        from = line->lo;
    if (from >= lbm_line_next(line))
        lbm_mail_durable(steps, host, line);
    for (; from < lbm_line_next(line); from++)
        lbm_mail_state(steps, host, line, from);
}

static void
on_message(void *context, uint32_t host, const void *bytes, size_t n)
{
    lbm_mail_take(context, host, bytes, n);
}

static void
on_peer_up(void *context, const struct lbmap_peer *peer)
{
    struct lbm_steps *steps = context;
    size_t i = 0;
    if (peer->finished)
        steps->finished = 1;
    while (i < steps->peers.n && steps->peers.at[i] < peer->host)
        i++;
    if (i < steps->peers.n && steps->peers.at[i] == peer->host)
        return;
    if (lbm_vec_reserve(&steps->peers, 1) != LBM_OK) {
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a list of hosts");
        return;
    }
    memmove(&steps->peers.at[i + 1], &steps->peers.at[i], (steps->peers.n - i) * sizeof *steps->peers.at);
    steps->peers.at[i] = peer->host;
    steps->peers.n++;
}

static void
on_peer_down(void *context, uint32_t host)
{
    struct lbm_steps *steps = context;
    size_t n = 0;
    for (size_t i = 0; i < steps->peers.n; i++)
        if (steps->peers.at[i] != host)
            steps->peers.at[n++] = steps->peers.at[i];
    steps->peers.n = n;
}

/* ---- vertices come and go ------------------------------------------------------------------------------ */

static void
make_first(struct lbm_steps *steps, struct lbm_line *line)
{
    const struct lbmap_steps *program = &steps->program;
    struct lbm_state *state = lbm_state_new(NULL, program->state_size, program->state_size);
    lbm_line_begin(line, 0);
    if (state != NULL) {
        program->init(program->context, line->vertex, state->bytes);
        if (program->length != NULL)
            state->len = program->length(program->context, line->vertex, state->bytes);
    }
    if (state == NULL || lbm_line_push(line, state) != LBM_OK) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a state of %zu bytes", program->state_size);
    }
}

static void
on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct lbm_steps *steps = context;
    struct lbm_line *line = lbm_steps_line(steps, vertex);
    if (line == NULL)
        return;
    if (payload->len == 0) {
        make_first(steps, line);
    } else {
        enum lbm_err err = lbm_line_unpack(line, payload, steps->program.state_size);
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
    }
    if (steps->error != LBMAP_OK || lbm_vec_reserve(&steps->own, 1) != LBM_OK ||
        lbm_vec_reserve(&steps->fresh, 1) != LBM_OK) {
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for vertex %u", vertex);
        return;
    }
    line->token = token;
    line->at = steps->own.n;
    line->has_edges = 0;
    line->told_ms = 0;
    steps->own.at[steps->own.n++] = line;
    steps->fresh.at[steps->fresh.n++] = line;
    set_durable(steps, line, lbm_line_step(line));
    for (size_t i = 0; i < line->used.n; i++)
        count_neighbours(steps, line->used.at[i]);
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
            drop_passed(line->edges.at[i].to);
    }
    line->edges.n = 0;
    line->has_edges = 0;
    drop_passed(line);
}

static struct lbm_line *
own_line(struct lbm_steps *steps, uint32_t vertex, uint64_t token)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    return at != LBM_NONE && steps->lines.at[at]->token == token ? steps->lines.at[at] : NULL;
}

static void
on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct lbm_steps *steps = context;
    struct lbm_line *line = own_line(steps, vertex, token);
    struct lbm_buf buf = {0};
    if (line == NULL)
        return;
    drop_old(steps, line);
    lbm_line_pack(line, &buf);
    if (buf.failed || lbm_vec_push(&steps->payloads, buf) != LBM_OK)
        lbm_buf_free(&buf); /* it goes on from its checkpoint */
    else
        *payload = (struct lbmap_payload){buf.at, buf.len};
    leave(steps, line);
}

static void
on_revoked(void *context, uint32_t vertex, uint64_t token)
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

static void
on_edges(void *context, uint32_t vertex, uint64_t token, const struct lbmap_edge *edges, size_t n)
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
    count_neighbours(steps, line);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static struct lbm_state *
make_next(struct lbm_steps *steps, const struct lbm_line *line)
{
    const struct lbmap_steps *program = &steps->program;
    uint64_t at = lbm_line_step(line);
    const struct lbm_state *own = lbm_line_get(line, at);
    struct lbm_state *state = lbm_state_new(NULL, program->state_size, program->state_size);
    steps->views.n = 0;
    if (state == NULL || lbm_vec_reserve(&steps->views, line->edges.n) != LBM_OK) {
        free(state);
        return NULL;
    }
    for (size_t i = 0; i < line->edges.n; i++) {
        const struct lbm_edge *edge = &line->edges.at[i];
        const struct lbm_state *other = lbm_line_get(edge->to, at);
        LBM_ASSERT(other != NULL);
        steps->views.at[steps->views.n++] =
            (struct lbmap_neighbour){edge->to->vertex, edge->weight, other->bytes, other->len};
    }
    const struct lbmap_step step = {line->vertex, at, own->bytes, own->len, steps->views.at, steps->views.n};
    program->step(program->context, &step, state->bytes);
    if (program->length != NULL)
        state->len = program->length(program->context, line->vertex, state->bytes);
    if (state->len > program->state_size)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "vertex %u: a state of %zu bytes, state_size is %zu",
                       line->vertex, state->len, program->state_size);
    return state;
}

static void
do_step(struct lbm_steps *steps, struct lbm_line *line)
{
    struct lbm_state *state = make_next(steps, line);
    if (state == NULL || steps->error != LBMAP_OK || lbm_line_push(line, state) != LBM_OK) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a state of vertex %u", line->vertex);
        return;
    }
    send_last(steps, line);
    has_grown(steps, line);
    for (size_t i = 0; i < line->edges.n; i++)
        if (line->edges.at[i].to->token == 0)
            drop_passed(line->edges.at[i].to);
    count_neighbours(steps, line);
}

static void
work(struct lbm_steps *steps)
{
    int64_t end_ms = lbm_api_now_ms() + WORK_MS;
    while (steps->next < steps->ready.n && steps->error == LBMAP_OK) {
        struct lbm_line *line = steps->ready.at[steps->next];
        if (lbmap_lease_valid(steps->map) != LBMAP_WORK)
            return;
        steps->next++;
        line->queued = 0;
        if (line->token != 0 && line->has_edges) {
            /* it may have left and come back since */
            size_t have = 0;
            for (size_t i = 0; i < line->edges.n; i++)
                have += lbm_line_get(line->edges.at[i].to, lbm_line_step(line)) != NULL;
            line->have = have;
            if (have == line->edges.n && !is_done(steps, line) && line->n <= steps->window)
                do_step(steps, line);
        }
        if (lbm_api_now_ms() >= end_ms)
            break;
    }
    if (steps->next == steps->ready.n)
        steps->next = steps->ready.n = 0;
    if (steps->next > 4096 && steps->next > steps->ready.n / 2) {
        steps->ready.n -= steps->next;
        memmove(steps->ready.at, steps->ready.at + steps->next, steps->ready.n * sizeof *steps->ready.at);
        steps->next = 0;
    }
}

/* ---- checkpoints --------------------------------------------------------------------------------------- */

static uint64_t
unkept(const struct lbm_steps *steps, const struct lbm_line *line)
{
    uint64_t done = lbm_line_step(line) - line->durable;
    return is_done(steps, line) && done != 0 ? UINT64_MAX : done;
}

struct batch {
    struct lbm_buf buf;
    struct lbmap_state state[KEEP_AT_ONCE];
    size_t from[KEEP_AT_ONCE];
    struct lbm_line *line[KEEP_AT_ONCE];
    uint64_t step[KEEP_AT_ONCE];
    size_t n;
};

static void
tell_durable(struct lbm_steps *steps, const struct lbm_line *line)
{
    uint32_t host[HOSTS_OF_ONE];
    size_t n = find_hosts(line, host, HOSTS_OF_ONE);
    for (size_t i = 0; i < n; i++)
        lbm_mail_durable(steps, host[i], line);
}

/* What is not kept now is kept the next time, or is not ours any more. Nonzero if it is kept. */
static int
keep_batch(struct lbm_steps *steps, struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        batch->state[i].payload.bytes = batch->buf.at + batch->from[i];
    enum lbmap_error error =
        batch->buf.failed ? LBMAP_E_NOMEM : lbmap_checkpoint(steps->map, batch->state, batch->n);
    for (size_t i = 0; i < batch->n && error == LBMAP_OK; i++) {
        set_durable(steps, batch->line[i], batch->step[i]);
        tell_durable(steps, batch->line[i]);
    }
    if (error == LBMAP_E_NOMEM || error == LBMAP_E_RANGE)
        lbm_steps_fail(steps, error, "%s", lbmap_message(steps->map));
    batch->n = batch->buf.len = 0;
    batch->buf.failed = 0;
    return error == LBMAP_OK;
}

static void
keep(struct lbm_steps *steps)
{
    struct batch *batch = lbm_alloc(1, sizeof *batch);
    int is_well = batch != NULL;
    for (size_t i = 0; i < steps->own.n && is_well; i++) {
        struct lbm_line *line = steps->own.at[i];
        if (unkept(steps, line) < (steps->program.keep + 1) / 2)
            continue;
        drop_old(steps, line);
        size_t k = batch->n++;
        batch->from[k] = batch->buf.len;
        lbm_line_pack(line, &batch->buf);
        batch->line[k] = line;
        batch->step[k] = lbm_line_step(line);
        batch->state[k] =
            (struct lbmap_state){line->vertex, line->token, {NULL, batch->buf.len - batch->from[k]}};
        if (batch->n == KEEP_AT_ONCE || batch->buf.len >= KEEP_BYTES)
            is_well = keep_batch(steps, batch);
    }
    if (is_well && batch->n != 0)
        is_well = keep_batch(steps, batch);
    if (batch != NULL)
        lbm_buf_free(&batch->buf);
    free(batch);
    steps->keep_ms = 0;
}

static void
keep_if_due(struct lbm_steps *steps, int64_t now_ms)
{
    size_t due = 0;
    for (size_t i = 0; i < steps->own.n; i++)
        due += unkept(steps, steps->own.at[i]) >= steps->program.keep;
    if (due == 0)
        steps->keep_ms = 0;
    else if (steps->keep_ms == 0)
        steps->keep_ms = now_ms;
    int is_idle = steps->ready.n == 0;
    if (due != 0 && (is_idle || due * 2 > steps->own.n || now_ms - steps->keep_ms > KEEP_MS))
        keep(steps);
}

/* ---- what is missing ----------------------------------------------------------------------------------- */

static void
ask_again(struct lbm_steps *steps, const struct lbm_line *line, struct lbm_line *of, int64_t now_ms)
{
    unsigned doublings = of->asked < ASK_DOUBLINGS ? of->asked : ASK_DOUBLINGS;
    if (of->asked_ms == 0)
        of->asked_ms = now_ms; /* it is on its way, as a rule */
    if (now_ms - of->asked_ms < (int64_t)ASK_MS << doublings)
        return;
    of->asked_ms = now_ms;
    of->asked++;
    if (of->unheard++ < ASK_ALL && of->host != LBMAP_NOWHERE) {
        ask(steps, of->host, line, of);
        return;
    }
    for (size_t i = 0; i < steps->peers.n; i++)
        ask(steps, steps->peers.at[i], line, of);
}

/* A line that waits for a neighbour's state, or for word that one is kept. */
static void
look_for_missing(struct lbm_steps *steps, int64_t now_ms)
{
    for (size_t i = 0; i < steps->own.n; i++) {
        const struct lbm_line *line = steps->own.at[i];
        if (!line->has_edges || line->queued || is_done(steps, line))
            continue;
        for (size_t k = 0; k < line->edges.n; k++) {
            struct lbm_line *of = line->edges.at[k].to;
            int is_missing = lbm_line_get(of, lbm_line_step(line)) == NULL;
            int holds_up = line->n > steps->window && of->durable <= line->lo;
            if (of->token == 0 && (is_missing || holds_up))
                ask_again(steps, line, of, now_ms);
        }
    }
}

/* Vertices that have just come tell their neighbours where they are, and ask for what they need. */
static void
greet(struct lbm_steps *steps)
{
    for (size_t i = 0; i < steps->fresh.n; i++) {
        const struct lbm_line *line = steps->fresh.at[i];
        for (size_t k = 0; k < line->edges.n && line->token != 0; k++) {
            const struct lbm_line *of = line->edges.at[k].to;
            if (of->token == 0)
                ask(steps, of->host, line, of);
        }
    }
    steps->fresh.n = 0;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void
lbm_steps_collect(struct lbm_steps *steps, uint32_t host, uint32_t vertex, struct lbm_state *state)
{
    if (state == NULL || !is_known(steps, vertex)) {
        free(state);
        return;
    }
    if (steps->result == NULL)
        steps->result = lbm_alloc(lbmap_vertices(steps->map), sizeof(struct lbm_state *));
    if (steps->result == NULL) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for %u results", lbmap_vertices(steps->map));
        return;
    }
    if (steps->result[vertex] == NULL) {
        steps->result[vertex] = state;
        steps->n_done++;
    } else {
        free(state);
    }
    lbm_mail_got(steps, host, vertex);
}

void
lbm_steps_collected(struct lbm_steps *steps, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    if (at != LBM_NONE)
        steps->lines.at[at]->told_ms = INT64_MAX;
}

static void
tell_collector(struct lbm_steps *steps, int64_t now_ms)
{
    uint32_t here = lbmap_host(steps->map);
    uint32_t collector = steps->peers.n != 0 && steps->peers.at[0] < here ? steps->peers.at[0] : here;
    int is_new = collector != steps->collector;
    steps->collector = collector;
    for (size_t i = 0; i < steps->own.n; i++) {
        struct lbm_line *line = steps->own.at[i];
        if (is_new)
            line->told_ms = 0;
        if (!is_done(steps, line) || line->durable != lbm_line_step(line) || line->told_ms == INT64_MAX ||
            (line->told_ms != 0 && now_ms - line->told_ms < TELL_MS))
            continue;
        line->told_ms = now_ms;
        if (collector != here) {
            lbm_mail_done(steps, collector, line);
            continue;
        }
        const struct lbm_state *last = lbm_line_get(line, lbm_line_step(line));
        lbm_steps_collect(steps, here, line->vertex, lbm_state_new(last->bytes, last->len, last->len));
        line->told_ms = INT64_MAX;
    }
}

/* All results are here: hand them out, and tell everybody that there is nothing left to do. */
static void
finish(struct lbm_steps *steps)
{
    const struct lbmap_steps *program = &steps->program;
    for (uint32_t v = 0; v < lbmap_vertices(steps->map) && program->result != NULL && !steps->handed_out; v++)
        program->result(program->context, v, steps->result[v]->bytes, steps->result[v]->len);
    steps->handed_out = 1;
    enum lbmap_error error = lbmap_finish(steps->map);
    if (error == LBMAP_OK || error == LBMAP_E_BUSY)
        steps->finished = error == LBMAP_OK;
    else
        lbm_steps_fail(steps, error, "%s", lbmap_message(steps->map));
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static void
report_loads(struct lbm_steps *steps)
{
    const struct lbmap_steps *program = &steps->program;
    LBM_VEC(struct lbmap_load) loads = {0};
    if (lbm_vec_reserve(&loads, steps->own.n) != LBM_OK)
        return;
    for (size_t i = 0; i < steps->own.n; i++)
        loads.at[loads.n++] = (struct lbmap_load){steps->own.at[i]->vertex, steps->own.at[i]->token,
                                                  program->load(program->context, steps->own.at[i]->vertex)};
    if (lbmap_report_load(steps->map, loads.at, loads.n) == LBMAP_E_RANGE)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "%s", lbmap_message(steps->map));
    lbm_vec_free(&loads);
}

static void
look_at_timers(struct lbm_steps *steps)
{
    int64_t now_ms = lbm_api_now_ms();
    keep_if_due(steps, now_ms);
    if (now_ms >= steps->look_ms) {
        steps->look_ms = now_ms + LOOK_MS;
        look_for_missing(steps, now_ms);
        tell_collector(steps, now_ms);
    }
    if (steps->program.load != NULL && now_ms >= steps->load_ms) {
        steps->load_ms = now_ms + LOAD_MS;
        report_loads(steps);
    }
    if (steps->n_done == lbmap_vertices(steps->map))
        finish(steps);
}

static enum lbmap_error
dispatch(struct lbm_steps *steps)
{
    enum lbmap_error error = lbmap_dispatch(steps->map, steps->ready.n != 0 ? 0 : IDLE_MS);
    for (size_t i = 0; i < steps->payloads.n; i++)
        lbm_buf_free(&steps->payloads.at[i]);
    steps->payloads.n = 0;
    return error;
}

static void
run(struct lbm_steps *steps)
{
    while (steps->error == LBMAP_OK && !steps->finished) {
        enum lbmap_error error = dispatch(steps);
        if (error != LBMAP_OK) {
            lbm_steps_fail(steps, error, "%s", lbmap_message(steps->map));
            return;
        }
        if (steps->program.stop != NULL && *steps->program.stop) {
            lbm_steps_fail(steps, LBMAP_E_BUSY, "stopped by the program");
            return;
        }
        greet(steps);
        work(steps);
        lbm_mail_flush(steps);
        look_at_timers(steps);
        lbm_mail_flush(steps);
    }
}

/* ---- from outside -------------------------------------------------------------------------------------- */

/* Most steps between checkpoints that fit a payload: 3 keep + 3 states. */
static uint64_t
most_keep(const struct lbmap_steps *program)
{
    uint64_t states =
        program->state_size < LBMAP_PAYLOAD_MAX ? (LBMAP_PAYLOAD_MAX - 32) / (program->state_size + 4) : 0;
    return states < 6 ? 0 : (states - 3) / 3;
}

static void
check(struct lbm_steps *steps, const struct lbmap_steps *program)
{
    if (program->size < offsetof(struct lbmap_steps, stop)) {
        lbm_steps_fail(steps, LBMAP_E_RANGE, "size is %zu, not sizeof(struct lbmap_steps)", program->size);
        return;
    }
    memcpy(&steps->program, program, program->size < sizeof *program ? program->size : sizeof *program);
    uint64_t most = most_keep(program);
    if (program->job == NULL || program->init == NULL || program->step == NULL || program->state_size == 0)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "job, state_size, init or step is missing");
    else if (most == 0)
        lbm_steps_fail(steps, LBMAP_E_RANGE,
                       "a state of %zu bytes is too long: six of them, and 4 bytes each, fit %d",
                       program->state_size, LBMAP_PAYLOAD_MAX);
    else if (program->keep > most)
        lbm_steps_fail(steps, LBMAP_E_RANGE, "keep is %u: with states of %zu bytes it is %u at most",
                       program->keep, program->state_size, (unsigned)most);
    if (steps->program.keep == 0)
        steps->program.keep = most < KEEP_DEFAULT ? (uint32_t)most : KEEP_DEFAULT;
    steps->window = 3 * (uint64_t)steps->program.keep + 1;
}

static void
clean(struct lbm_steps *steps)
{
    for (uint32_t v = 0; steps->result != NULL && v < lbmap_vertices(steps->map); v++)
        free(steps->result[v]);
    free(steps->result);
    lbmap_close(steps->map);
    for (size_t i = 0; i < steps->lines.n; i++)
        lbm_line_free(steps->lines.at[i]);
    for (size_t i = 0; i < steps->out.n; i++)
        lbm_buf_free(&steps->out.at[i].rows);
    for (size_t i = 0; i < steps->payloads.n; i++)
        lbm_buf_free(&steps->payloads.at[i]);
    lbm_vec_free(&steps->lines);
    lbm_vec_free(&steps->own);
    lbm_vec_free(&steps->ready);
    lbm_vec_free(&steps->fresh);
    lbm_vec_free(&steps->out);
    lbm_vec_free(&steps->views);
    lbm_vec_free(&steps->peers);
    lbm_vec_free(&steps->payloads);
    lbm_idmap_free(&steps->at);
}

enum lbmap_error
lbmap_steps(const struct lbmap_steps *program, char *message, size_t len)
{
    struct lbm_steps steps = {.nowhere.failed = 1, .collector = LBMAP_NOWHERE};
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = &steps,
                                              .acquire = on_acquire,
                                              .release = on_release,
                                              .revoked = on_revoked,
                                              .edges = on_edges,
                                              .peer_up = on_peer_up,
                                              .peer_down = on_peer_down,
                                              .message = on_message};
    enum lbmap_error error = LBMAP_OK;
    check(&steps, program);
    if (steps.error == LBMAP_OK && (error = lbmap_open(program->socket_path, &steps.map)) != LBMAP_OK)
        lbm_steps_fail(&steps, error, "the daemon of this host: %s", lbmap_strerror(error));
    if (steps.error == LBMAP_OK && ((error = lbmap_attach(steps.map, program->job)) != LBMAP_OK ||
                                    (error = lbmap_serve(steps.map, &callbacks)) != LBMAP_OK ||
                                    (error = lbmap_publish(steps.map, NULL, 0)) != LBMAP_OK))
        lbm_steps_fail(&steps, error, "%s", lbmap_message(steps.map));
    if (steps.error == LBMAP_OK)
        run(&steps);
    clean(&steps);
    if (len != 0)
        snprintf(message, len, "%s", steps.message);
    return steps.error;
}
