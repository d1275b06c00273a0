/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/pki_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* scrypt with the cost that OpenSSL reads again without being told a larger limit of memory: 16 MiB. */
enum { SCRYPT_N = 1 << 14, SCRYPT_R = 8, SCRYPT_P = 1 };

enum lbm_err
lbm_passphrase_read(const char *file, int is_new, char passphrase[LBM_PASSPHRASE_MAX + 1],
                    struct lbm_diag *diag)
{
    char line[LBM_PASSPHRASE_MAX + 3] = "";
    if (file == NULL &&
        EVP_read_pw_string(line, LBM_PASSPHRASE_MAX + 2, "passphrase of the authority's key: ", is_new) != 0)
        return lbm_pki_fail(diag, LBM_E_IO, "passphrase", "was not typed the same way at a terminal");
    if (file != NULL) {
        FILE *from = fopen(file, "re");
        if (from == NULL)
            return lbm_diag_set(diag, LBM_E_NOTFOUND, file, 0, "cannot be read: %s", strerror(errno));
        char *got = fgets(line, sizeof line, from);
        fclose(from);
        if (got == NULL)
            return lbm_diag_set(diag, LBM_E_RANGE, file, 0, "has no passphrase in its first line");
    }
    line[strcspn(line, "\n")] = '\0';
    size_t len = strlen(line);
    enum lbm_err err = LBM_OK;
    if (len < LBM_PASSPHRASE_MIN || len > LBM_PASSPHRASE_MAX)
        err = lbm_diag_set(diag, LBM_E_RANGE, file != NULL ? file : "passphrase", 0,
                           "a passphrase has %d to %d characters", LBM_PASSPHRASE_MIN, LBM_PASSPHRASE_MAX);
    else
        memcpy(passphrase, line, len + 1);
    OPENSSL_cleanse(line, sizeof line);
    return err;
}

/* The key as text, encrypted, behind what is in the BIO. Value: 0 if that fails. */
static int
put_encrypted(BIO *bio, EVP_PKEY *key, const char *passphrase)
{
    PKCS8_PRIV_KEY_INFO *plain = EVP_PKEY2PKCS8(key);
    X509_ALGOR *way = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), NULL, 0, NULL, SCRYPT_N, SCRYPT_R, SCRYPT_P);
    X509_SIG *sealed =
        plain != NULL && way != NULL ? PKCS8_set0_pbe(passphrase, (int)strlen(passphrase), plain, way) : NULL;
    if (sealed == NULL)
        X509_ALGOR_free(way);
    int put = sealed != NULL && PEM_write_bio_PKCS8(bio, sealed);
    X509_SIG_free(sealed);
    PKCS8_PRIV_KEY_INFO_free(plain);
    return put;
}

/* Errors: LBM_E_EXISTS, LBM_E_IO. */
static enum lbm_err
write_new(const char *file, const char *text, size_t len, struct lbm_diag *diag)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return lbm_diag_set(diag, errno == EEXIST ? LBM_E_EXISTS : LBM_E_IO, file, 0, "cannot be made: %s",
                            strerror(errno));
    int written = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    int error = errno;
    if (close(fd) == 0 && written)
        return LBM_OK;
    unlink(file);
    return lbm_diag_set(diag, LBM_E_IO, file, 0, "cannot be written: %s", strerror(error));
}

enum lbm_err
lbm_pki_key_export(const char *identity, const char *file, const char *passphrase, struct lbm_diag *diag)
{
    char path[PATH_MAX], *text = NULL;
    X509 *ca = NULL;
    EVP_PKEY *key = NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    enum lbm_err err =
        lbm_identity_read_certificate(lbm_identity_path(identity, LBM_IDENTITY_CA, path), &ca, diag);
    if (err == LBM_OK)
        err = lbm_identity_read_key(lbm_identity_path(identity, LBM_IDENTITY_CA_KEY, path), NULL, &key, diag);
    if (err == LBM_E_NOTFOUND)
        lbm_diag_set(diag, err, path, 0, "this host has not the key of the cluster's authority");
    if (err == LBM_OK &&
        (bio == NULL || !PEM_write_bio_X509(bio, ca) || !put_encrypted(bio, key, passphrase)))
        err = lbm_pki_fail(diag, LBM_E_NOMEM, file, "the key cannot be encrypted");
    long len = err == LBM_OK ? BIO_get_mem_data(bio, &text) : 0;
    if (err == LBM_OK)
        err = write_new(file, text, (size_t)len, diag);
    BIO_free(bio);
    X509_free(ca);
    EVP_PKEY_free(key);
    return err;
}

enum lbm_err
lbm_pki_key_import(const char *identity, const char *file, const char *passphrase, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    X509 *ca = NULL, *given = NULL;
    EVP_PKEY *key = NULL;
    if (access(lbm_identity_path(identity, LBM_IDENTITY_CA_KEY, path), F_OK) == 0)
        return lbm_diag_set(diag, LBM_E_EXISTS, path, 0, "this host has the key already");
    enum lbm_err err =
        lbm_identity_read_certificate(lbm_identity_path(identity, LBM_IDENTITY_CA, path), &ca, diag);
    if (err == LBM_OK)
        err = lbm_identity_read_certificate(file, &given, diag);
    if (err == LBM_OK && X509_cmp(ca, given) != 0)
        err = lbm_diag_set(diag, LBM_E_DENIED, file, 0, "is of another cluster than this host");
    if (err == LBM_OK) {
        err = lbm_identity_read_key(file, passphrase, &key, diag);
        if (err == LBM_E_SYNTAX)
            lbm_diag_set(diag, err = LBM_E_DENIED, file, 0,
                         "has no key that this passphrase opens: is it the one that it was exported with?");
    }
    if (err == LBM_OK && X509_check_private_key(ca, key) != 1)
        err = lbm_pki_fail(diag, LBM_E_DENIED, file, "has another key than that of its certificate");
    if (err == LBM_OK)
        err = lbm_identity_write_key(identity, LBM_IDENTITY_CA_KEY, key, diag);
    X509_free(ca);
    X509_free(given);
    EVP_PKEY_free(key);
    return err;
}
