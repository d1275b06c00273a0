/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim balance, lbsim advise. */
#ifndef LBM_SIM_BALANCE_COMMAND_H
#define LBM_SIM_BALANCE_COMMAND_H

#include "base/err.h"

/* Both take the arguments after the command's name. Value: the exit status; 1 if loads did not settle.
 * Errors: what is wrong with the arguments, or why a policy does not fit; status is not set. */
enum lbm_err balance_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err advise_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
