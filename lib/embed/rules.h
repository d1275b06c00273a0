/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of update other than the mean of the neighbours. Internal to lib/embed. */
#ifndef LBM_EMBED_RULES_H
#define LBM_EMBED_RULES_H

#include "embed/embed.h"

/* Where a vertex goes from the positions x. In: how->rule is not MEAN.  Out: to [how->m].
 * Returns 0 if it stays: it has no neighbours. Cost: the degree; ANGLES: the sum of the neighbours' degrees.
 */
int lbm_rule_place(const struct lbm_diffusion *how, const struct lbm_graph *g, const double *x, uint32_t v,
                   double *to);

#endif
