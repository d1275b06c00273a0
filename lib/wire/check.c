/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "wire/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"

enum { DEPTH_MAX = 5 }; /* Peer.slice_rows.begin.create.policy is the deepest; the schema is not recursive */

struct walk {
    struct lbm_diag *diag;
    const char *path[DEPTH_MAX];
    unsigned depth;
};

static enum lbm_err refuse(const struct walk *w, enum lbm_err code, const char *field, const char *fmt, ...)
    LBM_PRINTF(4, 5);

static enum lbm_err
refuse(const struct walk *w, enum lbm_err code, const char *field, const char *fmt, ...)
{
    if (w->diag == NULL)
        return code;
    char where[LBM_DIAG_WHERE_MAX] = "", text[LBM_DIAG_TEXT_MAX];
    for (unsigned i = 0; i < w->depth; i++) {
        size_t used = strlen(where);
        snprintf(where + used, sizeof where - used, "%s.", w->path[i]);
    }
    size_t used = strlen(where);
    snprintf(where + used, sizeof where - used, "%s", field);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return lbm_diag_set(w->diag, code, where, 0, "%s", text);
}

/* ---- values: one function a type, each over n elements ------------------------------------------ */

typedef enum lbm_err value_check(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n);

static enum lbm_err
refuse_value(const struct walk *w, const struct lbm_wire_rule *rule, size_t i, uint64_t value)
{
    return refuse(w, LBM_E_RANGE, rule->field, "element %zu is %" PRIu64 ", outside %" PRIu64 " .. %" PRIu64,
                  i, value, rule->lo, rule->hi);
}

static enum lbm_err
check_u32(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n)
{
    const uint32_t *value = at;
    for (size_t i = 0; rule->hi != 0 && i < n; i++)
        if ((value[i] < rule->lo || value[i] > rule->hi) && !(rule->or_none && value[i] == LBM_NONE))
            return refuse_value(w, rule, i, value[i]);
    return LBM_OK;
}

static enum lbm_err
check_u64(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n)
{
    const uint64_t *value = at;
    for (size_t i = 0; rule->hi != 0 && i < n; i++)
        if (value[i] < rule->lo || value[i] > rule->hi)
            return refuse_value(w, rule, i, value[i]);
    return LBM_OK;
}

static enum lbm_err
check_double(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n)
{
    const double *value = at;
    int bounded = rule->least < rule->most;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i]))
            return refuse(w, LBM_E_RANGE, rule->field, "element %zu is not finite", i);
        if (bounded && (value[i] < rule->least || value[i] > rule->most))
            return refuse(w, LBM_E_RANGE, rule->field, "element %zu is %g, outside %g .. %g", i, value[i],
                          rule->least, rule->most);
    }
    return LBM_OK;
}

static enum lbm_err
check_length(const struct walk *w, const struct lbm_wire_rule *rule, size_t len)
{
    if (len >= rule->lo && len <= rule->hi)
        return LBM_OK;
    return refuse(w, LBM_E_LIMIT, rule->field, "%zu bytes, allowed are %" PRIu64 " .. %" PRIu64, len,
                  rule->lo, rule->hi);
}

static enum lbm_err
check_string(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n)
{
    char *const *text = at;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(text[i]);
        enum lbm_err err = check_length(w, rule, len);
        if (err != LBM_OK)
            return err;
        if (!lbm_wire_text_clean(text[i], len))
            return refuse(w, LBM_E_SYNTAX, rule->field, "not UTF-8 text without control characters");
    }
    return LBM_OK;
}

static enum lbm_err
check_bytes(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n)
{
    const ProtobufCBinaryData *bytes = at;
    for (size_t i = 0; i < n; i++) {
        enum lbm_err err = check_length(w, rule, bytes[i].len);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}

static enum lbm_err check_message(struct walk *w, const struct lbm_wire_table *table,
                                  const ProtobufCMessage *message);

static enum lbm_err
check_nested(struct walk *w, const struct lbm_wire_rule *rule, const void *at, size_t n)
{
    const ProtobufCMessage *const *message = at;
    LBM_ASSERT(rule->nested != NULL && w->depth < DEPTH_MAX);
    w->path[w->depth++] = rule->field;
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < n; i++)
        if (message[i] != NULL)
            err = check_message(w, rule->nested, message[i]);
    w->depth--;
    if (err == LBM_OK && rule->required && n == 1 && message[0] == NULL)
        return refuse(w, LBM_E_SYNTAX, rule->field, "missing");
    return err;
}

