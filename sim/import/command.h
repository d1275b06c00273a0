/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim import: what other programs recorded, as a trace. */
#ifndef LBM_SIM_IMPORT_COMMAND_H
#define LBM_SIM_IMPORT_COMMAND_H

#include "base/err.h"

/* Takes the arguments after the command's name. Errors: what is wrong with the arguments or the files. */
enum lbm_err import_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
