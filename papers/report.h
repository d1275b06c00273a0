/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `lbpapers table` prints. */
#ifndef LBM_PAPERS_REPORT_H
#define LBM_PAPERS_REPORT_H

#include "papers/table.h"

/* A table as text, its wrong cells alone if quiet. */
void report_table(const struct table *table, const struct table_run *run, int quiet);

/* Tables as a JSON array of cells. */
void report_json(const struct table *const *table, const struct table_run *run, size_t n);

/* Cells that are wrong; a table that could not be computed counts as one. */
size_t report_wrong(const struct table_run *run);

#endif
