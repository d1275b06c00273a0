/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coordinates diffuse, normalization keeps them in Omega, ghosts tell neighbours, coarse plans place a guest.
 */
#ifndef LBM_NODE_MAPPING_MAPPING_H
#define LBM_NODE_MAPPING_MAPPING_H

#include "node/core/core.h"
#include "node/mapping/normalization.h"

/* ---- coarse_plan.c ---- */

/* MAPPING, once all are ready: nonzero while a plan of the coarse graph is to be waited for. */
int lbm_mapping_coarse_waits(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
/* A plan of the coarse graph is made, or failed with `err`. Takes the plan; all hosts are told. */
void lbm_mapping_coarse_planned(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                                enum lbm_err err, struct lbm_plan *plan);
/* CoarseAsk: the coordinator asks for this host's slice of the coarse graph. */
void lbm_mapping_on_coarse_ask(struct lbm_node *node, const Lbm__Peer *message);
/* CoarseChunk: a chunk of a host's slice of the coarse graph. */
void lbm_mapping_on_coarse_slice(struct lbm_node *node, const Lbm__Peer *message);
/* CoarsePlan: to which host each cluster of this host goes. */
void lbm_mapping_on_coarse_plan(struct lbm_node *node, const Lbm__Peer *message);

/* ---- coarse_remap.c ---- */

/* Of a job that runs and had settled. */
void lbm_mapping_remap_look(struct lbm_node *node, struct job *job); /* are loads uneven by much? */
/* Nonzero while rounds leave balance to a plan that may come. */
int lbm_mapping_remap_holds(const struct lbm_node *node, const struct job *job);
/* Looks first. Nonzero if a round that would be held now moves nothing: the plan is to know where vertices
 * are, and boundaries are looked at once it is followed. */
int lbm_mapping_remap_withholds(struct lbm_node *node, struct job *job);
/* Time, us, at which lbm_mapping_remap_timer has something to do; INT64_MAX: none. */
int64_t lbm_mapping_remap_deadline(const struct job *job);
/* The coordinator of a settled job: ask for the coarse graph again where loads have become uneven, and follow
 * its plan. */
void lbm_mapping_remap_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);
void lbm_mapping_remap_came(struct lbm_node *node, struct job *job,
                            const struct lbm_vertex *vertex); /* by a plan */

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
