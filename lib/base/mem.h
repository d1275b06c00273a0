/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Memory: overflow-checked allocation, growable arrays, growable text. */
#ifndef LBM_BASE_MEM_H
#define LBM_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Asked before every allocation of this file: nonzero makes it fail. Set by tests alone; NULL: none fails. */
extern int (*lbm_alloc_fails)(void);

/* Zeroed array of count elements; NULL if memory is short or count * size overflows. count 0 gives a
 * valid pointer.  Free with free(). */
void *lbm_alloc(size_t count, size_t size);

/* Copy of count elements; NULL if memory is short. */
void *lbm_copy(const void *from, size_t count, size_t size);

/* Make room for at least `need` elements in a growable array, doubling its capacity.
 * In/out: *array and *capacity.  Errors: LBM_E_NOMEM, both unchanged. */
enum lbm_err lbm_reserve(void *array_pointer, size_t *capacity, size_t need, size_t size) LBM_MUST_CHECK;

/* Give back what a growable array of n elements has no use for, if they take less than a quarter of it.
 * In/out: *array and *capacity. Nonzero if there was so much. */
int lbm_give_back(void *array_pointer, size_t *capacity, size_t n, size_t size);

/* A growable array: LBM_VEC(uint32_t) ids = {0}; lbm_vec_push(&ids, 7); ids.at[0]; free(ids.at). */
#define LBM_VEC(type)                                                                                        \
    struct {                                                                                                 \
        type *at;                                                                                            \
        size_t n;                                                                                            \
        size_t capacity;                                                                                     \
    }

/* Make room for `extra` more elements. Value: enum lbm_err. */
#define lbm_vec_reserve(v, extra) lbm_reserve(&(v)->at, &(v)->capacity, (v)->n + (extra), sizeof *(v)->at)

/* Append one element. Value: enum lbm_err. */
#define lbm_vec_push(v, value)                                                                               \
    (lbm_vec_reserve((v), 1) == LBM_OK ? ((v)->at[(v)->n++] = (value), LBM_OK) : LBM_E_NOMEM)

/* Give back room that is not used. Value: nonzero if there was much. */
#define lbm_vec_give_back(v) lbm_give_back(&(v)->at, &(v)->capacity, (v)->n, sizeof *(v)->at)

#define lbm_vec_free(v) (free((v)->at), (v)->at = NULL, (v)->n = (v)->capacity = 0)

/* Growable bytes or text. After an allocation fails, `failed` is set and further appends do nothing,
 * so a writer checks once at the end. The text is always terminated (the terminator is not in len). */
struct lbm_buf {
    char *at;
    size_t len;
    size_t capacity;
    int failed;
};

void lbm_buf_put(struct lbm_buf *buf, const void *bytes, size_t len);
void lbm_buf_printf(struct lbm_buf *buf, const char *fmt, ...) LBM_PRINTF(2, 3);
void lbm_buf_u64(struct lbm_buf *buf, uint64_t value); /* decimal, fast */
void lbm_buf_free(struct lbm_buf *buf);

#endif
