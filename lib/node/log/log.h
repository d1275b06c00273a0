/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This host's copy of the control log: proposals, entries, snapshots; terms and leaders of the local engine.
 */
#ifndef LBM_NODE_LOG_LOG_H
#define LBM_NODE_LOG_LOG_H

#include "node/core/core.h"

/* ---- confirm.c ---- */

/* A host that takes this one for a member belongs to another cluster. */
void lbm_log_stranger(struct lbm_node *node, const Lbm__Peer *message);
/* A leader that was away asks before it orders anything more. */
void lbm_log_confirm(struct lbm_node *node);

/* ---- control_log.c ---- */

void lbm_log_start(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_log_persisted(struct lbm_node *node);
void lbm_log_timer(struct lbm_node *node);
int64_t lbm_log_deadline(const struct lbm_node *node);

/* ---- deferred.c ---- */

/* The sender of a message knows a newer view. */
void lbm_log_view_heard(struct lbm_node *node, const Lbm__Peer *message);

/* ---- external.c ---- */

void lbm_log_on_external_result(struct lbm_node *node, uint64_t index, enum lbm_log_result result);
void lbm_log_on_external_entries(struct lbm_node *node, uint64_t from, const struct lbm_bytes *command,
                                 size_t n, int caught_up);
void lbm_log_on_external_snapshot(struct lbm_node *node, uint64_t index, const struct lbm_bytes *view);

/* ---- local.c ---- */

void lbm_log_on_fetch(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_entries(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_append(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_result(struct lbm_node *node, const Lbm__Peer *message);

/* ---- log_copy.c ---- */

void lbm_log_fetch(struct lbm_node *node);
/* Ask for the entries to be stored that wait for it. */
void lbm_log_store_deferred(struct lbm_node *node);

/* ---- log_requests.c ---- */

void lbm_log_answer(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- log_snapshot.c ---- */

void lbm_log_on_snapshot(struct lbm_node *node, const Lbm__Peer *message);

/* ---- promote.c ---- */

/* Engine local: asks another host to order the log if this one does, as must be before this one may be
 * evicted or leave: an active one, or_draining: else one that drains. why: for the operator. Returns nonzero
 * while this host is the leader. */
int lbm_log_hand_over(struct lbm_node *node, const char *why, int or_draining);
void lbm_log_on_poll(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_on_position(struct lbm_node *node, const Lbm__Peer *message);
void lbm_log_answer_promote(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- proposals.c ---- */

void lbm_log_append(struct lbm_node *node, const Lbm__Command *command);
/* Until then, or not at all: then lbm_client_proposal_given_up, or lbm_job_given_up, is called. Returns the
 * proposal's token. */
uint64_t lbm_log_append_until(struct lbm_node *node, const Lbm__Command *command, int64_t until_us);
/* Its client is gone: it is void unless it may be in the log. */
void lbm_log_withdraw(struct lbm_node *node, uint64_t token);
void lbm_log_append_suspicion(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect);

#endif
