/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/tunnel.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/listener.h"
#include "daemon/log.h"

enum {
    CONNECT_S = 3,             /* for the handshake, and the header */
    HEADER_BYTES = 16,         /* what is reached: a number, and the member's, both big-endian */
    QUEUE_BYTES_MAX = 1 << 20, /* on its way to one end; then nothing is read from the other */
    CONNECTIONS_MAX = 512,     /* at once: seven members with a dozen each, and a few of each host */
    SILENCE_MS = 5000,         /* without an acknowledgement a connection is over */
};

/* One connection: `near` is the Unix socket, `far` the other daemon. */
struct pipe {
    struct lbm_tunnel *tunnel;
    struct pipe *next;
    struct bufferevent *near, *far;
    struct event *timer;
    uint32_t host;
    int is_open;  /* bytes may go through */
    int is_asked; /* the other daemon has connected: it says first what it wants */
    int is_over;  /* one end has ended: what is queued for the other is written yet */
    uint64_t to, of;
    const void *door; /* that it came through, or NULL */
};

/* A socket that stands for an etcd elsewhere. */
struct door {
    struct lbm_tunnel *tunnel;
    struct door *next;
    struct lbm_listener *listener;
    char name[LBM_TUNNEL_NAME_MAX];
    uint32_t host;
    enum lbm_tunnel_to to;
    uint64_t of;
    int is_wanted;
};

struct lbm_tunnel {
    struct event_base *base;
    struct lbm_tls *tls;
    struct lbm_resolver *resolver;
    int dir;
    struct lbm_tunnel_handler handler;
    struct door *doors;
    struct pipe *pipes;
    unsigned n_pipes;
    struct lbm_log_limit refusals;
};

const char *
lbm_tunnel_path(int dir, const char *name, char path[LBM_TUNNEL_NAME_MAX + 32])
{
    snprintf(path, LBM_TUNNEL_NAME_MAX + 32, "/proc/self/fd/%d/%s", dir, name);
    return path;
}

static struct sockaddr_un
unix_address(const struct lbm_tunnel *tunnel, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[LBM_TUNNEL_NAME_MAX + 32];
    snprintf(address.sun_path, sizeof address.sun_path, "%s", lbm_tunnel_path(tunnel->dir, name, path));
    return address;
}

/* ---- connections -----------------------------------------------------------------------------------------
 */

static void
end(struct pipe *pipe)
{
    struct pipe **link = &pipe->tunnel->pipes;
    while (*link != pipe)
        link = &(*link)->next;
    *link = pipe->next;
    pipe->tunnel->n_pipes--;
    lbm_resolver_forget(pipe->tunnel->resolver, pipe);
    if (pipe->near != NULL)
        bufferevent_free(pipe->near);
    if (pipe->far != NULL)
        bufferevent_free(pipe->far);
    if (pipe->timer != NULL)
        event_free(pipe->timer);
    free(pipe);
}

static struct bufferevent *
other_end(const struct pipe *pipe, const struct bufferevent *bev)
{
    return bev == pipe->near ? pipe->far : pipe->near;
}

/* What one end says goes to the other; the sender waits while much is queued there. */
static void
pass_on(struct pipe *pipe, struct bufferevent *from)
{
    struct bufferevent *to = other_end(pipe, from);
    if (evbuffer_add_buffer(bufferevent_get_output(to), bufferevent_get_input(from)) != 0) {
        end(pipe);
        return;
    }
    if (evbuffer_get_length(bufferevent_get_output(to)) > QUEUE_BYTES_MAX)
        bufferevent_disable(from, EV_READ);
}

static void
on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    end(context);
}

