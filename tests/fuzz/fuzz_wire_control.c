/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What clients and their daemon say: any bytes are refused or become a message that survives packing again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "wire/wire.h"

static int
take_request(const uint8_t *data, size_t size)
{
    Lbm__Request *message = NULL, *again = NULL;
    if (lbm_wire_unpack_request(data, size, &message, NULL) != LBM_OK)
        return 0;
    uint8_t *frame = NULL;
    size_t len = 0;
    enum lbm_err err = lbm_wire_pack_request(message, &frame, &len);
    LBM_ASSERT(err == LBM_OK);
    err = lbm_wire_unpack_request(frame + LBM_FRAME_HEADER, len - LBM_FRAME_HEADER, &again, NULL);
    LBM_ASSERT(err == LBM_OK && again->what_case == message->what_case);
    lbm__request__free_unpacked(message, NULL);
    lbm__request__free_unpacked(again, NULL);
    free(frame);
    return 1;
}

static int
take_response(const uint8_t *data, size_t size)
{
    Lbm__Response *message = NULL, *again = NULL;
    if (size == 0 || lbm_wire_unpack_response(data, size, &message, NULL) != LBM_OK)
        return 0;
    uint8_t *frame = NULL;
    size_t len = 0;
    enum lbm_err err = lbm_wire_pack_response(message, &frame, &len);
    /* Fields may be there with their default values, which are not packed again. */
    LBM_ASSERT(err == LBM_OK || (err == LBM_E_LIMIT && message->what_case == LBM__RESPONSE__WHAT__NOT_SET));
    if (err == LBM_OK) {
        err = lbm_wire_unpack_response(frame + LBM_FRAME_HEADER, len - LBM_FRAME_HEADER, &again, NULL);
        LBM_ASSERT(err == LBM_OK && again->what_case == message->what_case);
        lbm__response__free_unpacked(again, NULL);
    }
    lbm__response__free_unpacked(message, NULL);
    free(frame);
    return 1;
}

int
fuzz_wire_control(const uint8_t *data, size_t size)
{
    int is_request = take_request(data, size);
    return take_response(data, size) || is_request;
}
