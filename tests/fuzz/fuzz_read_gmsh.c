/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read.h"

int
fuzz_read_gmsh(const uint8_t *data, size_t size)
{
    return fuzz_read(LBM_FORMAT_GMSH, data, size);
}
