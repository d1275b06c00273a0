/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The geometric start: HEI97's regions as a balanced power diagram, over several placements of the guest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    ANGLES = 8,  /* in a quarter turn; the upright one in its other turn and mirrored as well */
    AXES = 6,    /* orders of them, in space */
    RANDOM = 6,  /* isometries of space */
    UPRIGHT = 4, /* turned and mirrored */
    PLACEMENTS_PLANE = UPRIGHT + ANGLES - 1,
    PLACEMENTS_SPACE = AXES + RANDOM,
    PLACEMENTS_QUICK = 4,
    BALANCE_ROUNDS_MAX = 150,
    BALANCE_ROUNDS_MIN = 15,
    STALL_LIMIT = 50,
};

/* Comparisons of a vertex with a site that balancing a power diagram may take: a tenth of a second or two. */
static const double COMPARISONS_MAX = 1e8, COMPARISONS_QUICK = 5e6;

static const double PI = 3.14159265358979323846;

enum lbm_err
map_cut_regions(const struct mapping *m, const double *y, double *weight)
{
    const struct lbm_graph *g = m->g;
    const struct lbm_hosts *h = m->h;
    double rounds = (m->quick ? COMPARISONS_QUICK : COMPARISONS_MAX) / ((double)g->n * h->n),
           vertex = (double)h->n / g->n;
    rounds = fmin(fmax(rounds, BALANCE_ROUNDS_MIN), BALANCE_ROUNDS_MAX);
    /* Cells cannot divide a vertex: a share of few vertices is not met any better than by one. */
    if (lbm_regions_balance(h->n, h->m, 0, h->site, h->capacity, g->n, y, g->work, fmax(0.03, vertex),
                            (int)rounds, weight, m->part) < 0)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++)
        if (mapping_pinned(m, v))
            m->part[v] = g->pin[v];
    return LBM_OK;
}

/* One placement: regions, flow, swaps, one round of refinement. */
static enum lbm_err
place(const struct mapping *m, const double *y, double *weight, struct lbm_rng *rng)
{
    enum lbm_err err = map_cut_regions(m, y, weight);
    if (err == LBM_OK)
        err = map_flow(m, rng);
    if (err == LBM_OK)
        err = map_swap(m);
    if (err == LBM_OK)
        err = map_refine(m, 1, STALL_LIMIT, rng);
    return err;
}

/* The i-th way to lay upright coordinates over the sites. */
static void
placement(int i, unsigned m, struct lbm_rng *rng, double *matrix)
{
    if (m == 3 && i < AXES)
        map_isometry_axes((unsigned)i, matrix);
    else if (m == 3)
        map_isometry_space(rng, matrix);
    else if (i < UPRIGHT)
        map_isometry_plane(i % 2 * PI / 2, i / 2, matrix);
    else
        map_isometry_plane((i - UPRIGHT + 1) * PI / 2 / ANGLES, 0, matrix);
}

enum lbm_err
map_start_regions(const struct mapping *m, double *x, struct lbm_rng *rng, struct pool *pool)
{
    const struct lbm_hosts *h = m->h;
    double *y = lbm_alloc((size_t)m->g->n * h->m, sizeof *y), *weight = lbm_alloc(h->n, sizeof *weight);
    uint64_t *load = lbm_alloc(h->n, sizeof *load);
    enum lbm_err err = y == NULL || weight == NULL || load == NULL ? LBM_E_NOMEM : LBM_OK;
    int placements = h->m == 2 ? PLACEMENTS_PLANE : PLACEMENTS_SPACE;
    placements = m->quick ? PLACEMENTS_QUICK : placements;
    map_set_upright(m->g, h->m, x);
    for (int i = 0; i < placements && err == LBM_OK && !(i > 0 && mapping_stopped(m)); i++) {
        double matrix[9];
        placement(i, h->m, rng, matrix);
        map_isometry_apply(matrix, h->m, m->g->n, x, y);
        err = place(m, y, weight, rng);
        if (err == LBM_OK)
            pool_offer(pool, m->part, mapping_objective(m, load));
    }
    free(y);
    free(weight);
    free(load);
    return err;
}
