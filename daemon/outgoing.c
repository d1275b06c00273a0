/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/outgoing.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "daemon/frames.h"
#include "daemon/log.h"

enum {
    PAUSE_MIN_US = 50000,
    PAUSE_MAX_US =
        1000000, /* below LEAD_ALONE_US: a leader that lost its disk hears of us before it begins again */
    CONNECT_WAIT_US = 5000000,
    UNACKNOWLEDGED_MS = 10000, /* a host that acknowledges nothing for so long is gone */
};

enum state {
    PAUSED,     /* the timer connects again */
    RESOLVING,  /* its name is looked up */
    CONNECTING, /* the timer gives up */
    UP,
    BROKEN, /* given up within a call; the timer closes, at once */
};

struct peer {
    struct lbm_outgoing *outgoing;
    uint32_t host;
    char name[LBM_ADDRESS_MAX + 1];               /* or several, with commas between */
    struct lbm_address address[LBM_RESOLVED_MAX]; /* of the one that is tried, as last looked up */
    size_t n_addresses;
    size_t attempts;                   /* at this name */
    char reached[LBM_ADDRESS_MAX + 1]; /* the one by which the last connection came to stand, or "" */
    enum state state;
    int announced; /* `up` was called and `down` was not */
    int told;      /* why there is no connection yet */
    struct bufferevent *bev;
    struct event *timer;
    uint64_t connection; /* number of the connection that stands, or stood last */
    int opened;          /* a frame that is not lossy was sent over it */
    int64_t waiting;     /* bytes of frames for it that wait for the disk */
    int is_behind;       /* more than LBM_PEER_BEHIND bytes were unsent, and something still is */
    struct timeval up_since;
    uint32_t pause_us; /* the next one */
};

struct lbm_outgoing {
    struct event_base *base;
    struct lbm_tls *tls;
    struct lbm_resolver *resolver;
    struct lbm_outgoing_handler handler;
    struct lbm_rng rng;
    uint64_t connections;
    LBM_VEC(uint32_t) behind; /* hosts that fell behind and were not named yet */
    struct peer *peers[LBM_HOSTS_MAX];
};

static void
set_timer(struct peer *peer, uint32_t us)
{
    const struct timeval wait = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    event_add(peer->timer, &wait);
}

/* Pause between half and one and a half of pause_us, and pause longer next time. */
static void
pause_connecting(struct peer *peer)
{
    uint32_t us = peer->pause_us / 2 + lbm_rng_below(&peer->outgoing->rng, peer->pause_us);
    peer->state = PAUSED;
    peer->pause_us = peer->pause_us * 2 < PAUSE_MAX_US ? peer->pause_us * 2 : PAUSE_MAX_US;
    set_timer(peer, us);
}

/* End the connection, or the attempt at one, tell, and plan the next. */
static void
close_connection(struct peer *peer, const char *why)
{
    struct lbm_outgoing *outgoing = peer->outgoing;
    struct timeval now, lasted;
    if (peer->bev != NULL)
        bufferevent_free(peer->bev);
    peer->bev = NULL;
    if (peer->announced) {
        lbm_log(LBM_NOTE_INFO, "connection to host %" PRIu32 " (%s) has ended: %s", peer->host, peer->name,
                why);
        /* One that is refused as soon as it stands must not be tried again at once forever. */
        event_base_gettimeofday_cached(outgoing->base, &now);
        evutil_timersub(&now, &peer->up_since, &lasted);
        if (lasted.tv_sec * 1000000 + lasted.tv_usec > PAUSE_MAX_US)
            peer->pause_us = PAUSE_MIN_US;
    }
    if (!peer->announced && !peer->told) {
        peer->told = 1;
        lbm_log(LBM_NOTE_INFO, "no connection to host %" PRIu32 " (%s) yet: %s", peer->host, peer->name, why);
    }
    pause_connecting(peer);
    if (peer->announced) {
        peer->announced = 0;
        outgoing->handler.down(outgoing->handler.context, peer->host);
    }
}

