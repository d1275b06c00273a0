/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers: a guest graph to text in any format of read.h; reading it back gives the same graph, as far as the
 * format can hold it: positions and pins need GraphML, vertex weights that, METIS or Scotch
 * (docs/formats.md). */
#ifndef LBM_GRAPH_WRITE_H
#define LBM_GRAPH_WRITE_H

#include "base/mem.h"
#include "graph/read.h"

/* Append the text of g to out. What the format cannot hold is left out.
 * Errors: LBM_E_NOMEM. */
enum lbm_err lbm_graph_write(enum lbm_graph_format format, const struct lbm_graph *g,
                             struct lbm_buf *out) LBM_MUST_CHECK;

/* Append some rows of g as METIS has them, below a comment that says which (docs/formats.md). part: all but
 * vertices and edges.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_graph_write_part(const struct lbm_graph *g, const struct lbm_graph_part *part,
                                  struct lbm_buf *out) LBM_MUST_CHECK;

#endif
