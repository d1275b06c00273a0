/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices with everything a text may say of them, for formats that list vertices and edges apart (GML,
 * Pajek).
 *
 * Owns: the vertices under construction, and the graph that becomes of them. */
#ifndef LBM_GRAPH_ITEMS_H
#define LBM_GRAPH_ITEMS_H

#include "graph/names.h"

struct lbm_item {
    double work, x, y;
    uint8_t has_x, has_y;
};

struct lbm_items {
    LBM_VEC(struct lbm_item) at;
    struct lbm_names names;
    struct lbm_edge_list list;
};

/* Build the graph: rows of the edges, weights, positions if all have one (else a remark), names.
 * In: as many names as vertices, or none.  Errors: told. */
enum lbm_err lbm_items_build(struct lbm_items *items, const struct lbm_scan *s,
                             struct lbm_graph *out) LBM_MUST_CHECK;

void lbm_items_free(struct lbm_items *items);

#endif
