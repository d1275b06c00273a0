/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications that follow a script (cluster_edit), for those that ask in their name. */
#ifndef LBM_SIM_SCRIPT_H
#define LBM_SIM_SCRIPT_H

#include "sim/internal.h"

/* An application asks for what it can do of the script, if it waits for nothing. */
void script_look(struct cluster *c, uint32_t application);
/* What it asked for is done, or refused: then it is asked for again. */
void script_answered(struct cluster *c, uint32_t application, int done);
/* Its connection is over meanwhile: disks tell whether it is done. */
void script_ends(struct cluster *c, uint32_t application);
void script_free(struct cluster *c);

#endif
