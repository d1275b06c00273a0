/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job on this host: submission, slices read by several hosts, planning, phases. */
#ifndef LBM_NODE_JOB_JOB_H
#define LBM_NODE_JOB_JOB_H

#include "node/core/core.h"

/* ---- ingest_gather.c ---- */

void lbm_job_ingest_free(struct lbm_node *node);
void lbm_job_on_slice_begin(struct lbm_node *node, const Lbm__Peer *message);
void lbm_job_on_slice_ready(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ingest_slice.c ---- */

/* The log has taken a job with parts: who has which vertices is known. */
void lbm_job_slice_created(struct lbm_node *node, const Lbm__JobCreate *create);
void lbm_job_on_slice_answer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- jobs.c ---- */

void lbm_job_free_all(struct lbm_node *node);
void lbm_job_recover(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_job_created(struct lbm_node *node, const struct lbm_job_entry *entry); /* by the log */
/* The proposal was given up. at: index where it may be all the same; 0: nowhere. */
void lbm_job_given_up(struct lbm_node *node, uint64_t id, uint64_t at);
void lbm_job_lost_all(struct lbm_node *node); /* all of them, by eviction */
void lbm_job_view_changed(struct lbm_node *node, int topology_changed, int all);
void lbm_job_timer(struct lbm_node *node);
int64_t lbm_job_deadline(const struct lbm_node *node);
/* As pulses say it: the part of MAPPING has come to rest; once settled, all partners have been met, and no
 * plan is awaited. */
int lbm_job_is_ready(const struct lbm_node *node, const struct job *job);
void lbm_job_enter(struct lbm_node *node, struct job *job, enum lbm_phase phase);

/* ---- planning.c ---- */

/* Have job->guest planned on job->plan_hosts; they stay until it is. */
void lbm_job_plan_ask(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                      enum lbm_start start);
void lbm_job_on_planned(struct lbm_node *node, const struct lbm_event *event);

/* ---- submit.c ---- */

void lbm_job_submit_begin(struct lbm_node *node, const struct client *client, const Lbm__SubmitBegin *begin);
void lbm_job_submit_rows(struct lbm_node *node, uint64_t client, uint64_t request,
                         const Lbm__SubmitRows *rows);
void lbm_job_submit_end(struct lbm_node *node, const struct client *asks);
void lbm_job_submit_gone(struct lbm_node *node, uint64_t client);

/* ---- table.c ---- */

void lbm_job_forget_removed(struct lbm_node *node); /* those that nobody reads any more */
void lbm_job_refused(struct lbm_node *node, const Lbm__JobCreate *create, const char *why);
void lbm_job_deleted(struct lbm_node *node, uint64_t id);

#endif
