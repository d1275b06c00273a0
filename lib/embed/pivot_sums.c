/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coordinates by pivots (Brandes and Pich 2007) from sums over parts of a graph: classical scaling needs the
 * second moments of the double-centred squared distances, and nothing else of other parts. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "embed/embed.h"
#include "embed/main_axis.h"

/* A variance below this part of the first one is none. */
static const double SPAN_LEAST = 1e-9;

/* Squared distances less their mean. Pivots that were not reached are as far as the farthest that was. */
static void
centre_row(const uint16_t *hops, double row[LBM_PIVOTS])
{
    double farthest = 0, sum = 0;
    for (int i = 0; i < LBM_PIVOTS; i++)
        if (hops[i] != LBM_PIVOT_UNREACHED && hops[i] > farthest)
            farthest = hops[i];
    for (int i = 0; i < LBM_PIVOTS; i++) {
        double hop = hops[i] != LBM_PIVOT_UNREACHED ? hops[i] : farthest;
        row[i] = hop * hop;
        sum += row[i];
    }
    for (int i = 0; i < LBM_PIVOTS; i++)
        row[i] -= sum / LBM_PIVOTS;
}

void
lbm_pivot_sums_add(uint32_t n, const uint16_t *hops, const uint32_t *work, double sums[LBM_PIVOT_SUMS])
{
    double row[LBM_PIVOTS];
    for (uint32_t v = 0; v < n; v++) {
        double w = work != NULL ? work[v] : 1, *to = &sums[1 + LBM_PIVOTS];
        centre_row(&hops[(size_t)v * LBM_PIVOTS], row);
        sums[0] += w;
        for (int i = 0; i < LBM_PIVOTS; i++) {
            sums[1 + i] += w * row[i];
            for (int j = 0; j <= i; j++)
                *to++ += w * row[i] * row[j];
        }
    }
}

enum lbm_err
lbm_pivot_sums_solve(const double sums[LBM_PIVOT_SUMS], unsigned m, struct lbm_pivot_map *out)
{
    double s[LBM_PIVOTS * LBM_PIVOTS], axis[3 * LBM_PIVOTS], scratch[LBM_PIVOTS], first = 0;
    const double *from = &sums[1 + LBM_PIVOTS];
    struct lbm_pivot_map map = {.m = m};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    if (!(sums[0] > 0))
        return LBM_E_STATE;
    for (int i = 0; i < LBM_PIVOTS; i++)
        map.mean[i] = sums[1 + i] / sums[0];
    for (int i = 0; i < LBM_PIVOTS; i++)
        for (int j = 0; j <= i; j++)
            s[i * LBM_PIVOTS + j] = s[j * LBM_PIVOTS + i] = *from++ / sums[0] - map.mean[i] * map.mean[j];
    for (unsigned q = 0; q < m; q++) {
        double variance = lbm_main_axis(s, LBM_PIVOTS, q, axis, scratch, &rng);
        first = q == 0 ? variance : first;
        if (!(variance > SPAN_LEAST * first) || !(variance > 0))
            return LBM_E_STATE;
        for (int i = 0; i < LBM_PIVOTS; i++)
            map.axis[q][i] = axis[q * LBM_PIVOTS + (unsigned)i] / sqrt(12 * variance);
    }
    *out = map;
    return LBM_OK;
}

void
lbm_pivot_place(const struct lbm_pivot_map *map, const uint16_t *hops, double *x)
{
    double row[LBM_PIVOTS];
    centre_row(hops, row);
    for (unsigned q = 0; q < map->m; q++) {
        x[q] = 0.5;
        for (int i = 0; i < LBM_PIVOTS; i++)
            x[q] += map->axis[q][i] * (row[i] - map->mean[i]);
    }
}
