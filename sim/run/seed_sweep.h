/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of lbsim cluster. */
#ifndef LBM_SIM_RUN_SEED_SWEEP_H
#define LBM_SIM_RUN_SEED_SWEEP_H

#include "cli/command.h"
#include "sim/run/options.h"

/* Run the runs that are wanted and print what is found. Value: FAILED if something was violated, or a
 * planted mistake was not found. */
enum lbm_status seed_sweep_run(const struct lbm_cli *cli, const struct sim_options *options);

#endif
