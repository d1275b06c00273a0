/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every change of a vertex record goes through this room: it keeps rank (epoch, stage), gives the change its
 * place in the replication log, and stores it. Pointers to vertices stay valid except over lbm_records_put.
 */
#ifndef LBM_NODE_RECORDS_RECORDS_H
#define LBM_NODE_RECORDS_RECORDS_H

#include "node/core/core.h"

/* ---- records.c ---- */

/* Effect: store the record of a vertex and send it to the backup. On shortage of memory: lbm_core_fail. */
void lbm_records_persist_vertex(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);
/* Every change of a record goes through these: they keep rank, give the change its place in the replication
 * log, and store it. Pointers to vertices stay valid except over record_put. */

/* A record from elsewhere: stage and epoch become those of the transition, counted from row->epoch. Takes
 * what row owns. NULL: memory is short. */
struct lbm_vertex *lbm_records_put(struct lbm_node *node, struct job *job, struct lbm_row *row,
                                   enum lbm_transition transition);
/* The record itself goes on; the epoch is counted from its own. */
void lbm_records_stage(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex,
                       enum lbm_transition transition, uint32_t peer, uint64_t peer_incarnation);
/* The payload has changed; takes it. is_blob: it describes one, which is here. */
void lbm_records_payload(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint8_t *payload,
                         uint32_t len, int is_blob);
/* What the vertex costs has changed. */
void lbm_records_work(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t work);
/* Its neighbours have changed. */
void lbm_records_content(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* What others have yet to hear of its edges has. */
void lbm_records_news(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* Its application removes it; the change is stored by record_together. */
void lbm_records_removed(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* A change of several records that nobody may have in part: each has been changed as it shall be stored. */
void lbm_records_change_together(struct lbm_node *node, struct job *job, const uint32_t *slots, size_t n);
/* Nonzero if a vertex is part of a change that the backup may not have yet: nothing else may change it. */
int lbm_records_is_undecided(const struct lbm_node *node, const struct lbm_vertex *vertex);
/* Drop a record whose handoff is complete, here and at the backup. */
void lbm_records_forget(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
/* A whole job is void here. */
void lbm_records_drop_job(struct lbm_node *node, uint64_t job);
/* The backup has this record exactly as it is (protocol.md section 6), or there is no backup. */
int lbm_records_is_acked(const struct lbm_node *node, const struct lbm_vertex *vertex);
/* The same, or it had until its work changed: it may begin to move. */
int lbm_records_is_acked_but_for_work(const struct lbm_node *node, const struct lbm_vertex *vertex);
/* After a record was put in the shard otherwise (recovery, a guest): into the lists it belongs to. */
void lbm_records_list(struct lbm_node *node, struct job *job, uint32_t slot);
struct lbm_vertex *lbm_records_of(const struct job *job, uint32_t id); /* NULL: none, or stage NONE */
uint32_t lbm_records_moved_to(const struct lbm_node *node,
                              const struct lbm_vertex *vertex); /* LBM_NONE: nowhere known */
/* Returns the number of tombstones beyond those that may stay for long. */
size_t lbm_records_excess(const struct job *job);
/* Time, us, that a tombstone stays, the oldest first. */
int64_t lbm_records_completion_timeout_us(const struct lbm_node *node, const struct job *job);

/* ---- copies of others ---- */

/* Nonzero if this host keeps a copy of that incarnation of a host. */
int lbm_records_has_copy(const struct lbm_node *node, uint32_t owner, uint64_t incarnation);
/* Nonzero if that incarnation owns or offers the vertex, by the copy that this host keeps of it. */
int lbm_records_copy_owns(const struct lbm_node *node, uint32_t owner, uint64_t incarnation, uint64_t job,
                          uint32_t vertex);

#endif
