/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs from specs and links: topologies, routing, edge colours. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "host/host.h"
#include "tests/unit/host/hosts_fixture.h"

/* ---- helpers ------------------------------------------------------------------------------------- */

static uint32_t
degree(const struct lbm_hosts *h)
{
    uint32_t most = 0;
    for (uint32_t p = 0; p < h->n; p++)
        if (h->offset[p + 1] - h->offset[p] > most)
            most = h->offset[p + 1] - h->offset[p];
    return most;
}

/* Rows sorted, without loops and duplicates, each link in both directions at one cost. */
static void
check_rows(const struct lbm_hosts *h)
{
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            uint32_t q = h->target[i], back = h->offset[q];
            assert_true(q < h->n && q != p && h->cost[i] >= 1);
            assert_true(i == h->offset[p] || h->target[i - 1] < q);
            while (back < h->offset[q + 1] && h->target[back] != p)
                back++;
            assert_true(back < h->offset[q + 1] && h->cost[back] == h->cost[i]);
        }
}

/* Distances by Floyd and Warshall, which share nothing with Dijkstra or breadth first. */
static void
check_distances(const struct lbm_hosts *h)
{
    uint32_t n = h->n;
    uint64_t *d = lbm_alloc((size_t)n * n, sizeof *d);
    assert_non_null(d);
    for (size_t i = 0; i < (size_t)n * n; i++)
        d[i] = i / n == i % n ? 0 : UINT32_MAX;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            d[(size_t)p * n + h->target[i]] = h->cost[i];
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = 0; q < n; q++) {
                uint64_t way = d[(size_t)p * n + r] + d[(size_t)r * n + q];
                if (way < d[(size_t)p * n + q])
                    d[(size_t)p * n + q] = way;
            }
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < n; q++)
            assert_int_equal(lbm_dist(h, p, q), d[(size_t)p * n + q]);
    free(d);
}

/* Returns the number of colours. */
static uint32_t
check_colours(const struct lbm_hosts *h)
{
    uint32_t *colour = lbm_alloc(h->offset[h->n], sizeof *colour);
    assert_non_null(colour);
    uint32_t n = lbm_hosts_colour(h, colour);
    assert_proper_colours(h, colour, n);
    free(colour);
    return n;
}

/* ---- specs --------------------------------------------------------------------------------------- */

static const struct {
    const char *spec;
    uint32_t n, links, colours, diameter;
    unsigned m;
} specs[] = {
    {"chain:1", 1, 0, 0, 0, 2},       {"chain:2", 2, 1, 1, 1, 2},        {"chain:7", 7, 6, 2, 6, 2},
    {"ring:1", 1, 0, 0, 0, 2},        {"ring:2", 2, 1, 1, 1, 2},         {"ring:3", 3, 3, 3, 1, 2},
    {"ring:8", 8, 8, 2, 4, 2},        {"ring:9", 9, 9, 3, 4, 2},         {"mesh:1x1", 1, 0, 0, 0, 2},
    {"mesh:4x4", 16, 24, 4, 6, 2},    {"mesh:5x3", 15, 22, 4, 6, 2},     {"mesh:3x4x2", 24, 46, 5, 6, 3},
    {"mesh:4x4x1", 16, 24, 4, 6, 2},  {"torus:4x4", 16, 32, 4, 4, 2},    {"torus:2x5", 10, 15, 4, 3, 2},
    {"torus:3x3x3", 27, 81, 9, 3, 3}, {"hypercube:0", 1, 0, 0, 0, 2},    {"hypercube:1", 2, 1, 1, 1, 2},
    {"hypercube:5", 32, 80, 5, 5, 2}, {"hypercube:6", 64, 192, 6, 6, 3}, {"star:1", 1, 0, 0, 0, 2},
    {"star:9", 9, 8, 8, 2, 2},        {"complete:1", 1, 0, 0, 0, 2},     {"complete:2", 2, 1, 1, 1, 2},
    {"complete:7", 7, 21, 7, 1, 2},   {"complete:8", 8, 28, 7, 1, 2},    {"tree:0,5", 1, 0, 0, 0, 2},
    {"tree:3,2", 15, 14, 3, 6, 2},    {"tree:5,1", 6, 5, 2, 5, 2},       {"hier:1/7", 1, 0, 0, 0, 2},
};

