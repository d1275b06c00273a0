/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/inbound.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "daemon/accept_rate.h"
#include "daemon/frames.h"
#include "daemon/listener.h"
#include "daemon/log.h"

enum {
    HELLO_BYTES_MAX = 4096, /* name, address and numbers fit; nothing larger is buffered for a stranger */
    HELLO_WAIT_S = 5,       /* from being accepted to a Hello, the handshake between them */
    STRANGERS_MAX = 64,     /* connections that have not said Hello */
    COMPLAINT_S = 60,       /* between log lines about strangers */
};
_Static_assert(HELLO_BYTES_MAX >= LBM_NAME_MAX + LBM_ADDRESS_MAX + 256, "a Hello of the longest names fits");

struct connection {
    struct lbm_inbound *inbound;
    struct connection *next; /* newest first */
    struct lbm_frames frames;
    struct event *timer;            /* ends a stranger */
    char from[LBM_ADDRESS_MAX + 1]; /* the other end's address */
    uint64_t place;                 /* lbm_accept_place of it */
    uint32_t host;                  /* that its certificate names; LBM_NONE before the handshake is over */
    uint32_t src;                   /* the same once it has said Hello, else LBM_NONE */
};

struct lbm_inbound {
    struct event_base *base;
    struct lbm_tls *tls;
    struct lbm_listener *listener;
    struct lbm_inbound_handler handler;
    struct lbm_accept_rate rate;
    struct connection *connections;
    int paused;
    time_t complained; /* when something was last said of a stranger */
    unsigned unsaid;   /* strangers since then of whom nothing was said */
};

/* Strangers must not fill the log: one line now and then, with the number of those left out. */
static void
complain(struct lbm_inbound *inbound, const char *from, const char *why)
{
    struct timeval now;
    event_base_gettimeofday_cached(inbound->base, &now);
    if (inbound->complained != 0 && now.tv_sec >= inbound->complained &&
        now.tv_sec - inbound->complained < COMPLAINT_S) {
        inbound->unsaid++;
        return;
    }
    char more[64] = "";
    if (inbound->unsaid != 0)
        snprintf(more, sizeof more, " (and %u others before it)", inbound->unsaid);
    lbm_log(LBM_NOTE_WARNING, "refused a connection from %s: %s%s", from, why, more);
    inbound->complained = now.tv_sec;
    inbound->unsaid = 0;
}

static void
drop(struct connection *connection)
{
    struct connection **link = &connection->inbound->connections;
    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    if (connection->frames.bev != NULL)
        bufferevent_free(connection->frames.bev);
    event_free(connection->timer);
    free(connection);
}

static unsigned
strangers_of(const struct lbm_inbound *inbound, uint64_t place)
{
    unsigned n = 0;
    for (const struct connection *c = inbound->connections; c != NULL; c = c->next)
        n += c->src == LBM_NONE && c->place == place;
    return n;
}

/* Make room for one more stranger: the oldest of the place that has most of them gives way. */
static void
limit_strangers(struct lbm_inbound *inbound)
{
    struct connection *oldest = NULL;
    unsigned strangers = 0, most = 0;
    for (struct connection *c = inbound->connections; c != NULL; c = c->next)
        strangers += c->src == LBM_NONE;
    if (strangers < STRANGERS_MAX)
        return;
    for (struct connection *c = inbound->connections; c != NULL; c = c->next) {
        unsigned n = c->src == LBM_NONE ? strangers_of(inbound, c->place) : 0;
        if (n != 0 && n >= most) {
            most = n;
            oldest = c;
        }
    }
    complain(inbound, oldest->from, "too many connect at once");
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
    if (message->body_case != LBM__PEER__BODY_HELLO || message->src != connection->host ||
        !handler->accepts(handler->context, message))
        return LBM_E_DENIED;
    connection->src = message->src;
    connection->frames.bytes_max = LBM_FRAME_BYTES_MAX;
    event_del(connection->timer);
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
        complain(connection->inbound, connection->from, "it does not begin with its own Hello for this host");
    else
        lbm_log(LBM_NOTE_WARNING, "closing the connection from host %" PRIu32 ": %s", connection->src,
                lbm_err_text(err));
    drop(connection);
}

