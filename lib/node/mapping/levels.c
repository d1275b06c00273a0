/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffusion on levels: each host coarsens what it holds, inside itself, and diffuses its clusters against
 * neighbours elsewhere, which it sees as single vertices at the places of their clusters. Hosts may be on
 * different levels. What a sweep of vertices moves by a cell, a sweep of clusters moves by a cluster, so that
 * sweeps until rest hardly depend on the size of the guest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"

enum {
    CLUSTERS = 24,     /* that many on the coarsest level, of a share */
    SHARES = 64,       /* of which clusters diffuse, or of half of the hosts: more would take more sweeps; */
    SHARES_ALONE = 16, /* by a host that waits for nobody */
    SWEEPS_COARSEST = 150, /* half as many on each finer one, */
    SWEEPS_LEAST = 8,      /* at least */
    SWEEPS_FLAT = 30,      /* without levels */
};

/* Displacement in a sweep at which a level is at rest, in parts of Omega. */
static const double AT_REST = 1e-5;

void
lbm_mapping_levels_free(struct diffuse_levels *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        lbm_graph_free(&l->graph[i]);
        free(l->parent[i]);
        free(l->x[i]);
        free(l->pin[i]);
    }
    free(l->graph);
    free(l->parent);
    free(l->x);
    free(l->pin);
    *l = (struct diffuse_levels){0};
}

enum lbm_err
lbm_mapping_inner_graph(const struct lbm_shard *shard, struct lbm_graph *inner)
{
    const struct lbm_graph *g = &shard->patch.g;
    uint64_t directions = lbm_graph_directions(g), at = 0;
    *inner = (struct lbm_graph){.n = g->n,
                                .offset = lbm_alloc((size_t)g->n + 1, sizeof *inner->offset),
                                .target = lbm_alloc(directions, sizeof *inner->target),
                                .weight = lbm_alloc(directions, sizeof *inner->weight),
                                .pin = lbm_alloc(g->n, sizeof *inner->pin),
                                .work = g->work};
    if (inner->offset == NULL || inner->target == NULL || inner->weight == NULL || inner->pin == NULL)
        return LBM_E_NOMEM;
    for (uint32_t row = 0; row < g->n; row++) {
        inner->pin[row] = shard->vertices.at[shard->patch.vertex[row]].pin;
        for (uint64_t e = g->offset[row]; e < g->offset[row + 1]; e++) {
            if (g->target[e] >= g->n)
                continue;
            inner->target[at] = g->target[e];
            inner->weight[at++] = lbm_graph_weight(g, e);
        }
        inner->offset[row + 1] = at;
    }
    return LBM_OK;
}

/* The graph of clusters, neighbours elsewhere as they are. In: below: rows, and targets behind them; parent
 * [below->n], of n clusters. Errors: LBM_E_NOMEM. */
static enum lbm_err
contract(const struct lbm_graph *below, const uint32_t *parent, uint32_t n, uint32_t n_ghosts,
         struct lbm_graph *out)
{
    uint64_t directions = below->offset[below->n], at = 0;
    uint32_t *first = lbm_alloc((size_t)n + 1, sizeof *first), *member = lbm_alloc(below->n, sizeof *member);
    uint64_t *seen = lbm_alloc((size_t)n + n_ghosts, sizeof *seen);
    *out = (struct lbm_graph){.n = n,
                              .offset = lbm_alloc((size_t)n + 1, sizeof *out->offset),
                              .target = lbm_alloc(directions, sizeof *out->target),
                              .weight = lbm_alloc(directions, sizeof *out->weight),
                              .work = lbm_alloc(n, sizeof *out->work)};
    enum lbm_err err = first == NULL || member == NULL || seen == NULL || out->offset == NULL ||
                               out->target == NULL || out->weight == NULL || out->work == NULL
                           ? LBM_E_NOMEM
                           : LBM_OK;
    for (uint32_t v = 0; v < below->n && err == LBM_OK; v++)
        first[parent[v] + 1]++;
    for (uint32_t c = 0; c < n && err == LBM_OK; c++)
        first[c + 1] += first[c];
    for (uint32_t v = below->n; v-- > 0 && err == LBM_OK;)
        member[--first[parent[v] + 1]] = v; /* first[c + 1] comes to be the first of c */
    for (uint32_t c = 0; c < n && err == LBM_OK; c++) {
        uint32_t end = c + 1 < n ? first[c + 2] : below->n;
        for (uint32_t i = first[c + 1]; i < end; i++) {
            uint32_t v = member[i];
            uint64_t work = (uint64_t)out->work[c] + lbm_graph_work(below, v);
            out->work[c] = work < LBM_WEIGHT_MAX ? (uint32_t)work : LBM_WEIGHT_MAX;
            for (uint64_t e = below->offset[v]; e < below->offset[v + 1]; e++) {
                uint32_t to = below->target[e] < below->n ? parent[below->target[e]]
                                                          : n + (below->target[e] - below->n);
                if (to == c)
                    continue;
                if (seen[to] <= out->offset[c]) { /* the first of this cluster; 0: none at all */
                    out->target[at] = to;
                    out->weight[at] = 0;
                    seen[to] = ++at;
                }
                uint64_t weight = (uint64_t)out->weight[seen[to] - 1] + lbm_graph_weight(below, e);
                out->weight[seen[to] - 1] = weight < LBM_WEIGHT_MAX ? (uint32_t)weight : LBM_WEIGHT_MAX;
            }
        }
        out->offset[c + 1] = at;
    }
    free(first);
    free(member);
    free(seen);
    return err;
}

