/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim list, lbsim table, lbsim plot, lbsim embed. */
#ifndef LBM_SIM_TABLES_COMMAND_H
#define LBM_SIM_TABLES_COMMAND_H

#include "base/err.h"

/* All take the arguments after the command's name. Value: the exit status; 1 if a number is wrong.
 * Errors: what is wrong with the arguments; status is not set. */
enum lbm_err list_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err table_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err plot_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err embed_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
