/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linker: two applications in one process, each at the daemon of its own host; one changes edges, and the
 * other one hears of it. The guest is a lattice, whose edges they know.
 *
 *     linker JOB SOCKET SOCKET SIDE
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbmap.h"
#include "tests/cluster/serving.h"

enum { OPEN_US = 30000000, TIMEOUT_US = 20000000, EDGES_MAX = 16, STRONG = 7 };

/* What an application has been told of a vertex. */
struct known {
    uint64_t token; /* 0: it is not held */
    struct lbmap_edge edge[EDGES_MAX];
    size_t n;
    int is_told; /* since it was acquired */
};

struct side {
    struct lbmap *map;
    struct known *known; /* [n] by vertex */
    uint32_t n;
};

static void
acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct side *side = context;
    (void)payload;
    if (vertex < side->n)
        side->known[vertex] = (struct known){.token = token};
}

static void
release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct side *side = context;
    (void)token;
    if (vertex < side->n)
        side->known[vertex].token = 0;
    *payload = (struct lbmap_payload){NULL, 0};
}

static void
revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct lbmap_payload none;
    release(context, vertex, token, &none);
}

static void
edges(void *context, uint32_t vertex, uint64_t token, const struct lbmap_edge *edges, size_t n)
{
    struct side *side = context;
    struct known *known = vertex < side->n ? &side->known[vertex] : NULL;
    if (known == NULL || known->token != token || n > EDGES_MAX)
        return;
    known->n = n;
    for (size_t i = 0; i < n; i++)
        known->edge[i] = edges[i];
    known->is_told = 1;
}

/* Weight of an edge as it was told, 0: none. */
static uint32_t
weight(const struct known *known, uint32_t other)
{
    for (size_t i = 0; i < known->n; i++)
        if (known->edge[i].other == other)
            return known->edge[i].weight;
    return 0;
}

static int
begin(struct side *side, const char *job, const char *path)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = side,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked,
                                              .edges = edges};
    enum lbmap_error error;
    side->map = serving_open(job, path, serving_now_us() + OPEN_US, &error);
    if (side->map == NULL)
        return 0;
    side->n = lbmap_vertices(side->map);
    side->known = calloc(side->n, sizeof *side->known);
    return side->known != NULL && lbmap_serve(side->map, &callbacks) == LBMAP_OK;
}

static uint32_t
count_held(const struct side *side)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < side->n; v++)
        n += side->known[v].token != 0;
    return n;
}

/* A vertex that is held and has no neighbour on the other side. */
static uint32_t
inner(const struct side *side)
{
    for (uint32_t v = 0; v < side->n; v++) {
        const struct known *known = &side->known[v];
        size_t i = 0;
        while (known->token != 0 && i < known->n && side->known[known->edge[i].other].token != 0)
            i++;
        if (known->token != 0 && i == known->n)
            return v;
    }
    return side->n;
}

static int
said(const char *what, int holds)
{
    printf("%s: %s\n", holds ? "ok" : "FAILED", what);
    return holds;
}

/* Every edge of the lattice, and no other, was told at once with its vertices. */
static int
knows_lattice(const struct side *side, uint32_t width)
{
    for (uint32_t v = 0; v < side->n; v++) {
        const struct known *known = &side->known[v];
        uint32_t x = v % width, degree = (x > 0) + (x + 1 < width) + (v >= width) + (v + width < side->n);
        if (known->token == 0)
            continue;
        int has_row = (x == 0 || weight(known, v - 1) == 1) && (x + 1 == width || weight(known, v + 1) == 1);
        int has_column = (v < width || weight(known, v - width) == 1) &&
                         (v + width >= side->n || weight(known, v + width) == 1);
        if (!known->is_told || known->n != degree || !has_row || !has_column)
            return 0;
    }
    return 1;
}

