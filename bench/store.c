/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a database takes what a node stores: bench/store FILE [SIDE]
 *
 * Stores a lattice of SIDE x SIDE vertices (default 1000) as a guest, its plan and its positions, then
 * batches of 256 records, each a commit of its own, and reads all of it back. Prints rows a second, durable
 * at the end of each line. FILE must not exist; it is left for inspection. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "graph/generate.h"
#include "store/store.h"

enum { BATCHES = 100 };

static double
now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void
stop_on(enum lbm_err err, const struct lbm_diag *diag)
{
    if (err == LBM_OK)
        return;
    char text[LBM_DIAG_WHERE_MAX + LBM_DIAG_TEXT_MAX];
    lbm_diag_render(diag, text, sizeof text);
    fprintf(stderr, "store: %s\n", text);
    exit(1);
}

static void
report(const char *what, double rows, double seconds)
{
    printf("%-10s %9.0f rows %7.2f s %9.0f rows/s\n", what, rows, seconds, rows / seconds);
}

/* Store one transaction, free it, and return how long it took. */
static double
timed_store(struct lbm_store *store, struct lbm_persist *persist)
{
    struct lbm_diag diag;
    const struct lbm_persist *const one = persist;
    double start = now_s();
    stop_on(lbm_store_apply(store, &one, 1, &diag), &diag);
    double seconds = now_s() - start;
    lbm_persist_free(persist);
    return seconds;
}

static struct lbm_persist *
transaction(uint64_t id)
{
    struct lbm_persist *persist = lbm_alloc(1, sizeof *persist);
    if (persist == NULL)
        abort();
    persist->id = id;
    return persist;
}

static void
add(struct lbm_persist *persist, struct lbm_persist_op op)
{
    if (lbm_vec_push(&persist->ops, op) != LBM_OK)
        abort();
}

static struct lbm_persist_op
whole_plan(enum lbm_persist_kind kind, uint32_t n)
{
    struct lbm_persist_op op = {.kind = kind, .job = 1};
    op.as.plan.n = n;
    op.as.plan.m = 2;
    op.as.plan.position = lbm_alloc(2 * (size_t)n, sizeof(double));
    if (kind == LBM_PERSIST_PLAN)
        op.as.plan.host = lbm_alloc(n, sizeof(uint32_t));
    if (op.as.plan.position == NULL || (kind == LBM_PERSIST_PLAN && op.as.plan.host == NULL))
        abort();
    return op;
}

/* 256 vertices, spread over the guest, on their way out. */
static struct lbm_persist *
batch(uint64_t id, const struct lbm_graph *g)
{
    struct lbm_persist *persist = transaction(id);
    for (uint64_t i = 0; i < LBM_BATCH_VERTICES_MAX; i++) {
        uint32_t v = (uint32_t)((id * LBM_BATCH_VERTICES_MAX + i) * 37 % g->n);
        uint32_t degree = (uint32_t)(g->offset[v + 1] - g->offset[v]);
        struct lbm_half *half = lbm_alloc(degree, sizeof *half);
        if (half == NULL)
            abort();
        for (uint32_t k = 0; k < degree; k++)
            half[k] = (struct lbm_half){g->target[g->offset[v] + k], 1, 3};
        struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW, .job = 1};
        op.as.row = (struct lbm_row){.job = 1,
                                     .vertex = v,
                                     .epoch = id,
                                     .stage = LBM_STAGE_OUT,
                                     .peer = 3,
                                     .work = 1,
                                     .pin = LBM_NONE,
                                     .degree = degree,
                                     .half = half};
        add(persist, op);
    }
    return persist;
}

static void
run(struct lbm_store *store, const struct lbm_graph *g)
{
    uint64_t id = 1;
    struct lbm_persist *persist = transaction(id++);
    struct lbm_persist_op guest = {.kind = LBM_PERSIST_GUEST, .job = 1};
    guest.as.guest.graph = g;
    add(persist, guest);
    report("guest", g->n, timed_store(store, persist));
    static const enum lbm_persist_kind wholes[] = {LBM_PERSIST_PLAN, LBM_PERSIST_POSITIONS};
    for (int i = 0; i < 2; i++) {
        persist = transaction(id++);
        add(persist, whole_plan(wholes[i], g->n));
        report(i == 0 ? "plan" : "positions", g->n, timed_store(store, persist));
    }
    double seconds = 0;
    for (int i = 0; i < BATCHES; i++)
        seconds += timed_store(store, batch(id++, g));
    report("batches", BATCHES * LBM_BATCH_VERTICES_MAX, seconds);
    struct lbm_diag diag;
    struct lbm_recovered *recovered = NULL;
    double start = now_s();
    stop_on(lbm_store_load(store, &recovered, &diag), &diag);
    report("load", (double)recovered->rows.n, now_s() - start);
    lbm_recovered_free(recovered);
}

int
main(int argc, char **argv)
{
    unsigned long side = argc == 3 ? strtoul(argv[2], NULL, 10) : 1000;
    if (argc < 2 || argc > 3 || side < 1 || side > 10000 || access(argv[1], F_OK) == 0) {
        fprintf(stderr, "usage: bench/store FILE [SIDE]; FILE must not exist, SIDE is 1 .. 10000\n");
        return 2;
    }
    char spec[64];
    snprintf(spec, sizeof spec, "lattice:%lux%lu", side, side);
    struct lbm_diag diag;
    struct lbm_graph g;
    struct lbm_store *store = NULL;
    stop_on(lbm_graph_generate(spec, 1, &g, &diag), &diag);
    stop_on(lbm_store_open(argv[1], NULL, &store, &diag), &diag);
    run(store, &g);
    lbm_store_close(store);
    lbm_graph_free(&g);
    return 0;
}
