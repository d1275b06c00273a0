/* The geometric start: HEI97's regions as a balanced power diagram, over several placements of the guest. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    ANGLES = 8,           /* in a quarter turn */
    PLACEMENTS_SPACE = 8, /* random ones, in three dimensions */
    BALANCE_ROUNDS = 150,
    PATIENCE = 50,
};

static const double PI = 3.14159265358979323846;

/* One placement: regions, flow, swaps, one round of refinement. */
static enum lbm_err
place(const struct mapping *m, const double *y, double *weight, struct lbm_rng *rng)
{
    const struct lbm_graph *g = m->g;
    const struct lbm_hosts *h = m->h;
    if (lbm_regions_balance(h->n, h->m, 0, h->site, h->capacity, g->n, y, g->work, 0.03, BALANCE_ROUNDS,
                            weight, m->part) < 0)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++)
        if (mapping_pinned(m, v))
            m->part[v] = g->pin[v];
    enum lbm_err err = map_flow(m, rng);
    if (err == LBM_OK)
        err = map_swap(m);
    if (err == LBM_OK)
        err = map_refine(m, 1, PATIENCE, rng);
    return err;
}

enum lbm_err
map_start_regions(const struct mapping *m, const double *x, struct lbm_rng *rng, struct pool *pool)
{
    const struct lbm_hosts *h = m->h;
    double *y = lbm_alloc((size_t)m->g->n * h->m, sizeof *y), *weight = lbm_alloc(h->n, sizeof *weight);
    uint64_t *load = lbm_alloc(h->n, sizeof *load);
    enum lbm_err err = y == NULL || weight == NULL || load == NULL ? LBM_E_NOMEM : LBM_OK;
    double upright = err == LBM_OK && h->m == 2 ? map_box_angle(m->g, x) : 0;
    int placements = h->m == 2 ? ANGLES : PLACEMENTS_SPACE;
    for (int i = 0; i < placements && err == LBM_OK && !(i > 0 && mapping_stopped(m)); i++) {
        double matrix[9];
        if (h->m == 2)
            map_isometry_plane(upright + i * PI / 2 / ANGLES, 0, matrix);
        else
            map_isometry_space(rng, matrix);
        map_isometry_apply(matrix, h->m, m->g->n, x, y);
        err = place(m, y, weight, rng);
        if (err == LBM_OK)
            pool_offer(pool, m->part, mapping_merit(m, load));
    }
    free(y);
    free(weight);
    free(load);
    return err;
}
