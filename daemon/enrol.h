/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates for hosts: new ones for who has a token or is approved by a person, the next one for a host
 * whose own is about to end.
 *
 * Owns: connections of that protocol after their handshake, and what is asked over them.
 * Never: gives an id by itself, the control log does; never signs without the key of the cluster's CA. */
#ifndef LBM_DAEMON_ENROL_H
#define LBM_DAEMON_ENROL_H

#include <event2/bufferevent.h>
#include <event2/event.h>

#include "node/node.h"
#include "pki/pki.h"
#include "wire/wire.h"

/* Numbers of clients that are not the control socket's: the node's answers to them come here. */
#define LBM_ENROL_CLIENT (UINT64_C(1) << 63)

struct lbm_enrol;

struct lbm_enrol_handler {
    void *context;
    /* Ask the node; its answer goes to lbm_enrol_reply, maybe before this returns. */
    void (*request)(void *context, uint64_t client, const Lbm__Request *request);
    void (*gone)(void *context, uint64_t client);
    /* Members for a new host to ask, this one first. Out: contacts [max]. Value: how many. */
    size_t (*contacts)(void *context, struct lbm_node_contact *contacts, size_t max);
    const char *(*cluster_name)(void *context);
};

/* In: identity and its folder, borrowed; lasts_s: how long certificates last. */
enum lbm_err lbm_enrol_new(struct event_base *base, const struct lbm_identity *identity, const char *dir,
                           int64_t lasts_s, const struct lbm_enrol_handler *handler, struct lbm_enrol **out,
                           struct lbm_diag *diag) LBM_MUST_CHECK;

/* Take a connection after its handshake; takes bev. from: the other end's address. */
void lbm_enrol_accept(struct lbm_enrol *enrol, struct bufferevent *bev, const char *from);

/* The node's answer; takes the frame. */
void lbm_enrol_reply(struct lbm_enrol *enrol, uint64_t client, uint8_t *frame, size_t len);

/* NULL is allowed. */
void lbm_enrol_free(struct lbm_enrol *enrol);

#endif
