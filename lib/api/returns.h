/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Vertices on their way back to the daemon, with payloads or all without. */
#ifndef LBM_API_RETURNS_H
#define LBM_API_RETURNS_H

#include "base/mem.h"
#include "lbmap.h"

struct lbm_returns {
    LBM_VEC(uint32_t) vertex;
    LBM_VEC(uint64_t) token;
    LBM_VEC(uint32_t) payload_len, blob;
    struct lbm_buf payload;
    size_t blob_bytes; /* of large payloads, which the daemon has already */
};

/* payload NULL: it stays as it was; a large one is brought to the daemon first. Errors: LBM_E_NOMEM, what
 * lbm_api_payload_put says; then the list is as before. */
enum lbm_err lbm_returns_add(struct lbmap *map, struct lbm_returns *returns, uint32_t vertex, uint64_t token,
                             const struct lbmap_payload *payload) LBM_MUST_CHECK;

/* A large payload that the daemon has, or gets before it reads the list; words [LBM_API_BLOB_WORDS] stand for
 * it. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_returns_add_blob(struct lbm_returns *returns, uint32_t vertex, uint64_t token,
                                  const uint8_t *words, size_t bytes) LBM_MUST_CHECK;

/* Nonzero if they are as many, or as much, as one message should carry. */
int lbm_returns_are_many(const struct lbm_returns *returns);

/* Tell the daemon that nobody works on these any more, if there are any; they were acquired in that term. The
 * list is empty afterwards. Errors: as lbm_api_tell; the next look at the connection sees them too. */
enum lbm_err lbm_returns_send(struct lbmap *map, struct lbm_returns *returns, uint64_t term);

/* Forget all, and keep the memory. */
void lbm_returns_clear(struct lbm_returns *returns);

void lbm_returns_free(struct lbm_returns *returns);

#endif
