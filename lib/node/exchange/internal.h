/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the order of sessions (rounds.c), one meeting (pair.c), what it moves (exchange.c) and hosts that
 * have settled (settled.c) share. Nothing else includes this. */
#ifndef LBM_NODE_EXCHANGE_INTERNAL_H
#define LBM_NODE_EXCHANGE_INTERNAL_H

#include "node/core/core.h"

#define PROMISE_MAX ((uint64_t)INT64_MAX / 4) /* sums of some do not overflow; no load is as large */

/* ---- flow.c ---- */

void lbm_exchange_flow_stop(struct job *job); /* what has begun to move arrives */

/* ---- netting.c ---- */

/* What this host is to give that one; negative: to get. */
int64_t lbm_exchange_netting_owed(const struct rounds *s, uint32_t host);
/* To all but one, and not what others have promised. */
int64_t lbm_exchange_netting_given(const struct rounds *s, uint32_t but);
int lbm_exchange_netting_any(const struct rounds *s);
/* Both have agreed on another amount, which is none when it has moved or is void. */
void lbm_exchange_netting_set(struct lbm_node *node, struct rounds *s, uint32_t host, int64_t owed);
/* Nothing of it could be given, or what is due is none that could: both exchange at once until they wake. */
void lbm_exchange_netting_broken(struct lbm_node *node, struct rounds *s, uint32_t host);
/* The same, found when it was to be given; if it happens again this host promises nothing until it wakes. */
void lbm_exchange_netting_undelivered(struct lbm_node *node, struct rounds *s, uint32_t host);
void lbm_exchange_netting_begin(struct rounds *s);                        /* the host wakes */
void lbm_exchange_netting_sweep(struct lbm_node *node, struct rounds *s); /* a sweep is over */
/* Both may agree on numbers first: they meet again soon. */
int lbm_exchange_netting_possible(const struct lbm_node *node, const struct job *job, uint32_t host);
/* It has not changed for long enough that it may be given. */
int lbm_exchange_netting_due(const struct rounds *s, uint32_t host);
/* What the session is about that a neighbour opens. */
enum meeting lbm_exchange_netting_round(const struct lbm_node *node, const struct job *job,
                                        const struct early_open *open);
/* The sender's debt, from a message. */
int64_t lbm_exchange_netting_heard(uint64_t gives, uint64_t takes);

/* ---- pair.c ---- */

void lbm_exchange_pair_open(struct lbm_node *node, struct job *job);
void lbm_exchange_pair_answer(struct lbm_node *node, struct job *job, const struct early_open *open);

/* ---- policy.c ---- */

/* H of the view, its topology known by name if it has one. Borrows: not to be freed. */
struct lbm_hosts lbm_exchange_policy_hosts(const struct lbm_node *node);

/* ---- round_state.c ---- */

/* Negative, 0 or positive: where a message stands against this session's place. */
int lbm_exchange_round_compare(const struct rounds *s, uint64_t sweep, uint32_t colour);
void lbm_exchange_round_notice(struct lbm_node *node, const struct job *job, uint32_t host,
                               enum lbm_notice kind);
/* What was heard of a partner ahead of its turn; NULL: no memory, the step has failed. */
struct early_open *lbm_exchange_round_early(struct lbm_node *node, struct rounds *s, uint32_t host);
/* The way to room that does not lead through the partner. */
struct residual_hop lbm_exchange_round_residual(const struct lbm_node *node, const struct job *job,
                                                uint32_t partner);
uint32_t lbm_exchange_round_colour(struct lbm_node *node, uint32_t host);
/* Nonzero where each vertex that moves counts: moves have a price while loads are measured, and in a small
 * cluster a host that joins takes more than the slack from each other one, however much of it was left free.
 */
int lbm_exchange_spares(const struct lbm_node *node, const struct job *job);
uint64_t lbm_exchange_limit(const struct lbm_node *node, const struct job *job, uint32_t host, uint64_t load);
/* Work that this host could still take; 0: none, or it is not its turn. */
uint64_t lbm_exchange_room_here(const struct lbm_node *node, const struct job *job);
/* What was heard of a partner ahead of its turn, or NULL. */
struct early_open *lbm_exchange_early_known(const struct rounds *s, uint32_t host);

/* ---- rounds.c ---- */

void lbm_exchange_round_next(struct lbm_node *node, struct job *job);
void lbm_exchange_round_jump(struct lbm_node *node, struct job *job, uint64_t sweep, uint32_t colour);
/* A host that has settled takes part in one session: patience, what moves must gain, and what is heard of
 * room elsewhere begin with it. The place of the session is set before. */
void lbm_exchange_round_begin_visit(const struct lbm_node *node, struct rounds *s);
/* End the session under way, whatever it was to do, and go on. */
void lbm_exchange_round_give_up(struct lbm_node *node, struct job *job);
void lbm_exchange_round_finish_if_over(struct lbm_node *node, struct job *job);

/* ---- settled.c ---- */

/* Take part in the session of a neighbour; in that of the one that waits longest. */
void lbm_exchange_settled_receive(struct lbm_node *node, struct job *job, struct early_open *visitor);
void lbm_exchange_settled_receive_next(struct lbm_node *node, struct job *job);
/* How load and limit compare now: what lbm_exchange_settled_timer compares with. */
void lbm_exchange_settled_weigh(const struct lbm_node *node, struct job *job);
/* A host is passed over since it takes no part; it was met. */
void lbm_exchange_settled_missed(struct lbm_node *node, struct rounds *s, uint32_t host);
void lbm_exchange_settled_met(struct rounds *s, uint32_t host);
/* If something has changed here from outside since the last change that has a number: it gets the next. */
void lbm_exchange_settled_number(struct rounds *s);
/* Wakes the host if it has too much, or visits one that it has missed. */
void lbm_exchange_settled_timer(struct lbm_node *node, struct job *job);

#endif