static value_check *const value_checks[] = {
    [PROTOBUF_C_TYPE_UINT32] = check_u32,    [PROTOBUF_C_TYPE_UINT64] = check_u64,
    [PROTOBUF_C_TYPE_DOUBLE] = check_double, [PROTOBUF_C_TYPE_STRING] = check_string,
    [PROTOBUF_C_TYPE_BYTES] = check_bytes,   [PROTOBUF_C_TYPE_MESSAGE] = check_nested,
};

/* ---- counts ------------------------------------------------------------------------------------- */

static const void *
member(const ProtobufCMessage *message, unsigned offset)
{
    return (const char *)message + offset;
}

static size_t
column(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const void **elements)
{
    LBM_ASSERT(field->label == PROTOBUF_C_LABEL_REPEATED);
    memcpy(elements, member(message, field->offset), sizeof *elements);
    return *(const size_t *)member(message, field->quantifier_offset);
}

static uint64_t
column_sum(const ProtobufCFieldDescriptor *field, const void *elements, size_t n)
{
    LBM_ASSERT(field->type == PROTOBUF_C_TYPE_UINT32);
    const uint32_t *value = elements;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += value[i];
    return sum;
}

/* A count that does not depend on another column. */
static enum lbm_err
check_own_count(const struct walk *w, const struct lbm_wire_rule *rule, size_t n)
{
    if (rule->count == LBM_COUNT_UP_TO) {
        if (n <= rule->counts[0])
            return LBM_OK;
        return refuse(w, LBM_E_LIMIT, rule->field, "%zu elements, at most %" PRIu32 " are allowed", n,
                      rule->counts[0]);
    }
    for (size_t i = 0; i < LBM_COUNTS; i++)
        if (n == rule->counts[i])
            return LBM_OK;
    return refuse(w, LBM_E_SYNTAX, rule->field, "%zu elements is none of the possible numbers", n);
}

static enum lbm_err
check_count(const struct walk *w, const struct lbm_wire_rule *rule, const ProtobufCMessage *message, size_t n)
{
    if (rule->of == NULL)
        return check_own_count(w, rule, n);
    const ProtobufCFieldDescriptor *of =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, rule->of);
    LBM_ASSERT(of != NULL);
    const void *elements;
    size_t rows = column(message, of, &elements);
    int fits = (n == 0 && rule->or_empty) || (rule->count == LBM_COUNT_SAME && n == rows) ||
               (rule->count == LBM_COUNT_POINTS && (n == 2 * rows || n == 3 * rows)) ||
               (rule->count == LBM_COUNT_SUM && n == column_sum(of, elements, rows));
    if (fits)
        return LBM_OK;
    return refuse(w, LBM_E_SYNTAX, rule->field, "%zu elements do not fit the %zu of %s", n, rows, rule->of);
}

/* ---- messages ----------------------------------------------------------------------------------- */

static enum lbm_err
check_field(struct walk *w, const struct lbm_wire_rule *rule, const ProtobufCFieldDescriptor *field,
            const ProtobufCMessage *message)
{
    LBM_ASSERT(field->type < sizeof value_checks / sizeof *value_checks && value_checks[field->type] != NULL);
    value_check *check = value_checks[field->type];
    if (field->label != PROTOBUF_C_LABEL_REPEATED)
        return check(w, rule, member(message, field->offset), 1);
    const void *elements;
    size_t n = column(message, field, &elements);
    enum lbm_err err = check_count(w, rule, message, n);
    return err != LBM_OK ? err : check(w, rule, elements, n);
}

static int
oneof_unset(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
           *(const uint32_t *)member(message, field->quantifier_offset) != field->id;
}

static enum lbm_err
check_message(struct walk *w, const struct lbm_wire_table *table, const ProtobufCMessage *message)
{
    LBM_ASSERT(message->descriptor == table->type);
    size_t used = 0; /* rules, which stand in the order of the fields */
    int body = 0;
    for (unsigned i = 0; i < table->type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &table->type->fields[i];
        struct lbm_wire_rule whole_range = {.field = field->name};
        int ruled = used < table->n_rules && strcmp(table->rules[used].field, field->name) == 0;
        const struct lbm_wire_rule *rule = ruled ? &table->rules[used++] : &whole_range;
        if (oneof_unset(field, message))
            continue;
        body |= (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
        enum lbm_err err = check_field(w, rule, field, message);
        if (err != LBM_OK)
            return err;
    }
    LBM_ASSERT(used == table->n_rules);
    if (table->body_required && !body)
        return refuse(w, LBM_E_SYNTAX, "body", "missing, or of a kind this version does not know");
    return LBM_OK;
}

enum lbm_err
lbm_wire_check(const struct lbm_wire_table *table, const char *name, const ProtobufCMessage *message,
               struct lbm_diag *diag)
{
    struct walk w = {.diag = diag, .path = {name}, .depth = 1};
    return check_message(&w, table, message);
}
