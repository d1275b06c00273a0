/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This host's next certificate, before the present one ends.
 *
 * Owns: when to ask (after two thirds of its time), whom, and the file of the certificate. The key stays.
 * Never: lets anything else wait; connections that stand go on with the certificate they began with. */
#ifndef LBM_DAEMON_RENEW_H
#define LBM_DAEMON_RENEW_H

#include <event2/event.h>

#include "daemon/resolver.h"
#include "node/node.h"
#include "pki/pki.h"

struct lbm_renew;

struct lbm_renew_handler {
    void *context;
    /* Members that may be asked. Out: contacts [max]. Value: how many. */
    size_t (*contacts)(void *context, struct lbm_node_contact *contacts, size_t max);
};

/* In: identity, tls, resolver, dir: borrowed; identity->certificate is replaced when it is renewed. lasts_s:
 * of certificates that this host signs itself, if it has the authority's key. */
enum lbm_err lbm_renew_new(struct event_base *base, struct lbm_identity *identity, struct lbm_tls *tls,
                           struct lbm_resolver *resolver, const char *dir, int64_t lasts_s,
                           const struct lbm_renew_handler *handler, struct lbm_renew **out,
                           struct lbm_diag *diag) LBM_MUST_CHECK;

/* NULL is allowed. */
void lbm_renew_free(struct lbm_renew *renew);

#endif
