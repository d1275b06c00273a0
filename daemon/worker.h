/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads next to the event loop. */
#ifndef LBM_DAEMON_WORKER_H
#define LBM_DAEMON_WORKER_H

#include <pthread.h>

#include "base/err.h"

/* Start a thread with all signals blocked: the event loop alone receives them.
 * Errors: LBM_E_LIMIT the system has no thread left. */
enum lbm_err lbm_worker_start(pthread_t *thread, const char *name, void *(*run)(void *),
                              void *context) LBM_MUST_CHECK;

/* Wake the event loop from a thread, through its eventfd. */
void lbm_worker_ring(int eventfd);

/* Take back what was rung. */
void lbm_worker_silence(int eventfd);

#endif
