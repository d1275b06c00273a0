/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writers: a guest graph to text in any format of read.h; reading it back gives the same graph, as far as the
 * format can hold it (docs/formats.md). */
#ifndef LBM_GRAPH_WRITE_H
#define LBM_GRAPH_WRITE_H

#include "base/mem.h"
#include "graph/read.h"

/* What a format may be unable to hold, of graphs that have it. */
#define LBM_LOSS_LIST(X)                                                                                     \
    X(WORK, "vertex weights")                                                                                \
    X(WEIGHT, "edge weights")                                                                                \
    X(POSITION, "positions")                                                                                 \
    X(PIN, "pins")                                                                                           \
    X(NAME, "names of these vertices")

enum lbm_loss {
#define LBM_LOSS_ENUM(id, text) LBM_LOSS_##id,
    LBM_LOSS_LIST(LBM_LOSS_ENUM)
#undef LBM_LOSS_ENUM
        LBM_LOSS_COUNT
};

const char *lbm_loss_text(enum lbm_loss loss);

/* What of g would be lost, as bits 1 << LBM_LOSS_...; 0: reading it back gives the same graph. */
unsigned lbm_graph_losses(enum lbm_graph_format format, const struct lbm_graph *g);

/* Nonzero if there is a writer: no graph is written as a mesh. */
int lbm_graph_is_written(enum lbm_graph_format format);

/* Append the text of g to out, in a format that is written. What the format cannot hold is left out.
 * Errors: LBM_E_NOMEM; LBM_E_LIMIT: too many vertices for a dense matrix. */
enum lbm_err lbm_graph_write(enum lbm_graph_format format, const struct lbm_graph *g,
                             struct lbm_buf *out) LBM_MUST_CHECK;

/* Append some rows of g as METIS has them, below a comment that says which (docs/formats.md). part: all but
 * vertices and edges.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_graph_write_part(const struct lbm_graph *g, const struct lbm_graph_part *part,
                                  struct lbm_buf *out) LBM_MUST_CHECK;

#endif
