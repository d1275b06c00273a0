/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What moves cost a job that runs: the less, the more has to move anyway, or the longer its boundaries have
 * become. Knows nothing of the node. */
#include "node/plan_again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* In parts of what moving usually costs a plan: boundaries that become longer with every change cost more. */
static const double COST_AGAIN = 0.15;

/* Parts of all work: where more than that has to move anyway a mapping is nearly made anew, and moves that
 * make it a better one are cheap beside the others. */
static const double UPHEAVAL = 0.06;

/* J of the mapping there is beyond what is usual, in parts: from that on there is a second plan, for which
 * moves cost so much less. */
static const double LAG = 0.08, CHEAPER = 0.17;

/* It is taken if J is shorter by so much, over what J lags by, for each part of all work that moves more: a
 * bargain at first, and what there is where J lags by much. */
static const double BARGAIN = 0.06;

enum {
    QUARTER = 4,          /* of all hosts, at least, moves become cheaper at */
    DRAWS_AGAIN = 500000, /* of each annealing on a level: hosts wait, and half as many make it no worse */
};

/* The host linked to a set that has most of J beyond what is usual; LBM_NONE: all linked ones are in the set.
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

/* A host and those around it, with `least` hosts or more, outside of which J is together no longer than
 * usual. Out: in [hosts]. Returns what J has beyond that for each of its hosts. */
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

/* Moves become cheaper where boundaries are longer than usual, and not elsewhere: there they would gain as
 * much for as many moves, but all at once is more than it takes. Out: cost [hosts]: CHEAPER there, else 1.
 * Errors: LBM_E_NOMEM. */
static enum lbm_err
choose_hosts(const struct lbm_hosts *h, const double *beyond, double *cost)
{
    double most = 0;
    uint8_t *in = lbm_alloc(h->n, 1);
    if (in == NULL)
        return LBM_E_NOMEM;
    for (uint32_t first = 0; first < h->n; first++) {
        double mean = gather(h, beyond, first, (h->n + QUARTER - 1) / QUARTER, in);
        if (first != 0 && mean <= most)
            continue;
        most = mean;
        for (uint32_t p = 0; p < h->n; p++)
            cost[p] = in[p] ? CHEAPER : 1;
    }
    free(in);
    return LBM_OK;
}

/* J of the mapping there is beyond what is usual, in parts of that. Out: beyond [hosts]: each one's part. */
static double
measure_lag(const struct lbm_plan_task *task, double *beyond)
{
    const struct lbm_hosts *h = task->hosts;
    double there = 0, usual = 0;
    lbm_map_host_hop_bytes(task->graph, h, task->current, beyond);
    for (uint32_t p = 0; p < h->n; p++) {
        there += beyond[p];
        usual += task->usual[p];
        beyond[p] -= task->usual[p];
    }
    return there / fmax(1, usual) - 1;
}

static double
moved_part(const struct lbm_plan_task *task, const struct lbm_plan *plan)
{
    uint64_t moved = 0;
    for (uint32_t v = 0; v < plan->n; v++)
        moved += plan->part[v] != task->current[v] ? lbm_graph_work(task->graph, v) : 0;
    return (double)moved / (double)lbm_graph_total_work(task->graph);
}

/* Nonzero if what a second plan gains is worth what it moves. */
static int
is_bargain(const struct lbm_plan_task *task, const struct lbm_plan *first, const struct lbm_plan *second,
           double lag)
{
    double there = (double)lbm_map_hop_bytes(task->graph, task->hosts, task->current);
    double gain = (double)lbm_map_hop_bytes(task->graph, task->hosts, first->part) -
                  (double)lbm_map_hop_bytes(task->graph, task->hosts, second->part);
    return gain / there > BARGAIN / lag * (moved_part(task, second) - moved_part(task, first));
}

/* A second plan, with cheaper moves, where J of the mapping there is lags; the better one is left.
 * In: options of the first.  Out: cost [hosts].  In, out: plan. */
static enum lbm_err
plan_cheaper(const struct lbm_plan_task *task, struct lbm_plan_options *options, double *cost,
             struct lbm_plan *plan)
{
    struct lbm_diag diag;
    struct lbm_plan second;
    double *beyond = lbm_alloc(task->hosts->n, sizeof *beyond);
    if (beyond == NULL)
        return LBM_E_NOMEM;
    double lag = measure_lag(task, beyond);
    enum lbm_err err = lag > LAG ? choose_hosts(task->hosts, beyond, cost) : LBM_OK;
    free(beyond);
    if (err != LBM_OK || lag <= LAG)
        return err;
    err = lbm_plan_make(task->graph, task->hosts, options, &second, &diag);
    if (err != LBM_OK)
        return err;
    int is_better = is_bargain(task, plan, &second, lag);
    lbm_plan_free(is_better ? plan : &second);
    if (is_better)
        *plan = second;
    return LBM_OK;
}

/* Cheaper moves at all hosts where much has to move: by the square of it. Out: part, 1 where little has to.
 */
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
    options->migration_cost = part * COST_AGAIN * lbm_map_migration_cost(task->graph, h->n);
    options->host_cost = cost;
    options->current = task->current;
    options->draws_max = DRAWS_AGAIN;
    if (err == LBM_OK)
        err = lbm_plan_make(task->graph, h, options, plan, &diag);
    if (err == LBM_OK && part >= 1 && task->usual != NULL) {
        err = plan_cheaper(task, options, cost, plan);
        if (err != LBM_OK)
            lbm_plan_free(plan);
    }
    free(cost);
    return err;
}
