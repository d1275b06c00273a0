/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes between etcds, and from this daemon to an etcd elsewhere. etcd listens on Unix sockets alone; a
 * socket with the name of another member's leads over TLS between the daemons of both hosts to that one. So
 * etcd needs no port and no certificates: who may connect is who is a host of the cluster, and is not
 * revoked.
 *
 * Owns: the sockets that stand for other hosts, and the connections through them.
 * Never: looks at what goes through. */
#ifndef LBM_DAEMON_TUNNEL_H
#define LBM_DAEMON_TUNNEL_H

#include <event2/bufferevent.h>

#include "daemon/resolver.h"
#include "pki/pki.h"

/* At the other end: the socket of etcd itself. */
enum lbm_tunnel_to {
    LBM_TUNNEL_PEER = 1,  /* for other members */
    LBM_TUNNEL_CLIENT = 2 /* for daemons that read and write the log */
};

enum { LBM_TUNNEL_NAME_MAX = 64 };

struct lbm_tunnel;

struct lbm_tunnel_handler {
    void *context;
    /* Address of a host as the log has it; NULL: it has none. Borrowed until the next call. */
    const char *(*address)(void *context, uint32_t host);
    /* Name of the socket that a host may reach here, in the folder of etcd; NULL: it may not. `of` is the
     * member's number that the other end means. */
    const char *(*target)(void *context, uint32_t from, enum lbm_tunnel_to to, uint64_t of);
};

/* In: dir, descriptor of the folder of etcd, borrowed. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_tunnel_new(struct event_base *base, struct lbm_tls *tls, struct lbm_resolver *resolver,
                            int dir, const struct lbm_tunnel_handler *handler, struct lbm_tunnel **out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* A name that a system call takes, though the folder's own may be too long for a socket. Value: path. */
const char *lbm_tunnel_path(int dir, const char *name, char path[LBM_TUNNEL_NAME_MAX + 32]);

/* Have a socket of that name lead to that host. One that is there already stays. Errors: LBM_E_IO,
 * LBM_E_NOMEM. */
enum lbm_err lbm_tunnel_open(struct lbm_tunnel *tunnel, const char *name, uint32_t host,
                             enum lbm_tunnel_to to, uint64_t of, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Remove all sockets that were not opened again since the last call, and end what goes through them. */
void lbm_tunnel_sweep(struct lbm_tunnel *tunnel);

/* A connection from another daemon, after its handshake; takes bev. */
void lbm_tunnel_accept(struct lbm_tunnel *tunnel, struct bufferevent *bev, uint32_t from);

/* End connections with a host: it is believed no more. */
void lbm_tunnel_cut(struct lbm_tunnel *tunnel, uint32_t host);

void lbm_tunnel_free(struct lbm_tunnel *tunnel); /* NULL is allowed */

#endif
