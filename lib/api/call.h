/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The handle behind lbmap.h, one question to the daemon with its answers, and what the daemon says unasked.
 *
 * Owns: the connection, its deadline, a frame that is coming in or going out, the text of the last failure.
 * Never: reads or writes after the connection failed; the stream of answers would be out of step. */
#ifndef LBM_API_CALL_H
#define LBM_API_CALL_H

#include <sys/types.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/wire.h"

enum { LBM_API_TIMEOUT_MS = 30000 };

struct lbmap;
struct lbm_service;
struct lbm_sketch;

/* A request whose answer no call waits for. kind, which: whoever sent it knows what they mean. */
struct lbm_api_awaited {
    uint64_t id;
    uint32_t kind, which;
};

/* Takes a chunk of the answer to such a request; must not send or receive. */
typedef void (*lbm_api_answer)(struct lbmap *map, const struct lbm_api_awaited *request,
                               const Lbm__Response *chunk);

/* Takes a chunk that the daemon sends unasked; owns it from here. */
typedef void (*lbm_api_push)(struct lbmap *map, Lbm__Response *chunk);

/* What carries the bytes in place of the socket itself, whose descriptor it has, too: TLS. Its functions
 * return as send and recv do with MSG_DONTWAIT. */
struct lbm_api_stream {
    void *context;
    ssize_t (*send)(void *context, const uint8_t *bytes, size_t len);
    ssize_t (*receive)(void *context, uint8_t *bytes, size_t len);
    int (*pending)(void *context);     /* nonzero: something can be read though the socket has nothing */
    const char *(*why)(void *context); /* it failed, or "": errno says it */
    void (*close)(void *context);      /* and free it; the socket is closed afterwards */
};

struct lbmap {
    int fd;         /* -1: the connection failed */
    int ended_here; /* fd -1: it was this side that closed it; the daemon goes on without us */
    char path[108]; /* of the socket, as connected */
    const struct lbm_api_stream *stream; /* NULL: the socket itself */
    uint64_t ignored;                    /* answers to requests up to this one are not waited for any more */
    uint64_t pushing;                    /* request whose chunks are unasked for; 0: none */
    lbm_api_push push;
    LBM_VEC(struct lbm_api_awaited) awaited; /* of lbm_api_start, oldest first */
    lbm_api_answer answered;
    uint8_t *out; /* a frame that the socket has not taken all of; NULL: none */
    size_t out_len, out_sent;
    uint64_t connections;        /* that there have been */
    struct lbm_service *service; /* of lbmap_serve, or NULL */
    struct lbm_sketch *talk;     /* of lbmap_count, or NULL */

    uint8_t header[LBM_FRAME_HEADER]; /* of the frame that is coming in */
    uint8_t *body;                    /* NULL: the header is not complete */
    uint32_t body_len;
    size_t got; /* bytes of the header or body */

    unsigned timeout_ms;
    uint64_t request;           /* id of the last one sent */
    uint32_t host;              /* this daemon's */
    char job[LBM_NAME_MAX + 1]; /* attached, or empty */
    uint32_t vertices;          /* of the job */
    char message[LBM_DIAG_TEXT_MAX];
};

/* Note why a call fails and return the code. */
enum lbm_err lbm_api_fail(struct lbmap *map, enum lbm_err err, const char *fmt, ...) LBM_PRINTF(3, 4);

/* Connect to the Unix socket at path. Out: map->fd.
 * Errors: LBM_E_RANGE (path too long), LBM_E_UNREACHABLE, LBM_E_DENIED, LBM_E_IO. */
enum lbm_err lbm_api_connect(struct lbmap *map, const char *path) LBM_MUST_CHECK;

void lbm_api_disconnect(struct lbmap *map); /* does nothing if there is no connection */

/* Takes one chunk of an answer. A failure is the call's result, but the rest of the answer is still read. */
typedef enum lbm_err (*lbm_api_chunk)(struct lbmap *map, const Lbm__Response *chunk, void *arg);

/* Send the request (its id is filled in), hand every chunk of the answer to take.
 * Errors: what the daemon answered, with its text; LBM_E_TIMEOUT, LBM_E_IO, LBM_E_SYNTAX and LBM_E_LIMIT
 *         close the connection, but a handle that serves a job survives LBM_E_TIMEOUT; LBM_E_STATE if it was
 * closed before; what take returned. */
enum lbm_err lbm_api_call(struct lbmap *map, Lbm__Request *request, lbm_api_chunk take,
                          void *arg) LBM_MUST_CHECK;

/* Send the request and do not wait for its answer, nor for that of an earlier one.
 * Errors: as lbm_api_call but for what the daemon answers. */
enum lbm_err lbm_api_tell(struct lbmap *map, Lbm__Request *request) LBM_MUST_CHECK;

/* Send as much of the request as the socket takes at once, the rest by lbm_api_go_on; its answer goes to
 * map->answered. as: kind and which. Nothing is on its way out (map->out).
 * Errors: as lbm_api_tell; LBM_E_NOMEM nothing is sent. */
enum lbm_err lbm_api_start(struct lbmap *map, Lbm__Request *request,
                           struct lbm_api_awaited as) LBM_MUST_CHECK;

/* Send what the socket takes at once. Errors: the connection is lost. */
enum lbm_err lbm_api_go_on(struct lbmap *map) LBM_MUST_CHECK;

/* Answers to requests of lbm_api_start are not wanted any more. */
void lbm_api_abandon(struct lbmap *map);

/* Take all that has come, and wait for nothing. Errors: as lbm_api_listen. */
enum lbm_err lbm_api_take(struct lbmap *map) LBM_MUST_CHECK;

/* Take what comes unasked within that time, 0: what has come; returns after the first chunk, or when what was
 * on its way out has gone.
 * Errors: as lbm_api_call, LBM_E_TIMEOUT excepted. */
enum lbm_err lbm_api_listen(struct lbmap *map, int64_t timeout_ms) LBM_MUST_CHECK;

int64_t lbm_api_now_ms(void); /* CLOCK_MONOTONIC */

#endif
