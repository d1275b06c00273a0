/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps: work on the vertices of a job. The work is to count; the count of a vertex is its payload, so it
 * goes on where it was when the vertex moves, and where it was checkpointed when a host is lost. One runs on
 * every host.
 *
 *     cc steps.c $(pkg-config --cflags --libs lbmap) -o steps
 *     ./steps airfoil [SOCKET]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lbmap.h>

enum { WAIT_MS = 100, ROUNDS_PER_CHECKPOINT = 50 };

struct vertex {
    uint64_t token; /* 0: not ours */
    uint64_t count;
};

static void
acquire(void *context, uint32_t v, uint64_t token, const struct lbmap_payload *payload)
{
    struct vertex *vertex = (struct vertex *)context + v;
    vertex->token = token;
    vertex->count = 0;
    if (payload->len == sizeof vertex->count)
        memcpy(&vertex->count, payload->bytes, sizeof vertex->count);
}

static void
release(void *context, uint32_t v, uint64_t token, struct lbmap_payload *payload)
{
    struct vertex *vertex = (struct vertex *)context + v;
    (void)token;
    vertex->token = 0;
    *payload = (struct lbmap_payload){&vertex->count, sizeof vertex->count};
}

static void
revoked(void *context, uint32_t v, uint64_t token)
{
    (void)token;
    ((struct vertex *)context)[v].token = 0; /* what was counted since the last checkpoint is void */
}

/* One step of every vertex that is ours, as long as the lease says so. */
static void
step_all(struct lbmap *map, struct vertex *vertices)
{
    for (uint32_t v = 0; v < lbmap_vertices(map); v++)
        if (vertices[v].token != 0 && lbmap_lease_valid(map) == LBMAP_WORK)
            vertices[v].count++;
}

/* Keep all counts. What cannot be kept now is kept the next time, or is not ours any more. */
static void
checkpoint(struct lbmap *map, const struct vertex *vertices)
{
    struct lbmap_state *states = calloc(lbmap_vertices(map), sizeof *states);
    size_t n = 0;
    for (uint32_t v = 0; states != NULL && v < lbmap_vertices(map); v++)
        if (vertices[v].token != 0)
            states[n++] =
                (struct lbmap_state){v, vertices[v].token, {&vertices[v].count, sizeof vertices[v].count}};
    if (lbmap_checkpoint(map, states, n) == LBMAP_OK)
        fprintf(stderr, "steps: %zu vertices are here\n", n);
    free(states);
}

static enum lbmap_error
work(struct lbmap *map, struct vertex *vertices)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = vertices,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked};
    enum lbmap_error error = lbmap_serve(map, &callbacks);
    for (int round = 0; error == LBMAP_OK; round++) {
        error = lbmap_dispatch(map, WAIT_MS);
        step_all(map, vertices);
        if (error == LBMAP_OK && round % ROUNDS_PER_CHECKPOINT == 0)
            checkpoint(map, vertices);
    }
    return error;
}

int
main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: steps JOB [SOCKET]\n");
        return 2;
    }
    struct lbmap *map = NULL;
    struct vertex *vertices = NULL;
    enum lbmap_error error = lbmap_open(argc == 3 ? argv[2] : NULL, &map);
    if (error == LBMAP_OK)
        error = lbmap_attach(map, argv[1]);
    if (error == LBMAP_OK) {
        vertices = calloc(lbmap_vertices(map), sizeof *vertices);
        error = vertices != NULL ? work(map, vertices) : LBMAP_E_NOMEM;
    }
    fprintf(stderr, "steps: %s\n",
            map != NULL && lbmap_message(map)[0] != '\0' ? lbmap_message(map) : lbmap_strerror(error));
    free(vertices);
    lbmap_close(map);
    return error != LBMAP_E_NOTFOUND; /* the job was cancelled: the work is done */
}
