/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread for long computations, one at a time, so that the event loop stays awake. */
#ifndef LBM_DAEMON_PLAN_WORKER_H
#define LBM_DAEMON_PLAN_WORKER_H

#include "base/err.h"
#include "node/node.h"

struct lbm_plan_worker;

/* What came out of a task; plan and anchored belong to whoever takes the result. */
struct lbm_plan_result {
    uint64_t job;
    enum lbm_err err;
    struct lbm_plan *plan;
    uint8_t *anchored;
};

/* Out: *out owned by the caller: lbm_plan_worker_stop. The thread starts with the first task. */
enum lbm_err lbm_plan_worker_new(struct lbm_plan_worker **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Readable when lbm_plan_worker_result has something. */
int lbm_plan_worker_fd(const struct lbm_plan_worker *worker);

/* Queue a task; takes it. Errors: LBM_E_NOMEM, LBM_E_LIMIT no thread; the task is freed. */
enum lbm_err lbm_plan_worker_push(struct lbm_plan_worker *worker, struct lbm_plan_task *task) LBM_MUST_CHECK;

/* Take the next result. Value: 0 if there is none. */
int lbm_plan_worker_result(struct lbm_plan_worker *worker, struct lbm_plan_result *result);

/* Drop queued tasks and end the thread, unless it is in the middle of a task: a plan cannot be interrupted
 * and may take minutes.
 * Value: nonzero if the thread has ended and the worker is freed; 0: it still uses its task's graph and
 * hosts, so they must live until the process ends. */
int lbm_plan_worker_stop(struct lbm_plan_worker *worker);

#endif
