/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replication log from a host to its backup, leases from it, replicas held for others, takeover of a host
 * that was evicted. */
#ifndef LBM_NODE_REPLICATION_REPLICATION_H
#define LBM_NODE_REPLICATION_REPLICATION_H

#include "node/core/core.h"

/* ---- replica_store.c ---- */

void lbm_replication_replicas_start(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_replication_replicas_free(struct lbm_node *node);
void lbm_replication_replicas_view_changed(struct lbm_node *node);
/* What still arrives of the job is void. Returns nonzero if anything is held of it. */
int lbm_replication_replicas_job_deleted(struct lbm_node *node, uint64_t job);
void lbm_replication_on_lease_req(struct lbm_node *node, const Lbm__Peer *message);
void lbm_replication_on_repl(struct lbm_node *node, const Lbm__Peer *message);

/* ---- stream.c ---- */

void lbm_replication_start(struct lbm_node *node, const struct lbm_recovered *recovered);
void lbm_replication_push(struct lbm_node *node, uint64_t seq, uint64_t job, uint32_t vertex);
void lbm_replication_covered(struct lbm_node *node,
                             struct lbm_vertex *vertex); /* it is not waited for any more */
void lbm_replication_job_gone(struct lbm_node *node, struct job *job);
void lbm_replication_view_changed(struct lbm_node *node);
void lbm_replication_connected(struct lbm_node *node, uint32_t host);
void lbm_replication_timer(struct lbm_node *node);
int64_t lbm_replication_deadline(const struct lbm_node *node);
int64_t lbm_replication_lease_end(const struct lbm_node *node); /* after it no application works any more */
void lbm_replication_lease_tell(struct lbm_node *node);
void lbm_replication_on_lease(struct lbm_node *node, const Lbm__Peer *message);
void lbm_replication_on_repl_ack(struct lbm_node *node, const Lbm__Peer *message);

/* ---- takeover.c ---- */

/* A host that left begins anew, empty. Nonzero if it does. */
int lbm_replication_rejoin(struct lbm_node *node);
void lbm_replication_takeover_timer(struct lbm_node *node);
int64_t lbm_replication_takeover_deadline(const struct lbm_node *node);
void lbm_replication_takeover_persisted(struct lbm_node *node);

#endif
