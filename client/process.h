/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Daemons as processes of this machine: start, find, signal. Only processes that run the daemon with the
 * very configuration file are ever signalled. */
#ifndef LBM_CLIENT_PROCESS_H
#define LBM_CLIENT_PROCESS_H

#include <sys/types.h>

#include "base/err.h"

/* Start `program -c config` in a session of its own, its output appended to log.
 * Errors: LBM_E_IO with the reason (also if the program cannot be executed). */
enum lbm_err lbm_process_start(const char *program, const char *config, const char *log, pid_t *pid,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* The process whose id is in pid_file, if it runs with this configuration file; 0 if there is none. */
pid_t lbm_process_find(const char *pid_file, const char *config);

/* Nonzero if the process exists and is no zombie; *stopped (may be NULL): it is stopped by a signal. */
int lbm_process_alive(pid_t pid, int *stopped);

/* Where the daemon is: next to this program, in the build tree, or else by PATH. */
void lbm_process_daemon_path(char *path, size_t size);

/* Ports of 127.0.0.1 that nobody has now: n different ones, not of those for outgoing connections.
 * Errors: LBM_E_IO. */
enum lbm_err lbm_process_free_ports(uint32_t n, uint16_t *port, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
