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

/* Rebuild the copy of the log and the view from the database. Takes the entries. */
void lbm_log_start(struct lbm_node *node, struct lbm_recovered *recovered);
/* Transactions are durable: apply the entries in them. */
void lbm_log_persisted(struct lbm_node *node);
/* Fetch, append again, give up proposals whose time is over, continue a promotion. */
void lbm_log_timer(struct lbm_node *node);
/* Time, us, at which lbm_log_timer has something to do; INT64_MAX: none. */
int64_t lbm_log_deadline(const struct lbm_node *node);

/* ---- deferred.c ---- */

/* The sender of a message knows a newer view. */
void lbm_log_view_heard(struct lbm_node *node, const Lbm__Peer *message);

/* ---- diverged.c ---- */

/* The copy of the log and the view are those of a host that has never had any; it asks for the log again. */
void lbm_log_forget(struct lbm_node *node);

/* ---- engine.c ---- */

/* The log is taken from the ensemble by force: this host reads and proposes there no more. */
void lbm_log_engine_leave(struct lbm_node *node);

/* ---- ensemble.c ---- */

/* What the shell sees of the ensemble of etcd. */
void lbm_log_on_ensemble(struct lbm_node *node, const struct lbm_ensemble_report *report);
/* Answer LogMoveRequest: an operator decides where the log is. Errors in the answer: LBM_E_STATE, and what
 * becomes of a command. */
void lbm_log_answer_move(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- external.c ---- */

/* etcd's word on an append: taken (by this host or another: the entry comes), or unknown: the same index is
 * tried again unless its entry comes first. */
void lbm_log_on_external_result(struct lbm_node *node, uint64_t index, enum lbm_log_result result);
/* Entries that etcd has from index `from` on. In: command [n]; caught_up, whether these are all. */
void lbm_log_on_external_entries(struct lbm_node *node, uint64_t from, const struct lbm_bytes *command,
                                 size_t n, int caught_up);
/* etcd lacks entries that this host has read there, up to that one; 0: they are there again. */
void lbm_log_on_external_older(struct lbm_node *node, uint64_t index);
/* A view that replaces all entries up to `index`. */
void lbm_log_on_external_snapshot(struct lbm_node *node, uint64_t index, const struct lbm_bytes *view);

/* ---- forced.c ---- */

/* A message came: its sender hears, if it has yet to, that the log was taken from its ensemble by force. */
void lbm_log_forced_tell(struct lbm_node *node, const Lbm__Peer *message);

/* ---- heard.c ---- */

/* LogSnapshot: a chunk of a view. Chunks of one snapshot come in order over one connection; a repeated answer
 * begins again. */
void lbm_log_on_snapshot(struct lbm_node *node, const Lbm__Peer *message);

/* ---- local.c ---- */

/* LogFetch: a host asks for entries. Answered with LogEntries or LogSnapshot. */
void lbm_log_on_fetch(struct lbm_node *node, const Lbm__Peer *message);
/* LogEntries: entries from the leader, or from the longest copy during a promotion. */
void lbm_log_on_entries(struct lbm_node *node, const Lbm__Peer *message);
/* LogAppend: a follower proposes an entry. Answered with LogResult. */
void lbm_log_on_append(struct lbm_node *node, const Lbm__Peer *message);
/* LogResult: the leader's word on a proposal. Accepted: the entry itself comes. Refused: catch up, then
 * again. */
void lbm_log_on_result(struct lbm_node *node, const Lbm__Peer *message);

/* ---- log_copy.c ---- */

/* Ask for the entries that this host lacks. */
void lbm_log_fetch(struct lbm_node *node);
/* Ask for the entries to be stored that wait for it. */
void lbm_log_store_deferred(struct lbm_node *node);

/* ---- log_requests.c ---- */

/* Answer LogRequest with lines of the log. Entries behind a snapshot are gone: the first that is there comes
 * first. */
void lbm_log_answer(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- promote.c ---- */

/* Engine local: asks another host to order the log if this one does, as must be before this one may be
 * evicted or leave: an active one, or_draining: else one that drains. why: for the operator. Returns nonzero
 * while this host is the leader. */
int lbm_log_hand_over(struct lbm_node *node, const char *why, int or_draining);
/* LogPoll: a host wants to lead. Answered with LogPosition: what this host has, and its promise. */
void lbm_log_on_poll(struct lbm_node *node, const Lbm__Peer *message);
/* LogPosition: what another host has of the log, for a promotion of this one. */
void lbm_log_on_position(struct lbm_node *node, const Lbm__Peer *message);
/* Answer PromoteRequest: this host is to lead. Errors in the answer: LBM_E_UNSUPPORTED, LBM_E_BUSY,
 * LBM_E_STATE. */
void lbm_log_answer_promote(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- proposals.c ---- */

/* Propose an entry; it is proposed again until it is in the log. */
void lbm_log_append(struct lbm_node *node, const Lbm__Command *command);
/* Until then, or not at all: then lbm_client_proposal_given_up, or lbm_job_given_up, is called. Returns the
 * proposal's token. */
uint64_t lbm_log_append_until(struct lbm_node *node, const Lbm__Command *command, int64_t until_us);
/* Whom a proposal waits for: "host 0, which orders it, has not been heard for 12 s". */
void lbm_log_tell_wait(const struct lbm_node *node, char *text, size_t size);
/* Its client is gone: it is void unless it may be in the log. */
void lbm_log_withdraw(struct lbm_node *node, uint64_t token);
/* Propose an entry that is withdrawn when `suspect` is heard again. */
void lbm_log_append_suspicion(struct lbm_node *node, const Lbm__Command *command, uint32_t suspect);

/* ---- propose_right.c ---- */

/* Nonzero if the cluster listens to operators at that host, which may then lead too. */
int lbm_log_is_operator(const struct lbm_node *node, uint32_t host);

/* ---- terms.c ---- */

/* Nonzero if others know newer entries of a log outside the daemons, and this host has not got them for long:
 * who has gone meanwhile, it does not know. */
int lbm_log_is_behind(const struct lbm_node *node);
/* Nonzero if the log is in an ensemble of etcd that daemons run, of which no member answers this host. */
int lbm_log_awaits_ensemble(const struct lbm_node *node);

#endif
