/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_batch.c: records on the wire, a column each for what they have. Only files of lib/node include this.
 */
#ifndef LBM_NODE_RECORDS_RECORD_BATCH_H
#define LBM_NODE_RECORDS_RECORD_BATCH_H

#include "node/core/state.h"

/* Columns of vertices, built row by row; free with columns_free. */
struct columns {
    Lbm__Records message;
    LBM_VEC(uint32_t) vertex, work, pin, anchored, degree, neighbour, weight, host;
    LBM_VEC(uint64_t) epoch;
    LBM_VEC(double) position;
    LBM_VEC(uint32_t) payload_len, blob;
    int has_blobs;
    struct lbm_buf payload;
    LBM_VEC(uint32_t) stage, peer, source, fin, bare;
    LBM_VEC(uint32_t) news_degree, news_vertex, news_weight, news_host;
    LBM_VEC(uint64_t) peer_incarnation, source_incarnation;
};
/* Begin an empty batch of records. */
void lbm_records_batch_init(struct columns *columns);
enum { COLUMNS_BARE, COLUMNS_WHOLE, COLUMNS_ADJACENCY };
/* Append a vertex as it would be owned at `epoch`; with_content: one of those; with WHOLE its neighbours,
 * hints and payload, with ADJACENCY all but the payload. */
void lbm_records_batch_add(struct lbm_node *node, struct columns *columns, const struct job *job,
                           const struct lbm_vertex *vertex, uint64_t epoch, int with_content);
/* Append a record as it stands, for the backup; bare: without the content that the backup has already. */
void lbm_records_batch_add_replica(struct lbm_node *node, struct columns *columns, const struct job *job,
                                   const struct lbm_vertex *vertex, int bare);
/* The batch as a message that borrows it. */
const Lbm__Records *lbm_records_batch_message(struct columns *columns);
/* Free a batch. */
void lbm_records_batch_free(struct columns *columns);
/* Where the content of a row begins, when a message is read row by row. */
struct columns_place {
    size_t half, payload, news;
};
/* Row i of a message as a record; moves `at` on to the next. Errors: LBM_E_NOMEM; row owns its content. */
enum lbm_err lbm_records_batch_row(const Lbm__Records *records, size_t i, struct columns_place *at,
                                   unsigned m, uint64_t job, struct lbm_row *row) LBM_MUST_CHECK;
/* Nonzero if n lengths add up to the payloads of a message. */
int lbm_records_payload_fits(size_t n, const uint32_t *len, const ProtobufCBinaryData *payload);

#endif
