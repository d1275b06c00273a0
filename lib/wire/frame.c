/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "wire/wire.h"

enum lbm_err
lbm_frame_length(const uint8_t header[LBM_FRAME_HEADER], uint32_t *length)
{
    uint32_t value = 0;
    for (int i = LBM_FRAME_HEADER; i-- > 0;)
        value = value << 8 | header[i];
    if (value == 0 || value > LBM_FRAME_BYTES_MAX)
        return LBM_E_LIMIT;
    *length = value;
    return LBM_OK;
}
