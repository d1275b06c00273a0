/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node/mapping/baseline.h"

#include <stdlib.h>

#include "map/map.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"

enum {
    DRAWS = 7,           /* they scatter by 4 % */
    DRAWS_LEAST = 3,     /* of large guests, or where another plan is due soon: fewer say nothing */
    DRAWS_SIZE = 800000, /* vertices and ends of edges in all of them together, about */
    GROWTH_PARTS =
        10, /* what was drawn is not of a guest that has changed its size by one part in that many */
};

void
lbm_mapping_baseline_free(struct baseline *baseline)
{
    lbm_vec_free(&baseline->host);
    lbm_vec_free(&baseline->hop_bytes);
    lbm_vec_free(&baseline->drawn_so_far);
}

static unsigned
count_draws(const struct lbm_graph *g)
{
    uint64_t n = DRAWS_SIZE / (g->n + lbm_graph_directions(g) + 1);
    return n > DRAWS ? DRAWS : n < DRAWS_LEAST ? DRAWS_LEAST : (unsigned)n;
}

void
lbm_mapping_baseline_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct baseline *u = &job->baseline;
    lbm_mapping_coarse_free(&job->coarse);
    u->drawn = 0;
    u->drawn_so_far.n = 0;
    for (uint32_t p = 0; p < job->plan_hosts.n; p++)
        if (lbm_vec_push(&u->drawn_so_far, 0) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    job->coarse.state = COARSE_DRAWING;
    node->raise->job_plan_ask(node, job, entry, LBM_START_PLAN);
}

static enum lbm_err
add(struct job *job, const struct lbm_plan *plan)
{
    struct baseline *u = &job->baseline;
    double *hop_bytes = lbm_alloc(job->plan_hosts.n, sizeof *hop_bytes);
    if (hop_bytes == NULL)
        return LBM_E_NOMEM;
    lbm_map_host_hop_bytes(job->guest, &job->plan_hosts, plan->part, hop_bytes);
    for (uint32_t p = 0; p < job->plan_hosts.n; p++)
        u->drawn_so_far.at[p] += hop_bytes[p];
    u->drawn++;
    free(hop_bytes);
    return LBM_OK;
}

/* What was drawn is usual from now on, together with what was so before: that counts as half, as long as it
 * is of the same hosts and of about the same guest. Errors: LBM_E_NOMEM. */
static enum lbm_err
take(struct job *job)
{
    struct baseline *u = &job->baseline;
    double before = lbm_mapping_baseline_of(job) != NULL ? 0.5 : 0;
    u->n_vertices = job->guest->n;
    if (before == 0) {
        u->host.n = u->hop_bytes.n = 0;
        for (size_t p = 0; p < job->plan_ids.n; p++)
            if (lbm_vec_push(&u->host, job->plan_ids.at[p]) != LBM_OK ||
                lbm_vec_push(&u->hop_bytes, 0) != LBM_OK)
                return LBM_E_NOMEM;
    }
    for (size_t p = 0; p < u->hop_bytes.n; p++)
        u->hop_bytes.at[p] = before * u->hop_bytes.at[p] + (1 - before) * u->drawn_so_far.at[p] / u->drawn;
    return LBM_OK;
}

void
lbm_mapping_baseline_drawn(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                           enum lbm_err err, const struct lbm_plan *plan)
{
    const struct coarse_plan *o = &job->coarse;
    int is_over = o->state != COARSE_DRAWING; /* the next plan is being asked for already */
    int is_wanted = !is_over && entry->coordinator == node->host && (o->due_us == 0 || o->is_spent);
    if (err == LBM_OK)
        err = add(job, plan);
    if (err == LBM_OK && is_wanted && job->baseline.drawn < count_draws(job->guest)) {
        node->raise->job_plan_ask(node, job, entry, LBM_START_PLAN);
        return;
    }
    if (err == LBM_OK && job->baseline.drawn >= DRAWS_LEAST)
        err = take(job);
    if (err == LBM_E_NOMEM)
        lbm_core_fail(node, err);
    if (is_over)
        lbm_local_free_guest(job);
    else
        lbm_mapping_coarse_end(job);
}

const double *
lbm_mapping_baseline_of(const struct job *job)
{
    const struct baseline *u = &job->baseline;
    int64_t grown = (int64_t)job->guest->n - u->n_vertices;
    int is_of_these = u->host.n == job->plan_ids.n && llabs(grown) * GROWTH_PARTS <= u->n_vertices;
    for (size_t p = 0; p < job->plan_ids.n && is_of_these; p++)
        is_of_these = u->host.at[p] == job->plan_ids.at[p];
    return is_of_these ? u->hop_bytes.at : NULL;
}
