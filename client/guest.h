/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a command reads a guest graph: one list of options for all of them, and the remarks of the reader. */
#ifndef LBM_CLIENT_GUEST_H
#define LBM_CLIENT_GUEST_H

#include "client/graph_file.h"

/* Rows of the options, from any index of a command's table on: LBM_GUEST_OPTION_ROWS(PLAN_GUEST). */
enum {
    LBM_GUEST_FROM,
    LBM_GUEST_SCALE,
    LBM_GUEST_SUM,
    LBM_GUEST_UNWEIGHTED,
    LBM_GUEST_COMMON,
    LBM_GUEST_OPTIONS
};

#define LBM_GUEST_OPTION_ROWS(first)                                                                         \
    [(first) +                                                                                               \
        LBM_GUEST_FROM] = LBM_CHOICE_OPTION("from", "FORMAT", lbm_graph_formats,                             \
                                            "format of the guest graph [by the suffix; metis from "          \
                                            "standard input]"),                                              \
        [(first) + LBM_GUEST_SCALE] =                                                                        \
            LBM_TEXT_OPTION("scale", "auto|X[,Y]",                                                           \
                            "weights may be real, 0 or large: multiply them by X (those of "                 \
                            "vertices by Y, if given), or by what fits, and round"),                         \
        [(first) + LBM_GUEST_SUM] =                                                                          \
            LBM_FLAG_OPTION("sum", "join copies and both directions of an edge by adding their "             \
                                   "weights, and leave self-loops out"),                                     \
        [(first) + LBM_GUEST_UNWEIGHTED] =                                                                   \
            LBM_FLAG_OPTION("unweighted", "every edge weighs 1, whatever the file says"),                    \
        [(first) + LBM_GUEST_COMMON] = {                                                                     \
            .name = "common",                                                                                \
            .type = LBM_OPTION_INTEGER,                                                                      \
            .value = "N",                                                                                    \
            .min = 1,                                                                                        \
            .max = LBM_COMMON_MAX,                                                                           \
            .text =                                                                                          \
                "of a mesh: elements that share N nodes are neighbours [mesh: 1; gmsh: their dimension]"}

enum { LBM_COMMON_MAX = 64 }; /* no element has more nodes */

/* Read the guest graph at path as the options from `first` on say.
 * Out:     remarks of the reader are appended, for lbm_guest_remark; freed by the caller.
 * Errors:  of the options and of the file. */
enum lbm_err lbm_guest_read(const struct lbm_cli *client, size_t first, const char *path,
                            struct lbm_buf *remarks, struct lbm_graph *out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Print the remarks, once the command has done its work: an error is one line. */
void lbm_guest_remark(const struct lbm_cli *client, const char *path, const struct lbm_buf *remarks);

/* Refuse the options from `first` on, for an input that is no guest graph. Errors: LBM_E_UNSUPPORTED. */
enum lbm_err lbm_guest_refuse(const struct lbm_cli *client, size_t first, const char *why,
                              struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
