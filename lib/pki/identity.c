/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of a host: files that are its alone. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "pki/pki.h"

enum {
    TEXT_BYTES_MAX = 1 << 20
}; /* contacts of LBM_HOSTS_MAX hosts, LBM_TOKENS_MAX tokens; a few KiB as a rule */

static enum lbm_err
system_error(const char *path, const char *what, struct lbm_diag *diag)
{
    enum lbm_err err = errno == ENOENT                     ? LBM_E_NOTFOUND
                       : errno == EACCES || errno == EPERM ? LBM_E_DENIED
                                                           : LBM_E_IO;
    return lbm_diag_set(diag, err, path, 0, "%s: %s", what, strerror(errno));
}

const char *
lbm_identity_path(const char *dir, const char *file, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", dir, file);
    return path;
}

enum lbm_err
lbm_identity_folder(const char *dir, struct lbm_diag *diag)
{
    struct stat status;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return system_error(dir, "cannot be made", diag);
    if (lstat(dir, &status) != 0)
        return system_error(dir, "cannot be used", diag);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid())
        return lbm_diag_set(diag, LBM_E_DENIED, dir, 0, "is no folder of this user: choose another one");
    if ((status.st_mode & 077) != 0 && chmod(dir, 0700) != 0)
        return system_error(dir, "cannot be closed to others", diag);
    return LBM_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------
 */

/* A file of at most TEXT_BYTES_MAX bytes, terminated. is_secret: refused if others may read it. */
static enum lbm_err
read_file(const char *path, int is_secret, char **text, size_t *len, struct lbm_diag *diag)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return system_error(path, "cannot be read", diag);
    enum lbm_err err = LBM_OK;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > TEXT_BYTES_MAX)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, path, 0, "is no file of an identity");
    else if (is_secret && (status.st_mode & 077) != 0)
        err = lbm_diag_set(diag, LBM_E_DENIED, path, 0,
                           "can be read by others: whoever has it is this host; chmod 600 it if nobody did");
    char *bytes = err == LBM_OK ? lbm_alloc((size_t)status.st_size + 1, 1) : NULL;
    if (err == LBM_OK && bytes == NULL)
        err = lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "out of memory");
    size_t got = 0;
    for (ssize_t n = 1; err == LBM_OK && n != 0 && got < (size_t)status.st_size;
         got += (size_t)(n > 0 ? n : 0))
        if ((n = read(fd, bytes + got, (size_t)status.st_size - got)) < 0 && errno != EINTR)
            err = system_error(path, "cannot be read", diag);
    close(fd);
    if (err != LBM_OK) {
        free(bytes);
        return err;
    }
    *text = bytes;
    *len = got;
    return LBM_OK;
}

