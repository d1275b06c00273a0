/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts in UTF-16, as spreadsheets and editors of Windows write them. */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "file/internal.h"

static uint32_t
unit_at(const unsigned char *bytes, int big)
{
    return big ? (uint32_t)bytes[0] << 8 | bytes[1] : (uint32_t)bytes[1] << 8 | bytes[0];
}

static void
put_character(struct lbm_buf *out, uint32_t c)
{
    unsigned char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6)
        bytes[i] = (unsigned char)(0x80 | (c & 0x3f));
    bytes[0] = (unsigned char)(lead[n] | c);
    lbm_buf_put(out, bytes, n);
}

int
lbm_file_is_utf16(const char *text, size_t len)
{
    return len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

enum lbm_err
lbm_file_from_utf16(const char *path, const char *text, size_t len, struct lbm_buf *out,
                    struct lbm_diag *diag)
{
    const unsigned char *bytes = (const unsigned char *)text;
    int big = bytes[0] == 0xfe;
    for (size_t i = 2; i < len;) {
        uint32_t c = i + 2 <= len ? unit_at(bytes + i, big) : 0xdc00;
        size_t step = 2;
        if (c >= 0xd800 && c < 0xdc00 && i + 4 <= len) {
            uint32_t low = unit_at(bytes + i + 2, big);
            c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
            step = 4;
        }
        if (c >= 0xd800 && c < 0xe000)
            return lbm_diag_set(diag, LBM_E_SYNTAX, path, 0, "not a text in UTF-16: byte %zu", i);
        put_character(out, c);
        i += step;
    }
    return out->failed ? lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for its text") : LBM_OK;
}