/* Why a connection, or an attempt at one, has ended. */
static const char *
reason(struct peer *peer, short what, int error, char why[LBM_DIAG_TEXT_MAX])
{
    unsigned long tls_error = bufferevent_get_openssl_error(peer->bev);
    if ((what & BEV_EVENT_ERROR) != 0 && tls_error == 0 && error != 0)
        return strerror(error);
    lbm_tls_reason(bufferevent_openssl_get_ssl(peer->bev), tls_error, why);
    return why;
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct peer *peer = context;
    struct lbm_outgoing *outgoing = peer->outgoing;
    (void)bev;
    if (peer->state == BROKEN)
        return; /* the timer is about to close it */
    if (!(what & BEV_EVENT_CONNECTED)) {
        char why[LBM_DIAG_TEXT_MAX];
        close_connection(peer, reason(peer, what, errno, why));
        return;
    }
    if (lbm_tls_use_of(bufferevent_openssl_get_ssl(peer->bev)) != LBM_TLS_PEER) {
        close_connection(peer, "it does not speak the protocol of hosts");
        return;
    }
    event_del(peer->timer);
    peer->state = UP;
    peer->attempts--; /* it is the first to be tried next time */
    lbm_address_of_list(peer->name, peer->attempts, peer->reached);
    peer->connection = ++outgoing->connections;
    peer->opened = 0;
    peer->waiting = 0;
    peer->is_behind = 0;
    peer->announced = 1;
    peer->told = 0;
    event_base_gettimeofday_cached(outgoing->base, &peer->up_since);
    lbm_log(LBM_NOTE_DEBUG, "connected to host %" PRIu32 " (%s)", peer->host, peer->name);
    outgoing->handler.up(outgoing->handler.context, peer->host);
}

/* Called when nothing waits to be written. What waits for the disk is sent, and written, later. */
static void
on_written(struct bufferevent *bev, void *context)
{
    struct peer *peer = context;
    if (peer->state != UP || !peer->is_behind || peer->waiting > 0 || lbm_frames_queued(bev) != 0)
        return;
    peer->is_behind = 0;
    peer->outgoing->handler.caught_up(peer->outgoing->handler.context, peer->host);
}

static void
look_behind(struct peer *peer)
{
    struct lbm_outgoing *outgoing = peer->outgoing;
    if (peer->is_behind || lbm_frames_queued(peer->bev) + (size_t)peer->waiting <= LBM_PEER_BEHIND)
        return;
    if (lbm_vec_push(&outgoing->behind, peer->host) == LBM_OK) /* else it is looked at with the next frame */
        peer->is_behind = 1;
}

void
lbm_outgoing_wait(struct lbm_outgoing *outgoing, uint32_t host, uint64_t connection, int64_t bytes)
{
    if (connection == 0 || lbm_outgoing_connection(outgoing, host) != connection)
        return;
    struct peer *peer = outgoing->peers[host];
    peer->waiting += bytes;
    LBM_ASSERT(peer->waiting >= 0);
    look_behind(peer);
}

uint32_t
lbm_outgoing_fell_behind(struct lbm_outgoing *outgoing)
{
    while (outgoing->behind.n != 0) {
        const struct peer *peer = outgoing->peers[outgoing->behind.at[--outgoing->behind.n]];
        if (peer->state == UP && peer->is_behind)
            return peer->host;
    }
    return LBM_NONE;
}

/* The other end only receives. */
static void
on_read(struct bufferevent *bev, void *context)
{
    struct peer *peer = context;
    (void)bev;
    if (peer->state != BROKEN)
        close_connection(peer, "the other end sent something: it is not lbmapd");
}

/* The socket is there once connecting has begun. */
static void
set_options(int fd)
{
    const int on = 1, silence_ms = UNACKNOWLEDGED_MS;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms) != 0)
        lbm_log(LBM_NOTE_DEBUG, "a connection without its options: %s", strerror(errno));
}

