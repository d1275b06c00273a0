/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "daemon/control.h"

#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "daemon/access.h"
#include "daemon/control_socket.h"
#include "daemon/frames.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "wire/lease_page.h"

enum fate {
    STAYS,
    LEAVES, /* its last answer is on the way; closed when that is out */
    CUT,    /* closed by the reaper */
    CLOSED, /* by this side; it may not have noticed yet, and is not called gone before it must have */
};

/* An application that sees its connection end begins no step any more, but may be within one. */
/* An operator's machine that is switched off leaves a connection that says nothing: found out after
 * KEEP_IDLE_S + KEEP_TRIES * KEEP_EVERY_S. */
enum { KEEP_IDLE_S = 60, KEEP_EVERY_S = 20, KEEP_TRIES = 3 };

enum { NOTICE_US = LBM_LEASE_STOP_US + LBM_LEASE_NOTICE_US };
_Static_assert(NOTICE_US > LBM_LEASE_STOP_US, "an application has ended its step before it is called gone");

struct client {
    struct lbm_control *control;
    struct client *next;
    struct lbm_control_client is;
    char name[48 + LBM_NAME_MAX + LBM_ADDRESS_MAX]; /* for messages */
    int busy;       /* it has much to read, and is not listened to meanwhile */
    size_t sent;    /* since it was last said that it has read all */
    uint64_t put;   /* bytes so far */
    uint64_t seen;  /* of these, those that there were at the last look */
    uint64_t taken; /* of those, the ones that had left by then */
    enum fate fate;
    struct event *gone; /* once it is CLOSED */
    struct lbm_frames frames;
};

struct lbm_control {
    struct event_base *base;
    struct lbm_listener *listener;
    struct event *looker; /* every LBM_CLIENT_STALL_S */
    struct lbm_log_limit cut_lines, away_lines;
    struct event *reaper; /* closes what was cut from within a call */
    struct lbm_control_handler handler;
    struct lbm_rights_setting rights;
    char path[LBM_SOCKET_PATH_MAX + 1];
    struct client *clients;
    unsigned n_clients;
    uint64_t last_id;
    int paused;
};

static void
free_client(struct client *client)
{
    if (client->frames.bev != NULL)
        bufferevent_free(client->frames.bev);
    event_free(client->gone);
    free(client);
}

/* It is gone, or must have noticed by now. */
static void
forget(struct client *client)
{
    struct lbm_control *control = client->control;
    struct client **link = &control->clients;
    uint64_t id = client->is.id;
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
    control->n_clients -= client->fate != CLOSED;
    free_client(client);
    control->handler.gone(control->handler.context, id);
}

static void
on_gone(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    forget(context);
}

/* Close the connection of somebody who may go on. */
static void
close_client(struct client *client)
{
    const struct timeval notice = {NOTICE_US / 1000000, NOTICE_US % 1000000};
    client->fate = CLOSED;
    client->control->n_clients--;
    bufferevent_free(client->frames.bev);
    client->frames.bev = NULL;
    event_add(client->gone, &notice);
}

static void
cut(struct client *client)
{
    client->fate = CUT;
    bufferevent_disable(client->frames.bev, EV_READ | EV_WRITE);
    event_active(client->control->reaper, EV_TIMEOUT, 0);
}

static void
on_reap(evutil_socket_t fd, short what, void *context)
{
    struct lbm_control *control = context;
    (void)fd;
    (void)what;
    for (struct client *c = control->clients; c != NULL; c = c->next)
        if (c->fate == CUT)
            close_client(c);
}

