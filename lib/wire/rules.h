/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Words for the rows of the tables: what a field may hold, in the terms of base/limits.h.
 * Internal to check_peer.c and check_control.c. */
#ifndef LBM_WIRE_RULES_H
#define LBM_WIRE_RULES_H

#include <float.h>

#include "base/limits.h"
#include "wire/check.h"
#include "wire/wire.h"

/* Values. */
#define IN(least_, most_) .lo = (least_), .hi = (most_)
#define REAL(least_, most_) .least = (least_), .most = (most_)
#define FLAG IN(0, 1)
/* An enum of the node, which knows what to do with numbers of a later version. */
#define SMALL_ENUM IN(0, 255)
#define HOST IN(0, LBM_HOSTS_MAX - 1)
#define HOST_OR_NONE HOST, .or_none = 1
#define VERTEX IN(0, LBM_VERTICES_MAX - 1)
#define VERTICES IN(0, LBM_VERTICES_MAX)
#define EDGES IN(0, LBM_EDGE_DIRECTIONS_MAX / 2)
#define WEIGHT IN(1, LBM_WEIGHT_MAX)
#define COST IN(1, LBM_LINK_COST_MAX)
#define EPOCH IN(1, INT64_MAX) /* what the database orders by */
#define CAPACITY REAL(DBL_MIN, DBL_MAX)
#define IMBALANCE REAL(0.0, 1e6)
#define COORDINATE ONE_OF(0, 3, 3), REAL(-1e12, 1e12) /* of the network, microseconds; 0: none */

/* Lengths of strings and bytes. */
#define NAME IN(1, LBM_NAME_MAX)
#define NAME_OR_EMPTY IN(0, LBM_NAME_MAX)
#define ADDRESS IN(1, LBM_ADDRESS_MAX)
#define TEXT IN(0, LBM_DIAG_WHERE_MAX + LBM_DIAG_TEXT_MAX) /* a rendered diagnosis */
#define PAYLOAD IN(0, LBM_PAYLOAD_MAX)
#define DIGEST IN(LBM_SHA256_BYTES, LBM_SHA256_BYTES)
#define BLOB IN(1, LBM_BLOB_BYTES_MAX)
#define PIECE IN(0, LBM_BLOB_BYTES_MAX - 1)
#define COMMAND IN(3, LBM_COMMAND_BYTES_MAX) /* the shortest is a Revoke of host 0 */

/* Counts. */
#define UP_TO(n) .count = LBM_COUNT_UP_TO, .counts = {(n)}
#define ONE_OF(a, b, c) .count = LBM_COUNT_ONE_OF, .counts = {(a), (b), (c)}
#define SAME(column) .count = LBM_COUNT_SAME, .of = (column)
#define POINTS(column) .count = LBM_COUNT_POINTS, .of = (column)
#define SUM(column) .count = LBM_COUNT_SUM, .of = (column)
#define OR_EMPTY .or_empty = 1

#define TABLE(rules_, type_)                                                                                 \
    {                                                                                                        \
        .type = &(type_), .rules = (rules_), .n_rules = sizeof(rules_) / sizeof *(rules_)                    \
    }
#define TABLE_WITHOUT_RULES(type_)                                                                           \
    {                                                                                                        \
        .type = &(type_)                                                                                     \
    }

/* Rows of a mapping, in MapChunk and MapReply. */
extern const struct lbm_wire_table lbm_wire_map_records_table;
/* In JobCreate, JobSet, JobChange and JobEntry. */
extern const struct lbm_wire_table lbm_wire_job_gates_table;
/* In MapChunk and ExplainReply. */
extern const struct lbm_wire_table lbm_wire_move_table;

#endif
