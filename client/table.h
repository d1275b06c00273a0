/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables: the same rows as aligned text for people or as JSON for programs.
 *
 * Rows are JSON objects; a column says which member it shows and how. */
#ifndef LBM_CLIENT_TABLE_H
#define LBM_CLIENT_TABLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

enum lbm_column_type {
    LBM_COLUMN_TEXT,    /* left-aligned */
    LBM_COLUMN_COUNT,   /* whole number */
    LBM_COLUMN_RATIO,   /* real, four significant digits */
    LBM_COLUMN_PERCENT, /* real, times 100 */
    LBM_COLUMN_SECONDS  /* real; negative: never */
};

struct lbm_column {
    const char *key;   /* member of the row */
    const char *label; /* heading */
    enum lbm_column_type type;
    int spare; /* 0: always shown; on a terminal that is too narrow the largest goes first */
};

/* Print rows (an array of objects) as text, or the array as JSON. Only as wide as the terminal, if `to` is
 * one and columns can be spared. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_table_print(FILE *to, const struct lbm_column *columns, size_t n, const json_t *rows,
                             int json) LBM_MUST_CHECK;

/* Print one object: a line for each column that it has, or as JSON. */
enum lbm_err lbm_table_print_object(FILE *to, const struct lbm_column *columns, size_t n,
                                    const json_t *object, int json) LBM_MUST_CHECK;

#endif
