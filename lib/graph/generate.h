/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generators of guest graphs; the same spec and seed give the same bytes. */
#ifndef LBM_GRAPH_GENERATE_H
#define LBM_GRAPH_GENERATE_H

#include "graph/graph.h"

/* name, form, text: printed by `lbctl gen --help` */
#define LBM_GENERATOR_LIST(X)                                                                              \
    X("lattice", "lattice:AxB[xC]", "regular lattice, x fastest; HEI97's model problem is lattice:32x32")  \
    X("tri", "tri:N", "Delaunay triangulation of N uniform points in the unit square")                     \
    X("rgg", "rgg:N", "random geometric graph of N points, connected radius")                              \
    X("airfoil", "airfoil:N", "unstructured mesh around an airfoil, about N vertices, graded")             \
    X("tree", "tree:N", "random recursive tree of N vertices")

/* Above these a graph would not fit the memory of the machines it is made on: 16 to 64 bytes a vertex, and
 * a kilobyte a vertex while qhull triangulates. */
#define LBM_GENERATE_VERTICES_MAX UINT32_C(100000000)
#define LBM_GENERATE_MESH_MAX UINT32_C(4000000)

/* Generate a whole, connected graph. lattice (in the plane), tri, rgg and airfoil have positions.
 * Errors: LBM_E_SYNTAX or LBM_E_RANGE, diag says what a valid spec looks like; LBM_E_NOMEM. */
enum lbm_err lbm_graph_generate(const char *spec, uint64_t seed, struct lbm_graph *out,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
