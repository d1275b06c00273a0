/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handshakes, both ends in memory: who gets through, and who does not. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "pki/pki.h"
#include "tests/unit/daemon/identities.h"

enum { CLIENT_HOST = 5, SERVER_HOST = 7, ROUNDS = 20 };

/* How a handshake ended at each side: 1 done, 0 not yet, -1 refused. */
struct outcome {
    int client, server;
    char why[LBM_DIAG_TEXT_MAX]; /* as the server has it */
};

static int
step(SSL *ssl, unsigned long *error)
{
    if (SSL_is_init_finished(ssl)) {
        char byte;
        int got = SSL_read(ssl, &byte, 1); /* an alert of the other end may come */
        int failed = got <= 0 && SSL_get_error(ssl, got) != SSL_ERROR_WANT_READ;
        *error = failed ? ERR_peek_error() : 0;
        ERR_clear_error();
        return failed ? -1 : 1;
    }
    int done = SSL_do_handshake(ssl), why = SSL_get_error(ssl, done);
    if (done == 1)
        return 1;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return 0;
    *error = ERR_peek_error();
    ERR_clear_error();
    return -1;
}

/* Takes both. */
static struct outcome
shake_hands(SSL *client, SSL *server)
{
    struct outcome outcome = {0, 0, ""};
    unsigned long client_error = 0, server_error = 0;
    BIO *to_client, *to_server;
    assert_int_equal(BIO_new_bio_pair(&to_client, 1 << 16, &to_server, 1 << 16), 1);
    SSL_set_bio(client, to_client, to_client);
    SSL_set_bio(server, to_server, to_server);
    for (int i = 0; i < ROUNDS; i++) {
        if (outcome.client >= 0)
            outcome.client = step(client, &client_error);
        if (outcome.server >= 0)
            outcome.server = step(server, &server_error);
    }
    lbm_tls_reason(server, server_error, outcome.why);
    return outcome;
}

struct fixture {
    struct authority authority;
    struct lbm_identity server;
    struct lbm_tls *tls;
};

static int
set_up(void **state)
{
    static struct fixture f;
    f.authority = make_authority(CLUSTER);
    f.server = make_identity(&f.authority, CLUSTER, SERVER_HOST, 3600);
    *state = &f;
    return lbm_tls_new(&f.server, &f.tls, NULL) != LBM_OK;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    lbm_tls_free(f->tls);
    lbm_identity_free(&f->server);
    free_authority(&f->authority);
    return 0;
}

/* A handshake of that identity with the server; takes the identity's parts. */
static struct outcome
try_identity(struct fixture *f, struct lbm_identity *identity, enum lbm_tls_use use, uint32_t expected,
             struct lbm_pki_subject *peer)
{
    struct lbm_tls *tls;
    assert_int_equal(lbm_tls_new(identity, &tls, NULL), LBM_OK);
    SSL *client = lbm_tls_connect(tls, use, expected), *server = lbm_tls_accept(f->tls);
    struct outcome outcome = shake_hands(client, server);
    if (peer != NULL && outcome.server == 1) {
        assert_int_equal(lbm_tls_use_of(server), use);
        assert_int_equal(lbm_tls_use_of(client), use);
        if (!lbm_tls_peer(server, peer))
            peer->cluster = 0;
    }
    SSL_free(client);
    SSL_free(server);
    lbm_tls_free(tls);
    lbm_identity_free(identity);
    return outcome;
}

static void
a_host_of_the_cluster_gets_through(void **state)
{
    struct fixture *f = *state;
    struct lbm_identity client = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    struct lbm_pki_subject peer;
    struct outcome outcome = try_identity(f, &client, LBM_TLS_PEER, SERVER_HOST, &peer);
    assert_int_equal(outcome.client, 1);
    assert_int_equal(outcome.server, 1);
    assert_int_equal(peer.kind, LBM_PKI_HOST);
    assert_int_equal(peer.host, CLIENT_HOST);
}

static void
resign(struct lbm_identity *identity, const struct authority *authority)
{
    assert_true(X509_sign(identity->certificate, authority->key, EVP_sha256()));
}

/* Each makes a certificate of the client that is refused. */
static struct lbm_identity
expired(struct fixture *f)
{
    return make_identity(&f->authority, CLUSTER, CLIENT_HOST, -1);
}

