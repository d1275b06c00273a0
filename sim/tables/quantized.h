/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules by which two processors share quantized loads, tabulated for small loads.
 * Source: RJK03 sections 2 and 3. */
#ifndef LBM_SIM_TABLES_QUANTIZED_H
#define LBM_SIM_TABLES_QUANTIZED_H

#include <stdint.h>

enum quantized_rule { OEM, DEM, DEM_TABLE };

/* Balance two loads; the processor of `low` has the dimension's bit 0, that of `high` has it 1. */
void quantized_share(enum quantized_rule rule, uint64_t *low, uint64_t *high);

/* Balance a hypercube of n = 2^d loads, dimensions from low to high. */
void quantized_balance(enum quantized_rule rule, uint32_t n, uint64_t *load);

uint64_t quantized_spread(uint32_t n, const uint64_t *load); /* largest minus least */

#endif
