/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Largest eigenvectors of small symmetric matrices. Internal to lib/embed. */
#ifndef LBM_EMBED_MAIN_AXIS_H
#define LBM_EMBED_MAIN_AXIS_H

#include <stdint.h>

#include "base/rng.h"

/* Main axis `which` of the symmetric matrix s [k * k], orthogonal to those before, by power iteration.
 * In/out: axis [(which + 1) * k]; rng. scratch [k]. Returns its eigenvalue, >= 0. */
double lbm_main_axis(const double *s, uint32_t k, unsigned which, double *axis, double *scratch,
                     struct lbm_rng *rng);

#endif
