/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Frames and messages: bytes to validated structs and back.
 *
 * Owns: the schema (peer.proto, control.proto), framing, and the validation of all that arrives: after
 * a successful decode every column of a message has its row's length, every count is within the
 * limits of base/limits.h, every number is finite, every string is bounded UTF-8 without control characters.
 * Never: performs I/O. */
#ifndef LBM_WIRE_WIRE_H
#define LBM_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/control.pb-c.h"
#include "wire/peer.pb-c.h"

/* The protocols between hosts that this program speaks (docs/protocol.md section 18). */
#define LBM_PROTOCOL_LEAST 1
#define LBM_PROTOCOL_MOST 2
#define LBM_PROTOCOL_CUTS 2           /* the first with consistent cuts, */
#define LBM_PROTOCOL_RUNS 2           /* with programs that daemons run, */
#define LBM_PROTOCOL_BLOBS 2          /* with payloads that are kept in pieces, */
#define LBM_PROTOCOL_OFFER_CHECKS 2   /* with hosts that say whether an offered vertex is theirs, */
#define LBM_PROTOCOL_LARGE 2          /* with labels of running jobs in large clusters, */
#define LBM_PROTOCOL_ENSEMBLES_MEND 2 /* and with ensembles of which several members are gone at once */

/* Limits of the schema alone; the others are in base/limits.h. */
#define LBM_ROWS_MAX 65536                 /* ghosts, a band, part of a map: 1 MiB at 16 bytes a row */
#define LBM_SNAPSHOT_BYTES_MAX (64u << 20) /* a view of LBM_LINKS_MAX links, declared at both ends */
#define LBM_DEPARTED_MAX (1u << 20)        /* one departure a minute for two years */
#define LBM_PARTS_MAX 2048                 /* of a guest that several hosts read: 25 bytes in a command */
#define LBM_COMMAND_BYTES_MAX (64u << 10)  /* a Join that is linked to LBM_HOSTS_MAX hosts: 5 bytes a link */

_Static_assert(LBM_ROWS_MAX * 64u <= LBM_FRAME_BYTES_MAX, "rows fit a frame, 64 bytes each");
_Static_assert(LBM_ROWS_MAX >= LBM_HOSTS_MAX, "a column with a row for each host is a column of rows");
_Static_assert(LBM_HOSTS_MAX * 5u + 4096 <= LBM_COMMAND_BYTES_MAX,
               "a Join with a link to every host is a command");
_Static_assert(LBM_PARTS_MAX * 25u + 4096 <= LBM_COMMAND_BYTES_MAX,
               "a JobCreate with every part is a command");
_Static_assert(LBM_COMMAND_BYTES_MAX * 2 <= LBM_FRAME_BYTES_MAX, "a command fits a frame");
_Static_assert(
    UINT64_C(27) * LBM_LINKS_MAX <= LBM_SNAPSHOT_BYTES_MAX,
    "links fit a snapshot: declared and announced at both ends, 5 bytes each, and once more, 7 bytes");

/* A frame is a 4-byte little-endian length of what follows (1 .. LBM_FRAME_BYTES_MAX), then the packed
 * message. */
enum { LBM_FRAME_HEADER = 4 };

/* Read the length from a header. Errors: LBM_E_LIMIT (0 or above the limit). */
enum lbm_err lbm_frame_length(const uint8_t header[LBM_FRAME_HEADER], uint32_t *length) LBM_MUST_CHECK;

/* Pack a message with its frame header. Out: *frame owned by the caller (free).
 * Errors: LBM_E_LIMIT (empty, or larger than a frame may be), LBM_E_NOMEM. */
enum lbm_err lbm_wire_pack_peer(const Lbm__Peer *message, uint8_t **frame, size_t *len) LBM_MUST_CHECK;
enum lbm_err lbm_wire_pack_request(const Lbm__Request *message, uint8_t **frame, size_t *len) LBM_MUST_CHECK;
enum lbm_err lbm_wire_pack_response(const Lbm__Response *message, uint8_t **frame,
                                    size_t *len) LBM_MUST_CHECK;

/* Unpack and validate the bytes after a frame header, within 16 KiB + 20 len bytes of memory.
 * Fields that this version does not know are dropped.
 * Out: *message owned by the caller; free with the generated lbm__..._free_unpacked(message, NULL).
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT with the field named in diag, LBM_E_NOMEM. */
enum lbm_err lbm_wire_unpack_peer(const uint8_t *bytes, size_t len, Lbm__Peer **message,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_wire_unpack_request(const uint8_t *bytes, size_t len, Lbm__Request **message,
                                     struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_wire_unpack_response(const uint8_t *bytes, size_t len, Lbm__Response **message,
                                      struct lbm_diag *diag) LBM_MUST_CHECK;
enum lbm_err lbm_wire_unpack_command(const uint8_t *bytes, size_t len, Lbm__Command **message,
                                     struct lbm_diag *diag) LBM_MUST_CHECK;
/* The same for a view, which may be larger than a frame: up to LBM_SNAPSHOT_BYTES_MAX. */
enum lbm_err lbm_wire_unpack_snapshot(const uint8_t *bytes, size_t len, Lbm__Snapshot **message,
                                      struct lbm_diag *diag) LBM_MUST_CHECK;

/* Rows of a Records, so that code reads r->vertex[i] with its slice of neighbours. dims: 2 or 3. */
static inline size_t
lbm_records_count(const Lbm__Records *r)
{
    return r != NULL ? r->n_vertex : 0;
}

#endif
