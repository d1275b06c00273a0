/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c: what one round of two hosts moves. Only files of lib/node include this. */
#ifndef LBM_NODE_EXCHANGE_DECISION_H
#define LBM_NODE_EXCHANGE_DECISION_H

#include "node/core/state.h"

/* Slots of the own vertices that may move to the partner: those it pulls, and some layers behind them. */
typedef LBM_VEC(uint32_t) slot_list;
enum lbm_err lbm_exchange_band(struct lbm_node *node, struct job *job, uint32_t partner,
                               slot_list *band) LBM_MUST_CHECK;
struct exchange {
    LBM_VEC(uint32_t) give;               /* own vertices, ids */
    LBM_VEC(uint32_t) take;               /* the partner's, ids */
    LBM_VEC(double) give_gain, take_gain; /* decrease of J by each of them, in the order of moves */
    enum lbm_move_reason give_reason, take_reason;
};
/* Decide what moves between this host and the partner, whose answer is `accept`. outstanding: what was netted
 * to it and is to move now, negative: by it; 0: what is due as both stand. */
enum lbm_err lbm_exchange_decide(struct lbm_node *node, struct job *job, uint32_t partner,
                                 const Lbm__PairAccept *accept, int64_t outstanding,
                                 struct exchange *out) LBM_MUST_CHECK;
/* Returns what this host is to give a partner after a round that gave what fits: `outstanding`, or the share
 * due if that is worth a transfer. In: outstanding, work units; negative: is to get. */
int64_t lbm_exchange_net(struct lbm_node *node, struct job *job, uint32_t partner,
                         const Lbm__PairAccept *accept, int64_t outstanding);
/* A job that had settled and has many vertices. Where one is more than a host may have beyond its share, no
 * offer is better than another, small amounts add up to no vertex, and what is too much goes where it fits.
 */
int lbm_exchange_is_granular(const struct lbm_node *node, const struct job *job);
/* Returns work units that may go now, counted until they are `enough`. */
uint64_t lbm_exchange_movable(struct lbm_node *node, struct job *job, uint64_t enough);

/* pair.c: what this host knows of its rounds with another; NULL: memory is short, the step has failed. */
struct unchanged *lbm_exchange_pair_unchanged(struct lbm_node *node, struct rounds *s, uint32_t host);

#endif
