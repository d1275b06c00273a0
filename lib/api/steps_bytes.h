/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Numbers in messages and payloads of lbmap_steps and lbmap_send: little-endian, the same on every machine.
 */
#ifndef LBM_API_STEPS_BYTES_H
#define LBM_API_STEPS_BYTES_H

#include "base/mem.h"

static inline void
lbm_put32(struct lbm_buf *buf, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    lbm_buf_put(buf, bytes, sizeof bytes);
}

static inline void
lbm_put64(struct lbm_buf *buf, uint64_t value)
{
    lbm_put32(buf, (uint32_t)value);
    lbm_put32(buf, (uint32_t)(value >> 32));
}

/* What is left of bytes that are being read; after the first lack of bytes everything reads as 0. */
struct lbm_reader {
    const uint8_t *at;
    size_t left;
    int failed;
};

/* The next len bytes, or NULL. */
static inline const uint8_t *
lbm_get_bytes(struct lbm_reader *reader, size_t len)
{
    const uint8_t *bytes = reader->at;
    if (reader->failed || len > reader->left) {
        reader->failed = 1;
        return NULL;
    }
    reader->at += len;
    reader->left -= len;
    return bytes;
}

static inline uint32_t
lbm_get32(struct lbm_reader *reader)
{
    const uint8_t *b = lbm_get_bytes(reader, 4);
    return b != NULL ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24 : 0;
}

static inline uint64_t
lbm_get64(struct lbm_reader *reader)
{
    uint64_t low = lbm_get32(reader);
    return low | (uint64_t)lbm_get32(reader) << 32;
}

#endif
