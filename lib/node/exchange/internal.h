/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the order of rounds (rounds.c), one round (pair.c), what it moves (exchange.c) and hosts that
 * have settled (settled.c) share. Nothing else includes this. */
#ifndef LBM_NODE_EXCHANGE_INTERNAL_H
#define LBM_NODE_EXCHANGE_INTERNAL_H

#include "node/core/core.h"

#define NETTED_MAX ((uint64_t)INT64_MAX / 4) /* sums of some do not overflow; no load is as large */

/* ---- flow.c ---- */

void lbm_exchange_flow_stop(struct job *job); /* what has begun to move arrives */

/* ---- netting.c ---- */

/* Returns the work units that this host owes that one; negative: is to get. */
int64_t lbm_exchange_netting_outstanding(const struct rounds *s, uint32_t host);
/* Returns the work units outstanding to all hosts but one; what others owe does not count. */
int64_t lbm_exchange_netting_given(const struct rounds *s, uint32_t but);
/* Nonzero if this host owes anybody anything, or is to get. */
int lbm_exchange_netting_any(const struct rounds *s);
/* Both have agreed on another amount, which is none when it has moved or is void. */
void lbm_exchange_netting_set(struct lbm_node *node, struct rounds *s, uint32_t host, int64_t outstanding);
/* Nothing of it could be given, or what is due is none that could: both exchange at once until they wake. */
void lbm_exchange_netting_broken(struct lbm_node *node, struct rounds *s, uint32_t host);
/* The same, found when it was to be given; if it happens again this host netted amounts nothing until it
 * wakes. */
void lbm_exchange_netting_undelivered(struct lbm_node *node, struct rounds *s, uint32_t host);
void lbm_exchange_netting_begin(struct rounds *s);                        /* the host wakes */
void lbm_exchange_netting_sweep(struct lbm_node *node, struct rounds *s); /* a sweep is over */
/* Both may agree on numbers first: they meet again soon. */
int lbm_exchange_netting_possible(const struct lbm_node *node, const struct job *job, uint32_t host);
/* Nonzero if what is to get to that host has not changed for NETTING_SWEEPS sweeps, so that it may be given.
 */
int lbm_exchange_netting_due(const struct rounds *s, uint32_t host);
/* Returns what the round that a neighbour opens is about: refinement, or the transfer of what is to get. */
enum round_kind lbm_exchange_netting_round(const struct lbm_node *node, const struct job *job,
                                           const struct early_open *open);
/* The sender's debt, from a message. */
int64_t lbm_exchange_netting_heard(uint64_t gives, uint64_t takes);

/* ---- pair.c ---- */

/* Send PairOpen to the present partner. */
void lbm_exchange_pair_open(struct lbm_node *node, struct job *job);
/* Answer a partner's PairOpen with the boundary band of this host. */
void lbm_exchange_pair_answer(struct lbm_node *node, struct job *job, const struct early_open *open);

/* ---- policy.c ---- */

/* Returns the active hosts as policies see them, with the name of their topology if they have one. Borrows
 * from the view: not to be freed. */
struct lbm_hosts lbm_exchange_policy_hosts(const struct lbm_node *node);

/* ---- round_state.c ---- */

/* Negative, 0 or positive number: where (sweep, colour) of a message stands against this host's place. */
int lbm_exchange_round_compare(const struct rounds *s, uint64_t sweep, uint32_t colour);
/* Send PairNotice of that kind to a host. */
void lbm_exchange_round_notice(struct lbm_node *node, const struct job *job, uint32_t host,
                               enum lbm_notice kind);
/* What was heard of a partner ahead of its turn; NULL: no memory, the step has failed. */
struct early_open *lbm_exchange_round_early(struct lbm_node *node, struct rounds *s, uint32_t host);
/* The way to room that does not lead through the partner. */
struct residual_hop lbm_exchange_round_residual(const struct lbm_node *node, const struct job *job,
                                                uint32_t partner);
/* The colour of the link to a host, or LBM_NONE. */
uint32_t lbm_exchange_round_colour(struct lbm_node *node, uint32_t host);
/* Nonzero where each vertex that moves counts: moves have a price while loads are measured, and in a small
 * cluster a host that joins takes more than the slack from each other one, however much of it was left free.
 */
int lbm_exchange_spares(const struct lbm_node *node, const struct job *job);
/* Returns the work units that a host with `load` may have after a round. One that has settled since it
 * started (had_settled) keeps a part of the margin free, so that the next vertex or host that comes does not
 * wake it again. */
uint64_t lbm_exchange_limit(const struct lbm_node *node, const struct job *job, uint32_t host, uint64_t load,
                            int had_settled);
/* Returns the work units that this host can still take; 0: not even the lightest vertex that was ever here.
 */
uint64_t lbm_exchange_residual_here(const struct lbm_node *node, const struct job *job);
/* What was heard of a partner ahead of its turn, or NULL. */
struct early_open *lbm_exchange_early_known(const struct rounds *s, uint32_t host);

/* ---- rounds.c ---- */

/* Go on to the next colour, or the next sweep after the last one. */
void lbm_exchange_round_next(struct lbm_node *node, struct job *job);
/* Go to a place that a partner has reached already. The other partners hear of it, so that none waits for a
 * round that was passed over. */
void lbm_exchange_round_jump(struct lbm_node *node, struct job *job, uint64_t sweep, uint32_t colour);
/* A host that has settled takes part in one round: timeouts, what moves must gain, and what is heard of
 * room elsewhere begin with it. The place of the round is set before. */
void lbm_exchange_round_begin_visit(const struct lbm_node *node, struct rounds *s);
/* End the round in progress, whatever it was to do, and go on. */
void lbm_exchange_round_give_up(struct lbm_node *node, struct job *job);
/* End the round once all its vertices have left and arrived. */
void lbm_exchange_round_finish_if_over(struct lbm_node *node, struct job *job);

/* ---- settled.c ---- */

/* Take part in the round of a neighbour; in that of the one that waits longest. */
void lbm_exchange_settled_receive(struct lbm_node *node, struct job *job, struct early_open *visitor);
/* Answer the neighbour of a settled job that has waited longest, if it still waits. */
void lbm_exchange_settled_receive_next(struct lbm_node *node, struct job *job);
/* How load and limit compare now: what lbm_exchange_settled_timer compares with. */
void lbm_exchange_settled_weigh(const struct lbm_node *node, struct job *job);
/* A host is passed over since it takes no part; it was met. */
void lbm_exchange_settled_skipped(struct lbm_node *node, struct rounds *s, uint32_t host);
/* A round with that host took place: it is not to be visited any more. */
void lbm_exchange_settled_met(struct rounds *s, uint32_t host);
/* If something has changed here from outside since the last change that has a number: it gets the next. */
void lbm_exchange_settled_number(struct rounds *s);
/* Wakes the host if it has too much, or visits one that it has skipped. */
void lbm_exchange_settled_timer(struct lbm_node *node, struct job *job);

#endif
