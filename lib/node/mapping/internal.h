/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_MAPPING_INTERNAL_H
#define LBM_NODE_MAPPING_INTERNAL_H

#include "node/core/core.h"
#include "node/mapping/normalization.h"

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
/* Returns the highest lap that anybody has told of, of those hosts by their hash; 0: of any. */
uint32_t lbm_mapping_sums_lap(const struct diffuse *d, uint64_t hosts);
/* Returns the highest stage that a host has told of; 0: of none. */
uint32_t lbm_mapping_sums_stage(const struct diffuse *d, uint32_t host);
/* Returns a host that answers quickly, to pass on what would be long on its way to another; LBM_NONE: it
 * would not be, or there is none. */
uint32_t lbm_mapping_sums_relay(const struct lbm_node *node, uint32_t to);
/* Free what was told in stages before that one, or all. */
void lbm_mapping_sums_forget(struct diffuse *d, uint32_t stage);
/* Free all that was told. */
void lbm_mapping_sums_free(struct diffuse *d);

/* Add up what was told in this host's stage, as n values. Out: sum [n]. */
void lbm_mapping_sums_total(const struct diffuse *d, size_t n, double *sum);

/* ---- regions.c ---- */

/* Tell moments of this host's places, and a sample of them. */
void lbm_mapping_regions_tell_places(struct lbm_node *node, struct job *job,
                                     const struct lbm_job_entry *entry);
/* Places of all are told: the normalization, and weights of regions in each rotation. The node fails if
 * memory is short; of places on a line there are no regions. */
void lbm_mapping_regions_draw(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Tell what the labels of each rotation cost. */
void lbm_mapping_regions_tell(struct lbm_node *node, struct job *job);
/* Costs of all are told: all choose the same rotation, and whether records follow: at once if neighbours have
 * yet to be gathered (LBM_STAGE_GATHER), else once, at the end. */
void lbm_mapping_regions_choose(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Renormalize coordinates themselves, with the map that all have, before they diffuse on. */
void lbm_mapping_regions_renormalize(struct job *job);

/* ---- label_choice.c ---- */

/* Ask for halves, if this host holds the whole guest. The node fails if memory is short. */
void lbm_mapping_choice_halve(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Begin to anneal the best labels so far, or those of where vertices are. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_choice_begin(struct lbm_node *node, struct job *job,
                                      const struct lbm_job_entry *entry) LBM_MUST_CHECK;
/* Returns nonzero if this host waits for nobody, and anneals once more. */
int lbm_mapping_choice_again(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Tell what the labels cost, annealed and before. */
void lbm_mapping_choice_tell(struct lbm_node *node, struct job *job);
/* What labels cost all hosts together. */
struct choice_cost {
    double before, now; /* with what is too much */
    int is_better;      /* now than before */
    int is_more_even;   /* the same of loads */
    uint64_t work;      /* of all vertices; 0: some were told by nobody, or twice */
    int is_shared;      /* some host has neighbours elsewhere */
    double load_here;   /* work that those of now give this host */
};

/* Costs of all are told. Returns 0 if they are of other hosts or vertices than there are now, or memory is
 * short, and the node fails. */
int lbm_mapping_choice_compare(struct lbm_node *node, const struct job *job,
                               const struct lbm_job_entry *entry, struct choice_cost *out);
/* Costs of all are told: the better labels are the ones that records follow. */
void lbm_mapping_choice_take(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Forget the tries of annealing. */
void lbm_mapping_choice_forget(struct diffuse *d);

/* ---- waves.c ---- */

/* Carry distances to the pivots on. Returns nonzero if none has changed for a while. */
int lbm_mapping_waves_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* Tell the hosts of neighbours all distances again. */
void lbm_mapping_waves_tell_again(struct lbm_node *node, struct job *job);
/* Free the distances. */
void lbm_mapping_waves_free(struct waves *w);

/* ---- levels.c ---- */

/* The rows of a shard's patch, which is valid, without their ghosts. Borrows work. Errors: LBM_E_NOMEM; to be
 * freed all the same, work set to NULL before. */
enum lbm_err lbm_mapping_inner_graph(const struct lbm_shard *shard, struct lbm_graph *inner) LBM_MUST_CHECK;

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

/* What labels cost, as far as this host's edges go: each edge counts at both ends; and the loads they give.
 * In: labels [rows + ghosts] numbers. In/out: hop_bytes; load [hosts].  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_labels_weigh(struct lbm_node *node, const struct job *job, const uint32_t *labels,
                                      double *hop_bytes, double *load) LBM_MUST_CHECK;
/* Returns what the fullest host has beyond its bound, in parts of its target; 0: none has. In: load [hosts].
 */
double lbm_mapping_labels_excess(const struct lbm_node *node, const struct lbm_job_entry *entry,
                                 const double *load);
/* Returns hop-bytes times what the fullest host has too much; more than any of that if there are none, but
 * it has too much. In: load [hosts]. */
double lbm_mapping_labels_cost(const struct lbm_node *node, const struct lbm_job_entry *entry,
                               double hop_bytes, const double *load);

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

/* ---- diffuse.c ---- */

/* Returns a hash of the ids that numbers of hosts stand for. */
uint64_t lbm_mapping_hosts_hash(const struct lbm_node *node);

#endif
