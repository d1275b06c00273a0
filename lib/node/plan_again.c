/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What moves cost a job that runs: the less, the more has to move anyway, or the longer its boundaries have
 * become. Knows nothing of the node. */
#include "node/plan_again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* In parts of what moving usually costs a plan: boundaries that become longer with every change cost more. */
static const double COST_AGAIN = 0.2;

/* Parts of all work: where more than that has to move anyway a mapping is nearly made anew, and moves that
 * make it a better one are cheap beside the others. */
static const double UPHEAVAL = 0.06;

/* J of the mapping there is beyond a fresh plan's, in parts: more than that makes moves cheaper, by the e-th
 * part for each SLOPE more. */
static const double LAG = 0.05, SLOPE = 0.015, CHEAPEST = 0.25;

/* Fresh plans scatter: if J comes so near to that of the first ones beyond which it lags, all are drawn. */
static const double NEAR = 0.01;

enum {
    FRESH = 5,            /* plans to compare with, */
    FRESH_LEAST = 3,      /* of large guests, for hosts wait: */
    FRESH_SIZE = 550000,  /* vertices and ends of edges in all of them together, about */
    FIRST = 2,            /* one part in so many of them is drawn at first */
    QUARTER = 4,          /* of all hosts, at least, moves become cheaper at */
    DRAWS_AGAIN = 500000, /* of each annealing on a level: hosts wait, and half as many make it no worse */
};

/* A plan from nothing, drawn from a seed. */
struct fresh {
    const struct lbm_plan_task *task;
    struct lbm_plan_options options;
    struct lbm_plan plan; /* lbm_plan_free if drawn, and err is none */
    int drawn;
    double j; /* at least 1 */
    enum lbm_err err;
};

static void
draw_fresh(void *context)
{
    struct fresh *fresh = context;
    const struct lbm_plan_task *task = fresh->task;
    struct lbm_diag diag;
    fresh->drawn = 1;
    fresh->err = lbm_plan_make(task->graph, task->hosts, &fresh->options, &fresh->plan, &diag);
    if (fresh->err == LBM_OK)
        fresh->j = fmax(1, (double)lbm_map_hop_bytes(task->graph, task->hosts, fresh->plan.part));
}

static int
by_length(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* J of the middle one of so many plans, or the mean of both in the middle. */
static double
middle(const struct fresh *fresh, unsigned n)
{
    double j[FRESH];
    for (unsigned i = 0; i < n; i++)
        j[i] = fresh[i].j;
    qsort(j, n, sizeof *j, by_length);
    return (j[(n - 1) / 2] + j[n / 2]) / 2;
}

static unsigned
count_fresh(const struct lbm_graph *g)
{
    uint64_t n = FRESH_SIZE / (g->n + lbm_graph_directions(g) + 1);
    return n > FRESH ? FRESH : n < FRESH_LEAST ? FRESH_LEAST : (unsigned)n;
}

/* Plans from nothing: the first ones or, if J of the mapping there is, `there`, may lag, all.
 * In: options of a fresh plan.  Out: usual, J of the middle one. */
static enum lbm_err
draw_some(const struct lbm_plan_task *task, const struct lbm_plan_options *options, double there,
          struct fresh fresh[FRESH], double *usual)
{
    void *context[FRESH];
    unsigned all = count_fresh(task->graph), n = all / FIRST;
    for (unsigned i = 0; i < FRESH; i++) {
        fresh[i] = (struct fresh){.task = task, .options = *options};
        fresh[i].options.seed += i;
        fresh[i].options.parallel = NULL;
        context[i] = &fresh[i];
    }
    lbm_plan_parallel(options, draw_fresh, context, n);
    *usual = middle(fresh, n);
    if (there > (1 + LAG - NEAR) * *usual) {
        lbm_plan_parallel(options, draw_fresh, &context[n], all - n);
        n = all;
        *usual = middle(fresh, n);
    }
    for (unsigned i = 0; i < n; i++)
        if (fresh[i].err != LBM_OK)
            return fresh[i].err;
    return LBM_OK;
}

/* Adds to each host's own part of J, times a factor: half of what its vertices' edges cost. */
static void
add_hop_bytes(const struct lbm_plan_task *task, const uint32_t *part, double factor, double *j)
{
    const struct lbm_graph *g = task->graph;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            j[part[v]] += factor / 2 * (double)lbm_graph_weight(g, e) *
                          lbm_dist(task->hosts, part[v], part[g->target[e]]);
}

/* The host linked to a set that has most of J beyond fresh plans'; LBM_NONE: all linked ones are in the set.
 */
static uint32_t
next_of(const struct lbm_hosts *h, const double *beyond, const uint8_t *in)
{
    uint32_t next = LBM_NONE;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; in[p] && e < h->offset[p + 1]; e++)
            if (!in[h->target[e]] && (next == LBM_NONE || beyond[h->target[e]] > beyond[next]))
                next = h->target[e];
    return next;
}

