/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading and writing have in common. */
#ifndef LBM_FILE_INTERNAL_H
#define LBM_FILE_INTERNAL_H

#include "base/err.h"
#include "base/mem.h"

/* Tell what errno says about a file. Returns LBM_E_NOTFOUND, LBM_E_DENIED, LBM_E_NOMEM or LBM_E_IO. */
enum lbm_err lbm_file_errno(const char *path, const char *what, struct lbm_diag *diag);

/* Nonzero if the bytes are compressed by bzip2, xz or zstd. */
int lbm_file_is_archive(const char *bytes, size_t len);

/* The filter that a path asks for by .bz2, .xz or .zst; NULL: none. */
const char *lbm_file_filter_of(const char *path);

/* Append what is unpacked to text, what is packed to packed. Errors: LBM_E_IO (damaged), LBM_E_LIMIT,
 * LBM_E_NOMEM; told. */
enum lbm_err lbm_file_unpack(const char *path, const char *bytes, size_t len, struct lbm_buf *text,
                             struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_file_pack(const char *path, const char *filter, const char *text, size_t len,
                           struct lbm_buf *packed, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Nonzero if the text begins with the byte order mark of UTF-16. */
int lbm_file_is_utf16(const char *text, size_t len);

/* Append the text, which begins with that mark, as UTF-8 without one. Errors: LBM_E_SYNTAX, LBM_E_NOMEM;
 * told. */
enum lbm_err lbm_file_from_utf16(const char *path, const char *text, size_t len, struct lbm_buf *out,
                                 struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
