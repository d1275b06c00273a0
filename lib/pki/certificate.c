/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pki/pki.h"

enum { SERIAL_BYTES = 16 };

enum lbm_err
lbm_pki_fail(struct lbm_diag *diag, enum lbm_err code, const char *where, const char *what)
{
    char text[160] = "";
    unsigned long error = ERR_get_error();
    if (error != 0)
        snprintf(text, sizeof text, ": %s", ERR_reason_error_string(error));
    ERR_clear_error();
    return lbm_diag_set(diag, code, where, 0, "%s%s", what, text);
}

enum lbm_err
lbm_pki_key_new(EVP_PKEY **out, struct lbm_diag *diag)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (key == NULL)
        return lbm_pki_fail(diag, LBM_E_IO, NULL, "no key can be drawn");
    *out = key;
    return LBM_OK;
}

/* On that curve by its name: parameters that are spelled out have been a way to choose others. */
static int
is_p256(EVP_PKEY *key)
{
    char group[32] = "";
    int is_explicit = 0;
    if (key != NULL &&
        (!EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &is_explicit) ||
         is_explicit))
        return 0;
    return key != NULL && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
           EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
           (strcmp(group, "prime256v1") == 0 || strcmp(group, "P-256") == 0);
}

/* ---- making ---------------------------------------------------------------------------------------------
 */

static int
add_extension(X509 *certificate, X509 *issuer, int id, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, id, value);
    int added = extension != NULL && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

/* The URI is put in by hand: no character of it is ever taken for syntax. */
static int
add_uri(X509 *certificate, const struct lbm_pki_subject *subject)
{
    char uri[LBM_PKI_URI_MAX + 1];
    lbm_pki_subject_print(subject, uri);
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_IA5STRING *text = ASN1_IA5STRING_new();
    int added = 0;
    if (names != NULL && name != NULL && text != NULL && ASN1_STRING_set(text, uri, -1)) {
        GENERAL_NAME_set0_value(name, GEN_URI, text);
        text = NULL;
        if (sk_GENERAL_NAME_push(names, name) > 0) {
            name = NULL;
            added = X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1;
        }
    }
    ASN1_IA5STRING_free(text);
    GENERAL_NAME_free(name);
    GENERAL_NAMES_free(names);
    return added;
}

static int
set_serial(X509 *certificate)
{
    uint8_t bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return 0;
    bytes[0] = (uint8_t)((bytes[0] & 0x3f) | 0x40); /* positive, and all of one length */
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    ASN1_INTEGER *serial = number != NULL ? BN_to_ASN1_INTEGER(number, NULL) : NULL;
    int set = serial != NULL && X509_set_serialNumber(certificate, serial);
    ASN1_INTEGER_free(serial);
    BN_free(number);
    return set;
}

static int
set_name(X509_NAME *name, const char *text)
{
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)text, -1, -1, 0);
}

static int
set_time(X509 *certificate, const X509 *ca, int64_t lasts_s)
{
    time_t now = time(NULL), begins = now - LBM_PKI_BACKDATED_S, ends = now + (time_t)lasts_s;
    if (ca != NULL && lbm_pki_ends(ca) < ends)
        ends = lbm_pki_ends(ca);
    if (ca != NULL && lbm_pki_begins(ca) > begins)
        begins = lbm_pki_begins(ca);
    return X509_time_adj_ex(X509_getm_notBefore(certificate), 0, 0, &begins) != NULL &&
           X509_time_adj_ex(X509_getm_notAfter(certificate), 0, 0, &ends) != NULL;
}

/* Everything but the extensions and the signature. ca NULL: it signs itself. */
static int
begin(X509 *certificate, X509 *ca, EVP_PKEY *key, const char *name, int64_t lasts_s)
{
    X509_NAME *issuer = ca != NULL ? X509_get_subject_name(ca) : NULL;
    return X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate) &&
           set_name(X509_get_subject_name(certificate), name) &&
           X509_set_issuer_name(certificate, issuer != NULL ? issuer : X509_get_subject_name(certificate)) &&
           set_time(certificate, ca, lasts_s) && X509_set_pubkey(certificate, key);
}

