/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole files as text, unpacked if they are compressed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST /* zlib then promises not to write to its input */
#include <zlib.h>

#include "base/mem.h"
#include "file/file.h"
#include "file/internal.h"

enum { FIRST_BYTES = 1 << 16 }; /* room made before a read; doubles as it fills */

enum lbm_err
lbm_file_errno(const char *path, const char *what, struct lbm_diag *diag)
{
    static const struct {
        int code;
        enum lbm_err err;
    } known[] = {
        {ENOENT, LBM_E_NOTFOUND}, {EACCES, LBM_E_DENIED}, {EPERM, LBM_E_DENIED},
        {EROFS, LBM_E_DENIED},    {ENOMEM, LBM_E_NOMEM},
    };
    int code = errno;
    enum lbm_err err = LBM_E_IO;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        err = known[i].code == code ? known[i].err : err;
    return lbm_diag_set(diag, err, path, 0, "%s: %s", what, strerror(code));
}

/* Room for one more read in a text that is terminated at its end. */
static enum lbm_err
make_room(struct lbm_buf *text, const char *path, struct lbm_diag *diag)
{
    if (text->len > LBM_FILE_BYTES_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, path, 0, "more than %" PRIu64 " bytes of text",
                            LBM_FILE_BYTES_MAX);
    if (text->capacity - text->len < FIRST_BYTES &&
        lbm_reserve(&text->at, &text->capacity, text->len + FIRST_BYTES, 1) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for its text");
    return LBM_OK;
}

/* Read until the end of file. text: capacity may be reserved. */
static enum lbm_err
read_all(int fd, const char *path, struct lbm_buf *text, struct lbm_diag *diag)
{
    for (;;) {
        enum lbm_err err = make_room(text, path, diag);
        if (err != LBM_OK)
            return err;
        ssize_t got = read(fd, text->at + text->len, text->capacity - text->len - 1);
        if (got < 0 && errno != EINTR)
            return lbm_file_errno(path, "cannot be read", diag);
        if (got == 0)
            return LBM_OK;
        if (got > 0)
            text->len += (size_t)got;
    }
}

static enum lbm_err
open_and_read(const char *path, struct lbm_buf *text, struct lbm_diag *diag)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", text, diag);
    if (*path == '\0')
        return lbm_diag_set(diag, LBM_E_NOTFOUND, "", 0, "the name of a file is empty");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return lbm_file_errno(path, "cannot be opened", diag);
    struct stat info;
    enum lbm_err err = LBM_OK;
    if (fstat(fd, &info) != 0)
        err = lbm_file_errno(path, "cannot be read", diag);
    else if (S_ISDIR(info.st_mode))
        err = lbm_diag_set(diag, LBM_E_IO, path, 0, "is a directory, a file was expected");
    else if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > LBM_FILE_BYTES_MAX)
        err = lbm_diag_set(diag, LBM_E_LIMIT, path, 0, "more than %" PRIu64 " bytes", LBM_FILE_BYTES_MAX);
    else if (S_ISREG(info.st_mode) && info.st_size > 0) {
        /* Its size and the terminator exactly, so that a large file is not held in twice the memory. */
        text->at = malloc((size_t)info.st_size + FIRST_BYTES);
        text->capacity = text->at != NULL ? (size_t)info.st_size + FIRST_BYTES : 0;
    }
    if (err == LBM_OK)
        err = read_all(fd, path, text, diag);
    close(fd);
    return err;
}

static enum lbm_err
inflate_error(const z_stream *z, int code, const char *path, struct lbm_diag *diag)
{
    if (code == Z_MEM_ERROR)
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to unpack it");
    if (code == Z_BUF_ERROR || code == Z_OK)
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "the compressed data end early: the file is truncated");
    return lbm_diag_set(diag, LBM_E_IO, path, 0, "the compressed data are damaged: %s",
                        z->msg != NULL ? z->msg : "unknown error");
}

/* Unpack one or several gzip members, as gunzip does. z: initialized, its input set. */
static enum lbm_err
inflate_members(z_stream *z, size_t left, const char *path, struct lbm_buf *text, struct lbm_diag *diag)
{
    for (;;) {
        enum lbm_err err = make_room(text, path, diag);
        if (err != LBM_OK)
            return err;
        size_t room = text->capacity - text->len - 1;
        uInt in = left < UINT32_MAX / 2 ? (uInt)left : UINT32_MAX / 2;
        uInt out = room < UINT32_MAX / 2 ? (uInt)room : UINT32_MAX / 2;
        z->avail_in = in;
        z->avail_out = out;
        z->next_out = (Bytef *)text->at + text->len;
        int code = inflate(z, Z_NO_FLUSH);
        left -= in - z->avail_in;
        text->len += out - z->avail_out;
        if (code == Z_STREAM_END && left == 0)
            return LBM_OK;
        if (code == Z_STREAM_END)
            code = inflateReset(z);
        if (code != Z_OK || (left == 0 && z->avail_out > 0))
            return inflate_error(z, code, path, diag);
    }
}

static enum lbm_err
unpack(const struct lbm_buf *packed, const char *path, struct lbm_buf *text, struct lbm_diag *diag)
{
    z_stream z = {.next_in = (const Bytef *)packed->at};
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) /* 16: gzip, not zlib */
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to unpack it");
    enum lbm_err err = inflate_members(&z, packed->len, path, text, diag);
    inflateEnd(&z);
    return err;
}

enum lbm_err
lbm_file_read(const char *path, char **text, size_t *len, struct lbm_diag *diag)
{
    struct lbm_buf raw = {0}, plain = {0};
    enum lbm_err err = open_and_read(path, &raw, diag);
    if (err == LBM_OK && raw.len >= 2 && memcmp(raw.at, "\x1f\x8b", 2) == 0) {
        err = unpack(&raw, path, &plain, diag);
        lbm_buf_free(&raw);
        raw = plain;
    }
    if (err == LBM_OK && lbm_file_is_archive(raw.at, raw.len)) {
        plain = (struct lbm_buf){0};
        lbm_buf_put(&plain, "", 0);
        err = lbm_file_unpack(path, raw.at, raw.len, &plain, diag);
        lbm_buf_free(&raw);
        raw = plain;
    }
    if (err == LBM_OK && lbm_file_is_utf16(raw.at, raw.len)) {
        plain = (struct lbm_buf){0};
        lbm_buf_put(&plain, "", 0);
        err = lbm_file_from_utf16(path, raw.at, raw.len, &plain, diag);
        lbm_buf_free(&raw);
        raw = plain;
    }
    if (err == LBM_OK && raw.at == NULL)
        err = make_room(&raw, path, diag);
    const char *zero = err == LBM_OK && raw.len > 0 ? memchr(raw.at, '\0', raw.len) : NULL;
    if (zero != NULL)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, path, 0, "not a text: byte %zu is 0", (size_t)(zero - raw.at));
    if (err != LBM_OK) {
        lbm_buf_free(&raw);
        return err;
    }
    raw.at[raw.len] = '\0';
    *text = raw.at;
    *len = raw.len;
    return LBM_OK;
}
