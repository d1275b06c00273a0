/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantized loads on a hypercube, balanced by a policy of lib/balance, and what the transfers cost.
 * Source: RJK03. */
#ifndef LBM_PAPERS_CUBE_H
#define LBM_PAPERS_CUBE_H

#include "balance/schedule.h"
#include "papers/net.h"

struct cube {
    struct net net;
    uint32_t d, n;
    double *flow;                  /* [links] */
    double *load;                  /* [n] */
    struct lbm_transfer *transfer; /* [links] of the last run */
    size_t n_transfers;
    uint32_t low; /* of CWA: dimensions by OEM before it; 0 at first */
};

/* Value: 0 if that failed, and so has the table. */
int cube_open(struct table_run *t, uint32_t d, struct cube *out);
void cube_close(struct cube *c);

/* Balance c->load by d steps of a policy; the transfers are kept. Errors: LBM_E_NOMEM. */
enum lbm_err cube_balance(struct cube *c, enum lbm_policy policy) LBM_MUST_CHECK;

double cube_difference(const struct cube *c); /* largest load minus least */

/* Time to carry the transfers out, from the loads `before` them; NAN if it cannot be had. */
double cube_time(struct table_run *t, const struct cube *c, enum lbm_schedule schedule, const double *before);

#endif
