/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the daemon gives up before it listens to anybody.
 *
 * Owns: capabilities, the bar to new ones, the list of system calls.
 * Never: changes the user: whoever starts the daemon chooses it. */
#ifndef LBM_DAEMON_SANDBOX_H
#define LBM_DAEMON_SANDBOX_H

#include "base/err.h"

/* Give up all capabilities and the right to get new ones, and, with filter nonzero, allow this process and
 * all threads that it starts only the system calls of the list: another one ends the process with status 1
 * and says on standard error which it was. Built with sanitizers, which use others, there is no list. Call
 * once, before any thread starts. Errors:  LBM_E_IO, LBM_E_NOMEM; what has been given up stays so. */
enum lbm_err lbm_sandbox_enter(int filter, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Nonzero if this build has a list of system calls. */
int lbm_sandbox_filters(void);

#endif
