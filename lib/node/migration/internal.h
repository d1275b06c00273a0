/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_MIGRATION_INTERNAL_H
#define LBM_NODE_MIGRATION_INTERNAL_H

#include "node/core/core.h"

/* ---- completion.c ---- */

/* Who answers for the source of a record now; LBM_NONE: nobody does, it has finished (*known), or nobody can
 * yet (!*known). */
uint32_t lbm_migration_completion_source(const struct lbm_node *node, const struct lbm_vertex *vertex,
                                         int *known);
/* Nonzero if FIN for an offer of that epoch may be said: it will not be made again. */
int lbm_migration_is_finished(const struct lbm_node *node, const struct job *job, uint32_t vertex,
                              uint64_t epoch);

/* ---- due.c ---- */

/* Remember that a host is to be told something of a vertex at the end of this step. */
void lbm_migration_due(struct lbm_node *node, enum due_kind kind, const struct job *job, uint32_t to,
                       const struct lbm_vertex *vertex, uint64_t epoch);

/* ---- offer_take.c ---- */

/* Take the rows of an offer that are marked in is_free [n_vertex]; the message as it came. */
void lbm_migration_offer_take(struct lbm_node *node, const Lbm__Peer *message, const uint8_t *is_free);

/* ---- offer_check.c ---- */

/* Nonzero if others are asked about the vertices of an offer before they are taken. Not in a large cluster,
 * nor where a host speaks an older protocol. */
int lbm_migration_offer_is_checked(const struct lbm_node *node, const Lbm__Peer *offer);
/* Nonzero if row i of an offer is one that has come before, and waits for what others say. */
int lbm_migration_offer_waits(const struct lbm_node *node, const Lbm__Peer *offer, size_t i);
/* A vertex was taken, or refused: other offers of it that wait are void, since this one could be over before
 * they count. */
void lbm_migration_offer_is_taken(struct lbm_node *node, uint64_t job, uint32_t vertex);
/* Ask about the rows marked in rows [n_vertex], which are to be taken; the offer is copied. */
void lbm_migration_offer_check(struct lbm_node *node, const Lbm__Peer *offer, const uint8_t *rows);

/* ---- offer_claims.c ---- */

/* Nonzero if, by the view of this host, that host keeps a full copy of an incarnation of another (of), or is
 * to take it over. */
int lbm_migration_has_copy(const struct lbm_node *node, uint32_t host, uint32_t of, uint64_t incarnation);
/* Which of the vertices asked about that incarnation of a host (of) owns or offers, by what this host has:
 * its own records, or the copy. Out: vertex. Returns how many, or SIZE_MAX: it cannot say. */
size_t lbm_migration_claims(const struct lbm_node *node, uint32_t of, uint64_t incarnation,
                            const Lbm__OfferCheck *asked, uint32_t vertex[LBM_BATCH_VERTICES_MAX]);

/* ---- history.c ---- */

/* An OWN vertex is to go; if its application must let go first, move_to is set. */
void lbm_migration_move_decided(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex,
                                uint32_t to, const struct why *why);
/* Note that the move of a vertex to another host has begun: its record is OUT. */
void lbm_migration_move_leaves(struct lbm_node *node, const struct job *job, const struct lbm_vertex *vertex);
/* It is offered. Returns why it goes, to tell the taker. */
struct why lbm_migration_move_sent(struct lbm_node *node, const struct job *job,
                                   const struct lbm_vertex *vertex);
/* Row i of an offer was accepted: the taker tells of the move when the giver cannot. Returns its reason. */
enum lbm_move_reason lbm_migration_move_came(struct lbm_node *node, const struct job *job,
                                             const struct lbm_vertex *vertex, const Lbm__Offer *offer,
                                             size_t i);
/* Called before the record leaves OUT. to: whoever answered. */
void lbm_migration_move_ends(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex,
                             uint32_t to, enum lbm_move_state state);
/* Returns why a vertex goes whose target is another host. */
struct why lbm_migration_move_reason(struct lbm_node *node, const struct job *job,
                                     const struct lbm_vertex *vertex, uint32_t to);
/* Returns the bytes that the record of a vertex takes in an offer. */
size_t lbm_migration_move_bytes(const struct lbm_vertex *vertex, unsigned m);

/* ---- queue.c ---- */

/* A vertex that was OUT to that host is not any more. */
void lbm_migration_queue_answered(struct job *job,
                                  const struct lbm_vertex *vertex); /* OUT, to vertex->peer */

/* ---- scheduler.c ---- */

/* Returns the number of vertices of a job that may be in flight to one host. */
uint32_t lbm_migration_transfer_window(const struct lbm_node *node, const struct job *job);

/* ---- throttle.c ---- */

/* A vertex came by an exchange; nonzero: it is to stay for the time being. */
void lbm_migration_throttle_came(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex);
/* Charge a move to the job's budget of bytes. */
void lbm_migration_throttle_charge(const struct lbm_node *node, struct job *job,
                                   const struct lbm_vertex *vertex);

#endif
