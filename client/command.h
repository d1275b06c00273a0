/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command of lbctl is a row of the command table: names, help, options, and the function that does it.
 *
 * Owns: struct lbm_command, the exit statuses, the messages on standard error. */
#ifndef LBM_CLIENT_COMMAND_H
#define LBM_CLIENT_COMMAND_H

#include "base/err.h"
#include "client/options.h"

/* Exit status of lbctl. */
enum lbm_status {
    LBM_STATUS_DONE = 0,
    LBM_STATUS_FAILED = 1,      /* refused or failed */
    LBM_STATUS_USAGE = 2,       /* wrong usage or input */
    LBM_STATUS_UNREACHABLE = 3, /* no daemon there */
    LBM_STATUS_TIMED_OUT = 4
};

/* Options of every command: indices into lbm_client.global. */
enum {
    LBM_GLOBAL_SOCKET,
    LBM_GLOBAL_JSON,
    LBM_GLOBAL_QUIET,
    LBM_GLOBAL_HELP,
    LBM_GLOBAL_VERSION,
    LBM_GLOBAL_OPTIONS
};

enum { LBM_OPERANDS_MAX = 16, LBM_COMMAND_OPTIONS_MAX = 16 };

struct lbm_command;

/* What a command runs with. All is borrowed from main. */
struct lbm_client {
    const struct lbm_command *command; /* NULL while it is not known */
    struct lbm_option_value global[LBM_GLOBAL_OPTIONS];
    struct lbm_option_value value[LBM_COMMAND_OPTIONS_MAX]; /* of the command's own table */
    const char *operand[LBM_OPERANDS_MAX];
    size_t n_operands;
};

struct lbm_command {
    const char *name;
    const char *text; /* one line */
    const char *help; /* paragraphs, or NULL */
    const struct lbm_option *options;
    size_t n_options;
    const struct lbm_operand *operands;
    size_t n_operands;
    enum lbm_status (*run)(const struct lbm_client *client);
};

/* One file each. */
extern const struct lbm_command lbm_command_plan, lbm_command_eval, lbm_command_gen, lbm_command_convert;
extern const struct lbm_command lbm_command_cluster, lbm_command_status, lbm_command_hosts, lbm_command_jobs;
extern const struct lbm_command lbm_command_submit, lbm_command_wait, lbm_command_map, lbm_command_locate;
extern const struct lbm_command lbm_command_plot, lbm_command_cancel, lbm_command_events, lbm_command_log;
extern const struct lbm_command lbm_command_join, lbm_command_drain, lbm_command_leave, lbm_command_evict;
extern const struct lbm_command lbm_command_set, lbm_command_explain, lbm_command_trace;

/* The table, ending with NULL. */
extern const struct lbm_command *const lbm_commands[];

/* The forms of a host spec, for --hosts of every command. */
extern const struct lbm_choice lbm_host_forms[];

/* Say on standard error what is wrong, "lbctl COMMAND: where:line: text", and return the status: of input
 * that cannot be used (usage, but for want of memory), of work that failed. */
enum lbm_status lbm_client_refuse(const struct lbm_client *client, const struct lbm_diag *diag);
enum lbm_status lbm_client_fail(const struct lbm_client *client, const struct lbm_diag *diag);

/* A remark on standard error; silent with --quiet. */
void lbm_client_remark(const struct lbm_client *client, const char *fmt, ...) LBM_PRINTF(2, 3);

#endif
