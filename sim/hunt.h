/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mistakes planted on purpose (node/bugs.h), and how many stories it takes until one fails. */
#ifndef LBM_SIM_HUNT_H
#define LBM_SIM_HUNT_H

#include "sim/options.h"
#include "sim/story.h"

enum { HUNT_NONE = -1 };

/* Print what can be planted. */
void hunt_list(void);
/* Number of the mistake of that name, or HUNT_NONE. */
int hunt_number(const char *name);
const char *hunt_name(int bug);

/* Nonzero if this build can plant mistakes. Plant one from now on; 0: none. */
int hunt_can_plant(void);
void hunt_plant(int bug);

/* Run stories with each mistake (with that one alone unless `bug` is HUNT_NONE) until one fails that is well
 * without it, and print when and by what. Returns how many were not found. */
uint32_t hunt(const struct sim_options *options, const struct story_options *story, int bug);

#endif
