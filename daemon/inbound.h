/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections other hosts made to this one. They only receive.
 *
 * Owns: the listening socket, the handshakes, and every connection of a host. A connection is from the host
 * that its certificate names: the first frame must be its Hello, and every later one must be from it. A host
 * has one connection: a new one replaces the old. What speaks another protocol than hosts do is handed over
 * after the handshake.
 * Never: sends. Answers go over a connection of our own (outgoing.h). */
#ifndef LBM_DAEMON_INBOUND_H
#define LBM_DAEMON_INBOUND_H

#include <event2/bufferevent.h>
#include <event2/event.h>

#include "daemon/address.h"
#include "pki/pki.h"
#include "wire/wire.h"

struct lbm_inbound;

struct lbm_inbound_handler {
    void *context;
    /* Nonzero if this Hello is for this host. One that is not, as from a cluster that had this address
     * before, does not replace the connection of the host that it says it is. */
    int (*accepts)(void *context, const Lbm__Peer *hello);
    /* A validated message, borrowed; bytes: its frame on the wire. */
    void (*message)(void *context, const Lbm__Peer *message, size_t bytes);
    /* A connection that asks for something else, after its handshake; takes bev. from: its address, for
     * messages. NULL: there is nothing else. */
    void (*other)(void *context, enum lbm_tls_use use, struct bufferevent *bev, const char *from);
};

/* Bind and listen.
 * In:      tls, borrowed; what: the address as configured, for messages
 * Errors:  LBM_E_BUSY another process listens there, LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_inbound_new(struct event_base *base, struct lbm_tls *tls, const struct lbm_address *address,
                             const char *what, const struct lbm_inbound_handler *handler,
                             struct lbm_inbound **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* End the connections of a host, soon. */
void lbm_inbound_cut(struct lbm_inbound *inbound, uint32_t host);

/* Stop (nonzero) or go on (0) reading from everybody: what is on its way waits in the network. */
void lbm_inbound_pause(struct lbm_inbound *inbound, int paused);

void lbm_inbound_free(struct lbm_inbound *inbound);

#endif
