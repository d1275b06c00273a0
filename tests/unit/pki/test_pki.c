/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certificates, requests and tokens say, and what is refused of them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/rsa.h>

#include "pki/pki.h"
#include "tests/unit/daemon/identities.h"

static char dir[] = "/tmp/lbmap-pki-XXXXXX";

static int
make_folder(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int
remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

/* ---- subjects -------------------------------------------------------------------------------------------
 */

static void
subjects_are_read_as_they_are_written(void **state)
{
    const struct lbm_pki_subject subjects[] = {
        {.kind = LBM_PKI_AUTHORITY, .cluster = 1},
        {.kind = LBM_PKI_HOST, .cluster = UINT64_MAX, .host = 0},
        {.kind = LBM_PKI_HOST, .cluster = 0xabc, .host = LBM_HOSTS_MAX - 1},
        {.kind = LBM_PKI_USER, .cluster = 0xabc, .user = "ann.b-c_d", .level = LBM_PKI_SUBMIT, .uid = 1000},
        {.kind = LBM_PKI_USER, .cluster = 0xabc, .user = "root", .level = LBM_PKI_ADMIN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        char uri[LBM_PKI_URI_MAX + 1];
        struct lbm_pki_subject read;
        lbm_pki_subject_print(&subjects[i], uri);
        assert_int_equal(lbm_pki_subject_parse(uri, strlen(uri), &read), LBM_OK);
        assert_int_equal(read.kind, subjects[i].kind);
        assert_true(read.cluster == subjects[i].cluster);
        assert_int_equal(read.host, subjects[i].host);
        assert_string_equal(read.user, subjects[i].user);
        assert_int_equal(read.level, subjects[i].level);
        assert_int_equal(read.uid, subjects[i].uid);
    }
}

static void
other_subjects_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "lbmap://",
        "lbmap://00000000000000ab/",
        "lbmap://0000000000000000/host/1",
        "lbmap://00000000000000AB/host/1",
        "lbmap://00000000000000ab/host/",
        "lbmap://00000000000000ab/host/01",
        "lbmap://00000000000000ab/host/8192",
        "lbmap://00000000000000ab/host/99999",
        "lbmap://00000000000000ab/host/-1",
        "lbmap://00000000000000ab/host/1 ",
        "lbmap://00000000000000ab/host/1/host/2",
        "lbmap://00000000000000ab/user/",
        "lbmap://00000000000000ab/user/a",
        "lbmap://00000000000000ab/user/a/b",
        "lbmap://00000000000000ab/user/a/read",
        "lbmap://00000000000000ab/user/a/read/",
        "lbmap://00000000000000ab/user/a/read/0",
        "lbmap://00000000000000ab/user/a/submit/0",
        "lbmap://00000000000000ab/user/a/root/1",
        "lbmap://00000000000000ab/user/a/admin/01",
        "lbmap://00000000000000ab/user/a/admin/-1",
        "lbmap://00000000000000ab/user/a/admin/4294967295",
        "lbmap://00000000000000ab/user/a/admin/1/2",
        "lbmap://00000000000000ab/user//admin/1",
        "lbmap://00000000000000ab/user/a b",
        "lbmap://0000000000000ab/host/1",
        "http://00000000000000ab/host/1",
        "LBMAP://00000000000000ab/host/1",
    };
    struct lbm_pki_subject subject;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (lbm_pki_subject_parse(bad[i], strlen(bad[i]), &subject) == LBM_OK)
            fail_msg("%s was taken", bad[i]);
    static const char cut[] = "lbmap://00000000000000ab/host/1\0.example";
    assert_int_equal(lbm_pki_subject_parse(cut, sizeof cut - 1, &subject), LBM_E_SYNTAX);
}

/* ---- certificates ---------------------------------------------------------------------------------------
 */

static void
a_certificate_says_what_was_signed(void **state)
{
    struct authority authority = make_authority(CLUSTER);
    struct lbm_identity identity = make_identity(&authority, CLUSTER, 7, 3600);
    struct lbm_pki_subject subject;
    (void)state;
    assert_int_equal(lbm_pki_check(identity.certificate, authority.ca, time(NULL), &subject, NULL), LBM_OK);
    assert_int_equal(subject.kind, LBM_PKI_HOST);
    assert_int_equal(subject.host, 7);
    assert_int_equal(subject.cluster, CLUSTER);
    lbm_identity_free(&identity);
    free_authority(&authority);
}

