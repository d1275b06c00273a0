/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* More would be idle most of the time: plans consist of few long tasks. */
enum { THREADS_MAX = 2 };

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
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = pthread_create(thread, NULL, work, queue) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void
lbm_parallel_run(void (*task)(void *context), void *const *context, unsigned n)
{
    struct queue queue = {.task = task, .context = context, .n = n};
    pthread_t thread[THREADS_MAX];
    unsigned started = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    while (started + 1 < THREADS_MAX && started + 1 < n && started + 1 < processors &&
           start(&thread[started], &queue))
        started++;
    work(&queue);
    while (started > 0)
        pthread_join(thread[--started], NULL);
}
