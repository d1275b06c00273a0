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
void lbm_client_event(struct lbm_node *node, enum lbm_note_level level, const char *text);
void lbm_client_admin_gone(struct lbm_node *node, uint64_t client);
void lbm_client_admin_free(struct lbm_node *node);

/* ---- query.c ---- */

void lbm_client_query_gone(struct lbm_node *node, uint64_t client);
void lbm_client_query_timer(struct lbm_node *node);
int64_t lbm_client_query_deadline(const struct lbm_node *node);
void lbm_client_on_map_query(struct lbm_node *node, const Lbm__Peer *message);
void lbm_client_on_map_part(struct lbm_node *node, const Lbm__Peer *message);

/* ---- requests.c ---- */

void lbm_client_on_request(struct lbm_node *node, const struct lbm_event *event);

#endif
