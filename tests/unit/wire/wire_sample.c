/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/wire/wire_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

const struct lbm_wire_rule *
sample_rule(const struct lbm_wire_table *table, unsigned i)
{
    for (size_t k = 0; k < table->n_rules; k++)
        if (strcmp(table->rules[k].field, table->type->fields[i].name) == 0)
            return &table->rules[k];
    return NULL;
}

size_t
sample_size(const ProtobufCFieldDescriptor *field)
{
    static const size_t sizes[] = {[PROTOBUF_C_TYPE_UINT32] = sizeof(uint32_t),
                                   [PROTOBUF_C_TYPE_UINT64] = sizeof(uint64_t),
                                   [PROTOBUF_C_TYPE_DOUBLE] = sizeof(double),
                                   [PROTOBUF_C_TYPE_STRING] = sizeof(char *),
                                   [PROTOBUF_C_TYPE_BYTES] = sizeof(ProtobufCBinaryData),
                                   [PROTOBUF_C_TYPE_MESSAGE] = sizeof(ProtobufCMessage *)};
    assert_true(field->type < sizeof sizes / sizeof *sizes && sizes[field->type] != 0);
    return sizes[field->type];
}

size_t *
sample_count(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (size_t *)((char *)message + field->quantifier_offset);
}

void **
sample_array(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (void **)((char *)message + field->offset);
}

void *
sample_at(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED ? *sample_array(message, field)
                                                     : (char *)message + field->offset;
}

/* A whole number inside the rule, not the least if it can be helped. */
static uint64_t
inside(const struct lbm_wire_rule *rule)
{
    if (rule == NULL || rule->hi == 0)
        return 5;
    return rule->lo < rule->hi ? rule->lo + 1 : rule->lo;
}

static void *
sample_bytes(const struct lbm_wire_rule *rule, size_t *len)
{
    *len = (size_t)inside(rule);
    char *bytes = malloc(*len + 1);
    assert_non_null(bytes);
    memset(bytes, 'a', *len);
    bytes[*len] = '\0';
    return bytes;
}

static void
put_value(void *at, const struct lbm_wire_rule *rule, const ProtobufCFieldDescriptor *field, size_t rows,
          int clamp)
{
    size_t len;
    switch (field->type) {
    case PROTOBUF_C_TYPE_UINT32:
        *(uint32_t *)at = (uint32_t)inside(rule);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        *(uint64_t *)at = inside(rule);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)at = 0.5;
        break;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = sample_bytes(rule, &len);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        ((ProtobufCBinaryData *)at)->data = sample_bytes(rule, &((ProtobufCBinaryData *)at)->len);
        break;
    default:
        assert_non_null(rule);
        *(ProtobufCMessage **)at = sample_new(rule->nested, rows, 0, clamp);
        break;
    }
}

static void
free_value(void *at, const ProtobufCFieldDescriptor *field)
{
    if (field->type == PROTOBUF_C_TYPE_STRING)
        free(*(char **)at);
    else if (field->type == PROTOBUF_C_TYPE_BYTES)
        free(((ProtobufCBinaryData *)at)->data);
    else if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        protobuf_c_message_free_unpacked(*(ProtobufCMessage **)at, NULL);
}

void
sample_resize(ProtobufCMessage *message, const struct lbm_wire_rule *rule,
              const ProtobufCFieldDescriptor *field, size_t n)
{
    size_t *count = sample_count(message, field), size = sample_size(field);
    void **array = sample_array(message, field);
    for (size_t i = n; i < *count; i++)
        free_value((char *)*array + i * size, field);
    void *grown = reallocarray(*array, n != 0 ? n : 1, size);
    assert_non_null(grown);
    *array = grown;
    for (size_t i = *count; i < n; i++)
        put_value((char *)grown + i * size, rule, field, 1, 1);
    *count = n;
    if (n == 0) { /* as an unpacked message has it */
        free(grown);
        *array = NULL;
    }
}

static size_t
column_length(ProtobufCMessage *message, const struct lbm_wire_rule *rule, size_t rows, int clamp)
{
    if (rule->of == NULL) {
        if (rule->count == LBM_COUNT_ONE_OF)
            return rule->counts[0] != 0 ? rule->counts[0] : rule->counts[1];
        return clamp && rows > rule->counts[0] ? rule->counts[0] : rows;
    }
    const ProtobufCFieldDescriptor *of =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, rule->of);
    assert_non_null(of);
    size_t n = *sample_count(message, of), sum = 0;
    const uint32_t *values = sample_at(message, of);
    for (size_t i = 0; rule->count == LBM_COUNT_SUM && i < n; i++)
        sum += values[i];
    return rule->count == LBM_COUNT_SUM ? sum : rule->count == LBM_COUNT_POINTS ? 2 * n : n;
}

static int
is_oneof(const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

unsigned
sample_bodies(const struct lbm_wire_table *table)
{
    unsigned bodies = 0;
    for (unsigned i = 0; i < table->type->n_fields; i++)
        bodies += is_oneof(&table->type->fields[i]);
    return bodies;
}

/* Fill the fields that follow no other column, or those that do. A column may follow one that comes after
 * it in the schema, so these are two passes. */
static void
fill(ProtobufCMessage *message, const struct lbm_wire_table *table, size_t rows, unsigned body, int clamp,
     int followers)
{
    for (unsigned i = 0; i < table->type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &table->type->fields[i];
        const struct lbm_wire_rule *rule = sample_rule(table, i);
        int follows = rule != NULL && rule->of != NULL;
        if (follows != followers || (is_oneof(field) && body-- != 0))
            continue;
        if (is_oneof(field))
            *(uint32_t *)sample_count(message, field) = field->id;
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            put_value(sample_at(message, field), rule, field, rows, clamp);
            continue;
        }
        assert_non_null(rule);
        sample_resize(message, rule, field, column_length(message, rule, rows, clamp));
    }
}

ProtobufCMessage *
sample_new(const struct lbm_wire_table *table, size_t rows, unsigned body, int clamp)
{
    ProtobufCMessage *message = lbm_alloc(1, table->type->sizeof_message);
    assert_non_null(message);
    protobuf_c_message_init(table->type, message);
    fill(message, table, rows, body, clamp, 0);
    fill(message, table, rows, body, clamp, 1);
    return message;
}

enum { TABLES_MAX = 64 };

static void
visit(const struct lbm_wire_table *table, void (*fn)(const struct lbm_wire_table *table),
      const struct lbm_wire_table *seen[TABLES_MAX], size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (seen[i] == table)
            return;
    assert_in_range(*n, 0, TABLES_MAX - 1);
    seen[(*n)++] = table;
    fn(table);
    for (size_t i = 0; i < table->n_rules; i++)
        if (table->rules[i].nested != NULL)
            visit(table->rules[i].nested, fn, seen, n);
}

void
sample_each_table(const struct lbm_wire_table *table, void (*fn)(const struct lbm_wire_table *table))
{
    const struct lbm_wire_table *seen[TABLES_MAX];
    size_t n = 0;
    visit(table, fn, seen, &n);
}
