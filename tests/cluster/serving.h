/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the applications of tests share: a clock, how they are stopped, how a job is opened,
 * files that their tests look into. */
#ifndef LBM_TESTS_CLUSTER_SERVING_H
#define LBM_TESTS_CLUSTER_SERVING_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "lbmap.h"

/* Nonzero after SIGTERM, once serving_until_stopped was called. */
extern volatile sig_atomic_t serving_stopped;
void serving_until_stopped(void);

int64_t serving_now_us(void);

/* Attach to a job; the daemon may be on its way up, or the job on its way to it. NULL: not until end_us, or
 * stopped; *error says why. */
struct lbmap *serving_open(const char *job, const char *path, int64_t end_us, enum lbmap_error *error);

/* Map a whole file that others see too. NULL: it is not there (said on standard error). */
void *serving_share(const char *path, int writable, size_t *bytes);

#endif
