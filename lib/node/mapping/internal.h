/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_MAPPING_INTERNAL_H
#define LBM_NODE_MAPPING_INTERNAL_H

#include "node/core/core.h"
#include "node/mapping/normalization.h"

/* ---- coarse_plan.c ---- */

/* The plan for this host's clusters is on its way, and tells more than the normalization that follows it. */
int lbm_mapping_coarse_awaits_plan(const struct lbm_node *node, const struct job *job);
/* The coordinator asks every host for its clusters, and plans once it has them, or some are too late. */
void lbm_mapping_coarse_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Plan the coarse graph once the slices of all hosts are there. */
void lbm_mapping_coarse_continue(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
void lbm_mapping_coarse_end(struct job *job); /* there is a plan, or will be none */

/* ---- coarse_remap.c ---- */

void lbm_mapping_remap_answers(struct lbm_node *node,
                               struct job *job); /* and waits for the plan from now on */
/* The vertices of this host's clusters go where the plan has them. host [n]: by cluster; comes: work that
 * others are told to give to this one. */
void lbm_mapping_remap_follow(struct lbm_node *node, struct job *job, size_t n, const uint32_t *host,
                              uint64_t comes);

#endif