static struct lbm_identity
not_yet(struct fixture *f)
{
    struct lbm_identity identity = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 7200);
    X509_gmtime_adj(X509_getm_notBefore(identity.certificate), 3600);
    resign(&identity, &f->authority);
    return identity;
}

/* The client believes the same authority, but its own certificate is of another. */
static struct lbm_identity
wrong_authority(struct fixture *f)
{
    struct authority other = make_authority(CLUSTER);
    struct lbm_identity identity = make_identity(&other, CLUSTER, CLIENT_HOST, 3600);
    X509_free(identity.ca);
    X509_up_ref(f->authority.ca);
    identity.ca = f->authority.ca;
    free_authority(&other);
    return identity;
}

static struct lbm_identity
wrong_cluster(struct fixture *f)
{
    return make_identity(&f->authority, CLUSTER + 1, CLIENT_HOST, 3600);
}

static struct lbm_identity
signed_by_itself(struct fixture *f)
{
    struct lbm_identity identity = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    assert_true(X509_sign(identity.certificate, identity.key, EVP_sha256()));
    return identity;
}

static struct lbm_identity
the_server_itself(struct fixture *f)
{
    return make_identity(&f->authority, CLUSTER, SERVER_HOST, 3600);
}

static struct lbm_identity
of_a_user(struct fixture *f)
{
    struct lbm_identity identity = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    struct lbm_pki_subject user = {
        .kind = LBM_PKI_USER, .cluster = CLUSTER, .user = "ann", .level = LBM_PKI_SUBMIT, .uid = 1000};
    X509_free(identity.certificate);
    assert_int_equal(lbm_pki_sign(f->authority.ca, f->authority.key, identity.key, &user, 3600,
                                  &identity.certificate, NULL),
                     LBM_OK);
    return identity;
}

static struct lbm_identity
without(struct fixture *f, int id)
{
    struct lbm_identity identity = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    int at = X509_get_ext_by_NID(identity.certificate, id, -1);
    assert_true(at >= 0);
    X509_EXTENSION_free(X509_delete_ext(identity.certificate, at));
    resign(&identity, &f->authority);
    return identity;
}

static struct lbm_identity
without_a_name(struct fixture *f)
{
    return without(f, NID_subject_alt_name);
}

static struct lbm_identity
without_uses(struct fixture *f)
{
    return without(f, NID_ext_key_usage);
}

static struct lbm_identity
with(struct fixture *f, int id, const char *value)
{
    struct lbm_identity identity = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    int at = X509_get_ext_by_NID(identity.certificate, id, -1);
    if (at >= 0)
        X509_EXTENSION_free(X509_delete_ext(identity.certificate, at));
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, id, value);
    assert_non_null(extension);
    assert_true(X509_add_ext(identity.certificate, extension, -1));
    X509_EXTENSION_free(extension);
    resign(&identity, &f->authority);
    return identity;
}

static struct lbm_identity
of_an_authority(struct fixture *f)
{
    return with(f, NID_basic_constraints, "critical,CA:TRUE");
}

static struct lbm_identity
for_servers_alone(struct fixture *f)
{
    return with(f, NID_ext_key_usage, "critical,serverAuth");
}

static struct lbm_identity
with_two_names(struct fixture *f)
{
    return with(f, NID_subject_alt_name,
                "URI:lbmap://00000000000000c1/host/5,URI:lbmap://00000000000000c1/host/6");
}

static struct lbm_identity
with_a_dns_name(struct fixture *f)
{
    return with(f, NID_subject_alt_name, "DNS:host5.example");
}

