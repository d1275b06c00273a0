/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 Fig. 4's Renormalize, and section 10's regions of nonuniform area. */
#include <math.h>
#include <stdlib.h>

#include "embed/embed.h"
#include "graph/generate.h"
#include "host/host.h"
#include "papers/papers.h"
#include "space/space.h"

/* Points of a guest that are stretched, sheared and displaced, and normalized again. */
void
hei97_renormalize(struct table_run *t)
{
    struct lbm_graph g;
    struct lbm_moments before = {0};
    struct lbm_affine map;
    enum lbm_err err = lbm_graph_generate("lattice:40x40", 1, &g, &t->diag);
    double *x = err == LBM_OK ? lbm_alloc(2 * (size_t)g.n, sizeof *x) : NULL;
    if (x == NULL) {
        table_fail(t, err == LBM_OK ? LBM_E_NOMEM : err);
        return;
    }
    struct lbm_rng rng;
    lbm_rng_seed(&rng, t->options->seed);
    lbm_start_random(g.n, 2, NULL, x, &rng);
    for (uint32_t v = 0; v < g.n; v++) {
        double a = x[2 * (size_t)v], b = x[2 * (size_t)v + 1];
        x[2 * (size_t)v] = 3.0 + 0.2 * a + 0.1 * b;
        x[2 * (size_t)v + 1] = -1.0 + 0.5 * a - 2.0 * b;
    }
    lbm_moments_take(&before, &g, 2, x);
    err = lbm_moments_whiten(&before, 2, &map);
    for (uint32_t v = 0; v < g.n && err == LBM_OK; v++)
        lbm_affine_apply(&map, &x[2 * (size_t)v], &x[2 * (size_t)v]);
    double n = g.n, mean[2] = {0}, product[3] = {0};
    for (uint32_t v = 0; v < g.n; v++) {
        const double *at = &x[2 * (size_t)v];
        mean[0] += at[0] / n;
        mean[1] += at[1] / n;
        product[0] += (at[0] - 0.5) * (at[0] - 0.5) / n;
        product[1] += (at[0] - 0.5) * (at[1] - 0.5) / n;
        product[2] += (at[1] - 0.5) * (at[1] - 0.5) / n;
    }
    for (unsigned k = 0; k < 2; k++) {
        cell_computed(table_cell(t, mean[k], "axis %u: mean, as of the unit square", k), 0.5, 1e-12);
        cell_computed(table_cell(t, product[2 * k], "axis %u: variance, as of the unit square", k), 1.0 / 12,
                      1e-12);
    }
    cell_computed(table_cell(t, product[1], "covariance of the axes"), 0.0, 1e-12);
    free(x);
    lbm_graph_free(&g);
    if (err != LBM_OK)
        table_fail(t, err);
}

enum { SIDE = 64, HOSTS = 16, ROUNDS = 300 };

/* Regions with areas in proportion to capacities, by power weights; a regular lattice of points measures. */
void
hei97_regions(struct table_run *t)
{
    struct lbm_hosts h;
    double capacity[HOSTS], weight[HOSTS], load[HOSTS] = {0}, total = 0.0, worst = 0.0;
    enum lbm_err err = lbm_hosts_generate("mesh:4x4", &h, &t->diag);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    double *point = lbm_alloc(2 * (size_t)SIDE * SIDE, sizeof *point);
    uint32_t *host = lbm_alloc((size_t)SIDE * SIDE, sizeof *host);
    if (point == NULL || host == NULL)
        err = LBM_E_NOMEM;
    for (uint32_t p = 0; p < HOSTS; p++)
        total += capacity[p] = 1.0 + p % 3;
    for (uint32_t i = 0; i < SIDE * SIDE && err == LBM_OK; i++) {
        point[2 * (size_t)i] = (i % SIDE + 0.5) / SIDE;
        point[2 * (size_t)i + 1] = (i / SIDE + 0.5) / SIDE;
    }
    double reached = err != LBM_OK ? -1.0
                                   : lbm_regions_balance(HOSTS, 2, 0, h.site, capacity, SIDE * SIDE, point,
                                                         NULL, 0.03, ROUNDS, weight, host);
    if (reached < 0.0)
        err = LBM_E_NOMEM;
    const struct lbm_regions regions = {.n = HOSTS, .m = 2, .site = h.site, .weight = weight};
    for (uint32_t i = 0; i < SIDE * SIDE && err == LBM_OK; i++)
        load[lbm_regions_find(&regions, &point[2 * (size_t)i], NULL)] += 1.0;
    for (uint32_t p = 0; p < HOSTS; p++)
        worst = fmax(worst, fabs(load[p] * total / (capacity[p] * SIDE * SIDE) - 1.0));
    cell_bound(table_cell(t, worst, "capacities 1, 2, 3: area of a region over its share, furthest from 1"),
               AT_MOST, 0.1);
    cell_bound(table_cell(t, reached, "the same, as lib/space says: largest above"), AT_MOST, 0.03);
    free(point);
    free(host);
    lbm_hosts_free(&h);
    if (err != LBM_OK)
        table_fail(t, err);
}
