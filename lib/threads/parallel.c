/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "threads/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

/* Plans consist of a handful of long tasks: more would be idle most of the time, and each holds a mapping. */
enum { THREADS_MAX = 4 };

struct queue {
    void (*task)(void *context);
    void *const *context;
    unsigned n;
    atomic_uint next;
};

static void *
work(void *arg)
{
    struct queue *queue = arg;
    for (unsigned i; (i = atomic_fetch_add(&queue->next, 1)) < queue->n;)
        queue->task(queue->context[i]);
    return NULL;
}

/* Start a thread that leaves signals to the one that is there. */
static int
start(pthread_t *thread, struct queue *queue)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSYS); /* a system call that is not allowed is named by the thread that made it */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = pthread_create(thread, NULL, work, queue) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Processors that this thread may run on; 1 if that is not known. */
static unsigned
processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

void
lbm_parallel_run(void (*task)(void *context), void *const *context, unsigned n)
{
    struct queue queue = {.task = task, .context = context, .n = n};
    pthread_t thread[THREADS_MAX];
    unsigned started = 0, want = processors() < n ? processors() : n;
    while (started + 1 < THREADS_MAX && started + 1 < want && start(&thread[started], &queue))
        started++;
    work(&queue);
    while (started > 0)
        pthread_join(thread[--started], NULL);
}
