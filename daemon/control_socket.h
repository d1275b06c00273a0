/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binding of the control socket. Only control.c includes this. */
#ifndef LBM_DAEMON_CONTROL_SOCKET_H
#define LBM_DAEMON_CONTROL_SOCKET_H

#include <sys/types.h>

#include "base/err.h"

/* A nonblocking socket bound to path with that mode.
 * Out:     *fd owned by the caller. Errors: as lbm_control_new. */
enum lbm_err lbm_control_bind(const char *path, mode_t mode, int *fd, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
