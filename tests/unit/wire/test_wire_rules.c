/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of lib/wire/check.h: nothing that arrives is without a rule, and every rule, broken once, is
 * found and named. Messages and ways to break them are made from the tables. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/wire.h"
#include "tests/unit/wire/wire_sample.h"

static struct lbm_diag diag;

static const struct lbm_wire_table *const roots[] = {&lbm_wire_peer_table, &lbm_wire_command_table,
                                                     &lbm_wire_snapshot_table, &lbm_wire_request_table,
                                                     &lbm_wire_response_table};
enum { ROOTS = 5 };

static void
release(ProtobufCMessage *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

/* ---- the tables are complete --------------------------------------------------------------------- */

static void
assert_complete(const struct lbm_wire_table *table)
{
    size_t used = 0;
    for (unsigned i = 0; i < table->type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &table->type->fields[i];
        const struct lbm_wire_rule *rule = sample_rule(table, i);
        if (rule != NULL)
            assert_ptr_equal(rule, &table->rules[used++]); /* in the order of the schema */
        int needs = field->label == PROTOBUF_C_LABEL_REPEATED || field->type == PROTOBUF_C_TYPE_STRING ||
                    field->type == PROTOBUF_C_TYPE_BYTES || field->type == PROTOBUF_C_TYPE_MESSAGE;
        if (needs && rule == NULL)
            fail_msg("%s.%s has no rule", table->type->short_name, field->name);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            assert_ptr_equal(rule->nested->type, field->descriptor);
        if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES)
            assert_true(rule->hi != 0);
    }
    assert_int_equal(used, table->n_rules); /* no rule names a field that is not there */
}

static void
every_column_text_and_part_has_a_rule(void **state)
{
    (void)state;
    for (int root = 0; root < ROOTS; root++)
        sample_each_table(roots[root], assert_complete);
}

/* ---- every rule broken once ------------------------------------------------------------------------ */

static int rules_broken;

/* The message as it is now is refused with err, naming the field. */
static void
assert_refused(const struct lbm_wire_table *table, const ProtobufCMessage *message, enum lbm_err err,
               const char *field)
{
    char where[128];
    snprintf(where, sizeof where, "%s.%s", table->type->short_name, field);
    diag = (struct lbm_diag){0};
    enum lbm_err got = lbm_wire_check(table, table->type->short_name, message, &diag);
    if (got != err || strcmp(diag.where, where) != 0)
        fail_msg("%s: wanted %s, got %s for %s: %s", where, lbm_err_name(err), lbm_err_name(got), diag.where,
                 diag.text);
    rules_broken++;
}

static void
assert_accepted(const struct lbm_wire_table *table, const ProtobufCMessage *message)
{
    enum lbm_err err = lbm_wire_check(table, table->type->short_name, message, &diag);
    if (err != LBM_OK)
        fail_msg("%s: %s: %s", lbm_err_name(err), diag.where, diag.text);
}

/* Other columns' lengths depend on the values of this one. */
static int
is_summed(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule)
{
    for (size_t i = 0; i < table->n_rules; i++)
        if (table->rules[i].count == LBM_COUNT_SUM && strcmp(table->rules[i].of, rule->field) == 0)
            return 1;
    return 0;
}

static void
put_number(void *at, const ProtobufCFieldDescriptor *field, uint64_t value)
{
    if (field->type == PROTOBUF_C_TYPE_UINT32)
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
}

static void
break_numbers(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule,
              const ProtobufCFieldDescriptor *field, ProtobufCMessage *message, void *last)
{
    uint64_t type_max = field->type == PROTOBUF_C_TYPE_UINT32 ? UINT32_MAX : UINT64_MAX;
    uint64_t bounds[] = {rule->lo, rule->hi};
    for (int i = 0; i < 2 && !is_summed(table, rule); i++) {
        put_number(last, field, bounds[i]);
        assert_accepted(table, message);
    }
    if (rule->or_none) {
        put_number(last, field, LBM_NONE);
        assert_accepted(table, message);
    }
    if (rule->hi < type_max) {
        put_number(last, field, rule->hi + 1);
        assert_refused(table, message, LBM_E_RANGE, field->name);
    }
    if (!rule->or_none && rule->hi < type_max) {
        put_number(last, field, type_max);
        assert_refused(table, message, LBM_E_RANGE, field->name);
    }
    if (rule->lo > 0) {
        put_number(last, field, rule->lo - 1);
        assert_refused(table, message, LBM_E_RANGE, field->name);
    }
}

static void
break_doubles(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule,
              const ProtobufCFieldDescriptor *field, ProtobufCMessage *message, double *last)
{
    const double never[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        *last = never[i];
        assert_refused(table, message, LBM_E_RANGE, field->name);
    }
    const double widest[] = {-DBL_MAX, DBL_MAX};
    for (int i = 0; i < 2 && (rule == NULL || rule->least == rule->most); i++) {
        *last = widest[i];
        assert_accepted(table, message);
    }
    if (rule == NULL || rule->least == rule->most)
        return;
    *last = rule->least;
    assert_accepted(table, message);
    *last = nextafter(rule->least, -HUGE_VAL);
    assert_refused(table, message, LBM_E_RANGE, field->name);
    *last = rule->most;
    assert_accepted(table, message);
    if (rule->most == DBL_MAX)
        return;
    *last = nextafter(rule->most, HUGE_VAL);
    assert_refused(table, message, LBM_E_RANGE, field->name);
}