static void
specs_give_the_hosts_links_colours_and_diameter_they_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct lbm_hosts h = make_hosts(specs[i].spec);
        assert_int_equal(h.n, specs[i].n);
        assert_int_equal(h.offset[h.n], 2 * specs[i].links);
        assert_int_equal(h.m, specs[i].m);
        assert_int_equal(lbm_hosts_diameter_hops(&h), specs[i].diameter);
        assert_int_equal(check_colours(&h), specs[i].colours);
        for (uint32_t p = 0; p < h.n; p++)
            assert_true(h.capacity[p] == 1.0);
        check_rows(&h);
        check_distances(&h);
        assert_sites_in_the_box(&h);
        assert_sites_differ(&h);
        lbm_hosts_free(&h);
    }
}

static const struct {
    const char *spec;
    enum lbm_err err;
    const char *says;
} wrong_specs[] = {
    {"", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:4", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:4x", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:x4", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:4x4 ", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh: 4x4", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:4X4", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:4x4x4x4", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"mesh:0x4", LBM_E_RANGE, "mesh:AxB[xC]"},
    {"mesh:91x91", LBM_E_LIMIT, "8192"},
    {"mesh:65536x65536", LBM_E_LIMIT, "8192"},
    {"mesh:4294967296x1", LBM_E_LIMIT, "mesh:AxB[xC]"},
    {"mesh:99999999999999999999999x1", LBM_E_LIMIT, "mesh:AxB[xC]"},
    {"Mesh:4x4", LBM_E_SYNTAX, "mesh:AxB[xC]"},
    {"meshy:4x4", LBM_E_SYNTAX, "no such topology"},
    {"torus:-1x3", LBM_E_SYNTAX, "torus:AxB[xC]"},
    {"torus:3", LBM_E_SYNTAX, "torus:AxB[xC]"},
    {"ring:4x4", LBM_E_SYNTAX, "ring:N"},
    {"chain:0", LBM_E_RANGE, "chain:N"},
    {"chain:8193", LBM_E_LIMIT, "8192"},
    {"hypercube:14", LBM_E_LIMIT, "hypercube:D"},
    {"hypercube:99", LBM_E_LIMIT, "hypercube:D"},
    {"complete:2049", LBM_E_LIMIT, "2097152 links"},
    {"star:0", LBM_E_RANGE, "star:N"},
    {"tree:3", LBM_E_SYNTAX, "tree:D,K"},
    {"tree:3x2", LBM_E_SYNTAX, "tree:D,K"},
    {"tree:3,0", LBM_E_RANGE, "tree:D,K"},
    {"tree:4294967295,1", LBM_E_LIMIT, "tree:D,K"},
    {"tree:13,2", LBM_E_LIMIT, "tree:D,K"},
    {"hier:4:8", LBM_E_SYNTAX, "hier:4:8:8/1:10:100"},
    {"hier:4:8/1", LBM_E_SYNTAX, "2 levels but 1 costs"},
    {"hier:4:8/10:1", LBM_E_RANGE, "must not fall"},
    {"hier:4:0/1:2", LBM_E_RANGE, "0 members"},
    {"hier:4:8/0:2", LBM_E_RANGE, "cost of 0"},
    {"hier:4/500001", LBM_E_RANGE, "500000"},
    {"hier:100:100/1:2", LBM_E_LIMIT, "8192"},
    {"file:x.graph", LBM_E_UNSUPPORTED, "name a topology"},
    {"live", LBM_E_SYNTAX, "no such topology"},
};

static void
malformed_specs_are_refused_and_told_the_right_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_specs / sizeof *wrong_specs; i++) {
        struct lbm_hosts h = {.n = 77};
        struct lbm_diag diag = {0};
        enum lbm_err err = lbm_hosts_generate(wrong_specs[i].spec, &h, &diag);
        if (err != wrong_specs[i].err || strstr(diag.text, wrong_specs[i].says) == NULL)
            fail_msg("\"%s\": %s, \"%s\"", wrong_specs[i].spec, lbm_err_name(err), diag.text);
        assert_int_equal(h.n, 77);
        assert_string_equal(diag.where, wrong_specs[i].spec);
    }
}

static void
grid_ids_run_along_x_first(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("mesh:5x3x2");
    assert_true(hosts_are_linked(&h, 0, 1) && hosts_are_linked(&h, 0, 5) && hosts_are_linked(&h, 0, 15));
    assert_true(!hosts_are_linked(&h, 4, 5) && !hosts_are_linked(&h, 14, 15));
    lbm_hosts_free(&h);
    h = make_hosts("torus:5x3");
    assert_true(hosts_are_linked(&h, 0, 4) && hosts_are_linked(&h, 0, 10) && !hosts_are_linked(&h, 4, 5));
    lbm_hosts_free(&h);
}

