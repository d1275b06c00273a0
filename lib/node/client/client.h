/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of clients: operators' changes and events, mappings and places from all hosts. */
#ifndef LBM_NODE_CLIENT_CLIENT_H
#define LBM_NODE_CLIENT_CLIENT_H

#include "node/core/core.h"

/* ---- admin.c ---- */

/* After every entry of the control log: answers who waits for it. refusal: "" if it took effect. */
void lbm_client_proposal_applied(struct lbm_node *node, const Lbm__Command *command, const char *refusal);
/* The client hears what the log makes of its command. */
/* Propose a client's command; it is answered by what becomes of it. */
void lbm_client_propose(struct lbm_node *node, const struct client *client, const Lbm__Command *command);
/* The proposal was given up; is_unknown: it may be in the log all the same. */
void lbm_client_proposal_given_up(struct lbm_node *node, uint64_t token, int is_unknown);
/* Append a line to the ring of the last LBM_EVENTS_MAX events, which `lbctl events` shows. */
void lbm_client_event(struct lbm_node *node, enum lbm_note_level level, const char *text);
/* The connection of an operator ended: proposals of its requests that are not in the log yet are withdrawn.
 */
void lbm_client_admin_gone(struct lbm_node *node, uint64_t client);
/* Free the requests of operators and the ring of events. */
void lbm_client_admin_free(struct lbm_node *node);

/* ---- query.c ---- */

/* The connection of a client ended: queries that it waits for are dropped. */
void lbm_client_query_gone(struct lbm_node *node, uint64_t client);
/* Answer or prolong queries whose time is over. */
void lbm_client_query_timer(struct lbm_node *node);
/* Time, us, at which lbm_client_query_timer has something to do; INT64_MAX: none. */
int64_t lbm_client_query_deadline(const struct lbm_node *node);
/* MapQuery: another host gathers a mapping and asks for this host's vertices. Answered with MapChunk. */
void lbm_client_on_map_query(struct lbm_node *node, const Lbm__Peer *message);
/* MapChunk: vertices of another host, for a query of this one. */
void lbm_client_on_map_chunk(struct lbm_node *node, const Lbm__Peer *message);

/* Answer who has waited for as long as it wanted to. */
void lbm_client_admin_timer(struct lbm_node *node);

/* ---- alerts.c ---- */

/* With every round of pings: announce what stands still, and when it goes on. */
void lbm_client_alerts_timer(struct lbm_node *node);

/* ---- recover.c ---- */

/* After every entry of the control log: this host may have got the right to begin lost vertices again. */
void lbm_client_recover_applied(struct lbm_node *node, const Lbm__Command *command, const char *refusal);
/* Go on with recoveries: give them up, or tell the log once the backup has what was begun. */
void lbm_client_recover_timer(struct lbm_node *node);
/* The connection of a client ended: what it has not asked the log for yet is dropped. */
void lbm_client_recover_gone(struct lbm_node *node, uint64_t client);
/* Free what is being recovered. */
void lbm_client_recover_free(struct lbm_node *node);

/* ---- cut.c ---- */

/* Go on with cuts: confirm those for which nothing is on its way any more, end those that nobody asks for. */
void lbm_client_cut_timer(struct lbm_node *node);
/* Time, us, at which lbm_client_cut_timer has something to do; INT64_MAX: none. */
int64_t lbm_client_cut_deadline(const struct lbm_node *node);
/* The connection of a client ended: what it asked for and was put off is dropped, and its cuts end. */
void lbm_client_cut_gone(struct lbm_node *node, uint64_t client);
/* Free what is put off. */
void lbm_client_cut_free(struct lbm_node *node);

/* ---- summary.c ---- */

/* With every round of pings: since when jobs are as they are. */
void lbm_client_summary_timer(struct lbm_node *node);

/* ---- requests.c ---- */

/* A client's request: find its row in the table of requests, check rights, answer now or later. */
void lbm_client_on_request(struct lbm_node *node, const struct lbm_event *event);

#endif
