/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections other hosts made to this one. They only receive.
 *
 * Owns: the listening socket and every connection accepted from it. The first frame of a connection must
 * be a Hello; it names the host the connection is from, and every later frame must be from that host.
 * A host has one connection: a new one replaces the old.
 * Never: sends. Answers go over a connection of our own (outgoing.h). */
#ifndef LBM_DAEMON_INBOUND_H
#define LBM_DAEMON_INBOUND_H

#include <event2/event.h>

#include "daemon/address.h"
#include "wire/wire.h"

struct lbm_inbound;

struct lbm_inbound_handler {
    void *context;
    /* Nonzero if this Hello is for this host. One that is not, as from a cluster that had this address
     * before, does not replace the connection of the host that it says it is. */
    int (*accepts)(void *context, const Lbm__Peer *hello);
    /* A validated message, borrowed; bytes: its frame on the wire. */
    void (*message)(void *context, const Lbm__Peer *message, size_t bytes);
};

/* Bind and listen.
 * In:      what: the address as configured, for messages
 * Errors:  LBM_E_BUSY another process listens there, LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_inbound_new(struct event_base *base, const struct lbm_address *address, const char *what,
                             const struct lbm_inbound_handler *handler, struct lbm_inbound **out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* Stop (nonzero) or go on (0) reading from everybody: what is on its way waits in the network. */
void lbm_inbound_pause(struct lbm_inbound *inbound, int paused);

void lbm_inbound_free(struct lbm_inbound *inbound);

#endif
