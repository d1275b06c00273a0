/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim scenario: one race told step by step in a small language, with all checks of lbsim cluster. */
#ifndef LBM_SIM_SCENARIO_H
#define LBM_SIM_SCENARIO_H

#include "base/err.h"

/* Takes the arguments after the command's name. Value: the exit status; 1 if a scenario fails.
 * Errors: what is wrong with the arguments or in a file; status is not set. */
enum lbm_err scenario_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
