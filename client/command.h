/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of lbctl and what they share. */
#ifndef LBM_CLIENT_COMMAND_H
#define LBM_CLIENT_COMMAND_H

#include "cli/command.h"

/* Options of every command of lbctl: indices into lbm_cli.global. */
enum { LBM_GLOBAL_SOCKET, LBM_GLOBAL_IDENTITY, LBM_GLOBAL_JSON, LBM_GLOBAL_OPTIONS };

/* One file each, or a few that belong together. */
extern const struct lbm_command lbm_command_plan, lbm_command_eval, lbm_command_gen, lbm_command_convert;
extern const struct lbm_command lbm_command_graph_from, lbm_command_mpirun;
extern const struct lbm_command lbm_command_cluster, lbm_command_status, lbm_command_hosts, lbm_command_jobs;
extern const struct lbm_command lbm_command_submit, lbm_command_wait, lbm_command_map, lbm_command_locate;
extern const struct lbm_command lbm_command_plot, lbm_command_cancel, lbm_command_events, lbm_command_log;
extern const struct lbm_command lbm_command_join, lbm_command_drain, lbm_command_leave, lbm_command_evict,
    lbm_command_maintain;
extern const struct lbm_command lbm_command_set, lbm_command_explain, lbm_command_trace;
extern const struct lbm_command lbm_command_network, lbm_command_init, lbm_command_token, lbm_command_enroll;
extern const struct lbm_command lbm_command_revoke, lbm_command_pki, lbm_command_approve, lbm_command_recover,
    lbm_command_run;
extern const struct lbm_command lbm_command_backup, lbm_command_restore, lbm_command_payloads;

/* The forms of a host spec, for --hosts of every command. */
extern const struct lbm_choice lbm_host_forms[];

/* What an operand VERTEX may be, for lbm_option_convert. */
extern const struct lbm_option lbm_vertex_number;

#endif
