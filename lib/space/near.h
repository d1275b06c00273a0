/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which regions can own a point whose region was p a moment ago: p's neighbours; not for other modules. */
#ifndef LBM_SPACE_NEAR_H
#define LBM_SPACE_NEAR_H

#include "space/metric.h"

/* Of every site, the NEAR_LISTED nearest others by distance. */
struct lbm_near {
    uint32_t listed;  /* per site; 0: there are no lists, every search scans all */
    uint32_t *region; /* [n * listed] */
    double *away;     /* [n * listed] distances, ascending */
};

/* Lists pay from some hundred sites on; below, *near is left without. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_near_build(const struct lbm_regions *r, struct lbm_near *near) LBM_MUST_CHECK;
void lbm_near_free(struct lbm_near *near);

/* What lbm_find_winner finds, ties included, beginning at region p.
 * In: weight_most, the largest weight of r. */
struct lbm_winner lbm_near_find(const struct lbm_near *near, const struct lbm_regions *r, const double *x,
                                uint32_t p, double weight_most);

#endif
