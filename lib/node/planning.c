/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planning at the job's home: the plan is an effect, computed elsewhere; its result becomes records with
 * positions and wishes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/internal.h"

/* What moving costs a job that runs, in parts of what it usually costs a plan: boundaries that become longer
 * with every change cost more. */
static const double COST_AGAIN = 0.15;

/* Parts of all work: where more than that has to move anyway a mapping is nearly made anew, and moves that
 * make it a better one are cheap beside the others. */
static const double UPHEAVAL = 0.06;

/* J of the mapping there is beyond a fresh plan's, in parts: more than that makes moves cheaper, by the e-th
 * part for each SLOPE more. Half the price finds no other borders; a tenth of it does. */
static const double LAG = 0.06, SLOPE = 0.015, CHEAPEST = 0.1;

/* The same, of each annealing: hosts wait for the plan, and half as many make it no worse. */
enum { DRAWS_AGAIN = 500000 };

/* Pins of the guest name hosts; the plan wants their numbers. */
static void
number_pins(const struct job *job, struct lbm_graph *g)
{
    for (uint32_t v = 0; g->pin != NULL && v < g->n; v++) {
        uint32_t number = 0;
        while (g->pin[v] != LBM_NONE && number < job->plan_ids.n && job->plan_ids.at[number] != g->pin[v])
            number++;
        if (g->pin[v] != LBM_NONE)
            g->pin[v] = number < job->plan_ids.n ? number : LBM_NONE;
    }
}

void
plan_ask(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, enum lbm_start start)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_PLAN};
    number_pins(job, job->guest);
    effect.as.plan = lbm_alloc(1, sizeof *effect.as.plan);
    if (effect.as.plan == NULL || lbm_vec_push(&node->out->list, effect) != LBM_OK) {
        free(effect.as.plan);
        fail(node, LBM_E_NOMEM);
        return;
    }
    *effect.as.plan = (struct lbm_plan_task){.job = job->id,
                                             .start = start,
                                             .seed = entry->seed,
                                             .imbalance = entry->imbalance,
                                             .home = lbm_view_number(&node->view, node->host),
                                             .graph = job->guest,
                                             .current = job->outline.again ? job->plan_current : NULL,
                                             .hosts = &job->plan_hosts};
    job->planning = 1;
}

void
plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_diag diag;
    /* A home by inheritance, or of a guest in parts, or applications have changed the guest: what is there is
     * mapped from there. */
    if (!lbm_shard_is_whole(&job->shard, entry->vertices) || entry->start == LBM_START_OUTLINE) {
        job_free_guest(job);
        job_store_state(node, job, LBM_JOB_PLACED);
        job_enter(node, job, LBM_PHASE_PLACED);
        return;
    }
    if (job->guest == NULL) { /* after a restart: the rows are the guest */
        job->guest = lbm_alloc(1, sizeof *job->guest);
        if (job->guest == NULL || lbm_shard_whole(&job->shard, entry->vertices, job->guest) != LBM_OK) {
            free(job->guest);
            job->guest = NULL;
            fail(node, LBM_E_CORRUPT);
            return;
        }
    }
    if (lbm_view_build_hosts(&node->view, &job->plan_hosts, &diag) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t p = 0; p < job->plan_hosts.n; p++)
        if (lbm_vec_push(&job->plan_ids, lbm_view_host(&node->view, p)) != LBM_OK)
            fail(node, LBM_E_NOMEM);
    plan_ask(node, job, entry, (enum lbm_start)entry->start);
}

/* Position and wish of vertex v as the plan has them. Soft: the record's rank stays. */
static void
put_planned(struct lbm_node *node, struct job *job, uint32_t v, const struct lbm_plan *plan,
            const uint8_t *anchored)
{
    uint32_t to = job->plan_ids.at[plan->part[v]];
    struct lbm_vertex *vertex = record_of(job, v);
    LBM_ASSERT(vertex != NULL);
    vertex->wish = to == node->host ? LBM_NONE : to;
    wishes_changed(job);
    vertex->anchored = anchored != NULL && anchored[v];
    memcpy(vertex->x, &plan->x[(size_t)v * plan->m], plan->m * sizeof(double));
    for (uint32_t i = 0; i < vertex->degree; i++)
        vertex->half[i].host = job->plan_ids.at[plan->part[vertex->half[i].to]];
}

static void
store_plan(struct lbm_node *node, struct job *job, const struct lbm_plan *plan, const uint8_t *anchored)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_PLAN, .job = job->id};
    op.as.plan.n = plan->n;
    op.as.plan.m = plan->m;
    op.as.plan.position = lbm_copy(plan->x, (size_t)plan->n * plan->m, sizeof(double));
    op.as.plan.anchored = anchored != NULL ? lbm_copy(anchored, plan->n, 1) : NULL;
    op.as.plan.host = lbm_alloc(plan->n, sizeof *op.as.plan.host);
    if (op.as.plan.position == NULL || op.as.plan.host == NULL) {
        free(op.as.plan.position);
        free(op.as.plan.anchored);
        free(op.as.plan.host);
        fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t v = 0; v < plan->n; v++) {
        uint32_t to = job->plan_ids.at[plan->part[v]];
        op.as.plan.host[v] = to == node->host ? LBM_NONE : to;
    }
    persist(node, op);
    job_store_state(node, job, LBM_JOB_PLACED);
}

