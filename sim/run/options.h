/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lbsim cluster is told. */
#ifndef LBM_SIM_RUN_OPTIONS_H
#define LBM_SIM_RUN_OPTIONS_H

#include <stdint.h>

struct sim_options {
    uint64_t seeds, first;
    int one; /* --seed: that seed alone */
    uint32_t hosts_least, hosts_most;
    uint32_t copies;   /* of each record in every run; 0: as drawn */
    uint32_t programs; /* enum cluster_programs */
    uint64_t kinds;    /* bit per enum fault_kind */
    uint64_t left_out; /* bit per fault of a run */
    uint32_t jobs;
    uint64_t time_limit_s; /* of all seeds; 0: none */
    const char *hashes;    /* file, or NULL */
    const char *bug;       /* name, "all", "list", or NULL */
    int trace, shrink, json, quiet;
};

#endif
