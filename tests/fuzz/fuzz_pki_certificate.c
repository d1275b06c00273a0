/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A certificate that the other end shows: read or refused; whatever it says, an authority drawn here has not
 * signed it, nor is it an authority that has signed anything else. Accepted: what says whose it is. */
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "harnesses.h"
#include "pki/pki.h"

static X509 *
own_authority(void)
{
    static X509 *ca;
    const struct lbm_pki_subject subject = {.kind = LBM_PKI_AUTHORITY, .cluster = 0xc1};
    EVP_PKEY *key = NULL;
    if (ca != NULL)
        return ca;
    enum lbm_err err = lbm_pki_key_new(&key, NULL);
    LBM_ASSERT(err == LBM_OK);
    err = lbm_pki_authority_new(key, &subject, "lab", &ca, NULL);
    LBM_ASSERT(err == LBM_OK);
    EVP_PKEY_free(key);
    return ca;
}

int
fuzz_pki_certificate(const uint8_t *data, size_t size)
{
    X509 *certificate = NULL, *again = NULL;
    struct lbm_pki_subject subject;
    struct lbm_diag diag = {0};
    uint8_t hash[LBM_PKI_HASH], *der;
    size_t len;
    if (lbm_pki_certificate_read(data, size, &certificate, &diag) != LBM_OK)
        return 0;
    int says = lbm_pki_subject_of(certificate, &subject) == LBM_OK;
    enum lbm_err err = lbm_pki_check(certificate, own_authority(), time(NULL), &subject, &diag);
    LBM_ASSERT(err == LBM_E_DENIED);
    err = lbm_pki_check(own_authority(), certificate, time(NULL), &subject, &diag);
    LBM_ASSERT(err == LBM_E_DENIED);
    (void)lbm_pki_begins(certificate), (void)lbm_pki_ends(certificate), (void)lbm_pki_made(certificate);
    if (lbm_pki_key_hash(certificate, hash) == LBM_OK &&
        lbm_pki_certificate_write(certificate, &der, &len, &diag) == LBM_OK) {
        err = lbm_pki_certificate_read(der, len, &again, &diag);
        LBM_ASSERT(err == LBM_OK || len > LBM_PKI_DER_MAX);
        X509_free(again);
        free(der);
    }
    X509_free(certificate);
    return says;
}