/* Dispatch until `at` has heard that u's edge to v weighs so much. */
static int
hears(struct side *two, struct side *at, uint32_t u, uint32_t v, uint32_t wanted)
{
    int64_t end_us = serving_now_us() + TIMEOUT_US;
    while (serving_now_us() < end_us && weight(&at->known[u], v) != wanted)
        for (int i = 0; i < 2; i++)
            if (lbmap_dispatch(two[i].map, 20) != LBMAP_OK)
                return 0;
    return weight(&at->known[u], v) == wanted && at->known[u].token != 0;
}

/* A change by one side; vertices that are on their way just now are tried again. */
static int
change(struct side *two, struct side *by, uint32_t u, uint32_t v, uint32_t bandwidth, int removed)
{
    const struct lbmap_edge_change edge = {u, v, bandwidth};
    int64_t end_us = serving_now_us() + TIMEOUT_US;
    enum lbmap_error error = LBMAP_E_BUSY;
    while (error == LBMAP_E_BUSY && serving_now_us() < end_us) {
        const struct lbmap_vertex_change vertex = {
            .vertex = u, .token = by->known[u].token, .removed = removed};
        error = lbmap_change(by->map, &vertex, 1, &edge, removed ? 0 : 1);
        for (int i = 0; i < 2; i++)
            (void)lbmap_dispatch(two[i].map, 20);
    }
    if (error != LBMAP_OK)
        printf("change of vertex %u: %s\n", u, lbmap_message(by->map));
    return error == LBMAP_OK;
}

static int
run(struct side *two, uint32_t width)
{
    int64_t end_us = serving_now_us() + TIMEOUT_US;
    while (count_held(&two[0]) + count_held(&two[1]) < two[0].n && serving_now_us() < end_us)
        for (int i = 0; i < 2; i++)
            if (lbmap_dispatch(two[i].map, 20) != LBMAP_OK)
                return 0;
    int good = said("each side holds vertices", count_held(&two[0]) != 0 && count_held(&two[1]) != 0);
    good &= said("edges come with vertices", knows_lattice(&two[0], width) && knows_lattice(&two[1], width));
    uint32_t u = inner(&two[0]), v = inner(&two[1]);
    if (!good || !said("each side has a vertex inside", u < two[0].n && v < two[1].n))
        return 0;
    good &= said("one side makes an edge", change(two, &two[0], u, v, STRONG, 0));
    good &= said("the other one hears of it", hears(two, &two[1], v, u, STRONG));
    good &= said("and so does the one that made it", hears(two, &two[0], u, v, STRONG));
    good &= said("the other one makes it weaker", change(two, &two[1], v, u, STRONG - 1, 0));
    good &= said("the one hears of it", hears(two, &two[0], u, v, STRONG - 1));
    good &= said("the one takes it away", change(two, &two[0], u, v, 0, 0));
    good &= said("the other one hears of it", hears(two, &two[1], v, u, 0));
    good &= said("it is made again", change(two, &two[0], u, v, 1, 0) && hears(two, &two[1], v, u, 1));
    good &= said("one end goes", change(two, &two[0], u, v, 0, 1));
    good &= said("the other one hears of it", hears(two, &two[1], v, u, 0));
    uint32_t w = inner(&two[0]); /* what comes and goes may do so between two looks of who records it */
    good &= said("an edge stays",
                 w < two[0].n && change(two, &two[0], w, v, STRONG, 0) && hears(two, &two[1], v, w, STRONG));
    return good;
}

int
main(int argc, char **argv)
{
    struct side two[2] = {{0}};
    if (argc != 5) {
        fprintf(stderr, "usage: linker JOB SOCKET SOCKET SIDE\n");
        return 2;
    }
    int good = begin(&two[0], argv[1], argv[2]) && begin(&two[1], argv[1], argv[3]) &&
               run(two, (uint32_t)strtoul(argv[4], NULL, 10));
    for (int i = 0; i < 2; i++) {
        if (!good && two[i].map != NULL)
            printf("FAILED: %s\n", lbmap_message(two[i].map));
        lbmap_close(two[i].map);
        free(two[i].known);
    }
    return !good;
}
