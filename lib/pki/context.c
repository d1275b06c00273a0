/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TLS between hosts. What is decided in a handshake is decided here: which protocol, which certificate. */
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "pki/pki.h"

enum {
    KEY_UPDATES_MAX = 16,       /* that the other end makes on a connection; ours makes none */
    CHAIN_BYTES_MAX = 16 << 10, /* of certificates in a handshake: two of ours have 1 KiB */
};

struct lbm_tls {
    SSL_CTX *context;
    const struct lbm_identity *identity; /* NULL: the chain is looked at by the caller */
    lbm_tls_is_revoked *is_revoked;
    void *revoked_context;
};

/* What is known of one connection; it belongs to its SSL. */
struct handshake {
    struct lbm_tls *tls;
    enum lbm_tls_use use;
    uint32_t expected; /* client: the host at the other end; LBM_NONE: any */
    int has_peer;
    struct lbm_pki_subject peer;
    int64_t made_s; /* its certificate */
    unsigned key_updates;
    char why[128]; /* the other end was refused; "": it was not */
};

static const char *const use_names[] = {
#define USE_NAME(id, name) [LBM_TLS_##id] = name,
    LBM_TLS_USE_LIST(USE_NAME)
#undef USE_NAME
};

static void
free_handshake(void *parent, void *handshake, CRYPTO_EX_DATA *data, int index, long argument, void *pointer)
{
    (void)parent;
    (void)data;
    (void)index;
    (void)argument;
    (void)pointer;
    free(handshake);
}

/* Place of a struct handshake in an SSL; the first call, from the one thread that makes contexts, takes it.
 */
static int
place(void)
{
    static int index = -1;
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_handshake);
    return index;
}

static struct handshake *
handshake_of(const SSL *ssl)
{
    return SSL_get_ex_data(ssl, place());
}

/* ---- the handshake --------------------------------------------------------------------------------------
 */

static enum lbm_tls_use
use_named(const unsigned char *name, unsigned len)
{
    for (int use = 0; use < LBM_TLS_USE_COUNT; use++)
        if (strlen(use_names[use]) == len && memcmp(use_names[use], name, len) == 0)
            return (enum lbm_tls_use)use;
    return LBM_TLS_NONE;
}

/* Server: take the first protocol that this version knows, and ask for the certificate that it demands. */
static int
on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in, unsigned in_len,
        void *context)
{
    struct handshake *h = handshake_of(ssl);
    (void)context;
    for (unsigned at = 0; at < in_len && at + 1 + in[at] <= in_len; at += 1u + in[at]) {
        h->use = use_named(in + at + 1, in[at]);
        if (h->use == LBM_TLS_NONE)
            continue;
        *out = in + at + 1;
        *out_len = in[at];
        SSL_set_verify(ssl, SSL_VERIFY_PEER | (h->use != LBM_TLS_ENROL ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       NULL);
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Nonzero if the extensions of a certificate allow what it is used for. */
static int
has_uses(X509 *certificate, int is_server)
{
    uint32_t flags = X509_get_extension_flags(certificate);
    uint32_t uses = X509_get_extended_key_usage(certificate);
    return (flags & (EXFLAG_INVALID | EXFLAG_CRITICAL)) == 0 && (flags & EXFLAG_XKUSAGE) != 0 &&
           (uses & (is_server ? XKU_SSL_SERVER : XKU_SSL_CLIENT)) != 0 &&
           (X509_get_key_usage(certificate) & KU_DIGITAL_SIGNATURE) != 0;
}

static enum lbm_err
judge(const struct handshake *h, X509 *certificate, int is_server, struct lbm_pki_subject *subject,
      struct lbm_diag *diag)
{
    const struct lbm_tls *tls = h->tls;
    enum lbm_err err = lbm_pki_check(certificate, tls->identity->ca, time(NULL), subject, diag);
    if (err != LBM_OK)
        return err;
    if (!has_uses(certificate, is_server))
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "the certificate is not for this use");
    if (subject->kind != (h->use == LBM_TLS_CONTROL && !is_server ? LBM_PKI_USER : LBM_PKI_HOST))
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "the certificate is of %s",
                            subject->kind == LBM_PKI_USER ? "a user" : "a host");
    if (tls->is_revoked != NULL && tls->is_revoked(tls->revoked_context, subject, lbm_pki_made(certificate)))
        return subject->kind == LBM_PKI_USER
                   ? lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "user %s is revoked", subject->user)
                   : lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "host %u is revoked", subject->host);
    if (subject->kind != LBM_PKI_HOST)
        return LBM_OK;
    if (h->expected != LBM_NONE && subject->host != h->expected)
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "this is host %u, not %u", subject->host,
                            h->expected);
    if ((h->use == LBM_TLS_PEER || h->use == LBM_TLS_ETCD) && subject->host == tls->identity->subject.host)
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "this is host %u itself", subject->host);
    return LBM_OK;
}

/* In place of OpenSSL's building of chains: one CA signs everybody. */
static int
on_verify(X509_STORE_CTX *store, void *context)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct handshake *h = handshake_of(ssl);
    X509 *certificate = X509_STORE_CTX_get0_cert(store);
    struct lbm_diag diag = {0};
    (void)context;
    if (h->tls->identity == NULL) {
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
    }
    if (certificate != NULL && judge(h, certificate, !SSL_is_server(ssl), &h->peer, &diag) == LBM_OK) {
        h->has_peer = 1;
        h->made_s = lbm_pki_made(certificate);
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
    }
    snprintf(h->why, sizeof h->why, "%.127s", diag.text);
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
}

