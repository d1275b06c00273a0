/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbpapers: its commands. */
#include "papers/command.h"

static const struct lbm_command *const commands[] = {
    &command_table, &command_plot, &command_embed, &command_list, NULL,
};

static const struct lbm_program program = {
    .name = "lbpapers",
    .help = "Computes what the papers print that lbmap stands on: tables, curves and pictures. "
            "`lbpapers COMMAND --help` says more about a command; its name may be shortened while it is unique.",
    .commands = commands,
    .statuses = "0 done, 1 a number is wrong, 2 wrong usage or input",
};

int
main(int argc, char **argv)
{
    return lbm_program_run(&program, argc, argv);
}
