/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job on this host: submission, slices read by several hosts, planning, phases. */
#ifndef LBM_NODE_JOB_JOB_H
#define LBM_NODE_JOB_JOB_H

#include "node/core/core.h"

/* ---- ingest_gather.c ---- */

/* Free the guests that are being gathered. */
void lbm_job_ingest_free(struct lbm_node *node);
/* SliceRows: rows of a part of a guest, from the host that reads it. Answered with SliceTaken. */
void lbm_job_on_slice_rows(struct lbm_node *node, const Lbm__Peer *message);
/* SliceTaken: rows that were passed on are taken, or refused. */
void lbm_job_on_slice_taken(struct lbm_node *node, const Lbm__Peer *message);
/* SliceBegin: see lbm_job_ingest_begin. */
void lbm_job_on_slice_begin(struct lbm_node *node, const Lbm__Peer *message);
/* SliceReady: see lbm_job_ingest_ready. */
void lbm_job_on_slice_ready(struct lbm_node *node, const Lbm__Peer *message);

/* ---- ingest_slice.c ---- */

/* The log has taken a job with parts: who has which vertices is known. */
void lbm_job_slice_created(struct lbm_node *node, const Lbm__JobCreate *create);
/* SliceAnswer: the coordinator has taken a slice or refused it. */
void lbm_job_on_slice_answer(struct lbm_node *node, const Lbm__Peer *message);

/* ---- jobs.c ---- */

/* Free all jobs, also those that wait for a plan that is being made. */
void lbm_job_free_all(struct lbm_node *node);
/* Rebuild jobs and their records from the database. Takes the rows. */
void lbm_job_recover(struct lbm_node *node, struct lbm_recovered *recovered);
void lbm_job_created(struct lbm_node *node, const struct lbm_job_entry *entry); /* by the log */
/* The proposal was given up. at: index where it may be all the same; 0: nowhere. */
void lbm_job_given_up(struct lbm_node *node, uint64_t id, uint64_t at);
void lbm_job_lost_all(struct lbm_node *node); /* all of them, by eviction */
/* The log went on: update what jobs take from members and links. In: topology_changed, whether links or
 * members differ; all, whether any host may have changed. */
void lbm_job_view_changed(struct lbm_node *node, int topology_changed, int all);
/* Do what is due in each job, by its phase. */
void lbm_job_timer(struct lbm_node *node);
/* Time, us, at which lbm_job_timer has something to do; INT64_MAX: none. */
int64_t lbm_job_deadline(const struct lbm_node *node);
/* Nonzero if this host has come to rest in the present phase of a job; in SETTLED: no neighbour is to be
 * visited and no plan is awaited. */
int lbm_job_is_ready(const struct lbm_node *node, const struct job *job);
/* Enter a phase, and tell the others with the next ping, which is due at once. */
void lbm_job_enter(struct lbm_node *node, struct job *job, enum lbm_phase phase);

/* ---- planning.c ---- */

/* Have job->guest planned on job->plan_hosts; they stay until it is. */
void lbm_job_plan_ask(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                      enum lbm_start start);
/* A plan is made, or failed: LBM_EVENT_PLANNED. Takes the plan. */
void lbm_job_on_planned(struct lbm_node *node, const struct lbm_event *event);

/* ---- submit.c ---- */

/* Answer SubmitBegin: a connection begins to submit a guest. Errors in the answer: LBM_E_STATE, LBM_E_NOMEM.
 */
void lbm_job_submit_begin(struct lbm_node *node, const struct client *client, const Lbm__SubmitBegin *begin);
/* Answer SubmitRows: rows of the guest. Errors in the answer: LBM_E_STATE, LBM_E_FORMAT, LBM_E_NOMEM. */
void lbm_job_submit_rows(struct lbm_node *node, const struct client *asks, const Lbm__SubmitRows *rows);
/* Answer SubmitEnd once the job is in the log. Errors in the answer: LBM_E_STATE, LBM_E_EXISTS, LBM_E_LIMIT.
 */
void lbm_job_submit_end(struct lbm_node *node, const struct client *asks);
/* The connection of a client ended: its incomplete submission is dropped; a complete one goes on. */
void lbm_job_submit_gone(struct lbm_node *node, uint64_t client);

/* ---- table.c ---- */

void lbm_job_forget_removed(struct lbm_node *node); /* those that nobody reads any more */
/* The log does not take a job: who submitted it is told why. */
void lbm_job_refused(struct lbm_node *node, const Lbm__JobCreate *create, const char *why);
/* The log deletes a job: its records and replicas go. */
void lbm_job_deleted(struct lbm_node *node, uint64_t id);

#endif
