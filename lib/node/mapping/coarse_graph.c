/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters of a host's vertices, and the graph that the clusters of all hosts make. Pure; who asks whom, and
 * what becomes of the plan, is coarse_plan.c. */
#include <stdlib.h>
#include <string.h>

#include "embed/embed.h"
#include "node/core/core.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"

static void
free_edges(struct coarse_slice *part)
{
    lbm_vec_free(&part->from);
    lbm_vec_free(&part->to);
    lbm_vec_free(&part->weight);
    lbm_vec_free(&part->vertex);
    lbm_vec_free(&part->cluster);
    lbm_vec_free(&part->out_from);
    lbm_vec_free(&part->out_to);
    lbm_vec_free(&part->out_weight);
}

void
lbm_mapping_coarse_slice_free(struct coarse_slice *part)
{
    lbm_vec_free(&part->work);
    lbm_vec_free(&part->pin);
    free_edges(part);
}

void
lbm_mapping_coarse_free(struct coarse_plan *coarse)
{
    for (size_t i = 0; i < coarse->parts.n; i++)
        lbm_mapping_coarse_slice_free(&coarse->parts.at[i]);
    lbm_vec_free(&coarse->parts);
    lbm_vec_free(&coarse->vertex);
    lbm_vec_free(&coarse->cluster);
}

/* ---- clusters of one host ------------------------------------------------------------------------------ */

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

/* The cluster of each row on the coarsest level. */
static enum lbm_err
place_rows(const struct lbm_shard *shard, const struct lbm_levels *levels, struct coarse_plan *place)
{
    uint32_t n = shard->patch.g.n;
    place->vertex.n = place->cluster.n = 0;
    if (lbm_vec_reserve(&place->vertex, n) != LBM_OK || lbm_vec_reserve(&place->cluster, n) != LBM_OK)
        return LBM_E_NOMEM;
    for (uint32_t row = 0; row < n; row++) {
        uint32_t cluster = row;
        for (uint32_t l = 0; l + 1 < levels->n; l++)
            cluster = levels->parent[l][cluster];
        place->vertex.at[row] = shard->vertices.at[shard->patch.vertex[row]].id;
        place->cluster.at[row] = cluster;
    }
    place->vertex.n = place->cluster.n = n;
    return LBM_OK;
}

static enum lbm_err
tell_clusters(const struct lbm_graph *top, struct coarse_slice *part)
{
    enum lbm_err err = LBM_OK;
    int has_pins = 0;
    part->clusters = top->n;
    for (uint32_t c = 0; c < top->n; c++)
        has_pins |= top->pin != NULL && top->pin[c] != LBM_NONE;
    for (uint32_t c = 0; c < top->n && err == LBM_OK; c++) {
        err = lbm_vec_push(&part->work, lbm_graph_work(top, c));
        if (err == LBM_OK && has_pins)
            err = lbm_vec_push(&part->pin, top->pin[c]);
        for (uint64_t e = top->offset[c]; e < top->offset[c + 1] && err == LBM_OK; e++) {
            if (top->target[e] < c)
                continue;
            err = lbm_vec_push(&part->from, c);
            if (err == LBM_OK)
                err = lbm_vec_push(&part->to, top->target[e]);
            if (err == LBM_OK)
                err = lbm_vec_push(&part->weight, lbm_graph_weight(top, e));
        }
    }
    return err;
}

/* What joins the clusters to others: vertices at the border, and their edges. */
static enum lbm_err
tell_border(const struct lbm_shard *shard, const struct coarse_plan *place, struct coarse_slice *part)
{
    const struct lbm_patch *patch = &shard->patch;
    enum lbm_err err = LBM_OK;
    for (uint32_t row = 0; row < patch->g.n && err == LBM_OK; row++) {
        uint32_t cluster = place->cluster.at[row];
        int is_border = 0;
        for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1] && err == LBM_OK; e++) {
            if (patch->g.target[e] < patch->g.n)
                continue;
            is_border = 1;
            err = lbm_vec_push(&part->out_from, cluster);
            if (err == LBM_OK)
                err = lbm_vec_push(&part->out_to,
                                   shard->ghosts.at[patch->ghost[patch->g.target[e] - patch->g.n]].id);
            if (err == LBM_OK)
                err = lbm_vec_push(&part->out_weight, lbm_graph_weight(&patch->g, e));
        }
        if (err == LBM_OK && is_border)
            err = lbm_vec_push(&part->vertex, place->vertex.at[row]);
        if (err == LBM_OK && is_border)
            err = lbm_vec_push(&part->cluster, cluster);
    }
    return err;
}

enum lbm_err
lbm_mapping_coarse_cluster(const struct lbm_shard *shard, double share, uint32_t work_max,
                           struct lbm_rng *rng, struct coarse_slice *part, struct coarse_plan *place)
{
    LBM_ASSERT(shard->patch.valid);
    struct lbm_graph inner;
    struct lbm_levels levels = {0};
    uint32_t n = shard->patch.g.n;
    *part = (struct coarse_slice){.is_whole = 1};
    place->vertex.n = place->cluster.n = 0;
    if (n == 0)
        return LBM_OK;
    enum lbm_err err = lbm_mapping_inner_graph(shard, &inner);
    if (err == LBM_OK)
        err = lbm_levels_build(&inner, NULL, (uint32_t)(share * n) + 1, work_max, rng, &levels);
    const struct lbm_graph *top = err == LBM_OK ? &levels.graph[levels.n - 1] : NULL;
    if (err == LBM_OK && top->n <= LBM_ROWS_MAX) {
        err = place_rows(shard, &levels, place);
        if (err == LBM_OK)
            err = tell_clusters(top, part);
        if (err == LBM_OK)
            err = tell_border(shard, place, part);
    }
    lbm_levels_free(&levels);
    inner.work = NULL;
    lbm_graph_free(&inner);
    return err;
}

