/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/sha256.h"

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t
rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void
schedule(const uint8_t block[64], uint32_t w[64])
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* One round: the eight words keep their places and change their parts, so that none is copied. */
static inline void
turn(uint32_t s[8], unsigned i, uint32_t more)
{
    const uint32_t a = s[(0 - i) % 8], b = s[(1 - i) % 8], c = s[(2 - i) % 8];
    const uint32_t e = s[(4 - i) % 8], f = s[(5 - i) % 8], g = s[(6 - i) % 8];
    uint32_t t1 =
        s[(7 - i) % 8] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + more;
    s[(3 - i) % 8] += t1;
    s[(7 - i) % 8] = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void
compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], s[8];
    schedule(block, w);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < 64; i += 8) {
        turn(s, 0, constants[i] + w[i]);
        turn(s, 1, constants[i + 1] + w[i + 1]);
        turn(s, 2, constants[i + 2] + w[i + 2]);
        turn(s, 3, constants[i + 3] + w[i + 3]);
        turn(s, 4, constants[i + 4] + w[i + 4]);
        turn(s, 5, constants[i + 5] + w[i + 5]);
        turn(s, 6, constants[i + 6] + w[i + 6]);
        turn(s, 7, constants[i + 7] + w[i + 7]);
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

void
lbm_sha256_init(struct lbm_sha256 *sha)
{
    *sha = (struct lbm_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                         0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void
lbm_sha256_add(struct lbm_sha256 *sha, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    size_t held = sha->len % 64;
    sha->len += len;
    if (held != 0) {
        size_t n = len < 64 - held ? len : 64 - held;
        memcpy(&sha->block[held], at, n);
        if (held + n < 64)
            return;
        compress(sha->state, sha->block);
        at += n;
        len -= n;
    }
    for (; len >= 64; at += 64, len -= 64)
        compress(sha->state, at);
    if (len != 0)
        memcpy(sha->block, at, len);
}

void
lbm_sha256_end(struct lbm_sha256 *sha, uint8_t digest[LBM_SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = sha->len * 8;
    uint8_t tail[8];
    for (size_t i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    lbm_sha256_add(sha, padding, 1 + (119 - sha->len % 64) % 64);
    lbm_sha256_add(sha, tail, sizeof tail);
    for (size_t i = 0; i < LBM_SHA256_BYTES; i++)
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}