static void
what_is_not_valid_is_refused(void **state)
{
    struct authority authority = make_authority(CLUSTER), other = make_authority(CLUSTER);
    struct lbm_identity good = make_identity(&authority, CLUSTER, 7, 3600);
    struct lbm_identity elsewhere = make_identity(&authority, CLUSTER + 1, 7, 3600);
    struct lbm_pki_subject subject;
    struct lbm_diag diag;
    time_t now = time(NULL);
    (void)state;
    const struct {
        X509 *certificate, *ca;
        time_t at;
        const char *word;
    } rows[] = {
        {good.certificate, other.ca, now, "not signed"},
        {good.certificate, good.certificate, now, "not that of a cluster"},
        {authority.ca, authority.ca, now, "whose it is"},
        {other.ca, authority.ca, now, "not signed"},
        {elsewhere.certificate, authority.ca, now, "another cluster"},
        {good.certificate, authority.ca, now + 3601, "expired"},
        {good.certificate, authority.ca, now - LBM_PKI_BACKDATED_S - 60, "not valid yet"},
        {good.certificate, authority.ca, now + LBM_PKI_AUTHORITY_S + 60, "CA's certificate has expired"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(lbm_pki_check(rows[i].certificate, rows[i].ca, rows[i].at, &subject, &diag),
                         LBM_E_DENIED);
        if (strstr(diag.text, rows[i].word) == NULL)
            fail_msg("row %zu: %s", i, diag.text);
    }
    lbm_identity_free(&good);
    lbm_identity_free(&elsewhere);
    free_authority(&authority);
    free_authority(&other);
}

static void
a_certificate_ends_with_its_authority(void **state)
{
    struct authority authority = make_authority(CLUSTER);
    struct lbm_identity identity = make_identity(&authority, CLUSTER, 7, 2 * (int64_t)LBM_PKI_AUTHORITY_S);
    (void)state;
    assert_true(lbm_pki_ends(identity.certificate) == lbm_pki_ends(authority.ca));
    lbm_identity_free(&identity);
    free_authority(&authority);
}

static void
cut_or_changed_certificates_are_refused(void **state)
{
    struct authority authority = make_authority(CLUSTER);
    struct lbm_identity identity = make_identity(&authority, CLUSTER, 7, 3600);
    struct lbm_pki_subject subject;
    uint8_t *der, copy[LBM_PKI_DER_MAX];
    size_t len, taken = 0;
    (void)state;
    assert_int_equal(lbm_pki_certificate_write(identity.certificate, &der, &len, NULL), LBM_OK);
    for (size_t i = 0; i <= len; i++) {
        X509 *read = NULL;
        if (i < len)
            assert_int_not_equal(lbm_pki_certificate_read(der, i, &read, NULL), LBM_OK);
        assert_null(read);
        memcpy(copy, der, len);
        copy[i % len] ^= 1;
        if (lbm_pki_certificate_read(copy, len, &read, NULL) == LBM_OK) {
            taken += lbm_pki_check(read, authority.ca, time(NULL), &subject, NULL) == LBM_OK;
            X509_free(read);
        }
    }
    assert_int_equal(taken, 0);
    lbm_identity_free(&identity);
    free_authority(&authority);
    free(der);
}

/* ---- requests -------------------------------------------------------------------------------------------
 */

static void
a_request_brings_the_public_key(void **state)
{
    EVP_PKEY *key, *read;
    uint8_t *der;
    size_t len;
    (void)state;
    assert_int_equal(lbm_pki_key_new(&key, NULL), LBM_OK);
    assert_int_equal(lbm_pki_request(key, &der, &len, NULL), LBM_OK);
    assert_int_equal(lbm_pki_request_read(der, len, &read, NULL), LBM_OK);
    assert_int_equal(EVP_PKEY_eq(key, read), 1);
    EVP_PKEY_free(read);
    for (size_t i = 0; i < len; i++) {
        assert_int_not_equal(lbm_pki_request_read(der, i, &read, NULL), LBM_OK);
        uint8_t was = der[i];
        der[i] ^= 0x10; /* most are covered by the signature, or are it */
        if (lbm_pki_request_read(der, len, &read, NULL) == LBM_OK)
            fail_msg("byte %zu does not matter", i);
        der[i] = was;
    }
    EVP_PKEY_free(key);
    free(der);
}

static void
keys_of_other_kinds_are_not_certified(void **state)
{
    EVP_PKEY *keys[] = {EVP_EC_gen("P-384"), EVP_EC_gen("secp256k1"), EVP_RSA_gen(2048),
                        EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        X509_REQ *request = X509_REQ_new();
        unsigned char *der = NULL;
        EVP_PKEY *read;
        assert_non_null(keys[i]);
        assert_true(X509_REQ_set_pubkey(request, keys[i]) &&
                    X509_REQ_sign(request, keys[i], i == 3 ? NULL : EVP_sha256()));
        int len = i2d_X509_REQ(request, &der);
        assert_int_equal(lbm_pki_request_read(der, (size_t)len, &read, NULL), LBM_E_UNSUPPORTED);
        OPENSSL_free(der);
        X509_REQ_free(request);
        EVP_PKEY_free(keys[i]);
    }
}

static void
somebody_elses_key_is_not_certified(void **state)
{
    EVP_PKEY *key, *other, *read;
    X509_REQ *request = X509_REQ_new();
    unsigned char *der = NULL;
    (void)state;
    assert_int_equal(lbm_pki_key_new(&key, NULL), LBM_OK);
    assert_int_equal(lbm_pki_key_new(&other, NULL), LBM_OK);
    assert_true(X509_REQ_set_pubkey(request, key) && X509_REQ_sign(request, other, EVP_sha256()));
    int len = i2d_X509_REQ(request, &der);
    assert_int_equal(lbm_pki_request_read(der, (size_t)len, &read, NULL), LBM_E_DENIED);
    OPENSSL_free(der);
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other);
}

