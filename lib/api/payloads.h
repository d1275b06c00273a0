/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Large payloads between the program and its daemon: a piece at a time, since a message has an end. */
#ifndef LBM_API_PAYLOADS_H
#define LBM_API_PAYLOADS_H

#include "api/call.h"
#include "lbmap.h"

/* What stands for a large payload in a message: its length and digest. */
enum { LBM_API_BLOB_WORDS = 40 };

/* Bring a payload to the daemon, which has it on its disk then; what it has already is not sent.
 * Out: words, what stands for it. Errors: as lbm_api_call. */
enum lbm_err lbm_api_payload_put(struct lbmap *map, const struct lbmap_payload *payload,
                                 uint8_t words[LBM_API_BLOB_WORDS]) LBM_MUST_CHECK;

/* Read the payload that words [len] stand for. job: of that job, which is not served, and from the records of
 * host `host`; NULL: of the one that is served. Out: *payload, its bytes to be freed with free().
 * Errors: as lbm_api_call; LBM_E_NOTFOUND the vertex is not this host's any more; LBM_E_CORRUPT it is not
 * what the words say; LBM_E_NOMEM. */
enum lbm_err lbm_api_payload_get(struct lbmap *map, const char *job, uint32_t host, const uint8_t *words,
                                 size_t len, struct lbmap_payload *payload) LBM_MUST_CHECK;

#endif
