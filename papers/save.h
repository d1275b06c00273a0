/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawings to files. */
#ifndef LBM_PAPERS_SAVE_H
#define LBM_PAPERS_SAVE_H

#include "base/mem.h"

/* Make a directory unless it is there. Errors: LBM_E_IO. */
enum lbm_err save_make_dir(const char *dir, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Write DIR/NAME.svg, and print its path if `tell`. Errors: LBM_E_IO, LBM_E_NOMEM (the text was not
 * complete). */
enum lbm_err save_svg(const char *dir, const char *name, const struct lbm_buf *text, int tell,
                      struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
