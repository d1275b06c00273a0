/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/output.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_COLUMNS = 26 };

static double
real_at(const void *record, const struct lbm_field *field)
{
    double value;
    memcpy(&value, (const char *)record + field->offset, sizeof value);
    return value;
}

static uint64_t
count_at(const void *record, const struct lbm_field *field)
{
    uint64_t value;
    uint32_t value32;
    if (field->type == LBM_FIELD_COUNT) {
        memcpy(&value, (const char *)record + field->offset, sizeof value);
        return value;
    }
    memcpy(&value32, (const char *)record + field->offset, sizeof value32);
    return value32;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void
print_value(FILE *to, const void *record, const struct lbm_field *field)
{
    switch (field->type) {
    case LBM_FIELD_COUNT:
    case LBM_FIELD_COUNT32:
        fprintf(to, "%" PRIu64 "\n", count_at(record, field));
        break;
    case LBM_FIELD_RATIO:
        fprintf(to, "%.4f\n", real_at(record, field));
        break;
    case LBM_FIELD_PERCENT:
        fprintf(to, "%.2f %%\n", 100.0 * real_at(record, field));
        break;
    case LBM_FIELD_SECONDS:
        fprintf(to, "%.3f s\n", real_at(record, field));
        break;
    }
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static json_t *
json_value(const void *record, const struct lbm_field *field)
{
    if (field->type != LBM_FIELD_COUNT && field->type != LBM_FIELD_COUNT32)
        return json_real(real_at(record, field));
    uint64_t count = count_at(record, field);
    /* jansson's integers are signed. */
    return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

json_t *
lbm_output_object(const struct lbm_field *fields, size_t n, const void *record)
{
    json_t *object = json_object();
    for (size_t i = 0; object != NULL && i < n; i++)
        if (json_object_set_new(object, fields[i].key, json_value(record, &fields[i])) != 0) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

static enum lbm_err
print_object(FILE *to, const struct lbm_field *fields, size_t n, const void *record)
{
    json_t *object = lbm_output_object(fields, n, record);
    char *text = object != NULL ? json_dumps(object, JSON_INDENT(2) | LBM_JSON_FLAGS) : NULL;
    json_decref(object);
    if (text == NULL)
        return LBM_E_NOMEM;
    fprintf(to, "%s\n", text);
    free(text);
    return LBM_OK;
}

enum lbm_err
lbm_output_record(FILE *to, const struct lbm_field *fields, size_t n, const void *record, int json)
{
    if (json)
        return print_object(to, fields, n, record);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "%-*s", LABEL_COLUMNS, fields[i].label);
        print_value(to, record, &fields[i]);
    }
    return LBM_OK;
}
