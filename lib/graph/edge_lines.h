/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What edge lists with numbers and those with words share. */
#ifndef LBM_GRAPH_EDGE_LINES_H
#define LBM_GRAPH_EDGE_LINES_H

#include "graph/names.h"

/* What follows the two vertices of a line: a weight or nothing. Errors: told. */
enum lbm_err lbm_edge_line_tail(struct lbm_scan *s, double *weight) LBM_MUST_CHECK;

/* Read an edge list whose vertices are called by words, from its beginning. Errors: told; *out untouched. */
enum lbm_err lbm_read_edges_words(struct lbm_scan *s, struct lbm_graph *out) LBM_MUST_CHECK;

#endif
