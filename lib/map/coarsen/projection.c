/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings from one level to the next. */
#include "map/internal.h"

uint64_t
map_cluster_work(const struct lbm_graph *g, uint32_t target)
{
    uint64_t work = lbm_graph_total_work(g) * 3 / 2 / target;
    if (work < 2)
        return 2;
    return work < LBM_WEIGHT_MAX ? work : LBM_WEIGHT_MAX; /* a coarse vertex is a vertex */
}

void
map_restrict(const uint32_t *parent, uint32_t n_fine, const uint32_t *fine, uint32_t *coarse)
{
    for (uint32_t v = 0; v < n_fine; v++)
        coarse[parent[v]] = fine[v];
}

void
map_prolong(const uint32_t *parent, uint32_t n_fine, const uint32_t *coarse, uint32_t *fine)
{
    for (uint32_t v = 0; v < n_fine; v++)
        fine[v] = coarse[parent[v]];
}
