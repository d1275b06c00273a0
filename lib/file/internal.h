/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading and writing have in common. */
#ifndef LBM_FILE_INTERNAL_H
#define LBM_FILE_INTERNAL_H

#include "base/err.h"

/* Tell what errno says about a file. Returns LBM_E_NOTFOUND, LBM_E_DENIED, LBM_E_NOMEM or LBM_E_IO. */
enum lbm_err lbm_file_errno(const char *path, const char *what, struct lbm_diag *diag);

#endif
