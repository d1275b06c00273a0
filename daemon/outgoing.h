/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections from this host to others: one to each host it was told to dial. They only send.
 *
 * Owns: looking names up, connecting, connecting again with growing pauses, and the bounded queue of each
 * connection. A connection stands once the other end has shown that it is that host.
 * Never: reports a change from within a call: up and down come from the event loop. */
#ifndef LBM_DAEMON_OUTGOING_H
#define LBM_DAEMON_OUTGOING_H

#include <event2/event.h>

#include "base/err.h"
#include "daemon/resolver.h"
#include "pki/pki.h"

enum {
    LBM_OUTGOING_LOSSY_MAX = 1 << 20,   /* bytes queued beyond which what may be lost is dropped */
    LBM_OUTGOING_QUEUE_MAX = 256 << 20, /* bytes queued beyond which the connection is given up */
};

struct lbm_outgoing;

struct lbm_outgoing_handler {
    void *context;
    void (*up)(void *context, uint32_t host);
    void (*down)(void *context, uint32_t host);
    /* All that was sent has left, after lbm_outgoing_fell_behind had named that host. */
    void (*caught_up)(void *context, uint32_t host);
};

/* In: tls and resolver, borrowed; seed of the pauses' jitter, which keeps hosts from connecting in step after
 * a failure. */
enum lbm_err lbm_outgoing_new(struct event_base *base, struct lbm_tls *tls, struct lbm_resolver *resolver,
                              uint64_t seed, const struct lbm_outgoing_handler *handler,
                              struct lbm_outgoing **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Keep a connection to this host at this address from now on. A new address replaces the old.
 * Errors: as lbm_address_split, and LBM_E_RANGE for an impossible host; LBM_E_NOMEM. */
enum lbm_err lbm_outgoing_dial(struct lbm_outgoing *outgoing, uint32_t host, const char *address,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* The one of its addresses by which the last connection to a host came to stand; NULL: none has yet. */
const char *lbm_outgoing_reached(const struct lbm_outgoing *outgoing, uint32_t host);

/* End the connection to a host, soon. The next one asks for its certificate again. */
void lbm_outgoing_cut(struct lbm_outgoing *outgoing, uint32_t host);

/* Number of the connection to a host that stands now, 0 if none does. Each connection has its own. */
uint64_t lbm_outgoing_connection(const struct lbm_outgoing *outgoing, uint32_t host);

/* Send over that connection; takes the frame. It is dropped if that connection does not stand any more:
 * what was meant for it was lost with it, and a new connection must begin with its Hello. For the same
 * reason lossy frames are dropped until a first frame that is not lossy has been sent. */
void lbm_outgoing_send(struct lbm_outgoing *outgoing, uint32_t host, uint64_t connection, uint8_t *frame,
                       size_t len, int lossy);

/* Frames that will be sent over that connection, but wait for the disk, count as unsent: bytes more, or less.
 */
void lbm_outgoing_wait(struct lbm_outgoing *outgoing, uint32_t host, uint64_t connection, int64_t bytes);

/* A host to which more than LBM_PEER_BEHIND bytes are unsent, each once until it has caught up; LBM_NONE: no
 * other. Ask after a round of sending. */
uint32_t lbm_outgoing_fell_behind(struct lbm_outgoing *outgoing);

void lbm_outgoing_free(struct lbm_outgoing *outgoing);

#endif
