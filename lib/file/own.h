/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and folders that a program keeps for itself: pid files, logs, the folders of `lbctl cluster up`. */
#ifndef LBM_FILE_OWN_H
#define LBM_FILE_OWN_H

#include "base/err.h"

/* Open a file of this user, or make it. No link is followed, nothing is truncated, and the descriptor is
 * closed by exec. In:      flags of open: O_RDWR, O_WRONLY | O_APPEND; mode of a new file. Out:     *out,
 * owned by the caller. Errors:  LBM_E_DENIED it is a link, no ordinary file, another user's, or has several
 * names; LBM_E_IO, LBM_E_NOTFOUND as the system says. What is there stays as it is. */
enum lbm_err lbm_file_open_own(const char *path, int flags, unsigned mode, int *out,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Make such a file hold a number, as pid files do.
 * Errors:  as above; LBM_E_EXISTS it holds something else, which is kept. */
enum lbm_err lbm_file_write_number(const char *path, long number, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Errors:  LBM_E_DENIED path is a link, or another user's; LBM_E_EXISTS it is no folder; LBM_E_IO,
 * LBM_E_NOTFOUND. */
enum lbm_err lbm_file_own_directory(const char *path, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
