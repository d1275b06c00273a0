/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections of lbctl to daemons on other machines. */
#ifndef LBM_CLIENT_DIAL_H
#define LBM_CLIENT_DIAL_H

#include "api/call.h"
#include "base/err.h"

/* Nonzero if text is HOST:PORT or [ADDRESS]:PORT, and no path of a socket: it has no slash. */
int lbm_dial_is_address(const char *text);

/* Connect to HOST:PORT or [ADDRESS]:PORT; names are resolved.
 * Out:     *fd, blocking, owned by the caller
 * Errors:  LBM_E_SYNTAX there is no port, LBM_E_UNREACHABLE; diag. */
enum lbm_err lbm_dial(const char *address, unsigned timeout_ms, int *fd,
                      struct lbm_diag *diag) LBM_MUST_CHECK;

/* Connect as the user whose certificate is in that folder, and let the handle speak over TLS to the daemon,
 * which has to show a certificate of the same cluster.
 * Out:     *handle, until lbm_api_disconnect
 * Errors:  those of lbm_dial and lbm_identity_read_user, LBM_E_DENIED the other end is no host of the
 * cluster. */
enum lbm_err lbm_dial_daemon(const char *address, const char *identity, struct lbmap *handle,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