static void
break_string(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule,
             const ProtobufCFieldDescriptor *field, ProtobufCMessage *message, char **last)
{
    static const char *const dirty[] = {
        "a\x01",    "\x7f",         "\n",       "\xff",         "\xc3",
        "\xc1\x81", "\xe0\x81\x81", "\xc2\x85", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xe2\x82", "\x80"};
    char *kept = *last, text[2048];
    for (size_t i = 0; i < sizeof dirty / sizeof *dirty; i++) {
        *last = strcpy(text, dirty[i]);
        assert_refused(table, message, LBM_E_SYNTAX, field->name);
    }
    *last = strcpy(text, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"); /* 2, 3 and 4 bytes */
    assert_accepted(table, message);
    memset(text, 'x', sizeof text);
    assert_true(rule->hi + 1 < sizeof text);
    text[rule->hi] = '\0';
    assert_accepted(table, message);
    text[rule->hi] = 'x';
    text[rule->hi + 1] = '\0';
    assert_refused(table, message, LBM_E_LIMIT, field->name);
    text[0] = '\0';
    if (rule->lo > 0)
        assert_refused(table, message, LBM_E_LIMIT, field->name);
    else
        assert_accepted(table, message);
    *last = kept;
}

static void
break_bytes(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule,
            const ProtobufCFieldDescriptor *field, ProtobufCMessage *message, ProtobufCBinaryData *last)
{
    size_t kept = last->len;
    last->len = rule->hi + 1; /* only the length is looked at */
    assert_refused(table, message, LBM_E_LIMIT, field->name);
    last->len = 0;
    if (rule->lo > 0)
        assert_refused(table, message, LBM_E_LIMIT, field->name);
    else
        assert_accepted(table, message);
    last->len = kept;
}

static void
break_values(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule,
             const ProtobufCFieldDescriptor *field, unsigned body)
{
    ProtobufCMessage *message = sample_new(table, 2, body, 1);
    int repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    size_t n = repeated ? *sample_count(message, field) : 1;
    if (repeated && rule->of == NULL && rule->count == LBM_COUNT_UP_TO && rule->counts[0] == 0) {
        release(message); /* a column that must be empty here */
        return;
    }
    assert_true(n > 0);
    void *last = (char *)sample_at(message, field) + (n - 1) * sample_size(field);
    if (field->type == PROTOBUF_C_TYPE_DOUBLE)
        break_doubles(table, rule, field, message, last);
    else if (field->type == PROTOBUF_C_TYPE_STRING)
        break_string(table, rule, field, message, last);
    else if (field->type == PROTOBUF_C_TYPE_BYTES)
        break_bytes(table, rule, field, message, last);
    else if (field->type != PROTOBUF_C_TYPE_MESSAGE && rule != NULL && rule->hi != 0)
        break_numbers(table, rule, field, message, last);
    release(message);
    if (rule == NULL || !rule->required)
        return;
    message = sample_new(table, 2, body, 1);
    release(*(ProtobufCMessage **)sample_at(message, field));
    *(ProtobufCMessage **)sample_at(message, field) = NULL;
    assert_refused(table, message, LBM_E_SYNTAX, field->name);
    release(message);
}

/* Columns of other lengths than they may have. */
static void
break_count(const struct lbm_wire_table *table, const struct lbm_wire_rule *rule,
            const ProtobufCFieldDescriptor *field)
{
    ProtobufCMessage *message;
    if (rule->of == NULL && rule->count == LBM_COUNT_UP_TO) {
        message = sample_new(table, (size_t)rule->counts[0] + 1, 0, 0);
        enum lbm_err err = lbm_wire_check(table, table->type->short_name, message, &diag);
        assert_int_equal(err, LBM_E_LIMIT);
        rules_broken++;
        release(message);
        return;
    }
    message = sample_new(table, 2, 0, 1);
    size_t fitting = *sample_count(message, field);
    for (size_t n = 0; n <= fitting + 3; n++) {
        int allowed = n == fitting || (rule->count == LBM_COUNT_POINTS && n == fitting / 2 * 3) ||
                      (n == 0 && rule->or_empty);
        for (int i = 0; rule->count == LBM_COUNT_ONE_OF && i < LBM_COUNTS; i++)
            allowed |= n == rule->counts[i];
        sample_resize(message, rule, field, n);
        if (!allowed)
            assert_refused(table, message, LBM_E_SYNTAX, field->name);
    }
    release(message);
}

static void
break_table(const struct lbm_wire_table *table)
{
    unsigned body = 0;
    for (unsigned i = 0; i < table->type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &table->type->fields[i];
        const struct lbm_wire_rule *rule = sample_rule(table, i);
        break_values(table, rule, field, body);
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            break_count(table, rule, field);
        body += (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 && body + 1 < sample_bodies(table);
    }
    if (table->body_required) {
        ProtobufCMessage *message = sample_new(table, 2, sample_bodies(table), 1);
        assert_refused(table, message, LBM_E_SYNTAX, "body");
        release(message);
    }
}

static void
every_rule_is_enforced(void **state)
{
    (void)state;
    rules_broken = 0;
    for (int root = 0; root < ROOTS; root++)
        sample_each_table(roots[root], break_table);
    assert_true(rules_broken > 500);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_text_and_part_has_a_rule),
        cmocka_unit_test(every_rule_is_enforced),
    };
    return cmocka_run_group_tests_name("wire rules", tests, NULL, NULL);
}
