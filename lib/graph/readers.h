/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function a format; read.c holds the table. */
#ifndef LBM_GRAPH_READERS_H
#define LBM_GRAPH_READERS_H

#include "base/mem.h"
#include "graph/graph.h"
#include "graph/scan.h"

struct lbm_graph_part;

/* Parse and validate what the scanner stands at the beginning of.
 * Out: *out owned by the caller.  Errors: told in scan->diag; *out untouched. */
typedef enum lbm_err lbm_reader(struct lbm_scan *s, struct lbm_graph *out);

lbm_reader lbm_read_metis;
lbm_reader lbm_read_scotch;
lbm_reader lbm_read_matrix_market;
lbm_reader lbm_read_graphml;
lbm_reader lbm_read_edges;
lbm_reader lbm_read_mesh;
lbm_reader lbm_read_gmsh;
lbm_reader lbm_read_gml;
lbm_reader lbm_read_pajek;
lbm_reader lbm_read_dimacs;
lbm_reader lbm_read_csv;

enum lbm_err lbm_read_metis_part(struct lbm_scan *s, struct lbm_graph_part *part,
                                 struct lbm_graph *out) LBM_MUST_CHECK;

/* The same as lbm_read_graphml, and the names of the vertices (their ids in the file) in order, each
 * terminated. names: may be NULL; appended to, also if the graph is refused after all. */
enum lbm_err lbm_read_graphml_named(struct lbm_scan *s, struct lbm_graph *out,
                                    struct lbm_buf *names) LBM_MUST_CHECK;

#endif
