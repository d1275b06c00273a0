/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What applications on this host may work on, and what they change: vertices given and released, edges, ids.
 */
#ifndef LBM_NODE_APPLICATION_APPLICATION_H
#define LBM_NODE_APPLICATION_APPLICATION_H

#include "node/core/core.h"

/* ---- application.c ---- */

/* Answer AttachRequest: the connection serves a job from now on. Errors in the answer: LBM_E_NOTFOUND,
 * LBM_E_STATE. */
void lbm_application_attach(struct lbm_node *node, uint64_t client, uint64_t request,
                            const Lbm__AttachRequest *attach);
/* Answer ReleasedRequest: the application has let go of vertices, with their last payloads. Errors in the
 * answer: LBM_E_STATE, LBM_E_RANGE. */
void lbm_application_released(struct lbm_node *node, uint64_t client, uint64_t request,
                              const Lbm__ReleasedRequest *released);
/* Answer BlobPut: the next piece of a large payload, once it is durable. Errors in the answer: LBM_E_STATE no
 * job is served; LBM_E_VERSION the cluster is older; LBM_E_RANGE not the next piece; LBM_E_CORRUPT other
 * bytes. */
void lbm_application_blob_put(struct lbm_node *node, uint64_t client, uint64_t request,
                              const Lbm__BlobPut *put);
/* Answer BlobRead: pieces of the large payload of a vertex, each by itself. Errors in the answer:
 * LBM_E_NOTFOUND it is not here any more; LBM_E_BUSY too much is being read, ask again; LBM_E_CORRUPT. */
void lbm_application_blob_read(struct lbm_node *node, uint64_t client, uint64_t request,
                               const Lbm__BlobRead *read);
/* Answer CheckpointRequest once the payloads are durable here and at the backup. Errors in the answer:
 * LBM_E_STATE, LBM_E_RANGE. */
void lbm_application_checkpoint(struct lbm_node *node, uint64_t client, uint64_t request,
                                const Lbm__CheckpointRequest *checkpoint);
/* The backup gets the changes after `after` up to `seq`, without those that later changes up to `last`
 * overtake: checkpoints among them wait for `last`. */
void lbm_application_changes_sent(struct lbm_node *node, uint64_t after, uint64_t seq, uint64_t last);
void lbm_application_changes_acked(struct lbm_node *node); /* the replication log has moved on */
void lbm_application_reset(struct lbm_node *node);         /* this incarnation is over */
/* The connection of an application ended: its vertices stop running once the lease is over. */
void lbm_application_gone(struct lbm_node *node, uint64_t client);
void lbm_application_has_read(struct lbm_node *node, uint64_t client); /* all that it was given */
/* A job is deleted: its application is told LBM_E_NOTFOUND. */
void lbm_application_job_deleted(struct lbm_node *node, uint64_t job);
/* Nonzero if nobody works on the vertex. If somebody does, it is asked to stop, and `to` remembered. */
int lbm_application_release(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
void lbm_application_ready(struct lbm_node *node, struct job *job); /* some vertices may be given */
void lbm_application_lease_lapsed(struct lbm_node *node);           /* the lease is over */
/* Nonzero if a vertex of any job is given to an application. */
int lbm_application_is_running(const struct lbm_node *node);
/* Nothing is given or moves until then, and what applications have is lost afterwards. */
void lbm_application_fence(struct lbm_node *node, int64_t until_us);
/* Give vertices to applications, end releases that took too long, send neighbours that changed. */
void lbm_application_timer(struct lbm_node *node);
/* Time, us, at which lbm_application_timer has something to do; INT64_MAX: none. */
int64_t lbm_application_deadline(const struct lbm_node *node);

#endif
