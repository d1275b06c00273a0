/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a remapping moves, how much of that it had to, and what moving is worth. */
#include <stdlib.h>

#include "base/mem.h"
#include "map/map.h"

static int
is_pinned(const struct lbm_graph *g, uint32_t v)
{
    return g->pin != NULL && g->pin[v] != LBM_NONE;
}

enum lbm_err
lbm_map_migration(const struct lbm_graph *g, uint32_t n_hosts, const uint64_t *limit, const uint32_t *before,
                  const uint32_t *after, struct lbm_migration *out)
{
    struct lbm_migration sum = {0};
    uint64_t *load = lbm_alloc(n_hosts, sizeof *load);
    if (load == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t work = lbm_graph_work(g, v);
        int must = before[v] == LBM_NONE || (is_pinned(g, v) && g->pin[v] != before[v]);
        sum.vertices += before[v] != after[v];
        sum.work += before[v] != after[v] ? work : 0;
        sum.unavoidable += must ? work : 0;
        if (!must)
            load[before[v]] += work;
    }
    for (uint32_t p = 0; p < n_hosts; p++)
        sum.unavoidable += load[p] > limit[p] ? load[p] - limit[p] : 0;
    free(load);
    *out = sum;
    return LBM_OK;
}
