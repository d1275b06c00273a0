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

/* What a message of sums is of, on the wire. */
enum sums_part {
    SUMS_PART_OWN = 0,   /* its sender; the others are of large clusters: */
    SUMS_PART_BELOW = 1, /* its sender and all below it in the tree */
    SUMS_PART_ALL = 2,
    SUMS_PART_NONE = 3 /* nothing: its sender is there */
};

/* Free the numbers and the sample of a row. */
void lbm_mapping_sums_free_row(struct sums_row *row);
/* Forget what one host has told in one stage. */
void lbm_mapping_sums_drop(struct diffuse *d, uint32_t host, uint32_t stage);
/* Take a row, in its place; it replaces an older one. The node fails if memory is short. */
void lbm_mapping_sums_put(struct lbm_node *node, struct diffuse *d, struct sums_row row);
/* Returns the next stamp of this host. */
uint64_t lbm_mapping_sums_number(const struct lbm_node *node, struct diffuse *d);
/* Send a row. In: row: its stage, stamp, numbers and sample; part: what it is of. */
void lbm_mapping_sums_send(struct lbm_node *node, const struct job *job, uint32_t to,
                           const struct sums_row *row, enum sums_part part);
/* The row of a message. Errors: LBM_E_NOMEM. *out owned by the caller. */
enum lbm_err lbm_mapping_sums_copy(const Lbm__Peer *message, struct sums_row *out) LBM_MUST_CHECK;
/* Add a row of samples in m dimensions to a sum. Errors: LBM_E_NOMEM; *sum unchanged. */
enum lbm_err lbm_mapping_sums_add(struct sums_row *sum, const struct sums_row *row,
                                  unsigned m) LBM_MUST_CHECK;

/* ---- sums_tree.c ---- */

/* Returns nonzero if the cluster is large, and sums go along a tree. */
int lbm_mapping_tree_is_large(const struct lbm_node *node);
/* What this host adds to the present stage has been put: tell it once all below have told. */
void lbm_mapping_tree_tell(struct lbm_node *node, struct job *job);
/* What this host has told in the present stage is void. */
void lbm_mapping_tree_withdraw(struct lbm_node *node, struct job *job);
/* Tell hosts above and below again what they may have missed. */
void lbm_mapping_tree_timer(struct lbm_node *node, struct job *job);
/* Returns whether the total of this host's stage is there. */
enum sums_state lbm_mapping_tree_state(const struct job *job);
/* Sums, of a part of the tree: what others have told, or what came of it. */
void lbm_mapping_tree_on_sums(struct lbm_node *node, struct job *job, const Lbm__Peer *message);

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
/* In a large cluster the first host works out what rotations cost, for all. In/out: sum. Errors: LBM_E_NOMEM.
 */
enum lbm_err lbm_mapping_regions_total(struct lbm_node *node, const struct job *job,
                                       const struct lbm_job_entry *entry,
                                       struct sums_row *sum) LBM_MUST_CHECK;
/* Renormalize coordinates themselves, with the map that all have, before they diffuse on. */
void lbm_mapping_regions_renormalize(struct job *job);

/* Returns how many rotations are drawn. */
int lbm_mapping_regions_count(const struct job *job);
/* Returns the normalization, turned by that many steps of a right angle in the plane. */
struct lbm_affine lbm_mapping_regions_normalization(const struct lbm_affine *whitened, int rotation);
/* Returns how many numbers the moments of places are in m dimensions. */
unsigned lbm_mapping_regions_sum_count(unsigned m);
/* Returns moments from these numbers. */
struct lbm_moments lbm_mapping_regions_sum(const double *value, unsigned m);
/* What is due to each host. Out: due [hosts]. */
void lbm_mapping_regions_due(const struct lbm_node *node, const struct lbm_job_entry *entry, double *due);

/* ---- region_cuts.c ---- */

/* The first host cuts the sample of all in each rotation: where it does goes to all instead of the sample,
 * behind the moments; nothing does if there is nothing to cut. In/out: sum. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_cuts_total(struct lbm_node *node, const struct job *job,
                                    const struct lbm_job_entry *entry, struct sums_row *sum) LBM_MUST_CHECK;
/* Take the cuts of each rotation from the total. The node fails if memory is short. */
void lbm_mapping_cuts_draw(struct lbm_node *node, struct job *job);

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
/* In a large cluster the first host works out the costs, for all. In/out: sum. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_choice_total(struct lbm_node *node, const struct lbm_job_entry *entry,
                                      struct sums_row *sum) LBM_MUST_CHECK;
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

/* ---- label_loads.c ---- */