static struct pipe *
new_pipe(struct lbm_tunnel *tunnel, uint32_t host)
{
    const struct timeval wait = {.tv_sec = CONNECT_S};
    struct pipe *pipe = tunnel->n_pipes < CONNECTIONS_MAX ? lbm_alloc(1, sizeof *pipe) : NULL;
    if (pipe == NULL)
        return NULL;
    pipe->tunnel = tunnel;
    pipe->host = host;
    pipe->timer = evtimer_new(tunnel->base, on_timer, pipe);
    if (pipe->timer == NULL || event_add(pipe->timer, &wait) != 0) {
        if (pipe->timer != NULL)
            event_free(pipe->timer);
        free(pipe);
        return NULL;
    }
    pipe->next = tunnel->pipes;
    tunnel->pipes = pipe;
    tunnel->n_pipes++;
    return pipe;
}

static void on_read(struct bufferevent *bev, void *context);
static void on_written(struct bufferevent *bev, void *context);
static void on_event(struct bufferevent *bev, short what, void *context);

static void
attach(struct pipe *pipe, struct bufferevent *bev)
{
    bufferevent_setwatermark(bev, EV_READ, 0, 0);
    bufferevent_setcb(bev, on_read, on_written, on_event, pipe);
}

static void
open_up(struct pipe *pipe)
{
    pipe->is_open = 1;
    event_del(pipe->timer);
    bufferevent_enable(pipe->near, EV_READ | EV_WRITE);
    bufferevent_enable(pipe->far, EV_READ | EV_WRITE);
}

/* ---- the end that is asked -------------------------------------------------------------------------------
 */

