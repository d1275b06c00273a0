/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bar on standard error if that is a terminal; otherwise nothing. */
#ifndef LBM_CLIENT_PROGRESS_H
#define LBM_CLIENT_PROGRESS_H

#include <stdint.h>

struct lbm_progress {
    int shown; /* nonzero: there is somebody to see it */
    int drawn; /* nonzero: a bar stands on the line */
    int64_t last_ms;
};

/* Monotonic time, milliseconds. */
int64_t lbm_progress_now_ms(void);

void lbm_progress_begin(struct lbm_progress *progress, int quiet);
void lbm_progress_show(struct lbm_progress *progress, const char *stage, double done); /* done in [0, 1] */
void lbm_progress_end(struct lbm_progress *progress);                                  /* wipes the line */

#endif
