/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers on the command line. */
#ifndef LBM_SIM_NUMBERS_H
#define LBM_SIM_NUMBERS_H

#include "base/err.h"

/* A finite number of least .. most; name is the option's, for the message.
 * Errors: LBM_E_SYNTAX no number; LBM_E_RANGE. *out is as it was then. */
enum lbm_err sim_read_real(const char *name, const char *text, double least, double most, double *out,
                           struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
