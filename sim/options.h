/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of lbsim, as a table. */
#ifndef LBM_SIM_OPTIONS_H
#define LBM_SIM_OPTIONS_H

#include "base/err.h"

struct sim_options {
    uint64_t seeds, first;
    int one; /* --seed: that seed alone */
    uint32_t hosts_least, hosts_most;
    uint64_t kinds;    /* bit per enum fault_kind */
    uint64_t left_out; /* bit per fault of a story */
    uint32_t jobs;
    uint64_t time_limit_s; /* of all seeds; 0: none */
    const char *hashes;    /* file, or NULL */
    const char *bug;       /* name, "all", "list", or NULL */
    int trace, shrink, json, quiet, help, version, list_faults;
};

/* Read the arguments after the command. Errors: LBM_E_SYNTAX, LBM_E_RANGE with the option in diag. */
enum lbm_err sim_options_read(int argc, char **argv, struct sim_options *out,
                              struct lbm_diag *diag) LBM_MUST_CHECK;

void sim_options_help(void);

#endif
