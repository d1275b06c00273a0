/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The handle behind lbmap.h, and one question to the daemon with its answers.
 *
 * Owns: the connection, its deadline, the text of the last failure.
 * Never: reads or writes after the connection failed; the stream of answers would be out of step. */
#ifndef LBM_API_CALL_H
#define LBM_API_CALL_H

#include "base/err.h"
#include "base/limits.h"
#include "wire/wire.h"

enum { LBM_API_TIMEOUT_MS = 30000 };

struct lbmap {
    int fd; /* -1: the connection failed */
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

/* Takes one part of an answer. A failure is the call's result, but the rest of the answer is still read. */
typedef enum lbm_err (*lbm_api_part)(struct lbmap *map, const Lbm__Response *part, void *arg);

/* Send the request (its id is filled in), hand every part of the answer to take.
 * Errors: what the daemon answered, with its text; LBM_E_TIMEOUT, LBM_E_IO, LBM_E_SYNTAX and LBM_E_LIMIT
 *         close the connection; LBM_E_STATE if it was closed before; what take returned. */
enum lbm_err lbm_api_call(struct lbmap *map, Lbm__Request *request, lbm_api_part take,
                          void *arg) LBM_MUST_CHECK;

#endif