enum lbm_err
lbm_pki_authority_new(EVP_PKEY *key, const struct lbm_pki_subject *subject, const char *name, X509 **out,
                      struct lbm_diag *diag)
{
    X509 *ca = X509_new();
    if (ca == NULL || !begin(ca, NULL, key, name, LBM_PKI_AUTHORITY_S) ||
        !add_extension(ca, ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !add_extension(ca, ca, NID_key_usage, "critical,keyCertSign") ||
        !add_extension(ca, ca, NID_subject_key_identifier, "hash") || !add_uri(ca, subject) ||
        !X509_sign(ca, key, EVP_sha256())) {
        X509_free(ca);
        return lbm_pki_fail(diag, LBM_E_IO, NULL, "the CA's certificate cannot be made");
    }
    *out = ca;
    return LBM_OK;
}

enum lbm_err
lbm_pki_sign(X509 *ca, EVP_PKEY *ca_key, EVP_PKEY *key, const struct lbm_pki_subject *subject,
             int64_t lasts_s, X509 **out, struct lbm_diag *diag)
{
    X509 *certificate = X509_new();
    char name[LBM_NAME_MAX + 1];
    if (subject->kind == LBM_PKI_USER)
        snprintf(name, sizeof name, "%s", subject->user);
    else
        snprintf(name, sizeof name, "host %u", subject->host);
    /* A host is a server to those who connect, and a client where it connects; a user only asks. */
    const char *uses =
        subject->kind == LBM_PKI_USER ? "critical,clientAuth" : "critical,serverAuth,clientAuth";
    if (certificate == NULL || !begin(certificate, ca, key, name, lasts_s) ||
        !add_extension(certificate, ca, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(certificate, ca, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(certificate, ca, NID_ext_key_usage, uses) ||
        !add_extension(certificate, ca, NID_authority_key_identifier, "keyid:always") ||
        !add_uri(certificate, subject) || !X509_sign(certificate, ca_key, EVP_sha256())) {
        X509_free(certificate);
        return lbm_pki_fail(diag, LBM_E_IO, NULL, "a certificate cannot be made");
    }
    *out = certificate;
    return LBM_OK;
}

enum lbm_err
lbm_pki_request(EVP_PKEY *key, uint8_t **der, size_t *len, struct lbm_diag *diag)
{
    X509_REQ *request = X509_REQ_new();
    unsigned char *bytes = NULL;
    int n = -1;
    if (request != NULL && X509_REQ_set_version(request, X509_REQ_VERSION_1) &&
        X509_REQ_set_pubkey(request, key) && X509_REQ_sign(request, key, EVP_sha256()))
        n = i2d_X509_REQ(request, &bytes);
    X509_REQ_free(request);
    uint8_t *copy = n > 0 ? lbm_copy(bytes, (size_t)n, 1) : NULL;
    OPENSSL_free(bytes);
    if (copy == NULL)
        return lbm_pki_fail(diag, LBM_E_IO, NULL, "a request for a certificate cannot be made");
    *der = copy;
    *len = (size_t)n;
    return LBM_OK;
}

/* ---- reading what others made ---------------------------------------------------------------------------
 */

enum lbm_err
lbm_pki_request_read(const uint8_t *der, size_t len, EVP_PKEY **key, struct lbm_diag *diag)
{
    const unsigned char *at = der;
    if (len == 0 || len > LBM_PKI_DER_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0, "a request for a certificate has %zu bytes", len);
    X509_REQ *request = d2i_X509_REQ(NULL, &at, (long)len);
    if (request == NULL || at != der + len) {
        X509_REQ_free(request);
        return lbm_pki_fail(diag, LBM_E_SYNTAX, NULL, "this is no request for a certificate");
    }
    EVP_PKEY *found = X509_REQ_get_pubkey(request);
    enum lbm_err err = LBM_OK;
    if (!is_p256(found))
        err = lbm_pki_fail(diag, LBM_E_UNSUPPORTED, NULL, "a key that is not on P-256 is not certified");
    else if (X509_REQ_verify(request, found) != 1)
        err = lbm_pki_fail(diag, LBM_E_DENIED, NULL, "the request is not signed with its own key");
    X509_REQ_free(request);
    if (err == LBM_OK)
        *key = found;
    else
        EVP_PKEY_free(found);
    return err;
}

enum lbm_err
lbm_pki_certificate_read(const uint8_t *der, size_t len, X509 **out, struct lbm_diag *diag)
{
    const unsigned char *at = der;
    if (len == 0 || len > LBM_PKI_DER_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0, "a certificate has %zu bytes", len);
    X509 *certificate = d2i_X509(NULL, &at, (long)len);
    if (certificate == NULL || at != der + len) {
        X509_free(certificate);
        return lbm_pki_fail(diag, LBM_E_SYNTAX, NULL, "this is no certificate");
    }
    *out = certificate;
    return LBM_OK;
}

enum lbm_err
lbm_pki_certificate_write(X509 *certificate, uint8_t **der, size_t *len, struct lbm_diag *diag)
{
    unsigned char *bytes = NULL;
    int n = i2d_X509(certificate, &bytes);
    uint8_t *copy = n > 0 ? lbm_copy(bytes, (size_t)n, 1) : NULL;
    OPENSSL_free(bytes);
    if (copy == NULL)
        return lbm_pki_fail(diag, LBM_E_NOMEM, NULL, "a certificate cannot be written");
    *der = copy;
    *len = (size_t)n;
    return LBM_OK;
}

enum lbm_err
lbm_pki_subject_of(X509 *certificate, struct lbm_pki_subject *out)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    enum lbm_err err = LBM_E_SYNTAX;
    if (names != NULL && sk_GENERAL_NAME_num(names) == 1) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, 0);
        if (name->type == GEN_URI)
            err =
                lbm_pki_subject_parse((const char *)ASN1_STRING_get0_data(name->d.uniformResourceIdentifier),
                                      (size_t)ASN1_STRING_length(name->d.uniformResourceIdentifier), out);
    }
    GENERAL_NAMES_free(names);
    ERR_clear_error();
    return err;
}

