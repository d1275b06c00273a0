/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's lists of names, "n[01-16,20],login"; not for other modules. */
#ifndef LBM_HOST_HOSTLIST_H
#define LBM_HOST_HOSTLIST_H

#include <stddef.h>

#include "base/err.h"
#include "base/limits.h"

/* Names of one list, or of a file: more than any cluster has, and a bomb ends here. */
enum { LBM_HOSTLIST_MAX = 1 << 20 };

/* Called with each name; not LBM_OK stops. */
typedef enum lbm_err lbm_hostlist_each(void *arg, const char *name);

/* Expand a list in its order. Several brackets in one name run like nested loops.
 * Errors: LBM_E_SYNTAX, LBM_E_LIMIT (a name too long; more than LBM_HOSTLIST_MAX names), what each returns.
 * *problem tells the first two in words. */
enum lbm_err lbm_hostlist_expand(const char *list, size_t len, lbm_hostlist_each *each, void *arg,
                                 const char **problem) LBM_MUST_CHECK;

#endif
