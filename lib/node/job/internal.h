/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room share. Nothing else includes this. */
#ifndef LBM_NODE_JOB_INTERNAL_H
#define LBM_NODE_JOB_INTERNAL_H

#include "node/core/core.h"

/* ---- ingest_gather.c ---- */

void lbm_job_ingest_begin(struct lbm_node *node, uint32_t host, uint64_t incarnation,
                          const Lbm__PartBegin *begin);
void lbm_job_ingest_ready(struct lbm_node *node, uint32_t host, const Lbm__PartReady *ready);
void lbm_job_ingest_timer(struct lbm_node *node);
int64_t lbm_job_ingest_deadline(const struct lbm_node *node);

/* ---- ingest_slice.c ---- */

/* A client has begun to send a part: its home is asked, and the client answered when that has answered. */
void lbm_job_slice_begin(struct lbm_node *node, struct upload *upload, uint32_t uid);
/* All rows of a part are here, and make sense by themselves: they are stored. */
void lbm_job_slice_store(struct lbm_node *node, struct upload *upload, struct lbm_graph *g);
/* Of a job that is not in the log: tells the home once the backup has the part too. */
void lbm_job_slice_timer(struct lbm_node *node, struct job *job);
int64_t lbm_job_slice_deadline(const struct job *job);
void lbm_job_slice_recover(struct job *job);
/* refusal: NULL or why nothing comes of it. token 0: it is about the job. */
void lbm_job_slice_answered(struct lbm_node *node, uint64_t token, uint64_t job, const char *refusal);

/* ---- ingest_store.c ---- */

/* The job is PENDING, with the command that tells after a restart what becomes of it. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_pending(struct lbm_node *node, struct job *job,
                                   const Lbm__JobCreate *create) LBM_MUST_CHECK;
/* Every row of job->guest is OWN(1), stored by one operation and on its way to the backup. The first is
 * vertex `first`; whole > 0: of a guest of so many, others have the others. places: draws where vertices
 * begin, should coordinates diffuse, or NULL. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_job_store_rows(struct lbm_node *node, struct job *job, uint32_t first, uint32_t whole,
                                struct lbm_rng *places) LBM_MUST_CHECK;

/* ---- planning.c ---- */

void lbm_job_plan_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry);

/* ---- submit.c ---- */

void lbm_job_submit_drop(struct lbm_node *node, uint64_t client);

/* ---- table.c ---- */

struct job *lbm_job_add(struct lbm_node *node, uint64_t id);
/* Its object stays, out of reach, while another thread reads its guest. */
void lbm_job_remove(struct lbm_node *node, uint64_t id);
struct job *lbm_job_removed(const struct lbm_node *node, uint64_t id); /* such an object, or NULL */
void lbm_job_store_state(struct lbm_node *node, struct job *job, enum lbm_job_state state);
void lbm_job_propose(struct lbm_node *node, struct job *job); /* once the guest is with the backup */
void lbm_job_free(struct job *job);
/* The client that submitted the job, if it waits, hears what became of it. */
void lbm_job_answer_submit(struct lbm_node *node, struct job *job, enum lbm_err code, const char *text);

#endif
