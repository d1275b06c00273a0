/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c: what one meeting of two hosts moves. Only files of lib/node include this. */
#ifndef LBM_NODE_EXCHANGE_H
#define LBM_NODE_EXCHANGE_H

#include "node/state.h"

/* Slots of the own vertices that may move to the partner: those it pulls, and some layers behind them. */
typedef LBM_VEC(uint32_t) slot_list;
enum lbm_err exchange_band(struct lbm_node *node, struct job *job, uint32_t partner,
                           slot_list *band) LBM_MUST_CHECK;
/* Of the patch; LBM_NONE: it has none. */
uint32_t exchange_nearest_row(const struct lbm_node *node, const struct job *job, uint32_t partner);
struct exchange {
    LBM_VEC(uint32_t) give;               /* own vertices, ids */
    LBM_VEC(uint32_t) take;               /* the partner's, ids */
    LBM_VEC(double) give_gain, take_gain; /* decrease of J by each of them, in the order of moves */
    enum lbm_move_reason give_reason, take_reason;
};
/* Decide what moves between this host and the partner, whose answer is `accept`. */
enum lbm_err exchange_decide(struct lbm_node *node, struct job *job, uint32_t partner,
                             const Lbm__PairAccept *accept, struct exchange *out) LBM_MUST_CHECK;

/* pair.c: what this host knows of its meetings with another; NULL: memory is short, the step has failed. */
struct quiet *pair_quiet(struct lbm_node *node, struct session *s, uint32_t host);

#endif
