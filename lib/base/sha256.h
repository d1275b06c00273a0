/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* SHA-256 (FIPS 180-4), piece by piece: names of large payloads. */
#ifndef LBM_BASE_SHA256_H
#define LBM_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define LBM_SHA256_BYTES 32

/* What has been hashed so far. */
struct lbm_sha256 {
    uint32_t state[8];
    uint64_t len;      /* bytes so far */
    uint8_t block[64]; /* the last len % 64 of them */
};

/* Begin: nothing is hashed yet. */
void lbm_sha256_init(struct lbm_sha256 *sha);
/* Append bytes [len]. */
void lbm_sha256_add(struct lbm_sha256 *sha, const void *bytes, size_t len);
/* The digest of all that was appended. sha is void afterwards. */
void lbm_sha256_end(struct lbm_sha256 *sha, uint8_t digest[LBM_SHA256_BYTES]);

#endif
