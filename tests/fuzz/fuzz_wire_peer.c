/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What daemons send one another: any bytes are refused or become a message that survives packing again. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "wire/wire.h"

static int
take_peer(const uint8_t *data, size_t size)
{
    Lbm__Peer *message = NULL, *again = NULL;
    struct lbm_diag diag;
    if (lbm_wire_unpack_peer(data, size, &message, &diag) != LBM_OK)
        return 0;
    uint8_t *frame = NULL;
    size_t len = 0;
    uint32_t length = 0;
    enum lbm_err err = lbm_wire_pack_peer(message, &frame, &len);
    LBM_ASSERT(err == LBM_OK);
    err = lbm_frame_length(frame, &length);
    LBM_ASSERT(err == LBM_OK && LBM_FRAME_HEADER + length == len);
    err = lbm_wire_unpack_peer(frame + LBM_FRAME_HEADER, length, &again, &diag);
    LBM_ASSERT(err == LBM_OK && again->body_case == message->body_case);
    lbm__peer__free_unpacked(message, NULL);
    lbm__peer__free_unpacked(again, NULL);
    free(frame);
    return 1;
}

/* A command travels inside log messages and is unpacked when the log is applied. */
static int
take_command(const uint8_t *data, size_t size)
{
    Lbm__Command *command = NULL;
    if (lbm_wire_unpack_command(data, size, &command, NULL) != LBM_OK)
        return 0;
    lbm__command__free_unpacked(command, NULL);
    return 1;
}

int
fuzz_wire_peer(const uint8_t *data, size_t size)
{
    int is_peer = take_peer(data, size);
    return take_command(data, size) || is_peer;
}
