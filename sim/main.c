/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim: its commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/command.h"

static const struct lbm_command *const commands[] = {
    &command_cluster,
    &command_scenario,
    &command_scale,
    &command_change,
    &command_converge,
    &command_disturb,
    &command_drift,
    &command_replay,
    &command_import,
    &command_balance,
    &command_advise,
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

/* The commands of lbpapers, as earlier versions of lbsim spelled them: said, and done by lbpapers, the one next to this
 * program before any other. Returns only if `command` is none of them. */
static void
run_moved(const char *command, char **argv)
{
    static const char *const moved[] = {"table", "plot", "embed", "list"};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        if (strcmp(command, moved[i]) != 0)
            continue;
        fprintf(stderr, "lbsim: note: `lbsim %s` is `lbpapers %s` now; this spelling goes with the next version\n",
                command, command);
        char path[4096];
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "../papers/lbpapers");
        char *folder_end = NULL;
        if (length > 0) {
            path[length] = '\0';
            folder_end = strrchr(path, '/');
        }
        if (folder_end != NULL) {
            strcpy(folder_end + 1, "lbpapers");
            execv(path, argv);
            strcpy(folder_end + 1, "../papers/lbpapers"); /* where both were built */
            execv(path, argv);
        }
        execvp("lbpapers", argv);
        fprintf(stderr, "lbsim: lbpapers cannot be started\n");
        exit(LBM_STATUS_USAGE);
    }
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        run_moved(argv[1], argv);
    return lbm_program_run(&program, argc, argv);
}
