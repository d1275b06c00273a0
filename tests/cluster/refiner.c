/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refiner: an application whose mesh is refined and coarsened while it runs, as its test wants. It serves a
 * job, and what it holds it changes; many of it, one a host, change the guest together.
 *
 *     refiner JOB SOCKET HOST DIRECTORY
 *
 * The test numbers vertices by itself: those of the submitted guest by their ids, new ones beyond. Files in
 * DIRECTORY, shared:
 *
 *     phase   one number: how many phases there are so far
 *     ids     for each number the id that the vertex has, or 2^32 - 1
 *     done    for each number the last phase that its vertex has gone through
 *     owners  a byte for each number: HOST is written there when it is acquired, 254 when it is removed
 *     heard   for each number what was heard last of its edges: the sum of (id + 1) * 2654435761 + bandwidth,
 *             modulo 2^32
 *     ops.N   what is to be done in phase N, by who holds the first number of a line:
 *
 *         V add W C...   vertices C, of work W each, are added next to V, and linked with it and one another
 *         V link U B     an edge of bandwidth B, or another bandwidth
 *         V cut U        no edge any more
 *         V remove
 *
 *     refiner refused JOB SOCKET
 *
 * asks for changes that cannot be, and for some that can, and says which were answered otherwise.
 *
 * A vertex keeps its number and the last phase it went through in its payload, which changes with it: so each
 * line is carried out once, whatever host is lost. It ends on SIGTERM. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbmap.h"
#include "tests/cluster/serving.h"

enum {
    DISPATCH_MS = 20,
    OPEN_US = 30000000,
    BATCH_VERTICES = 1024,
    BATCH_EDGES = 8192,
    ADDED_MAX = 16,
    TIMEOUT_MS = 10000
};

#define NONE UINT32_MAX
#define GONE 254

struct payload {
    uint32_t number, phase;
};

struct held {
    uint32_t id, number;
    uint64_t token; /* 0: free */
    uint32_t phase; /* the last it went through */
};

/* One line of a phase. */
struct op {
    uint32_t vertex; /* number */
    enum { ADD, LINK, CUT, REMOVE } what;
    uint32_t n, arg[ADDED_MAX]; /* ADD: work, numbers; LINK: the other, bandwidth; CUT: the other */
};

struct refiner {
    const char *directory;
    uint8_t host;
    uint32_t n; /* numbers */
    const volatile uint32_t *phase;
    volatile uint32_t *ids, *done, *heard;
    volatile uint8_t *owners;
    struct held *held; /* by number */
    struct op *ops;    /* of `loaded`, by vertex */
    size_t n_ops;
    uint32_t loaded;
};

/* ---- what the daemon says ------------------------------------------------------------------------------ */

static uint32_t
number_of(const struct refiner *refiner, uint32_t id)
{
    uint32_t number = id < refiner->n && refiner->ids[id] == id ? id : 0;
    while (number < refiner->n && refiner->held[number].id != id)
        number++;
    return number;
}

static void
acquire(void *context, uint32_t id, uint64_t token, const struct lbmap_payload *payload)
{
    struct refiner *refiner = context;
    struct payload known = {id, 0};
    if (payload->len == sizeof known)
        memcpy(&known, payload->bytes, sizeof known);
    if (known.number >= refiner->n) {
        fprintf(stderr, "refiner: vertex %u has number %u\n", id, known.number);
        return;
    }
    refiner->held[known.number] = (struct held){id, known.number, token, known.phase};
    refiner->ids[known.number] = id;
    refiner->owners[known.number] = refiner->host;
    if (known.phase > refiner->done[known.number])
        refiner->done[known.number] = known.phase;
}

static void
release(void *context, uint32_t id, uint64_t token, struct lbmap_payload *payload)
{
    struct refiner *refiner = context;
    uint32_t number = number_of(refiner, id);
    (void)token;
    if (number < refiner->n)
        refiner->held[number].token = 0;
    *payload = (struct lbmap_payload){NULL, 0};
}

static void
revoked(void *context, uint32_t id, uint64_t token)
{
    struct lbmap_payload none;
    release(context, id, token, &none);
}

