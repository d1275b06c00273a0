/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is who: keys and certificates of a cluster, the folder that a host keeps its own in, and TLS with them.
 *
 * A cluster has one certificate authority (CA). What a certificate says is one URI:
 *   lbmap://CLUSTER              the CA itself
 *   lbmap://CLUSTER/host/ID      a host
 *   lbmap://CLUSTER/user/NAME/LEVEL/UID    an operator who asks daemons from elsewhere: what it may do, and
 * the user whose its jobs are with CLUSTER in 16 hexadecimal digits. All keys are ECDSA on P-256.
 *
 * Owns: the form of certificates, what makes one valid, and which TLS is spoken.
 * Never: opens a connection; never writes a key that others than its owner can read. */
#ifndef LBM_PKI_PKI_H
#define LBM_PKI_PKI_H

#include <limits.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "base/limits.h"

enum {
    LBM_PKI_HASH = 32,                  /* bytes of SHA-256 */
    LBM_PKI_CERTIFICATE_S = 90 * 86400, /* a certificate of a host lasts so long */
    LBM_PKI_AUTHORITY_S = 3650 * 86400, /* that of a CA */
    LBM_PKI_BACKDATED_S = 3600,         /* clocks of hosts differ: a certificate begins in the past */
    LBM_PKI_DER_MAX = LBM_ENROL_BYTES_MAX,
    LBM_PKI_URI_MAX = 64 + LBM_NAME_MAX, /* characters of what a certificate says */
};

/* ---- subject.c: what a certificate says -----------------------------------------------------------------
 */

#define LBM_PKI_KIND_LIST(X) X(AUTHORITY, "a CA") X(HOST, "a host") X(USER, "a user")
enum lbm_pki_kind {
#define LBM_PKI_KIND_ENUM(id, text) LBM_PKI_##id,
    LBM_PKI_KIND_LIST(LBM_PKI_KIND_ENUM)
#undef LBM_PKI_KIND_ENUM
        LBM_PKI_KIND_COUNT
};

/* What an operator may do; each includes those before. */
#define LBM_PKI_LEVEL_LIST(X) X(READ, "read") X(SUBMIT, "submit") X(ADMIN, "admin")
enum lbm_pki_level {
#define LBM_PKI_LEVEL_ENUM(id, name) LBM_PKI_##id,
    LBM_PKI_LEVEL_LIST(LBM_PKI_LEVEL_ENUM)
#undef LBM_PKI_LEVEL_ENUM
        LBM_PKI_LEVEL_COUNT
};

struct lbm_pki_subject {
    enum lbm_pki_kind kind;
    uint64_t cluster;            /* not 0 */
    uint32_t host;               /* HOST */
    char user[LBM_NAME_MAX + 1]; /* USER */
    enum lbm_pki_level level;    /* USER */
    uint32_t uid;                /* USER: 0 only with LBM_PKI_ADMIN, for jobs of nobody are user 0's */
};

/* Name of a level, and back. Errors: LBM_E_SYNTAX; *out untouched. */
const char *lbm_pki_level_name(enum lbm_pki_level level);
enum lbm_err lbm_pki_level_parse(const char *name, enum lbm_pki_level *out) LBM_MUST_CHECK;

/* Write a subject as a URI. */
void lbm_pki_subject_print(const struct lbm_pki_subject *subject, char uri[LBM_PKI_URI_MAX + 1]);

/* Read it back; only what lbm_pki_subject_print writes is taken. Errors: LBM_E_SYNTAX; *out untouched. */
enum lbm_err lbm_pki_subject_parse(const char *uri, size_t len, struct lbm_pki_subject *out) LBM_MUST_CHECK;

/* Nonzero if text may be the name of a user. */
int lbm_pki_name_valid(const char *text);

/* ---- certificate.c: keys, requests, certificates ---------------------------------------------------------
 */

/* Every object that comes out is the caller's, to be freed by OpenSSL's function of its type. */

