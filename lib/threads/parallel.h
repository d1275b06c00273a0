/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks next to each other, on threads of this process. */
#ifndef LBM_THREADS_PARALLEL_H
#define LBM_THREADS_PARALLEL_H

/* Call task(context[i]) once for every i < n, and return when all have returned: on as many threads as the
 * caller may use processors, four at most. They have the caller's priority and leave signals to it. A thread
 * that cannot be had is done without. A task may call this, too: then there are as many for each. */
void lbm_parallel_run(void (*task)(void *context), void *const *context, unsigned n);

#endif
