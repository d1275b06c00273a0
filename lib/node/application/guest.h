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
enum lbm_err lbm_application_neighbours_changed(struct job *job, struct lbm_vertex *vertex) LBM_MUST_CHECK;
void lbm_application_neighbours_add(struct lbm_node *node, struct neighbours *list,
                                    const struct lbm_vertex *vertex);
size_t lbm_application_neighbours_bytes(const struct neighbours *list);
Lbm__Neighbours lbm_application_neighbours_message(const struct neighbours *list); /* borrows */
void lbm_application_neighbours_free(struct neighbours *list);
void lbm_application_neighbours_timer(struct lbm_node *node, const struct application *application,
                                      struct job *job);

/* ---- change.c ------------------------------------------------------------------------------------------ */

void lbm_application_change(struct lbm_node *node, uint64_t client, uint64_t request,
                            const Lbm__ChangeRequest *change);

/* ---- edges.c ------------------------------------------------------------------------------------------- */

/* The place of a neighbour in a record, or LBM_NONE. */
uint32_t lbm_application_edge_find(const struct lbm_vertex *vertex, uint32_t to);
/* Errors: LBM_E_NOMEM. The record is not stored by it. weight 0: there is no such edge any more. */
enum lbm_err lbm_application_edge_set(struct job *job, struct lbm_vertex *vertex, uint32_t to,
                                      uint32_t weight, uint32_t host) LBM_MUST_CHECK;
/* Both ends say the same: there is nothing to be told of that edge. */
void lbm_application_edge_agreed(struct lbm_vertex *vertex, uint32_t to);
/* Have the other end's owner told. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_application_edge_note(struct lbm_vertex *vertex, uint32_t to, uint32_t weight,
                                       uint32_t host) LBM_MUST_CHECK;
void lbm_application_edges_timer(struct lbm_node *node, struct job *job);
int64_t lbm_application_edges_deadline(const struct job *job);
void lbm_application_edges_acked(struct lbm_node *node); /* the stream has moved on */
/* Somebody says that `host` has a vertex; or LBM_NONE: that `from`, which says so, has not. */
void lbm_application_edges_learn(struct job *job, uint32_t id, uint32_t host, uint32_t from);
void lbm_application_on_edges(struct lbm_node *node, const Lbm__Peer *message);
void lbm_application_on_edges_done(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ids.c --------------------------------------------------------------------------------------------- */

void lbm_application_ids(struct lbm_node *node, uint64_t client, uint64_t request,
                         const Lbm__IdsRequest *ids);
void lbm_application_ids_allotted(struct lbm_node *node, const Lbm__AllotIds *allot,
                                  const char *refusal); /* by the log */
void lbm_application_ids_gone(struct lbm_node *node, uint64_t client);
void lbm_application_ids_timer(struct lbm_node *node);
int64_t lbm_application_ids_deadline(const struct lbm_node *node);

#endif
