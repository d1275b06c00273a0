/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums, so that a damaged file is told from the one that was written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "file/file.h"

uint32_t
lbm_checksum(uint32_t before, const void *bytes, size_t len)
{
    return len != 0 ? (uint32_t)crc32_z(before, bytes, len) : before;
}

enum lbm_err
lbm_file_checksum(const char *path, uint32_t *out, struct lbm_diag *diag)
{
    FILE *file = fopen(path, "rb");
    unsigned char block[1 << 16];
    if (file == NULL)
        return lbm_diag_set(diag, errno == ENOENT ? LBM_E_NOTFOUND : LBM_E_IO, path, 0, "%s",
                            strerror(errno));
    *out = 0;
    for (size_t n; (n = fread(block, 1, sizeof block, file)) != 0;)
        *out = lbm_checksum(*out, block, n);
    int failed = ferror(file);
    fclose(file);
    return failed ? lbm_diag_set(diag, LBM_E_IO, path, 0, "cannot be read") : LBM_OK;
}