enum lbm_err
lbm_identity_read_certificate(const char *path, X509 **out, struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = read_file(path, 0, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    BIO *bio = BIO_new_mem_buf(text, (int)len);
    X509 *certificate = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    free(text);
    if (certificate == NULL)
        return lbm_pki_fail(diag, LBM_E_SYNTAX, path, "there is no certificate in it");
    *out = certificate;
    return LBM_OK;
}

/* Never asks at a terminal. */
static int
give_passphrase(char *to, int size, int writes, void *passphrase)
{
    const char *text = passphrase;
    size_t len = text != NULL ? strlen(text) : 0;
    (void)writes;
    if (len == 0 || len > (size_t)size)
        return -1;
    memcpy(to, text, len);
    return (int)len;
}

enum lbm_err
lbm_identity_read_key(const char *path, const char *passphrase, EVP_PKEY **out, struct lbm_diag *diag)
{
    char *text, copy[128];
    size_t len;
    enum lbm_err err = read_file(path, passphrase == NULL, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    snprintf(copy, sizeof copy, "%s", passphrase != NULL ? passphrase : "");
    BIO *bio = BIO_new_mem_buf(text, (int)len);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, give_passphrase, copy) : NULL;
    BIO_free(bio);
    OPENSSL_cleanse(text, len);
    OPENSSL_cleanse(copy, sizeof copy);
    free(text);
    if (key == NULL)
        return lbm_pki_fail(diag, LBM_E_SYNTAX, path, "there is no key in it that can be read");
    *out = key;
    return LBM_OK;
}

enum lbm_err
lbm_identity_read_text(const char *dir, const char *file, char **text, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    size_t len;
    enum lbm_err err = read_file(lbm_identity_path(dir, file, path), 0, text, &len, diag);
    if (err != LBM_E_NOTFOUND)
        return err;
    *text = lbm_alloc(1, 1);
    return *text != NULL ? LBM_OK : LBM_E_NOMEM;
}

/* What the folder of a host and that of a user differ in. */
struct files {
    enum lbm_pki_kind kind;
    const char *whose, *certificate, *key;
    const char *absent; /* what to do if there is none */
};

static const struct files of_host = {
    LBM_PKI_HOST, "a host", LBM_IDENTITY_CERT, LBM_IDENTITY_KEY,
    "there is no identity of this host: found a cluster with lbctl init, or enter one with lbctl enroll"};
static const struct files of_user = {
    LBM_PKI_USER, "a user", LBM_IDENTITY_USER_CERT, LBM_IDENTITY_USER_KEY,
    "there is no certificate of a user: have one made with lbctl pki user, and copy its folder to here"};

static enum lbm_err
check_identity(const struct lbm_identity *identity, const char *dir, const struct files *files,
               struct lbm_pki_subject *subject, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    struct lbm_diag why = {0};
    lbm_identity_path(dir, files->certificate, path);
    if (X509_check_private_key(identity->certificate, identity->key) != 1)
        return lbm_pki_fail(diag, LBM_E_DENIED, path, "is not the certificate of the key next to it");
    if (lbm_pki_check(identity->certificate, identity->ca, time(NULL), subject, &why) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0, "%s", why.text);
    if (subject->kind != files->kind)
        return lbm_diag_set(diag, LBM_E_DENIED, path, 0, "is not the certificate of %s", files->whose);
    if (identity->ca_key != NULL && X509_check_private_key(identity->ca, identity->ca_key) != 1)
        return lbm_pki_fail(diag, LBM_E_DENIED, path,
                            LBM_IDENTITY_CA_KEY " is not the key of " LBM_IDENTITY_CA);
    return LBM_OK;
}

static enum lbm_err
read_identity(const char *dir, const struct files *files, struct lbm_identity *out, struct lbm_diag *diag)
{
    struct lbm_identity identity = {0};
    char path[PATH_MAX];
    enum lbm_err err =
        lbm_identity_read_certificate(lbm_identity_path(dir, LBM_IDENTITY_CA, path), &identity.ca, diag);
    if (err == LBM_E_NOTFOUND)
        return lbm_diag_set(diag, err, dir, 0, "%s", files->absent);
    if (err == LBM_OK)
        err = lbm_identity_read_certificate(lbm_identity_path(dir, files->certificate, path),
                                            &identity.certificate, diag);
    if (err == LBM_OK)
        err = lbm_identity_read_key(lbm_identity_path(dir, files->key, path), NULL, &identity.key, diag);
    lbm_identity_path(dir, LBM_IDENTITY_CA_KEY, path);
    if (err == LBM_OK && files->kind == LBM_PKI_HOST && access(path, F_OK) == 0)
        err = lbm_identity_read_key(path, NULL, &identity.ca_key, diag);
    if (err == LBM_OK)
        err = check_identity(&identity, dir, files, &identity.subject, diag);
    if (err == LBM_OK)
        *out = identity;
    else
        lbm_identity_free(&identity);
    return err;
}

enum lbm_err
lbm_identity_read(const char *dir, struct lbm_identity *out, struct lbm_diag *diag)
{
    return read_identity(dir, &of_host, out, diag);
}

enum lbm_err
lbm_identity_read_user(const char *dir, struct lbm_identity *out, struct lbm_diag *diag)
{
    return read_identity(dir, &of_user, out, diag);
}

enum lbm_err
lbm_identity_read_ca_key(const char *dir, struct lbm_identity *identity, struct lbm_diag *diag)
{
    char path[PATH_MAX];
    EVP_PKEY *key;
    enum lbm_err err =
        lbm_identity_read_key(lbm_identity_path(dir, LBM_IDENTITY_CA_KEY, path), NULL, &key, diag);
    if (err != LBM_OK)
        return err;
    if (X509_check_private_key(identity->ca, key) != 1) {
        EVP_PKEY_free(key);
        return lbm_pki_fail(diag, LBM_E_DENIED, path, "is not the key of " LBM_IDENTITY_CA);
    }
    identity->ca_key = key;
    return LBM_OK;
}

void
lbm_identity_free(struct lbm_identity *identity)
{
    X509_free(identity->ca);
    X509_free(identity->certificate);
    EVP_PKEY_free(identity->key);
    EVP_PKEY_free(identity->ca_key);
    *identity = (struct lbm_identity){0};
}

/* ---- writing --------------------------------------------------------------------------------------------
 */

static enum lbm_err
write_all(int fd, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, bytes + done, len - done);
        if (n < 0 && errno != EINTR)
            return LBM_E_IO;
        done += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) == 0 ? LBM_OK : LBM_E_IO;
}