/* A host and those around it, with `least` hosts or more, outside of which J is together no longer than fresh
 * plans'. Out: in [hosts]. Returns what J has beyond them for each of its hosts. */
static double
gather(const struct lbm_hosts *h, const double *beyond, uint32_t first, uint32_t least, uint8_t *in)
{
    double all = 0, sum = beyond[first];
    uint32_t n = 1, next;
    for (uint32_t p = 0; p < h->n; p++)
        all += beyond[p];
    memset(in, 0, h->n);
    in[first] = 1;
    while ((n < least || sum < all) && (next = next_of(h, beyond, in)) != LBM_NONE) {
        in[next] = 1;
        sum += beyond[next];
        n++;
    }
    return sum / n;
}

/* Moves become cheaper where boundaries are longer than fresh plans', and not elsewhere: there they would
 * gain as much for as many moves, but all at once is more than it takes. Out: cost [hosts]: part there,
 * else 1. */
static enum lbm_err
choose_hosts(const struct lbm_plan_task *task, const struct fresh fresh[FRESH], double part, double *cost)
{
    const struct lbm_hosts *h = task->hosts;
    double *beyond = lbm_alloc(h->n, sizeof *beyond), n_drawn = 0, most = 0;
    uint8_t *in = lbm_alloc(h->n, 1);
    if (beyond == NULL || in == NULL) {
        free(beyond);
        free(in);
        return LBM_E_NOMEM;
    }
    for (unsigned i = 0; i < FRESH; i++)
        n_drawn += fresh[i].drawn;
    for (unsigned i = 0; i < FRESH; i++)
        if (fresh[i].drawn)
            add_hop_bytes(task, fresh[i].plan.part, -1 / n_drawn, beyond);
    add_hop_bytes(task, task->current, 1, beyond);
    for (uint32_t first = 0; first < h->n; first++) {
        double mean = gather(h, beyond, first, (h->n + QUARTER - 1) / QUARTER, in);
        if (first != 0 && mean <= most)
            continue;
        most = mean;
        for (uint32_t p = 0; p < h->n; p++)
            cost[p] = in[p] ? part : 1;
    }
    free(beyond);
    free(in);
    return LBM_OK;
}

/* Cheaper moves while J of the mapping there is lags. In: options of a fresh plan.  Out: cost [hosts]. */
static enum lbm_err
price_lag(const struct lbm_plan_task *task, const struct lbm_plan_options *options, double *cost)
{
    struct fresh fresh[FRESH];
    double there = (double)lbm_map_hop_bytes(task->graph, task->hosts, task->current), usual;
    enum lbm_err err = draw_some(task, options, there, fresh, &usual);
    double part = err == LBM_OK ? fmax(CHEAPEST, exp(fmin(0, 1 + LAG - there / usual) / SLOPE)) : 1;
    if (err == LBM_OK && part < 1)
        err = choose_hosts(task, fresh, part, cost);
    for (unsigned i = 0; i < FRESH; i++)
        if (fresh[i].drawn && fresh[i].err == LBM_OK)
            lbm_plan_free(&fresh[i].plan);
    return err;
}

/* The same at all hosts where much has to move: by the square of it. Out: part, 1 where little has to. */
static enum lbm_err
price_upheaval(const struct lbm_plan_task *task, double *part)
{
    const struct lbm_graph *g = task->graph;
    const struct lbm_hosts *h = task->hosts;
    uint64_t *load = lbm_alloc(h->n, sizeof *load), *share = lbm_alloc(h->n, sizeof *share);
    enum lbm_err err = load != NULL && share != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        lbm_map_limits(g, h, 0, share);
        lbm_map_loads(g, h->n, task->current, load);
        double must = (double)lbm_map_excess(h->n, load, share) / (double)lbm_graph_total_work(g);
        *part = must > UPHEAVAL ? UPHEAVAL / must * UPHEAVAL / must : 1;
    }
    free(load);
    free(share);
    return err;
}

enum lbm_err
plan_task_again(const struct lbm_plan_task *task, struct lbm_plan_options *options, struct lbm_plan *plan)
{
    const struct lbm_hosts *h = task->hosts;
    struct lbm_diag diag;
    double part = 1, *cost = lbm_alloc(h->n, sizeof *cost);
    enum lbm_err err = cost != NULL ? price_upheaval(task, &part) : LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n && err == LBM_OK; p++)
        cost[p] = 1;
    if (err == LBM_OK && part >= 1)
        err = price_lag(task, options, cost);
    if (err == LBM_OK) {
        options->migration_cost = part * COST_AGAIN * lbm_map_migration_cost(task->graph, h->n);
        options->host_cost = cost;
        options->current = task->current;
        options->draws_max = DRAWS_AGAIN;
        err = lbm_plan_make(task->graph, h, options, plan, &diag);
    }
    free(cost);
    return err;
}
