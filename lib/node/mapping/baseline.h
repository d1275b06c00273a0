/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long boundaries usually are: J of plans from nothing. The coordinator draws some once a plan has been
 * answered, while nobody waits; the next plan compares the mapping there is with them. */
#ifndef LBM_NODE_MAPPING_BASELINE_H
#define LBM_NODE_MAPPING_BASELINE_H

#include "base/err.h"
#include "base/mem.h"

struct job;
struct lbm_job_entry;
struct lbm_node;
struct lbm_plan;

struct baseline {
    LBM_VEC(uint32_t) host;       /* that were planned with, in the order of their numbers */
    LBM_VEC(double) hop_bytes;    /* each one's part of J, the mean of draws now and before */
    uint32_t n_vertices;          /* of the guest then */
    LBM_VEC(double) drawn_so_far; /* the same, summed up, of those that are being drawn, */
    unsigned drawn;               /* that many of them */
};

/* Free a baseline. */
void lbm_mapping_baseline_free(struct baseline *baseline);

/* DRAWING: the coordinator has planned for a job that runs. Until it has enough, or another plan is due. */
void lbm_mapping_baseline_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* A plan of the coarse graph with weights drawn at random is made: one more sample of what a plan usually
 * attains. */
void lbm_mapping_baseline_drawn(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                                enum lbm_err err, const struct lbm_plan *plan);
/* For the plan that is to be asked for: [plan_hosts.n] each host's part of J, borrowed; NULL: not known of
 * those hosts, or of such a guest. */
const double *lbm_mapping_baseline_of(const struct job *job);

#endif
