/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/plan_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/worker.h"
#include "threads/parallel.h"

enum { PLAN_NICENESS = 5 }; /* planning gives way to event loops: pings must go out in time */

struct lbm_plan_worker {
    pthread_t thread;
    int running; /* the thread exists */
    int eventfd;

    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t filled;
    int stopping;
    int busy; /* in the middle of a task */
    LBM_VEC(struct lbm_plan_task *) tasks;
    LBM_VEC(struct lbm_plan_result) results; /* room is reserved when a task is queued */
};

/* Wait for a task. Value: NULL when the worker stops. */
static struct lbm_plan_task *
take(struct lbm_plan_worker *w)
{
    struct lbm_plan_task *task = NULL;
    pthread_mutex_lock(&w->lock);
    while (w->tasks.n == 0 && !w->stopping)
        pthread_cond_wait(&w->filled, &w->lock);
    if (!w->stopping) {
        task = w->tasks.at[0];
        w->tasks.n--;
        memmove(w->tasks.at, w->tasks.at + 1, w->tasks.n * sizeof *w->tasks.at);
        w->busy = 1;
    }
    pthread_mutex_unlock(&w->lock);
    return task;
}

static void *
run(void *context)
{
    struct lbm_plan_worker *w = context;
    struct lbm_plan_task *task;
    /* On Linux this changes the calling thread only. */
    if (setpriority(PRIO_PROCESS, 0, PLAN_NICENESS) != 0)
        errno = 0; /* planning at full priority is only less polite */
    while ((task = take(w)) != NULL) {
        struct lbm_plan_result result = {.job = task->job};
        result.err = lbm_node_plan(task, lbm_parallel_run, &result.plan, &result.anchored);
        free(task);
        pthread_mutex_lock(&w->lock);
        w->busy = 0;
        w->results.at[w->results.n++] = result;
        pthread_mutex_unlock(&w->lock);
        lbm_worker_ring(w->eventfd);
    }
    return NULL;
}

enum lbm_err
lbm_plan_worker_new(struct lbm_plan_worker **out, struct lbm_diag *diag)
{
    struct lbm_plan_worker *w = lbm_alloc(1, sizeof *w);
    if (w == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    w->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (w->eventfd < 0) {
        free(w);
        return lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0, "no eventfd: %s", strerror(errno));
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->filled, NULL);
    *out = w;
    return LBM_OK;
}

int
lbm_plan_worker_fd(const struct lbm_plan_worker *worker)
{
    return worker->eventfd;
}

enum lbm_err
lbm_plan_worker_push(struct lbm_plan_worker *worker, struct lbm_plan_task *task)
{
    pthread_mutex_lock(&worker->lock);
    size_t unfinished = worker->tasks.n + (worker->busy != 0) + 1;
    enum lbm_err err = lbm_vec_reserve(&worker->results, unfinished);
    if (err == LBM_OK && !worker->running)
        err = lbm_worker_start(&worker->thread, "plan", run, worker);
    if (err == LBM_OK) {
        worker->running = 1;
        err = lbm_vec_push(&worker->tasks, task);
    }
    pthread_cond_signal(&worker->filled);
    pthread_mutex_unlock(&worker->lock);
    if (err != LBM_OK)
        free(task);
    return err;
}

int
lbm_plan_worker_result(struct lbm_plan_worker *worker, struct lbm_plan_result *result)
{
    lbm_worker_silence(worker->eventfd);
    pthread_mutex_lock(&worker->lock);
    int any = worker->results.n > 0;
    if (any) {
        *result = worker->results.at[0];
        worker->results.n--;
        memmove(worker->results.at, worker->results.at + 1, worker->results.n * sizeof *worker->results.at);
    }
    pthread_mutex_unlock(&worker->lock);
    return any;
}

static void
free_unclaimed(struct lbm_plan_worker *w)
{
    for (size_t i = 0; i < w->results.n; i++) {
        if (w->results.at[i].plan != NULL)
            lbm_plan_free(w->results.at[i].plan);
        free(w->results.at[i].plan);
        free(w->results.at[i].anchored);
    }
    lbm_vec_free(&w->results);
    lbm_vec_free(&w->tasks);
}

int
lbm_plan_worker_stop(struct lbm_plan_worker *worker)
{
    if (worker == NULL)
        return 1;
    pthread_mutex_lock(&worker->lock);
    for (size_t i = 0; i < worker->tasks.n; i++)
        free(worker->tasks.at[i]);
    worker->tasks.n = 0;
    worker->stopping = 1;
    int busy = worker->busy;
    pthread_cond_signal(&worker->filled);
    pthread_mutex_unlock(&worker->lock);
    if (busy)
        return 0;
    if (worker->running)
        pthread_join(worker->thread, NULL);
    free_unclaimed(worker);
    close(worker->eventfd);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->filled);
    free(worker);
    return 1;
}
