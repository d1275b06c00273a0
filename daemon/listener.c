/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/listener.h"

#include <errno.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "daemon/log.h"

enum { REST_S = 1 };

struct lbm_listener {
    struct evconnlistener *socket;
    struct event *wake;
    lbm_listener_accept accept;
    void *context;
    char what[LBM_ADDRESS_MAX + 1];
};

static void
on_accept(struct evconnlistener *socket, evutil_socket_t fd, struct sockaddr *address, int len, void *context)
{
    struct lbm_listener *listener = context;
    (void)socket;
    (void)len;
    listener->accept(listener->context, fd, address);
}

/* Out of descriptors or memory: the connection stays in the backlog, and the socket readable. */
static void
on_error(struct evconnlistener *socket, void *context)
{
    struct lbm_listener *listener = context;
    const struct timeval rest = {.tv_sec = REST_S};
    lbm_log(LBM_NOTE_WARNING, "%s: cannot accept a connection: %s; trying again in %d s", listener->what,
            strerror(errno), REST_S);
    evconnlistener_disable(socket);
    event_add(listener->wake, &rest);
}

static void
on_wake(evutil_socket_t fd, short what, void *context)
{
    struct lbm_listener *listener = context;
    (void)fd;
    (void)what;
    evconnlistener_enable(listener->socket);
}

enum lbm_err
lbm_listener_new(struct event_base *base, evutil_socket_t fd, const char *what, lbm_listener_accept accept,
                 void *context, struct lbm_listener **out, struct lbm_diag *diag)
{
    struct lbm_listener *listener = lbm_alloc(1, sizeof *listener);
    if (listener == NULL) {
        close(fd);
        return lbm_diag_set(diag, LBM_E_NOMEM, what, 0, "out of memory");
    }
    listener->accept = accept;
    listener->context = context;
    strncpy(listener->what, what, sizeof listener->what - 1);
    listener->wake = evtimer_new(base, on_wake, listener);
    listener->socket = evconnlistener_new(base, on_accept, listener,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, SOMAXCONN, fd);
    if (listener->wake == NULL || listener->socket == NULL) {
        enum lbm_err err = lbm_diag_set(diag, LBM_E_IO, what, 0, "cannot listen: %s", strerror(errno));
        if (listener->socket == NULL)
            close(fd);
        lbm_listener_free(listener);
        return err;
    }
    evconnlistener_set_error_cb(listener->socket, on_error);
    *out = listener;
    return LBM_OK;
}

void
lbm_listener_free(struct lbm_listener *listener)
{
    if (listener == NULL)
        return;
    if (listener->wake != NULL)
        event_free(listener->wake);
    if (listener->socket != NULL)
        evconnlistener_free(listener->socket);
    free(listener);
}
