/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of times on random loads, with their errors. */
#ifndef LBM_PAPERS_FIELD_TIMES_H
#define LBM_PAPERS_FIELD_TIMES_H

#include "balance/field.h"
#include "papers/table.h"

struct field_times {
    double mean, error; /* error: standard error of the mean; 0 of a single run */
    uint32_t runs;
};

/* Means over runs, each with a seed of its own; NANs if that failed, and so has the table. */
struct field_times field_times_measure(struct table_run *t, struct lbm_field_run run, uint32_t runs);

/* Note the interval that holds the mean with 95 %, in the unit of the cell. */
void field_times_note(struct cell *cell, const struct field_times *times, double unit);

#endif
