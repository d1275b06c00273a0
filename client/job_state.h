/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a job stands, as the asked daemon says it: the same row, words and exit status for every command. */
#ifndef LBM_CLIENT_JOB_STATE_H
#define LBM_CLIENT_JOB_STATE_H

#include <jansson.h>

#include "client/daemon.h"

/* What a daemon says of a job as a JSON object, owned by the caller; NULL if memory is short. */
json_t *lbm_job_object(const Lbm__JobEntry *job);

/* Fields of that object for people, which --json leaves out, with a NULL at the end. */
extern const char *const lbm_job_texts[];

/* "DEGRADED for 12 s: 818 of 1600 vertices idle: host 3 ...", or the phase alone of a job that is well. */
void lbm_job_say(const json_t *job, char *text, size_t size);

/* The exit status that says it: DONE, DEGRADED or LOST. */
enum lbm_status lbm_job_status(const json_t *job);
/* The worse of two of these. */
enum lbm_status lbm_job_worse(enum lbm_status a, enum lbm_status b);

/* Ask for one job or, with an empty name, all; rows is emptied first. Status: as lbm_daemon_ask. */
enum lbm_status lbm_job_ask(struct lbm_daemon *daemon, const char *job, json_t *rows);

/* Wait until the job has settled, at most timeout_s, with progress on standard error; then print its loads
 * and figures. Status: DONE; TIMED_OUT; DEGRADED: timed out, and it is not well; LOST: at once, since waiting
 * does not help; as lbm_daemon_ask. What is not DONE was told. */
enum lbm_status lbm_job_wait(const struct lbm_cli *client, struct lbm_daemon *daemon, const char *job,
                             double timeout_s);

#endif
