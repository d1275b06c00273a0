/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The start of a large guest: its own drawing, cut into regions. Borders that come down from a coarse level
 * stay as bent as its clusters were; those of a smooth drawing of the guest itself are straight at once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    PIVOTS = 30,
    SWEEPS_COARSEST = 300, /* nearly at rest: what is bent here stays bent */
    SWEEPS_LEVEL = 12,     /* smooth out the clusters */
    SAMPLE_MAX = 1 << 16,  /* regions are balanced on the finest level of at most that many vertices */
    PLACEMENTS = 4,        /* upright, turned, mirrored */
};

static const double PI = 3.14159265358979323846;

struct drawing {
    const struct mapping *m; /* the guest */
    const struct lbm_levels *levels;
    struct lbm_rng *rng;
    double *x; /* [n * dimensions] of the level at hand */
    double *y; /* [n * dimensions] scratch */
    uint32_t *best;
    double *weight; /* [hosts] of the regions */
    double matrix[9];
};

/* Coordinates of the next finer level, whose mean and variance stay what they were. */
static enum lbm_err
refine_drawing(struct drawing *d, uint32_t level)
{
    const struct lbm_graph *g = &d->levels->graph[level];
    unsigned dimensions = d->m->h->m;
    struct lbm_diffusion how = {.m = dimensions, .order = LBM_ORDER_BLOCK};
    lbm_embed_interpolate(d->levels->parent[level], g->n, dimensions, d->x, d->x);
    return lbm_diffuse(g, &how, SWEEPS_LEVEL, d->x, d->rng, NULL, NULL);
}

/* Whiten x of a level. */
static void
renormalize(const struct drawing *d, uint32_t level)
{
    const struct lbm_graph *g = &d->levels->graph[level];
    unsigned dimensions = d->m->h->m;
    struct lbm_moments moments = {0};
    struct lbm_affine map;
    lbm_moments_take(&moments, g, dimensions, d->x);
    if (lbm_moments_whiten(&moments, dimensions, &map) == LBM_OK)
        for (uint32_t v = 0; v < g->n; v++)
            lbm_affine_apply(&map, &d->x[(size_t)v * dimensions], &d->x[(size_t)v * dimensions]);
}

/* The cheapest of the placements on the level that regions are balanced on: its matrix, its weights. */
static enum lbm_err
choose_placement(struct drawing *d, uint32_t level)
{
    struct mapping m = *d->m;
    m.g = &d->levels->graph[level];
    double *weight = lbm_alloc(m.h->n, sizeof *weight);
    enum lbm_err err = weight == NULL ? LBM_E_NOMEM : LBM_OK;
    uint64_t least = UINT64_MAX;
    map_set_upright(m.g, m.h->m, d->x);
    for (int i = 0; i < PLACEMENTS && err == LBM_OK; i++) {
        double matrix[9];
        if (m.h->m == 2)
            map_isometry_plane(i % 2 * PI / 2, i / 2, matrix);
        else
            map_isometry_axes((unsigned)i, matrix);
        map_isometry_apply(matrix, m.h->m, m.g->n, d->x, d->y);
        err = map_cut_regions(&m, d->y, weight);
        uint64_t bytes = err == LBM_OK ? lbm_map_hop_bytes(m.g, m.h, m.part) : least;
        if (bytes < least) {
            least = bytes;
            memcpy(d->weight, weight, m.h->n * sizeof *weight);
            memcpy(d->matrix, matrix, sizeof matrix);
        }
    }
    free(weight);
    return err;
}

/* The regions of the guest itself. */
static void
cut(struct drawing *d)
{
    const struct mapping *m = d->m;
    struct lbm_regions regions = {.n = m->h->n, .m = m->h->m, .site = m->h->site, .weight = d->weight};
    map_isometry_apply(d->matrix, m->h->m, m->g->n, d->x, d->y);
    for (uint32_t v = 0; v < m->g->n; v++)
        m->part[v] = mapping_pinned(m, v) ? m->g->pin[v]
                                          : lbm_regions_find(&regions, &d->y[(size_t)v * m->h->m], NULL);
}

static enum lbm_err
draw(struct drawing *d)
{
    const struct lbm_levels *levels = d->levels;
    uint32_t sample = 0, top = levels->n - 1;
    while (sample < top && levels->graph[sample].n > SAMPLE_MAX)
        sample++;
    enum lbm_err err =
        lbm_embed_pivots(&levels->graph[top], d->m->h->m, PIVOTS, SWEEPS_COARSEST, d->rng, d->x);
    for (uint32_t l = top; err == LBM_OK && !mapping_stopped(d->m); l--) {
        if (l < top)
            err = refine_drawing(d, l);
        if (err == LBM_OK && l >= sample)
            renormalize(d, l);
        if (err == LBM_OK && l == sample)
            err = choose_placement(d, l);
        if (l == 0)
            break;
    }
    return err;
}

enum lbm_err
map_start_drawing(const struct mapping *m, const struct lbm_levels *levels, struct lbm_rng *rng)
{
    size_t coordinates = (size_t)m->g->n * m->h->m;
    struct drawing d = {.m = m,
                        .levels = levels,
                        .rng = rng,
                        .x = lbm_alloc(coordinates, sizeof *d.x),
                        .y = lbm_alloc(coordinates, sizeof *d.y),
                        .weight = lbm_alloc(m->h->n, sizeof *d.weight)};
    enum lbm_err err = d.x == NULL || d.y == NULL || d.weight == NULL ? LBM_E_NOMEM : draw(&d);
    if (err == LBM_OK && !mapping_stopped(m))
        cut(&d);
    free(d.x);
    free(d.y);
    free(d.weight);
    return err;
}