static enum lbm_err
sync_folder(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced ? LBM_OK : LBM_E_IO;
}

int
lbm_identity_own(int fd, const char *dir)
{
    struct stat folder;
    return geteuid() != 0 || (stat(dir, &folder) == 0 && fchown(fd, folder.st_uid, folder.st_gid) == 0);
}

enum lbm_err
lbm_identity_write(const char *dir, const char *file, const void *bytes, size_t len, struct lbm_diag *diag)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s/.%s.XXXXXX", dir, file) >= (int)sizeof temporary)
        return lbm_diag_set(diag, LBM_E_LIMIT, dir, 0, "the path is too long");
    int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return system_error(dir, "nothing can be written there", diag);
    enum lbm_err err = lbm_identity_own(fd, dir) ? write_all(fd, bytes, len) : LBM_E_IO;
    close(fd);
    if (err == LBM_OK &&
        (rename(temporary, lbm_identity_path(dir, file, path)) != 0 || sync_folder(dir) != LBM_OK))
        err = LBM_E_IO;
    if (err == LBM_OK)
        return LBM_OK;
    int error = errno;
    unlink(temporary);
    errno = error;
    return system_error(lbm_identity_path(dir, file, path), "cannot be written", diag);
}

/* Write what was put into a memory BIO, and free that. */
static enum lbm_err
write_bio(const char *dir, const char *file, BIO *bio, int put, struct lbm_diag *diag)
{
    char *text = NULL;
    long len = bio != NULL ? BIO_get_mem_data(bio, &text) : 0;
    enum lbm_err err = put && len > 0 ? lbm_identity_write(dir, file, text, (size_t)len, diag)
                                      : lbm_pki_fail(diag, LBM_E_NOMEM, file, "cannot be written");
    BIO_free(bio);
    return err;
}

enum lbm_err
lbm_identity_write_certificate(const char *dir, const char *file, X509 *certificate, struct lbm_diag *diag)
{
    BIO *bio = BIO_new(BIO_s_mem());
    return write_bio(dir, file, bio, bio != NULL && PEM_write_bio_X509(bio, certificate), diag);
}

enum lbm_err
lbm_identity_write_key(const char *dir, const char *file, EVP_PKEY *key, struct lbm_diag *diag)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    return write_bio(dir, file, bio,
                     bio != NULL && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), diag);
}
