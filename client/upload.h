/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest on its way to a daemon, in bounded pieces. */
#ifndef LBM_CLIENT_UPLOAD_H
#define LBM_CLIENT_UPLOAD_H

#include "client/daemon.h"

/* Where payloads come from. */
struct lbm_payloads {
    void *context;
    /* Append the payload of a vertex, in the order of their numbers, each once. */
    enum lbm_err (*read)(void *context, uint32_t vertex, struct lbm_buf *out, struct lbm_diag *diag);
};

/* Send it, and wait for the control log's word at most end_ms.
 * In:      begin: what is announced; payloads: NULL: none.
 * Status:  as lbm_daemon_ask; REFUSED with a message if a payload cannot be read. */
enum lbm_status lbm_upload(struct lbm_daemon *daemon, Lbm__SubmitBegin *begin, const struct lbm_graph *g,
                           const struct lbm_payloads *payloads, unsigned end_ms);

/* A folder with a file for each vertex, named by its number. Append that of a vertex, if it has no more
 * than `most` bytes.
 * Errors: LBM_E_NOTFOUND, LBM_E_LIMIT, LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_payload_file(const char *dir, uint32_t vertex, size_t most, struct lbm_buf *out,
                              struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
