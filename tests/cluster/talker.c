/* SPDX-License-Identifier: GPL-3.0-or-later */
/* talker: an application whose vertices talk, as its test wants. It serves a job, counts and lets weights
 * follow.
 *
 *     talker JOB SOCKET WIDTH BLOCK RATE
 *
 * Vertices are a grid, WIDTH in a row, and neighbours in the same block of BLOCK x BLOCK vertices say RATE a
 * second to each other; nobody else says anything. It ends on SIGTERM. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lbmap.h"
#include "tests/cluster/serving.h"

enum { STEP_MS = 50, STEPS_FOLLOW = 20, OPEN_US = 20000000 };

struct talker {
    uint32_t n, width, block;
    double rate;
    uint8_t *held; /* [n] */
};

static void
acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    (void)token;
    (void)payload;
    ((struct talker *)context)->held[vertex] = 1;
}

static void
release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    (void)token;
    ((struct talker *)context)->held[vertex] = 0;
    *payload = (struct lbmap_payload){NULL, 0};
}

static void
revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct lbmap_payload none;
    release(context, vertex, token, &none);
}

/* Both ends count what they say to each other, if they are there and in one block. */
static void
talk(const struct talker *t, struct lbmap *map, uint32_t u, uint32_t v, double amount)
{
    uint32_t x = u % t->width, y = u / t->width, right = v % t->width, below = v / t->width;
    if (v >= t->n || x / t->block != right / t->block || y / t->block != below / t->block)
        return;
    if (t->held[u])
        (void)lbmap_count(map, u, v, amount);
    if (t->held[v])
        (void)lbmap_count(map, v, u, amount);
}

static int
run(const struct talker *t, struct lbmap *map)
{
    int64_t last_us = serving_now_us();
    for (int step = 1; !serving_stopped; step++) {
        if (lbmap_dispatch(map, STEP_MS) != LBMAP_OK) {
            fprintf(stderr, "talker: %s\n", lbmap_message(map));
            return 1;
        }
        int64_t at_us = serving_now_us();
        double amount = t->rate * (double)(at_us - last_us) / 1e6;
        for (uint32_t u = 0; u < t->n; u++) {
            if ((u + 1) % t->width != 0)
                talk(t, map, u, u + 1, amount);
            talk(t, map, u, u + t->width, amount);
        }
        last_us = at_us;
        if (step % STEPS_FOLLOW == 0 && lbmap_follow_counts(map, 1) != LBMAP_OK)
            fprintf(stderr, "talker: %s\n", lbmap_message(map));
    }
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: talker JOB SOCKET WIDTH BLOCK RATE\n");
        return 2;
    }
    struct talker t = {
        .width = (uint32_t)atoi(argv[3]), .block = (uint32_t)atoi(argv[4]), .rate = atof(argv[5])};
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = &t,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked};
    enum lbmap_error error;
    int status = 1;
    serving_until_stopped();
    struct lbmap *map = serving_open(argv[1], argv[2], serving_now_us() + OPEN_US, &error);
    t.n = map != NULL ? lbmap_vertices(map) : 0;
    t.held = calloc(t.n + 1, 1);
    if (map != NULL && t.held != NULL && lbmap_serve(map, &callbacks) == LBMAP_OK)
        status = run(&t, map);
    else
        fprintf(stderr, "talker: %s at %s cannot be served\n", argv[1], argv[2]);
    lbmap_close(map);
    free(t.held);
    return status;
}
