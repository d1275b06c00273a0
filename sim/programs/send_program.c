/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of lbmap_send. Each vertex ticks a number of times, and sends with each tick: to vertices and with
 * contents that depend on nothing but vertex and tick, or, if messages wait for checkpoints (`send_kept`), on
 * chance, and then a message may be answered with another one. A vertex counts in its state what it has sent
 * to each other and heard of it, and mixes the contents into two chains: at the end those of a sender and of
 * its receiver are equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/programs/programs.h"

enum {
    MESSAGES_OF_JOB = 3000, /* about */
    TICKS_LEAST = 4,
    TICKS_MOST = 60,
    EACH_MOST = 3, /* messages of a tick */
    ROUND_MS = 20,
    WORK_US = 3000,   /* of a tick, at most */
    BYTES_MOST = 200, /* of a message, beyond its head */
    ANSWERED_ONE_IN = 4,
    ANSWERS_MOST = 2, /* of a message, its answer, and so on */
    ANSWER_TAG = 7,
};

/* What a vertex has sent to another one, and heard of it. */
struct pair {
    uint64_t n_sent, sent, n_heard, heard;
};

/* Of a vertex: in memory, in payloads, and as it was last kept. */
struct vertex_state {
    uint64_t ticks, part; /* ticks that are done, messages of the next one that are sent */
    struct pair pair[];   /* [n] */
};

struct send_truth {
    uint32_t ticks;
    int send_kept;
    int64_t keep_us;            /* between checkpoints */
    struct vertex_state **kept; /* [n] as promised to be kept, or given with the vertex */
};

struct message {
    uint64_t number, content;
    uint32_t hops, padding;
};

/* A vertex that is held. */
struct own {
    uint32_t vertex;
    uint64_t token;
    struct vertex_state *state;
    int is_changed; /* since it was kept */
};

struct sender {
    struct program *p;
    struct lbmap *map;
    LBM_VEC(struct own) own;
    LBM_VEC(void *) released; /* payloads of the dispatch in progress */
};

static const struct send_truth *
truth_of(const struct program *p)
{
    return p->of->truth;
}

static size_t
state_bytes(const struct program_job *of)
{
    return sizeof(struct vertex_state) + of->n * sizeof(struct pair);
}

static struct own *
find(const struct sender *s, uint32_t vertex)
{
    for (size_t i = 0; i < s->own.n; i++)
        if (s->own.at[i].vertex == vertex)
            return &s->own.at[i];
    return NULL;
}

/* ---- what is kept ----------------------------------------------------------------------------------------
 */

/* Nonzero if a state is one before another. */
static int
is_before(const struct program_job *of, const struct vertex_state *state, const struct vertex_state *other)
{
    int is = state->ticks < other->ticks;
    for (uint32_t v = 0; v < of->n; v++)
        is |=
            state->pair[v].n_sent < other->pair[v].n_sent || state->pair[v].n_heard < other->pair[v].n_heard;
    return is;
}

static void
is_kept(struct program *p, uint32_t vertex, const struct vertex_state *state)
{
    struct vertex_state *kept = truth_of(p)->kept[vertex];
    if (!p->is_dead && !is_before(p->of, state, kept))
        memcpy(kept, state, state_bytes(p->of));
}

/* Nonzero if all have ticked and all that was sent is heard, by what is kept. P6: then it is the same. */
static int
is_complete(struct program_job *of)
{
    const struct send_truth *truth = of->truth;
    for (uint32_t v = 0; v < of->n; v++)
        if (truth->kept[v]->ticks < truth->ticks)
            return 0;
    for (uint32_t v = 0; v < of->n; v++)
        for (uint32_t w = 0; w < of->n; w++)
            if (truth->kept[v]->pair[w].n_sent != truth->kept[w]->pair[v].n_heard)
                return 0;
    for (uint32_t v = 0; v < of->n; v++)
        for (uint32_t w = 0; w < of->n; w++)
            if (truth->kept[v]->pair[w].sent != truth->kept[w]->pair[v].heard)
                check_violated(&of->cluster->check, "P6",
                               "%s: vertex %" PRIu32 " has sent other messages to vertex %" PRIu32
                               " than that one has heard",
                               of->name, v, w);
    return 1;
}

/* ---- callbacks -------------------------------------------------------------------------------------------
 */

static void
on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct sender *s = context;
    struct own own = {.vertex = vertex, .token = token, .state = lbm_alloc(1, state_bytes(s->p->of))};
    LBM_ASSERT(own.state != NULL);
    if (payload->len == state_bytes(s->p->of))
        memcpy(own.state, payload->bytes, payload->len);
    else if (payload->len != 0)
        program_violates(s->p, "P5", "vertex %" PRIu32 " has a payload of %zu bytes", vertex, payload->len);
    if (is_before(s->p->of, own.state, truth_of(s->p)->kept[vertex]))
        program_violates(s->p, "P5", "vertex %" PRIu32 " begins from a state before one that was kept",
                         vertex);
    if (payload->len != 0)
        is_kept(s->p, vertex, own.state);
    LBM_ASSERT(lbm_vec_push(&s->own, own) == LBM_OK);
}

