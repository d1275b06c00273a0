/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as aligned text or JSON, from one table of fields.
 *
 * Owns: how each type of value is rendered in both.
 * Never: decides what is shown. */
#ifndef LBM_CLIENT_OUTPUT_H
#define LBM_CLIENT_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

enum lbm_field_type {
    LBM_FIELD_COUNT,   /* uint64_t */
    LBM_FIELD_COUNT32, /* uint32_t */
    LBM_FIELD_RATIO,   /* double */
    LBM_FIELD_PERCENT, /* double, a fraction; text shows it times 100 */
    LBM_FIELD_SECONDS  /* double */
};

/* One value of a record. */
struct lbm_field {
    const char *key;   /* JSON */
    const char *label; /* text */
    enum lbm_field_type type;
    size_t offset; /* in the record */
};

/* Print a record, one field a line, or as one JSON object.
 * Errors: LBM_E_NOMEM; what the stream refuses shows when it is flushed. */
enum lbm_err lbm_output_record(FILE *to, const struct lbm_field *fields, size_t n, const void *record,
                               int json) LBM_MUST_CHECK;

/* The record as a JSON object, owned by the caller; NULL if memory is short. */
json_t *lbm_output_object(const struct lbm_field *fields, size_t n, const void *record);

enum { LBM_JSON_FLAGS = JSON_REAL_PRECISION(12) };

#endif