static void
these_are_refused(void **state)
{
    static const struct {
        const char *name;
        struct lbm_identity (*make)(struct fixture *f);
        const char *why;
    } rows[] = {
        {"expired", expired, "expired"},
        {"not yet valid", not_yet, "not valid yet"},
        {"another authority", wrong_authority, "not signed"},
        {"another cluster", wrong_cluster, "another cluster"},
        {"signed by itself", signed_by_itself, "not signed"},
        {"the server itself", the_server_itself, "bad certificate"}, /* it looks first */
        {"a user", of_a_user, "a user"},
        {"no name", without_a_name, "whose it is"},
        {"no uses", without_uses, "not for this use"},
        {"an authority", of_an_authority, "whose it is"},
        {"for servers alone", for_servers_alone, "not for this use"},
        {"two names", with_two_names, "whose it is"},
        {"a DNS name", with_a_dns_name, "whose it is"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lbm_identity identity = rows[i].make(f);
        struct outcome outcome = try_identity(f, &identity, LBM_TLS_PEER, LBM_NONE, NULL);
        if (outcome.server != -1 || strstr(outcome.why, rows[i].why) == NULL)
            fail_msg("%s: %d, %s", rows[i].name, outcome.server, outcome.why);
        assert_int_equal(outcome.client, -1);
    }
}

static void
a_client_believes_the_host_that_it_wants_alone(void **state)
{
    struct fixture *f = *state;
    struct lbm_identity client = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    assert_int_equal(try_identity(f, &client, LBM_TLS_PEER, SERVER_HOST + 1, NULL).client, -1);
    struct authority other = make_authority(CLUSTER);
    client = make_identity(&other, CLUSTER, CLIENT_HOST, 3600);
    assert_int_equal(try_identity(f, &client, LBM_TLS_PEER, SERVER_HOST, NULL).client, -1);
    free_authority(&other);
}

static int
revokes_client(void *context, const struct lbm_pki_subject *subject, int64_t made_s)
{
    (void)context;
    return subject->kind == LBM_PKI_HOST && subject->host == CLIENT_HOST && made_s != 0;
}

static void
a_revoked_host_is_refused(void **state)
{
    struct fixture *f = *state;
    struct lbm_identity client = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    lbm_tls_revoked(f->tls, revokes_client, NULL);
    struct outcome outcome = try_identity(f, &client, LBM_TLS_PEER, SERVER_HOST, NULL);
    assert_int_equal(outcome.server, -1);
    assert_non_null(strstr(outcome.why, "revoked"));
    client =
        make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600); /* nor does it get its next certificate */
    assert_int_equal(try_identity(f, &client, LBM_TLS_ENROL, SERVER_HOST, NULL).server, -1);
}

static void
only_enrolment_takes_who_has_no_certificate(void **state)
{
    struct fixture *f = *state;
    for (int use = 0; use < LBM_TLS_USE_COUNT; use++) {
        struct lbm_tls *nobody;
        assert_int_equal(lbm_tls_new(NULL, &nobody, NULL), LBM_OK);
        SSL *client = lbm_tls_connect(nobody, (enum lbm_tls_use)use, LBM_NONE),
            *server = lbm_tls_accept(f->tls);
        struct lbm_pki_subject peer;
        struct outcome outcome = shake_hands(client, server);
        assert_int_equal(outcome.server, use == LBM_TLS_ENROL ? 1 : -1);
        if (use == LBM_TLS_ENROL)
            assert_int_equal(lbm_tls_peer(server, &peer), 0);
        SSL_free(client);
        SSL_free(server);
        lbm_tls_free(nobody);
    }
}

static void
a_host_is_no_operator(void **state)
{
    struct fixture *f = *state;
    struct lbm_identity client = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    assert_int_equal(try_identity(f, &client, LBM_TLS_CONTROL, SERVER_HOST, NULL).server, -1);
    struct lbm_pki_subject peer;
    client = of_a_user(f);
    assert_int_equal(try_identity(f, &client, LBM_TLS_CONTROL, SERVER_HOST, &peer).server, 1);
    assert_int_equal(peer.kind, LBM_PKI_USER);
    assert_string_equal(peer.user, "ann");
}

/* A client of our own with other parameters: host 5's certificate, set up by hand. */
static struct outcome
try_context(struct fixture *f, void (*change)(SSL_CTX *context), const char *alpn, size_t alpn_len)
{
    struct lbm_identity identity = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_use_certificate(context, identity.certificate);
    SSL_CTX_use_PrivateKey(context, identity.key);
    change(context);
    SSL *client = SSL_new(context), *server = lbm_tls_accept(f->tls);
    if (alpn_len != 0)
        assert_int_equal(SSL_set_alpn_protos(client, (const unsigned char *)alpn, (unsigned)alpn_len), 0);
    SSL_set_connect_state(client);
    struct outcome outcome = shake_hands(client, server);
    if (outcome.server == 1 && lbm_tls_use_of(server) == LBM_TLS_NONE)
        outcome.server = -1; /* the daemon ends it here, see inbound.c */
    SSL_free(client);
    SSL_free(server);
    SSL_CTX_free(context);
    lbm_identity_free(&identity);
    return outcome;
}

