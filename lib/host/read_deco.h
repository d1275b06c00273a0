/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scotch's decomposition-defined targets; not for other modules. */
#ifndef LBM_HOST_READ_DECO_H
#define LBM_HOST_READ_DECO_H

#include "graph/scan.h"
#include "host/host.h"

/* Read what follows the word "deco": type 0 (terminals and their distances) or 1 (compiled: all domains).
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_UNSUPPORTED, LBM_E_NOMEM; *out untouched. */
enum lbm_err lbm_hosts_read_deco(struct lbm_scan *scan, struct lbm_hosts *out) LBM_MUST_CHECK;

#endif
