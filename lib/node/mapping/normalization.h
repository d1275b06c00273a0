/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The normalization of a job, from raw coordinates to Omega, and the weights of its regions; how its
 * coordinator comes by both while a guest without anchors diffuses is normalization.c.
 */
#ifndef LBM_NODE_MAPPING_NORMALIZATION_H
#define LBM_NODE_MAPPING_NORMALIZATION_H

#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct lbm_node;
struct lbm_job_entry;
struct job;

/* Power weights of regions [hosts of the view], squared length units of Omega, by the numbers of hosts; the
 * caller frees. NULL: memory, and the node has failed. */
double *lbm_mapping_normalization_weights(struct lbm_node *node, const struct job *job);

/* These are the regions from now on. In: host [n] ids, weight [n]. The node fails if memory is short. */
void lbm_mapping_normalization_set_regions(struct lbm_node *node, struct job *job, size_t n,
                                           const uint32_t *host, const double *weight);

/* The job has another normalization, newer than all that were heard of. Coordinator only. */
void lbm_mapping_normalization_is_new(struct job *job);
void lbm_mapping_normalization_send(struct lbm_node *node, struct job *job,
                                    uint32_t host); /* to one that lags */
/* Send the affine map of this round to all members. */
void lbm_mapping_normalization_send_all(struct lbm_node *node, struct job *job);

/* Nonzero if the coordinator has made a normalization of what it was last told, or if that is not so any
 * more. */
int lbm_mapping_normalization_wants_stats(const struct lbm_node *node, const struct job *job,
                                          const struct lbm_job_entry *entry);
/* To the coordinator: what renormalization wants to know of this host's vertices (HEI97 section 5). The patch
 * is valid. */
void lbm_mapping_normalization_tell(struct lbm_node *node, struct job *job,
                                    const struct lbm_job_entry *entry);
void lbm_mapping_normalization_free(struct job *job); /* what was told, and heard of others */
/* Stats: moments of the coordinates of a host, for the coordinator. */
void lbm_mapping_on_stats(struct lbm_node *node, const Lbm__Peer *message);
/* Normalization: the affine map and the region weights of a round, from the coordinator. */
void lbm_mapping_on_normalization(struct lbm_node *node, const Lbm__Peer *message);

#endif
