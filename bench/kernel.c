/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed of the diffusion kernel: updates a second on a lattice, for every order, next to what the memory
 * allows. Usage: bench/kernel [--json] [--side N] [--updates N]
 *
 * The bound: with every neighbour's coordinates in the cache, an update of a vertex of degree d moves
 *     8 (offset) + 4 d (targets) + 8 m (coordinates read) + 8 m (coordinates written back)
 * bytes, 56 on a lattice in two dimensions. The bandwidth is that of a triad a[i] = b[i] + s c[i] over
 * arrays that together are as large as the graph and its coordinates, at 32 bytes an element: two reads,
 * one write, and the read of a line before it is written. Where the cache holds a good part of the graph the
 * triad runs from there, and no sweep comes near it.
 * Next to them two loops without a kernel, which no order hinders: rows in turn, and the two colours of the
 * lattice in turn. They are what this processor can do.
 * Time is the process's own, the best of several repetitions, so that other load counts little. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "embed/embed.h"
#include "graph/generate.h"

enum { DIMENSIONS = 2, REPETITIONS = 5, TRIAD_BYTES = 32, SIDE = 1000, UPDATES = 4000000 };

static const char *const order_name[] = {
#define ORDER_NAME(id, name, text) [LBM_ORDER_##id] = name,
    LBM_ORDER_LIST(ORDER_NAME)
#undef ORDER_NAME
};

/* Loops to compare with. */
enum { SEQUENTIAL, RED_BLACK, LOOPS };

static const char *const loop_name[LOOPS] = {"rows", "red-black"};

struct result {
    uint32_t side;
    double bandwidth;                /* bytes/s */
    double bytes_update;             /* of an update */
    double bound;                    /* updates/s */
    double updates[LBM_ORDER_COUNT]; /* updates/s */
    double loop[LOOPS];              /* updates/s */
};

static double
now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Fail with a message: a bench has nobody to hand an error to. */
static void
need(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "kernel: %s\n", what);
    exit(1);
}

/* Bytes a second of a triad over arrays of `bytes` in all. */
static double
triad(size_t bytes)
{
    size_t n = bytes / (3 * sizeof(double));
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c), best = 0;
    need(a != NULL && b != NULL && c != NULL, "out of memory");
    for (size_t i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = (double)i;
        c[i] = 1;
    }
    for (int r = 0; r < 4 * REPETITIONS; r++) {
        double start_s = now_s(), scale = 1 + r;
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] + scale * c[i];
        double rate = (double)n * TRIAD_BYTES / (now_s() - start_s);
        best = rate > best ? rate : best;
    }
    need(a[n - 1] == (double)(n - 1) + 4 * REPETITIONS, "the triad is wrong");
    free(a);
    free(b);
    free(c);
    return best;
}