static time_t
time_of(const ASN1_TIME *at)
{
    struct tm parts;
    return at != NULL && ASN1_TIME_to_tm(at, &parts) ? timegm(&parts) : 0;
}

time_t
lbm_pki_begins(const X509 *certificate)
{
    return time_of(X509_get0_notBefore(certificate));
}

time_t
lbm_pki_ends(const X509 *certificate)
{
    return time_of(X509_get0_notAfter(certificate));
}

time_t
lbm_pki_made(const X509 *certificate)
{
    return lbm_pki_begins(certificate) + LBM_PKI_BACKDATED_S;
}

static enum lbm_err
check_time(const X509 *certificate, time_t now, const char *which, struct lbm_diag *diag)
{
    if (now < lbm_pki_begins(certificate))
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0,
                            "%s is not valid yet: the clock of one of the machines is wrong", which);
    if (now >= lbm_pki_ends(certificate))
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "%s has expired", which);
    return LBM_OK;
}

enum lbm_err
lbm_pki_check(X509 *certificate, X509 *ca, time_t now, struct lbm_pki_subject *out, struct lbm_diag *diag)
{
    struct lbm_pki_subject subject, authority;
    EVP_PKEY *ca_key = X509_get0_pubkey(ca);
    if (!is_p256(ca_key) || X509_check_ca(ca) != 1 || lbm_pki_subject_of(ca, &authority) != LBM_OK ||
        authority.kind != LBM_PKI_AUTHORITY)
        return lbm_pki_fail(diag, LBM_E_DENIED, NULL, "the CA's certificate is not that of a cluster");
    if (X509_check_issued(ca, certificate) != X509_V_OK || X509_verify(certificate, ca_key) != 1)
        return lbm_pki_fail(diag, LBM_E_DENIED, NULL, "the certificate is not signed by the cluster's CA");
    if ((X509_get_extension_flags(certificate) & EXFLAG_CA) != 0 || !is_p256(X509_get0_pubkey(certificate)) ||
        lbm_pki_subject_of(certificate, &subject) != LBM_OK || subject.kind == LBM_PKI_AUTHORITY)
        return lbm_pki_fail(diag, LBM_E_DENIED, NULL, "the certificate does not say whose it is");
    if (subject.cluster != authority.cluster)
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "the certificate is of another cluster");
    enum lbm_err err = check_time(ca, now, "the CA's certificate", diag);
    if (err == LBM_OK)
        err = check_time(certificate, now, "the certificate", diag);
    if (err == LBM_OK)
        *out = subject;
    return err;
}

enum lbm_err
lbm_pki_hash_key(EVP_PKEY *key, uint8_t hash[LBM_PKI_HASH])
{
    unsigned char *der = NULL;
    unsigned n = 0;
    int len = i2d_PUBKEY(key, &der);
    int hashed = len > 0 && EVP_Digest(der, (size_t)len, hash, &n, EVP_sha256(), NULL) && n == LBM_PKI_HASH;
    OPENSSL_free(der);
    ERR_clear_error();
    return hashed ? LBM_OK : LBM_E_NOMEM;
}

enum lbm_err
lbm_pki_key_hash(X509 *certificate, uint8_t hash[LBM_PKI_HASH])
{
    unsigned char *der = NULL;
    unsigned n = 0;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
    int hashed = len > 0 && EVP_Digest(der, (size_t)len, hash, &n, EVP_sha256(), NULL) && n == LBM_PKI_HASH;
    OPENSSL_free(der);
    return hashed ? LBM_OK : LBM_E_NOMEM;
}
