/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HTTP requests in the event loop, by libcurl.
 *
 * Owns: connections, TLS, and the requests in progress. Reads no proxy from the environment, follows nobody
 * elsewhere.  Never: calls back from within a call of this interface. */
#ifndef LBM_DAEMON_HTTP_H
#define LBM_DAEMON_HTTP_H

#include <event2/event.h>

#include "base/err.h"

enum { LBM_HTTP_ANSWER_MAX = 64 << 20 }; /* bytes; a longer answer is a failure */

struct lbm_http;
struct lbm_http_request;

/* Files of TLS, PEM; "" is none. All borrowed for the life of the http. */
struct lbm_http_tls {
    const char *ca;   /* else the system's */
    const char *cert; /* of this host, with its key */
    const char *key;
};

/* How a request ended. */
struct lbm_http_answer {
    long status;         /* of HTTP; 0: there was no answer */
    const char *failure; /* status 0: why */
    const char *body;    /* borrowed; what `data` did not take */
    size_t len;
};

struct lbm_http_ask {
    const char *url;
    const char *socket; /* path of the Unix socket that is connected to; NULL: the URL says where */
    const char *body;   /* JSON, copied */
    const char *token;  /* value of the header Authorization, or NULL */
    long timeout_ms;    /* 0: the answer may last for ever */
    void *context;
    /* Part of a good answer as it comes, or NULL: all is in the answer. Value: bytes taken; the rest comes
     * again with what follows. */
    size_t (*data)(void *context, const char *bytes, size_t len);
    void (*done)(void *context, const struct lbm_http_answer *answer);
};

enum lbm_err lbm_http_new(struct event_base *base, const struct lbm_http_tls *tls, struct lbm_http **out,
                          struct lbm_diag *diag) LBM_MUST_CHECK;

/* POST. Out: *out valid until `done` is called. Errors: LBM_E_NOMEM; then `done` will not be called. */
enum lbm_err lbm_http_post(struct lbm_http *http, const struct lbm_http_ask *ask,
                           struct lbm_http_request **out) LBM_MUST_CHECK;

/* Give a request up: it calls nobody any more. Not from its own `data`. */
void lbm_http_cancel(struct lbm_http_request *request);

/* Cancels what is in progress. NULL is allowed. */
void lbm_http_free(struct lbm_http *http);

#endif
