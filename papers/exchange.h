/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps of generalized dimension exchange on a network, by lib/balance. Source: XL95 section 2. */
#ifndef LBM_PAPERS_EXCHANGE_H
#define LBM_PAPERS_EXCHANGE_H

#include "base/rng.h"
#include "papers/net.h"

struct exchange {
    struct net net;
    uint32_t n;
    double *load, *flow; /* [n], [links] */
};

/* A rational exchange parameter: doubles round differently at .6 .7 .85 .95. */
struct ratio {
    uint32_t numerator, denominator;
};

/* Value: 0 if that failed, and so has the table. */
int exchange_of_spec(struct table_run *t, struct exchange *out, const char *fmt, ...) LBM_PRINTF(3, 4);

/* A k-ary n-cube of any dimension, dimension by dimension (XL95 section 3); k even. */
int exchange_of_cube(struct table_run *t, struct exchange *out, uint32_t k, uint32_t dimensions);

void exchange_close(struct exchange *e);

/* Sweeps of whole units, from e->load, until nothing moves; the last one, in which nothing moved, included.
 * NAN if that failed. */
double exchange_sweeps(struct table_run *t, struct exchange *e, struct ratio lambda);

/* Sweeps of real loads until those of all neighbours differ by at most 1; NAN if that failed. */
double exchange_sweeps_real(struct table_run *t, struct exchange *e, double lambda);

/* Whole loads uniform on [0, 2 mean - 1]. */
void exchange_loads(struct exchange *e, struct lbm_rng *rng, uint32_t mean);

#endif