static void
distances_of_a_hierarchy_are_the_costs_of_the_level_shared(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("hier:4:3:2/1:10:100");
    assert_int_equal(h.n, 24);
    check_rows(&h);
    check_colours(&h);
    assert_sites_differ(&h);
    for (uint32_t p = 0; p < h.n; p++)
        for (uint32_t q = 0; q < h.n; q++) {
            uint32_t d = p == q ? 0 : p / 4 == q / 4 ? 1 : p / 12 == q / 12 ? 10 : 100;
            assert_int_equal(lbm_dist(&h, p, q), d);
        }
    /* Linked if one digit differs: 3 + 2 + 1 links each, at the distance itself. */
    assert_int_equal(h.offset[h.n], 24 * (3 + 2 + 1));
    for (uint32_t p = 0; p < h.n; p++)
        for (uint32_t i = h.offset[p]; i < h.offset[p + 1]; i++)
            assert_int_equal(h.cost[i], lbm_dist(&h, p, h.target[i]));
    assert_true(hosts_are_linked(&h, 0, 4) && hosts_are_linked(&h, 0, 12) && !hosts_are_linked(&h, 0, 5));
    lbm_hosts_free(&h);
}

/* ---- links --------------------------------------------------------------------------------------- */

/* A connected random graph: a random tree and extra links. If two_sided, links join even and odd ids only. */
static struct lbm_hosts
random_hosts(uint64_t seed, uint32_t n, uint32_t extra, uint32_t cost_max, int two_sided)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, seed);
    struct lbm_link *links = lbm_alloc(n + extra, sizeof *links);
    uint8_t *there = lbm_alloc((size_t)n * n, 1);
    assert_true(links != NULL && there != NULL);
    size_t n_links = 0;
    for (uint32_t i = 1; i < n + extra; i++) {
        uint32_t q = i < n ? i : lbm_rng_below(&rng, n);
        uint32_t p = lbm_rng_below(&rng, i < n ? i : n);
        if (two_sided && p != q && (p + q) % 2 == 0)
            p = p > 0 ? p - 1 : q - 1;
        if (p == q || there[(size_t)p * n + q])
            continue;
        there[(size_t)p * n + q] = there[(size_t)q * n + p] = 1;
        links[n_links++] = (struct lbm_link){p, q, 1 + lbm_rng_below(&rng, cost_max)};
    }
    struct lbm_hosts h = make_linked_hosts(n, links, n_links);
    free(links);
    free(there);
    return h;
}

static void
routes_of_random_hosts_agree_with_floyd_and_warshall(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct lbm_hosts h =
            random_hosts(seed, 2 + (uint32_t)seed * 3, (uint32_t)seed * 4, seed % 2 ? 1 : 1000, 0);
        check_rows(&h);
        check_distances(&h);
        lbm_hosts_free(&h);
    }
}

static void
random_hosts_are_coloured_with_at_most_one_colour_beyond_the_degree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct lbm_hosts h = random_hosts(seed, 2 + (uint32_t)seed % 29, (uint32_t)(seed * seed % 300), 1, 0);
        uint32_t n = check_colours(&h);
        assert_true(n >= degree(&h) && n <= degree(&h) + 1);
        lbm_hosts_free(&h);
    }
}

static void
bipartite_hosts_are_coloured_with_as_many_colours_as_the_degree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct lbm_hosts h = random_hosts(seed, 2 + (uint32_t)seed % 29, (uint32_t)(seed * seed % 300), 1, 1);
        assert_int_equal(check_colours(&h), degree(&h));
        lbm_hosts_free(&h);
    }
}

static uint32_t
colour_of(const struct lbm_hosts *h, const uint32_t *colour, uint32_t p, uint32_t q)
{
    for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
        if (h->target[i] == q)
            return colour[i];
    fail_msg("%u and %u are not linked", p, q);
    return LBM_NONE;
}

static void
colours_of_rings_run_in_the_order_of_the_exchange(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("ring:5");
    uint32_t colour[10];
    assert_int_equal(lbm_hosts_colour(&h, colour), 3);
    assert_int_equal(colour_of(&h, colour, 0, 1), 0);
    assert_int_equal(colour_of(&h, colour, 1, 2), 1);
    assert_int_equal(colour_of(&h, colour, 2, 3), 0);
    assert_int_equal(colour_of(&h, colour, 3, 4), 1);
    assert_int_equal(colour_of(&h, colour, 4, 0), 2);
    lbm_hosts_free(&h);
}

