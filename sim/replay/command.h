/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim replay: the balancer over a trace. */
#ifndef LBM_SIM_REPLAY_COMMAND_H
#define LBM_SIM_REPLAY_COMMAND_H

#include "base/err.h"

/* Takes the arguments after the command's name. Value: the exit status; 1 if a job did not settle in the end.
 * Errors: what is wrong with the arguments or the trace; status is not set. */
enum lbm_err replay_command(int argc, char **argv, int *status, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