const struct lbm_graph *
lbm_mapping_levels_graph(const struct job *job, uint32_t level)
{
    return level == 0 ? &job->shard.patch.g : &job->diffuse.levels.graph[level - 1];
}

static double *
x_at(struct job *job, uint32_t level)
{
    return level == 0 ? job->shard.patch.x : job->diffuse.levels.x[level - 1];
}

/* Clusters lie at the means of what is in them. */
static void
gather_places(struct job *job, uint32_t level)
{
    const struct lbm_graph *below = lbm_mapping_levels_graph(job, level - 1),
                           *g = lbm_mapping_levels_graph(job, level);
    const double *from = x_at(job, level - 1);
    double *x = x_at(job, level);
    unsigned m = job->shard.m;
    memset(x, 0, (size_t)g->n * m * sizeof *x);
    for (uint32_t v = 0; v < below->n; v++)
        for (unsigned k = 0; k < m; k++)
            x[(size_t)job->diffuse.levels.parent[level - 1][v] * m + k] +=
                from[(size_t)v * m + k] * lbm_graph_work(below, v) /
                lbm_graph_work(g, job->diffuse.levels.parent[level - 1][v]);
}

enum lbm_err
lbm_mapping_levels_build(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                         int is_flat, const uint32_t *part)
{
    struct diffuse_levels *l = &job->diffuse.levels;
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    struct lbm_graph inner = {0};
    struct lbm_levels levels = {0};
    double hosts = node->view.hosts.n != 0 ? node->view.hosts.n : 1;
    if (job->diffuse.is_tree && part == NULL)
        hosts = fmin(hosts, patch->n_ghosts == 0 ? SHARES_ALONE : fmax(SHARES, hosts / 2));
    double share = entry->vertices / hosts;
    double target = ceil(CLUSTERS * patch->g.n / (share > 1 ? share : 1));
    uint64_t work_max = (uint64_t)ceil((double)lbm_local_load_whole(node, entry) / hosts / (CLUSTERS / 2.0));
    lbm_mapping_levels_free(l);
    l->version = job->shard.built;
    is_flat |= patch->g.n == 0;
    enum lbm_err err = is_flat ? LBM_OK : lbm_mapping_inner_graph(&job->shard, &inner);
    if (err == LBM_OK && !is_flat)
        err = lbm_levels_build(&inner, part, target < patch->g.n ? (uint32_t)target : patch->g.n,
                               work_max != 0 ? work_max : 1, &node->rng, &levels);
    uint32_t n = err == LBM_OK && !is_flat ? levels.n - 1 : 0;
    l->graph = lbm_alloc(n, sizeof *l->graph);
    l->parent = lbm_alloc(n, sizeof *l->parent);
    l->x = lbm_alloc(n, sizeof *l->x);
    l->pin = lbm_alloc(n, sizeof *l->pin);
    if (err == LBM_OK && (l->pin == NULL || l->graph == NULL || l->parent == NULL || l->x == NULL))
        err = LBM_E_NOMEM;
    for (uint32_t i = 0; i < n && err == LBM_OK; i++) {
        const struct lbm_graph *below = lbm_mapping_levels_graph(job, i);
        uint32_t clusters = levels.graph[i + 1].n;
        l->parent[i] = levels.parent[i];
        levels.parent[i] = NULL;
        l->pin[i] = levels.graph[i + 1].pin;
        levels.graph[i + 1].pin = NULL;
        l->n = i + 1;
        err = contract(below, l->parent[i], clusters, patch->n_ghosts, &l->graph[i]);
        l->x[i] = lbm_alloc(((size_t)clusters + patch->n_ghosts) * m, sizeof **l->x);
        if (err == LBM_OK && l->x[i] == NULL)
            err = LBM_E_NOMEM;
        if (err == LBM_OK)
            gather_places(job, i + 1);
    }
    l->level = l->n;
    l->sweeps = l->n != 0 ? SWEEPS_COARSEST : SWEEPS_FLAT;
    lbm_levels_free(&levels);
    inner.work = NULL;
    lbm_graph_free(&inner);
    return err;
}

