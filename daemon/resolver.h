/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names to addresses as the machine looks them up, in a thread: name servers may take long to answer. */
#ifndef LBM_DAEMON_RESOLVER_H
#define LBM_DAEMON_RESOLVER_H

#include <event2/event.h>

#include "daemon/address.h"

enum { LBM_RESOLVED_MAX = 8 }; /* addresses of one name that are tried */

struct lbm_resolver;

/* The answer, from the event loop. n 0: there is none, and why says so. */
typedef void (*lbm_resolved)(void *context, const struct lbm_address *at, size_t n, const char *why);

/* Out: *out owned by the caller: lbm_resolver_free. The thread starts with the first question. */
enum lbm_err lbm_resolver_new(struct event_base *base, struct lbm_resolver **out,
                              struct lbm_diag *diag) LBM_MUST_CHECK;

/* Look a name up. Questions are answered in turn; each context has one at a time.
 * Errors: LBM_E_NOMEM, LBM_E_LIMIT no thread. */
enum lbm_err lbm_resolver_ask(struct lbm_resolver *resolver, const struct lbm_address_text *name,
                              lbm_resolved answer, void *context) LBM_MUST_CHECK;

/* The context is not called any more. */
void lbm_resolver_forget(struct lbm_resolver *resolver, const void *context);

/* NULL is allowed. A look-up in progress is left to end by itself. */
void lbm_resolver_free(struct lbm_resolver *resolver);

#endif
