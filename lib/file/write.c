/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files written whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST /* zlib then promises not to write to its input */
#include <zlib.h>

#include "base/mem.h"
#include "file/file.h"
#include "file/internal.h"

enum { NAMES_TRIED = 100 }; /* temporary names that may be taken, by writers that were killed */

static int
write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno != EINTR)
            return -1;
        if (put > 0) {
            bytes += put;
            len -= (size_t)put;
        }
    }
    return 0;
}

/* Create a temporary file next to path. Out: name owned by the caller. Returns the descriptor or -1. */
static int
create_next_to(const char *path, char **name)
{
    size_t size = strlen(path) + 48;
    *name = malloc(size);
    if (*name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (int i = 0; i < NAMES_TRIED; i++) {
        snprintf(*name, size, "%s.%ld-%d.tmp", path, (long)getpid(), i);
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Make the rename durable: sync the directory that path is in. Not every file system can. */
static void
sync_directory(const char *path)
{
    char *directory = strdup(path);
    if (directory == NULL)
        return;
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        slash[slash == directory] = '\0';
    int fd = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    free(directory);
}

/* Replace the regular file at path, or make it. */
static enum lbm_err
replace(const char *path, const struct stat *old, const char *bytes, size_t len, struct lbm_diag *diag)
{
    char *name = NULL;
    int fd = create_next_to(path, &name);
    enum lbm_err err = LBM_OK;
    if (fd < 0) {
        err = lbm_file_errno(path, "cannot be made", diag);
        free(name);
        return err;
    }
    if (old != NULL && fchmod(fd, old->st_mode & 07777) != 0)
        err = lbm_file_errno(path, "cannot keep its mode", diag);
    if (err == LBM_OK && (write_all(fd, bytes, len) != 0 || fsync(fd) != 0))
        err = lbm_file_errno(path, "cannot be written", diag);
    if (close(fd) != 0 && err == LBM_OK)
        err = lbm_file_errno(path, "cannot be written", diag);
    if (err == LBM_OK && rename(name, path) != 0)
        err = lbm_file_errno(path, "cannot be replaced", diag);
    if (err != LBM_OK)
        unlink(name);
    else
        sync_directory(path);
    free(name);
    return err;
}

/* Write to what cannot be replaced: a pipe, a terminal, a device. */
static enum lbm_err
write_through(int fd, const char *path, const char *bytes, size_t len, struct lbm_diag *diag)
{
    return write_all(fd, bytes, len) == 0 ? LBM_OK : lbm_file_errno(path, "cannot be written", diag);
}

static enum lbm_err
write_bytes(const char *path, const char *bytes, size_t len, struct lbm_diag *diag)
{
    if (strcmp(path, "-") == 0)
        return write_through(STDOUT_FILENO, "standard output", bytes, len, diag);
    struct stat old;
    if (stat(path, &old) != 0)
        return replace(path, NULL, bytes, len, diag);
    if (S_ISDIR(old.st_mode))
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "is a directory, a file was expected");
    if (!S_ISREG(old.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return lbm_file_errno(path, "cannot be opened", diag);
        enum lbm_err err = write_through(fd, path, bytes, len, diag);
        close(fd);
        return err;
    }
    char *real = realpath(path, NULL); /* a symbolic link stays one */
    enum lbm_err err =
        real != NULL ? replace(real, &old, bytes, len, diag) : lbm_file_errno(path, "cannot be found", diag);
    free(real);
    return err;
}

enum lbm_err
lbm_file_writable(const char *path, struct lbm_diag *diag)
{
    struct stat old;
    int exists = stat(path, &old) == 0;
    if (strcmp(path, "-") == 0)
        return LBM_OK;
    if (exists && S_ISDIR(old.st_mode))
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "is a directory, a file was expected");
    if (exists && !S_ISREG(old.st_mode))
        return access(path, W_OK) == 0 ? LBM_OK : lbm_file_errno(path, "cannot be opened", diag);
    char *real = exists ? realpath(path, NULL) : NULL, *name = NULL;
    if (exists && real == NULL)
        return lbm_file_errno(path, "cannot be found", diag);
    int fd = create_next_to(exists ? real : path, &name);
    enum lbm_err err = fd < 0 ? lbm_file_errno(path, "cannot be made", diag) : LBM_OK;
    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    free(name);
    free(real);
    return err;
}

/* Compress; the result has no time stamp, so that the same text gives the same bytes. */
static enum lbm_err
pack(const char *path, const char *text, size_t len, struct lbm_buf *packed, struct lbm_diag *diag)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to compress it");
    static const Bytef nothing[1];
    z.next_in = len > 0 ? (const Bytef *)text : nothing;
    char chunk[1 << 15];
    int code = Z_OK;
    while (code == Z_OK) {
        uInt in = len < UINT32_MAX / 2 ? (uInt)len : UINT32_MAX / 2;
        z.avail_in = in;
        z.avail_out = sizeof chunk;
        z.next_out = (Bytef *)chunk;
        code = deflate(&z, in == len ? Z_FINISH : Z_NO_FLUSH);
        len -= in - z.avail_in;
        lbm_buf_put(packed, chunk, sizeof chunk - z.avail_out);
    }
    deflateEnd(&z);
    if (code == Z_STREAM_END && !packed->failed)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to compress it");
}

enum lbm_err
lbm_file_write(const char *path, const char *text, size_t len, struct lbm_diag *diag)
{
    size_t path_len = strlen(path);
    int is_gzip = path_len >= 3 && strcasecmp(path + path_len - 3, ".gz") == 0;
    const char *filter = lbm_file_filter_of(path);
    if (!is_gzip && filter == NULL)
        return write_bytes(path, text, len, diag);
    struct lbm_buf packed = {0};
    enum lbm_err err = is_gzip ? pack(path, text, len, &packed, diag)
                               : lbm_file_pack(path, filter, text, len, &packed, diag);
    if (err == LBM_OK)
        err = write_bytes(path, packed.at, packed.len, diag);
    lbm_buf_free(&packed);
    return err;
}