/* Rows of the patch lie where their clusters are. */
static void
place_rows(struct job *job)
{
    const struct diffuse_levels *l = &job->diffuse.levels;
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    for (uint32_t row = 0; l->level != 0 && row < patch->g.n; row++) {
        uint32_t cluster = row;
        for (uint32_t i = 0; i < l->level; i++)
            cluster = l->parent[i][cluster];
        memcpy(&patch->x[(size_t)row * m], &l->x[l->level - 1][(size_t)cluster * m], m * sizeof(double));
    }
}

static enum lbm_err
sweep(struct lbm_node *node, struct job *job, uint32_t sweeps)
{
    struct diffuse_levels *l = &job->diffuse.levels;
    const struct lbm_graph *g = lbm_mapping_levels_graph(job, l->level);
    const struct lbm_patch *patch = &job->shard.patch;
    const struct lbm_diffusion how = {.m = job->shard.m, .order = LBM_ORDER_BLOCK};
    double *x = x_at(job, l->level);
    if (g->n == 0)
        return LBM_OK;
    if (l->level != 0 && patch->n_ghosts != 0) /* neighbours elsewhere have moved on */
        memcpy(&x[(size_t)g->n * job->shard.m], &patch->x[(size_t)patch->g.n * job->shard.m],
               (size_t)patch->n_ghosts * job->shard.m * sizeof *x);
    double largest = 0;
    enum lbm_err err = lbm_diffuse(g, &how, (int)sweeps, x, &node->rng, NULL, &largest);
    job->sweeps += sweeps;
    node->n_sweeps += sweeps;
    if (largest < AT_REST) /* what is left would soon be rounding */
        l->sweeps = sweeps;
    return err;
}

/* On to the next finer level. */
static void
descend(struct job *job)
{
    struct diffuse_levels *l = &job->diffuse.levels;
    unsigned m = job->shard.m;
    uint32_t level = l->level--, n = lbm_mapping_levels_graph(job, l->level)->n;
    const double *from = x_at(job, level);
    double *to = x_at(job, l->level);
    for (uint32_t v = 0; v < n; v++)
        memcpy(&to[(size_t)v * m], &from[(size_t)l->parent[l->level][v] * m], m * sizeof *to);
    uint32_t sweeps = SWEEPS_COARSEST >> (l->n - l->level < 31 ? l->n - l->level : 31);
    l->sweeps = sweeps > SWEEPS_LEAST ? sweeps : SWEEPS_LEAST;
}

int
lbm_mapping_levels_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                        int is_flat)
{
    struct diffuse_levels *l = &job->diffuse.levels;
    enum lbm_err err = lbm_shard_patch(&job->shard);
    if (err == LBM_OK && (l->graph == NULL || l->version != job->shard.built))
        err = lbm_mapping_levels_build(node, job, entry, is_flat, NULL);
    uint32_t sweeps = l->sweeps < DIFFUSE_SWEEPS ? l->sweeps : DIFFUSE_SWEEPS;
    if (err == LBM_OK)
        err = sweep(node, job, sweeps);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return 0;
    }
    l->sweeps -= sweeps;
    place_rows(job);
    lbm_local_ghosts_due(job, GHOSTS_ALL);
    if (l->sweeps == 0 && l->level == 0)
        return 1;
    if (l->sweeps == 0)
        descend(job);
    return 0;
}