/* ---- the clusters of all ------------------------------------------------------------------------------- */

static int
all_below(const uint32_t *number, size_t n, uint32_t bound)
{
    for (size_t i = 0; i < n; i++)
        if (number[i] >= bound)
            return 0;
    return 1;
}

int
lbm_mapping_coarse_slice_fits(const struct coarse_slice *part)
{
    for (size_t i = 0; i < part->from.n; i++)
        if (part->from.at[i] == part->to.at[i])
            return 0;
    return part->work.n == part->clusters && (part->pin.n == 0 || part->pin.n == part->clusters) &&
           all_below(part->from.at, part->from.n, part->clusters) &&
           all_below(part->to.at, part->to.n, part->clusters) &&
           all_below(part->cluster.at, part->cluster.n, part->clusters) &&
           all_below(part->out_from.at, part->out_from.n, part->clusters);
}

struct edges {
    struct lbm_edge *at;
    size_t n, capacity;
};

/* Edges inside a part. first: of its clusters among those of all. */
static enum lbm_err
add_inner(const struct coarse_slice *part, uint32_t first, struct edges *edges)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < part->from.n && err == LBM_OK; i++) {
        struct lbm_edge edge = {first + part->from.at[i], first + part->to.at[i], part->weight.at[i]};
        err = lbm_vec_push(edges, edge);
    }
    return err;
}

/* Edges to parts after this one, whose border vertices are all known: both ends name an edge, once is enough.
 * What leads to a vertex that nobody has named, since it is on its way, is left out. */
static enum lbm_err
add_outer(const struct coarse_slice *part, uint32_t first, const struct lbm_idmap *cluster_of,
          struct edges *edges)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < part->out_from.n && err == LBM_OK; i++) {
        uint32_t to = lbm_idmap_get(cluster_of, part->out_to.at[i]);
        struct lbm_edge edge = {first + part->out_from.at[i], to, part->out_weight.at[i]};
        if (to != LBM_NONE)
            err = lbm_vec_push(edges, edge);
    }
    return err;
}

static enum lbm_err
add_border(const struct coarse_slice *part, uint32_t first, struct lbm_idmap *cluster_of)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < part->vertex.n && err == LBM_OK; i++)
        err = lbm_idmap_put(cluster_of, part->vertex.at[i], first + part->cluster.at[i]);
    return err;
}

/* Work and pins of the clusters, as the graph takes them. */
static enum lbm_err
put_clusters(const struct coarse_plan *coarse, struct lbm_graph *g)
{
    int has_pins = 0;
    for (size_t i = 0; i < coarse->parts.n; i++)
        has_pins |= coarse->parts.at[i].pin.n != 0;
    g->work = lbm_alloc(g->n, sizeof *g->work);
    g->pin = has_pins ? lbm_alloc(g->n, sizeof *g->pin) : NULL;
    if (g->work == NULL || (has_pins && g->pin == NULL))
        return LBM_E_NOMEM;
    uint32_t at = 0;
    for (size_t i = 0; i < coarse->parts.n; i++) {
        const struct coarse_slice *part = &coarse->parts.at[i];
        for (uint32_t c = 0; c < part->clusters; c++, at++) {
            g->work[at] = part->work.at[c];
            if (has_pins)
                g->pin[at] = part->pin.n != 0 ? part->pin.at[c] : LBM_NONE;
        }
    }
    return LBM_OK;
}

enum lbm_err
lbm_mapping_coarse_graph(struct coarse_plan *coarse, struct lbm_graph *g)
{
    struct edges edges = {0};
    struct lbm_idmap cluster_of = {0};
    struct lbm_graph built = {0};
    struct lbm_diag diag = {0};
    uint32_t n = 0;
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < coarse->parts.n; i++)
        n += coarse->parts.at[i].clusters;
    uint32_t first = n;
    for (size_t i = coarse->parts.n; i-- > 0 && err == LBM_OK;) { /* the last one first: see add_outer */
        struct coarse_slice *part = &coarse->parts.at[i];
        first -= part->clusters;
        err = add_inner(part, first, &edges);
        if (err == LBM_OK)
            err = add_outer(part, first, &cluster_of, &edges);
        if (err == LBM_OK)
            err = add_border(part, first, &cluster_of);
        free_edges(part);
    }
    lbm_idmap_free(&cluster_of);
    if (err == LBM_OK)
        err = lbm_graph_build(n, edges.at, edges.n, LBM_MERGE_SUM, &built, &diag);
    lbm_vec_free(&edges);
    if (err == LBM_OK)
        err = put_clusters(coarse, &built);
    if (err == LBM_OK)
        *g = built;
    else
        lbm_graph_free(&built);
    return err;
}
