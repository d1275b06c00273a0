/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every table there is. */
#include "papers/papers.h"

const struct table tables[] = {
#define TABLE_ROW(function, name, source, text) {name, source, text, function},
    TABLE_LIST(TABLE_ROW)
#undef TABLE_ROW
        {NULL, NULL, NULL, NULL},
};