void
on_planned(struct lbm_node *node, const struct lbm_event *event)
{
    struct lbm_plan *plan = event->as.planned.plan;
    struct job *job = job_of(node, event->as.planned.job);
    const struct lbm_job_entry *entry = job != NULL ? lbm_view_job(&node->view, job->id) : NULL;
    if (job != NULL)
        job->planning = 0;
    if (job != NULL && entry != NULL && job->outline.state == OUTLINE_PLANNING) {
        outline_planned(node, job, entry, event->as.planned.err, plan);
    } else if (job != NULL && (entry == NULL || job->shard.n_own != entry->vertices)) {
        /* Cancelled meanwhile; or vertices went another way: what is there is mapped from where it is. */
        if (entry != NULL) {
            job_free_guest(job);
            job_store_state(node, job, LBM_JOB_PLACED);
            job_enter(node, job, LBM_PHASE_PLACED);
        } else {
            job_remove(node, job->id);
        }
    } else if (job != NULL && event->as.planned.err != LBM_OK) {
        note(node, LBM_NOTE_ERROR, "planning job %s: %s", entry->name, lbm_err_text(event->as.planned.err));
        fail(node, event->as.planned.err);
    } else if (job != NULL) {
        LBM_ASSERT(plan != NULL && plan->n == entry->vertices && plan->m == job->shard.m);
        for (uint32_t v = 0; v < plan->n; v++)
            put_planned(node, job, v, plan, event->as.planned.anchored);
        for (uint32_t p = 0; p < job->plan_ids.n; p++)
            if (lbm_vec_push(&job->region_host, job->plan_ids.at[p]) != LBM_OK ||
                lbm_vec_push(&job->region_weight, plan->weight[p]) != LBM_OK)
                fail(node, LBM_E_NOMEM);
        job->frame_seq = 1;
        job->frame_fixed = !follows_regions(job, entry) || event->as.planned.anchored != NULL;
        job->shard.patch.valid = 0;
        if (node->failed == LBM_OK)
            store_plan(node, job, plan, event->as.planned.anchored);
        job_free_guest(job);
        job_enter(node, job, LBM_PHASE_PLACED);
    }
    if (plan != NULL)
        lbm_plan_free(plan);
    free(plan);
    free(event->as.planned.anchored);
}

/* J of a fresh plan, at least 1. In: its options; which of several. */
static enum lbm_err
draw_fresh(const struct lbm_plan_task *task, struct lbm_plan_options options, unsigned which, double *j)
{
    struct lbm_plan fresh;
    struct lbm_diag diag;
    options.seed += which;
    enum lbm_err err = lbm_plan_make(task->graph, task->hosts, &options, &fresh, &diag);
    if (err != LBM_OK)
        return err;
    *j = fmax(1, (double)lbm_map_hop_bytes(task->graph, task->hosts, fresh.part));
    lbm_plan_free(&fresh);
    return LBM_OK;
}

/* How much cheaper moves are while boundaries are longer than without a past: than those of one fresh plan or,
 * if that seems to be so, of the middle one of three. In: options of a fresh plan. */
static enum lbm_err
price_of_lag(const struct lbm_plan_task *task, const struct lbm_plan_options *options, double *part)
{
    double there = (double)lbm_map_hop_bytes(task->graph, task->hosts, task->current), j[3] = {1, 1, 1};
    enum lbm_err err = draw_fresh(task, *options, 0, &j[0]);
    double usual = j[0];
    if (err == LBM_OK && there > (1 + LAG) * usual) {
        err = draw_fresh(task, *options, 1, &j[1]);
        if (err == LBM_OK)
            err = draw_fresh(task, *options, 2, &j[2]);
        usual = fmax(fmin(j[0], j[1]), fmin(fmax(j[0], j[1]), j[2]));
    }
    *part = fmax(CHEAPEST, exp(fmin(0, 1 + LAG - there / usual) / SLOPE));
    return err;
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
plan_whole(const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    struct lbm_plan_options options;
    struct lbm_diag diag;
    lbm_plan_defaults(&options);
    options.seed = task->seed;
    options.imbalance = task->imbalance;
    return task->current != NULL ? plan_again(task, &options, plan)
                                 : lbm_plan_make(task->graph, task->hosts, &options, plan, &diag);
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
lbm_node_plan(const struct lbm_plan_task *task, struct lbm_plan **plan_out, uint8_t **anchored_out)
{
    struct lbm_plan *plan = lbm_alloc(1, sizeof *plan);
    uint8_t *anchored = lbm_alloc(task->graph->n, 1);
    uint32_t n_pinned = 0;
    enum lbm_err err = plan == NULL || anchored == NULL ? LBM_E_NOMEM
                       : task->start == LBM_START_PLAN  ? plan_whole(task, plan)
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
