/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers in files of their own; write.c holds the table and the others. */
#ifndef LBM_GRAPH_WRITERS_H
#define LBM_GRAPH_WRITERS_H

#include "graph/write.h"

void lbm_write_graphml(const struct lbm_graph *g, struct lbm_buf *out);
void lbm_write_edges(const struct lbm_graph *g, struct lbm_buf *out);

void lbm_write_gml(const struct lbm_graph *g, struct lbm_buf *out);
void lbm_write_pajek(const struct lbm_graph *g, struct lbm_buf *out);
void lbm_write_dimacs(const struct lbm_graph *g, struct lbm_buf *out);
void lbm_write_csv(const struct lbm_graph *g, struct lbm_buf *out);
int lbm_write_csv_fits(const struct lbm_graph *g); /* as a dense matrix */

/* Nonzero if the names of g can stand in quotes: none has quotes in it. */
int lbm_write_quoted_names(const struct lbm_graph *g);

/* Append text with what XML reserves replaced. */
void lbm_write_escaped(struct lbm_buf *out, const char *text);

/* Append the name of v, or its number. */
void lbm_write_id(struct lbm_buf *out, const struct lbm_graph *g, uint32_t v);

#endif
