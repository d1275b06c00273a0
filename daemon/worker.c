/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "daemon/worker.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>

enum lbm_err
lbm_worker_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all,
              SIGSYS); /* a system call that is not allowed is named by the thread that made it (sandbox.h) */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0)
        return LBM_E_LIMIT;
    pthread_setname_np(*thread, name);
    return LBM_OK;
}

void
lbm_worker_ring(int eventfd)
{
    /* It fails only when the counter is full: then the loop has been rung already. */
    const uint64_t one = 1;
    ssize_t written = write(eventfd, &one, sizeof one);
    (void)written;
}

void
lbm_worker_silence(int eventfd)
{
    uint64_t count;
    ssize_t got = read(eventfd, &count, sizeof count);
    (void)got;
}