/* What labels cost, as far as this host's edges go: each edge counts at both ends; and the loads they give.
 * In: labels [rows + ghosts] numbers. In/out: hop_bytes; load [hosts].  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_labels_weigh(struct lbm_node *node, const struct job *job, const uint32_t *labels,
                                      double *hop_bytes, double *load) LBM_MUST_CHECK;
/* Returns what the fullest host has beyond its bound, in parts of its target; 0: none has. In: load [hosts].
 */
double lbm_mapping_labels_excess(const struct lbm_node *node, const struct lbm_job_entry *entry,
                                 const double *load);
/* Returns what all hosts have beyond their bounds, each in parts of its target, added up. In: load [hosts].
 */
double lbm_mapping_labels_over(const struct lbm_node *node, const struct lbm_job_entry *entry,
                               const double *load);
/* Returns hop-bytes times what the fullest host has too much; more than any of that if there are none, but
 * it has too much. In: load [hosts]. */
double lbm_mapping_labels_cost(const struct lbm_node *node, const struct lbm_job_entry *entry,
                               double hop_bytes, const double *load);

/* What a message of labels tells a host: labels of rows of the patch. */
struct label_batch {
    uint32_t host, last_row;
    LBM_VEC(uint32_t) vertex, label;
};
typedef LBM_VEC(struct label_batch) label_batches;

/* What hosts may have. Out: limit [n]. */
void lbm_mapping_loads_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t n,
                             double *limit);
/* Add up what others have by label, as far as it is known. */
void lbm_mapping_loads_add_up(const struct lbm_node *node, struct labels *l);
/* In a large cluster: nothing is known yet of what others have. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_loads_begin(const struct lbm_node *node, struct job *job,
                                     const struct lbm_job_entry *entry) LBM_MUST_CHECK;
/* In a large cluster: have a batch for each host that is to be asked, or answered, or all. Errors:
 * LBM_E_NOMEM. */
enum lbm_err lbm_mapping_loads_due(const struct lbm_node *node, struct labels *l, int all,
                                   label_batches *batches) LBM_MUST_CHECK;
/* In a large cluster: fill what a message to that host tells of work that goes to it, or to this host.
 * In/out: labels: its host [1]; work [1]. */
void lbm_mapping_loads_tell(const struct lbm_node *node, struct labels *l, uint32_t to, uint64_t *work,
                            Lbm__Labels *labels);
/* In a large cluster: take what the host of number src tells of that. */
void lbm_mapping_loads_heard(const struct lbm_node *node, struct labels *l, uint32_t src,
                             const Lbm__Labels *labels);

/* ---- label_flow.c ---- */

/* In a large cluster: what has to flow over links so that loads are even, from the total of what all have
 * told: 1 + load of each, by number. Kept until labels end. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_flow_find(struct lbm_node *node, struct job *job,
                                   const struct lbm_job_entry *entry) LBM_MUST_CHECK;
/* Free what it has. Afterwards n is 0. */
void lbm_mapping_flow_free(struct label_flow *flow);
/* Label vertices next to hosts that something flows to, as much as flows; those that go on from there before
 * all is even get the label of the host where they come to rest. In/out: label [rows + ghosts].
 * Errors: LBM_E_NOMEM. */
enum lbm_err lbm_mapping_flow_label(struct lbm_node *node, const struct job *job,
                                    uint32_t *label) LBM_MUST_CHECK;

/* ---- labels.c ---- */

/* Anneal labels. In: temperature: to begin with. Returns nonzero once the last have been told. */
int lbm_mapping_labels_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                            double temperature);
/* Returns the batch for a host, made if there is none; NULL: memory is short. */
struct label_batch *lbm_mapping_labels_batch(label_batches *batches, uint32_t host);
/* In a large cluster: tell those that have work for this host what others have, if they have yet to hear. */
void lbm_mapping_labels_answer(struct lbm_node *node, struct job *job);
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