static const struct {
    uint32_t n;
    size_t n_links;
    struct lbm_link links[3];
    double capacity, site;
    enum lbm_err err;
    const char *says;
} wrong_links[] = {
    {0, 0, {{0}}, 1, 0, LBM_E_LIMIT, "0 hosts"},
    {LBM_HOSTS_MAX + 1, 0, {{0}}, 1, 0, LBM_E_LIMIT, "8193 hosts"},
    {3, 2, {{0, 1, 1}, {1, 3, 1}}, 1, 0, LBM_E_RANGE, "1-3"},
    {3, 2, {{0, 1, 1}, {1, 1, 1}}, 1, 0, LBM_E_RANGE, "linked to itself"},
    {3, 2, {{0, 1, 1}, {1, 2, 0}}, 1, 0, LBM_E_RANGE, "costs 0"},
    {3, 2, {{0, 1, 1}, {1, 2, LBM_LINK_COST_MAX + 1}}, 1, 0, LBM_E_RANGE, "500000"},
    {3, 3, {{0, 1, 1}, {1, 2, 1}, {1, 0, 1}}, 1, 0, LBM_E_SYNTAX, "given twice"},
    {3, 1, {{0, 1, 1}}, 1, 0, LBM_E_SYNTAX, "from host 0 to host 2"},
    {2, 0, {{0}}, 1, 0, LBM_E_SYNTAX, "from host 0 to host 1"},
    {2, 1, {{0, 1, 1}}, 0, 0, LBM_E_RANGE, "capacity of host 1"},
    {2, 1, {{0, 1, 1}}, -1, 0, LBM_E_RANGE, "capacity of host 1"},
    {2, 1, {{0, 1, 1}}, (double)NAN, 0, LBM_E_RANGE, "capacity of host 1"},
    {2, 1, {{0, 1, 1}}, HUGE_VAL, 0, LBM_E_RANGE, "capacity of host 1"},
    {2, 1, {{0, 1, 1}}, 1, (double)NAN, LBM_E_RANGE, "site of host 1"},
};

static void
wrong_links_capacities_and_sites_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_links / sizeof *wrong_links; i++) {
        double capacity[] = {1, wrong_links[i].capacity, 1}, site[] = {0, 1, 2, wrong_links[i].site, 4, 4};
        struct lbm_hosts h = {.n = 77};
        struct lbm_diag diag = {0};
        int small = wrong_links[i].n <= 3;
        enum lbm_err err = lbm_hosts_build(wrong_links[i].n, wrong_links[i].links, wrong_links[i].n_links,
                                           small ? capacity : NULL, 2, small ? site : NULL, &h, &diag);
        if (err != wrong_links[i].err || strstr(diag.text, wrong_links[i].says) == NULL)
            fail_msg("case %zu: %s, \"%s\"", i, lbm_err_name(err), diag.text);
        assert_int_equal(h.n, 77);
    }
}

static void
one_host_and_two_hosts_are_networks(void **state)
{
    (void)state;
    struct lbm_link link = {1, 0, 7};
    struct lbm_hosts h = make_linked_hosts(1, NULL, 0);
    assert_int_equal(lbm_dist(&h, 0, 0), 0);
    assert_int_equal(check_colours(&h), 0);
    assert_true(h.site[0] == 0.5 && h.site[1] == 0.5);
    lbm_hosts_free(&h);
    h = make_linked_hosts(2, &link, 1);
    assert_int_equal(lbm_dist(&h, 0, 1), 7);
    assert_sites_differ(&h);
    lbm_hosts_free(&h);
}

static void
the_longest_chain_at_the_highest_cost_fits_the_matrix(void **state)
{
    (void)state;
    struct lbm_link *links = lbm_alloc(LBM_HOSTS_MAX - 1, sizeof *links);
    double *site = lbm_alloc(2 * LBM_HOSTS_MAX, sizeof *site);
    assert_true(links != NULL && site != NULL);
    for (uint32_t p = 0; p < LBM_HOSTS_MAX; p++)
        site[2 * p] = p;
    for (uint32_t p = 0; p + 1 < LBM_HOSTS_MAX; p++)
        links[p] = (struct lbm_link){p, p + 1, LBM_LINK_COST_MAX};
    struct lbm_hosts h;
    assert_int_equal(lbm_hosts_build(LBM_HOSTS_MAX, links, LBM_HOSTS_MAX - 1, NULL, 2, site, &h, NULL),
                     LBM_OK);
    assert_int_equal(lbm_dist(&h, 0, LBM_HOSTS_MAX - 1), UINT64_C(8191) * 500000);
    assert_int_equal(lbm_dist(&h, 8000, 7000), 1000 * 500000);
    lbm_hosts_free(&h);
    free(links);
    free(site);
}

