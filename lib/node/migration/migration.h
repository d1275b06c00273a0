/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices from one host to another: handoff (OFFER, ANSWER, FIN), the queue of those that are to go,
 * throttle, scheduler of flows, history. No vertex is ever lost or owned twice (docs/protocol.md). */
#ifndef LBM_NODE_MIGRATION_MIGRATION_H
#define LBM_NODE_MIGRATION_MIGRATION_H

#include "node/core/core.h"

/* ---- completion.c ---- */

/* Ask for the end of handoffs again, and drop tombstones whose time is over. */
void lbm_migration_completion_timer(struct lbm_node *node, struct job *job);
/* Fin: the source's record is gone, or never was; this host's becomes OWN (protocol.md section 6). */
void lbm_migration_on_fin(struct lbm_node *node, const Lbm__Peer *message);

/* ---- handoff.c ---- */

/* Start handing over an OWN vertex. Nonzero if it started. */
int lbm_migration_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to,
                        const struct why *why);
/* The same for a vertex that an application has just released: its payload may be newer than the backup's. */
int lbm_migration_resume(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to);
/* Offer again what was not answered. */
void lbm_migration_timer(struct lbm_node *node, struct job *job);
/* Nonzero if a vertex is on its way to a host that may answer. */
int lbm_migration_waits(const struct lbm_node *node, const struct job *job);
/* The log went on: vertices offered to a host that departed are offered to its successor. */
void lbm_migration_view_changed(struct lbm_node *node, struct job *job);
/* The backup has got this record as it is: what was waiting for that is due. */
void lbm_migration_acked(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex);
void lbm_migration_flush(struct lbm_node *node); /* send what is due */
/* BlobHave: what was offered with that is offered again. */
void lbm_migration_on_blob_have(struct lbm_node *node, const Lbm__Peer *message);
/* Answer: the destination took or refused records. Taken: Fin follows. */
void lbm_migration_on_answer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- history.c ---- */

/* Note that a vertex came here because this host is the successor of `from`. */
void lbm_migration_move_taken_over(struct lbm_node *node, const struct job *job,
                                   const struct lbm_vertex *vertex, uint32_t from);
/* A load in parts of what is due to a host; < 0: nothing is due to it. */
double lbm_migration_move_share(const struct lbm_node *node, const struct job *job, uint32_t host,
                                uint64_t load);
/* Decrease of J by each of the rows, one after the other between a and b; part has them moved already.
 * Out: gain [n_moved] */
void lbm_migration_move_gains(const struct lbm_graph *g, const struct lbm_hosts *h, uint32_t *part,
                              uint32_t a, uint32_t b, const uint32_t *moved, uint32_t n_moved, double *gain);
/* What this host knows of the moves of a vertex, newest first. Returns how many. */
size_t lbm_migration_moves_find(const struct lbm_node *node, const struct job *job, uint32_t vertex,
                                Lbm__Move out[LBM_MOVES_TOLD_MAX]);
/* Free the history of moves. */
void lbm_migration_moves_free(struct lbm_node *node);

/* ---- offer_claims.c ---- */

/* OfferCheck: say which of these vertices this host owns or offers, or did a host whose copy it keeps.
 * Answered with OfferClaims, if it can say so. */
void lbm_migration_on_offer_check(struct lbm_node *node, const Lbm__Peer *message);

/* ---- offer_check.c ---- */

/* OfferClaims: what a host says is its own is not taken; once all have answered, or others for them, the rest
 * is. */
void lbm_migration_on_offer_claims(struct lbm_node *node, const Lbm__Peer *message);
/* Ask again who has not answered, and who keeps a copy of its records. */
void lbm_migration_offer_check_timer(struct lbm_node *node);
/* Time, us, at which that has something to do; INT64_MAX: none. */
int64_t lbm_migration_offer_check_deadline(const struct lbm_node *node);
void lbm_migration_offer_checks_free(struct lbm_node *node); /* drop the offers that wait */

/* ---- offer_take.c ---- */

/* Offer: records that another host hands over. Answered with Answer once they are durable here and at the
 * backup. */
void lbm_migration_on_offer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- pinned.c ---- */

/* Look for pinned vertices that are not on their host, with the next timer. */
void lbm_migration_pinned_look(struct lbm_node *node, struct job *job);
/* A vertex arrived: if it is pinned elsewhere, lbm_migration_pinned_look. */
void lbm_migration_pinned_came(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex);
/* Send pinned vertices to their hosts. */
void lbm_migration_pinned_timer(struct lbm_node *node, struct job *job);

/* ---- queue.c ---- */

/* Begin handoffs of vertices whose target is another host, a few batches at a time. Returns how many still
 * wait. */
uint32_t lbm_migration_queue_pump(struct lbm_node *node, struct job *job);
/* Free a queue. */
void lbm_migration_queue_free(struct migration_queue *targets);

/* ---- scheduler.c ---- */

/* Make the schedule of what has been balanced, and carry it out. */
void lbm_migration_transfer_start(struct lbm_node *node, struct job *job);
/* Nonzero once all is over. */
int lbm_migration_transfer_timer(struct lbm_node *node, struct job *job);
/* Drop the schedule of a job; handoffs in flight run to their end. */
void lbm_migration_transfer_stop(struct job *job);
/* Transfer: a neighbour has sent what the schedule says, or waits for this host's. */
void lbm_migration_on_transfer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- throttle.c ---- */

void lbm_migration_throttle_changed(struct lbm_node *node, const Lbm__JobSet *set); /* by the log */
/* Nonzero if a vertex arrived less than the job's cool-down ago. */
int lbm_migration_throttle_cools(const struct lbm_node *node, struct job *job,
                                 const struct lbm_vertex *vertex);
/* Edges have changed, so other moves may pay: a settled job sees about it soon. */
void lbm_migration_throttle_look_again(const struct lbm_node *node, struct job *job);
/* A number that changes when one that stayed may go, and with the gates. That one may has been seen to: the
 * number stays until the next may. */
uint64_t lbm_migration_throttle_cooled(const struct lbm_node *node, const struct job *job);
/* Count a cool-down that is over, so that its vertex is considered again. */
void lbm_migration_throttle_look(const struct lbm_node *node, struct job *job);
/* Returns what a move over that many links must gain to pay for itself, in bandwidth times links; 0: no such
 * throttle. */
double lbm_migration_throttle_price(const struct lbm_node *node, const struct job *job, uint32_t links);
/* That many vertices may begin to move now; UINT32_MAX: any number. */
uint32_t lbm_migration_throttle_budget(const struct lbm_node *node, struct job *job);
/* Nonzero if there was no room for some since it was asked last. */
int lbm_migration_throttle_was_exhausted(const struct lbm_node *node, struct job *job);

#endif
