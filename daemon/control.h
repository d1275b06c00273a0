/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clients: lbctl and applications at the Unix socket, and operators from elsewhere over TLS.
 *
 * Owns: the socket's file, every client's connection, and the bounds on both.
 * Never: interprets a request; never ends a client from within lbm_control_reply. */
#ifndef LBM_DAEMON_CONTROL_H
#define LBM_DAEMON_CONTROL_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/types.h>

#include "daemon/settings.h"
#include "pki/pki.h"
#include "wire/wire.h"

enum {
    LBM_CLIENTS_FOR_ADMINS = 8,       /* of LBM_CLIENTS_MAX: so that an admin always gets in */
    LBM_CLIENT_QUEUE_MAX = 256 << 20, /* bytes a client may leave unread: a large mapping's parts */
    LBM_CLIENT_BUSY = 64 << 20,       /* bytes unread beyond which it is not listened to */
    LBM_CLIENT_MUCH = 1 << 20,        /* bytes of which it is told that they have been read */
    LBM_CLIENT_STALL_S = 30,          /* a client that reads nothing for so long is cut off */
};
enum {
    LBM_CLIENT_LEAST = 256 << 10
}; /* bytes that a client reads in LBM_CLIENT_STALL_S while there are some */
_Static_assert(LBM_CLIENTS_FOR_ADMINS < LBM_CLIENTS_MAX, "there are connections for others, too");
_Static_assert(LBM_CLIENT_MUCH < LBM_CLIENT_BUSY && LBM_CLIENT_BUSY < LBM_CLIENT_QUEUE_MAX,
               "a client that reads slowly is not listened to before it is cut off");
_Static_assert(LBM_CLIENT_BUSY >= LBM_FRAME_BYTES_MAX * 2, "one answer makes no client busy");

struct lbm_control;

/* A client, as it was when it connected. */
struct lbm_control_client {
    uint64_t id;  /* of the connection, never used twice */
    uint32_t uid; /* by the kernel, or by its certificate */
    pid_t pid;    /* 0: it is on another machine */
    int is_remote;
    enum lbm_access access;
};

struct lbm_control_handler {
    void *context;
    /* A validated request; both are borrowed. */
    void (*request)(void *context, const struct lbm_control_client *client, const Lbm__Request *request);
    /* It has read all that was sent to it, LBM_CLIENT_MUCH or more since this was last said. */
    void (*read)(void *context, uint64_t client);
    /* It has ended the connection; or this side has, so long ago that it works on nothing any more. */
    void (*gone)(void *context, uint64_t client);
};

/* Bind, with the mode of lbm_access_socket_mode, and listen. A socket file nobody listens at is replaced.
 * Clients without any access are told so and turned away. In:      path of the socket; rights, copied Errors:
 * LBM_E_BUSY another process listens there; LBM_E_EXISTS something else is there; LBM_E_DENIED, LBM_E_IO,
 * LBM_E_NOMEM. */
enum lbm_err lbm_control_new(struct event_base *base, const char *path,
                             const struct lbm_rights_setting *rights,
                             const struct lbm_control_handler *handler, struct lbm_control **out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* Take a connection of an operator after its handshake, with the same bounds as at the Unix socket; takes
 * bev. In: user: what its certificate says; from: the other end's address. */
void lbm_control_accept(struct lbm_control *control, struct bufferevent *bev,
                        const struct lbm_pki_subject *user, const char *from);

/* End the connections of users whose certificates are believed no more, by that function. */
void lbm_control_cut(struct lbm_control *control, lbm_tls_is_revoked *is_revoked, void *context);

/* Send a packed response; takes the frame. A client that is gone gets nothing; one that does not read is
 * cut off soon. */
void lbm_control_reply(struct lbm_control *control, uint64_t client, uint8_t *frame, size_t len);

/* Processes at the other ends that are on this machine.  Out: pid [at most max]. Value: how many. */
size_t lbm_control_processes(const struct lbm_control *control, pid_t *pid, size_t max);

/* Cut off who has not read all answers of the last look yet, and less than LBM_CLIENT_LEAST since. Called
 * every LBM_CLIENT_STALL_S; tests call it themselves. */
void lbm_control_look(struct lbm_control *control);

/* Stop (nonzero) or go on (0) reading requests. */
void lbm_control_pause(struct lbm_control *control, int paused);

/* Close all, and remove the socket's file. */
void lbm_control_free(struct lbm_control *control);

#endif
