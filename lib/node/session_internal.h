/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the order of sessions (session.c), one meeting (pair.c), what it moves (exchange.c) and hosts that
 * have settled (settled.c) share. Nothing else includes this. */
#ifndef LBM_NODE_SESSION_INTERNAL_H
#define LBM_NODE_SESSION_INTERNAL_H

#include "node/internal.h"

/* ---- session.c ----------------------------------------------------------------------------------------- */

/* Negative, 0 or positive: where a message stands against this session's place. */
int session_compare(const struct session *s, uint64_t sweep, uint32_t colour);
void session_notice(struct lbm_node *node, const struct job *job, uint32_t host, enum lbm_notice kind);
/* What was heard of a partner ahead of its turn; NULL: no memory, the step has failed. */
struct early_open *session_early(struct lbm_node *node, struct session *s, uint32_t host);
/* The way to room that does not lead through the partner. */
struct way session_slack(const struct lbm_node *node, const struct job *job, uint32_t partner);
void session_next(struct lbm_node *node, struct job *job);
void session_jump(struct lbm_node *node, struct job *job, uint64_t sweep, uint32_t colour);
/* End the session under way, whatever it was to do, and go on. */
void session_give_up(struct lbm_node *node, struct job *job);
void session_finish_if_over(struct lbm_node *node, struct job *job);

/* ---- settled.c ----------------------------------------------------------------------------------------- */

/* Take part in the session of a neighbour; in that of the one that waits longest. */
void settled_receive(struct lbm_node *node, struct job *job, struct early_open *visitor);
void settled_receive_next(struct lbm_node *node, struct job *job);
/* How load and limit compare now: what settled_timer compares with. */
void settled_weigh(const struct lbm_node *node, struct job *job);
/* A host is passed over since it takes no part; it was met. */
void settled_missed(struct lbm_node *node, struct session *s, uint32_t host);
void settled_met(struct session *s, uint32_t host);
/* If something has changed here from outside since the last change that has a number: it gets the next. */
void settled_number(struct session *s);
/* Wakes the host if it has too much, or visits one that it has missed. */
void settled_timer(struct lbm_node *node, struct job *job);

/* ---- pair.c -------------------------------------------------------------------------------------------- */

void pair_open(struct lbm_node *node, struct job *job);
void pair_answer(struct lbm_node *node, struct job *job, const struct early_open *open);

#endif
