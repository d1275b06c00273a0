/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks beside each other, on as many threads as the machine has processors, two at most. */
#ifndef LBM_CLIENT_PARALLEL_H
#define LBM_CLIENT_PARALLEL_H

/* Call task(context[i]) once for every i < n, and return when all have returned. A thread that cannot be had
 * is done without. */
void lbm_parallel_run(void (*task)(void *context), void *const *context, unsigned n);

#endif
