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

/* The rows of a shard's patch, which is valid, without their ghosts. Borrows work. Errors: LBM_E_NOMEM; to be
 * freed all the same, work set to NULL before. */
enum lbm_err lbm_mapping_inner_graph(const struct lbm_shard *shard, struct lbm_graph *inner) LBM_MUST_CHECK;

/* ---- sums.c ---- */

enum sums_state {
    SUMS_WAITING,
    SUMS_COMPLETE,
    SUMS_PASSED /* all that are missing have gone on without this host */
};

/* Tell all members what this host adds to the sum of its stage. In: value [n]; sample [n_sample * m], raw;
 * sample_work [n_sample]. The node fails if memory is short. */
void lbm_mapping_sums_tell(struct lbm_node *node, struct job *job, size_t n, const double *value,
                           size_t n_sample, const double *sample, const uint32_t *sample_work);
/* Tell all members again what this host has told of its stage. */
void lbm_mapping_sums_tell_again(struct lbm_node *node, struct job *job);
/* Returns whether all members have told of this host's stage. */
enum sums_state lbm_mapping_sums_state(const struct lbm_node *node, const struct job *job);
/* Returns what a host has told in a stage, borrowed; NULL: nothing that is known. */
const struct sums_row *lbm_mapping_sums_row(const struct diffuse *d, uint32_t host, uint32_t stage);
/* Free what was told in stages before that one, or all. */
void lbm_mapping_sums_forget(struct diffuse *d, uint32_t stage);
/* Free all that was told. */
void lbm_mapping_sums_free(struct diffuse *d);

/* ---- waves.c ---- */

/* Carry distances to the pivots on. Returns nonzero if none has changed for a while. */
int lbm_mapping_waves_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Tell the hosts of neighbours all distances again. */
void lbm_mapping_waves_tell_again(struct lbm_node *node, struct job *job);
/* Free the distances. */
void lbm_mapping_waves_free(struct waves *w);

/* ---- levels.c ---- */

/* Some sweeps, from clusters down to vertices; is_flat: of vertices alone. Returns nonzero after the last. */
int lbm_mapping_levels_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                            int is_flat);
/* Free the levels. */
void lbm_mapping_levels_free(struct diffuse_levels *l);
/* Coarsen what this host holds. In: is_flat: the patch alone; part [rows]: only vertices of the same part
 * come together, or NULL. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_levels_build(struct lbm_node *node, struct job *job,
                                      const struct lbm_job_entry *entry, int is_flat,
                                      const uint32_t *part) LBM_MUST_CHECK;
/* Returns the graph of a level, borrowed; 0: the patch. */
const struct lbm_graph *lbm_mapping_levels_graph(const struct job *job, uint32_t level);

/* ---- labels.c ---- */

/* Anneal labels. In: temperature: to begin with. Returns nonzero once the last have been told. */
int lbm_mapping_labels_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                            double temperature);
/* Begin with these. In: label [rows + ghosts] numbers of hosts. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_labels_begin(struct lbm_node *node, struct job *job,
                                      const struct lbm_job_entry *entry,
                                      const uint32_t *label) LBM_MUST_CHECK;
/* Free the labels. */
void lbm_mapping_labels_free(struct labels *l);
/* What there is is what was found, down to vertices. In: first [rows] labels that it is compared with.
 * Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_labels_end(struct job *job, const uint32_t *first) LBM_MUST_CHECK;

/* ---- coarse_remap.c ---- */

void lbm_mapping_remap_answers(struct lbm_node *node,
                               struct job *job); /* and waits for the plan from now on */
/* The vertices of this host's clusters go where the plan has them. host [n]: by cluster; comes: work that
 * others are told to give to this one. */
void lbm_mapping_remap_follow(struct lbm_node *node, struct job *job, size_t n, const uint32_t *host,
                              uint64_t comes);

#endif
