/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the tests of lib/wire: messages that keep every rule of a table, made from the table. */
#ifndef LBM_TESTS_UNIT_WIRE_WIRE_SAMPLE_H
#define LBM_TESTS_UNIT_WIRE_WIRE_SAMPLE_H

#include "wire/check.h"

/* The rule of field i of a table's message, or NULL. */
const struct lbm_wire_rule *sample_rule(const struct lbm_wire_table *table, unsigned i);

/* A valid message: columns of `rows` rows (fewer where the limit is lower, if clamp), member `body` of its
 * oneof, if it has one, counted from 0. Owned by the caller: protobuf_c_message_free_unpacked. */
ProtobufCMessage *sample_new(const struct lbm_wire_table *table, size_t rows, unsigned body, int clamp);

/* Members of the table's oneof. */
unsigned sample_bodies(const struct lbm_wire_table *table);

/* Bytes an element of the field takes in its array. */
size_t sample_size(const ProtobufCFieldDescriptor *field);

/* Elements of a repeated field: their number and the array, to be read and changed. */
size_t *sample_count(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
void *sample_at(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
void **sample_array(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/* Grow or shrink a repeated field; new elements are copies of valid ones. */
void sample_resize(ProtobufCMessage *message, const struct lbm_wire_rule *rule,
                   const ProtobufCFieldDescriptor *field, size_t n);

/* Call fn for a table and, once each, all tables nested in it. */
void sample_each_table(const struct lbm_wire_table *table, void (*fn)(const struct lbm_wire_table *table));

#endif
