/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels: coarsen until few vertices are left, or until it no longer helps. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/coarsen.h"
#include "embed/embed.h"

/* A level must have at most that many of its finer level's vertices. */
static const double SHRINK = 0.95;

/* Parts of the coarse vertices. */
static uint32_t *
carry_part(const uint32_t *part, const uint32_t *parent, uint32_t n, uint32_t n_coarse)
{
    uint32_t *coarse = lbm_alloc(n_coarse, sizeof *coarse);
    for (uint32_t v = 0; coarse != NULL && v < n; v++)
        coarse[parent[v]] = part[v];
    return coarse;
}

/* One level up.
 * In/out:  *part of g's vertices, replaced by the coarse ones'; NULL stays NULL.
 * Out:     coarse and *parent, owned by the caller; *parent NULL if g does not shrink enough.
 * Errors:  LBM_E_NOMEM, nothing changed. */
static enum lbm_err
coarsen(const struct lbm_graph *g, uint64_t max_work, struct lbm_rng *rng, uint32_t **part,
        struct lbm_graph *coarse, uint32_t **parent)
{
    uint32_t *mate = lbm_alloc(g->n, sizeof *mate), *up = lbm_alloc(g->n, sizeof *up), *coarse_part = NULL;
    enum lbm_err err = mate == NULL || up == NULL ? LBM_E_NOMEM : LBM_OK;
    *parent = NULL;
    if (err == LBM_OK)
        err = lbm_matching_find(g, *part, max_work, rng, mate);
    uint32_t n = err == LBM_OK ? lbm_matching_number(g->n, mate, up) : 0;
    if (err != LBM_OK || n > SHRINK * g->n) {
        free(mate);
        free(up);
        return err;
    }
    if (*part != NULL && (coarse_part = carry_part(*part, up, g->n, n)) == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_matching_contract(g, mate, up, n, coarse);
    free(mate);
    if (err != LBM_OK) {
        free(up);
        free(coarse_part);
        return err;
    }
    free(*part);
    *part = coarse_part;
    *parent = up;
    return LBM_OK;
}

/* Room for one more level. */
static enum lbm_err
grow(struct lbm_levels *levels)
{
    struct lbm_graph *graph = reallocarray(levels->graph, (size_t)levels->n + 1, sizeof *graph);
    if (graph == NULL)
        return LBM_E_NOMEM;
    levels->graph = graph;
    uint32_t **parent = reallocarray(levels->parent, (size_t)levels->n + 1, sizeof *parent);
    if (parent == NULL)
        return LBM_E_NOMEM;
    levels->parent = parent;
    return LBM_OK;
}

enum lbm_err
lbm_levels_build(const struct lbm_graph *g, const uint32_t *part, uint32_t target, uint64_t max_work,
                 struct lbm_rng *rng, struct lbm_levels *out)
{
    struct lbm_levels levels = {0};
    uint32_t *own_part = part != NULL ? lbm_copy(part, g->n, sizeof *part) : NULL;
    enum lbm_err err = part != NULL && own_part == NULL ? LBM_E_NOMEM : grow(&levels);
    if (err == LBM_OK)
        levels.graph[levels.n++] = *g;
    while (err == LBM_OK && levels.graph[levels.n - 1].n > target) {
        err = grow(&levels);
        uint32_t last = levels.n - 1, *parent = NULL;
        if (err == LBM_OK)
            err = coarsen(&levels.graph[last], max_work, rng, &own_part, &levels.graph[last + 1], &parent);
        if (parent == NULL)
            break;
        levels.parent[last] = parent;
        levels.n++;
    }
    free(own_part);
    if (err != LBM_OK) {
        lbm_levels_free(&levels);
        return err;
    }
    *out = levels;
    return LBM_OK;
}

void
lbm_levels_free(struct lbm_levels *levels)
{
    for (uint32_t l = 1; l < levels->n; l++) {
        lbm_graph_free(&levels->graph[l]);
        free(levels->parent[l - 1]);
    }
    free(levels->graph);
    free(levels->parent);
    *levels = (struct lbm_levels){0};
}

void
lbm_embed_interpolate(const uint32_t *parent, uint32_t n_fine, unsigned m, const double *x_coarse,
                      double *x_fine)
{
    for (uint32_t v = n_fine; v-- > 0;) /* parent[v] <= v is not overwritten yet */
        memmove(&x_fine[(size_t)v * m], &x_coarse[(size_t)parent[v] * m], m * sizeof *x_fine);
}
