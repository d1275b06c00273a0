/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mistakes planted on purpose (node/mutants.h), and how many runs it takes until one fails. */
#ifndef LBM_SIM_RUN_MUTATION_H
#define LBM_SIM_RUN_MUTATION_H

#include "base/err.h"
#include "sim/run/options.h"
#include "sim/run/run.h"

enum { MUTATION_NONE = -1 };

/* Print what can be planted. */
void mutation_list(void);
/* What --bug names: *bug is the number of a mistake, MUTATION_NONE for "all".
 * Errors: LBM_E_UNSUPPORTED (nothing can be planted in this build), LBM_E_NOTFOUND. */
enum lbm_err mutation_read(const char *name, int *bug, struct lbm_diag *diag) LBM_MUST_CHECK;
const char *mutation_name(int bug);

/* Plant a mistake from now on; 0: none. */
void mutation_plant(int bug);

/* Run runs with each mistake (with that one alone unless `bug` is MUTATION_NONE) until one fails that is well
 * without it, and print when and by what. Returns how many were not found. */
uint32_t mutation(const struct sim_options *options, const struct run_options *run, int bug);

#endif
