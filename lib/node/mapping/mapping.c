/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAPPING: each host diffuses the vertices it owns against what it knows of the others, and ownership
 * follows regions (HEI97 sections 5 and 7). Raw coordinates are never rescaled: the diffusion commutes
 * with affine maps, so the renormalization is a normalization through which they are looked at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum {
    CONVERGED_TICKS = 5, /* without anything to do, before a host calls itself ready */
};

/* A vertex changes hands only if the other region is nearer by this part of the squared least distance of
 * sites: while it still moves, it does not hop back and forth on a border. */
static const double HYSTERESIS = 0.02;

/* Length that one unit of raw coordinates has in Omega, at most. */
static double
normalization_scale(const struct lbm_affine *normalization)
{
    double most = 0;
    for (unsigned r = 0; r < normalization->m; r++) {
        double row = 0;
        for (unsigned c = 0; c < normalization->m; c++)
            row += normalization->matrix[r * normalization->m + c] *
                   normalization->matrix[r * normalization->m + c];
        most = row > most ? row : most;
    }
    return sqrt(most);
}

/* Displacement of a sweep at which the slowest mode of a lattice of n vertices is within a twentieth of a
 * cell: error e moves by about e pi^2 / (2 n) a sweep, a cell is n^(-1/m). */
static double
converged_displacement(const struct lbm_job_entry *entry, unsigned m)
{
    double n = entry->vertices > 1 ? entry->vertices : 2;
    return 0.25 * pow(n, -1.0 / m) / n;
}

