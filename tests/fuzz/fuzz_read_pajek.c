/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read.h"

int
fuzz_read_pajek(const uint8_t *data, size_t size)
{
    return fuzz_read(LBM_FORMAT_PAJEK, data, size);
}
