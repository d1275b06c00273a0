/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lbsim says about runs. */
#ifndef LBM_SIM_RUN_REPORT_H
#define LBM_SIM_RUN_REPORT_H

#include <stdio.h>

#include "sim/run/options.h"
#include "sim/run/run.h"

struct tally {
    uint64_t runs, failed, steps;
    int64_t lasted_us;
    uint64_t count[FAULT_COUNT];
};

void tally_add(struct tally *tally, const struct run_result *result);
/* The command that runs a run again. */
void print_replay(FILE *out, const struct sim_options *options, const struct run_result *result,
                  uint64_t left_out, const char *bug);
void print_failure(FILE *out, const struct sim_options *options, const struct run_result *result,
                   const char *bug);
void print_tally(const struct sim_options *options, const struct tally *tally, double seconds);
void print_faults(void);

#endif
