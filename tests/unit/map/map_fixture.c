/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/map/map_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"

struct lbm_graph
map_guest(uint32_t n, uint32_t m, uint32_t heaviest, uint32_t hardest, struct lbm_rng *rng)
{
    struct lbm_graph g;
    LBM_VEC(struct lbm_edge) edges = {0};
    for (uint32_t e = 0; n > 1 && e < m; e++) {
        struct lbm_edge edge = {lbm_rng_below(rng, n), lbm_rng_below(rng, n),
                                1 + lbm_rng_below(rng, heaviest)};
        if (edge.u != edge.v)
            assert_int_equal(lbm_vec_push(&edges, edge), LBM_OK);
    }
    assert_int_equal(lbm_graph_build(n, edges.at, edges.n, LBM_MERGE_SUM, &g, NULL), LBM_OK);
    lbm_vec_free(&edges);
    if (hardest > 1) {
        g.work = lbm_alloc(n, sizeof *g.work);
        assert_non_null(g.work);
        for (uint32_t v = 0; v < n; v++)
            g.work[v] = 1 + lbm_rng_below(rng, hardest);
    }
    return g;
}

struct lbm_graph
map_guest_by_spec(const char *spec)
{
    struct lbm_graph g;
    assert_int_equal(lbm_graph_generate(spec, 1, &g, NULL), LBM_OK);
    return g;
}

struct lbm_hosts
map_hosts(const char *spec)
{
    struct lbm_hosts h;
    assert_int_equal(lbm_hosts_generate(spec, &h, NULL), LBM_OK);
    return h;
}

/* A ring with two chords, one of them costly, and unequal capacities. */
static struct lbm_hosts
uneven_hosts(void)
{
    static const struct lbm_link links[] = {{0, 1, 1}, {1, 2, 3}, {2, 3, 1}, {3, 4, 1},
                                            {4, 5, 2}, {0, 5, 1}, {1, 4, 1}, {2, 5, 40}};
    static const double capacity[] = {1, 2, 0.5, 1, 3, 1};
    struct lbm_hosts h;
    assert_int_equal(lbm_hosts_build(6, links, sizeof links / sizeof *links, capacity, 2, NULL, &h, NULL),
                     LBM_OK);
    return h;
}

struct lbm_hosts
map_hosts_some(unsigned i)
{
    static const char *const specs[MAP_HOSTS_SOME - 1] = {"chain:1",     "chain:2",    "mesh:4x4",
                                                          "torus:3x5",   "star:7",     "ring:9",
                                                          "hypercube:4", "complete:5", "mesh:2x3x4"};
    assert_true(i < MAP_HOSTS_SOME);
    return i + 1 == MAP_HOSTS_SOME ? uneven_hosts() : map_hosts(specs[i]);
}

uint32_t *
map_chunk(const struct lbm_graph *g, uint32_t n_hosts, struct lbm_rng *rng)
{
    uint32_t *part = lbm_alloc(g->n, sizeof *part);
    assert_non_null(part);
    for (uint32_t v = 0; v < g->n; v++)
        part[v] = lbm_rng_below(rng, n_hosts);
    return part;
}

void
map_pin_some(struct lbm_graph *g, const uint32_t *part, uint32_t rarity, struct lbm_rng *rng)
{
    g->pin = lbm_alloc(g->n, sizeof *g->pin);
    assert_non_null(g->pin);
    for (uint32_t v = 0; v < g->n; v++)
        g->pin[v] = lbm_rng_below(rng, rarity) == 0 ? part[v] : LBM_NONE;
}

uint64_t
map_excess_of(const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part, const uint64_t *limit)
{
    uint64_t *load = lbm_alloc(n_hosts, sizeof *load);
    assert_non_null(load);
    lbm_map_loads(g, n_hosts, part, load);
    uint64_t excess = lbm_map_excess(n_hosts, load, limit);
    free(load);
    return excess;
}
