/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ensemble of etcd that daemons run for the control log: this host's member, the way to the others, and
 * etcd's list of members (docs/protocol.md, "The control log").
 *
 * Owns: the folder of etcd, the tunnels, the client of the log; how each member is.
 * Never: decides who is a member; the log says that, and etcd is brought in line with it. */
#ifndef LBM_DAEMON_ENSEMBLE_H
#define LBM_DAEMON_ENSEMBLE_H

#include <limits.h>

#include "daemon/etcd.h"
#include "daemon/keeper.h"
#include "daemon/tunnel.h"
#include "node/node.h"

struct lbm_ensemble_part;

/* Everything is borrowed for the life of the part. */
struct lbm_ensemble_config {
    struct event_base *base;
    struct lbm_tls *tls;
    struct lbm_resolver *resolver;
    struct lbm_keeper *keeper; /* NULL: this host runs no member */
    uint32_t host;
    const char *data; /* the daemon's database: the folder is next to it */
};

struct lbm_ensemble_handler {
    void *context;
    struct lbm_etcd_handler etcd;
    void (*report)(void *context, const struct lbm_ensemble_report *report);
    uint64_t (*view)(void *context);                      /* index of the last entry that is applied */
    const char *(*address)(void *context, uint32_t host); /* as in lbm_tunnel_handler */
};

/* The folder of etcd of a daemon with that database. Value: dir. */
const char *lbm_ensemble_dir(const char *data, char dir[PATH_MAX]);

/* Errors: LBM_E_NOMEM. Nothing is opened before there is an ensemble. */
enum lbm_err lbm_ensemble_new(const struct lbm_ensemble_config *config,
                              const struct lbm_ensemble_handler *handler, struct lbm_ensemble_part **out,
                              struct lbm_diag *diag) LBM_MUST_CHECK;

/* Who is in it from now on. In: is, id 0: there is none; tends, nonzero: this host keeps etcd's list of
 * members. */
void lbm_ensemble_set(struct lbm_ensemble_part *part, const struct lbm_ensemble *is, int tends);

/* The client of the log; NULL: there is no ensemble. */
struct lbm_etcd *lbm_ensemble_etcd(const struct lbm_ensemble_part *part);

/* A connection of another daemon for etcd, after its handshake; takes bev. */
void lbm_ensemble_accept(struct lbm_ensemble_part *part, struct bufferevent *bev, uint32_t from);

/* That host is believed no more. part NULL is allowed. */
void lbm_ensemble_cut(struct lbm_ensemble_part *part, uint32_t host);

void lbm_ensemble_free(struct lbm_ensemble_part *part); /* NULL is allowed */

#endif
