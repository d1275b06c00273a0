/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Meshes while they are read: elements as lists of nodes, and their dual graph.
 * Source: METIS 5 manual, METIS_MeshToDual: elements are neighbours if they share `common` nodes, or all but
 * one of those that the smaller one has, if that is less. */
#ifndef LBM_GRAPH_MESH_H
#define LBM_GRAPH_MESH_H

#include "graph/names.h"

struct lbm_mesh {
    LBM_VEC(uint32_t) node;  /* of all elements, one after the other */
    LBM_VEC(uint64_t) begin; /* where the nodes of each element begin; the last ends with node.n */
    LBM_VEC(double) work;    /* of each element; empty: all 1 */
    struct lbm_names names;  /* of the elements; empty: numbers */
};

/* Begin an element; its nodes follow. Errors: LBM_E_NOMEM, told. */
enum lbm_err lbm_mesh_element(struct lbm_mesh *mesh, const struct lbm_scan *s) LBM_MUST_CHECK;
enum lbm_err lbm_mesh_node(struct lbm_mesh *mesh, const struct lbm_scan *s, uint32_t node) LBM_MUST_CHECK;

/* Build the dual graph: elements are vertices in their order.
 * In:      common, unless the reading gives another number; len, length of the text.
 * Errors:  LBM_E_LIMIT: elements have that many neighbours that the text cannot mean it; LBM_E_RANGE,
 * LBM_E_NOMEM; told. */
enum lbm_err lbm_mesh_dual(struct lbm_mesh *mesh, const struct lbm_scan *s, uint32_t common, size_t len,
                           struct lbm_graph *out) LBM_MUST_CHECK;

void lbm_mesh_free(struct lbm_mesh *mesh);

#endif
