/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balance between neighbours: rounds by edge colour, pairwise refinement, flow computation, loads and
 * policies. */
#ifndef LBM_NODE_EXCHANGE_EXCHANGE_H
#define LBM_NODE_EXCHANGE_EXCHANGE_H

#include "node/core/core.h"

/* ---- flow.c ---- */

/* Entering BALANCING: nonzero if loads are balanced first; lbm_exchange_start follows then by itself. */
int lbm_exchange_flow_begin(struct lbm_node *node, struct job *job);
/* Continue the flow computation of a job (protocol.md section 12), or the transfers that follow it. */
void lbm_exchange_flow_timer(struct lbm_node *node, struct job *job);
/* Free a flow computation. */
void lbm_exchange_flow_free(struct flow_computation *flow);
void lbm_exchange_flow_policy_changed(struct lbm_node *node, uint64_t job); /* by the log */
/* Flow: a neighbour's number for a round of the flow computation (protocol.md section 12). */
void lbm_exchange_on_flow(struct lbm_node *node, const Lbm__Peer *message);

/* ---- load.c ---- */

/* Returns the number of vertices of all hosts, as last heard. */
uint64_t lbm_exchange_load_present(const struct lbm_node *node, const struct job *job);
/* Loads are reported, here or elsewhere. */
void lbm_exchange_load_drifts(struct lbm_node *node, struct job *job);
/* What load reports say of it. */
void lbm_exchange_load_report(const struct lbm_node *node, const struct job *job,
                              Lbm__LoadReport *load_report);
/* A load report of another host: whether loads drift, and the coordinator's sums. */
void lbm_exchange_load_heard(struct lbm_node *node, struct job *job, uint32_t from,
                             const Lbm__LoadReport *load_report);
/* Add up the loads that hosts reported, where loads drift and this host is the coordinator. */
void lbm_exchange_load_timer(struct lbm_node *node, struct job *job);
/* Answer LoadRequest: loads of vertices that an application measured (DESIGN: exponential mean, common part,
 * scatter). Errors in the answer: LBM_E_STATE, LBM_E_RANGE. */
void lbm_exchange_load_measured(struct lbm_node *node, uint64_t client, uint64_t request,
                                const Lbm__LoadRequest *load);

/* ---- pair.c ---- */

/* PairOpen: a neighbour opens a pairwise round (protocol.md section 13). Answered with PairAccept or
 * PairNotice, now or when this host is there. */
void lbm_exchange_on_pair_open(struct lbm_node *node, const Lbm__Peer *message);
/* PairAccept: the partner's boundary band. This host refines both bands and sends PairPlan. */
void lbm_exchange_on_pair_accept(struct lbm_node *node, const Lbm__Peer *message);
/* PairPlan: which vertices of this host are to go, and how many come. */
void lbm_exchange_on_pair_plan(struct lbm_node *node, const Lbm__Peer *message);
/* PairNotice: a neighbour is ahead, refuses, is done, or asks to be met. */
void lbm_exchange_on_pair_notice(struct lbm_node *node, const Lbm__Peer *message);

/* ---- policy.c ---- */

/* The policy that is asked for, with its parameters. Errors: as diag says. */
enum lbm_err lbm_exchange_policy_choose(struct lbm_node *node, uint32_t asked, uint32_t schedule,
                                        struct lbm_job_policy *out, struct lbm_diag *diag) LBM_MUST_CHECK;
/* Tells the operator what of a job's entry this program does not know, and does instead. */
void lbm_exchange_policy_tell_unknown(struct lbm_node *node, const struct lbm_job_entry *entry);
/* Answer a change of a job's load policy, schedule or throttle by proposing it to the log. Errors in the
 * answer: LBM_E_RANGE, LBM_E_STATE. */
void lbm_exchange_policy_change(struct lbm_node *node, const struct client *client,
                                const struct lbm_job_entry *entry, const Lbm__JobChange *change);

/* ---- rounds.c ---- */

/* Begin rounds with neighbours: the job enters BALANCING. */
void lbm_exchange_start(struct lbm_node *node, struct job *job);
/* The host graph is another one. */
void lbm_exchange_topology_changed(struct lbm_node *node, struct job *job, int all, int links_changed);
/* Note this host's links and their colours. Nonzero if they differ from those of the last call. */
int lbm_exchange_links_changed(struct lbm_node *node);
/* Begin, prolong or give up the round with the present partner; look whether a settled job is to be balanced
 * again. */
void lbm_exchange_timer(struct lbm_node *node, struct job *job);
/* Forget the present round. Handoffs that have begun run to their end by themselves. */
void lbm_exchange_stop(struct job *job);
void lbm_exchange_vertex_left(struct lbm_node *node,
                              struct job *job); /* a vertex of the round is MOV, or came back */
void lbm_exchange_vertex_arrived(struct lbm_node *node, struct job *job,
                                 uint32_t vertex); /* ours, or refused */

#endif
