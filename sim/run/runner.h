/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in processes of their own, several at a time, so that one that crashes or hangs is a result too. */
#ifndef LBM_SIM_RUN_RUNNER_H
#define LBM_SIM_RUN_RUNNER_H

#include "sim/run/run.h"

struct runner {
    struct run_options options; /* of every run, but the seed */
    uint64_t first, seeds;
    const uint64_t *list; /* [seeds] of numbers instead of those from first on, or NULL */
    uint32_t jobs;
    uint64_t time_limit_s; /* no run begins later; 0: whenever */
    /* Told of every result, in the order in which they end. Nonzero: begin no more. */
    int (*result)(void *arg, const struct run_result *result);
    void *arg;
};

/* Returns the runs that were run. Errors of the system end the program with a message. */
uint64_t run_seeds(const struct runner *runner);

/* The result of one run, in a process of its own. */
void run_seed(const struct run_options *options, struct run_result *result);

#endif
