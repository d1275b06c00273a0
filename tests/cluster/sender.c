/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sender JOB SOCKET COUNT FILE: every vertex sends COUNT numbered messages, one after the other to its
 * neighbours on a ring and to random vertices, and counts what it gets: how many, the sum of what they carry,
 * and how often one of a sender came out of order. FILE has a line for every vertex that is held here:
 * vertex, sent, got, expected, 1 if the sum is right, out of order, moves heard of. Until SIGTERM. SEND_KEPT
 * in the environment: messages wait for checkpoints. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbmap_steps.h"
#include "tests/cluster/serving.h"

enum { SEED = 11, WAIT_MS = 4, KEEP_US = 300000, WRITE_US = 500000, END_S = 300 };

/* What is kept of a vertex. */
struct state {
    uint64_t sum;
    uint32_t sent, got, disorder;
    uint32_t next[]; /* [n] of each sender: it sends that or a later one */
};

struct message {
    uint64_t value;
    uint32_t index;
};

struct expected {
    uint64_t sum;
    uint32_t got;
};

struct sender {
    struct lbmap *map;
    uint32_t n, count, moves;
    struct state **own; /* [n] NULL: not held */
    uint64_t *token;    /* [n] */
    struct expected *expected;
    struct state **released; /* [n] of this dispatch */
};

static size_t
state_bytes(const struct sender *sender)
{
    return sizeof(struct state) + sender->n * sizeof(uint32_t);
}

static uint32_t
receiver(const struct sender *sender, uint32_t from, uint32_t index)
{
    uint32_t n = sender->n;
    return index % 3 == 0   ? (from + 1) % n
           : index % 3 == 1 ? (from + n - 1) % n
                            : (uint32_t)(lbmap_random(SEED, from, index, 0) % n);
}

static uint64_t
value_of(uint32_t from, uint32_t index)
{
    return lbmap_random(SEED, from, index, 1) >> 16;
}

static void
expect(struct sender *sender)
{
    for (uint32_t v = 0; v < sender->n; v++)
        for (uint32_t i = 0; i < sender->count; i++) {
            struct expected *of = &sender->expected[receiver(sender, v, i)];
            of->sum += value_of(v, i);
            of->got++;
        }
}

static void
acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct sender *sender = context;
    struct state *state = calloc(1, state_bytes(sender));
    if (state == NULL || (payload->len != 0 && payload->len != state_bytes(sender))) {
        fprintf(stderr, "sender: vertex %" PRIu32 " comes with %zu bytes\n", vertex, payload->len);
        abort();
    }
    if (payload->len != 0)
        memcpy(state, payload->bytes, payload->len);
    free(sender->own[vertex]);
    sender->own[vertex] = state;
    sender->token[vertex] = token;
}

static void
release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct sender *sender = context;
    (void)token;
    *payload = (struct lbmap_payload){sender->own[vertex], state_bytes(sender)};
    free(sender->released[vertex]);
    sender->released[vertex] = sender->own[vertex];
    sender->own[vertex] = NULL;
}

static void
revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct sender *sender = context;
    (void)token;
    free(sender->own[vertex]);
    sender->own[vertex] = NULL;
}

static void
deliver(void *context, uint32_t to, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct sender *sender = context;
    struct state *state = sender->own[to];
    const struct message *message = bytes;
    if (state == NULL || n != sizeof *message || tag != message->index ||
        receiver(sender, from, message->index) != to || message->value != value_of(from, message->index)) {
        fprintf(stderr, "sender: vertex %" PRIu32 " gets what is not for it\n", to);
        abort();
    }
    state->got++;
    state->sum += message->value;
    state->disorder += message->index < state->next[from];
    state->next[from] = message->index + 1;
}

static void
vertex_moved(void *context, uint32_t vertex, uint32_t host)
{
    (void)vertex, (void)host;
    ((struct sender *)context)->moves++;
}