/* ---- tokens ---------------------------------------------------------------------------------------------
 */

static void
tokens_are_read_as_they_are_written(void **state)
{
    struct authority authority = make_authority(CLUSTER);
    struct lbm_token token, read;
    char text[LBM_TOKEN_TEXT + 1], changed[LBM_TOKEN_TEXT + 2];
    uint8_t hash[LBM_PKI_HASH];
    (void)state;
    for (int round = 0; round < 50; round++) {
        assert_int_equal(lbm_token_new(authority.ca, &token, NULL), LBM_OK);
        lbm_token_print(&token, text);
        assert_int_equal(strlen(text), LBM_TOKEN_TEXT);
        assert_int_equal(lbm_token_parse(text, &read), LBM_OK);
        assert_memory_equal(&read, &token, sizeof token);
    }
    assert_int_equal(lbm_pki_key_hash(authority.ca, hash), LBM_OK);
    assert_memory_equal(read.authority, hash, sizeof hash);
    for (size_t i = 0; i < LBM_TOKEN_TEXT; i++) {
        memcpy(changed, text, sizeof text);
        changed[i] = '1'; /* no letter of base32 */
        assert_int_equal(lbm_token_parse(changed, &read), i == 3 ? LBM_OK : LBM_E_SYNTAX); /* lbm1 */
        changed[i] = '\0';
        assert_int_equal(lbm_token_parse(changed, &read), LBM_E_SYNTAX);
    }
    snprintf(changed, sizeof changed, "%sa", text);
    assert_int_equal(lbm_token_parse(changed, &read), LBM_E_SYNTAX);
    assert_int_equal(lbm_token_parse("", &read), LBM_E_SYNTAX);
    free_authority(&authority);
}

