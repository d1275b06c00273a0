/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables computed at the same time, a process each. */
#ifndef LBM_PAPERS_POOL_H
#define LBM_PAPERS_POOL_H

#include "papers/table.h"

/* Compute n tables, `jobs` at a time; run[i] gets the cells of table[i], the caller frees them.
 * begun is told when a table is begun. A process that dies leaves a diagnosis, not a table.
 * Errors: LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err pool_run(const struct table *const *table, size_t n, const struct table_options *options,
                      uint32_t jobs, void (*begun)(const struct table *table, size_t done),
                      struct table_run *run, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
