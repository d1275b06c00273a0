/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan task computes, in whatever thread: a plan from nothing, one from the mapping there is, or a
 * start that diffusion goes on from. Knows nothing of the node. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "node/node.h"
#include "space/space.h"

/* What moving costs a job that runs, in parts of what it usually costs a plan: boundaries that become longer
 * with every change cost more. */
static const double COST_AGAIN = 0.15;

/* Parts of all work: where more than that has to move anyway a mapping is nearly made anew, and moves that
 * make it a better one are cheap beside the others. */
static const double UPHEAVAL = 0.06;

/* J of the mapping there is beyond a fresh plan's, in parts: more than that makes moves cheaper, by the e-th
 * part for each SLOPE more. Half the price finds no other borders; a tenth of it does. */
static const double LAG = 0.06, SLOPE = 0.015, CHEAPEST = 0.1;

/* Draws of each annealing on a level: hosts wait for the plan, and half as many make it no worse. */
enum { DRAWS_AGAIN = 500000 };

/* J of a fresh plan, drawn from a seed. */
struct fresh {
    const struct lbm_plan_task *task;
    struct lbm_plan_options options;
    double j; /* at least 1 */
    enum lbm_err err;
};

static void
draw_fresh(void *context)
{
    struct fresh *fresh = context;
    const struct lbm_plan_task *task = fresh->task;
    struct lbm_plan plan;
    struct lbm_diag diag;
    fresh->err = lbm_plan_make(task->graph, task->hosts, &fresh->options, &plan, &diag);
    if (fresh->err != LBM_OK)
        return;
    fresh->j = fmax(1, (double)lbm_map_hop_bytes(task->graph, task->hosts, plan.part));
    lbm_plan_free(&plan);
}

/* How much cheaper moves are while boundaries are longer than without a past: than those of one fresh plan
 * or, if that seems to be so, of the middle one of three. In: options of a fresh plan. */
static enum lbm_err
price_of_lag(const struct lbm_plan_task *task, const struct lbm_plan_options *options, double *part)
{
    struct fresh fresh[3];
    void *context[3];
    for (unsigned i = 0; i < 3; i++) {
        fresh[i] = (struct fresh){.task = task, .options = *options, .j = 1};
        fresh[i].options.seed += i;
        context[i] = &fresh[i];
    }
    double there = (double)lbm_map_hop_bytes(task->graph, task->hosts, task->current);
    draw_fresh(context[0]);
    double a = fresh[0].j, usual = a;
    if (fresh[0].err == LBM_OK && there > (1 + LAG) * a) {
        for (unsigned i = 1; i < 3; i++)
            fresh[i].options.parallel = NULL;
        lbm_plan_parallel(options, draw_fresh, &context[1], 2);
        double b = fresh[1].j, c = fresh[2].j;
        usual = fmax(fmin(a, b), fmin(fmax(a, b), c));
    }
    for (unsigned i = 0; i < 3; i++)
        if (fresh[i].err != LBM_OK)
            return fresh[i].err;
    *part = fmax(CHEAPEST, exp(fmin(0, 1 + LAG - there / usual) / SLOPE));
    return LBM_OK;
}

/* The same where much has to move: by the square of it. Out: 1 where little has to. */
static enum lbm_err
price_of_upheaval(const struct lbm_plan_task *task, double *part)
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

/* From the mapping there is. In: options of a fresh plan. */
static enum lbm_err
plan_again(const struct lbm_plan_task *task, struct lbm_plan_options *options, struct lbm_plan *plan)
{
    struct lbm_diag diag;
    double part = 1;
    enum lbm_err err = price_of_upheaval(task, &part);
    if (err == LBM_OK && part >= 1)
        err = price_of_lag(task, options, &part);
    if (err != LBM_OK)
        return err;
    options->migration_cost = part * COST_AGAIN * lbm_map_migration_cost(task->graph, task->hosts->n);
    options->current = task->current;
    options->draws_max = DRAWS_AGAIN;
    return lbm_plan_make(task->graph, task->hosts, options, plan, &diag);
}

/* The whole pipeline. */
static enum lbm_err
plan_whole(const struct lbm_plan_task *task, lbm_parallel *parallel, struct lbm_plan *plan)
{
    struct lbm_plan_options options;
    struct lbm_diag diag;
    lbm_plan_defaults(&options);
    options.seed = task->seed;
    options.imbalance = task->imbalance;
    options.parallel = parallel;
    if (task->current != NULL)
        return plan_again(task, &options, plan);
    return lbm_plan_make_best(task->graph, task->hosts, &options, task->tries, plan, &diag);
}

/* Pins and first coordinates only; each vertex goes to the host of its region.
 * Out: anchored [n], of which *n_pinned are set. */
static enum lbm_err
plan_start(const struct lbm_plan_task *task, struct lbm_plan *plan, uint8_t *anchored, uint32_t *n_pinned)
{
    const struct lbm_graph *g = task->graph;
    const struct lbm_hosts *h = task->hosts;
    struct lbm_rng rng;
    *plan = (struct lbm_plan){.n = g->n,
                              .m = h->m,
                              .part = lbm_alloc(g->n, sizeof *plan->part),
                              .x = lbm_alloc((size_t)g->n * h->m, sizeof *plan->x),
                              .weight = lbm_alloc(h->n, sizeof *plan->weight)};
    *n_pinned = 0;
    if (plan->part == NULL || plan->x == NULL || plan->weight == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = h->m == 2 && task->start != LBM_START_HOME
                           ? lbm_pin_outer_face(g, anchored, plan->x, n_pinned)
                           : LBM_OK;
    if (err != LBM_OK)
        return err;
    lbm_rng_seed(&rng, task->seed);
    const uint8_t *pinned = *n_pinned != 0 ? anchored : NULL;
    if (task->start == LBM_START_CENTRE)
        lbm_start_centre(g->n, h->m, pinned, plan->x, &rng);
    else
        lbm_start_random(g->n, h->m, pinned, plan->x, &rng);
    struct lbm_regions regions = {.n = h->n, .m = h->m, .site = h->site, .weight = plan->weight};
    for (uint32_t v = 0; v < g->n; v++)
        plan->part[v] = g->pin != NULL && g->pin[v] != LBM_NONE ? g->pin[v]
                        : task->start == LBM_START_HOME && task->home != LBM_NONE
                            ? task->home
                            : lbm_regions_find(&regions, &plan->x[(size_t)v * h->m], NULL);
    return LBM_OK;
}

enum lbm_err
lbm_node_plan(const struct lbm_plan_task *task, lbm_parallel *parallel, struct lbm_plan **plan_out,
              uint8_t **anchored_out)
{
    struct lbm_plan *plan = lbm_alloc(1, sizeof *plan);
    uint8_t *anchored = lbm_alloc(task->graph->n, 1);
    uint32_t n_pinned = 0;
    enum lbm_err err = plan == NULL || anchored == NULL ? LBM_E_NOMEM
                       : task->start == LBM_START_PLAN  ? plan_whole(task, parallel, plan)
                                                        : plan_start(task, plan, anchored, &n_pinned);
    if (err != LBM_OK || n_pinned == 0) {
        free(anchored);
        anchored = NULL;
    }
    if (err != LBM_OK) {
        if (plan != NULL)
            lbm_plan_free(plan);
        free(plan);
        return err;
    }
    *plan_out = plan;
    *anchored_out = anchored;
    return LBM_OK;
}
