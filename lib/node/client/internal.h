/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_CLIENT_INTERNAL_H
#define LBM_NODE_CLIENT_INTERNAL_H

#include "node/core/core.h"

/* ---- admin.c ---- */

/* Answer HostChange (drain, evict, leave, capacity). Errors in the answer: LBM_E_DENIED, LBM_E_NOTFOUND,
 * LBM_E_STATE. */
void lbm_client_answer_host_change(struct lbm_node *node, const struct client *client,
                                   const Lbm__Request *request);
/* Answer AdmitRequest with the id of a host, once the log has given it. Errors in the answer: LBM_E_DENIED,
 * LBM_E_EXISTS a member has the name, LBM_E_LIMIT no id is left, LBM_E_STATE another one got it. */
void lbm_client_answer_admit(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
/* Answer RevokeRequest. Errors in the answer: LBM_E_DENIED, LBM_E_STATE. */
void lbm_client_answer_revoke(struct lbm_node *node, const struct client *client,
                              const Lbm__Request *request);
/* Answer RevokeUserRequest. Errors in the answer: LBM_E_DENIED, LBM_E_STATE. */
void lbm_client_answer_revoke_user(struct lbm_node *node, const struct client *client,
                                   const Lbm__Request *request);
/* Answer EventsRequest from the ring of events. */
void lbm_client_answer_events(struct lbm_node *node, const struct client *client,
                              const Lbm__Request *request);

/* ---- rights.c ---- */

/* Nonzero if the client may ask that; else it has been told what it lacks (LBM_E_DENIED). */
int lbm_client_may(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- alerts.c ---- */

/* The alerts that are on. Out: alerts, list [LBM_ALERT_COUNT], which borrow from the node. Value: how many.
 */
size_t lbm_client_alerts_fill(struct lbm_node *node, Lbm__Alert *alerts, Lbm__Alert **list);

/* ---- recover.c ---- */

/* Answer RecoverBegin: a client is about to send lost vertices. Errors in the answer: LBM_E_NOTFOUND,
 * LBM_E_STATE. */
void lbm_client_recover_begin(struct lbm_node *node, const struct client *client,
                              const Lbm__Request *request);
/* Answer RecoverRows: some of them. Errors in the answer: LBM_E_STATE, LBM_E_RANGE. */
void lbm_client_recover_rows(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
/* Answer the end of them, once they are stored and with the backup. Errors in the answer: LBM_E_STATE,
 * LBM_E_TIMEOUT. */
void lbm_client_recover_end(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- cut.c ---- */

/* What MapQuery and MapRequest want of a cut. */
enum lbm_hold {
    LBM_HOLD_READ,   /* its vertices */
    LBM_HOLD_BEGIN,  /* keep them from now on */
    LBM_HOLD_END,    /* let go of them */
    LBM_HOLD_PROLONG /* keep them on: others are read */
};

/* Nonzero if the request of an application comes after a cut of its job: it is carried out when that ends. */
int lbm_client_cut_defers(struct lbm_node *node, const struct client *client, const Lbm__Request *request);
/* Keep a job as it is, for the query of a host, which may be this one: it gets a MapChunk, or
 * lbm_client_query_held is called, once nothing is on its way. */
void lbm_client_cut_hold(struct lbm_node *node, uint32_t from, uint64_t query, uint64_t job, uint64_t cut);
/* Nonzero if the job, NULL: none, has been kept for that cut since it began, and that host may read it; it is
 * kept on then. */
int lbm_client_cut_lasts(struct lbm_node *node, uint32_t from, struct job *job, uint64_t cut);
/* MapQuery that begins, prolongs or ends a cut. */
void lbm_client_cut_on_query(struct lbm_node *node, const Lbm__Peer *message);
/* Value: the number of a new cut of a client. */
uint64_t lbm_client_cut_new(struct lbm_node *node, uint64_t client, uint64_t job);
/* Nonzero if that client has begun it. */
int lbm_client_cut_is_of(const struct lbm_node *node, uint64_t client, uint64_t job, uint64_t cut);
/* Answer MapRequest with LBM_HOLD_END, once all hosts are told. */
void lbm_client_cut_end(struct lbm_node *node, uint64_t client, uint64_t request, uint64_t cut);

/* ---- run.c ---- */

/* Answer RunRequest: start, end or watch the programs of a job. Errors in the answer: LBM_E_NOTFOUND,
 * LBM_E_DENIED, LBM_E_EXISTS, LBM_E_RANGE, LBM_E_STATE. */
void lbm_client_answer_run(struct lbm_node *node, const struct client *client, const Lbm__Request *request);

/* ---- summary.c ---- */

struct load_report;
/* Returns this host's own load report of a job, as others would have it. */
struct load_report lbm_client_own_report(const struct lbm_node *node, const struct job *job);
/* Nonzero if a member is unreachable, or waits for its backup, which is. */
int lbm_client_is_unavailable(const struct lbm_node *node, const struct lbm_member *member);

/* ---- explain.c ---- */

/* Moves of the vertex that a collection is about, from another host. */
void lbm_client_explain_take(struct lbm_node *node, struct collection *collection, size_t n,
                             Lbm__Move *const *moves);
/* The same of what this host remembers. */
void lbm_client_explain_take_own(struct lbm_node *node, struct collection *collection);
/* Answer ExplainRequest with what has been collected. */
void lbm_client_explain_finish(struct lbm_node *node, struct collection *collection);

/* ---- query.c ---- */

/* Answer MapRequest with the vertices of all hosts, gathered by MapQuery. */
void lbm_client_query_map(struct lbm_node *node, uint64_t client, uint64_t request,
                          const Lbm__MapRequest *map);
/* This host keeps the cut of such a query, or it is torn. */
void lbm_client_query_held(struct lbm_node *node, uint64_t query, int is_torn);
/* Answer LocateRequest: which host has each vertex. */
void lbm_client_query_locate(struct lbm_node *node, uint64_t client, uint64_t request,
                             const Lbm__LocateRequest *asked);
/* Which place of a vertex, and all that is known of its moves. */
void lbm_client_query_explain(struct lbm_node *node, uint64_t client, uint64_t request,
                              const Lbm__ExplainRequest *asked);

#endif
