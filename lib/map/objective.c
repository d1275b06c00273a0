/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map/internal.h"

int64_t
mapping_away(const struct mapping *m)
{
    int64_t away = 0;
    for (uint32_t v = 0; m->current != NULL && v < m->g->n; v++)
        if (m->current[v] != LBM_NONE && m->current[v] != m->part[v])
            away += m->stay[v];
    return away;
}

uint64_t
mapping_excess(const struct mapping *m, const uint64_t *load)
{
    uint64_t excess = lbm_map_excess(m->h->n, load, m->limit);
    for (uint32_t p = 0; m->least != NULL && p < m->h->n; p++)
        excess += load[p] < m->least[p] ? m->least[p] - load[p] : 0;
    return excess;
}

struct objective
mapping_objective(const struct mapping *m, uint64_t *load)
{
    lbm_map_loads(m->g, m->h->n, m->part, load);
    struct objective objective = {mapping_excess(m, load), lbm_map_hop_bytes(m->g, m->h, m->part)};
    if (m->current == NULL)
        return objective;
    objective.hop_bytes *= LBM_PAIR_PRICE_PARTS;
    objective.hop_bytes += (uint64_t)mapping_price(m, mapping_away(m));
    return objective;
}

int
objective_less(const struct objective *a, const struct objective *b)
{
    return a->excess != b->excess ? a->excess < b->excess : a->hop_bytes < b->hop_bytes;
}
