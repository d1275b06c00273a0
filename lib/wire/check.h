/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The rules that what arrives must keep, as tables, and the walker that applies them.
 *
 * Owns: struct lbm_wire_rule, one row for a field of the schema. Every double is finite by default and
 * every number may take its type's whole range; a row says what is narrower. tests/unit/wire/test_wire.c
 * checks that no repeated field, no string and no nested message is without a row, and violates every row
 * once. Internal to lib/wire and its tests. */
#ifndef LBM_WIRE_CHECK_H
#define LBM_WIRE_CHECK_H

#include <protobuf-c/protobuf-c.h>

#include "base/err.h"

/* How many elements a repeated field has. `of` is the column of the same message it follows. */
enum lbm_wire_count {
    LBM_COUNT_UP_TO,  /* 0 .. counts[0] */
    LBM_COUNT_ONE_OF, /* one of counts[] */
    LBM_COUNT_SAME,   /* as many as `of` has */
    LBM_COUNT_POINTS, /* 2 or 3 times as many as `of` has: m coordinates a row */
    LBM_COUNT_SUM     /* as many as the values of `of` add up to */
};

enum { LBM_COUNTS = 3 };

struct lbm_wire_table;

struct lbm_wire_rule {
    const char *field;         /* name in the schema */
    enum lbm_wire_count count; /* repeated fields */
    const char *of;
    uint32_t counts[LBM_COUNTS];         /* unused ones repeat the last */
    int or_empty;                        /* nonzero: SAME, POINTS, SUM: or none at all */
    uint64_t lo, hi;                     /* whole numbers; length in bytes of a string or bytes; hi 0: any */
    int or_none;                         /* nonzero: or LBM_NONE */
    double least, most;                  /* doubles; both 0: any finite one */
    int required;                        /* a nested message that must be there */
    const struct lbm_wire_table *nested; /* rules of a nested message */
};

/* The rules of one message, in the order of its field numbers. */
struct lbm_wire_table {
    const ProtobufCMessageDescriptor *type;
    const struct lbm_wire_rule *rules;
    size_t n_rules;
    int body_required; /* nonzero: one member of its oneof must be set */
};

extern const struct lbm_wire_table lbm_wire_peer_table, lbm_wire_command_table, lbm_wire_snapshot_table;
extern const struct lbm_wire_table lbm_wire_request_table, lbm_wire_response_table;

/* Apply a table to an unpacked message and all that is nested in it.
 * In:      name of the whole, for messages ("peer").
 * Errors:  LBM_E_RANGE a value, LBM_E_LIMIT a count or length, LBM_E_SYNTAX columns that do not fit together,
 *          text that is not clean UTF-8, or a missing part; diag names the field. */
enum lbm_err lbm_wire_check(const struct lbm_wire_table *table, const char *name,
                            const ProtobufCMessage *message, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Nonzero if text is UTF-8 without control characters (C0, DEL, C1). */
int lbm_wire_text_clean(const char *text, size_t len);

#endif
