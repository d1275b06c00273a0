/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of connections: a CA, and identities that it has signed. */
#ifndef LBM_TESTS_UNIT_DAEMON_IDENTITIES_H
#define LBM_TESTS_UNIT_DAEMON_IDENTITIES_H

#include "pki/pki.h"

enum { CLUSTER = 0xc1 };

struct authority {
    X509 *ca;
    EVP_PKEY *key;
};

static inline struct authority
make_authority(uint64_t cluster)
{
    const struct lbm_pki_subject subject = {.kind = LBM_PKI_AUTHORITY, .cluster = cluster};
    struct authority authority;
    assert_int_equal(lbm_pki_key_new(&authority.key, NULL), LBM_OK);
    assert_int_equal(lbm_pki_authority_new(authority.key, &subject, "test", &authority.ca, NULL), LBM_OK);
    return authority;
}

static inline void
free_authority(struct authority *authority)
{
    X509_free(authority->ca);
    EVP_PKEY_free(authority->key);
}

/* An identity that lasts so long from now on. */
static inline struct lbm_identity
make_identity(const struct authority *authority, uint64_t cluster, uint32_t host, int64_t lasts_s)
{
    struct lbm_identity identity = {.subject = {.kind = LBM_PKI_HOST, .cluster = cluster, .host = host}};
    X509_up_ref(authority->ca);
    identity.ca = authority->ca;
    assert_int_equal(lbm_pki_key_new(&identity.key, NULL), LBM_OK);
    assert_int_equal(lbm_pki_sign(authority->ca, authority->key, identity.key, &identity.subject, lasts_s,
                                  &identity.certificate, NULL),
                     LBM_OK);
    return identity;
}

#endif
