/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What commands that write guest graphs share. */
#ifndef LBM_CLIENT_GRAPH_FILE_H
#define LBM_CLIENT_GRAPH_FILE_H

#include "client/command.h"
#include "graph/read.h"

/* The graph formats by name, for options. */
extern const struct lbm_choice lbm_graph_formats[];

/* Write g to path. format LBM_FORMAT_COUNT: by suffix, METIS if it names none. */
enum lbm_err lbm_graph_file_write(const char *path, enum lbm_graph_format format, const struct lbm_graph *g,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* The format that lbm_graph_file_write would take. */
enum lbm_graph_format lbm_graph_file_format(const char *path, enum lbm_graph_format format);

#endif