static void
edges(void *context, uint32_t id, uint64_t token, const struct lbmap_edge *edges, size_t n)
{
    struct refiner *refiner = context;
    uint32_t number = number_of(refiner, id), sum = 0;
    (void)token;
    for (size_t i = 0; i < n; i++)
        sum += (edges[i].other + 1) * 2654435761u + edges[i].weight;
    if (number < refiner->n)
        refiner->heard[number] = sum;
}

/* ---- what the test wants ------------------------------------------------------------------------------- */

static int
by_vertex(const void *a, const void *b)
{
    const struct op *x = a, *y = b;
    return x->vertex != y->vertex ? (x->vertex > y->vertex) - (x->vertex < y->vertex)
                                  : (x->what > y->what) - (x->what < y->what);
}

static int
read_op(char *line, struct op *op)
{
    static const char *const names[] = {[ADD] = "add", [LINK] = "link", [CUT] = "cut", [REMOVE] = "remove"};
    char *rest = line, word[16];
    int used;
    *op = (struct op){0};
    if (sscanf(line, "%u %15s%n", &op->vertex, word, &used) != 2)
        return 0;
    rest += used;
    while (op->what <= REMOVE && strcmp(word, names[op->what]) != 0)
        op->what++;
    while (op->n < ADDED_MAX && sscanf(rest, "%u%n", &op->arg[op->n], &used) == 1) {
        rest += used;
        op->n++;
    }
    return op->what <= REMOVE;
}

static int
load(struct refiner *refiner, uint32_t phase)
{
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s/ops.%u", refiner->directory, phase);
    FILE *file = fopen(path, "r");
    size_t room = 0;
    refiner->n_ops = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (refiner->n_ops == room) {
            room = 2 * room + 64;
            refiner->ops = realloc(refiner->ops, room * sizeof *refiner->ops);
            if (refiner->ops == NULL)
                abort();
        }
        if (!read_op(line, &refiner->ops[refiner->n_ops++])) {
            fprintf(stderr, "refiner: %s: %s", path, line);
            return 0;
        }
    }
    if (file == NULL) {
        perror(path);
        return 0;
    }
    fclose(file);
    if (refiner->n_ops != 0)
        qsort(refiner->ops, refiner->n_ops, sizeof *refiner->ops, by_vertex);
    refiner->loaded = phase;
    return 1;
}

/* ---- changing ------------------------------------------------------------------------------------------ */

struct batch {
    struct lbmap_vertex_change vertex[BATCH_VERTICES];
    struct payload payload[BATCH_VERTICES];
    struct lbmap_edge_change edge[BATCH_EDGES];
    uint32_t n, m;
};

static void
add_vertex(struct batch *batch, struct lbmap_vertex_change vertex, struct payload payload)
{
    batch->payload[batch->n] = payload;
    vertex.payload =
        (struct lbmap_payload){vertex.removed ? NULL : &batch->payload[batch->n], sizeof payload};
    batch->vertex[batch->n++] = vertex;
}

/* New vertices next to one. Returns 0 if there are no ids for them. */
static int
add_new(struct refiner *refiner, struct lbmap *map, struct batch *batch, const struct op *op, uint32_t near)
{
    uint32_t id[ADDED_MAX], n = op->n - 1;
    if (lbmap_new_vertices(map, id, n) != LBMAP_OK)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        add_vertex(batch, (struct lbmap_vertex_change){.vertex = id[i], .near = near, .work = op->arg[0]},
                   (struct payload){op->arg[i + 1], refiner->loaded});
        batch->edge[batch->m++] = (struct lbmap_edge_change){id[i], near, 1};
        for (uint32_t k = 0; k < i; k++)
            batch->edge[batch->m++] = (struct lbmap_edge_change){id[i], id[k], 1};
    }
    return 1;
}

