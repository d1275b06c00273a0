/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_JOB_INTERNAL_H
#define LBM_NODE_JOB_INTERNAL_H

#include "node/core/core.h"

/* ---- ingest_gather.c ---- */

/* Answer SliceBegin of a host that reads a slice of a guest (protocol.md section 11). */
void lbm_job_ingest_begin(struct lbm_node *node, uint32_t host, uint64_t incarnation,
                          const Lbm__SliceBegin *begin);
/* A slice is complete on its host; once all are, the job is proposed to the log. */
void lbm_job_ingest_ready(struct lbm_node *node, uint32_t host, const Lbm__SliceReady *ready);
/* Give up guests of which no slice was heard for GATHER_US. */
void lbm_job_ingest_timer(struct lbm_node *node);
/* Time, us, at which lbm_job_ingest_timer has something to do; INT64_MAX: none. */
int64_t lbm_job_ingest_deadline(const struct lbm_node *node);

/* ---- ingest_slice.c ---- */

/* A client has begun to send a part: its coordinator is asked, and the client answered when that has
 * answered. */
void lbm_job_slice_begin(struct lbm_node *node, struct upload *upload, uint32_t uid);
/* What all hosts that read a part say of it. Borrows from upload and policy. */
void lbm_job_slice_fill(struct upload *upload, uint32_t uid, Lbm__JobPolicy *policy, Lbm__JobCreate *create,
                        Lbm__SliceBegin *begin);
/* All rows of a part are here, and make sense by themselves: they are stored. */
void lbm_job_slice_store(struct lbm_node *node, struct upload *upload, struct lbm_graph *g);
/* Of a job that is not in the log: tells the coordinator once the backup has the part too. */
void lbm_job_slice_timer(struct lbm_node *node, struct job *job);
/* Time, us, at which lbm_job_slice_timer has something to do; INT64_MAX: none. */
int64_t lbm_job_slice_deadline(const struct job *job);
/* After a restart: read from the packed command which slice this host has. In and out: job->part. */
void lbm_job_slice_recover(struct job *job);
/* refusal: NULL or why nothing comes of it. token 0: it is about the job. */
void lbm_job_slice_answered(struct lbm_node *node, uint64_t token, uint64_t job, const char *refusal);

/* ---- ingest_store.c ---- */

/* The job is PENDING, with the command that tells after a restart what becomes of it. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_pending(struct lbm_node *node, struct job *job,
                                   const Lbm__JobCreate *create) LBM_MUST_CHECK;
/* Every row of job->guest is OWN(1), stored by one operation and on its way to the backup. The first is
 * vertex `first`; whole > 0: of a guest of that many, others have the others. places: draws where vertices
 * begin, should coordinates diffuse, or NULL. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_rows(struct lbm_node *node, struct job *job, uint32_t first, uint32_t whole,
                                struct lbm_rng *places) LBM_MUST_CHECK;

/* The vertices of a job begin with the payloads of its upload, if it has any. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_payloads(struct lbm_node *node, struct job *job,
                                    const struct upload *upload) LBM_MUST_CHECK;

/* ---- planning.c ---- */

/* Start planning a job whose coordinator this host is: the whole guest if it is here, else the coarse graph
 * of all hosts. */
void lbm_job_plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);

/* ---- spread.c ---- */

/* Nonzero if the guest is to be spread as it is read. */
int lbm_job_spread_may(const struct lbm_node *node, const Lbm__SubmitBegin *begin);
/* Cut a guest into a part for each host; this host's is upload->part. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_spread_begin(struct lbm_node *node, struct upload *upload) LBM_MUST_CHECK;
/* Keep or pass on rows that a client has sent; upload->awaited pieces are yet to be taken. Errors:
 * LBM_E_NOMEM. */
enum lbm_err lbm_job_spread_rows(struct lbm_node *node, struct upload *upload, uint32_t uid,
                                 const Lbm__SubmitRows *rows) LBM_MUST_CHECK;
/* To the reader of a part that was passed on: its rows are taken, or why not (refusal). */
void lbm_job_spread_answer(struct lbm_node *node, const struct upload *upload, const char *refusal);
/* Drop parts whose reader has fallen silent. */
void lbm_job_spread_timer(struct lbm_node *node);

/* ---- submit.c ---- */

/* Append rows. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_submit_append(struct upload *upload, const Lbm__SubmitRows *rows) LBM_MUST_CHECK;
/* All rows of a part that was passed on are here: it is stored, or refused. The upload is gone after that. */
void lbm_job_submit_store(struct lbm_node *node, struct upload *upload);
/* Drop an upload; it is gone. */
void lbm_job_submit_forget(struct lbm_node *node, struct upload *upload);

/* Drop the submission of a connection that is not complete. */
void lbm_job_submit_drop(struct lbm_node *node, uint64_t client);

/* ---- table.c ---- */

/* Returns a new job with that id in the table of jobs; NULL if memory is short. */
struct job *lbm_job_add(struct lbm_node *node, uint64_t id);
/* Its object stays, out of reach, while another thread reads its guest. */
void lbm_job_remove(struct lbm_node *node, uint64_t id);
struct job *lbm_job_removed(const struct lbm_node *node, uint64_t id); /* such an object, or NULL */
/* Effect: store the state of a job. */
void lbm_job_store_state(struct lbm_node *node, struct job *job, enum lbm_job_state state);
void lbm_job_propose(struct lbm_node *node, struct job *job); /* once the guest is with the backup */
/* Free a job and what it holds. */
void lbm_job_free(struct job *job);
/* The client that submitted the job, if it waits, hears what became of it. */
void lbm_job_answer_submit(struct lbm_node *node, struct job *job, enum lbm_err code, const char *text);

#endif
