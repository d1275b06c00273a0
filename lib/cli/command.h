/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs with commands (lbctl, lbsim): a command is a row of the program's table: name, help, options,
 * operands, and the function that does it.
 *
 * Owns: struct lbm_command, the exit statuses, --help, what is said on standard error.
 * Never: knows a command. */
#ifndef LBM_CLI_COMMAND_H
#define LBM_CLI_COMMAND_H

#include "base/err.h"
#include "cli/options.h"

/* Exit status of a program. */
enum lbm_status {
    LBM_STATUS_DONE = 0,
    LBM_STATUS_FAILED = 1,      /* refused or failed */
    LBM_STATUS_USAGE = 2,       /* wrong usage or input */
    LBM_STATUS_UNREACHABLE = 3, /* no daemon there */
    LBM_STATUS_TIMED_OUT = 4,
    LBM_STATUS_DEGRADED = 5, /* the answer is that not all is well */
    LBM_STATUS_LOST = 6,     /* the answer is that something is lost */
    LBM_STATUS_DENIED = 7    /* the user lacks the right */
};

/* Options of every command of every program. */
enum { LBM_SHARED_QUIET, LBM_SHARED_HELP, LBM_SHARED_VERSION, LBM_SHARED_OPTIONS };

/* Rows of a table of options: of a command, and of a program for all of its commands. */
enum { LBM_COMMAND_OPTIONS_MAX = 32, LBM_PROGRAM_OPTIONS_MAX = 4 };

struct lbm_cli;

struct lbm_command {
    const char *name;
    const char *text; /* one line */
    const char *help; /* paragraphs */
    const struct lbm_option *options;
    size_t n_options;
    const struct lbm_operand *operands;
    size_t n_operands;
    const char *statuses; /* what the exit status says of this command, or NULL: see the program's */
    enum lbm_status (*run)(const struct lbm_cli *cli);
};

struct lbm_program {
    const char *name;
    const char *help;
    const struct lbm_command *const *commands; /* the table, ending with NULL */
    const struct lbm_option *options;          /* of all commands, besides the shared ones */
    size_t n_options;
    const char *statuses; /* what the exit status says */
};

/* What a command runs with. All is borrowed from lbm_program_run. */
struct lbm_cli {
    const struct lbm_program *program;
    const struct lbm_command *command; /* NULL while it is not known */
    struct lbm_option_value shared[LBM_SHARED_OPTIONS];
    struct lbm_option_value global[LBM_PROGRAM_OPTIONS_MAX]; /* of the program's table */
    struct lbm_option_value value[LBM_COMMAND_OPTIONS_MAX];  /* of the command's */
    const char **operand;
    size_t n_operands;
};

/* The row of --json, for the tables of those that have it. */
#define LBM_JSON_OPTION                                                                                      \
    {                                                                                                        \
        .name = "json", .text = "print the result as JSON"                                                   \
    }

/* Do what the command line says and return the exit status. */
int lbm_program_run(const struct lbm_program *program, int argc, char **argv);

/* The text of --help of the program, of one of its commands. */
void lbm_program_help(FILE *to, const struct lbm_program *program);
void lbm_command_help(FILE *to, const struct lbm_program *program, const struct lbm_command *command);
extern const struct lbm_option lbm_shared_options[LBM_SHARED_OPTIONS];

/* Nonzero: no progress, no remarks, no report. */
int lbm_cli_is_quiet(const struct lbm_cli *cli);

/* Say on standard error what is wrong, "PROGRAM COMMAND: where:line: text", and return the status: of input
 * that cannot be used (usage, but for want of memory), of work that failed. */
enum lbm_status lbm_cli_refuse(const struct lbm_cli *cli, const struct lbm_diag *diag);
enum lbm_status lbm_cli_fail(const struct lbm_cli *cli, const struct lbm_diag *diag);

/* A remark on standard error; none if quiet. */
void lbm_cli_remark(const struct lbm_cli *cli, const char *fmt, ...) LBM_PRINTF(2, 3);

#endif