static void
drop(struct sender *s, struct own *own)
{
    free(own->state);
    *own = s->own.at[--s->own.n];
}

static void
on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct sender *s = context;
    struct own *own = find(s, vertex);
    (void)token;
    void *bytes = lbm_copy(own->state, state_bytes(s->p->of), 1);
    LBM_ASSERT(bytes != NULL && lbm_vec_push(&s->released, bytes) == LBM_OK);
    *payload = (struct lbmap_payload){bytes, state_bytes(s->p->of)};
    drop(s, own);
}

static void
on_revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct sender *s = context;
    (void)token;
    drop(s, find(s, vertex));
}

/* Send a message, and count it. Returns 0 if it cannot be sent now. */
static int
send_one(struct sender *s, struct own *own, uint32_t to, uint64_t content, uint32_t hops)
{
    uint8_t bytes[sizeof(struct message) + BYTES_MOST] = {0};
    struct pair *pair = &own->state->pair[to];
    const struct message message = {pair->n_sent + 1, content, hops, 0};
    memcpy(bytes, &message, sizeof message);
    enum lbmap_error error = lbmap_send(s->map, own->vertex, to, hops != 0 ? ANSWER_TAG : 0, bytes,
                                        sizeof message + content % BYTES_MOST);
    if (error != LBMAP_OK && error != LBMAP_E_BUSY && error != LBMAP_E_STATE)
        program_violates(s->p, "P0", "lbmap_send: %s", lbmap_message(s->map));
    if (error != LBMAP_OK)
        return 0;
    pair->n_sent++;
    pair->sent = hash_number(pair->sent, content);
    own->is_changed = 1;
    return 1;
}

static void
on_deliver(void *context, uint32_t to, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct sender *s = context;
    struct own *own = find(s, to);
    struct message message;
    if (own == NULL || n < sizeof message || from >= s->p->of->n) {
        program_violates(s->p, "P5",
                         "a message of %zu bytes from vertex %" PRIu32 " to %" PRIu32 ", which is not held",
                         n, from, to);
        return;
    }
    memcpy(&message, bytes, sizeof message);
    struct pair *pair = &own->state->pair[from];
    if (message.number != pair->n_heard + 1)
        program_violates(s->p, "P5",
                         "vertex %" PRIu32 " hears message %" PRIu64 " of vertex %" PRIu32 " after %" PRIu64,
                         to, message.number, from, pair->n_heard);
    if (n != sizeof message + message.content % BYTES_MOST || (tag == ANSWER_TAG) != (message.hops != 0))
        program_violates(s->p, "P5", "vertex %" PRIu32 " hears another message than was sent", to);
    pair->n_heard++;
    pair->heard = hash_number(pair->heard, message.content);
    own->is_changed = 1;
    if (truth_of(s->p)->send_kept && message.hops < ANSWERS_MOST && program_draw(s->p, ANSWERED_ONE_IN) == 0)
        (void)send_one(s, own, from, lbm_rng_next(&s->p->of->cluster->rng), message.hops + 1);
}

/* ---- the program -----------------------------------------------------------------------------------------
 */

/* Who the next message of a tick goes to: a neighbour, or any vertex. */
static uint32_t
draw_target(const struct program_job *of, uint32_t vertex, uint64_t draw)
{
    uint64_t first = of->g.offset[vertex], degree = of->g.offset[vertex + 1] - first;
    return draw % 3 == 0 || degree == 0 ? (uint32_t)(draw / 3 % of->n)
                                        : of->g.target[first + draw / 3 % degree];
}

/* What is left of the next tick. */
static void
tick(struct sender *s, struct own *own)
{
    const struct program_job *of = s->p->of;
    struct vertex_state *state = own->state;
    uint64_t n = 1 + hash_number(own->vertex, state->ticks) % EACH_MOST;
    for (; state->part < n; state->part++) {
        uint64_t drawn = hash_number(hash_number(of->cluster->options.seed, own->vertex),
                                     state->ticks * EACH_MOST + state->part);
        uint64_t content =
            truth_of(s->p)->send_kept ? lbm_rng_next(&of->cluster->rng) : hash_number(drawn, 1);
        if (!send_one(s, own, draw_target(of, own->vertex, drawn), content, 0))
            return;
    }
    state->part = 0;
    state->ticks++;
    own->is_changed = 1;
}

static void
work(struct sender *s)
{
    uint32_t least = 1 + program_draw(s->p, 8);
    for (size_t i = 0; i < s->own.n && least != 0; i++) {
        size_t k = (i + program_draw(s->p, 3)) % s->own.n;
        if (s->own.at[k].state->ticks >= truth_of(s->p)->ticks || lbmap_lease_valid(s->map) != LBMAP_WORK)
            continue;
        if (!program_works(s->p, s->own.at[k].vertex, 1 + program_draw(s->p, WORK_US)))
            return;
        tick(s, &s->own.at[k]);
        least--;
    }
}