/* Connect to the next of the addresses: names in turn, and of each the next number with every round. */
static void
start_connecting(struct peer *peer)
{
    size_t round = peer->attempts++ / lbm_address_count(peer->name);
    const struct lbm_address *address = &peer->address[round % peer->n_addresses];
    SSL *ssl = lbm_tls_connect(peer->outgoing->tls, LBM_TLS_PEER, peer->host);
    if (ssl != NULL)
        peer->bev = bufferevent_openssl_socket_new(peer->outgoing->base, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
                                                   BEV_OPT_CLOSE_ON_FREE);
    if (peer->bev == NULL) {
        lbm_log(LBM_NOTE_WARNING, "no memory for a connection to host %" PRIu32, peer->host);
        SSL_free(ssl);
        pause_connecting(peer);
        return;
    }
    lbm_frames_tune(peer->bev);
    bufferevent_setwatermark(peer->bev, EV_READ, 0, 0); /* a single byte is too many */
    bufferevent_setcb(peer->bev, on_read, on_written, on_event, peer);
    bufferevent_enable(peer->bev, EV_READ | EV_WRITE);
    peer->state = CONNECTING;
    set_timer(peer, CONNECT_WAIT_US);
    /* An error here is reported to on_event as well, maybe before this returns. */
    struct bufferevent *bev = peer->bev;
    (void)bufferevent_socket_connect(bev, (const struct sockaddr *)&address->storage, (int)address->len);
    if (peer->bev == bev && bufferevent_getfd(bev) >= 0)
        set_options(bufferevent_getfd(bev));
}

static void
on_resolved(void *context, const struct lbm_address *at, size_t n, const char *why)
{
    struct peer *peer = context;
    char text[LBM_DIAG_TEXT_MAX];
    if (peer->state != RESOLVING)
        return;
    if (n != 0) {
        memcpy(peer->address, at, n * sizeof *at);
        peer->n_addresses = n;
        start_connecting(peer);
        return;
    }
    snprintf(text, sizeof text, "its name is not known: %s", why);
    close_connection(peer, text);
}

/* Names are looked up again for every attempt: a host may get another address at any time. */
static void
look_up(struct peer *peer)
{
    char text[LBM_ADDRESS_MAX + 1];
    struct lbm_address_text name;
    lbm_address_of_list(peer->name, peer->attempts, text);
    if (lbm_address_parse(text, NULL, 0, &peer->address[0], NULL) == LBM_OK) {
        peer->n_addresses = 1;
        start_connecting(peer);
        return;
    }
    peer->state = RESOLVING;
    enum lbm_err err = lbm_address_split(text, NULL, 0, &name, NULL);
    if (err == LBM_OK)
        err = lbm_resolver_ask(peer->outgoing->resolver, &name, on_resolved, peer);
    if (err != LBM_OK)
        close_connection(peer, lbm_err_text(err));
}

static void
on_timer(evutil_socket_t fd, short what, void *context)
{
    struct peer *peer = context;
    (void)fd;
    (void)what;
    switch (peer->state) {
    case PAUSED:
        look_up(peer);
        break;
    case RESOLVING:
        break;
    case CONNECTING:
        close_connection(peer, "no answer");
        break;
    case BROKEN:
        close_connection(peer, "given up here");
        break;
    case UP:
        break;
    }
}

/* Give a connection up from within a call: closing it, and telling, is left to the timer. */
static void
give_up(struct peer *peer)
{
    peer->state = BROKEN;
    set_timer(peer, 0);
}