/* Updates a second in one order. */
static double
measure(const struct lbm_graph *g, enum lbm_order order, double updates, double *x)
{
    struct lbm_rng rng;
    struct lbm_diffusion how = {.m = DIMENSIONS, .order = order};
    int sweeps = (int)(updates / g->n) + 1;
    double best = 0;
    lbm_rng_seed(&rng, 1);
    lbm_start_random(g->n, DIMENSIONS, NULL, x, &rng);
    for (int r = 0; r < REPETITIONS; r++) {
        double start_s = now_s();
        need(lbm_diffuse(g, &how, sweeps, x, &rng, NULL, NULL) == LBM_OK, "out of memory");
        double rate = (double)sweeps * g->n / (now_s() - start_s);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Every vertex from `first` to `last`, `step` apart, to the mean of its neighbours. */
static void
move_row(const struct lbm_graph *g, const double *reciprocal, uint32_t first, uint32_t last, uint32_t step,
         double *x)
{
    for (uint32_t v = first; v < last; v += step) {
        double sum[DIMENSIONS] = {0};
        uint64_t begin = g->offset[v], end = g->offset[v + 1];
        for (uint64_t e = begin; e < end; e++)
            for (int k = 0; k < DIMENSIONS; k++)
                sum[k] += x[(size_t)g->target[e] * DIMENSIONS + k];
        for (int k = 0; k < DIMENSIONS; k++)
            x[(size_t)v * DIMENSIONS + k] = sum[k] * reciprocal[end - begin];
    }
}

/* Updates a second of a loop. */
static double
measure_loop(const struct lbm_graph *g, uint32_t side, int loop, double updates, double *x)
{
    const double reciprocal[] = {0, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4};
    uint32_t colours = loop == RED_BLACK ? 2 : 1;
    int sweeps = (int)(updates / g->n) + 1;
    struct lbm_rng rng;
    double best = 0;
    lbm_rng_seed(&rng, 1);
    lbm_start_random(g->n, DIMENSIONS, NULL, x, &rng);
    for (int r = 0; r < REPETITIONS; r++) {
        double start_s = now_s();
        for (int i = 0; i < sweeps; i++)
            for (uint32_t colour = 0; colour < colours; colour++)
                for (uint32_t y = 0; y < side; y++)
                    move_row(g, reciprocal, y * side + (y + colour) % colours, (y + 1) * side, colours, x);
        double rate = (double)sweeps * g->n / (now_s() - start_s);
        best = rate > best ? rate : best;
    }
    return best;
}

static void
run(uint32_t side, double updates, struct result *out)
{
    struct lbm_graph g;
    struct lbm_diag diag;
    char spec[64];
    snprintf(spec, sizeof spec, "lattice:%ux%u", side, side);
    need(lbm_graph_generate(spec, 1, &g, &diag) == LBM_OK, diag.text);
    double *x = malloc((size_t)g.n * DIMENSIONS * sizeof *x);
    need(x != NULL, "out of memory");
    double directions = (double)lbm_graph_directions(&g), points = (double)g.n * DIMENSIONS * sizeof *x;
    double resident = 8 * ((double)g.n + 1) + 4 * directions + points;
    out->side = side;
    out->bandwidth = triad((size_t)resident);
    out->bytes_update = 8 + 4 * directions / g.n + 2 * points / g.n;
    out->bound = out->bandwidth / out->bytes_update;
    for (int order = 0; order < LBM_ORDER_COUNT; order++)
        out->updates[order] = measure(&g, (enum lbm_order)order, updates, x);
    for (int loop = 0; loop < LOOPS; loop++)
        out->loop[loop] = measure_loop(&g, side, loop, updates, x);
    free(x);
    lbm_graph_free(&g);
}

static void
print_row(const struct result *r, const char *name, double updates)
{
    printf("%-12s %12.1f %8.0f %% %11.0f %%\n", name, 1e-6 * updates, 100 * updates / r->bound,
           100 * updates / r->loop[RED_BLACK]);
}

static void
print_table(const struct result *r)
{
    printf("lattice %ux%u, %d dimensions\n", r->side, r->side, DIMENSIONS);
    printf("triad %.1f GB/s, %.1f bytes an update: at most %.0f M updates/s\n", 1e-9 * r->bandwidth,
           r->bytes_update, 1e-6 * r->bound);
    printf("%-12s %12s %10s %13s\n", "order", "M updates/s", "of bound", "of red-black");
    for (int order = 0; order < LBM_ORDER_COUNT; order++)
        print_row(r, order_name[order], r->updates[order]);
    for (int loop = 0; loop < LOOPS; loop++)
        print_row(r, loop_name[loop], r->loop[loop]);
}

static void
print_json(const struct result *r)
{
    printf("{\"side\": %u, \"dimensions\": %d, \"triad_bytes_s\": %.4g, \"bytes_update\": %.2f,\n"
           " \"bound_updates_s\": %.4g, \"updates_s\": {",
           r->side, DIMENSIONS, r->bandwidth, r->bytes_update, r->bound);
    for (int order = 0; order < LBM_ORDER_COUNT; order++)
        printf("\"%s\": %.4g, ", order_name[order], r->updates[order]);
    for (int loop = 0; loop < LOOPS; loop++)
        printf("%s\"%s\": %.4g", loop != 0 ? ", " : "", loop_name[loop], r->loop[loop]);
    printf("}}\n");
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"side", required_argument, NULL, 's'},
        {"updates", required_argument, NULL, 'u'},
        {NULL, 0, NULL, 0},
    };
    int json = 0;
    long side = SIDE;
    double updates = UPDATES;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        need(c != '?', "usage: kernel [--json] [--side N] [--updates N]");
        if (c == 'j')
            json = 1;
        else if (c == 's')
            side = strtol(optarg, NULL, 10);
        else
            updates = strtod(optarg, NULL);
    }
    need(side >= 2 && side <= 20000, "--side is a number from 2 to 20000");
    need(updates >= 1 && updates <= 1e12, "--updates is a number from 1 to 10^12");
    struct result result;
    run((uint32_t)side, updates, &result);
    (json ? print_json : print_table)(&result);
    return 0;
}