static void
send_some(struct sender *sender)
{
    for (uint32_t v = 0; v < sender->n && lbmap_lease_valid(sender->map) == LBMAP_WORK; v++) {
        struct state *state = sender->own[v];
        if (state == NULL || state->sent == sender->count)
            continue;
        const struct message message = {value_of(v, state->sent), state->sent};
        enum lbmap_error error = lbmap_send(sender->map, v, receiver(sender, v, state->sent), state->sent,
                                            &message, sizeof message);
        if (error == LBMAP_OK)
            state->sent++;
        else if (error != LBMAP_E_BUSY && error != LBMAP_E_STATE)
            fprintf(stderr, "sender: %s\n", lbmap_message(sender->map));
    }
}

/* What cannot be kept now is kept the next time. Messages come and go while a checkpoint is on its way. */
static void
keep(struct sender *sender)
{
    int done = 1;
    (void)lbmap_checkpoint_done(sender->map, &done);
    if (!done)
        return;
    struct lbmap_state *list = calloc(sender->n, sizeof *list);
    size_t n = 0;
    for (uint32_t v = 0; v < sender->n && list != NULL; v++)
        if (sender->own[v] != NULL)
            list[n++] = (struct lbmap_state){v, sender->token[v], {sender->own[v], state_bytes(sender)}};
    if (n != 0)
        (void)lbmap_checkpoint_start(sender->map, list, n);
    free(list);
}

static void
write_all(const struct sender *sender, const char *path)
{
    char temporary[512];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    for (uint32_t v = 0; file != NULL && v < sender->n; v++) {
        const struct state *state = sender->own[v];
        if (state != NULL)
            fprintf(file, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %" PRIu32 " %" PRIu32 "\n", v,
                    state->sent, state->got, sender->expected[v].got, state->sum == sender->expected[v].sum,
                    state->disorder, sender->moves);
    }
    if (file == NULL || fclose(file) != 0 || rename(temporary, path) != 0)
        perror(path);
}

static void
work(struct sender *sender, const char *path)
{
    int64_t keep_us = 0, write_us = 0;
    while (!serving_stopped) {
        enum lbmap_error error = lbmap_dispatch(sender->map, WAIT_MS);
        for (uint32_t v = 0; v < sender->n; v++) {
            free(sender->released[v]);
            sender->released[v] = NULL;
        }
        if (error != LBMAP_OK) {
            fprintf(stderr, "sender: %s\n", lbmap_message(sender->map));
            return;
        }
        send_some(sender);
        if (serving_now_us() >= keep_us) {
            keep(sender);
            keep_us = serving_now_us() + KEEP_US;
        }
        if (serving_now_us() >= write_us) {
            write_all(sender, path);
            write_us = serving_now_us() + WRITE_US;
        }
    }
    write_all(sender, path);
}

int
main(int argc, char **argv)
{
    enum lbmap_error error = LBMAP_OK;
    if (argc != 5) {
        fprintf(stderr, "usage: sender JOB SOCKET COUNT FILE\n");
        return 2;
    }
    serving_until_stopped();
    struct sender sender = {.count = (uint32_t)strtoul(argv[3], NULL, 10)};
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = &sender,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked,
                                              .deliver = deliver,
                                              .vertex_moved = vertex_moved,
                                              .send_kept = getenv("SEND_KEPT") != NULL};
    sender.map = serving_open(argv[1], argv[2], serving_now_us() + END_S * INT64_C(1000000), &error);
    if (sender.map == NULL) {
        fprintf(stderr, "sender: %s\n", lbmap_strerror(error));
        return 1;
    }
    lbmap_set_timeout(sender.map, 3000);
    sender.n = lbmap_vertices(sender.map);
    sender.own = calloc(sender.n, sizeof *sender.own);
    sender.released = calloc(sender.n, sizeof *sender.released);
    sender.token = calloc(sender.n, sizeof *sender.token);
    sender.expected = calloc(sender.n, sizeof *sender.expected);
    expect(&sender);
    while ((error = lbmap_serve(sender.map, &callbacks)) == LBMAP_E_BUSY && !serving_stopped)
        continue; /* the program before may be served for a moment yet */
    if (error == LBMAP_OK)
        work(&sender, argv[4]);
    else
        fprintf(stderr, "sender: %s\n", lbmap_message(sender.map));
    lbmap_close(sender.map);
    return serving_stopped ? 0 : 1;
}
