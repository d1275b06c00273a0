/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int (*lbm_alloc_fails)(void);

static int
fails(void)
{
    return lbm_alloc_fails != NULL && lbm_alloc_fails();
}

void *
lbm_alloc(size_t count, size_t size)
{
    if (fails())
        return NULL;
    return calloc(count != 0 ? count : 1, size != 0 ? size : 1);
}

void *
lbm_copy(const void *from, size_t count, size_t size)
{
    void *to = fails() ? NULL : reallocarray(NULL, count != 0 ? count : 1, size);
    if (to != NULL && count != 0)
        memcpy(to, from, count * size);
    return to;
}

enum lbm_err
lbm_reserve(void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return LBM_OK;
    size_t grown = *capacity < 8 ? 8 : *capacity;
    while (grown < need) {
        if (grown > SIZE_MAX / 2)
            return LBM_E_NOMEM;
        grown *= 2;
    }
    void *old, *array;
    memcpy(&old, array_pointer, sizeof old);
    array = fails() ? NULL : reallocarray(old, grown, size);
    if (array == NULL)
        return LBM_E_NOMEM;
    memcpy(array_pointer, &array, sizeof array);
    *capacity = grown;
    return LBM_OK;
}

int
lbm_give_back(void *array_pointer, size_t *capacity, size_t n, size_t size)
{
    size_t least = n < 4 ? 8 : 2 * n;
    if (*capacity / 4 <= n || *capacity <= least)
        return 0;
    void *old, *array;
    memcpy(&old, array_pointer, sizeof old);
    array = reallocarray(old, least, size);
    if (array == NULL)
        return 0;
    memcpy(array_pointer, &array, sizeof array);
    *capacity = least;
    return 1;
}

static int
buf_room(struct lbm_buf *buf, size_t extra)
{
    if (buf->failed)
        return 0;
    if (extra >= SIZE_MAX - buf->len ||
        lbm_reserve(&buf->at, &buf->capacity, buf->len + extra + 1, 1) != LBM_OK) {
        buf->failed = 1;
        return 0;
    }
    return 1;
}

void
lbm_buf_put(struct lbm_buf *buf, const void *bytes, size_t len)
{
    if (!buf_room(buf, len))
        return;
    if (len != 0)
        memcpy(buf->at + buf->len, bytes, len);
    buf->len += len;
    buf->at[buf->len] = '\0';
}

void
lbm_buf_printf(struct lbm_buf *buf, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len >= 0 && buf_room(buf, (size_t)len)) {
        vsnprintf(buf->at + buf->len, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void
lbm_buf_u64(struct lbm_buf *buf, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    lbm_buf_put(buf, digits + at, sizeof digits - at);
}

void
lbm_buf_free(struct lbm_buf *buf)
{
    free(buf->at);
    *buf = (struct lbm_buf){0};
}
