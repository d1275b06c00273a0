/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/check.h"

#include <stddef.h>
#include <stdlib.h>

void (*lbm_assert_hook)(const char *expression, const char *file, int line);

_Noreturn void
lbm_assert_failed(const char *expression, const char *file, int line)
{
    if (lbm_assert_hook != NULL)
        lbm_assert_hook(expression, file, line);
    abort();
}
