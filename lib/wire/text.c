/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stddef.h>
#include <stdint.h>

#include "wire/check.h"

/* Length of the UTF-8 sequence at s (left bytes), its scalar value in *value; 0 if there is none.
 * Overlong forms and surrogates are none. */
static size_t
sequence(const uint8_t *s, size_t left, uint32_t *value)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t extra = 0; extra < sizeof forms / sizeof *forms; extra++) {
        if ((s[0] & forms[extra].mask) != forms[extra].lead)
            continue;
        if (left <= extra)
            return 0;
        uint32_t v = s[0] & (uint8_t)~forms[extra].mask;
        for (size_t i = 1; i <= extra; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return 0;
            v = v << 6 | (s[i] & 0x3f);
        }
        *value = v;
        int valid = v >= forms[extra].least && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff);
        return valid ? extra + 1 : 0;
    }
    return 0;
}

int
lbm_wire_text_clean(const char *text, size_t len)
{
    const uint8_t *s = (const uint8_t *)text;
    for (size_t at = 0; at < len;) {
        uint32_t value = 0;
        size_t step = sequence(s + at, len - at, &value);
        if (step == 0 || value < 0x20 || (value >= 0x7f && value <= 0x9f))
            return 0;
        at += step;
    }
    return 1;
}
