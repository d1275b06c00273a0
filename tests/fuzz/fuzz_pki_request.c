/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request for a certificate, from a stranger: refused, or a key on P-256 that has a fingerprint. */
#include "base/check.h"
#include "harnesses.h"
#include "pki/pki.h"

int
fuzz_pki_request(const uint8_t *data, size_t size)
{
    EVP_PKEY *key = NULL;
    struct lbm_diag diag = {0};
    uint8_t hash[LBM_PKI_HASH];
    enum lbm_err err = lbm_pki_request_read(data, size, &key, &diag);
    LBM_ASSERT((err == LBM_OK) == (key != NULL) && (err == LBM_OK || diag.code == err));
    if (err != LBM_OK)
        return 0;
    LBM_ASSERT(EVP_PKEY_get_bits(key) == 256);
    err = lbm_pki_hash_key(key, hash);
    LBM_ASSERT(err == LBM_OK);
    EVP_PKEY_free(key);
    return 1;
}
