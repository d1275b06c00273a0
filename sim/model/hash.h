/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashes of traces: equal for equal bytes on every machine, fast on messages. Not for hostile input. */
#ifndef LBM_SIM_MODEL_HASH_H
#define LBM_SIM_MODEL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mix a number into a hash (the finalizer of splitmix64). */
static inline uint64_t
hash_number(uint64_t hash, uint64_t number)
{
    uint64_t z = hash + number * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x632be59bd9b4e019);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Eight bytes a step, little-endian whatever the machine. */
static inline uint64_t
hash_bytes(uint64_t hash, const uint8_t *at, size_t len)
{
    hash = hash_number(hash, len);
    for (; len > 0;) {
        uint64_t word = 0;
        size_t n = len < 8 ? len : 8;
        for (size_t i = 0; i < n; i++)
            word |= (uint64_t)at[i] << (8 * i);
        hash = hash_number(hash, word);
        at += n;
        len -= n;
    }
    return hash;
}

#endif
