/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 fig. 9: random edges of the guest give a vertex from the fuller of two regions to the other. Which
 * one gives is decided by the policy edge-remap of lib/balance; as printed the second branch moves v1, which
 * is not in r2: it must read Remap(v2, r2, r1). */
#include <math.h>

#include "balance/policy.h"
#include "map/map.h"

static int
is_out(const struct lbm_edge_remap *r, uint32_t p)
{
    return fabs((double)r->load[p] - r->target[p]) > r->tolerance;
}

void
lbm_edge_remap_start(struct lbm_edge_remap *r, uint32_t n_hosts)
{
    r->out = 0;
    for (uint32_t p = 0; p < n_hosts; p++)
        r->out += (uint32_t)is_out(r, p);
}

/* The vertex whose row holds direction e. */
static uint32_t
row_of(const struct lbm_graph *g, uint64_t e)
{
    uint32_t lo = 0, hi = g->n;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->offset[mid] <= e)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void
remap(struct lbm_edge_remap *r, uint32_t v, uint32_t to)
{
    const struct lbm_graph *g = r->g;
    uint32_t from = r->part[v], work = lbm_graph_work(g, v);
    if (from == to || (g->pin != NULL && g->pin[v] != LBM_NONE))
        return;
    r->out -= (uint32_t)is_out(r, from) + (uint32_t)is_out(r, to);
    r->part[v] = to;
    r->load[from] -= work;
    r->load[to] += work;
    r->out += (uint32_t)is_out(r, from) + (uint32_t)is_out(r, to);
}

void
lbm_edge_remap_draw(struct lbm_edge_remap *r, struct lbm_rng *rng)
{
    static const struct lbm_rule rule = {.policy = LBM_POLICY_EDGE_REMAP};
    uint64_t e = (uint64_t)(lbm_rng_unit(rng) * (double)lbm_graph_directions(r->g));
    uint32_t v1 = row_of(r->g, e), v2 = r->g->target[e], r1 = r->part[v1], r2 = r->part[v2];
    if (r1 == r2)
        return;
    const struct lbm_ends ends = {.load_p = (double)r->load[r1],
                                  .load_q = (double)r->load[r2],
                                  .share_p = r->target[r1],
                                  .share_q = r->target[r2]};
    double unit = lbm_rule_flow(&rule, 1, NULL, &ends);
    if (unit > 0.0)
        remap(r, v1, r2);
    else if (unit < 0.0)
        remap(r, v2, r1);
}
