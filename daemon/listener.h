/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A listening socket that rests for a moment when the system cannot give it one more connection, instead
 * of turning in circles. */
#ifndef LBM_DAEMON_LISTENER_H
#define LBM_DAEMON_LISTENER_H

#include <event2/event.h>
#include <event2/util.h>
#include <sys/socket.h>

#include "base/err.h"

struct lbm_listener;

/* Take the new connection: fd is nonblocking and owned by the callee; `from` is the other end's address. */
typedef void (*lbm_listener_accept)(void *context, evutil_socket_t fd, const struct sockaddr *from);

/* Listen on a bound socket. Takes fd, also on error.
 * In:      what: the socket's name, for messages
 * Out:     *out owned by the caller: lbm_listener_free. */
enum lbm_err lbm_listener_new(struct event_base *base, evutil_socket_t fd, const char *what,
                              lbm_listener_accept accept, void *context, struct lbm_listener **out,
                              struct lbm_diag *diag) LBM_MUST_CHECK;

void lbm_listener_free(struct lbm_listener *listener);

#endif
