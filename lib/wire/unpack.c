/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Bytes to validated messages, with memory in proportion to the bytes. */
#include <stdlib.h>

#include "base/check.h"
#include "wire/check.h"
#include "wire/wire.h"

/* What one unpacking may allocate, all allocations added up. The densest honest bytes are one-byte
 * elements of a 64-bit column (8 for 1) and empty nested messages of about 170 bytes in a dozen. Hostile
 * ones are 90 for 1 (a nested message or an unknown field in 2 bytes), and repeating a nested message
 * makes the library join columns again and again, which the sum bounds too. */
enum { BYTES_PER_BYTE_MAX = 20, BYTES_BASE = 16 << 10 };

struct budget {
    size_t left;
    int refused; /* nonzero: the budget was spent */
    int failed;  /* nonzero: memory was short */
};

static void *
budget_alloc(void *data, size_t size)
{
    struct budget *budget = data;
    if (size > budget->left) {
        budget->refused = 1;
        return NULL;
    }
    budget->left -= size;
    void *at = malloc(size);
    budget->failed |= at == NULL;
    return at;
}

static void
budget_free(void *data, void *at)
{
    (void)data;
    free(at);
}

/* Forget fields that this version does not know, here and in all that is nested: they must not travel on
 * when a part of the message is sent elsewhere. */
static void
drop_unknown(ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->n_unknown_fields; i++)
        free(message->unknown_fields[i].data);
    free(message->unknown_fields);
    message->unknown_fields = NULL;
    message->n_unknown_fields = 0;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        char *base = (char *)message;
        uint32_t body = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0
                            ? *(uint32_t *)(base + field->quantifier_offset)
                            : field->id;
        int repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
        size_t n = repeated ? *(size_t *)(base + field->quantifier_offset) : body == field->id;
        ProtobufCMessage **nested = (ProtobufCMessage **)(base + field->offset);
        nested = repeated ? *(ProtobufCMessage ***)nested : nested;
        for (size_t k = 0; k < n; k++)
            if (nested[k] != NULL)
                drop_unknown(nested[k]);
    }
}

/* Out: *message owned by the caller, freed with the generated function and no allocator. */
static enum lbm_err
unpack_most(const struct lbm_wire_table *table, const char *name, const uint8_t *bytes, size_t len,
            size_t bytes_max, ProtobufCMessage **message, struct lbm_diag *diag)
{
    if (len > bytes_max)
        return lbm_diag_set(diag, LBM_E_LIMIT, name, 0, "%zu bytes, at most %zu are possible", len,
                            bytes_max);
    struct budget budget = {.left = BYTES_BASE + len * BYTES_PER_BYTE_MAX};
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
    ProtobufCMessage *unpacked = protobuf_c_message_unpack(table->type, &allocator, len, bytes);
    if (unpacked == NULL && budget.failed)
        return lbm_diag_set(diag, LBM_E_NOMEM, name, 0, "no memory for a message of %zu bytes", len);
    if (unpacked == NULL && budget.refused)
        return lbm_diag_set(diag, LBM_E_LIMIT, name, 0, "%zu bytes that unpack to more than %d times as much",
                            len, BYTES_PER_BYTE_MAX);
    if (unpacked == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "%zu bytes that are not such a message", len);
    drop_unknown(unpacked);
    enum lbm_err err = lbm_wire_check(table, name, unpacked, diag);
    if (err != LBM_OK) {
        protobuf_c_message_free_unpacked(unpacked, NULL);
        return err;
    }
    *message = unpacked;
    return LBM_OK;
}

static enum lbm_err
unpack(const struct lbm_wire_table *table, const char *name, const uint8_t *bytes, size_t len,
       ProtobufCMessage **message, struct lbm_diag *diag)
{
    return unpack_most(table, name, bytes, len, LBM_FRAME_BYTES_MAX, message, diag);
}

enum lbm_err
lbm_wire_unpack_peer(const uint8_t *bytes, size_t len, Lbm__Peer **message, struct lbm_diag *diag)
{
    ProtobufCMessage *unpacked;
    enum lbm_err err = unpack(&lbm_wire_peer_table, "peer", bytes, len, &unpacked, diag);
    if (err == LBM_OK)
        *message = (Lbm__Peer *)unpacked;
    return err;
}

enum lbm_err
lbm_wire_unpack_request(const uint8_t *bytes, size_t len, Lbm__Request **message, struct lbm_diag *diag)
{
    ProtobufCMessage *unpacked;
    enum lbm_err err = unpack(&lbm_wire_request_table, "request", bytes, len, &unpacked, diag);
    if (err == LBM_OK)
        *message = (Lbm__Request *)unpacked;
    return err;
}

enum lbm_err
lbm_wire_unpack_response(const uint8_t *bytes, size_t len, Lbm__Response **message, struct lbm_diag *diag)
{
    ProtobufCMessage *unpacked;
    enum lbm_err err = unpack(&lbm_wire_response_table, "response", bytes, len, &unpacked, diag);
    if (err == LBM_OK)
        *message = (Lbm__Response *)unpacked;
    return err;
}

enum lbm_err
lbm_wire_unpack_command(const uint8_t *bytes, size_t len, Lbm__Command **message, struct lbm_diag *diag)
{
    ProtobufCMessage *unpacked;
    enum lbm_err err = unpack(&lbm_wire_command_table, "command", bytes, len, &unpacked, diag);
    if (err == LBM_OK)
        *message = (Lbm__Command *)unpacked;
    return err;
}

enum lbm_err
lbm_wire_unpack_snapshot(const uint8_t *bytes, size_t len, Lbm__Snapshot **message, struct lbm_diag *diag)
{
    ProtobufCMessage *unpacked;
    enum lbm_err err = unpack_most(&lbm_wire_snapshot_table, "snapshot", bytes, len, LBM_SNAPSHOT_BYTES_MAX,
                                   &unpacked, diag);
    if (err == LBM_OK)
        *message = (Lbm__Snapshot *)unpacked;
    return err;
}
