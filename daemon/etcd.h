/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control log in an ensemble of etcd (protocol.md section 2, engine external), by its JSON gateway.
 *
 * Owns: which member of the ensemble is asked, logging in, reading and watching.
 * Never: decides what is appended, or keeps entries. Calls its handler from the event loop alone. */
#ifndef LBM_DAEMON_ETCD_H
#define LBM_DAEMON_ETCD_H

#include <event2/event.h>

#include "base/err.h"
#include "node/node.h"

enum { LBM_ETCD_ENDPOINTS_MAX = 16, LBM_ETCD_URL_MAX = 255, LBM_ETCD_TEXT_MAX = 127 };

struct lbm_etcd;

/* Strings are borrowed for the life of the etcd; "" is none. */
struct lbm_etcd_config {
    const char (*endpoint)[LBM_ETCD_URL_MAX + 1];
    const char (*socket)[LBM_ETCD_URL_MAX + 1]; /* [n_endpoints] paths; NULL: the URLs say where */
    size_t n_endpoints;                         /* >= 1 */
    const char *prefix;
    const char *ca, *cert, *key; /* files of TLS */
    const char *user, *password_file;
};

struct lbm_etcd_handler {
    void *context;
    void (*result)(void *context, uint64_t index, enum lbm_log_result result);
    void (*entries)(void *context, uint64_t from, const struct lbm_bytes *command, size_t n, int caught_up);
    void (*snapshot)(void *context, uint64_t index, const struct lbm_bytes *view);
    /* What was read up to that entry is not there any more; 0: it is. */
    void (*older)(void *context, uint64_t index);
};

/* Errors: LBM_E_IO the password cannot be read; LBM_E_NOMEM. Whether etcd answers is not looked at. */
enum lbm_err lbm_etcd_new(struct event_base *base, const struct lbm_etcd_config *config,
                          const struct lbm_etcd_handler *handler, struct lbm_etcd **out,
                          struct lbm_diag *diag) LBM_MUST_CHECK;

/* Put a command at that index if it is free. One result follows, unless another append comes first.
 * Copies the command. */
void lbm_etcd_append(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command);

/* Bring all entries from that index on. */
void lbm_etcd_follow(struct lbm_etcd *etcd, uint64_t from);

/* This is the entry of that index, if there is no log yet; tried until it is known. Copies the command. */
void lbm_etcd_begin(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *command);

/* The members are others from now on: the endpoints of the configuration have changed. In: n_endpoints, number of them.
 */
void lbm_etcd_point(struct lbm_etcd *etcd, size_t n_endpoints);

/* Replace the entries before that index by the view after it. Copies the view. */
void lbm_etcd_compact(struct lbm_etcd *etcd, uint64_t index, const struct lbm_bytes *view);

void lbm_etcd_free(struct lbm_etcd *etcd); /* NULL is allowed */

#endif
