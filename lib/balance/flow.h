/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Net flows on links: how much they move, and the least that any flow with the same result moves.
 *
 * Owns: three measures of a flow and their minima.  Never: chooses a policy.
 *
 * A flow is one number a link, > 0 from its p to its q. Its excess at a host is what leaves less what comes
 * in: the load before less the load after. Opposite transfers of two steps on a link cancel before anything
 * moves, so the sum over all steps is what counts. */
#ifndef LBM_BALANCE_FLOW_H
#define LBM_BALANCE_FLOW_H

#include "host/colouring.h"

struct lbm_flow_size {
    double sum;     /* of |flow| over all links: work units times links */
    double root;    /* of the sum of squares */
    double busiest; /* largest |flow| */
};

void lbm_flow_measure(const double *flow, uint32_t n_links, struct lbm_flow_size *out);

/* The flow with the least sum of squares: differences of potentials x with L x = excess.
 * Source:  Hu and Blake 1999, by conjugate gradients.
 * In:      c the links, connecting all hosts;  excess [n_hosts], its sum is 0 but for rounding.
 * Out:     flow [n_links].
 * Errors:  LBM_E_NOMEM.
 * Cost:    O(links) an iteration, at most as many as L has distinct eigenvalues but for rounding. */
enum lbm_err lbm_flow_least_root(const struct lbm_colouring *c, const double *excess,
                                 double *flow) LBM_MUST_CHECK;

/* The flow with the least sum: shortest ways first, by the primal-dual method for minimum-cost flows.
 * In, out, errors: as above.  Cost: a maximum flow for each length of a way that is used. */
enum lbm_err lbm_flow_least_sum(const struct lbm_colouring *c, const double *excess,
                                double *flow) LBM_MUST_CHECK;

/* The flow whose busiest link carries least. That is the largest excess of a set of hosts over the number of
 * links that leave it; found by Newton's method on minimum cuts.
 * In, out, errors: as above.  Cost: a maximum flow for each of a few cuts. */
enum lbm_err lbm_flow_least_busiest(const struct lbm_colouring *c, const double *excess,
                                    double *flow) LBM_MUST_CHECK;

/* Each measure of the flow that is least in it: lower bounds, that no one flow need reach together.
 * Errors: LBM_E_NOMEM; LBM_E_LIMIT above LBM_FLOW_HOSTS_MAX hosts, *out untouched. */
enum { LBM_FLOW_HOSTS_MAX = 4096 }; /* maximum flows on more take minutes */
enum lbm_err lbm_flow_least(const struct lbm_colouring *c, const double *excess,
                            struct lbm_flow_size *out) LBM_MUST_CHECK;

#endif