/* The lines of one vertex. Returns 0 if it cannot be now: the id of another one is not known yet. */
static int
add_lines(struct refiner *refiner, struct lbmap *map, struct batch *batch, const struct op *op, size_t n)
{
    const struct held *held = &refiner->held[op->vertex];
    int removed = 0;
    for (size_t i = 0; i < n; i++)
        if (op[i].what >= LINK && op[i].what <= CUT && refiner->ids[op[i].arg[0]] == NONE)
            return 0;
    for (size_t i = 0; i < n; i++) {
        if (op[i].what == ADD && !add_new(refiner, map, batch, &op[i], held->id))
            return 0;
        if (op[i].what == LINK || op[i].what == CUT)
            batch->edge[batch->m++] = (struct lbmap_edge_change){held->id, refiner->ids[op[i].arg[0]],
                                                                 op[i].what == LINK ? op[i].arg[1] : 0};
        removed |= op[i].what == REMOVE;
    }
    add_vertex(batch,
               (struct lbmap_vertex_change){.vertex = held->id, .token = held->token, .removed = removed},
               (struct payload){held->number, refiner->loaded});
    return 1;
}

/* What has been changed is done with. */
static void
finish(struct refiner *refiner, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        uint32_t number = batch->payload[i].number;
        if (batch->vertex[i].token == 0)
            continue; /* it is acquired */
        refiner->held[number].phase = refiner->loaded;
        refiner->done[number] = refiner->loaded;
        if (batch->vertex[i].removed) {
            refiner->held[number].token = 0;
            refiner->owners[number] = GONE;
        }
    }
}

static int
is_open(const struct refiner *refiner, uint32_t number)
{
    return number < refiner->n && refiner->held[number].token != 0 &&
           refiner->held[number].phase < refiner->loaded;
}

/* One change of what is held and has not gone through this phase. Returns 0 if there is nothing more. */
static int
change(struct refiner *refiner, struct lbmap *map, struct batch *batch, size_t *at)
{
    size_t from = *at, to;
    batch->n = batch->m = 0;
    for (; from < refiner->n_ops && batch->n + 32 < BATCH_VERTICES && batch->m + 512 < BATCH_EDGES;
         from = to) {
        for (to = from; to < refiner->n_ops && refiner->ops[to].vertex == refiner->ops[from].vertex; to++)
            ;
        if (is_open(refiner, refiner->ops[from].vertex))
            (void)add_lines(refiner, map, batch, &refiner->ops[from], to - from);
    }
    *at = from;
    if (batch->n == 0)
        return from < refiner->n_ops;
    enum lbmap_error error = lbmap_change(map, batch->vertex, batch->n, batch->edge, batch->m);
    if (error == LBMAP_OK)
        finish(refiner, batch);
    else if (error != LBMAP_E_BUSY && error != LBMAP_E_STATE)
        fprintf(stderr, "refiner %u: change of %u vertices: %s\n", refiner->host, batch->n,
                lbmap_message(map));
    return error == LBMAP_OK && from < refiner->n_ops;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static void *
share_file(const char *directory, const char *name, int writable, size_t *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return serving_share(path, writable, bytes);
}

static int
run(struct refiner *refiner, struct lbmap *map)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = refiner,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked,
                                              .edges = edges};
    static struct batch batch;
    enum lbmap_error error = lbmap_serve(map, &callbacks);
    while (error == LBMAP_OK && !serving_stopped) {
        error = lbmap_dispatch(map, DISPATCH_MS);
        if (*refiner->phase == 0 || error != LBMAP_OK)
            continue;
        if (refiner->loaded != *refiner->phase && !load(refiner, *refiner->phase))
            return 1;
        for (size_t at = 0;
             !serving_stopped && lbmap_lease_valid(map) == LBMAP_WORK && change(refiner, map, &batch, &at);)
            ;
    }
    if (error != LBMAP_OK && !serving_stopped)
        fprintf(stderr, "refiner %u: %s\n", refiner->host, lbmap_message(map));
    return error != LBMAP_OK && !serving_stopped;
}

/* ---- what cannot be ------------------------------------------------------------------------------------ */

enum { HELD_MAX = 64 };

struct holder {
    uint32_t id[HELD_MAX];
    uint64_t token[HELD_MAX]; /* 0: it has moved away */
    uint32_t n, more;
};

