/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers in files of their own; write.c holds the table and the others. */
#ifndef LBM_GRAPH_WRITERS_H
#define LBM_GRAPH_WRITERS_H

#include "graph/write.h"

void lbm_write_graphml(const struct lbm_graph *g, struct lbm_buf *out);

#endif