enum lbm_err
lbm_outgoing_new(struct event_base *base, struct lbm_tls *tls, struct lbm_resolver *resolver, uint64_t seed,
                 const struct lbm_outgoing_handler *handler, struct lbm_outgoing **out, struct lbm_diag *diag)
{
    struct lbm_outgoing *outgoing = lbm_alloc(1, sizeof *outgoing);
    if (outgoing == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    outgoing->base = base;
    outgoing->tls = tls;
    outgoing->resolver = resolver;
    outgoing->handler = *handler;
    lbm_rng_seed(&outgoing->rng, seed);
    *out = outgoing;
    return LBM_OK;
}

static struct peer *
add_peer(struct lbm_outgoing *outgoing, uint32_t host)
{
    struct peer *peer = lbm_alloc(1, sizeof *peer);
    if (peer == NULL)
        return NULL;
    peer->outgoing = outgoing;
    peer->host = host;
    peer->timer = evtimer_new(outgoing->base, on_timer, peer);
    if (peer->timer == NULL) {
        free(peer);
        return NULL;
    }
    outgoing->peers[host] = peer;
    return peer;
}

enum lbm_err
lbm_outgoing_dial(struct lbm_outgoing *outgoing, uint32_t host, const char *name, struct lbm_diag *diag)
{
    if (host >= LBM_HOSTS_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0, "there is no host %" PRIu32, host);
    struct peer *peer = outgoing->peers[host];
    if (peer != NULL && strcmp(peer->name, name) == 0)
        return LBM_OK;
    enum lbm_err err = lbm_address_check_list(name, NULL, 0, diag);
    if (err != LBM_OK)
        return err;
    if (peer == NULL && (peer = add_peer(outgoing, host)) == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    memcpy(peer->name, name, strlen(name) + 1);
    peer->told = 0;
    peer->attempts = 0;
    peer->reached[0] = '\0';
    peer->pause_us = PAUSE_MIN_US;
    if (peer->state == RESOLVING) {
        lbm_resolver_forget(outgoing->resolver, peer);
        peer->state = PAUSED;
    }
    if (peer->state == PAUSED)
        set_timer(peer, 0);
    else
        give_up(peer);
    return LBM_OK;
}

const char *
lbm_outgoing_reached(const struct lbm_outgoing *outgoing, uint32_t host)
{
    const struct peer *peer = host < LBM_HOSTS_MAX ? outgoing->peers[host] : NULL;
    return peer != NULL && peer->reached[0] != '\0' ? peer->reached : NULL;
}

void
lbm_outgoing_cut(struct lbm_outgoing *outgoing, uint32_t host)
{
    struct peer *peer = host < LBM_HOSTS_MAX ? outgoing->peers[host] : NULL;
    if (peer != NULL && (peer->state == CONNECTING || peer->state == UP))
        give_up(peer);
}

uint64_t
lbm_outgoing_connection(const struct lbm_outgoing *outgoing, uint32_t host)
{
    const struct peer *peer = host < LBM_HOSTS_MAX ? outgoing->peers[host] : NULL;
    return peer != NULL && peer->state == UP ? peer->connection : 0;
}

void
lbm_outgoing_send(struct lbm_outgoing *outgoing, uint32_t host, uint64_t connection, uint8_t *frame,
                  size_t len, int lossy)
{
    if (connection == 0 || lbm_outgoing_connection(outgoing, host) != connection) {
        free(frame);
        return;
    }
    struct peer *peer = outgoing->peers[host];
    if (lossy && (!peer->opened || lbm_frames_queued(peer->bev) > LBM_OUTGOING_LOSSY_MAX)) {
        free(frame);
        return;
    }
    peer->opened = 1;
    enum lbm_err err = lbm_frames_put(peer->bev, frame, len, LBM_OUTGOING_QUEUE_MAX);
    if (err == LBM_OK) {
        look_behind(peer);
        return;
    }
    lbm_log(LBM_NOTE_WARNING, "giving up the connection to host %" PRIu32 " with %zu bytes unsent: %s", host,
            lbm_frames_queued(peer->bev), lbm_err_text(err));
    give_up(peer);
}

void
lbm_outgoing_free(struct lbm_outgoing *outgoing)
{
    if (outgoing == NULL)
        return;
    for (uint32_t host = 0; host < LBM_HOSTS_MAX; host++) {
        struct peer *peer = outgoing->peers[host];
        if (peer == NULL)
            continue;
        lbm_resolver_forget(outgoing->resolver, peer);
        if (peer->bev != NULL)
            bufferevent_free(peer->bev);
        event_free(peer->timer);
        free(peer);
    }
    lbm_vec_free(&outgoing->behind);
    free(outgoing);
}
