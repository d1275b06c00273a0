/* One function a format; read.c holds the table. */
#ifndef LBM_GRAPH_READERS_H
#define LBM_GRAPH_READERS_H

#include "graph/graph.h"
#include "graph/scan.h"

/* Parse and validate what the scanner stands at the beginning of.
 * Out: *out owned by the caller.  Errors: told in scan->diag; *out untouched. */
typedef enum lbm_err lbm_reader(struct lbm_scan *s, struct lbm_graph *out);

lbm_reader lbm_read_metis;
lbm_reader lbm_read_scotch;
lbm_reader lbm_read_matrix_market;
lbm_reader lbm_read_graphml;
lbm_reader lbm_read_edges;

#endif
