/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replication log from a host to its backup, leases from it, replicas held for others, takeover of a host
 * that was evicted. */
#ifndef LBM_NODE_REPLICATION_REPLICATION_H
#define LBM_NODE_REPLICATION_REPLICATION_H

#include "node/core/core.h"

/* ---- replica_store.c ---- */

/* Rebuild replicas from the database. Takes the rows. */
void lbm_replication_replicas_start(struct lbm_node *node, struct lbm_recovered *recovered);
/* Free all replicas. */
void lbm_replication_replicas_free(struct lbm_node *node);
/* The log went on: drop replicas of hosts whose backup this is no more. */
void lbm_replication_replicas_view_changed(struct lbm_node *node);
/* What still arrives of the job is void. Returns nonzero if anything is held of it. */
int lbm_replication_replicas_job_deleted(struct lbm_node *node, uint64_t job);
/* LeaseReq: a primary asks for its lease. Answered with Lease (protocol.md section 5). */
void lbm_replication_on_lease_req(struct lbm_node *node, const Lbm__Peer *message);
/* Repl: records of a primary. Answered with ReplAck once they are durable. */
void lbm_replication_on_repl(struct lbm_node *node, const Lbm__Peer *message);

/* ---- replication_log.c ---- */

/* Begin the replication log where the database ends; applications of the daemon before are fenced by its
 * lease. */
void lbm_replication_start(struct lbm_node *node, const struct lbm_recovered *recovered);
/* Append a changed record to the replication log. In: seq, its number; vertex, which one. */
void lbm_replication_push(struct lbm_node *node, uint64_t seq, uint64_t job, uint32_t vertex);
void lbm_replication_covered(struct lbm_node *node,
                             struct lbm_vertex *vertex); /* it is not waited for any more */
/* A job is deleted: nothing of it waits for the backup any more. */
void lbm_replication_job_gone(struct lbm_node *node, struct job *job);
/* The log went on. A new backup has nothing yet, and its confirmations alone count from now on. */
void lbm_replication_view_changed(struct lbm_node *node);
/* A connection to a host came up: if it is the backup, ask for what it has and for a lease. */
void lbm_replication_connected(struct lbm_node *node, uint32_t host);
/* Send what the backup lacks, ask for leases, end the fence. */
void lbm_replication_timer(struct lbm_node *node);
/* Time, us, at which lbm_replication_timer has something to do; INT64_MAX: none. */
int64_t lbm_replication_deadline(const struct lbm_node *node);
/* Time, us, after which no application works on a vertex of this host any more; INT64_MAX: it may for ever.
 */
int64_t lbm_replication_lease_end(const struct lbm_node *node);
/* Effect: write the lease page that applications read. While an application of the daemon before may run, it
 * stays. */
void lbm_replication_lease_tell(struct lbm_node *node);
/* Lease: the backup extends the lease, and names jobs that no log entry has. */
void lbm_replication_on_lease(struct lbm_node *node, const Lbm__Peer *message);
/* BlobHave: if it is the backup, and waited for that, it gets the changes once more. */
void lbm_replication_on_blob_have(struct lbm_node *node, const Lbm__Peer *message);
/* ReplAck: the backup has records up to a number durably. */
void lbm_replication_on_repl_ack(struct lbm_node *node, const Lbm__Peer *message);

/* ---- takeover.c ---- */

/* A host that left begins again, empty. Nonzero if it does. */
int lbm_replication_rejoin(struct lbm_node *node);
/* Its copy of the log is not the cluster's, and by that nobody waits for what this incarnation has: all of it
 * is archived, and the next incarnation begins with nothing, not even a log. */
void lbm_replication_begin_again(struct lbm_node *node);
/* Take over from hosts whose successor this is once their leases are over; begin again where this host was
 * evicted (protocol.md section 8).
 *
 * All but one thing waits until the end of the log is known. A host whose copy of the log has a later
 * incarnation of it gives up its disk at once: others count no answer of the earlier one, and a promotion
 * that ends that wait may wait for this very host. A disk that still counts is never lost by it. A later
 * incarnation proposes its own Join (propose_right.c), and only after its number is durable, so whichever
 * copy of the log has that entry, the disk is from before. Nor would the view take such an entry, whoever
 * wrote it, while the earlier incarnation takes part, or is evicted and not taken over. The disk is archived,
 * not erased. */
void lbm_replication_takeover_timer(struct lbm_node *node);
/* Time, us, at which lbm_replication_takeover_timer has something to do; INT64_MAX: none, until an event.
 * What an event makes due, the timer does in the step of that event. */
int64_t lbm_replication_takeover_deadline(const struct lbm_node *node);
/* The beginning of a new incarnation is durable: it acts from now on. */
void lbm_replication_takeover_persisted(struct lbm_node *node);

#endif
