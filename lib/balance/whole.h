/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffusion of whole units against diffusion of any fraction. */
#ifndef LBM_BALANCE_WHOLE_H
#define LBM_BALANCE_WHOLE_H

#include "balance/policy.h"

/* How far loads in whole units may depart from those of any fraction, at any host and any time, whatever the
 * loads: the sum over times and links of |M^t(w, p) - M^t(w, q)|, for the worst host w; a link errs by less
 * than a unit in a step, and an error spreads as M^t does. Source:  Rabani, Sinclair and Wanka 1998, the
 * local divergence; their Theorem 5 bounds it by O(degree log n / (1 - gamma)). In:      a rule of
 * whole-diffusion;  equal capacities. Errors:  LBM_E_NOMEM; LBM_E_UNSUPPORTED unequal capacities, or alpha
 * that does not converge; LBM_E_LIMIT too much work, *bound untouched. Cost:    O(n links / (1 - gamma)); on
 * rings, tori, hypercubes and complete graphs without the n. */
enum lbm_err lbm_whole_bound(const struct lbm_network *net, const struct lbm_rule *rule,
                             double *bound) LBM_MUST_CHECK;

/* What it is on given loads, the largest of all hosts and of the first `steps` steps.
 * In:      load [n] whole units.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_whole_departure(const struct lbm_network *net, const struct lbm_rule *rule,
                                 const double *load, uint64_t steps, double *departure) LBM_MUST_CHECK;

#endif
