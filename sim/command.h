/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of lbsim, and rows that their tables of options share. */
#ifndef LBM_SIM_COMMAND_H
#define LBM_SIM_COMMAND_H

#include "cli/command.h"

/* One file each, or a few that belong together. */
extern const struct lbm_command command_cluster, command_scenario, command_scale, command_change;
extern const struct lbm_command command_drift, command_replay, command_import, command_balance;
extern const struct lbm_command command_advise, command_converge, command_disturb;

#define SIM_SEED_OPTION                                                                                      \
    {                                                                                                        \
        .name = "seed", .type = LBM_OPTION_INTEGER, .value = "S", .max = LBM_OPTION_INTEGER_MAX,             \
        .fallback = "1", .text = "of all that is drawn"                                                      \
    }

#endif