static void
a_token_is_used_as_often_as_it_says_and_no_longer(void **state)
{
    struct authority authority = make_authority(CLUSTER);
    struct lbm_token token, late, gone;
    struct lbm_tokens list;
    struct lbm_diag diag;
    char name[LBM_TOKEN_NAME + 1];
    (void)state;
    assert_int_equal(lbm_token_new(authority.ca, &token, NULL), LBM_OK);
    assert_int_equal(lbm_token_new(authority.ca, &late, NULL), LBM_OK);
    assert_int_equal(lbm_token_new(authority.ca, &gone, NULL), LBM_OK);
    assert_int_equal(lbm_tokens_use(dir, token.secret, 100, name, &diag), LBM_E_DENIED); /* no file yet */
    assert_int_equal(lbm_tokens_add(dir, &token, 100, 200, 2, NULL), LBM_OK);
    assert_int_equal(lbm_tokens_add(dir, &late, 100, 150, 9, NULL), LBM_OK);
    assert_int_equal(lbm_tokens_add(dir, &gone, 100, 200, 9, NULL), LBM_OK);
    assert_int_equal(lbm_tokens_read(dir, 100, &list, NULL), LBM_OK);
    assert_int_equal(list.n, 3);
    assert_int_equal(lbm_tokens_revoke(dir, list.row[2].name, 100, NULL), LBM_OK);
    assert_int_equal(lbm_tokens_revoke(dir, list.row[2].name, 100, &diag), LBM_E_NOTFOUND);
    assert_int_equal(lbm_tokens_find(dir, gone.secret, 110, &diag), LBM_E_DENIED);
    assert_int_equal(lbm_tokens_find(dir, token.secret, 110, &diag), LBM_OK);
    assert_int_equal(lbm_tokens_use(dir, token.secret, 110, name, &diag), LBM_OK);
    assert_string_equal(name, list.row[0].name);
    assert_int_equal(lbm_tokens_use(dir, late.secret, 150, name, &diag), LBM_E_DENIED);
    assert_int_equal(lbm_tokens_use(dir, token.secret, 199, name, &diag), LBM_OK);
    assert_int_equal(lbm_tokens_use(dir, token.secret, 199, name, &diag), LBM_E_DENIED);
    token.secret[0] ^= 1;
    assert_int_equal(lbm_tokens_use(dir, token.secret, 199, name, &diag), LBM_E_DENIED);
    free_authority(&authority);
}

static void
only_hashes_of_tokens_are_kept(void **state)
{
    struct authority authority = make_authority(CLUSTER);
    struct lbm_token token;
    char *text, hex[2 * LBM_TOKEN_SECRET + 1], path[PATH_MAX];
    struct stat status;
    (void)state;
    assert_int_equal(lbm_token_new(authority.ca, &token, NULL), LBM_OK);
    assert_int_equal(lbm_tokens_add(dir, &token, 100, 200, 2, NULL), LBM_OK);
    assert_int_equal(lbm_identity_read_text(dir, LBM_IDENTITY_TOKENS, &text, NULL), LBM_OK);
    for (int i = 0; i < LBM_TOKEN_SECRET; i++)
        snprintf(hex + 2 * i, 3, "%02x", token.secret[i]);
    assert_null(strstr(text, hex));
    assert_int_equal(stat(lbm_identity_path(dir, LBM_IDENTITY_TOKENS, path), &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    free(text);
    free_authority(&authority);
}

static void
damaged_lists_of_tokens_are_refused(void **state)
{
    static const char *const bad[] = {"nonsense\n", "00 1 1\n", "zz", "abc 1\n"};
    struct lbm_tokens list;
    struct lbm_diag diag;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(lbm_identity_write(dir, LBM_IDENTITY_TOKENS, bad[i], strlen(bad[i]), NULL), LBM_OK);
        assert_int_equal(lbm_tokens_read(dir, 1, &list, &diag), LBM_E_SYNTAX);
        assert_int_equal(diag.line, 1);
    }
    assert_int_equal(lbm_identity_write(dir, LBM_IDENTITY_TOKENS, "", 0, NULL), LBM_OK);
}

/* Whatever the authority has signed. */
static void
certificates_for_other_keys_than_p256_are_refused(void **state)
{
    static const struct {
        const char *type, *group;
        size_t bits;
    } rows[] = {{"EC", "P-224", 0},  {"EC", "P-384", 0},  {"EC", "P-521", 0},   {"EC", "secp256k1", 0},
                {"RSA", NULL, 1024}, {"RSA", NULL, 3072}, {"ED25519", NULL, 0}, {"X25519", NULL, 0}};
    struct authority authority = make_authority(CLUSTER);
    const struct lbm_pki_subject subject = {.kind = LBM_PKI_HOST, .cluster = CLUSTER, .host = 3};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EVP_PKEY *key = rows[i].group != NULL ? EVP_EC_gen(rows[i].group)
                        : rows[i].bits != 0   ? EVP_RSA_gen(rows[i].bits)
                                              : EVP_PKEY_Q_keygen(NULL, NULL, rows[i].type);
        struct lbm_pki_subject read;
        struct lbm_diag diag = {0};
        X509 *certificate;
        assert_non_null(key);
        assert_int_equal(lbm_pki_sign(authority.ca, authority.key, key, &subject, 3600, &certificate, NULL),
                         LBM_OK);
        assert_int_equal(lbm_pki_check(certificate, authority.ca, time(NULL), &read, &diag), LBM_E_DENIED);
        X509_free(certificate);
        EVP_PKEY_free(key);
    }
    free_authority(&authority);
}

