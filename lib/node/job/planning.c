/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planning at the job's coordinator: the plan is an effect, computed elsewhere; its result becomes records
 * with positions and targets. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/mapping/mapping.h"
#include "node/records/records.h"

/* A job is planned once and runs for long, and what later plans find depends on where they begin: so the
 * first one is the best of that many starts, as long as they have no more than that many vertices and ends of
 * edges together. */
enum { STARTS = 8, STARTS_SIZE = 1 << 20 };

static unsigned
count_starts(const struct job *job)
{
    uint64_t size = job->guest->n + lbm_graph_directions(job->guest);
    if (size > STARTS_SIZE)
        return 1;
    return size * STARTS <= STARTS_SIZE ? STARTS : (unsigned)(STARTS_SIZE / size);
}

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
lbm_job_plan_ask(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                 enum lbm_start start)
{
    struct lbm_effect effect = {.kind = LBM_EFFECT_PLAN};
    number_pins(job, job->guest);
    effect.as.plan = lbm_alloc(1, sizeof *effect.as.plan);
    if (effect.as.plan == NULL || lbm_vec_push(&node->out->list, effect) != LBM_OK) {
        free(effect.as.plan);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    *effect.as.plan = (struct lbm_plan_task){.job = job->id,
                                             .start = start,
                                             .seed = entry->seed,
                                             .starts = count_starts(job),
                                             .imbalance = entry->imbalance,
                                             .coordinator = lbm_view_number(&node->view, node->host),
                                             .graph = job->guest,
                                             .hosts = &job->plan_hosts};
    node->n_plans += start != LBM_START_DIFFUSE;
    job->planning = 1;
}

void
lbm_job_plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_diag diag;
    /* A coordinator by inheritance, or of a guest in parts, or applications have changed the guest: what is
     * there is mapped from there. */
    if (!lbm_shard_is_whole(&job->shard, entry->vertices) || lbm_job_start(entry) == LBM_START_DIFFUSE) {
        lbm_local_free_guest(job);
        lbm_job_store_state(node, job, LBM_JOB_PLACED);
        lbm_job_enter(node, job, LBM_PHASE_PLACED);
        return;
    }
    if (job->guest == NULL) { /* after a restart: the rows are the guest */
        job->guest = lbm_alloc(1, sizeof *job->guest);
        if (job->guest == NULL || lbm_shard_whole(&job->shard, entry->vertices, job->guest) != LBM_OK) {
            free(job->guest);
            job->guest = NULL;
            lbm_core_fail(node, LBM_E_CORRUPT);
            return;
        }
    }
    if (lbm_view_build_hosts(&node->view, &job->plan_hosts, &diag) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t p = 0; p < job->plan_hosts.n; p++)
        if (lbm_vec_push(&job->plan_ids, lbm_view_host(&node->view, p)) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    lbm_job_plan_ask(node, job, entry, (enum lbm_start)lbm_job_start(entry));
}

/* Position and target of vertex v as the plan has them. Soft: the record's rank stays. */
static void
put_planned(struct lbm_node *node, struct job *job, uint32_t v, const struct lbm_plan *plan,
            const uint8_t *anchored)
{
    uint32_t to = job->plan_ids.at[plan->part[v]];
    struct lbm_vertex *vertex = lbm_records_of(job, v);
    LBM_ASSERT(vertex != NULL);
    vertex->destination = to == node->host ? LBM_NONE : to;
    lbm_local_queue_changed(job);
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
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t v = 0; v < plan->n; v++) {
        uint32_t to = job->plan_ids.at[plan->part[v]];
        op.as.plan.host[v] = to == node->host ? LBM_NONE : to;
    }
    lbm_core_persist(node, op);
    lbm_job_store_state(node, job, LBM_JOB_PLACED);
}

void
lbm_job_on_planned(struct lbm_node *node, const struct lbm_event *event)
{
    struct lbm_plan *plan = event->as.planned.plan;
    struct job *removed = lbm_job_removed(node, event->as.planned.job),
               *job = removed == NULL ? lbm_local_job(node, event->as.planned.job) : NULL;
    const struct lbm_job_entry *entry = job != NULL ? lbm_view_job(&node->view, job->id) : NULL;
    LBM_ASSERT(job == NULL || entry != NULL);
    if (job != NULL)
        job->planning = 0;
    if (removed != NULL) { /* cancelled meanwhile */
        removed->planning = 0;
        lbm_job_forget_removed(node);
    }
    if (job != NULL && job->diffuse.is_halving) {
        lbm_mapping_diffuse_halved(node, job, event->as.planned.err, plan);
    } else if (job != NULL && job->shard.n_own != entry->vertices) {
        /* Vertices went another way: what is there is mapped from where it is. */
        lbm_local_free_guest(job);
        lbm_job_store_state(node, job, LBM_JOB_PLACED);
        lbm_job_enter(node, job, LBM_PHASE_PLACED);
    } else if (job != NULL && event->as.planned.err != LBM_OK) {
        lbm_core_note(node, LBM_NOTE_ERROR, "planning job %s: %s", entry->name,
                      lbm_err_text(event->as.planned.err));
        lbm_core_fail(node, event->as.planned.err);
    } else if (job != NULL) {
        LBM_ASSERT(plan != NULL && plan->n == entry->vertices && plan->m == job->shard.m);
        for (uint32_t v = 0; v < plan->n; v++)
            put_planned(node, job, v, plan, event->as.planned.anchored);
        lbm_mapping_normalization_set_regions(node, job, job->plan_ids.n, job->plan_ids.at, plan->weight);
        job->normalization_seq = 1;
        job->normalization_fixed = !lbm_local_follows_regions(entry) || event->as.planned.anchored != NULL;
        job->shard.patch.valid = 0;
        if (node->failed == LBM_OK)
            store_plan(node, job, plan, event->as.planned.anchored);
        lbm_local_free_guest(job);
        lbm_job_enter(node, job, LBM_PHASE_PLACED);
    }
    if (plan != NULL)
        lbm_plan_free(plan);
    free(plan);
    free(event->as.planned.anchored);
}
