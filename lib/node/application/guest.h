/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a guest changes while hosts work on it. Only files of lib/node include this. */
#ifndef LBM_NODE_APPLICATION_GUEST_H
#define LBM_NODE_APPLICATION_GUEST_H

#include "node/core/state.h"

/* ---- neighbours.c -------------------------------------------------------------------------------------- */

/* Edges of vertices, for an application. */
struct neighbours {
    LBM_VEC(uint32_t) vertex, degree, neighbour, weight;
    LBM_VEC(uint64_t) token;
};

/* The application that works on the vertex, if one does, has yet to hear of its edges. */
enum lbm_err neighbours_changed(struct job *job, struct lbm_vertex *vertex) LBM_MUST_CHECK;
void neighbours_add(struct lbm_node *node, struct neighbours *list, const struct lbm_vertex *vertex);
size_t neighbours_bytes(const struct neighbours *list);
Lbm__Neighbours neighbours_message(const struct neighbours *list); /* borrows */
void neighbours_free(struct neighbours *list);
void neighbours_timer(struct lbm_node *node, const struct application *application, struct job *job);

/* ---- change.c ------------------------------------------------------------------------------------------ */

void application_change(struct lbm_node *node, uint64_t client, uint64_t request,
                        const Lbm__ChangeRequest *change);

/* ---- edges.c ------------------------------------------------------------------------------------------- */

/* The place of a neighbour in a record, or LBM_NONE. */
uint32_t edge_find(const struct lbm_vertex *vertex, uint32_t to);
/* Errors: LBM_E_NOMEM. The record is not stored by it. weight 0: there is no such edge any more. */
enum lbm_err edge_set(struct job *job, struct lbm_vertex *vertex, uint32_t to, uint32_t weight,
                      uint32_t host) LBM_MUST_CHECK;
/* Both ends say the same: there is nothing to be told of that edge. */
void edge_agreed(struct lbm_vertex *vertex, uint32_t to);
/* Have the other end's owner told. Errors: LBM_E_NOMEM. */
enum lbm_err edge_note(struct lbm_vertex *vertex, uint32_t to, uint32_t weight, uint32_t host) LBM_MUST_CHECK;
void edges_timer(struct lbm_node *node, struct job *job);
int64_t edges_deadline(const struct job *job);
void edges_acked(struct lbm_node *node); /* the stream has moved on */
void edges_soon(struct lbm_node *node, struct job *job);
/* Somebody says that `host` has a vertex; or LBM_NONE: that `from`, which says so, has not. */
void edges_learn(struct job *job, uint32_t id, uint32_t host, uint32_t from);
void on_edges(struct lbm_node *node, const Lbm__Peer *message);
void on_edges_done(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ids.c --------------------------------------------------------------------------------------------- */

void application_ids(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__IdsRequest *ids);
void ids_allotted(struct lbm_node *node, const Lbm__AllotIds *allot, const char *refusal); /* by the log */
void ids_gone(struct lbm_node *node, uint64_t client);
void ids_timer(struct lbm_node *node);
int64_t ids_deadline(const struct lbm_node *node);

#endif