static void
approvals_wait_are_decided_and_are_used_once(void **state)
{
    uint8_t key[LBM_PKI_HASH] = {1, 2, 3}, other[LBM_PKI_HASH] = {1, 2, 3, 4};
    struct lbm_approval row;
    struct lbm_approvals rows;
    int is_new;
    (void)state;
    assert_int_equal(lbm_approvals_use(dir, key, 100, NULL), LBM_E_DENIED);
    assert_int_equal(lbm_approvals_ask(dir, key, "ws1", "10.0.0.1", 100, &row, &is_new, NULL), LBM_OK);
    assert_true(is_new && row.state == LBM_APPROVAL_WAITS);
    assert_string_equal(row.fingerprint, "01020300000000000000000000000000");
    assert_int_equal(lbm_approvals_use(dir, key, 100, NULL), LBM_E_DENIED); /* nobody has decided */
    assert_int_equal(lbm_approvals_ask(dir, key, "ws1", "10.0.0.1", 101, &row, &is_new, NULL), LBM_OK);
    assert_false(is_new);
    assert_int_equal(lbm_approvals_ask(dir, key, "ws0", "10.0.0.1", 101, &row, &is_new, NULL), LBM_E_DENIED);
    assert_int_equal(lbm_approvals_ask(dir, other, "ws2", "10.0.0.2", 102, &row, &is_new, NULL), LBM_OK);
    assert_int_equal(lbm_approvals_decide(dir, "0102", 1, 103, &row, NULL), LBM_E_RANGE);
    assert_int_equal(lbm_approvals_decide(dir, "02020300", 1, 103, &row, NULL), LBM_E_NOTFOUND);
    assert_int_equal(lbm_approvals_decide(dir, "0102030400", 0, 103, &row, NULL), LBM_OK);
    assert_string_equal(row.name, "ws2");
    assert_int_equal(lbm_approvals_use(dir, other, 104, NULL), LBM_E_DENIED);
    assert_int_equal(lbm_approvals_decide(dir, "0102030000", 1, 103, &row, NULL), LBM_OK);
    assert_int_equal(lbm_approvals_use(dir, key, 103 + LBM_APPROVAL_S, NULL), LBM_E_DENIED); /* too late */
    assert_int_equal(lbm_approvals_use(dir, key, 104, NULL), LBM_OK);
    assert_int_equal(lbm_approvals_use(dir, key, 104, NULL), LBM_E_DENIED); /* replayed */
    assert_int_equal(lbm_approvals_read(dir, 105, &rows, NULL), LBM_OK);
    assert_int_equal(rows.n, 1);
    int most = 0;
    for (int i = 0; i < 3 * LBM_APPROVALS_MAX; i++) {
        char from[16];
        uint8_t many[LBM_PKI_HASH] = {9, (uint8_t)i};
        snprintf(from, sizeof from, "10.1.0.%d", i % 32);
        most += lbm_approvals_ask(dir, many, "ws", from, 106, &row, &is_new, NULL) == LBM_OK;
    }
    assert_int_equal(most, LBM_APPROVALS_MAX - 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subjects_are_read_as_they_are_written),
        cmocka_unit_test(other_subjects_are_refused),
        cmocka_unit_test(a_certificate_says_what_was_signed),
        cmocka_unit_test(what_is_not_valid_is_refused),
        cmocka_unit_test(a_certificate_ends_with_its_authority),
        cmocka_unit_test(cut_or_changed_certificates_are_refused),
        cmocka_unit_test(a_request_brings_the_public_key),
        cmocka_unit_test(keys_of_other_kinds_are_not_certified),
        cmocka_unit_test(somebody_elses_key_is_not_certified),
        cmocka_unit_test(tokens_are_read_as_they_are_written),
        cmocka_unit_test(a_token_is_used_as_often_as_it_says_and_no_longer),
        cmocka_unit_test(only_hashes_of_tokens_are_kept),
        cmocka_unit_test(damaged_lists_of_tokens_are_refused),
        cmocka_unit_test(certificates_for_other_keys_than_p256_are_refused),
        cmocka_unit_test(approvals_wait_are_decided_and_are_used_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
