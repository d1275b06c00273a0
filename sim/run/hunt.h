/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mistakes planted on purpose (node/mutants.h), and how many stories it takes until one fails. */
#ifndef LBM_SIM_RUN_HUNT_H
#define LBM_SIM_RUN_HUNT_H

#include "base/err.h"
#include "sim/run/options.h"
#include "sim/run/story.h"

enum { HUNT_NONE = -1 };

/* Print what can be planted. */
void hunt_list(void);
/* What --bug names: *bug is the number of a mistake, HUNT_NONE for "all".
 * Errors: LBM_E_UNSUPPORTED (nothing can be planted in this build), LBM_E_NOTFOUND. */
enum lbm_err hunt_read(const char *name, int *bug, struct lbm_diag *diag) LBM_MUST_CHECK;
const char *hunt_name(int bug);

/* Plant a mistake from now on; 0: none. */
void hunt_plant(int bug);

/* Run stories with each mistake (with that one alone unless `bug` is HUNT_NONE) until one fails that is well
 * without it, and print when and by what. Returns how many were not found. */
uint32_t hunt(const struct sim_options *options, const struct story_options *story, int bug);

#endif
