/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What commands that write guest graphs share. */
#ifndef LBM_CLIENT_GRAPH_FILE_H
#define LBM_CLIENT_GRAPH_FILE_H

#include "client/command.h"
#include "graph/read.h"

/* The graph formats by name, for options. */
extern const struct lbm_choice lbm_graph_formats[];

/* Refuse a format that cannot hold all of g, unless `lossy`.
 * Errors: LBM_E_UNSUPPORTED: also if the format is not written at all. */
enum lbm_err lbm_graph_file_holds(const char *path, enum lbm_graph_format format, const struct lbm_graph *g,
                                  int lossy, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Remark what of g the format cannot hold, if there is any such thing. */
void lbm_graph_file_remark(const struct lbm_cli *client, const char *path, enum lbm_graph_format format,
                           const struct lbm_graph *g);

/* Write g to path in a format that is written. */
enum lbm_err lbm_graph_file_write(const char *path, enum lbm_graph_format format, const struct lbm_graph *g,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* The format of a file to be written: as the option says, or by the suffix; METIS to standard output.
 * Errors: LBM_E_UNSUPPORTED. */
enum lbm_err lbm_graph_file_format(const char *path, const struct lbm_option_value *given, const char *option,
                                   enum lbm_graph_format *format, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