/* The handshake is over: the certificate is good for what is spoken from here on. */
static void
on_handshake(struct connection *connection)
{
    const struct lbm_inbound_handler *handler = &connection->inbound->handler;
    const SSL *ssl = bufferevent_openssl_get_ssl(connection->frames.bev);
    enum lbm_tls_use use = lbm_tls_use_of(ssl);
    struct lbm_pki_subject peer;
    if (use == LBM_TLS_PEER && lbm_tls_peer(ssl, &peer)) {
        connection->host = peer.host;
        return;
    }
    if (use == LBM_TLS_NONE || handler->other == NULL) {
        complain(connection->inbound, connection->from, "it speaks no protocol of lbmap");
        drop(connection);
        return;
    }
    struct bufferevent *bev = connection->frames.bev;
    connection->frames.bev = NULL;
    handler->other(handler->context, use, bev, connection->from);
    drop(connection);
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct connection *connection = context;
    char why[LBM_DIAG_TEXT_MAX];
    if (what & BEV_EVENT_CONNECTED) {
        on_handshake(connection);
        return;
    }
    if (connection->src != LBM_NONE) {
        lbm_log(LBM_NOTE_DEBUG, "host %" PRIu32 " has closed its connection", connection->src);
    } else if (connection->host == LBM_NONE) {
        lbm_tls_reason(bufferevent_openssl_get_ssl(bev), bufferevent_get_openssl_error(bev), why);
        complain(connection->inbound, connection->from, why);
    }
    drop(connection);
}

static void
on_timer(evutil_socket_t fd, short what, void *context)
{
    struct connection *connection = context;
    (void)fd;
    (void)what;
    complain(connection->inbound, connection->from, "it has not said in time who it is");
    drop(connection);
}

/* Takes fd. Value: NULL if memory is short. */
static struct connection *
new_connection(struct lbm_inbound *inbound, evutil_socket_t fd)
{
    struct connection *connection = lbm_alloc(1, sizeof *connection);
    struct event *timer = connection != NULL ? evtimer_new(inbound->base, on_timer, connection) : NULL;
    SSL *ssl = timer != NULL ? lbm_tls_accept(inbound->tls) : NULL;
    struct bufferevent *bev =
        ssl != NULL ? bufferevent_openssl_socket_new(inbound->base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING,
                                                     BEV_OPT_CLOSE_ON_FREE)
                    : NULL;
    if (bev == NULL) {
        SSL_free(ssl);
        if (timer != NULL)
            event_free(timer);
        free(connection);
        close(fd);
        return NULL;
    }
    connection->inbound = inbound;
    connection->timer = timer;
    connection->host = connection->src = LBM_NONE;
    connection->frames = (struct lbm_frames){
        .bev = bev, .bytes_max = HELLO_BYTES_MAX, .frame = on_frame, .context = connection};
    return connection;
}

static int64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
on_accept(void *context, evutil_socket_t fd, const struct sockaddr *address)
{
    struct lbm_inbound *inbound = context;
    const struct timeval wait = {.tv_sec = HELLO_WAIT_S};
    const int on = 1;
    char from[LBM_ADDRESS_MAX + 1];
    uint64_t place = lbm_accept_place(address);
    lbm_address_print(address, from);
    if (!lbm_accept_rate_take(&inbound->rate, place, now_us())) {
        complain(inbound, from, "too many connect a second");
        close(fd);
        return;
    }
    limit_strangers(inbound);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* the handshake does not wait */
    struct connection *connection = new_connection(inbound, fd);
    if (connection == NULL) {
        lbm_log(LBM_NOTE_ERROR, "out of memory for a connection");
        return;
    }
    memcpy(connection->from, from, sizeof from);
    connection->place = place;
    connection->next = inbound->connections;
    inbound->connections = connection;
    lbm_frames_tune(connection->frames.bev);
    bufferevent_setcb(connection->frames.bev, on_read, NULL, on_event, connection);
    event_add(connection->timer, &wait);
    bufferevent_enable(connection->frames.bev, inbound->paused ? EV_WRITE : EV_READ | EV_WRITE);
}

/* A socket bound to the address, or -1 with errno. */
static int
bind_to(const struct lbm_address *address)
{
    const int on = 1, off = 0;
    int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    /* A daemon that starts again must not wait for the old connections' TIME_WAIT; [::] is IPv4, too. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        (address->storage.ss_family != AF_INET6 ||
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) &&
        bind(fd, (const struct sockaddr *)&address->storage, address->len) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

enum lbm_err
lbm_inbound_new(struct event_base *base, struct lbm_tls *tls, const struct lbm_address *address,
                const char *what, const struct lbm_inbound_handler *handler, struct lbm_inbound **out,
                struct lbm_diag *diag)
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
    inbound->tls = tls;
    inbound->handler = *handler;
    lbm_accept_rate_start(&inbound->rate, now_us());
    enum lbm_err err = lbm_listener_new(base, fd, what, on_accept, inbound, &inbound->listener, diag);
    if (err != LBM_OK) {
        free(inbound);
        return err;
    }
    *out = inbound;
    return LBM_OK;
}

void
lbm_inbound_cut(struct lbm_inbound *inbound, uint32_t host)
{
    struct connection *next;
    for (struct connection *c = inbound->connections; c != NULL; c = next) {
        next = c->next;
        if (c->host == host)
            shutdown(bufferevent_getfd(c->frames.bev), SHUT_RDWR); /* on_event drops it */
    }
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
