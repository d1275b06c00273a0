/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shorter run that fails in the same way. */
#ifndef LBM_SIM_RUN_SHRINK_H
#define LBM_SIM_RUN_SHRINK_H

#include "sim/run/run.h"

/* Leave out faults of a run that violates an invariant as long as it violates the same one: halves, then
 * smaller parts, then single ones, until no single one can go. Returns the faults left out. */
uint64_t shrink_run(const struct run_options *options, struct run_result *result);

#endif
