/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of the processors other programs leave to this daemon and its applications, from /proc. */
#ifndef LBM_DAEMON_SPARE_H
#define LBM_DAEMON_SPARE_H

#include <sys/types.h>

#include "base/err.h"

struct lbm_spare;

/* Of the processors that this process may run on.
 * In:      proc, where the kernel's files are: "/proc", copied
 * Errors:  LBM_E_IO proc/stat tells nothing of these processors; LBM_E_NOMEM. */
enum lbm_err lbm_spare_new(const char *proc, struct lbm_spare **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Since the look before.
 * In:    pid [n] of applications; those of this process count without being named
 * Value: in (0, 1]: what others did not use, or what is due next to them if that is more: the part that the
 *        applications got while they wanted to run, at most a half, or a half if they hardly did. 0: not
 *        known, the first time, too soon, or because the files could not be read. */
double lbm_spare_look(struct lbm_spare *spare, const pid_t *pid, size_t n);

void lbm_spare_free(struct lbm_spare *spare);

#endif
