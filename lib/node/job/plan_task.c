/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan task computes, in whatever thread: a plan, or a start that
 * diffusion goes on from. Knows nothing of the node. */
#include <stdlib.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "node/node.h"
#include "space/space.h"

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
    return lbm_plan_make_best(task->graph, task->hosts, &options, task->starts, plan, &diag);
}

/* A plan whose arrays are all 0; to be freed on failure too. Errors: LBM_E_NOMEM. */
static enum lbm_err
make_empty(const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    const struct lbm_graph *g = task->graph;
    const struct lbm_hosts *h = task->hosts;
    *plan = (struct lbm_plan){.n = g->n,
                              .m = h->m,
                              .part = lbm_alloc(g->n, sizeof *plan->part),
                              .x = lbm_alloc((size_t)g->n * h->m, sizeof *plan->x),
                              .weight = lbm_alloc(h->n, sizeof *plan->weight)};
    return plan->part == NULL || plan->x == NULL || plan->weight == NULL ? LBM_E_NOMEM : LBM_OK;
}

/* Pins and first coordinates only; each vertex goes to the host of its region.
 * Out: anchored [n], of which *n_pinned are set. */
static enum lbm_err
plan_start(const struct lbm_plan_task *task, struct lbm_plan *plan, uint8_t *anchored, uint32_t *n_pinned)
{
    const struct lbm_graph *g = task->graph;
    const struct lbm_hosts *h = task->hosts;
    struct lbm_rng rng;
    *n_pinned = 0;
    enum lbm_err err = make_empty(task, plan);
    if (err != LBM_OK)
        return err;
    err = h->m == 2 && task->start != LBM_START_COORDINATOR
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
                        : task->start == LBM_START_COORDINATOR && task->coordinator != LBM_NONE
                            ? task->coordinator
                            : lbm_regions_find(&regions, &plan->x[(size_t)v * h->m], NULL);
    return LBM_OK;
}

/* Without a plan: hosts halve what they hold. */
static enum lbm_err
plan_halves(const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    enum lbm_err err = make_empty(task, plan);
    return err == LBM_OK ? lbm_map_halve(task->graph, task->hosts, task->imbalance, task->seed, plan->part)
                         : err;
}

enum lbm_err
lbm_node_plan(const struct lbm_plan_task *task, lbm_parallel *parallel, struct lbm_plan **plan_out,
              uint8_t **anchored_out)
{
    struct lbm_plan *plan = lbm_alloc(1, sizeof *plan);
    uint8_t *anchored = lbm_alloc(task->graph->n, 1);
    uint32_t n_pinned = 0;
    enum lbm_err err = plan == NULL || anchored == NULL   ? LBM_E_NOMEM
                       : task->start == LBM_START_DIFFUSE ? plan_halves(task, plan)
                       : task->start == LBM_START_PLAN    ? plan_whole(task, parallel, plan)
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