static void
sweep(struct lbm_node *node, struct job *job, int sweeps)
{
    struct lbm_patch *patch = &job->shard.patch;
    double largest = 0;
    if (lbm_shard_patch(&job->shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    struct lbm_diffusion how = {.m = job->shard.m, .order = LBM_ORDER_BLOCK, .pinned = patch->anchored};
    if (patch->g.n != 0 &&
        lbm_diffuse(&patch->g, &how, sweeps, patch->x, &node->rng, NULL, &largest) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    job->sweeps += (uint64_t)sweeps;
    node->n_sweeps += (uint64_t)sweeps;
    job->largest = largest * normalization_scale(&job->normalization);
    job->ghosts_largest += job->largest * sweeps;
}

/* ---- regions ---------------------------------------------------------------------------------------- */

/* |x - s_p|^2 - a_p */
static double
power(const struct lbm_regions *regions, const double *x, uint32_t p)
{
    return lbm_space_distance2(x, &regions->site[(size_t)p * regions->m], regions->m, regions->wrap) -
           regions->weight[p];
}

/* Set the target of an own vertex by the region that holds x, of Omega. Nonzero: it lies elsewhere. The other
 * region is to be nearer by `least`. */
static int
follow_region(struct lbm_node *node, struct lbm_vertex *vertex, const struct lbm_regions *regions,
              const double *x, double least)
{
    uint32_t self = lbm_view_number(&node->view, node->host), region = lbm_regions_find(regions, x, NULL);
    vertex->destination = LBM_NONE;
    if (vertex->pin != LBM_NONE)
        vertex->destination = vertex->pin != node->host ? vertex->pin : LBM_NONE;
    else if (region != self && power(regions, x, self) - power(regions, x, region) > least)
        vertex->destination = lbm_view_host(&node->view, region);
    return vertex->destination != LBM_NONE;
}

/* Vertices follow where they are now or, without a fixed normalization, where they were when the coordinator
 * was told of them: what has diffused since lies nearer to the centre, all of it, than the normalization that
 * came takes it for. Returns how many lie elsewhere. */
static uint32_t
follow_regions(struct lbm_node *node, struct job *job, double hysteresis)
{
    const struct lbm_hosts *h = &node->view.hosts;
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    uint32_t away = 0;
    if (lbm_view_number(&node->view, node->host) == LBM_NONE)
        return 0; /* others know already that we are ACTIVE, and gave us vertices */
    double *weight = lbm_mapping_normalization_weights(node, job), x[LBM_DIMENSIONS_MAX];
    struct lbm_regions regions = {.n = h->n, .m = m, .site = h->site, .weight = weight};
    double delta = lbm_regions_least_distance(&regions), least = hysteresis * delta * delta;
    size_t n = job->normalization_fixed ? patch->g.n : job->told.vertex.n;
    for (size_t i = 0; node->failed == LBM_OK && i < n; i++) {
        struct lbm_vertex *vertex = job->normalization_fixed ? &job->shard.vertices.at[patch->vertex[i]]
                                                             : lbm_records_of(job, job->told.vertex.at[i]);
        if (vertex == NULL || vertex->stage != LBM_STAGE_OWN)
            continue;
        lbm_local_place(job, job->normalization_fixed ? &patch->x[i * m] : &job->told.x.at[i * m], x);
        away += follow_region(node, vertex, &regions, x, least) != 0;
    }
    lbm_local_queue_changed(job);
    free(weight);
    return away;
}

/* ---- the tick --------------------------------------------------------------------------------------- */

static void
set_ready(struct lbm_node *node, struct job *job, int ready)
{
    if (job->ready == ready)
        return;
    job->ready = ready;
    node->ping_us = node->now_us; /* the others wait for this */
}

/* A planned job: smooth the coordinates a little; ownership stays as planned. */
static void
tick_planned(struct lbm_node *node, struct job *job)
{
    uint32_t waiting = lbm_migration_queue_pump(node, job);
    if (job->sweeps < PLAN_SWEEPS)
        sweep(node, job, 1);
    set_ready(node, job, waiting == 0 && !lbm_migration_waits(node, job) && job->sweeps >= PLAN_SWEEPS);
}

/* Enough is enough: a vertex on a border may change hands for ever while the normalization trembles, and
 * points that have collapsed give no normalization. What is planned to move still does. */
static uint64_t
sweeps_max(const struct job *job, const struct lbm_job_entry *entry)
{
    if (job->normalization_fixed && entry->vertices <= MAPPING_REST_VERTICES)
        return MAPPING_SWEEPS_MAX;
    return job->normalization_fixed ? MAPPING_SWEEPS_LARGE : MAPPING_SWEEPS_FREE;
}

static void
tick_following(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    double converged = converged_displacement(entry, job->shard.m);
    if (lbm_shard_patch(&job->shard) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    else if (job->ghosts_due != GHOSTS_ALL) /* else others have yet to hear of the last sweep */
        sweep(node, job, MAPPING_SWEEPS);
    if (node->failed != LBM_OK)
        return;
    if (job->ghosts_largest > 0.1 * converged)
        lbm_local_ghosts_due(job, GHOSTS_ALL);
    int is_spent = job->sweeps >= sweeps_max(job, entry);
    int at_rest = job->largest <= converged || is_spent;
    uint32_t waiting = 0;
    int is_due = job->normalization_fixed ? node->now_us >= job->follow_us || at_rest
                                          : job->normalization_seq != job->followed_seq;
    if (lbm_membership_is_routable(node) && job->normalization_seq != 0 && !is_spent && is_due) {
        job->follow_us = node->now_us + FOLLOW_US;
        job->followed_seq = job->normalization_seq;
        waiting = follow_regions(node, job, at_rest ? 0 : HYSTERESIS);
    }
    waiting += lbm_migration_queue_pump(node, job);
    /* What is on its way would be counted nowhere. */
    if (!job->normalization_fixed && waiting == 0 && !lbm_migration_waits(node, job) &&
        node->now_us >= job->stats_us && lbm_mapping_normalization_wants_stats(node, job, entry)) {
        job->stats_us = node->now_us + STATS_US;
        lbm_mapping_normalization_tell(node, job, entry);
    }
    job->converged = at_rest && waiting == 0 && !lbm_migration_waits(node, job) ? job->converged + 1 : 0;
    set_ready(node, job, job->converged >= CONVERGED_TICKS && (job->normalization_seq != 0 || is_spent));
}

void
lbm_mapping_timer(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (node->now_us < job->tick_us)
        return;
    job->tick_us = node->now_us + MAPPING_TICK_US;
    if (lbm_job_start(entry) == LBM_START_DIFFUSE) {
        lbm_mapping_diffuse_timer(node, job, entry);
        return;
    }
    if (!lbm_local_follows_regions(entry))
        tick_planned(node, job);
    else
        tick_following(node, job, entry);
}
