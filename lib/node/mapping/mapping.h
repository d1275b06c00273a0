/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coordinates diffuse, normalization keeps them in Omega, ghosts tell neighbours.
 */
#ifndef LBM_NODE_MAPPING_MAPPING_H
#define LBM_NODE_MAPPING_MAPPING_H

#include "node/core/core.h"
#include "node/mapping/normalization.h"

/* ---- remap.c ---- */

/* Of a job that runs and had settled. */
void lbm_mapping_remap_look(struct lbm_node *node, struct job *job); /* are loads uneven by much? */
/* Nonzero while rounds leave balance to labels that may be annealed. */
int lbm_mapping_remap_holds(const struct lbm_node *node, const struct job *job);
/* Looks first. Nonzero if a round that would be held now moves nothing: labels begin where vertices are, and
 * boundaries are looked at once they are followed. */
int lbm_mapping_remap_withholds(struct lbm_node *node, struct job *job);
/* Time, us, at which lbm_mapping_remap_timer has something to do; INT64_MAX: none. */
int64_t lbm_mapping_remap_deadline(const struct lbm_node *node, const struct job *job);
/* Of a job that runs: anneal labels where loads have become uneven, and follow them. */
void lbm_mapping_remap_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* A vertex has come by labels. */
void lbm_mapping_remap_came(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);

/* ---- diffuse.c, sums.c, waves.c ---- */

/* Continue MAPPING without a coordinator: the next piece of the present stage. */
void lbm_mapping_diffuse_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* What was asked for is halved, or failed with `err`. In: plan: part alone counts; borrowed, NULL on failure.
 */
void lbm_mapping_diffuse_halved(struct lbm_node *node, struct job *job, enum lbm_err err,
                                const struct lbm_plan *plan);
void lbm_mapping_diffuse_free(struct job *job); /* all that the diffusion remembers */
/* Sums: what a host adds to the sum of a stage. */
void lbm_mapping_on_sums(struct lbm_node *node, const Lbm__Peer *message);
/* Labels: where a neighbour's boundary is to go, and how much work a host has for whom. */
void lbm_mapping_on_labels(struct lbm_node *node, const Lbm__Peer *message);
/* Waves: distances of a neighbour's boundary to the pivots. */
void lbm_mapping_on_waves(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ghosts.c ---- */

/* Send neighbours the positions of vertices on the boundary, when they are due. */
void lbm_mapping_ghosts_timer(struct lbm_node *node, struct job *job);
/* Time, us, at which lbm_mapping_ghosts_timer has something to do; INT64_MAX: none. */
int64_t lbm_mapping_ghosts_deadline(const struct job *job);
/* Ghosts: positions and owners of a neighbour's vertices. Answered with Moved for those that are elsewhere.
 */
void lbm_mapping_on_ghosts(struct lbm_node *node, const Lbm__Peer *message);
/* Moved: vertices that the sender no longer owns, and their new owners. */
void lbm_mapping_on_moved(struct lbm_node *node, const Lbm__Peer *message);
/* Where: a host that lost sight of vertices asks for their owners. Answered with Moved. */
void lbm_mapping_on_where(struct lbm_node *node, const Lbm__Peer *message);
/* Ask all hosts who owns these, but seldom. */
void lbm_mapping_ghosts_ask(struct lbm_node *node, struct job *job, size_t n, uint32_t *vertex);
/* Send Moved to a host. In: vertex, epoch, host [n]. */
void lbm_mapping_ghosts_tell_moved(struct lbm_node *node, uint64_t job, uint32_t to, size_t n,
                                   uint32_t *vertex, uint64_t *epoch, uint32_t *host);

/* ---- mapping.c ---- */

/* Continue MAPPING: a sweep of diffusion, renormalization, regions, readiness (HEI97 sections 5 to 7). */
void lbm_mapping_timer(struct lbm_node *node, struct job *job);

#endif
