/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this host has and may do, by its own state alone: jobs by id, loads and limits, whether it is alive,
 * alone, holds a lease; numbers from others that are out of reach; marks that a later step acts on. */
#ifndef LBM_NODE_LOCAL_LOCAL_H
#define LBM_NODE_LOCAL_LOCAL_H

#include "node/core/core.h"

/* ---- job_table.c ---- */

/* Returns the job with that id, or NULL. */
struct job *lbm_local_job(const struct lbm_node *node, uint64_t id);
/* Free the guest graph of a job that is being planned. */
void lbm_local_free_guest(struct job *job);
struct load_report *lbm_local_report_of(struct job *job,
                                        uint32_t host); /* creates; NULL if memory is short */
/* The last load report of a host, or NULL. */
const struct load_report *lbm_local_report_known(const struct job *job, uint32_t host);
/* Nonzero if the host gets no vertices of the job, since no program works on them there. */
int lbm_local_is_withdrawn(const struct job *job, uint32_t host);
/* Returns the capacity of a host for a job (NULL: for any); 0 if it gets no vertices.
 * Out: *all that of all hosts */
double lbm_local_capacity(const struct lbm_node *node, const struct job *job, uint32_t host, double *all);
/* Returns the target load T_p of a host, work units: its share of the whole by capacity. */
double lbm_local_target(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);
/* Returns the limit of the load of a host, work units. Equal vertices: the bound in whole vertices, at least
 * the target rounded up. Else the bound, at least the target and a vertex of mean weight. */
uint64_t lbm_local_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host);
/* The work of the whole job: as submitted, or as the hosts' loads add up once loads are reported. */
uint64_t lbm_local_load_whole(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* The same of the number of vertices. */
uint32_t lbm_local_load_count(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* The work of a usual vertex, at least 1. */
double lbm_local_load_mean(const struct lbm_node *node, const struct lbm_job_entry *entry);
/* An OWN vertex may have a target that it had not, or has it again; or one that was to go stays. */
void lbm_local_queue_changed(struct job *job);
/* The row nearest to the partner's site, for hosts that share no boundary. */
uint32_t lbm_local_nearest_row(const struct lbm_node *node, const struct job *job, uint32_t partner);
/* Position of a vertex in Omega. In: raw [m]. Out: x [m] */
void lbm_local_place(const struct job *job, const double *raw, double *x);
/* Changed edges are told at the end of this step. */
void lbm_local_edges_soon(struct lbm_node *node, struct job *job);
/* Returns the work units that this host owes all neighbours together; negative: is to get. */
int64_t lbm_local_netting_sum(const struct rounds *s);
/* Ghosts are to be sent at the end of this step, to some or to all neighbours. */
void lbm_local_ghosts_due(struct job *job, enum ghosts_due what);
/* Returns the work units owned, less what leaves as soon as the application lets go, and as if all that is
 * outstanding had moved. */
uint64_t lbm_local_load(const struct job *job);
/* Nonzero if ownership follows regions while coordinates diffuse. */
static inline int
lbm_local_follows_regions(const struct lbm_job_entry *entry)
{
    return entry->start == LBM_START_CENTRE || entry->start == LBM_START_RANDOM;
}

/* ---- reach.c ---- */

/* What another host says is refused: an operator is told why, once in ten seconds, whoever says what. */
void lbm_local_refused(struct lbm_node *node, const char *fmt, ...) LBM_PRINTF(2, 3);
/* reach.c: nonzero unless what another host says is more than `step` above what is known here; then an
 * operator is told, and it must not be taken. */
int lbm_local_within_reach(struct lbm_node *node, uint32_t from, const char *what, uint64_t value,
                           uint64_t known, uint64_t step);
/* The same of an epoch of that job. */
static inline int
lbm_local_is_epoch_within_reach(struct lbm_node *node, uint32_t from, const struct job *job, uint64_t epoch)
{
    return lbm_local_within_reach(node, from, "epoch", epoch, job->shard.epoch_top, LBM_EPOCH_STEP);
}

/* ---- self.c ---- */

/* Returns the number of changes that the backup has not confirmed. */
uint64_t lbm_local_replication_lag(const struct lbm_node *node);
/* Nonzero if no host can take over from this one: it needs neither copy nor lease. A host that has not heard
 * the end of the log is not alone. */
int lbm_local_is_alone(const struct lbm_node *node);
/* Nonzero if this host knows of a backup. */
int lbm_local_has_backup(const struct lbm_node *node);
/* Nonzero if a backup has said where its copy stands, since the connection stands. */
int lbm_local_is_known(const struct lbm_node *node);
/* Nonzero if vertices may be given to an application: the lease holds for REVOKE_US at least. */
int lbm_local_lease_holds(const struct lbm_node *node);
/* Nonzero if what an application got in that term of the page (0: it does not say) is what it has now. What
 * it got in an earlier one is lost already, and may have been given again with the same token: what it says
 * of it says nothing of now. */
int lbm_local_lease_is_of(const struct lbm_node *node, uint64_t term);
/* Nonzero if this host has merged everything it inherits. */
int lbm_local_takeovers_done(const struct lbm_node *node);
/* Nonzero if some of what this host has yet to merge is of that job. */
int lbm_local_awaits_records(const struct lbm_node *node, uint64_t job);
/* Nonzero while this incarnation of this host may act: it is not evicted, has not left, and its disk is the
 * one its backup knows. */
int lbm_local_is_alive(const struct lbm_node *node);
/* Nonzero if the job is in a cut: no vertex begins to move, and payloads stay as they are. */
int lbm_local_is_held(const struct lbm_node *node, const struct job *job);
/* The job that the connection serves, or NULL. */
struct job *lbm_local_application_job(const struct lbm_node *node, uint64_t client);
/* Nonzero if this host is the successor of the departed one and has yet to merge what it left. */
int lbm_local_inherits(const struct lbm_node *node, const struct lbm_departed *gone);
/* Nonzero if the records of that incarnation are merged into this host's own. */
int lbm_local_has_merged(const struct lbm_node *node, uint32_t host, uint64_t incarnation);
/* The application of that connection, or NULL. */
struct application *lbm_local_application(const struct lbm_node *node, uint64_t client);

#endif