/* Draw a key. Errors: LBM_E_IO. */
enum lbm_err lbm_pki_key_new(EVP_PKEY **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Make the CA of a new cluster, signed by itself. In: name of the cluster, for people who look at it. */
enum lbm_err lbm_pki_authority_new(EVP_PKEY *key, const struct lbm_pki_subject *subject, const char *name,
                                   X509 **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Sign that `key` is the subject's from now on, for lasts_s seconds, but no longer than the CA lasts.
 * In:      ca and its key; key: the public part counts. */
enum lbm_err lbm_pki_sign(X509 *ca, EVP_PKEY *ca_key, EVP_PKEY *key, const struct lbm_pki_subject *subject,
                          int64_t lasts_s, X509 **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Ask for a certificate. Out: der [*len] owned by the caller (free). */
enum lbm_err lbm_pki_request(EVP_PKEY *key, uint8_t **der, size_t *len, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read a request from a stranger: it is P-256, and the asker has the private key.
 * Errors: LBM_E_LIMIT, LBM_E_SYNTAX, LBM_E_UNSUPPORTED another kind of key, LBM_E_DENIED wrong signature. */
enum lbm_err lbm_pki_request_read(const uint8_t *der, size_t len, EVP_PKEY **key,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* Certificates as bytes. Errors: LBM_E_LIMIT, LBM_E_SYNTAX. */
enum lbm_err lbm_pki_certificate_read(const uint8_t *der, size_t len, X509 **out,
                                      struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_pki_certificate_write(X509 *certificate, uint8_t **der, size_t *len,
                                       struct lbm_diag *diag) LBM_MUST_CHECK;

/* What a certificate says, whoever signed it.
 * Errors: LBM_E_SYNTAX it says nothing, or more than one thing. */
enum lbm_err lbm_pki_subject_of(X509 *certificate, struct lbm_pki_subject *out) LBM_MUST_CHECK;

/* Check a certificate: signed by that CA for its cluster, in its time, with the uses of its kind.
 * Out:     what it says
 * Errors:  LBM_E_DENIED; diag says why. */
enum lbm_err lbm_pki_check(X509 *certificate, X509 *ca, time_t now, struct lbm_pki_subject *out,
                           struct lbm_diag *diag) LBM_MUST_CHECK;

/* SHA-256 of a public key: what a token pins of a CA's certificate, what a person compares of a request. */
enum lbm_err lbm_pki_key_hash(X509 *certificate, uint8_t hash[LBM_PKI_HASH]) LBM_MUST_CHECK;
enum lbm_err lbm_pki_hash_key(EVP_PKEY *key, uint8_t hash[LBM_PKI_HASH]) LBM_MUST_CHECK;

/* Seconds since 1970 at which it begins and ends; 0 if that cannot be said. */
time_t lbm_pki_begins(const X509 *certificate);
time_t lbm_pki_ends(const X509 *certificate);
/* When lbm_pki_sign made it. */
time_t lbm_pki_made(const X509 *certificate);

/* Set the diagnosis from OpenSSL's queue of errors, which is emptied. */
enum lbm_err lbm_pki_fail(struct lbm_diag *diag, enum lbm_err code, const char *where, const char *what);

/* ---- identity.c: the folder of a host -------------------------------------------------------------------
 */

/* Files in it; that of a user has only the CA's certificate and its own certificate and key. */
#define LBM_IDENTITY_CA "ca.pem"          /* the CA's certificate */
#define LBM_IDENTITY_CA_KEY "ca.key"      /* its key, on hosts that enrol others */
#define LBM_IDENTITY_CERT "host.pem"      /* this host's certificate */
#define LBM_IDENTITY_KEY "host.key"       /* and key */
#define LBM_IDENTITY_USER_CERT "user.pem" /* of a user */
#define LBM_IDENTITY_USER_KEY "user.key"
#define LBM_IDENTITY_CONTACTS "contacts" /* lines "ID ADDRESS": hosts to ask while nobody else is known */
#define LBM_IDENTITY_FOUND "found"       /* this host founds the cluster; its presence says so */
#define LBM_IDENTITY_TOKENS "tokens"     /* who may enrol; see tokens.c */

#define LBM_IDENTITY_APPROVALS "approvals" /* who asks to enrol without a token; see approvals.c */
#define LBM_IDENTITY_LOCK "tokens.lock"    /* held by who changes one of these two */

struct lbm_identity {
    X509 *ca;
    X509 *certificate;
    EVP_PKEY *key;
    EVP_PKEY *ca_key; /* NULL: this host signs nobody */
    struct lbm_pki_subject subject;
};

/* DIR/FILE. Value: path. */
const char *lbm_identity_path(const char *dir, const char *file, char path[PATH_MAX]);

/* Make the folder, only for its owner, if it is not there.  Errors: LBM_E_IO, LBM_E_DENIED. */
enum lbm_err lbm_identity_folder(const char *dir, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read and check the folder of a host.
 * Out:     *out, freed by lbm_identity_free; untouched on error
 * Errors:  LBM_E_NOTFOUND there is none, LBM_E_IO, LBM_E_SYNTAX, LBM_E_DENIED others may read a key, or the
 *          certificate is not this CA's, not this key's, or not valid now. */
enum lbm_err lbm_identity_read(const char *dir, struct lbm_identity *out,
                               struct lbm_diag *diag) LBM_MUST_CHECK;
/* The same for the folder of a user. */
enum lbm_err lbm_identity_read_user(const char *dir, struct lbm_identity *out,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;
/* The key of the CA that somebody has put into the folder since. Out: identity->ca_key.
 * Errors: LBM_E_NOTFOUND there is none; as lbm_identity_read. */
enum lbm_err lbm_identity_read_ca_key(const char *dir, struct lbm_identity *identity,
                                      struct lbm_diag *diag) LBM_MUST_CHECK;
void lbm_identity_free(struct lbm_identity *identity);

/* Root gives what it writes there to the owner of the folder: the daemon reads it. Value: 0 if that fails. */
int lbm_identity_own(int fd, const char *dir);

/* Nobody else changes tokens and approvals until the caller closes *fd: for a write of some KiB. */
enum lbm_err lbm_identity_lock(const char *dir, int *fd, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Write a file of the folder, whole or not at all, durable, mode 0600. */
enum lbm_err lbm_identity_write(const char *dir, const char *file, const void *bytes, size_t len,
                                struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_identity_write_certificate(const char *dir, const char *file, X509 *certificate,
                                            struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_identity_write_key(const char *dir, const char *file, EVP_PKEY *key,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read one file of certificates or keys. passphrase: of an encrypted key, or NULL. */
enum lbm_err lbm_identity_read_certificate(const char *path, X509 **out,
                                           struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_identity_read_key(const char *path, const char *passphrase, EVP_PKEY **out,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;

/* A small text file of the folder, as lines of contacts and tokens. Out: *text owned by the caller,
 * terminated; empty if there is no such file. */
enum lbm_err lbm_identity_read_text(const char *dir, const char *file, char **text,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- context.c: TLS -------------------------------------------------------------------------------------
 */

/* What is spoken over a connection; ALPN says it before anything else is. */
#define LBM_TLS_USE_LIST(X)                                                                                  \
    X(PEER, "lbmap-peer/1")       /* a host sends to another; both show certificates */                      \
    X(ENROL, "lbmap-enrol/1")     /* one without a certificate asks for one, or a host for its next */       \
    X(CONTROL, "lbmap-control/1") /* an operator asks; the certificate is a user's */                        \
    X(ETCD, "lbmap-etcd/1")       /* bytes for the etcd that runs there (daemon/tunnel.h) */

enum lbm_tls_use {
#define LBM_TLS_USE_ENUM(id, name) LBM_TLS_##id,
    LBM_TLS_USE_LIST(LBM_TLS_USE_ENUM)
#undef LBM_TLS_USE_ENUM
        LBM_TLS_USE_COUNT,
    LBM_TLS_NONE = LBM_TLS_USE_COUNT /* nothing that this version knows */
};

/* A context of both ends: TLS 1.3 alone, no tickets, no early data, no resumption, ALPN required.
 * As a server it asks for a certificate as the use demands: of a host, of a user, or of nobody. As a client
 * it believes only what identity->ca has signed. identity may be NULL for a client that believes nobody yet
 * and looks at the chain itself (enrolment).
 * In:      identity: borrowed until lbm_tls_free; identity->certificate may be replaced by lbm_tls_renew. */
struct lbm_tls;
enum lbm_err lbm_tls_new(const struct lbm_identity *identity, struct lbm_tls **out,
                         struct lbm_diag *diag) LBM_MUST_CHECK;
void lbm_tls_free(struct lbm_tls *tls);

/* New connections show this certificate of the same host from now on; those that stand go on. */
enum lbm_err lbm_tls_renew(struct lbm_tls *tls, X509 *certificate, EVP_PKEY *key,
                           struct lbm_diag *diag) LBM_MUST_CHECK;

/* Hosts and users that are believed no more, whatever their certificates say. The function is asked in
 * handshakes; made_s: when the certificate was made, seconds since 1970. */
typedef int lbm_tls_is_revoked(void *context, const struct lbm_pki_subject *subject, int64_t made_s);
void lbm_tls_revoked(struct lbm_tls *tls, lbm_tls_is_revoked *is_revoked, void *context);

/* One connection. Owned by the caller (SSL_free, or the bufferevent). Client: only that host is taken for the
 * other end, LBM_NONE: any of the cluster. Value: NULL if memory is short. */
SSL *lbm_tls_accept(struct lbm_tls *tls);
SSL *lbm_tls_connect(struct lbm_tls *tls, enum lbm_tls_use use, uint32_t host);

/* After the handshake: what is spoken, and who the other end is.
 * Value: nonzero if it showed a certificate, which then was checked; *out is set only then.
 * lbm_tls_peer_made: when that certificate was made, seconds since 1970. */
enum lbm_tls_use lbm_tls_use_of(const SSL *ssl);
int lbm_tls_peer(const SSL *ssl, struct lbm_pki_subject *out);
int64_t lbm_tls_peer_made(const SSL *ssl);

/* Why a handshake failed, in words; from OpenSSL's queue of errors, which is emptied. */
void lbm_tls_reason(const SSL *ssl, unsigned long error, char text[LBM_DIAG_TEXT_MAX]);

/* ---- token.c: the right to enrol, as text ----------------------------------------------------------------
 */

enum { LBM_TOKEN_SECRET = 20, LBM_TOKEN_TEXT = 5 + 52 + 1 + 32 }; /* bytes; characters of lbm1-HASH-SECRET */

struct lbm_token {
    uint8_t authority[LBM_PKI_HASH]; /* of the CA's public key */
    uint8_t secret[LBM_TOKEN_SECRET];
};

enum lbm_err lbm_token_new(X509 *ca, struct lbm_token *out, struct lbm_diag *diag) LBM_MUST_CHECK;
void lbm_token_print(const struct lbm_token *token, char text[LBM_TOKEN_TEXT + 1]);
/* The part of a token that names the authority, lbm1-HASH, which is no secret. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_token_print_authority(X509 *ca, char text[LBM_TOKEN_TEXT + 1]) LBM_MUST_CHECK;
enum lbm_err lbm_token_parse(const char *text, struct lbm_token *out) LBM_MUST_CHECK;
/* The authority alone, with or without a secret behind it. Out: authority; untouched on error. */
enum lbm_err lbm_token_parse_authority(const char *text, uint8_t authority[LBM_PKI_HASH]) LBM_MUST_CHECK;

/* ---- tokens.c: which tokens a host takes -----------------------------------------------------------------
 */

enum {
    LBM_TOKENS_MAX = 256, /* that are kept; used up and old ones make room */
    LBM_TOKEN_USES_MAX = 8192,
    LBM_TOKEN_NAME = 8 /* characters: the first of the secret's hash, by which people name a token */
};

struct lbm_token_row {
    char name[LBM_TOKEN_NAME + 1];
    uint8_t hash[LBM_PKI_HASH]; /* of the secret; the secret itself is kept nowhere */
    int64_t until_s;            /* seconds since 1970 */
    uint32_t uses;              /* left */
};

struct lbm_tokens {
    struct lbm_token_row row[LBM_TOKENS_MAX];
    size_t n;
};

/* All that may still be used, and a list that changes on disk while nobody else changes it. */
enum lbm_err lbm_tokens_read(const char *dir, int64_t now_s, struct lbm_tokens *out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;
/* Errors: LBM_E_LIMIT there are LBM_TOKENS_MAX. */
enum lbm_err lbm_tokens_add(const char *dir, const struct lbm_token *token, int64_t now_s, int64_t until_s,
                            uint32_t uses, struct lbm_diag *diag) LBM_MUST_CHECK;
/* Errors: LBM_E_NOTFOUND. */
enum lbm_err lbm_tokens_revoke(const char *dir, const char *name, int64_t now_s,
                               struct lbm_diag *diag) LBM_MUST_CHECK;
/* Errors: LBM_E_DENIED there is no such token, or not any more. */
enum lbm_err lbm_tokens_find(const char *dir, const uint8_t secret[LBM_TOKEN_SECRET], int64_t now_s,
                             struct lbm_diag *diag) LBM_MUST_CHECK;
/* Use one up, durably. Out: name of the token. Errors: LBM_E_DENIED there is no such token, or not any more.
 */
enum lbm_err lbm_tokens_use(const char *dir, const uint8_t secret[LBM_TOKEN_SECRET], int64_t now_s,
                            char name[LBM_TOKEN_NAME + 1], struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- approvals.c: who asks to be let in without a token ---------------------------------------------------
 */

enum {
    LBM_APPROVALS_MAX = 64, /* that wait, or have been decided of late */
    LBM_APPROVAL_S =
        600, /* so long after it asked for the last time, or after the decision, a line is kept */
    LBM_APPROVAL_DIGITS = 32,    /* of a fingerprint, hexadecimal: 128 bits */
    LBM_APPROVAL_DIGITS_MIN = 8, /* that name a machine in the list */
};

#define LBM_APPROVAL_LIST(X) X(WAITS, "waits") X(APPROVED, "approved") X(DENIED, "denied")
enum lbm_approval_state {
#define LBM_APPROVAL_ENUM(id, name) LBM_APPROVAL_##id,
    LBM_APPROVAL_LIST(LBM_APPROVAL_ENUM)
#undef LBM_APPROVAL_ENUM
        LBM_APPROVAL_COUNT
};

struct lbm_approval {
    uint8_t key[LBM_PKI_HASH]; /* SHA-256 of the public key to be certified */
    char fingerprint[LBM_APPROVAL_DIGITS + 1];
    enum lbm_approval_state state;
    int64_t until_s; /* seconds since 1970 */
    char name[LBM_NAME_MAX + 1];
    char from[LBM_ADDRESS_MAX + 1]; /* address, without the port */
};

struct lbm_approvals {
    struct lbm_approval row[LBM_APPROVALS_MAX];
    size_t n;
};

const char *lbm_approval_name(enum lbm_approval_state state);

/* All lines whose time is not over. */
enum lbm_err lbm_approvals_read(const char *dir, int64_t now_s, struct lbm_approvals *out,
                                struct lbm_diag *diag) LBM_MUST_CHECK;
/* A machine asks. Out: its line; *is_new: it was not there before.
 * Errors: LBM_E_LIMIT too many wait, LBM_E_DENIED the key has asked by another name. */
enum lbm_err lbm_approvals_ask(const char *dir, const uint8_t key[LBM_PKI_HASH], const char *name,
                               const char *from, int64_t now_s, struct lbm_approval *out, int *is_new,
                               struct lbm_diag *diag) LBM_MUST_CHECK;
/* A person decides. fingerprint: its first digits, LBM_APPROVAL_DIGITS_MIN at least. Out: the line.
 * Errors: LBM_E_RANGE, LBM_E_NOTFOUND none or several have it. */
enum lbm_err lbm_approvals_decide(const char *dir, const char *fingerprint, int approve, int64_t now_s,
                                  struct lbm_approval *out, struct lbm_diag *diag) LBM_MUST_CHECK;
/* Use an approval up, durably. Errors: LBM_E_DENIED there is none. */
enum lbm_err lbm_approvals_use(const char *dir, const uint8_t key[LBM_PKI_HASH], int64_t now_s,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