static void
keep(struct sender *s)
{
    LBM_VEC(struct lbmap_state) states = {0};
    LBM_VEC(struct own *) own = {0};
    for (size_t i = 0; i < s->own.n; i++) {
        const struct lbmap_payload payload = {s->own.at[i].state, state_bytes(s->p->of)};
        const struct lbmap_state state = {s->own.at[i].vertex, s->own.at[i].token, payload};
        if (!s->own.at[i].is_changed)
            continue;
        LBM_ASSERT(lbm_vec_push(&states, state) == LBM_OK && lbm_vec_push(&own, &s->own.at[i]) == LBM_OK);
    }
    if (states.n != 0 && lbmap_checkpoint(s->map, states.at, states.n) == LBMAP_OK)
        for (size_t i = 0; i < own.n; i++) {
            own.at[i]->is_changed = 0;
            is_kept(s->p, own.at[i]->vertex, own.at[i]->state);
        }
    lbm_vec_free(&states);
    lbm_vec_free(&own);
}

static enum lbmap_error
turn(struct sender *s)
{
    enum lbmap_error error = lbmap_dispatch(s->map, program_draw(s->p, ROUND_MS));
    for (size_t i = 0; i < s->released.n; i++)
        free(s->released.at[i]);
    s->released.n = 0;
    return error;
}

static enum lbmap_error
serve(struct sender *s, const struct lbmap_callbacks *callbacks)
{
    struct program *p = s->p;
    enum lbmap_error error = lbmap_open("socket", &s->map);
    if (error == LBMAP_OK)
        error = lbmap_attach(s->map, p->of->name);
    if (error == LBMAP_OK)
        error = lbmap_serve(s->map, callbacks);
    int64_t kept_us = p->of->cluster->now_us;
    while (error == LBMAP_OK && !p->is_dead && !p->of->is_done) {
        error = turn(s);
        if (error == LBMAP_OK)
            work(s);
        if (error == LBMAP_OK && p->of->cluster->now_us - kept_us >= truth_of(p)->keep_us) {
            keep(s);
            kept_us = p->of->cluster->now_us;
            p->of->is_done |= !p->is_dead && is_complete(p->of);
        }
    }
    return error;
}

static enum lbmap_error
main_of_send(struct program *p, char *message, size_t len)
{
    struct sender s = {.p = p};
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = &s,
                                              .acquire = on_acquire,
                                              .release = on_release,
                                              .revoked = on_revoked,
                                              .deliver = on_deliver,
                                              .send_kept = truth_of(p)->send_kept};
    enum lbmap_error error = serve(&s, &callbacks);
    if (s.map != NULL)
        snprintf(message, len, "%s", lbmap_message(s.map));
    lbmap_close(s.map);
    while (s.own.n != 0)
        drop(&s, &s.own.at[0]);
    for (size_t i = 0; i < s.released.n; i++)
        free(s.released.at[i]);
    lbm_vec_free(&s.own);
    lbm_vec_free(&s.released);
    return error;
}

/* ---- jobs ------------------------------------------------------------------------------------------------
 */

static void
begin(struct program_job *of)
{
    struct send_truth *truth = lbm_alloc(1, sizeof *truth);
    uint32_t ticks = MESSAGES_OF_JOB / 2 / of->n;
    of->truth = truth;
    truth->ticks = ticks < TICKS_LEAST ? TICKS_LEAST : ticks > TICKS_MOST ? TICKS_MOST : ticks;
    truth->send_kept = lbm_rng_below(&of->rng, 2) != 0;
    truth->keep_us = 100000 + lbm_rng_below(&of->rng, 1500000);
    truth->kept = lbm_alloc(of->n, sizeof(struct vertex_state *));
    for (uint32_t v = 0; v < of->n; v++)
        truth->kept[v] = lbm_alloc(1, state_bytes(of));
}

static void
end(struct program_job *of)
{
    struct send_truth *truth = of->truth;
    for (uint32_t v = 0; v < of->n; v++)
        free(truth->kept[v]);
    free(truth->kept);
    free(truth);
}

static void
tell(const struct program_job *of, char *text, size_t len)
{
    const struct send_truth *truth = of->truth;
    uint64_t ticks = 0, sent = 0, heard = 0;
    for (uint32_t v = 0; v < of->n; v++) {
        ticks += truth->kept[v]->ticks;
        for (uint32_t w = 0; w < of->n; w++) {
            sent += truth->kept[v]->pair[w].n_sent;
            heard += truth->kept[v]->pair[w].n_heard;
        }
    }
    snprintf(text, len,
             "has %" PRIu64 " ticks of %" PRIu64 ", %" PRIu64 " messages sent, %" PRIu64 " heard%s", ticks,
             (uint64_t)truth->ticks * of->n, sent, heard, truth->send_kept ? ", send_kept" : "");
}

const struct program_kind program_send = {
    .name = "send", .begin = begin, .end = end, .main = main_of_send, .tell = tell};