static void
as_it_is(SSL_CTX *context)
{
    (void)context;
}

static void
tls12(SSL_CTX *context)
{
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
}

static void
tls11(SSL_CTX *context)
{
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
}

static void
other_cipher(SSL_CTX *context)
{
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_CCM_8_SHA256");
}

static void
other_group(SSL_CTX *context)
{
    SSL_CTX_set1_groups_list(context, "P-521");
}

static void
other_signatures(SSL_CTX *context)
{
    SSL_CTX_set1_sigalgs_list(context, "RSA-PSS+SHA256");
}

static void
other_ways_to_speak_are_refused(void **state)
{
    static const char peer[] = "\x0clbmap-peer/1", old[] = "\x0clbmap-peer/0", http[] = "\x08http/1.1";
    static const char second[] = "\x08http/1.1\x0clbmap-peer/1";
    struct fixture *f = *state;
    assert_int_equal(try_context(f, as_it_is, peer, sizeof peer - 1).server, 1);
    assert_int_equal(try_context(f, as_it_is, second, sizeof second - 1).server, 1);
    assert_int_equal(try_context(f, as_it_is, NULL, 0).server, -1);
    assert_int_equal(try_context(f, as_it_is, old, sizeof old - 1).server, -1);
    assert_int_equal(try_context(f, as_it_is, http, sizeof http - 1).server, -1);
    assert_int_equal(try_context(f, tls12, peer, sizeof peer - 1).server, -1);
    assert_int_equal(try_context(f, tls11, peer, sizeof peer - 1).server, -1);
    assert_int_equal(try_context(f, other_cipher, peer, sizeof peer - 1).server, -1);
    assert_int_equal(try_context(f, other_group, peer, sizeof peer - 1).server, -1);
    assert_int_equal(try_context(f, other_signatures, peer, sizeof peer - 1).server, -1);
}

/* Nothing is given that a later connection could begin with. */
static void
no_tickets_are_given(void **state)
{
    struct fixture *f = *state;
    struct lbm_identity client = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    struct lbm_tls *tls;
    assert_int_equal(lbm_tls_new(&client, &tls, NULL), LBM_OK);
    SSL *to = lbm_tls_connect(tls, LBM_TLS_PEER, SERVER_HOST), *from = lbm_tls_accept(f->tls);
    assert_int_equal(shake_hands(to, from).client, 1);
    assert_int_equal(SSL_SESSION_has_ticket(SSL_get0_session(to)), 0);
    assert_int_equal(SSL_get_max_early_data(from), 0);
    assert_int_equal(SSL_version(from), TLS1_3_VERSION);
    assert_int_equal(SSL_session_reused(from), 0);
    SSL_free(to);
    SSL_free(from);
    lbm_tls_free(tls);
    lbm_identity_free(&client);
}

static void
a_new_certificate_of_the_same_host_serves_new_connections(void **state)
{
    struct fixture *f = *state;
    struct lbm_identity next = make_identity(&f->authority, CLUSTER, SERVER_HOST, 7200);
    assert_int_equal(lbm_tls_renew(f->tls, next.certificate, next.key, NULL), LBM_OK);
    struct lbm_identity client = make_identity(&f->authority, CLUSTER, CLIENT_HOST, 3600);
    struct lbm_tls *tls;
    assert_int_equal(lbm_tls_new(&client, &tls, NULL), LBM_OK);
    SSL *to = lbm_tls_connect(tls, LBM_TLS_PEER, SERVER_HOST), *from = lbm_tls_accept(f->tls);
    assert_int_equal(shake_hands(to, from).client, 1);
    X509 *shown = SSL_get1_peer_certificate(to);
    assert_int_equal(X509_cmp(shown, next.certificate), 0);
    X509_free(shown);
    SSL_free(to);
    SSL_free(from);
    lbm_tls_free(tls);
    lbm_identity_free(&client);
    lbm_identity_free(&next);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_host_of_the_cluster_gets_through),
        TEST(these_are_refused),
        TEST(a_client_believes_the_host_that_it_wants_alone),
        TEST(a_revoked_host_is_refused),
        TEST(only_enrolment_takes_who_has_no_certificate),
        TEST(a_host_is_no_operator),
        TEST(other_ways_to_speak_are_refused),
        TEST(no_tickets_are_given),
        TEST(a_new_certificate_of_the_same_host_serves_new_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
