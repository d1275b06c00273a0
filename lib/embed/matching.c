/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heavy-edge matching. Greedy in random order: it needs no rounds, and a vertex looks at its
 * neighbours once. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/coarsen.h"
#include "embed/order.h"

/* Equal ratings are decided by chance: a rating counts for up to so much more. */
static const double TIE = 1e-3;

struct matching {
    const struct lbm_graph *g;
    const uint32_t *part;
    uint64_t max_work;
    uint32_t *mate; /* [n] LBM_NONE: not visited and free */
};

static inline int
fits(const struct matching *m, uint32_t u, uint32_t v)
{
    if (m->part != NULL && m->part[u] != m->part[v])
        return 0;
    if (m->g->pin != NULL && m->g->pin[u] != m->g->pin[v])
        return 0;
    return (uint64_t)lbm_graph_work(m->g, u) + lbm_graph_work(m->g, v) <= m->max_work;
}

/* The free neighbour of the highest rating, or v itself. The work of v is the same in all its ratings. */
static uint32_t
best_neighbour(const struct matching *m, uint32_t v, struct lbm_rng *rng)
{
    const struct lbm_graph *g = m->g;
    uint32_t best = v;
    double most = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e];
        if (m->mate[u] != LBM_NONE || !fits(m, u, v))
            continue;
        double w = lbm_graph_weight(g, e);
        double rating = w * w / lbm_graph_work(g, u) * (1 + TIE * lbm_rng_unit(rng));
        if (rating > most) {
            most = rating;
            best = u;
        }
    }
    return best;
}

/* The order is random over the whole graph: by blocks it is faster, but plans come out 1 % dearer. */
static enum lbm_err
match_neighbours(const struct matching *m, struct lbm_rng *rng)
{
    struct lbm_sweep_order order;
    enum lbm_err err = lbm_order_open(&order, LBM_ORDER_PERMUTATION, m->g->n);
    if (err != LBM_OK)
        return err;
    memset(m->mate, 0xff, m->g->n * sizeof *m->mate);
    lbm_order_shuffle(&order, rng);
    for (uint32_t count; (count = lbm_order_next(&order, rng)) != 0;)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = order.batch[i];
            if (m->mate[v] != LBM_NONE)
                continue;
            uint32_t u = best_neighbour(m, v, rng);
            m->mate[v] = u;
            m->mate[u] = v;
        }
    lbm_order_close(&order);
    return LBM_OK;
}

/* The neighbour over the heaviest edge; n for an isolated vertex. */
static uint32_t
heaviest_neighbour(const struct lbm_graph *g, uint32_t v)
{
    uint32_t hub = g->n, most = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
        if (lbm_graph_weight(g, e) > most) {
            most = lbm_graph_weight(g, e);
            hub = g->target[e];
        }
    return hub;
}

/* Pair what is alone two hops apart, or the leaves of stars and trees would never become fewer. */
static enum lbm_err
match_leaves(const struct matching *m)
{
    const struct lbm_graph *g = m->g;
    uint32_t *waiting = lbm_alloc((size_t)g->n + 1, sizeof *waiting); /* at each hub: who is alone there */
    if (waiting == NULL)
        return LBM_E_NOMEM;
    memset(waiting, 0xff, ((size_t)g->n + 1) * sizeof *waiting);
    for (uint32_t v = 0; v < g->n; v++) {
        if (m->mate[v] != v)
            continue;
        uint32_t hub = heaviest_neighbour(g, v), u = waiting[hub];
        if (u != LBM_NONE && fits(m, u, v)) {
            m->mate[u] = v;
            m->mate[v] = u;
            waiting[hub] = LBM_NONE;
        } else {
            waiting[hub] = v;
        }
    }
    free(waiting);
    return LBM_OK;
}

enum lbm_err
lbm_matching_find(const struct lbm_graph *g, const uint32_t *part, uint64_t max_work, struct lbm_rng *rng,
                  uint32_t *mate)
{
    struct matching m = {.g = g, .part = part, .mate = mate};
    m.max_work = max_work < LBM_WEIGHT_MAX ? max_work : LBM_WEIGHT_MAX;
    enum lbm_err err = match_neighbours(&m, rng);
    return err == LBM_OK ? match_leaves(&m) : err;
}

uint32_t
lbm_matching_number(uint32_t n, const uint32_t *mate, uint32_t *parent)
{
    uint32_t n_coarse = 0;
    for (uint32_t v = 0; v < n; v++)
        parent[v] = mate[v] < v ? parent[mate[v]] : n_coarse++;
    return n_coarse;
}
