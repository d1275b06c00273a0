/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Lists whose numbers leave the program: on the wire, in the control log, on disk, in the installed
 * interface.
 *
 * Each row of such a list starts X(id, number, ...). The number is part of the format: it never changes and
 * is never used again for something else. A new row may stand anywhere in its list and takes the next free
 * number. tests/unit/base/test_numbers.c holds all of them by name. */
#ifndef LBM_BASE_NUMBERS_H
#define LBM_BASE_NUMBERS_H

#include <stdint.h>

/* The number of rows of a list: LIST(LBM_ROW_COUNT). */
#define LBM_ROW_COUNT(...) +1

/* A bit for each row: LIST(LBM_ROW_BIT). */
#define LBM_ROW_BIT(id, number, ...) | (UINT64_C(1) << (number))

/* The numbers of LIST are 0 to count - 1, each once: tables may be indexed by them. At most 63 rows. */
#define LBM_NUMBERS_FIT(LIST, count)                                                                         \
    _Static_assert((0 LIST(LBM_ROW_COUNT)) == (count), #LIST ": every row has one number");                  \
    _Static_assert((UINT64_C(0) LIST(LBM_ROW_BIT)) == (UINT64_C(1) << (count)) - 1,                          \
                   #LIST ": numbers are 0, 1, 2, ..., each used once")

#endif
