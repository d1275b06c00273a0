/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large payloads: a receiver asks for them, piece by piece and a few at a time, from the host whose record
 * describes them; so both ends hold a few pieces in memory, however large a payload is. The bytes of one go
 * through a hash in their order: what is not what its name says is dropped, and no record has it. */
#include "node/records/blobs.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "node/records/record_packed.h"
#include "node/records/records.h"

enum {
    WINDOW = 4,     /* pieces of a blob that are on their way */
    COMING_MAX = 2, /* blobs at a time: pings and leases wait behind their pieces */
    READS_MAX = 64, /* pieces from the disk at a time, for all */
};
_Static_assert((int)WINDOW <= LBM_BLOB_PIECES_ASKED_MAX, "the window is asked for at once");

static int
compare(const struct lbm_blob_name *a, const struct lbm_blob_name *b)
{
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return memcmp(a->digest, b->digest, sizeof a->digest);
}

/* Place of a blob in the list, or where it would be. */
static size_t
place_of(const struct lbm_node *node, const struct lbm_blob_name *name)
{
    size_t low = 0, high = node->blobs.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&node->blobs.at[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct blob *
find(const struct lbm_node *node, const struct lbm_blob_name *name)
{
    size_t at = place_of(node, name);
    return at < node->blobs.n && compare(&node->blobs.at[at].name, name) == 0 ? &node->blobs.at[at] : NULL;
}

static uint32_t
pieces_of(const struct lbm_node *node, const struct lbm_blob_name *name)
{
    return (uint32_t)((name->len + node->blob_piece - 1) / node->blob_piece);
}

static size_t
piece_bytes(const struct lbm_node *node, const struct lbm_blob_name *name, uint32_t piece)
{
    uint64_t left = name->len - (uint64_t)piece * node->blob_piece;
    return left < node->blob_piece ? (size_t)left : node->blob_piece;
}

/* NULL: memory is short. */
static struct blob *
add(struct lbm_node *node, const struct lbm_blob_name *name)
{
    struct blob blob = {.name = *name, .from = LBM_NONE, .used_us = node->now_us};
    blob.hash = lbm_alloc(1, sizeof *blob.hash);
    size_t at = place_of(node, name);
    if (blob.hash == NULL || lbm_vec_push(&node->blobs, blob) != LBM_OK) {
        free(blob.hash);
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    sha256_init(blob.hash);
    memmove(&node->blobs.at[at + 1], &node->blobs.at[at], (node->blobs.n - 1 - at) * sizeof blob);
    node->blobs.at[at] = blob;
    if (node->blobs_us == INT64_MAX)
        node->blobs_us = node->now_us + BLOB_SWEEP_US;
    return &node->blobs.at[at];
}

static void
store_nothing(struct lbm_node *node, const struct lbm_blob_name *name)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_BLOB_DELETE, .job = name->job};
    op.as.blob.name = *name;
    lbm_core_persist(node, op);
}

/* All of it goes, and is unknown. */
static void
drop(struct lbm_node *node, struct blob *blob)
{
    size_t at = (size_t)(blob - node->blobs.at);
    if (blob->pieces != 0)
        store_nothing(node, &blob->name);
    free(blob->hash);
    memmove(blob, blob + 1, (node->blobs.n - at - 1) * sizeof *blob);
    node->blobs.n--;
}

void
lbm_blobs_start(struct lbm_node *node, const struct lbm_recovered *recovered)
{
    node->blobs_us = INT64_MAX;
    for (size_t i = 0; i < recovered->blobs.n && node->failed == LBM_OK; i++) {
        const struct lbm_recovered_blob *old = &recovered->blobs.at[i];
        if (old->pieces < pieces_of(node, &old->name)) { /* what was hashed of it is forgotten */
            store_nothing(node, &old->name);
            continue;
        }
        struct blob *blob = add(node, &old->name);
        if (blob == NULL)
            return;
        free(blob->hash);
        blob->hash = NULL;
        blob->pieces = old->pieces;
    }
}

void
lbm_blobs_free(struct lbm_node *node)
{
    for (size_t i = 0; i < node->blobs.n; i++)
        free(node->blobs.at[i].hash);
    lbm_vec_free(&node->blobs);
}

/* ---- what is here -------------------------------------------------------------------------------------- */

int
lbm_blobs_have(struct lbm_node *node, const struct lbm_blob_name *name)
{
    struct blob *blob = find(node, name);
    if (blob == NULL || blob->hash != NULL)
        return 0;
    blob->used_us = node->now_us;
    blob->was_named = 0;
    return 1;
}

uint64_t
lbm_blobs_payload_bytes(const struct lbm_vertex *vertex)
{
    struct lbm_blob_name name;
    return vertex->is_blob && lbm_blob_read_name(0, vertex->payload, vertex->payload_len, &name)
               ? name.len
               : vertex->payload_len;
}

int
lbm_blobs_is_of(const struct lbm_vertex *vertex, const struct lbm_blob_name *name)
{
    struct lbm_blob_name own;
    return vertex->is_blob && lbm_blob_read_name(name->job, vertex->payload, vertex->payload_len, &own) &&
           compare(&own, name) == 0;
}

int
lbm_blobs_fit(const Lbm__Records *records, uint64_t job)
{
    struct lbm_blob_name name;
    size_t at = 0;
    if (records->n_blob != 0 && records->n_payload_len == 0)
        return 0;
    for (size_t i = 0; i < records->n_blob; at += records->payload_len[i++])
        if (records->blob[i] != 0 &&
            !lbm_blob_read_name(job, records->payload.data + at, records->payload_len[i], &name))
            return 0;
    return 1;
}

int
lbm_blobs_row_has(struct lbm_node *node, const Lbm__Records *records, size_t i, size_t at, uint64_t job,
                  uint32_t from)
{
    struct lbm_blob_name name;
    if (records->n_blob == 0 || records->blob[i] == 0 ||
        !lbm_blob_read_name(job, records->payload.data + at, records->payload_len[i], &name) ||
        lbm_blobs_have(node, &name))
        return 1;
    lbm_blobs_want(node, &name, from);
    return 0;
}

/* ---- pieces come --------------------------------------------------------------------------------------- */

/* What came is not what it was said to be. */
static enum lbm_err
refuse_all(struct lbm_node *node, struct blob *blob)
{
    store_nothing(node, &blob->name);
    sha256_init(blob->hash);
    blob->pieces = blob->asked = 0;
    blob->from = LBM_NONE;
    return LBM_E_CORRUPT;
}

/* Store the next piece. Errors: LBM_E_RANGE its length; LBM_E_CORRUPT. */
static enum lbm_err
take_piece(struct lbm_node *node, struct blob *blob, const uint8_t *bytes, size_t len)
{
    if (len != piece_bytes(node, &blob->name, blob->pieces))
        return LBM_E_RANGE;
    struct lbm_persist_op op = {.kind = LBM_PERSIST_BLOB_PIECE, .job = blob->name.job};
    op.as.blob.name = blob->name;
    op.as.blob.piece = blob->pieces;
    op.as.blob.len = len;
    op.as.blob.bytes = lbm_copy(bytes, len, 1);
    if (op.as.blob.bytes == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return LBM_OK;
    }
    lbm_core_persist(node, op);
    sha256_update(blob->hash, len, bytes);
    blob->used_us = blob->moved_us = node->now_us;
    blob->pieces++;
    blob->asked = blob->asked > blob->pieces ? blob->asked : blob->pieces;
    if (blob->pieces < pieces_of(node, &blob->name))
        return LBM_OK;
    uint8_t digest[LBM_SHA256_BYTES];
    sha256_digest(blob->hash, LBM_SHA256_BYTES, digest);
    if (memcmp(digest, blob->name.digest, sizeof digest) != 0)
        return refuse_all(node, blob);
    free(blob->hash);
    blob->hash = NULL;
    return LBM_OK;
}

enum lbm_err
lbm_blobs_put(struct lbm_node *node, const struct lbm_blob_name *name, uint32_t piece, const uint8_t *bytes,
              size_t len, int *complete)
{
    struct blob *blob = find(node, name);
    enum lbm_err err = LBM_OK;
    *complete = lbm_blobs_have(node, name);
    if (*complete || len == 0 || (blob != NULL && piece < blob->pieces))
        return LBM_OK;
    if (blob == NULL && piece == 0)
        blob = add(node, name);
    if (blob == NULL || piece != blob->pieces)
        return node->failed != LBM_OK ? LBM_OK : LBM_E_RANGE;
    err = take_piece(node, blob, bytes, len);
    *complete = blob->hash == NULL;
    return err;
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static void
send_get(struct lbm_node *node, const struct blob *blob, uint32_t first, uint32_t count)
{
    Lbm__BlobGet get = LBM__BLOB_GET__INIT;
    get.job = blob->name.job;
    get.digest = (ProtobufCBinaryData){sizeof blob->name.digest, (uint8_t *)blob->name.digest};
    get.length = blob->name.len;
    get.first = first;
    get.count = count;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_BLOB_GET;
    message.blob_get = &get;
    lbm_core_send_now(node, blob->from, &message);
}

static int
is_coming(const struct blob *blob)
{
    return blob->hash != NULL && blob->from != LBM_NONE && blob->asked > blob->pieces;
}

/* Ask for the pieces after those that are on their way; half a window at a time. */
static void
ask(struct lbm_node *node, struct blob *blob)
{
    uint32_t all = pieces_of(node, &blob->name), end = blob->pieces + WINDOW;
    end = end < all ? end : all;
    if (blob->asked >= end || (blob->asked > blob->pieces + WINDOW / 2 && end < all))
        return;
    send_get(node, blob, blob->asked, end - blob->asked);
    blob->asked = end;
    blob->moved_us = node->now_us;
}

/* Those that wait for others to come. */
static void
ask_more(struct lbm_node *node)
{
    uint32_t n = 0;
    for (size_t i = 0; i < node->blobs.n; i++)
        n += is_coming(&node->blobs.at[i]) != 0;
    for (size_t i = 0; i < node->blobs.n && n < COMING_MAX; i++) {
        struct blob *blob = &node->blobs.at[i];
        if (blob->hash == NULL || blob->from == LBM_NONE || is_coming(blob))
            continue;
        ask(node, blob);
        n++;
    }
}

void
lbm_blobs_want(struct lbm_node *node, const struct lbm_blob_name *name, uint32_t from)
{
    struct blob *blob = find(node, name);
    if (blob == NULL)
        blob = add(node, name);
    if (blob == NULL || blob->hash == NULL)
        return;
    blob->used_us = node->now_us;
    int64_t wait_us = blob->from == from ? BLOB_WAIT_US : BLOB_OTHER_US;
    if (is_coming(blob) && node->now_us - blob->moved_us < wait_us)
        return;
    blob->from = from;
    blob->asked = blob->pieces;
    ask_more(node);
}

struct lbm_blob_name
lbm_blobs_name(uint64_t job, const ProtobufCBinaryData *digest, uint64_t length)
{
    struct lbm_blob_name name = {.job = job, .len = length};
    LBM_ASSERT(digest->len == sizeof name.digest);
    memcpy(name.digest, digest->data, sizeof name.digest);
    return name;
}

static void
send_have(struct lbm_node *node, const struct blob *blob)
{
    Lbm__BlobHave have = LBM__BLOB_HAVE__INIT;
    have.job = blob->name.job;
    have.digest = (ProtobufCBinaryData){sizeof blob->name.digest, (uint8_t *)blob->name.digest};
    have.length = blob->name.len;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_BLOB_HAVE;
    message.blob_have = &have;
    lbm_core_send(node, blob->from, &message);
}

void
lbm_blobs_on_piece(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__BlobPiece *piece = message->blob_piece;
    const struct lbm_blob_name name = lbm_blobs_name(piece->job, &piece->digest, piece->length);
    struct blob *blob = find(node, &name);
    int is_asked =
        blob != NULL && (blob->from == message->src || blob->from == LBM_NONE); /* or was, lately */
    if (!is_asked || blob->hash == NULL || piece->piece != blob->pieces)
        return;
    if (blob->from == LBM_NONE && piece->data.len != 0)
        blob->from = message->src;
    if (piece->data.len == 0) { /* its record has another payload by now; the next repetition says which */
        blob->from = LBM_NONE;
        ask_more(node);
        return;
    }
    enum lbm_err err = take_piece(node, blob, piece->data.data, piece->data.len);
    if (err != LBM_OK)
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "host %" PRIu32 " sent a payload of %" PRIu64 " bytes that is damaged: it is not taken",
                      message->src, name.len);
    if (err == LBM_OK && blob->hash != NULL)
        ask(node, blob);
    else if (err == LBM_OK)
        send_have(node, blob);
    ask_more(node);
}

/* ---- giving -------------------------------------------------------------------------------------------- */

enum lbm_err
lbm_blobs_read(struct lbm_node *node, const struct lbm_blob_read *whom, uint32_t first, uint32_t count)
{
    uint32_t all = pieces_of(node, &whom->name);
    if (!lbm_blobs_have(node, &whom->name) || first >= all)
        return LBM_E_NOTFOUND;
    uint32_t end = count < all - first ? first + count : all;
    if (node->blob_reads + (end - first) > READS_MAX)
        return LBM_E_BUSY;
    for (uint32_t i = first; i < end; i++) {
        struct lbm_blob_read read = *whom;
        read.piece = i;
        read.last = i + 1 == end;
        lbm_core_read_blob(node, &read);
        node->blob_reads++;
    }
    return LBM_OK;
}

static void
send_piece(struct lbm_node *node, uint32_t to, const struct lbm_blob_name *name, uint32_t number,
           const uint8_t *bytes, size_t len)
{
    Lbm__BlobPiece piece = LBM__BLOB_PIECE__INIT;
    piece.job = name->job;
    piece.digest = (ProtobufCBinaryData){sizeof name->digest, (uint8_t *)name->digest};
    piece.length = name->len;
    piece.piece = number;
    piece.data = (ProtobufCBinaryData){len, (uint8_t *)bytes};
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_BLOB_PIECE;
    message.blob_piece = &piece;
    lbm_core_send_now(node, to, &message);
}

void
lbm_blobs_on_get(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__BlobGet *get = message->blob_get;
    struct lbm_blob_read whom = {.name = lbm_blobs_name(get->job, &get->digest, get->length),
                                 .host = message->src};
    /* Who is busy says nothing: the other asks again. */
    if (lbm_blobs_read(node, &whom, get->first, get->count) == LBM_E_NOTFOUND)
        send_piece(node, message->src, &whom.name, get->first, NULL, 0);
}

static void
reply_piece(struct lbm_node *node, const struct lbm_event *event)
{
    const struct lbm_blob_read *read = &event->as.blob_read.read;
    Lbm__BlobData data = LBM__BLOB_DATA__INIT;
    data.piece = read->piece;
    data.data = (ProtobufCBinaryData){event->as.blob_read.len, (uint8_t *)event->as.blob_read.bytes};
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_BLOB;
    response.blob = &data;
    if (event->as.blob_read.err == LBM_OK)
        lbm_core_reply(node, read->client, read->request, read->last, &response);
    else if (read->last)
        lbm_core_reply_error(node, read->client, read->request, event->as.blob_read.err,
                             "a payload of %" PRIu64 " bytes cannot be read: %s", read->name.len,
                             lbm_err_text(event->as.blob_read.err));
}

void
lbm_blobs_on_read(struct lbm_node *node, const struct lbm_event *event)
{
    const struct lbm_blob_read *read = &event->as.blob_read.read;
    LBM_ASSERT(node->blob_reads != 0);
    node->blob_reads--;
    if (event->as.blob_read.err == LBM_E_CORRUPT)
        lbm_core_note(node, LBM_NOTE_ERROR,
                      "the database is damaged: piece %" PRIu32 " of a payload of %" PRIu64
                      " bytes; evict this host, and its vertices go on elsewhere",
                      read->piece, read->name.len);
    if (read->host == LBM_NONE)
        reply_piece(node, event);
    else if (event->as.blob_read.err == LBM_OK)
        send_piece(node, read->host, &read->name, read->piece, event->as.blob_read.bytes,
                   event->as.blob_read.len);
    else
        send_piece(node, read->host, &read->name, read->piece, NULL, 0);
}

/* ---- what goes ----------------------------------------------------------------------------------------- */

static void
mark(struct lbm_node *node, const struct lbm_blob_name *name)
{
    struct blob *blob = find(node, name);
    if (blob == NULL)
        return;
    blob->used_us = node->now_us;
    blob->was_named = 2;
}

/* Every blob that a record of this host, or one that it keeps for another, has. */
static void
mark_all(struct lbm_node *node)
{
    struct lbm_blob_name name;
    for (size_t j = 0; j < node->jobs.n; j++) {
        const struct job *job = node->jobs.at[j];
        for (size_t i = 0; i < job->shard.vertices.n; i++) {
            const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
            if (vertex->is_blob && lbm_blob_read_name(job->id, vertex->payload, vertex->payload_len, &name))
                mark(node, &name);
        }
    }
    for (size_t i = 0; i < node->replicas.n; i++)
        for (size_t j = 0; j < node->replicas.at[i]->jobs.n; j++) {
            const struct replica_job *held = &node->replicas.at[i]->jobs.at[j];
            for (size_t k = 0; k < held->rows.n; k++)
                if (lbm_records_packed_blob(held->rows.at[k], held->job, &name))
                    mark(node, &name);
        }
}

/* A submission may take long. */
static void
mark_uploads(struct lbm_node *node)
{
    for (size_t i = 0; i < node->uploads.n; i++)
        for (size_t k = 0; node->uploads.at[i]->blob_job != 0 && k < node->blobs.n; k++)
            if (node->blobs.at[k].name.job == node->uploads.at[i]->blob_job)
                node->blobs.at[k].used_us = node->now_us;
}

static void
sweep(struct lbm_node *node)
{
    mark_all(node);
    mark_uploads(node);
    for (size_t i = node->blobs.n; i-- > 0;) {
        struct blob *blob = &node->blobs.at[i];
        int is_named = blob->was_named == 2;
        int may_go = blob->was_named == 1 || node->now_us - blob->used_us > BLOB_REST_US;
        if (!is_named && may_go && !is_coming(blob))
            drop(node, blob);
        else if (is_named)
            blob->was_named = 1;
    }
}

void
lbm_blobs_timer(struct lbm_node *node)
{
    if (node->now_us < node->blobs_us)
        return;
    for (size_t i = 0; i < node->blobs.n; i++) {
        struct blob *blob = &node->blobs.at[i];
        if (is_coming(blob) && node->now_us - blob->moved_us >= BLOB_WAIT_US) {
            blob->from = LBM_NONE;
            blob->asked = blob->pieces;
        }
    }
    if (node->deferred.n == 0) /* what is put off may name some */
        sweep(node);
    ask_more(node);
    node->blobs_us = node->blobs.n != 0 ? node->now_us + BLOB_SWEEP_US : INT64_MAX;
}

int64_t
lbm_blobs_deadline(const struct lbm_node *node)
{
    return node->blobs_us;
}
