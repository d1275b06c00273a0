/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables that registry.c lists: one function each, beside the numbers that the paper prints. */
#ifndef LBM_SIM_TABLES_PAPERS_H
#define LBM_SIM_TABLES_PAPERS_H

#include "sim/tables/table.h"

#define TABLE_LIST(X)                                                                                        \
    X(xl95_table_2, "xl95-table-2", "XL95 Table II", "sweeps by lambda, even networks")                      \
    X(xl95_table_3, "xl95-table-3", "XL95 Table III", "sweeps by lambda, odd networks")                      \
    X(xl95_table_4, "xl95-table-4", "XL95 Table IV", "improvement by the optimal lambda, rings")             \
    X(xl95_table_5, "xl95-table-5", "XL95 Table V", "improvement by the optimal lambda, tori")               \
    X(xl95_table_6, "xl95-table-6", "XL95 Table VI", "improvement by the optimal lambda, chains")            \
    X(xl95_table_7, "xl95-table-7", "XL95 Table VII", "improvement by the optimal lambda, meshes")

#define TABLE_FUNCTION(function, name, source, text) void function(struct table_run *t);
TABLE_LIST(TABLE_FUNCTION)
#undef TABLE_FUNCTION

#endif
