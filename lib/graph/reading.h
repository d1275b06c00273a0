/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a text is to be read as a graph, and what the reader has to say about it.
 *
 * Owns: the options of all readers, the remarks they make, the conversion of real weights to integers.
 * Never: refuses; a reader does (scan.h). */
#ifndef LBM_GRAPH_READING_H
#define LBM_GRAPH_READING_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* What happens to weights that are not integers from 1 to LBM_WEIGHT_MAX. */
enum lbm_scaling {
    LBM_SCALE_NONE, /* they are refused */
    LBM_SCALE_AUTO, /* all are multiplied by one factor that the reader chooses, and rounded */
    LBM_SCALE_BY    /* the same with the factor given */
};

struct lbm_scale {
    enum lbm_scaling how;
    double factor; /* of LBM_SCALE_BY, > 0 and finite */
};

struct lbm_reading {
    struct lbm_scale edge_scale, work_scale; /* of edge weights and of vertex weights */
    int sum;                                 /* join copies and both directions, drop self-loops */
    int unweighted;                          /* every edge weighs 1; weights of edges are not read */
    uint32_t common;  /* nodes that two elements of a mesh share to be neighbours; 0: as the mesh needs */
    const char *hint; /* what a user does about a weight that is refused; NULL: a general advice */
    const char *copies_hint; /* what a user does about copies and self-loops; NULL: nothing */
    struct lbm_buf remarks;  /* out: lines, each ended by '\n'; freed by the caller */
};

/* Add a line to the remarks; r may be NULL. */
void lbm_reading_remark(struct lbm_reading *r, const char *fmt, ...) LBM_PRINTF(2, 3);

/* Nonzero if weights or edges are converted, so that they must be collected first. r may be NULL. */
int lbm_reading_collects(const struct lbm_reading *r);

/* Convert weights to integers from 1 to LBM_WEIGHT_MAX.
 * In:      how; what, for remarks ("edge weight"); value [n], finite and >= 0.
 * Out:     whole [n]. A value of 0 becomes 0 if zeros may stay (the caller drops those edges), else 1; other
 * values below the smallest integer become 1. What was lost is told in r. Errors:  LBM_E_RANGE: a value is
 * too large once it is multiplied; *at is its index. Method:  auto leaves weights alone if all are integers
 * in range; else it looks for a unit of which all are multiples (a power of ten, of two, or a common
 * divisor), so that nothing is lost; else the largest weight becomes LBM_WEIGHT_MAX. The sum of all stays
 * below 2^53. */
enum lbm_zeros { LBM_ZEROS_STAY, LBM_ZEROS_WEIGH_ONE };
enum lbm_err lbm_reading_convert(struct lbm_reading *r, const struct lbm_scale *how, const char *what,
                                 enum lbm_zeros zeros, const double *value, size_t n, uint32_t *whole,
                                 size_t *at) LBM_MUST_CHECK;

#endif
