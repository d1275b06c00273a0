/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large payloads, which are kept apart from records (protocol.md section 20): which of them are here, how others
 * come from another host, and when they go.
 *
 * Rule: no record is stored with a blob that is not complete on the same disk. A blob is complete here once
 * its last piece is in a transaction; transactions take effect in order. */
#ifndef LBM_NODE_RECORDS_BLOBS_H
#define LBM_NODE_RECORDS_BLOBS_H

#include "node/core/core.h"

/* What is there when a life begins. Pieces of those that were still coming are dropped. */
void lbm_blobs_start(struct lbm_node *node, const struct lbm_recovered *recovered);
/* Free what is known of blobs. */
void lbm_blobs_free(struct lbm_node *node);

/* Returns nonzero if all of a blob is here. It stays for a while also if no record has it. */
int lbm_blobs_have(struct lbm_node *node, const struct lbm_blob_name *name);
/* A blob that is not here is asked for there, unless it comes already. */
void lbm_blobs_want(struct lbm_node *node, const struct lbm_blob_name *name, uint32_t from);
/* Returns nonzero if every column of blobs of a message fits its payloads. In: their lengths add up. */
int lbm_blobs_fit(const Lbm__Records *records, uint64_t job);
/* Returns nonzero if the blob of row i, if it has one, is here; else it is asked for there.
 * In: at, where the payload of that row begins. */
int lbm_blobs_row_has(struct lbm_node *node, const Lbm__Records *records, size_t i, size_t at, uint64_t job,
                      uint32_t from);
/* Returns the bytes of a vertex's payload, wherever they are kept. */
uint64_t lbm_blobs_payload_bytes(const struct lbm_vertex *vertex);
/* Nonzero if the vertex has that blob. */
int lbm_blobs_is_of(const struct lbm_vertex *vertex, const struct lbm_blob_name *name);

/* The next piece of a blob that a client brings is stored with this step; one that is here is passed over.
 * Out: *complete nonzero if all of it is here now. Errors: LBM_E_RANGE it is not the next one, or has
 * another length; LBM_E_CORRUPT it was the last, and the bytes are not those of the digest: all are dropped.
 */
enum lbm_err lbm_blobs_put(struct lbm_node *node, const struct lbm_blob_name *name, uint32_t piece,
                           const uint8_t *bytes, size_t len, int *complete) LBM_MUST_CHECK;
/* Effect: read pieces [first, first + count) of a blob, as far as there are, for a host (LBM_NONE: for a
 * client's request). Errors: LBM_E_NOTFOUND the blob is not here; LBM_E_BUSY too many are being read. */
enum lbm_err lbm_blobs_read(struct lbm_node *node, const struct lbm_blob_read *whom, uint32_t first,
                            uint32_t count) LBM_MUST_CHECK;
/* BLOB_READ: a piece for whoever wants it. Answered with BlobPiece, or BlobData. */
void lbm_blobs_on_read(struct lbm_node *node, const struct lbm_event *event);

/* BlobGet: another host lacks pieces. */
void lbm_blobs_on_get(struct lbm_node *node, const Lbm__Peer *message);
/* BlobPiece: the next piece of what was asked for. With the last one BlobHave follows once it is durable. */
void lbm_blobs_on_piece(struct lbm_node *node, const Lbm__Peer *message);
/* The blob that BlobHave, BlobGet or BlobPiece names. */
struct lbm_blob_name lbm_blobs_name(uint64_t job, const ProtobufCBinaryData *digest, uint64_t length);

/* Drop blobs that no record has any more, and give up hosts that send nothing. */
void lbm_blobs_timer(struct lbm_node *node);
/* Time, us, at which lbm_blobs_timer has something to do; INT64_MAX: none. */
int64_t lbm_blobs_deadline(const struct lbm_node *node);

#endif
