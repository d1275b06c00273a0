/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdlib.h>

#include "base/check.h"
#include "wire/wire.h"

static enum lbm_err
pack(const ProtobufCMessage *message, uint8_t **frame, size_t *len)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    if (size == 0 || size > LBM_FRAME_BYTES_MAX)
        return LBM_E_LIMIT;
    uint8_t *bytes = malloc(LBM_FRAME_HEADER + size);
    if (bytes == NULL)
        return LBM_E_NOMEM;
    for (int i = 0; i < LBM_FRAME_HEADER; i++)
        bytes[i] = (uint8_t)(size >> (8 * i));
    size_t packed = protobuf_c_message_pack(message, bytes + LBM_FRAME_HEADER);
    LBM_ASSERT(packed == size);
    *frame = bytes;
    *len = LBM_FRAME_HEADER + size;
    return LBM_OK;
}

enum lbm_err
lbm_wire_pack_peer(const Lbm__Peer *message, uint8_t **frame, size_t *len)
{
    return pack(&message->base, frame, len);
}

enum lbm_err
lbm_wire_pack_request(const Lbm__Request *message, uint8_t **frame, size_t *len)
{
    return pack(&message->base, frame, len);
}

enum lbm_err
lbm_wire_pack_response(const Lbm__Response *message, uint8_t **frame, size_t *len)
{
    return pack(&message->base, frame, len);
}
