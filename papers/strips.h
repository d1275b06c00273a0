/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A grid of rows, cut into one strip a processor of a ring or a chain, and remapped as XL95 section 5.4 does:
 * GDE decides what each link is to carry, then whole rows cross it. */
#ifndef LBM_PAPERS_STRIPS_H
#define LBM_PAPERS_STRIPS_H

#include "papers/net.h"

struct strips {
    struct net net;
    uint32_t rows, n;    /* of the grid; strips */
    uint32_t *first;     /* [n] first row */
    uint32_t *count;     /* [n] rows, at least 1 */
    const uint32_t *row; /* [rows] load of each row, borrowed */
    double *load, *flow; /* [n], [links] */
};

/* Strips of equal width over "ring:N" or "chain:N". Value: 0 if that failed, and so has the table. */
int strips_open(struct table_run *t, const char *spec, uint32_t rows, const uint32_t *row,
                struct strips *out);
void strips_close(struct strips *s);

double strips_largest(const struct strips *s);

/* Remap. Out: *carried, the most that a link carried, in load. Errors: as lbm_balance_run. */
enum lbm_err strips_remap(struct strips *s, double *carried, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
