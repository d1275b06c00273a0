/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What moves cost a job that runs: the less, the more has to move anyway, or the longer its boundaries have
 * become. Knows nothing of the node. */
#include "node/job/remap_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* In parts of what moving usually costs a plan: boundaries that become longer with every change cost more. */
static const double COST_AGAIN = 0.15;

/* Parts of all work: where more than that has to move anyway a mapping is nearly made again, and moves that
 * make it a better one are cheap next to the others. */
static const double UPHEAVAL = 0.06;

/* J of the mapping there is beyond what is usual, in parts: from that on there is a second plan, for which
 * moves cost so much less. */
static const double LAG_NEAR = 0.03, CHEAPER = 0.17;

/* J lags from that on, in the mapping there is or by the first plan. Then the second one is taken if it is a
 * bargain: J, in parts, is shorter by as much as more work moves, in parts of all, where J just begins to
 * lag. The more J lags the less it has to gain: by this power of it. */
static const double LAG = 0.06, URGENCY = 2.5;

enum {
    QUARTER = 4,          /* of all hosts, at least, moves become cheaper at */
    DRAWS_AGAIN = 500000, /* of each annealing on a level: hosts wait, and half as many make it no worse */
    WAYS_AGAIN = 4,       /* to balance: hosts wait, and each of them is the best one as often as any other */
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

/* J of a mapping beyond what is usual, in parts of that. Out: beyond [hosts]: each one's part. */
static double
measure_lag(const struct lbm_plan_task *task, const uint32_t *part, double *beyond)
{
    const struct lbm_hosts *h = task->hosts;
    double there = 0, usual = 0;
    lbm_map_host_hop_bytes(task->graph, h, part, beyond);
    for (uint32_t p = 0; p < h->n; p++) {
        there += beyond[p];
        usual += task->baseline[p];
        beyond[p] -= task->baseline[p];
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
    return gain / there > pow(LAG / lag, URGENCY) * (moved_part(task, second) - moved_part(task, first));
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
    if (err == LBM_OK)
        err = lbm_map_limits(g, h, 0, share);
    if (err == LBM_OK) {
        lbm_map_loads(g, h->n, task->current, load);
        double must = (double)lbm_map_excess(h->n, load, share) / (double)lbm_graph_total_work(g);
        *part = must > UPHEAVAL ? UPHEAVAL / must * UPHEAVAL / must : 1;
    }
    free(load);
    free(share);
    return err;
}

/* A plan in progress. */
struct draft {
    const struct lbm_plan_task *task;
    struct lbm_plan_options options;
    struct lbm_plan plan; /* if err is LBM_OK */
    enum lbm_err err;
};

static void
make(void *context)
{
    struct draft *draft = context;
    struct lbm_diag diag;
    draft->err = lbm_plan_make(draft->task->graph, draft->task->hosts, &draft->options, &draft->plan, &diag);
}

/* What comes of the first draft counts as well as what there is: J that will lag is shortened now. */
static int
is_second_better(const struct draft *draft, double lag, double *beyond)
{
    lag = fmax(lag, measure_lag(draft->task, draft[0].plan.part, beyond));
    return lag > LAG && is_bargain(draft->task, &draft[0].plan, &draft[1].plan, lag);
}

/* One draft, or two next to each other, of which the better one is left. In: lag of the mapping there is;
 * room for beyond [hosts]. */
static enum lbm_err
make_best(struct draft *draft, unsigned n, double lag, double *beyond, struct lbm_plan *plan)
{
    void *const context[] = {&draft[0], &draft[1]};
    lbm_plan_parallel(&draft->options, make, context, n);
    enum lbm_err err = draft[0].err != LBM_OK || n == 1 ? draft[0].err : draft[1].err;
    int takes_second = err == LBM_OK && n == 2 && is_second_better(draft, lag, beyond);
    for (unsigned i = 0; i < n; i++)
        if (draft[i].err == LBM_OK && (err != LBM_OK || (int)i != takes_second))
            lbm_plan_free(&draft[i].plan);
    if (err == LBM_OK)
        *plan = draft[takes_second].plan;
    return err;
}

/* Out: beyond [hosts]; cost [hosts] of moves for the second plan; *lag of the mapping there is, 0: that is
 * not known, or does not matter, where all moves are as cheap anyway. */
static enum lbm_err
look_at_lag(const struct lbm_plan_task *task, double part, double *beyond, double *cost, double *lag)
{
    *lag = 0;
    if (part < CHEAPER || task->baseline == NULL)
        return LBM_OK;
    *lag = measure_lag(task, task->current, beyond);
    return *lag > LAG_NEAR ? choose_hosts(task->hosts, beyond, cost) : LBM_OK;
}

enum lbm_err
lbm_job_plan_remap(const struct lbm_plan_task *task, const struct lbm_plan_options *options,
                   struct lbm_plan *plan)
{
    double part = 1, lag = 0, *cost = lbm_alloc(task->hosts->n, sizeof *cost);
    double *beyond = lbm_alloc(task->hosts->n, sizeof *beyond);
    enum lbm_err err = cost != NULL && beyond != NULL ? price_upheaval(task, &part) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = look_at_lag(task, part, beyond, cost, &lag);
    struct draft draft[2] = {{.task = task, .options = *options}};
    struct lbm_plan_options *o = &draft[0].options;
    o->migration_cost = part * COST_AGAIN * lbm_map_migration_cost(task->graph, task->hosts->n);
    o->current = task->current;
    o->draws_max = DRAWS_AGAIN;
    o->ways_max = WAYS_AGAIN;
    draft[1] = draft[0];
    draft[1].options.host_cost = cost;
    if (err == LBM_OK)
        err = make_best(draft, lag > LAG_NEAR ? 2 : 1, lag, beyond, plan);
    free(beyond);
    free(cost);
    return err;
}