/* Called for every message. Updates of keys cost this end work and the other nothing: many are an attack. */
static void
on_message(int writes, int version, int type, const void *bytes, size_t len, SSL *ssl, void *context)
{
    struct handshake *h = handshake_of(ssl);
    const unsigned char *first = bytes;
    (void)version;
    (void)context;
    if (writes || type != SSL3_RT_HANDSHAKE || len == 0 || *first != SSL3_MT_KEY_UPDATE ||
        ++h->key_updates <= KEY_UPDATES_MAX)
        return;
    snprintf(h->why, sizeof h->why, "it changes keys again and again");
    (void)shutdown(SSL_get_fd(ssl), SHUT_RDWR);
}

/* ---- contexts -------------------------------------------------------------------------------------------
 */

static int
set_policy(SSL_CTX *context)
{
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE);
    /* A frame that waits may be moved by the buffer that holds it. */
    SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_max_cert_list(context, CHAIN_BYTES_MAX);
    SSL_CTX_set_cert_verify_callback(context, on_verify, NULL);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
    SSL_CTX_set_msg_callback(context, on_message);
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) && SSL_CTX_set_num_tickets(context, 0) &&
           SSL_CTX_set_max_early_data(context, 0) && SSL_CTX_set_recv_max_early_data(context, 0) &&
           SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") &&
           SSL_CTX_set1_groups_list(context, "X25519:P-256") &&
           SSL_CTX_set1_sigalgs_list(context, "ECDSA+SHA256");
}

static int
set_identity(SSL_CTX *context, X509 *ca, X509 *certificate, EVP_PKEY *key)
{
    return SSL_CTX_use_certificate(context, certificate) && SSL_CTX_use_PrivateKey(context, key) &&
           SSL_CTX_clear_chain_certs(context) && SSL_CTX_add1_chain_cert(context, ca);
}

enum lbm_err
lbm_tls_new(const struct lbm_identity *identity, struct lbm_tls **out, struct lbm_diag *diag)
{
    struct lbm_tls *tls = lbm_alloc(1, sizeof *tls);
    if (tls == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    tls->identity = identity;
    tls->context = SSL_CTX_new(TLS_method());
    if (place() < 0 || tls->context == NULL || !set_policy(tls->context) ||
        (identity != NULL &&
         !set_identity(tls->context, identity->ca, identity->certificate, identity->key))) {
        lbm_tls_free(tls);
        return lbm_pki_fail(diag, LBM_E_IO, NULL, "TLS cannot be set up");
    }
    *out = tls;
    return LBM_OK;
}

void
lbm_tls_free(struct lbm_tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

enum lbm_err
lbm_tls_renew(struct lbm_tls *tls, X509 *certificate, EVP_PKEY *key, struct lbm_diag *diag)
{
    if (set_identity(tls->context, tls->identity->ca, certificate, key))
        return LBM_OK;
    return lbm_pki_fail(diag, LBM_E_IO, NULL, "the new certificate cannot be used");
}

void
lbm_tls_revoked(struct lbm_tls *tls, lbm_tls_is_revoked *is_revoked, void *context)
{
    tls->is_revoked = is_revoked;
    tls->revoked_context = context;
}

/* ---- connections ----------------------------------------------------------------------------------------
 */

static SSL *
new_connection(struct lbm_tls *tls, enum lbm_tls_use use, uint32_t host)
{
    SSL *ssl = SSL_new(tls->context);
    struct handshake *h = ssl != NULL ? lbm_alloc(1, sizeof *h) : NULL;
    if (h == NULL || !SSL_set_ex_data(ssl, place(), h)) {
        free(h);
        SSL_free(ssl);
        ERR_clear_error();
        return NULL;
    }
    h->tls = tls;
    h->use = use;
    h->expected = host;
    return ssl;
}

SSL *
lbm_tls_accept(struct lbm_tls *tls)
{
    SSL *ssl = new_connection(tls, LBM_TLS_NONE, LBM_NONE);
    if (ssl != NULL)
        SSL_set_accept_state(ssl);
    return ssl;
}

SSL *
lbm_tls_connect(struct lbm_tls *tls, enum lbm_tls_use use, uint32_t host)
{
    unsigned char protocols[1 + 255];
    SSL *ssl = new_connection(tls, use, host);
    size_t len = strlen(use_names[use]);
    protocols[0] = (unsigned char)len;
    memcpy(protocols + 1, use_names[use], len);
    if (ssl == NULL)
        return NULL;
    if (SSL_set_alpn_protos(ssl, protocols, (unsigned)len + 1) != 0) { /* 0 is its success */
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}

enum lbm_tls_use
lbm_tls_use_of(const SSL *ssl)
{
    const unsigned char *name;
    unsigned len;
    SSL_get0_alpn_selected(ssl, &name, &len);
    enum lbm_tls_use use = len != 0 ? use_named(name, len) : LBM_TLS_NONE;
    return use == handshake_of(ssl)->use ? use : LBM_TLS_NONE;
}

int
lbm_tls_peer(const SSL *ssl, struct lbm_pki_subject *out)
{
    const struct handshake *h = handshake_of(ssl);
    if (h->has_peer)
        *out = h->peer;
    return h->has_peer;
}

int64_t
lbm_tls_peer_made(const SSL *ssl)
{
    return handshake_of(ssl)->made_s;
}

void
lbm_tls_reason(const SSL *ssl, unsigned long error, char text[LBM_DIAG_TEXT_MAX])
{
    const struct handshake *h = handshake_of(ssl);
    const char *reason = error != 0 ? ERR_reason_error_string(error) : NULL;
    if (h->why[0] != '\0')
        snprintf(text, LBM_DIAG_TEXT_MAX, "%s", h->why);
    else if (reason != NULL)
        snprintf(text, LBM_DIAG_TEXT_MAX, "%s", reason);
    else
        snprintf(text, LBM_DIAG_TEXT_MAX, "closed by the other end");
    ERR_clear_error();
}
