/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a supervisor of processes wants to know: readiness and life (systemd), and a pid file (others). */
#ifndef LBM_DAEMON_SUPERVISOR_H
#define LBM_DAEMON_SUPERVISOR_H

#include <stdint.h>

#include "base/err.h"

/* Tell systemd; without it, or in a build without libsystemd, these do nothing. */
void lbm_supervisor_ready(const char *status);   /* once: others can count on it from now on */
void lbm_supervisor_waiting(const char *status); /* not ready yet: for what */
void lbm_supervisor_stopping(void);
void lbm_supervisor_alive(void);

/* How often lbm_supervisor_alive is due, microseconds; 0: nobody watches. */
uint64_t lbm_supervisor_alive_period_us(void);

/* Write this process's id. Errors: LBM_E_DENIED, LBM_E_IO. */
enum lbm_err lbm_pid_file_write(const char *path, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
