/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim: its commands. */
#include "sim/command.h"

static const struct lbm_command *const commands[] = {
    &command_cluster,
    &command_scenario,
    &command_scale,
    &command_change,
    &command_drift,
    &command_replay,
    &command_import,
    &command_balance,
    &command_advise,
    &command_table,
    &command_plot,
    &command_embed,
    &command_list,
    NULL,
};

static const struct lbm_program program = {
    .name = "lbsim",
    .help =
        "Runs the nodes of lbmapd in virtual time, and load policies on numbers. `lbsim COMMAND --help` says "
        "more about a command; its name may be shortened while it is unique.",
    .commands = commands,
    .statuses = "0 done, 1 something was violated, wrong or did not settle, 2 wrong usage or input",
};

int
main(int argc, char **argv)
{
    return lbm_program_run(&program, argc, argv);
}