static uint64_t
number(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

/* The other daemon has said what it wants. */
static void
connect_here(struct pipe *pipe)
{
    struct lbm_tunnel *tunnel = pipe->tunnel;
    uint8_t header[HEADER_BYTES];
    struct evbuffer *input = bufferevent_get_input(pipe->far);
    if (pipe->near != NULL || evbuffer_get_length(input) < HEADER_BYTES)
        return;
    (void)evbuffer_remove(input, header, sizeof header);
    const char *name = tunnel->handler.target(tunnel->handler.context, pipe->host,
                                              (enum lbm_tunnel_to)number(header), number(header + 8));
    if (name == NULL) {
        end(pipe);
        return;
    }
    struct sockaddr_un address = unix_address(tunnel, name);
    pipe->near = bufferevent_socket_new(tunnel->base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (pipe->near == NULL) {
        end(pipe);
        return;
    }
    attach(pipe, pipe->near);
    bufferevent_disable(pipe->far, EV_READ);
    (void)bufferevent_socket_connect(pipe->near, (struct sockaddr *)&address, (int)sizeof address);
}

void
lbm_tunnel_accept(struct lbm_tunnel *tunnel, struct bufferevent *bev, uint32_t from)
{
    struct pipe *pipe = new_pipe(tunnel, from);
    if (pipe == NULL) {
        bufferevent_free(bev);
        return;
    }
    pipe->is_asked = 1;
    pipe->far = bev;
    attach(pipe, bev);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    connect_here(pipe);
}

/* ---- the end that asks -----------------------------------------------------------------------------------
 */

static void
put_number(uint8_t *at, uint64_t value)
{
    for (int i = 8; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

static void
say_header(struct pipe *pipe)
{
    uint8_t header[HEADER_BYTES];
    put_number(header, pipe->to);
    put_number(header + 8, pipe->of);
    if (bufferevent_write(pipe->far, header, sizeof header) == 0)
        open_up(pipe);
    else
        end(pipe);
}

static void
tune(struct bufferevent *bev)
{
    const int on = 1, silence_ms = SILENCE_MS;
    int fd = bufferevent_getfd(bev);
    if (fd >= 0) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
    }
}

static void
connect_to(struct pipe *pipe, const struct lbm_address *address)
{
    struct lbm_tunnel *tunnel = pipe->tunnel;
    SSL *ssl = lbm_tls_connect(tunnel->tls, LBM_TLS_ETCD, pipe->host);
    if (ssl != NULL)
        pipe->far = bufferevent_openssl_socket_new(tunnel->base, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
                                                   BEV_OPT_CLOSE_ON_FREE);
    if (pipe->far == NULL) {
        SSL_free(ssl);
        end(pipe);
        return;
    }
    attach(pipe, pipe->far);
    bufferevent_enable(pipe->far, EV_READ | EV_WRITE);
    struct bufferevent *far = pipe->far;
    if (bufferevent_socket_connect(far, (const struct sockaddr *)&address->storage, (int)address->len) == 0)
        tune(far);
}

static void
on_resolved(void *context, const struct lbm_address *at, size_t n, const char *why)
{
    (void)why;
    if (n != 0)
        connect_to(context, at);
    else
        end(context);
}

/* etcd, or this daemon, has connected to a socket that stands for another host. */
static void
on_accept(void *context, evutil_socket_t fd, const struct sockaddr *from)
{
    const struct door *door = context;
    struct lbm_tunnel *tunnel = door->tunnel;
    struct lbm_address_text name;
    struct lbm_address address;
    char text[LBM_ADDRESS_MAX + 1];
    const char *list = tunnel->handler.address(tunnel->handler.context, door->host);
    struct pipe *pipe = list != NULL ? new_pipe(tunnel, door->host) : NULL;
    (void)from;
    if (pipe == NULL) {
        close(fd);
        return;
    }
    pipe->to = (uint64_t)door->to;
    pipe->of = door->of;
    pipe->door = door;
    pipe->near = bufferevent_socket_new(tunnel->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (pipe->near == NULL) {
        close(fd);
        end(pipe);
        return;
    }
    attach(pipe, pipe->near);
    lbm_address_of_list(list, 0, text);
    if (lbm_address_parse(text, NULL, 0, &address, NULL) == LBM_OK)
        connect_to(pipe, &address);
    else if (lbm_address_split(text, NULL, 0, &name, NULL) != LBM_OK ||
             lbm_resolver_ask(tunnel->resolver, &name, on_resolved, pipe) != LBM_OK)
        end(pipe);
}

/* ---- what libevent tells ---------------------------------------------------------------------------------
 */

static void
on_read(struct bufferevent *bev, void *context)
{
    struct pipe *pipe = context;
    if (pipe->is_open && !pipe->is_over)
        pass_on(pipe, bev);
    else if (pipe->is_asked && !pipe->is_open)
        connect_here(pipe);
}

static void
on_written(struct bufferevent *bev, void *context)
{
    struct pipe *pipe = context;
    if (pipe->is_over)
        end(pipe);
    else if (pipe->is_open)
        bufferevent_enable(other_end(pipe, bev), EV_READ);
}

static void
on_connected(struct pipe *pipe, struct bufferevent *bev)
{
    if (bev == pipe->far) {
        if (lbm_tls_use_of(bufferevent_openssl_get_ssl(bev)) == LBM_TLS_ETCD)
            say_header(pipe);
        else
            end(pipe);
        return;
    }
    open_up(pipe);
    pass_on(pipe, pipe->far); /* what came behind the header */
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    const struct timeval wait = {.tv_sec = CONNECT_S};
    struct pipe *pipe = context;
    char why[LBM_DIAG_TEXT_MAX];
    if (what & BEV_EVENT_CONNECTED) {
        on_connected(pipe, bev);
        return;
    }
    if (!pipe->is_open && bev == pipe->far && !pipe->is_asked) {
        lbm_tls_reason(bufferevent_openssl_get_ssl(bev), bufferevent_get_openssl_error(bev), why);
        lbm_log_limited(&pipe->tunnel->refusals, LBM_NOTE_DEBUG,
                        "no connection to etcd on host %" PRIu32 ": %s", pipe->host, why);
    }
    struct bufferevent *to = pipe->is_open ? other_end(pipe, bev) : NULL;
    if (to != NULL && !pipe->is_over)
        (void)evbuffer_add_buffer(bufferevent_get_output(to), bufferevent_get_input(bev));
    if (to == NULL || pipe->is_over || evbuffer_get_length(bufferevent_get_output(to)) == 0) {
        end(pipe);
        return;
    }
    pipe->is_over = 1;
    bufferevent_disable(bev, EV_READ | EV_WRITE);
    bufferevent_disable(to, EV_READ);
    event_add(pipe->timer, &wait);
}

/* ---- sockets ---------------------------------------------------------------------------------------------
 */

static void
close_door(struct door *door)
{
    struct lbm_tunnel *tunnel = door->tunnel;
    struct door **link = &tunnel->doors;
    char path[LBM_TUNNEL_NAME_MAX + 32];
    while (*link != door)
        link = &(*link)->next;
    *link = door->next;
    for (struct pipe *pipe = tunnel->pipes, *next; pipe != NULL; pipe = next) {
        next = pipe->next;
        if (pipe->door == door)
            end(pipe);
    }
    lbm_listener_free(door->listener);
    (void)unlink(lbm_tunnel_path(tunnel->dir, door->name, path));
    free(door);
}

enum lbm_err
lbm_tunnel_open(struct lbm_tunnel *tunnel, const char *name, uint32_t host, enum lbm_tunnel_to to,
                uint64_t of, struct lbm_diag *diag)
{
    struct sockaddr_un address = unix_address(tunnel, name);
    for (struct door *door = tunnel->doors; door != NULL; door = door->next)
        if (strcmp(door->name, name) == 0) {
            door->is_wanted = 1;
            return LBM_OK;
        }
    struct door *door = lbm_alloc(1, sizeof *door);
    if (door == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, name, 0, "out of memory");
    *door = (struct door){.tunnel = tunnel, .host = host, .to = to, .of = of, .is_wanted = 1};
    snprintf(door->name, sizeof door->name, "%s", name);
    (void)unlink(address.sun_path); /* of the daemon before */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (fd >= 0)
            close(fd);
        free(door);
        return lbm_diag_set(diag, LBM_E_IO, name, 0, "no socket for etcd elsewhere: %s", strerror(errno));
    }
    enum lbm_err err = lbm_listener_new(tunnel->base, fd, door->name, on_accept, door, &door->listener, diag);
    if (err != LBM_OK) {
        free(door);
        return err;
    }
    door->next = tunnel->doors;
    tunnel->doors = door;
    return LBM_OK;
}

void
lbm_tunnel_sweep(struct lbm_tunnel *tunnel)
{
    for (struct door *door = tunnel->doors, *next; door != NULL; door = next) {
        next = door->next;
        if (door->is_wanted)
            door->is_wanted = 0;
        else
            close_door(door);
    }
}

void
lbm_tunnel_cut(struct lbm_tunnel *tunnel, uint32_t host)
{
    for (struct pipe *pipe = tunnel->pipes, *next; pipe != NULL; pipe = next) {
        next = pipe->next;
        if (pipe->host == host)
            end(pipe);
    }
}

enum lbm_err
lbm_tunnel_new(struct event_base *base, struct lbm_tls *tls, struct lbm_resolver *resolver, int dir,
               const struct lbm_tunnel_handler *handler, struct lbm_tunnel **out, struct lbm_diag *diag)
{
    struct lbm_tunnel *tunnel = lbm_alloc(1, sizeof *tunnel);
    if (tunnel == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    *tunnel =
        (struct lbm_tunnel){.base = base, .tls = tls, .resolver = resolver, .dir = dir, .handler = *handler};
    *out = tunnel;
    return LBM_OK;
}

void
lbm_tunnel_free(struct lbm_tunnel *tunnel)
{
    if (tunnel == NULL)
        return;
    while (tunnel->doors != NULL)
        close_door(tunnel->doors);
    while (tunnel->pipes != NULL)
        end(tunnel->pipes);
    free(tunnel);
}
