/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bzip2, xz and zstd by libarchive; gzip is zlib's (read.c, write.c). */
#include <archive.h>
#include <archive_entry.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "file/internal.h"

enum { CHUNK_BYTES = 1 << 16 };

/* How files of each kind begin and end their names. */
static const struct {
    const char *suffix, *filter, *magic;
    size_t magic_len;
} kinds[] = {{".bz2", "bzip2", "BZh", 3},
             {".xz", "xz",
              "\xfd"
              "7zXZ\0",
              6},
             {".zst", "zstd", "\x28\xb5\x2f\xfd", 4}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

int
lbm_file_is_archive(const char *bytes, size_t len)
{
    for (size_t i = 0; i < KINDS; i++)
        if (len >= kinds[i].magic_len && memcmp(bytes, kinds[i].magic, kinds[i].magic_len) == 0)
            return 1;
    return 0;
}

const char *
lbm_file_filter_of(const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < KINDS; i++) {
        size_t suffix = strlen(kinds[i].suffix);
        if (len > suffix && strcasecmp(path + len - suffix, kinds[i].suffix) == 0)
            return kinds[i].filter;
    }
    return NULL;
}

static enum lbm_err
damaged(struct archive *a, const char *path, struct lbm_diag *diag)
{
    const char *why = archive_error_string(a);
    return lbm_diag_set(diag, LBM_E_IO, path, 0, "the compressed data are damaged or end early: %s",
                        why != NULL ? why : "unknown error");
}

/* Append all that the open archive holds. */
static enum lbm_err
unpack_all(struct archive *a, const char *path, struct lbm_buf *text, struct lbm_diag *diag)
{
    struct archive_entry *entry;
    char chunk[CHUNK_BYTES];
    int code = archive_read_next_header(a, &entry);
    if (archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE) /* too short to be what it begins like */
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "the compressed data end early: the file is truncated");
    if (code == ARCHIVE_EOF)
        return LBM_OK;
    if (code != ARCHIVE_OK)
        return damaged(a, path, diag);
    for (;;) {
        la_ssize_t got = archive_read_data(a, chunk, sizeof chunk);
        if (got < 0)
            return damaged(a, path, diag);
        if (got == 0)
            return LBM_OK;
        if (text->len + (size_t)got > LBM_FILE_BYTES_MAX)
            return lbm_diag_set(diag, LBM_E_LIMIT, path, 0, "more than %" PRIu64 " bytes of text",
                                LBM_FILE_BYTES_MAX);
        lbm_buf_put(text, chunk, (size_t)got);
        if (text->failed)
            return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to unpack it");
    }
}

enum lbm_err
lbm_file_unpack(const char *path, const char *bytes, size_t len, struct lbm_buf *text, struct lbm_diag *diag)
{
    struct archive *a = archive_read_new();
    if (a == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory to unpack it");
    int code = archive_read_support_format_raw(a);
    code |= archive_read_support_format_empty(a);
    code |= archive_read_support_filter_bzip2(a);
    code |= archive_read_support_filter_xz(a);
    code |= archive_read_support_filter_zstd(a);
    if (code == ARCHIVE_OK)
        code = archive_read_open_memory(a, bytes, len);
    enum lbm_err err = code == ARCHIVE_OK ? unpack_all(a, path, text, diag) : damaged(a, path, diag);
    archive_read_free(a);
    return err;
}

static la_ssize_t
put(struct archive *a, void *out, const void *bytes, size_t len)
{
    lbm_buf_put(out, bytes, len);
    if (!((struct lbm_buf *)out)->failed)
        return (la_ssize_t)len;
    archive_set_error(a, -1, "no memory");
    return -1;
}

/* Nonzero if the text was written to the archive. */
static int
pack_all(struct archive *a, const char *filter, const char *text, size_t len, struct lbm_buf *packed)
{
    if (archive_write_set_format_raw(a) != ARCHIVE_OK ||
        archive_write_add_filter_by_name(a, filter) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
        archive_write_open(a, packed, NULL, put, NULL) != ARCHIVE_OK)
        return 0;
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL)
        return 0;
    archive_entry_set_filetype(entry, S_IFREG);
    int good = archive_write_header(a, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    for (size_t at = 0; good && at < len;) {
        la_ssize_t put_len = archive_write_data(a, text + at, len - at);
        good = put_len > 0;
        at += good ? (size_t)put_len : 0;
    }
    return good && archive_write_close(a) == ARCHIVE_OK && !packed->failed;
}

enum lbm_err
lbm_file_pack(const char *path, const char *filter, const char *text, size_t len, struct lbm_buf *packed,
              struct lbm_diag *diag)
{
    struct archive *a = archive_write_new();
    int good = a != NULL && pack_all(a, filter, text, len, packed);
    enum lbm_err err = LBM_OK;
    if (!good) {
        const char *why = a != NULL ? archive_error_string(a) : NULL;
        err = lbm_diag_set(diag, packed->failed || a == NULL ? LBM_E_NOMEM : LBM_E_IO, path, 0,
                           "cannot be compressed: %s", why != NULL ? why : "no memory");
    }
    if (a != NULL)
        archive_write_free(a);
    return err;
}
