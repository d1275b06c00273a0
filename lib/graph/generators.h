/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generators in files of their own; generate.c holds the table and the small ones. */
#ifndef LBM_GRAPH_GENERATORS_H
#define LBM_GRAPH_GENERATORS_H

#include "base/rng.h"
#include "graph/rows.h"

/* What a generator is told. */
struct lbm_recipe {
    uint32_t n;       /* vertices */
    uint32_t side[3]; /* lattice: extents */
    struct lbm_rng rng;
    struct lbm_diag *diag;
};

/* Out: *out owned by the caller.  Errors: told in recipe->diag; *out untouched. */
typedef enum lbm_err lbm_generator(struct lbm_recipe *recipe, struct lbm_graph *out);

lbm_generator lbm_generate_tri;
lbm_generator lbm_generate_rgg;
lbm_generator lbm_generate_airfoil;

enum lbm_err lbm_generate_no_memory(const struct lbm_recipe *recipe);

/* Points of the unit square in a grid of side * side cells, cell by cell: neighbours in the plane get near
 * numbers, as in meshes that people make. */
struct lbm_point_grid {
    uint32_t side;
    uint32_t *first;  /* [side * side + 1] points of cell c are first[c] .. first[c + 1] */
    double *position; /* [2n] */
};

/* Draw n uniform points. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_points_draw(uint32_t n, uint32_t side, struct lbm_rng *rng,
                             struct lbm_point_grid *out) LBM_MUST_CHECK;
uint32_t lbm_points_cell(const struct lbm_point_grid *grid, double x, double y);
void lbm_points_free(struct lbm_point_grid *grid);

/* Edges of the Delaunay triangulation of n >= 4 points, u < v, those of two triangles twice.
 * Errors: LBM_E_NOMEM, LBM_E_STATE (qhull gave up), told in diag. */
struct lbm_edge_vec {
    LBM_VEC(struct lbm_edge) edges;
};
enum lbm_err lbm_delaunay(uint32_t n, const double *position, struct lbm_edge_vec *out,
                          struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