static void
hold(void *context, uint32_t id, uint64_t token, const struct lbmap_payload *payload)
{
    struct holder *holder = context;
    (void)payload;
    if (holder->n < HELD_MAX) {
        holder->id[holder->n] = id;
        holder->token[holder->n++] = token;
    }
    holder->more++;
}

static void
let_go(void *context, uint32_t id, uint64_t token, struct lbmap_payload *payload)
{
    struct holder *holder = context;
    for (uint32_t i = 0; i < holder->n; i++)
        if (holder->id[i] == id && holder->token[i] == token)
            holder->token[i] = 0;
    *payload = (struct lbmap_payload){NULL, 0};
}

static void
lose(void *context, uint32_t id, uint64_t token)
{
    struct lbmap_payload none;
    let_go(context, id, token, &none);
}

static int
expect(struct lbmap *map, const char *what, enum lbmap_error wanted, const struct lbmap_vertex_change *v,
       size_t n, const struct lbmap_edge_change *e, size_t m)
{
    enum lbmap_error error = lbmap_change(map, v, n, e, m);
    if (error == wanted && (error == LBMAP_OK || lbmap_message(map)[0] != '\0')) {
        printf("ok: %s: %s\n", what, error == LBMAP_OK ? "done" : lbmap_message(map));
        return 0;
    }
    printf("FAILED: %s: %s (%s)\n", what, lbmap_strerror(error), lbmap_message(map));
    return 1;
}

static int
refuse(struct lbmap *map)
{
    struct holder h = {0};
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = &h,
                                              .acquire = hold,
                                              .release = let_go,
                                              .revoked = lose};
    static const char bytes[LBMAP_CHANGE_PAYLOAD_MAX + 1];
    uint32_t id[2] = {0, 0};
    int failed = expect(map, "without serving", LBMAP_E_STATE, NULL, 0, NULL, 0);
    if (lbmap_new_vertices(map, id, 1) != LBMAP_E_STATE || lbmap_serve(map, &callbacks) != LBMAP_OK)
        return 1;
    for (int i = 0; i < 400 && h.n < 2; i++)
        (void)lbmap_dispatch(map, 50);
    failed |=
        lbmap_new_vertices(map, id, 0) != LBMAP_E_RANGE || lbmap_new_vertices(map, id, 4097) != LBMAP_E_RANGE;
    failed |= lbmap_new_vertices(map, id, 2) != LBMAP_OK || id[0] == id[1] || id[0] < lbmap_vertices(map);
    const struct lbmap_vertex_change held = {.vertex = h.id[0], .token = h.token[0]};
    const struct lbmap_vertex_change twice[] = {held, held};
    const struct lbmap_vertex_change stale = {.vertex = h.id[0], .token = h.token[0] + 1};
    const struct lbmap_vertex_change foreign = {.vertex = id[0] + 9, .near = h.id[0], .work = 1};
    const struct lbmap_vertex_change idle = {.vertex = id[0], .near = h.id[0]};
    const struct lbmap_vertex_change far = {.vertex = id[0], .near = id[1], .work = 1};
    const struct lbmap_vertex_change large = {
        .vertex = h.id[0], .token = h.token[0], .payload = {bytes, sizeof bytes}};
    const struct lbmap_edge_change loop = {h.id[0], h.id[0], 1}, nowhere = {h.id[0], 999999999, 1};
    const struct lbmap_edge_change heavy = {h.id[0], h.id[1], UINT32_MAX};
    const struct lbmap_edge_change unnamed = {h.id[1], h.id[0], 1}, unborn = {h.id[0], id[1], 1};
    failed |= expect(map, "a vertex twice", LBMAP_E_RANGE, twice, 2, NULL, 0);
    failed |= expect(map, "an old token", LBMAP_E_STATE, &stale, 1, NULL, 0);
    failed |= expect(map, "an id that was not given", LBMAP_E_RANGE, &foreign, 1, NULL, 0);
    failed |= expect(map, "a vertex without work", LBMAP_E_RANGE, &idle, 1, NULL, 0);
    failed |= expect(map, "next to nobody", LBMAP_E_STATE, &far, 1, NULL, 0);
    failed |= expect(map, "a payload that is too long", LBMAP_E_RANGE, &large, 1, NULL, 0);
    failed |= expect(map, "an edge from a vertex to itself", LBMAP_E_RANGE, &held, 1, &loop, 1);
    failed |= expect(map, "an edge to no vertex", LBMAP_E_RANGE, &held, 1, &nowhere, 1);
    failed |= expect(map, "a weight that is too large", LBMAP_E_RANGE, &held, 1, &heavy, 1);
    failed |= expect(map, "an edge of which no end is named", LBMAP_E_RANGE, &held, 1, &unnamed, 1);
    failed |= expect(map, "an edge to a vertex that is not added", LBMAP_E_RANGE, &held, 1, &unborn, 1);
    struct lbmap_vertex_change *many = calloc(4097, sizeof *many);
    failed |= many == NULL || expect(map, "too much at once", LBMAP_E_LIMIT, many, 4097, NULL, 0);
    free(many);
    const struct lbmap_vertex_change split[] = {held, {.vertex = id[0], .near = h.id[0], .work = 3}};
    const struct lbmap_edge_change inside = {id[0], h.id[0], 1};
    uint32_t before = h.more;
    failed |= expect(map, "a vertex becomes two", LBMAP_OK, split, 2, &inside, 1);
    failed |= expect(map, "an id that is used", LBMAP_E_RANGE, &split[1], 1, NULL, 0);
    for (int i = 0; i < 100 && h.more == before; i++)
        (void)lbmap_dispatch(map, 50);
    failed |= h.more == before;
    uint32_t here = 0; /* the first may have moved: its host had too much for a moment */
    while (here + 1 < h.n && h.token[here] == 0)
        here++;
    const struct lbmap_vertex_change gone = {.vertex = h.id[here], .token = h.token[here], .removed = 1};
    failed |= expect(map, "a vertex goes", LBMAP_OK, &gone, 1, NULL, 0);
    failed |= expect(map, "it has gone", LBMAP_E_STATE, &gone, 1, NULL, 0);
    return failed;
}

