/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shorter story that fails in the same way. */
#ifndef LBM_SIM_RUN_SHRINK_H
#define LBM_SIM_RUN_SHRINK_H

#include "sim/run/story.h"

/* Leave out faults of a story that violates an invariant as long as it violates the same one: halves, then
 * smaller parts, then single ones, until no single one can go. Returns the faults left out. */
uint64_t shrink_story(const struct story_options *options, struct story_result *result);

#endif
