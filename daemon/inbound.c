/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/inbound.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "daemon/frames.h"
#include "daemon/listener.h"
#include "daemon/log.h"

enum {
    HELLO_BYTES_MAX = 4096, /* name, address and numbers fit; nothing larger is buffered for a stranger */
    HELLO_WAIT_S = 5,
    STRANGERS_MAX = 64, /* connections that have not said Hello; the oldest gives way */
};
_Static_assert(HELLO_BYTES_MAX >= LBM_NAME_MAX + LBM_ADDRESS_MAX + 256, "a Hello of the longest names fits");

struct connection {
    struct lbm_inbound *inbound;
    struct connection *next; /* newest first */
    struct lbm_frames frames;
    uint32_t src; /* LBM_NONE before the Hello */
};

struct lbm_inbound {
    struct event_base *base;
    struct lbm_listener *listener;
    struct lbm_inbound_handler handler;
    struct connection *connections;
    int paused;
};

static void
drop(struct connection *connection)
{
    struct connection **link = &connection->inbound->connections;
    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    bufferevent_free(connection->frames.bev);
    free(connection);
}

/* Make room for one more stranger. */
static void
limit_strangers(struct lbm_inbound *inbound)
{
    struct connection *oldest = NULL;
    unsigned strangers = 0;
    for (struct connection *c = inbound->connections; c != NULL; c = c->next) {
        if (c->src == LBM_NONE) {
            oldest = c;
            strangers++;
        }
    }
    if (strangers >= STRANGERS_MAX)
        drop(oldest);
}

/* The old connection of a host that has connected again: its other end is gone. */
static void
replace(struct connection *connection)
{
    for (struct connection *c = connection->inbound->connections; c != NULL; c = c->next) {
        if (c != connection && c->src == connection->src) {
            drop(c);
            return;
        }
    }
}

/* Value: LBM_OK, or why the connection ends. */
static enum lbm_err
check_source(struct connection *connection, const Lbm__Peer *message)
{
    if (connection->src != LBM_NONE)
        return message->src == connection->src ? LBM_OK : LBM_E_DENIED;
    const struct lbm_inbound_handler *handler = &connection->inbound->handler;
    if (message->body_case != LBM__PEER__BODY_HELLO || message->src >= LBM_HOSTS_MAX ||
        !handler->accepts(handler->context, message))
        return LBM_E_DENIED;
    connection->src = message->src;
    connection->frames.bytes_max = LBM_FRAME_BYTES_MAX;
    bufferevent_set_timeouts(connection->frames.bev, NULL, NULL);
    replace(connection);
    lbm_log(LBM_NOTE_DEBUG, "host %" PRIu32 " has connected", connection->src);
    return LBM_OK;
}

static enum lbm_err
on_frame(void *context, const uint8_t *bytes, size_t len)
{
    struct connection *connection = context;
    struct lbm_inbound *inbound = connection->inbound;
    struct lbm_diag diag = {0};
    Lbm__Peer *message;
    enum lbm_err err = lbm_wire_unpack_peer(bytes, len, &message, &diag);
    if (err != LBM_OK) {
        lbm_log_diag(LBM_NOTE_WARNING, &diag);
        return err;
    }
    err = check_source(connection, message);
    if (err == LBM_OK)
        inbound->handler.message(inbound->handler.context, message, len + LBM_FRAME_HEADER);
    lbm__peer__free_unpacked(message, NULL);
    return err;
}

static void
on_read(struct bufferevent *bev, void *context)
{
    struct connection *connection = context;
    (void)bev;
    enum lbm_err err = lbm_frames_take(&connection->frames);
    if (err == LBM_OK)
        return;
    if (connection->src == LBM_NONE)
        lbm_log(LBM_NOTE_WARNING, "closing a connection that does not begin with a Hello for this host: %s",
                lbm_err_text(err));
    else
        lbm_log(LBM_NOTE_WARNING, "closing the connection from host %" PRIu32 ": %s", connection->src,
                lbm_err_text(err));
    drop(connection);
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct connection *connection = context;
    (void)bev;
    if (connection->src != LBM_NONE)
        lbm_log(LBM_NOTE_DEBUG, "host %" PRIu32 " has closed its connection", connection->src);
    else if (what & BEV_EVENT_TIMEOUT)
        lbm_log(LBM_NOTE_WARNING, "closing a connection that has not said Hello in %d s", HELLO_WAIT_S);
    drop(connection);
}

static void
on_accept(void *context, evutil_socket_t fd)
{
    struct lbm_inbound *inbound = context;
    const struct timeval wait = {.tv_sec = HELLO_WAIT_S};
    limit_strangers(inbound);
    struct connection *connection = lbm_alloc(1, sizeof *connection);
    struct bufferevent *bev = bufferevent_socket_new(inbound->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (connection == NULL || bev == NULL) {
        lbm_log(LBM_NOTE_ERROR, "out of memory for a connection");
        free(connection);
        if (bev != NULL)
            bufferevent_free(bev);
        else
            close(fd);
        return;
    }
    connection->inbound = inbound;
    connection->src = LBM_NONE;
    connection->frames = (struct lbm_frames){
        .bev = bev, .bytes_max = HELLO_BYTES_MAX, .frame = on_frame, .context = connection};
    connection->next = inbound->connections;
    inbound->connections = connection;
    lbm_frames_tune(bev);
    bufferevent_setcb(bev, on_read, NULL, on_event, connection);
    bufferevent_set_timeouts(bev, &wait, NULL);
    bufferevent_disable(bev, EV_WRITE);
    if (!inbound->paused)
        bufferevent_enable(bev, EV_READ);
}

/* A socket bound to the address, or -1 with errno. */
static int
bind_to(const struct lbm_address *address)
{
    const int on = 1;
    int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    /* A daemon that starts again must not wait for the old connections' TIME_WAIT. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (const struct sockaddr *)&address->storage, address->len) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

enum lbm_err
lbm_inbound_new(struct event_base *base, const struct lbm_address *address, const char *what,
                const struct lbm_inbound_handler *handler, struct lbm_inbound **out, struct lbm_diag *diag)
{
    int fd = bind_to(address);
    if (fd < 0 && errno == EADDRINUSE)
        return lbm_diag_set(diag, LBM_E_BUSY, what, 0,
                            "another process listens there; give this host another port (listen)");
    if (fd < 0)
        return lbm_diag_set(diag, LBM_E_IO, what, 0, "cannot listen: %s", strerror(errno));
    struct lbm_inbound *inbound = lbm_alloc(1, sizeof *inbound);
    if (inbound == NULL) {
        close(fd);
        return lbm_diag_set(diag, LBM_E_NOMEM, what, 0, "out of memory");
    }
    inbound->base = base;
    inbound->handler = *handler;
    enum lbm_err err = lbm_listener_new(base, fd, what, on_accept, inbound, &inbound->listener, diag);
    if (err != LBM_OK) {
        free(inbound);
        return err;
    }
    *out = inbound;
    return LBM_OK;
}

void
lbm_inbound_pause(struct lbm_inbound *inbound, int paused)
{
    inbound->paused = paused;
    for (struct connection *c = inbound->connections; c != NULL; c = c->next) {
        if (paused)
            bufferevent_disable(c->frames.bev, EV_READ);
        else
            bufferevent_enable(c->frames.bev, EV_READ);
    }
}

void
lbm_inbound_free(struct lbm_inbound *inbound)
{
    if (inbound == NULL)
        return;
    while (inbound->connections != NULL)
        drop(inbound->connections);
    lbm_listener_free(inbound->listener);
    free(inbound);
}
