/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules by which two processors share quantized loads. */
#include "sim/tables/quantized.h"

/* RJK03 section 3: of an odd sum 2m + 1 the even one of m and m + 1 goes to the processor with bit 1. */
static void
share_oem(uint64_t *low, uint64_t *high)
{
    uint64_t sum = *low + *high, m = sum / 2;
    *low = sum % 2 == 0 || m % 2 == 1 ? m : m + 1;
    *high = sum - *low;
}

/* RJK03 section 2: the larger load keeps the odd unit. */
static void
share_dem(uint64_t *low, uint64_t *high)
{
    uint64_t sum = *low + *high;
    *low = *low >= *high ? sum - sum / 2 : sum / 2;
    *high = sum - *low;
}

/* What Table 1 was computed with: a difference of 1 stays, else the larger sends ceil(difference / 2). */
static void
share_dem_table(uint64_t *low, uint64_t *high)
{
    uint64_t *larger = *low >= *high ? low : high, *smaller = *low >= *high ? high : low;
    uint64_t difference = *larger - *smaller, sent = difference <= 1 ? 0 : (difference + 1) / 2;
    *larger -= sent;
    *smaller += sent;
}

void
quantized_share(enum quantized_rule rule, uint64_t *low, uint64_t *high)
{
    static void (*const shares[])(uint64_t * low, uint64_t * high) = {
        [OEM] = share_oem, [DEM] = share_dem, [DEM_TABLE] = share_dem_table};
    shares[rule](low, high);
}

void
quantized_balance(enum quantized_rule rule, uint32_t n, uint64_t *load)
{
    for (uint32_t bit = 1; bit < n; bit *= 2)
        for (uint32_t p = 0; p < n; p++)
            if ((p & bit) == 0)
                quantized_share(rule, &load[p], &load[p | bit]);
}

uint64_t
quantized_spread(uint32_t n, const uint64_t *load)
{
    uint64_t least = load[0], largest = load[0];
    for (uint32_t p = 1; p < n; p++) {
        least = load[p] < least ? load[p] : least;
        largest = load[p] > largest ? load[p] : largest;
    }
    return largest - least;
}