static void
the_largest_hypercube_routes_by_differing_bits(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("hypercube:13");
    assert_int_equal(h.n, LBM_HOSTS_MAX);
    for (uint32_t p = 0; p < h.n; p += 97)
        for (uint32_t q = 0; q < h.n; q++)
            assert_int_equal(lbm_dist(&h, p, q), __builtin_popcount(p ^ q));
    lbm_hosts_free(&h);
}

static void
rows_asked_for_are_those_of_the_matrix(void **state)
{
    (void)state;
    for (uint32_t cost = 1; cost <= 2; cost++) {
        struct lbm_link links[] = {{0, 1, 1}, {1, 2, cost}, {2, 3, 1}, {3, 0, 1}, {3, 4, 1}, {4, 5, 1}};
        double site[12] = {0.1, 0.2, 7};
        struct lbm_hosts all = make_linked_hosts(6, links, 6), few;
        assert_int_equal(lbm_hosts_build_unrouted(6, links, 6, NULL, 2, site, &few, NULL), LBM_OK);
        assert_memory_equal(few.site, site, sizeof site);
        for (uint32_t p = 0; p < 6; p += 2) {
            assert_int_equal(lbm_hosts_route_from(&few, p), LBM_OK);
            assert_int_equal(lbm_hosts_route_from(&few, p), LBM_OK);
            for (uint32_t q = 0; q < 6; q++)
                assert_int_equal(lbm_dist(&few, p, q), lbm_dist(&all, p, q));
        }
        assert_null(few.row[1]);
        assert_int_equal(lbm_hosts_diameter_within(&few, 10), lbm_hosts_diameter_hops(&all));
        assert_int_equal(lbm_hosts_diameter_within(&few, 3), 3);
        lbm_hosts_free(&all);
        lbm_hosts_free(&few);
    }
}

/* Hosts made of the links of a named topology are known again; one link more or less, and they are not. */
static void
topologies_are_recognised_by_their_links(void **state)
{
    (void)state;
    static const char *const known[] = {"chain:7",   "ring:5",      "mesh:4x3",    "mesh:3x4x2",
                                        "torus:5x4", "torus:3x3x3", "hypercube:4", "hypercube:1"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct lbm_hosts named = make_hosts(known[i]), h = named;
        h.topology = LBM_TOPOLOGY_FILE;
        memset(h.dims, 0, sizeof h.dims);
        assert_true(lbm_hosts_recognise(&h));
        assert_int_equal(h.topology, named.topology);
        assert_memory_equal(h.dims, named.dims, sizeof h.dims);
        lbm_hosts_free(&named);
    }
    static const char *const others[] = {"star:5", "complete:5", "tree:2,2", "chain:1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct lbm_hosts h = make_hosts(others[i]);
        assert_false(lbm_hosts_recognise(&h));
        lbm_hosts_free(&h);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_recognised_by_their_links),
        cmocka_unit_test(specs_give_the_hosts_links_colours_and_diameter_they_name),
        cmocka_unit_test(malformed_specs_are_refused_and_told_the_right_form),
        cmocka_unit_test(grid_ids_run_along_x_first),
        cmocka_unit_test(distances_of_a_hierarchy_are_the_costs_of_the_level_shared),
        cmocka_unit_test(routes_of_random_hosts_agree_with_floyd_and_warshall),
        cmocka_unit_test(random_hosts_are_coloured_with_at_most_one_colour_beyond_the_degree),
        cmocka_unit_test(bipartite_hosts_are_coloured_with_as_many_colours_as_the_degree),
        cmocka_unit_test(colours_of_rings_run_in_the_order_of_the_exchange),
        cmocka_unit_test(wrong_links_capacities_and_sites_are_refused_by_name),
        cmocka_unit_test(one_host_and_two_hosts_are_networks),
        cmocka_unit_test(the_longest_chain_at_the_highest_cost_fits_the_matrix),
        cmocka_unit_test(the_largest_hypercube_routes_by_differing_bits),
        cmocka_unit_test(rows_asked_for_are_those_of_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