static enum lbm_err
pack_refusal(enum lbm_err code, const char *text, uint8_t **frame, size_t *len)
{
    char copy[LBM_DIAG_TEXT_MAX + LBM_DIAG_WHERE_MAX];
    Lbm__Response response;
    strncpy(copy, text, sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    lbm__response__init(&response);
    response.code = code;
    response.text = copy;
    response.last = 1;
    return lbm_wire_pack_response(&response, frame, len);
}

/* Say why, and close once that has been read or has waited long enough. */
static void
dismiss(struct client *client, enum lbm_err code, const char *text)
{
    uint8_t *frame;
    size_t len;
    bufferevent_disable(client->frames.bev, EV_READ);
    if (pack_refusal(code, text, &frame, &len) != LBM_OK ||
        lbm_frames_put(client->frames.bev, frame, len, LBM_CLIENT_QUEUE_MAX) != LBM_OK)
        cut(client);
    else
        client->fate = LEAVES;
}

static enum lbm_err
on_frame(void *context, const uint8_t *bytes, size_t len)
{
    struct client *client = context;
    struct lbm_control *control = client->control;
    struct lbm_diag diag = {0};
    Lbm__Request *request;
    if (client->fate != STAYS)
        return LBM_OK; /* what it had sent before it was cut */
    enum lbm_err err = lbm_wire_unpack_request(bytes, len, &request, &diag);
    if (err != LBM_OK) {
        char text[LBM_DIAG_TEXT_MAX + LBM_DIAG_WHERE_MAX];
        lbm_diag_render(&diag, text, sizeof text);
        dismiss(client, err, text);
        return LBM_OK;
    }
    control->handler.request(control->handler.context, &client->is, request);
    lbm__request__free_unpacked(request, NULL);
    return LBM_OK;
}

static void
on_read(struct bufferevent *bev, void *context)
{
    struct client *client = context;
    (void)bev;
    enum lbm_err err = lbm_frames_take(&client->frames);
    if (err != LBM_OK && client->fate == STAYS)
        dismiss(client, err, "not a frame of lbmap's control protocol");
}

static void
on_written(struct bufferevent *bev, void *context)
{
    struct client *client = context;
    struct lbm_control *control = client->control;
    (void)bev;
    if (client->fate == LEAVES) {
        close_client(client);
        return;
    }
    if (client->busy && client->fate == STAYS && !control->paused)
        bufferevent_enable(client->frames.bev, EV_READ);
    client->busy = 0;
    if (client->sent < LBM_CLIENT_MUCH)
        return;
    client->sent = 0;
    control->handler.read(control->handler.context, client->is.id);
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct client *client = context;
    (void)bev;
    if ((what & BEV_EVENT_TIMEOUT) == 0) {
        forget(client);
        return;
    }
    lbm_log_limited(&client->control->cut_lines, LBM_NOTE_WARNING,
                    "client %" PRIu64 " (%s) reads nothing: cut off", client->is.id, client->name);
    close_client(client);
}

/* Refuse a connection: one frame into an empty socket's buffer. */
static void
turn_away(evutil_socket_t fd, enum lbm_err code, const char *why)
{
    uint8_t *frame;
    size_t len;
    if (pack_refusal(code, why, &frame, &len) == LBM_OK) {
        ssize_t sent = send(fd, frame, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)sent; /* it is turned away with or without the reason */
        free(frame);
    }
    close(fd);
}

/* Takes bev, NULL if there is no memory for one. Value: NULL if memory is short. */
static struct client *
add_client(struct lbm_control *control, struct bufferevent *bev, const struct lbm_control_client *is)
{
    struct client *client = lbm_alloc(1, sizeof *client);
    struct event *gone = client != NULL ? evtimer_new(control->base, on_gone, client) : NULL;
    if (gone == NULL || bev == NULL) {
        if (gone != NULL)
            event_free(gone);
        free(client);
        if (bev != NULL)
            bufferevent_free(bev);
        lbm_log(LBM_NOTE_ERROR, "out of memory for a client");
        return NULL;
    }
    client->gone = gone;
    client->control = control;
    client->is = *is;
    client->is.id = ++control->last_id;
    client->frames = (struct lbm_frames){
        .bev = bev, .bytes_max = LBM_FRAME_BYTES_MAX, .frame = on_frame, .context = client};
    client->next = control->clients;
    control->clients = client;
    control->n_clients++;
    return client;
}

static void
listen_to(struct client *client)
{
    const struct timeval stall = {.tv_sec = LBM_CLIENT_STALL_S};
    lbm_frames_tune(client->frames.bev);
    bufferevent_setcb(client->frames.bev, on_read, on_written, on_event, client);
    bufferevent_set_timeouts(client->frames.bev, NULL, &stall);
    bufferevent_enable(client->frames.bev, client->control->paused ? EV_WRITE : EV_READ | EV_WRITE);
}

static int
is_full(const struct lbm_control *control, enum lbm_access access)
{
    return control->n_clients >= (access == LBM_ACCESS_ADMIN ? (unsigned)LBM_CLIENTS_MAX
                                                             : LBM_CLIENTS_MAX - LBM_CLIENTS_FOR_ADMINS);
}

static const char too_many[] = "too many clients are connected to lbmapd; try again";

static void
on_accept(void *context, evutil_socket_t fd, const struct sockaddr *from)
{
    (void)from;
    struct lbm_control *control = context;
    struct lbm_access_peer peer;
    if (lbm_access_peer(fd, &peer) != LBM_OK) {
        close(fd);
        return;
    }
    const struct lbm_control_client is = {
        .uid = peer.uid, .pid = peer.pid, .access = lbm_access_of(&control->rights, &peer)};
    if (is.access == LBM_ACCESS_NONE) {
        char why[LBM_DIAG_TEXT_MAX];
        snprintf(why, sizeof why,
                 "user %" PRIu32 " may not use this lbmapd: it is in none of its groups (groups in "
                 "lbmapd.conf(5)); ask an administrator",
                 peer.uid);
        lbm_log_limited(&control->away_lines, LBM_NOTE_INFO,
                        "a client (uid %" PRIu32 ", pid %ld) is turned away: it is in none of the groups",
                        peer.uid, (long)peer.pid);
        turn_away(fd, LBM_E_DENIED, why);
        return;
    }
    if (is_full(control, is.access)) {
        turn_away(fd, LBM_E_BUSY, too_many);
        return;
    }
    struct bufferevent *bev = bufferevent_socket_new(control->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (bev == NULL)
        close(fd);
    struct client *client = add_client(control, bev, &is);
    if (client == NULL)
        return;
    snprintf(client->name, sizeof client->name, "uid %" PRIu32 ", pid %ld", is.uid, (long)is.pid);
    listen_to(client);
}

/* ---- from elsewhere ------------------------------------------------------------------------------------ */

static void
notice_silence(evutil_socket_t fd)
{
    const int on = 1, idle = KEEP_IDLE_S, every = KEEP_EVERY_S, tries = KEEP_TRIES;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
}

/* Refuse a connection after its handshake: one frame into an empty socket's buffer. Takes bev. */
static void
turn_away_remote(struct bufferevent *bev, enum lbm_err code, const char *why)
{
    uint8_t *frame;
    size_t len;
    if (pack_refusal(code, why, &frame, &len) == LBM_OK) {
        (void)SSL_write(bufferevent_openssl_get_ssl(bev), frame,
                        (int)len); /* or it goes without the reason */
        ERR_clear_error();
        free(frame);
    }
    bufferevent_free(bev);
}

void
lbm_control_accept(struct lbm_control *control, struct bufferevent *bev, const struct lbm_pki_subject *user,
                   const char *from)
{
    static const enum lbm_access access[] = {[LBM_PKI_READ] = LBM_ACCESS_READ,
                                             [LBM_PKI_SUBMIT] = LBM_ACCESS_SUBMIT,
                                             [LBM_PKI_ADMIN] = LBM_ACCESS_ADMIN};
    const struct lbm_control_client is = {.uid = user->uid, .is_remote = 1, .access = access[user->level]};
    if (is_full(control, is.access)) {
        turn_away_remote(bev, LBM_E_BUSY, too_many);
        return;
    }
    struct client *client = add_client(control, bev, &is);
    if (client == NULL)
        return;
    snprintf(client->name, sizeof client->name, "user %s, uid %" PRIu32 ", at %s", user->user, user->uid,
             from);
    notice_silence(bufferevent_getfd(bev));
    listen_to(client);
    bufferevent_trigger(bev, EV_READ, BEV_TRIG_DEFER_CALLBACKS); /* what came with the handshake */
}

void
lbm_control_cut(struct lbm_control *control, lbm_tls_is_revoked *is_revoked, void *context)
{
    struct lbm_pki_subject user;
    for (struct client *c = control->clients; c != NULL; c = c->next) {
        const SSL *ssl = c->is.is_remote && (c->fate == STAYS || c->fate == LEAVES)
                             ? bufferevent_openssl_get_ssl(c->frames.bev)
                             : NULL;
        if (ssl != NULL && lbm_tls_peer(ssl, &user) && is_revoked(context, &user, lbm_tls_peer_made(ssl))) {
            lbm_log(LBM_NOTE_INFO, "client %" PRIu64 " (%s) is revoked: cut off", c->is.id, c->name);
            cut(c);
        }
    }
}

void
lbm_control_reply(struct lbm_control *control, uint64_t id, uint8_t *frame, size_t len)
{
    struct client *client = control->clients;
    while (client != NULL && client->is.id != id)
        client = client->next;
    if (client == NULL || client->fate != STAYS) {
        free(frame);
        return;
    }
    enum lbm_err err = lbm_frames_put(client->frames.bev, frame, len, LBM_CLIENT_QUEUE_MAX);
    client->sent += len;
    client->put += err == LBM_OK ? len : 0;
    if (err == LBM_OK) {
        if (!client->busy && lbm_frames_queued(client->frames.bev) > LBM_CLIENT_BUSY) {
            client->busy = 1;
            bufferevent_disable(client->frames.bev, EV_READ);
        }
        return;
    }
    lbm_log_limited(&control->cut_lines, LBM_NOTE_WARNING,
                    "client %" PRIu64 " (%s) leaves %zu bytes unread: cut off", id, client->name,
                    lbm_frames_queued(client->frames.bev));
    cut(client);
}

void
lbm_control_look(struct lbm_control *control)
{
    for (struct client *c = control->clients; c != NULL; c = c->next) {
        if (c->fate != STAYS && c->fate != LEAVES)
            continue;
        size_t left = lbm_frames_queued(c->frames.bev);
        uint64_t taken = c->put > left ? c->put - left : 0;
        /* Of what was there at the last look something is there still: not that new bytes are on their way.
         */
        int is_slow = taken < c->seen && taken - c->taken < LBM_CLIENT_LEAST;
        c->taken = taken;
        c->seen = c->put;
        if (!is_slow)
            continue;
        lbm_log_limited(&control->cut_lines, LBM_NOTE_WARNING,
                        "client %" PRIu64 " (%s) reads too slowly, %zu bytes are left: cut off", c->is.id,
                        c->name, left);
        cut(c);
    }
}

static void
on_look(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    lbm_control_look(context);
}

enum lbm_err
lbm_control_new(struct event_base *base, const char *path, const struct lbm_rights_setting *rights,
                const struct lbm_control_handler *handler, struct lbm_control **out, struct lbm_diag *diag)
{
    int fd;
    enum lbm_err err = lbm_control_bind(path, lbm_access_socket_mode(rights), &fd, diag);
    if (err != LBM_OK)
        return err;
    struct lbm_control *control = lbm_alloc(1, sizeof *control);
    struct event *reaper = control != NULL ? event_new(base, -1, 0, on_reap, control) : NULL;
    struct event *looker = control != NULL ? event_new(base, -1, EV_PERSIST, on_look, control) : NULL;
    const struct timeval period = {.tv_sec = LBM_CLIENT_STALL_S};
    if (reaper == NULL || looker == NULL || event_add(looker, &period) != 0) {
        if (reaper != NULL)
            event_free(reaper);
        if (looker != NULL)
            event_free(looker);
        close(fd);
        unlink(path);
        free(control);
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "out of memory");
    }
    control->base = base;
    control->reaper = reaper;
    control->looker = looker;
    control->handler = *handler;
    control->rights = *rights;
    memcpy(control->path, path, strlen(path) + 1);
    err = lbm_listener_new(base, fd, path, on_accept, control, &control->listener, diag);
    if (err != LBM_OK) {
        lbm_control_free(control);
        return err;
    }
    *out = control;
    return LBM_OK;
}

size_t
lbm_control_processes(const struct lbm_control *control, pid_t *pid, size_t max)
{
    size_t n = 0;
    for (const struct client *client = control->clients; client != NULL && n < max; client = client->next)
        if (client->fate == STAYS && !client->is.is_remote)
            pid[n++] = client->is.pid;
    return n;
}

void
lbm_control_pause(struct lbm_control *control, int paused)
{
    control->paused = paused;
    for (struct client *c = control->clients; c != NULL; c = c->next) {
        if (c->fate == CLOSED)
            continue;
        if (paused)
            bufferevent_disable(c->frames.bev, EV_READ);
        else if (c->fate == STAYS && !c->busy)
            bufferevent_enable(c->frames.bev, EV_READ);
    }
}

void
lbm_control_free(struct lbm_control *control)
{
    if (control == NULL)
        return;
    while (control->clients != NULL) {
        struct client *client = control->clients;
        control->clients = client->next;
        free_client(client);
    }
    unlink(control->path);
    lbm_listener_free(control->listener);
    event_free(control->reaper);
    event_free(control->looker);
    free(control);
}