int
main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "refused") == 0) {
        enum lbmap_error why;
        struct lbmap *map = serving_open(argv[2], argv[3], serving_now_us() + OPEN_US, &why);
        int failed = map == NULL || refuse(map);
        lbmap_close(map);
        return failed;
    }
    if (argc != 5) {
        fprintf(stderr, "usage: refiner JOB SOCKET HOST DIRECTORY, or refiner refused JOB SOCKET\n");
        return 2;
    }
    serving_until_stopped();
    size_t bytes, ids_bytes;
    struct refiner refiner = {.directory = argv[4], .host = (uint8_t)atoi(argv[3])};
    refiner.phase = share_file(argv[4], "phase", 0, &bytes);
    refiner.ids = share_file(argv[4], "ids", 1, &ids_bytes);
    refiner.done = share_file(argv[4], "done", 1, &bytes);
    refiner.owners = share_file(argv[4], "owners", 1, &bytes);
    refiner.heard = share_file(argv[4], "heard", 1, &bytes);
    if (refiner.phase == NULL || refiner.ids == NULL || refiner.done == NULL || refiner.owners == NULL ||
        refiner.heard == NULL)
        return 1;
    refiner.n = (uint32_t)(ids_bytes / sizeof(uint32_t));
    refiner.held = calloc(refiner.n, sizeof *refiner.held);
    for (uint32_t v = 0; refiner.held != NULL && v < refiner.n; v++)
        refiner.held[v].id = NONE;
    enum lbmap_error error = LBMAP_E_NOMEM;
    struct lbmap *map =
        refiner.held != NULL ? serving_open(argv[1], argv[2], serving_now_us() + OPEN_US, &error) : NULL;
    if (map == NULL) {
        fprintf(stderr, "refiner: %s at %s: %s\n", argv[1], argv[2], lbmap_strerror(error));
        return 1;
    }
    (void)lbmap_set_timeout(map, TIMEOUT_MS);
    int status = run(&refiner, map);
    lbmap_close(map);
    free(refiner.held);
    free(refiner.ops);
    return status;
}
