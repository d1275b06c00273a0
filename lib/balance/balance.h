/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange of load between linked hosts, and the detection that all is stable. */
#ifndef LBM_BALANCE_BALANCE_H
#define LBM_BALANCE_BALANCE_H

#include <stdint.h>

/* Generalized dimension exchange of one pair, integer loads (XL95 eq. (6)).
 * d = w_hi - w_lo; the heavier keeps w_lo + ceil((1 - lambda) d). d <= 1 changes nothing.
 * lambda = numerator / denominator is rational, since doubles round differently at .6 .7 .85 .95.
 * Returns what the heavier gives, work units. */
uint64_t lbm_gde_exchange(uint64_t heavier, uint64_t lighter, uint32_t lambda_numerator,
                          uint32_t lambda_denominator);

/* The same with unequal targets (heterogeneous capacity): d = (L_p T_q - L_q T_p) / (T_p + T_q) is what p
 * must give q to level both, and 2 d takes the place of the difference of loads: the heavier gives floor(2
 * lambda d), no more than it has; |2 d| <= 1 changes nothing. A target of 0 (a host that drains) gives all at
 * 1/2.
 * In:      targets >= 0; loads below 2^53; equal targets are computed exactly, as lbm_gde_exchange does.
 * Returns > 0: p gives to q; < 0: q gives to p; 0: nothing moves. */
int64_t lbm_gde_share(uint64_t load_p, double target_p, uint64_t load_q, double target_q,
                      uint32_t lambda_numerator, uint32_t lambda_denominator);

/* XL95's termination counter, one a host: 0 while unstable, else 1 + the least counter among itself and
 * its neighbours, once a sweep; a host whose counter exceeds the diameter knows that all are stable.
 * In a sweep a host hears from each neighbour the counter that it had when the sweep began. */
struct lbm_termination {
    uint32_t counter;
    uint32_t least;   /* least counter heard in this sweep */
    int disturbed;    /* something moved, or a neighbour was not heard, in this sweep */
};

void lbm_termination_reset(struct lbm_termination *t);              /* unstable in this sweep: as at first */
void lbm_termination_hear(struct lbm_termination *t, uint32_t counter); /* a neighbour's, this sweep */
void lbm_termination_disturb(struct lbm_termination *t);
void lbm_termination_sweep(struct lbm_termination *t);              /* the sweep has ended */
int lbm_termination_done(const struct lbm_termination *t, uint32_t diameter_hops);

#endif
