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

/* ---- query.c ---- */

/* Answer MapRequest with the vertices of all hosts, gathered by MapQuery. */
void lbm_client_query_map(struct lbm_node *node, uint64_t client, uint64_t request,
                          const Lbm__MapRequest *map);
/* Answer LocateRequest: which host has each vertex. */
void lbm_client_query_locate(struct lbm_node *node, uint64_t client, uint64_t request,
                             const Lbm__LocateRequest *asked);
/* Which place of a vertex, and all that is known of its moves. */
void lbm_client_query_explain(struct lbm_node *node, uint64_t client, uint64_t request,
                              const Lbm__ExplainRequest *asked);

#endif
