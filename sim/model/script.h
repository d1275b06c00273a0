/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What applications ask to have changed of their guests: by chance (sim/model/refine.c), or by a script
 * (cluster_edit). */
#ifndef LBM_SIM_MODEL_SCRIPT_H
#define LBM_SIM_MODEL_SCRIPT_H

#include "sim/model/internal.h"

/* A request that is being put together: columns of Lbm__ChangeRequest. */
struct draft {
    LBM_VEC(uint32_t) vertex, near, work, removed, keeps, len, end, other, weight;
    LBM_VEC(uint64_t) token;
};

/* token 0: a new vertex, which begins next to `near`. */
void draft_vertex(struct draft *draft, uint32_t vertex, uint64_t token, uint32_t near, uint32_t work);
void draft_edge(struct draft *draft, uint32_t end, uint32_t other, uint32_t weight);
void draft_send(struct cluster *c, uint32_t application, struct draft *draft);
void draft_free(struct draft *draft);

/* An application asks for what it can do of the script, if it waits for nothing. */
void script_look(struct cluster *c, uint32_t application);
/* What it asked for is done, or refused: then it is asked for again. */
void script_answered(struct cluster *c, uint32_t application, int done);
/* Its connection is over meanwhile: disks tell whether it is done. */
void script_ends(struct cluster *c, uint32_t application);
void script_free(struct cluster *c);

#endif
