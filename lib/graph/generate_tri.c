/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Triangulations by qhull: the one file of this module that knows it. */
#include <inttypes.h>
#include <libqhull_r/qhull_ra.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "graph/generators.h"

/* Add the three edges of each triangle; inner edges come twice, once in each direction. */
static enum lbm_err
collect_edges(qhT *qh, struct lbm_edge_vec *out)
{
    facetT *facet;
    vertexT *vertex, **vertexp;
    FORALLfacets
    {
        uint32_t corner[3], corners = 0;
        if (facet->upperdelaunay)
            continue;
        FOREACHvertex_(facet->vertices)
        {
            LBM_ASSERT(corners < 3);
            corner[corners++] = (uint32_t)qh_pointid(qh, vertex->point);
        }
        LBM_ASSERT(corners == 3);
        if (lbm_vec_reserve(&out->edges, 3) != LBM_OK)
            return LBM_E_NOMEM;
        for (int i = 0; i < 3; i++) {
            uint32_t a = corner[i], b = corner[(i + 1) % 3];
            out->edges.at[out->edges.n++] = (struct lbm_edge){a < b ? a : b, a < b ? b : a, 1};
        }
    }
    return LBM_OK;
}

enum lbm_err
lbm_delaunay(uint32_t n, const double *position, struct lbm_edge_vec *out, struct lbm_diag *diag)
{
    LBM_ASSERT(n >= 4);
    char command[] =
        "qhull d Qt Qbb Qc Qz"; /* Delaunay; cells of four or more points on a circle are cut up */
    coordT *points = lbm_copy(position, 2 * (size_t)n, sizeof *points); /* qhull may write into its input */
    qhT *qh = lbm_alloc(1, sizeof *qh);
    enum lbm_err err = LBM_E_NOMEM;
    if (points != NULL && qh != NULL) {
        qh_zero(qh, NULL);
        int code = qh_new_qhull(qh, 2, (int)n, points, False, command, NULL, NULL);
        err = code == 0 ? collect_edges(qh, out) : code == qh_ERRmem ? LBM_E_NOMEM : LBM_E_STATE;
        int memory_left, blocks_left;
        qh_freeqhull(qh, !qh_ALL);
        qh_memfreeshort(qh, &memory_left, &blocks_left);
    }
    free(qh);
    free(points);
    if (err == LBM_OK)
        return LBM_OK;
    return lbm_diag_set(diag, err, NULL, 0, "the triangulation of %" PRIu32 " points failed", n);
}

/* Fewer than four points: every pair is an edge. */
static enum lbm_err
link_all_pairs(uint32_t n, struct lbm_edge_vec *out)
{
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = u + 1; v < n; v++)
            if (lbm_vec_push(&out->edges, ((struct lbm_edge){u, v, 1})) != LBM_OK)
                return LBM_E_NOMEM;
    return LBM_OK;
}

enum lbm_err
lbm_generate_tri(struct lbm_recipe *recipe, struct lbm_graph *out)
{
    uint32_t n = recipe->n;
    struct lbm_point_grid grid = {0};
    struct lbm_edge_vec list = {0};
    struct lbm_graph_fault fault;
    enum lbm_err err = lbm_points_draw(n, 1 + (uint32_t)sqrt(n / 4.0), &recipe->rng, &grid);
    if (err == LBM_OK)
        err = n < 4 ? link_all_pairs(n, &list) : lbm_delaunay(n, grid.position, &list, recipe->diag);
    if (err == LBM_OK)
        err = lbm_edges_build(n, list.edges.at, list.edges.n, LBM_MERGE_KEEP, out, &fault);
    if (err == LBM_E_NOMEM)
        err = lbm_generate_no_memory(recipe);
    if (err == LBM_OK) {
        out->position = grid.position;
        grid.position = NULL;
    }
    lbm_vec_free(&list.edges);
    lbm_points_free(&grid);
    return err;
}
