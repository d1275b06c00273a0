/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/graph/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void
dress(struct lbm_graph *g, struct lbm_rng *rng)
{
    g->work = lbm_alloc(g->n, sizeof *g->work);
    g->position = lbm_alloc(2 * (size_t)g->n, sizeof *g->position);
    g->pin = lbm_alloc(g->n, sizeof *g->pin);
    assert_true(g->work != NULL && g->position != NULL && g->pin != NULL);
    for (size_t v = 0; v < g->n; v++) {
        g->work[v] = 2 + lbm_rng_below(rng, LBM_WEIGHT_MAX - 1);
        g->position[2 * v] = (lbm_rng_unit(rng) - 0.5) * 1e-3;
        g->position[2 * v + 1] = lbm_rng_unit(rng) * 1e17;
        g->pin[v] = v == 0 || lbm_rng_below(rng, 3) == 0 ? lbm_rng_below(rng, LBM_HOSTS_MAX) : LBM_NONE;
    }
}

struct lbm_graph
graph_random(uint32_t n, uint32_t m, int dressed, struct lbm_rng *rng)
{
    struct lbm_graph g;
    LBM_VEC(struct lbm_edge) edges = {0};
    for (uint32_t e = 0; n > 1 && e < m; e++) {
        struct lbm_edge edge = {lbm_rng_below(rng, n), lbm_rng_below(rng, n), 1};
        if (dressed)
            edge.weight = 2 + lbm_rng_below(rng, LBM_WEIGHT_MAX / 64);
        if (edge.u != edge.v)
            assert_int_equal(lbm_vec_push(&edges, edge), LBM_OK);
    }
    assert_int_equal(lbm_graph_build(n, edges.at, edges.n, LBM_MERGE_SUM, &g, NULL), LBM_OK);
    lbm_vec_free(&edges);
    if (!dressed) {
        free(g.weight); /* of edges that came twice */
        g.weight = NULL;
    } else if (n > 0) {
        dress(&g, rng);
    }
    return g;
}

void
assert_graph_equal(const struct lbm_graph *a, const struct lbm_graph *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->offset, b->offset, ((size_t)a->n + 1) * sizeof *a->offset);
    assert_memory_equal(a->target, b->target, lbm_graph_directions(a) * sizeof *a->target);
    for (uint64_t k = 0; k < lbm_graph_directions(a); k++)
        assert_int_equal(lbm_graph_weight(a, k), lbm_graph_weight(b, k));
}

int
graph_lists(const struct lbm_graph *g, uint32_t v, uint32_t u)
{
    for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++)
        if (g->target[k] == u)
            return 1;
    return 0;
}
