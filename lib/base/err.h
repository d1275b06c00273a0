/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Errors as values.  One list makes the enum, the names and the texts.
 *
 * Owns: enum lbm_err and struct lbm_diag, the carrier of "what, where, what to do".
 * Never: prints, exits, or reads errno on its own. */
#ifndef LBM_BASE_ERR_H
#define LBM_BASE_ERR_H

#include <stdint.h>

#include "base/numbers.h"

#define LBM_ERR_LIST(X)                                                                                      \
    X(OK, 0, "done")                                                                                         \
    X(E_NOMEM, 1, "out of memory")                                                                           \
    X(E_RANGE, 2, "value out of range")                                                                      \
    X(E_SYNTAX, 3, "malformed input")                                                                        \
    X(E_LIMIT, 4, "limit exceeded")                                                                          \
    X(E_IO, 5, "input or output failed")                                                                     \
    X(E_EXISTS, 6, "already exists")                                                                         \
    X(E_NOTFOUND, 7, "not found")                                                                            \
    X(E_STATE, 8, "not possible in the present state")                                                       \
    X(E_CORRUPT, 9, "stored data is damaged")                                                                \
    X(E_VERSION, 10, "version not supported")                                                                \
    X(E_DENIED, 11, "permission denied")                                                                     \
    X(E_UNSUPPORTED, 12, "not supported")                                                                    \
    X(E_UNREACHABLE, 13, "not reachable")                                                                    \
    X(E_TIMEOUT, 14, "timed out")                                                                            \
    X(E_BUSY, 15, "busy")

enum lbm_err {
#define LBM_ERR_ENUM(name, number, text) LBM_##name = number,
    LBM_ERR_LIST(LBM_ERR_ENUM)
#undef LBM_ERR_ENUM
        LBM_ERR_COUNT = 0 LBM_ERR_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_ERR_LIST, LBM_ERR_COUNT);

#define LBM_MUST_CHECK __attribute__((warn_unused_result))
#define LBM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Name ("E_RANGE") and text ("value out of range") of an error; never NULL. */
const char *lbm_err_name(enum lbm_err err);
const char *lbm_err_text(enum lbm_err err);

enum { LBM_DIAG_TEXT_MAX = 512, LBM_DIAG_WHERE_MAX = 256 };

/* What went wrong, where, and what to do, for the person at the boundary.
 * `where` is a file or option name (may be empty); `line` is 1-based, 0 if there is none. */
struct lbm_diag {
    enum lbm_err code;
    uint64_t line;
    char where[LBM_DIAG_WHERE_MAX];
    char text[LBM_DIAG_TEXT_MAX];
};

/* Fill a diagnosis and return `code`, so that callers write `return lbm_diag_set(...)`.
 * In: diag may be NULL (only the code is returned); where may be NULL. */
enum lbm_err lbm_diag_set(struct lbm_diag *diag, enum lbm_err code, const char *where, uint64_t line,
                          const char *fmt, ...) LBM_PRINTF(5, 6);

/* Render "where:line: text" (or "where: text", or "text") into out, always terminated. */
void lbm_diag_render(const struct lbm_diag *diag, char *out, unsigned out_size);

#endif
