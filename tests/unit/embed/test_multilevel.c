/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels of coarser graphs, and the coordinates of the coarsest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "tests/unit/embed/embed_fixture.h"
#include "tests/unit/graph/graph_fixture.h"

static struct lbm_levels
coarsen(const struct lbm_graph *g, const uint32_t *part, uint32_t target, uint64_t max_work, uint64_t seed)
{
    struct lbm_levels levels;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, seed);
    assert_int_equal(lbm_levels_build(g, part, target, max_work, &rng, &levels), LBM_OK);
    return levels;
}

static uint64_t
cut_of(const struct lbm_graph *g, const uint32_t *part)
{
    uint64_t cut = 0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            cut += part[v] != part[g->target[e]] ? lbm_graph_weight(g, e) : 0;
    return cut / 2;
}

/* Every level: valid, smaller by 5 % at least, clusters of at most two, total work kept, and the cut of a
 * random partition of it the same one level below. */
static void
assert_levels_sound(const struct lbm_levels *levels, uint32_t target, struct lbm_rng *rng)
{
    for (uint32_t l = 0; l + 1 < levels->n; l++) {
        const struct lbm_graph *fine = &levels->graph[l], *coarse = &levels->graph[l + 1];
        struct lbm_diag diag = {0};
        uint8_t *children = lbm_alloc(coarse->n, 1);
        uint32_t *part = lbm_alloc(coarse->n, sizeof *part), *below = lbm_alloc(fine->n, sizeof *below);
        if (lbm_graph_check(coarse, &diag) != LBM_OK)
            fail_msg("level %u: %s", l + 1, diag.text);
        assert_true(fine->n > target && coarse->n <= 0.95 * fine->n);
        assert_int_equal(lbm_graph_total_work(coarse), lbm_graph_total_work(fine));
        for (uint32_t v = 0; v < coarse->n; v++)
            part[v] = lbm_rng_below(rng, 3);
        for (uint32_t v = 0; v < fine->n; v++) {
            assert_true(levels->parent[l][v] < coarse->n);
            children[levels->parent[l][v]]++;
            below[v] = part[levels->parent[l][v]];
        }
        for (uint32_t v = 0; v < coarse->n; v++)
            assert_in_range(children[v], 1, 2);
        assert_int_equal(cut_of(coarse, part), cut_of(fine, below));
        free(children);
        free(part);
        free(below);
    }
}

static void
levels_conserve_work_and_cuts(void **state)
{
    (void)state;
    static const char *const specs[] = {"lattice:60x50", "tri:3000", "tree:3000", "rgg:2000"};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct lbm_graph g = embed_generate(specs[i]);
        struct lbm_levels levels = coarsen(&g, NULL, 100, LBM_WEIGHT_MAX, i);
        assert_levels_sound(&levels, 100, &rng);
        assert_true(levels.n >= 5 && levels.graph[levels.n - 1].n <= 100);
        lbm_levels_free(&levels);
        lbm_graph_free(&g);
    }
}

static void
levels_of_weighted_guests_are_sound(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 2);
    for (int i = 0; i < 20; i++) {
        uint32_t n = lbm_rng_below(&rng, 400);
        struct lbm_graph g = graph_random(n, 2 * n, 1, &rng);
        for (uint64_t e = 0; g.weight != NULL && e < lbm_graph_directions(&g); e++)
            g.weight[e] = 1 + (g.weight[e] >> 12); /* sums stay below the limit */
        for (uint32_t v = 0; n != 0 && v < n; v++)
            g.work[v] = 1 + g.work[v] % 100;
        struct lbm_levels levels = coarsen(&g, NULL, 10, LBM_WEIGHT_MAX, (uint64_t)i);
        assert_levels_sound(&levels, 10, &rng);
        lbm_levels_free(&levels);
        lbm_graph_free(&g);
    }
}

static void
unlike_vertices_are_never_matched(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("lattice:40x40");
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    uint32_t *part = lbm_alloc(g.n, sizeof *part);
    g.pin = lbm_alloc(g.n, sizeof *g.pin);
    g.work = lbm_alloc(g.n, sizeof *g.work);
    for (uint32_t v = 0; v < g.n; v++) {
        part[v] = v % 40 / 10;
        g.pin[v] = lbm_rng_below(&rng, 4) == 0 ? lbm_rng_below(&rng, 2) : LBM_NONE;
        g.work[v] = 1 + lbm_rng_below(&rng, 9);
    }
    struct lbm_levels levels = coarsen(&g, part, 20, 50, 4);
    assert_true(levels.n > 2);
    for (uint32_t l = 0; l + 1 < levels.n; l++) {
        const struct lbm_graph *coarse = &levels.graph[l + 1];
        uint32_t *coarse_part = lbm_alloc(coarse->n, sizeof *coarse_part);
        memset(coarse_part, 0xff, coarse->n * sizeof *coarse_part);
        assert_true(lbm_graph_max_work(coarse) <= 50);
        for (uint32_t v = 0; v < levels.graph[l].n; v++) {
            uint32_t u = levels.parent[l][v];
            assert_true(coarse_part[u] == LBM_NONE || coarse_part[u] == part[v]);
            assert_int_equal(coarse->pin[u], levels.graph[l].pin[v]);
            coarse_part[u] = part[v];
        }
        free(part);
        part = coarse_part;
    }
    free(part);
    lbm_levels_free(&levels);
    lbm_graph_free(&g);
}

static void
heavy_edges_are_matched_first(void **state)
{
    (void)state;
    struct lbm_edge edges[199]; /* a path, every other edge heavy */
    for (uint32_t v = 0; v < 199; v++)
        edges[v] = (struct lbm_edge){v, v + 1, v % 2 ? 1 : 1000};
    struct lbm_graph g = embed_build(200, edges, 199);
    struct lbm_levels levels = coarsen(&g, NULL, 100, 2, 5);
    assert_int_equal(levels.n, 2);
    assert_int_equal(levels.graph[1].n, 100);
    for (uint32_t v = 0; v < 200; v++)
        assert_int_equal(levels.parent[0][v], v / 2);
    lbm_levels_free(&levels);
    lbm_graph_free(&g);
}

static void
stars_and_isolated_vertices_become_fewer(void **state)
{
    (void)state;
    enum { N = 1001 };
    struct lbm_edge edges[N - 1];
    for (uint32_t v = 1; v < N; v++)
        edges[v - 1] = (struct lbm_edge){0, v, 1};
    for (uint32_t star = 0; star < 2; star++) {
        struct lbm_graph g = embed_build(N, edges, star * (N - 1));
        struct lbm_levels levels = coarsen(&g, NULL, 20, LBM_WEIGHT_MAX, 6);
        struct lbm_rng rng;
        lbm_rng_seed(&rng, 1);
        assert_levels_sound(&levels, 20, &rng);
        assert_true(levels.graph[levels.n - 1].n <= 20);
        lbm_levels_free(&levels);
        lbm_graph_free(&g);
    }
}

static void
edge_weights_stop_at_their_limit(void **state)
{
    (void)state;
    const uint32_t most = LBM_WEIGHT_MAX;
    const struct lbm_edge edges[] = {{0, 1, most}, {2, 3, most}, {0, 2, most - 1}, {1, 3, most - 1}};
    struct lbm_graph g = embed_build(4, edges, 4);
    struct lbm_levels levels = coarsen(&g, NULL, 2, 2, 7);
    assert_int_equal(levels.graph[1].n, 2);
    assert_int_equal(levels.graph[1].weight[0], most);
    assert_int_equal(levels.graph[1].weight[1], most);
    lbm_levels_free(&levels);
    lbm_graph_free(&g);
}

static void
nothing_to_coarsen_gives_one_level(void **state)
{
    (void)state;
    const struct lbm_edge edge = {0, 1, 1};
    struct lbm_graph graphs[] = {embed_build(0, NULL, 0), embed_build(1, NULL, 0), embed_build(2, &edge, 1)};
    for (uint32_t i = 0; i < 3; i++) {
        struct lbm_levels levels = coarsen(&graphs[i], NULL, 0, 1, 1); /* nothing is light enough to match */
        assert_int_equal(levels.n, 1);
        assert_ptr_equal(levels.graph[0].offset, graphs[i].offset);
        lbm_levels_free(&levels);
        lbm_graph_free(&graphs[i]);
    }
}

static void
the_same_seed_gives_the_same_levels(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("tri:5000");
    struct lbm_levels a = coarsen(&g, NULL, 50, 200, 1), b = coarsen(&g, NULL, 50, 200, 1);
    assert_int_equal(a.n, b.n);
    for (uint32_t l = 1; l < a.n; l++)
        assert_graph_equal(&a.graph[l], &b.graph[l]);
    lbm_levels_free(&a);
    lbm_levels_free(&b);
    lbm_graph_free(&g);
}

static void
interpolation_carries_coordinates(void **state)
{
    (void)state;
    const uint32_t parent[] = {1, 0, 1};
    const double coarse[] = {0, 1, 2, 3, 4, 5};
    double fine[9];
    lbm_embed_interpolate(parent, 3, 2, coarse, fine);
    assert_close(fine, (const double[]){2, 3, 0, 1, 2, 3}, 6, 0);
    lbm_embed_interpolate(parent, 3, 3, coarse, fine);
    assert_close(fine, (const double[]){3, 4, 5, 0, 1, 2, 3, 4, 5}, 9, 0);
}

/* ---- pivots ----------------------------------------------------------------------------------------- */

static double *
embed(const struct lbm_graph *g, unsigned m, int sweeps, uint64_t seed)
{
    struct lbm_rng rng;
    double *x = lbm_alloc(g->n, m * sizeof *x);
    lbm_rng_seed(&rng, seed);
    assert_int_equal(lbm_embed_pivots(g, m, 30, sweeps, &rng, x), LBM_OK);
    for (size_t i = 0; i < (size_t)g->n * m; i++)
        assert_true(isfinite(x[i]));
    return x;
}

static void
assert_white(const struct lbm_graph *g, unsigned m, const double *x)
{
    struct lbm_moments moments = {0};
    lbm_moments_take(&moments, g, m, x);
    for (unsigned i = 0, at = 0; i < m; i++)
        for (unsigned j = 0; j <= i; j++, at++) {
            double mean = moments.sum[i] / moments.work;
            double covariance = moments.prod[at] / moments.work - mean * moments.sum[j] / moments.work;
            assert_close(&mean, &(double){0.5}, 1, 1e-6);
            assert_close(&covariance, &(double){i == j ? 1.0 / 12 : 0}, 1, 1e-6);
        }
}

/* Mean squared length of an edge, in units of what points at random would have: m / 6. */
static double
edge_length2(const struct lbm_graph *g, unsigned m, const double *x)
{
    double sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            for (unsigned k = 0; k < m; k++)
                sum += pow(x[(size_t)v * m + k] - x[(size_t)g->target[e] * m + k], 2);
    return sum / (double)lbm_graph_directions(g) / (m / 6.0);
}

static void
pivots_keep_neighbours_together(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        unsigned m;
        double bound;
    } guests[] = {{"lattice:24x24", 2, 0.02},
                  {"lattice:8x8x8", 3, 0.1},
                  {"tri:600", 2, 0.03},
                  {"lattice:300x2", 2, 0.01}};
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++) {
        struct lbm_graph g = embed_generate(guests[i].spec);
        double *x = embed(&g, guests[i].m, 30, i);
        assert_white(&g, guests[i].m, x);
        double length2 = edge_length2(&g, guests[i].m, x);
        if (!(length2 < guests[i].bound))
            fail_msg("%s: edges are %g of random ones", guests[i].spec, length2);
        free(x);
        lbm_graph_free(&g);
    }
}

static void
sweeps_shorten_edges(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("tri:800");
    double *before = embed(&g, 2, 0, 1), *after = embed(&g, 2, 30, 1);
    assert_true(edge_length2(&g, 2, after) < edge_length2(&g, 2, before));
    free(before);
    free(after);
    lbm_graph_free(&g);
}

static void
weights_of_vertices_count_in_the_moments(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 9);
    struct lbm_graph g = graph_random(300, 900, 1, &rng);
    for (unsigned m = 2; m <= 3; m++) {
        double *x = embed(&g, m, 10, 1);
        assert_white(&g, m, x);
        free(x);
    }
    lbm_graph_free(&g);
}

/* A path, a star, a complete graph, many components, no edges: flat or coincident as they come. */
static void
degenerate_guests_still_span_the_space(void **state)
{
    (void)state;
    enum { N = 40 };
    struct lbm_edge path[N - 1], star[N - 1], complete[N * (N - 1) / 2], pairs[N / 2];
    size_t n_complete = 0;
    for (uint32_t v = 1; v < N; v++) {
        path[v - 1] = (struct lbm_edge){v - 1, v, 1};
        star[v - 1] = (struct lbm_edge){0, v, 1};
        for (uint32_t u = 0; u < v; u++)
            complete[n_complete++] = (struct lbm_edge){u, v, 1};
    }
    for (uint32_t i = 0; i < N / 2; i++)
        pairs[i] = (struct lbm_edge){i, i + N / 2, 1};
    struct lbm_graph graphs[] = {
        embed_build(N, path, N - 1),  embed_build(N, star, N - 1), embed_build(N, complete, n_complete),
        embed_build(N, pairs, N / 2), embed_build(N, NULL, 0),     embed_build(4, path, 3)};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        for (unsigned m = 2; m <= 3; m++) {
            double *x = embed(&graphs[i], m, 30, i);
            assert_white(&graphs[i], m, x);
            free(x);
        }
        lbm_graph_free(&graphs[i]);
    }
}

static void
few_points_lie_on_the_diagonal(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= 3; n++) {
        struct lbm_graph g = embed_build(n, NULL, 0);
        double *x = embed(&g, 3, 5, 1);
        for (uint32_t i = 0; i < 3 * n; i++)
            assert_close(&x[i], &(double){(i / 3 + 0.5) / n}, 1, 1e-15);
        free(x);
        lbm_graph_free(&g);
    }
}

static void
the_same_seed_gives_the_same_coordinates(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 10);
    struct lbm_graph g = graph_random(500, 400, 0, &rng); /* disconnected */
    double *a = embed(&g, 2, 10, 1), *b = embed(&g, 2, 10, 1);
    assert_memory_equal(a, b, 2 * (size_t)g.n * sizeof *a);
    free(a);
    free(b);
    lbm_graph_free(&g);
}

/* ---- pivots by sums -------------------------------------------------------------------------------------
 */

/* Hops of all vertices of a graph to the first LBM_PIVOTS of them. */
static uint16_t *
hops_of(const struct lbm_graph *g)
{
    uint16_t *hops = malloc((size_t)g->n * LBM_PIVOTS * sizeof *hops);
    uint32_t *queue = calloc(g->n, sizeof *queue);
    memset(hops, 0xff, (size_t)g->n * LBM_PIVOTS * sizeof *hops);
    for (uint32_t k = 0; k < LBM_PIVOTS; k++) {
        uint32_t head = 0, tail = 0;
        hops[(size_t)k * 7 * LBM_PIVOTS + k] = 0;
        queue[tail++] = k * 7;
        while (head < tail) {
            uint32_t v = queue[head++];
            for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
                uint16_t *to = &hops[(size_t)g->target[e] * LBM_PIVOTS + k];
                if (*to == LBM_PIVOT_UNREACHED) {
                    *to = (uint16_t)(hops[(size_t)v * LBM_PIVOTS + k] + 1);
                    queue[tail++] = g->target[e];
                }
            }
        }
    }
    free(queue);
    return hops;
}

/* Whoever has which part: the same map, up to rounding; its image has mean 1/2 and variance 1/12. */
static void
sums_of_parts_place_the_whole(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("lattice:20x20");
    uint16_t *hops = hops_of(&g);
    double all[LBM_PIVOT_SUMS] = {0}, two[LBM_PIVOT_SUMS] = {0}, sum[2] = {0}, square[2] = {0}, cross = 0;
    struct lbm_pivot_map map;
    lbm_pivot_sums_add(g.n, hops, NULL, all);
    lbm_pivot_sums_add(150, hops, NULL, two);
    lbm_pivot_sums_add(g.n - 150, &hops[150 * LBM_PIVOTS], NULL, two);
    for (int i = 0; i < LBM_PIVOT_SUMS; i++)
        assert_true(fabs(all[i] - two[i]) <= 1e-9 * (1 + fabs(all[i])));
    assert_int_equal(lbm_pivot_sums_solve(two, 2, &map), LBM_OK);
    for (uint32_t v = 0; v < g.n; v++) {
        double x[2];
        lbm_pivot_place(&map, &hops[(size_t)v * LBM_PIVOTS], x);
        for (int k = 0; k < 2; k++) {
            sum[k] += x[k];
            square[k] += (x[k] - 0.5) * (x[k] - 0.5);
        }
        cross += (x[0] - 0.5) * (x[1] - 0.5);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(sum[k] / g.n - 0.5) < 1e-6);
        assert_true(fabs(square[k] / g.n - 1.0 / 12) < 1e-6);
    }
    assert_true(fabs(cross / g.n) <
                1e-2); /* the power method is not exact, and the axes of a square are a choice */
    free(hops);
    lbm_graph_free(&g);
}

static void
distances_that_span_nothing_place_nothing(void **state)
{
    (void)state;
    double sums[LBM_PIVOT_SUMS] = {0};
    uint16_t hops[4 * LBM_PIVOTS];
    struct lbm_pivot_map map;
    assert_int_equal(lbm_pivot_sums_solve(sums, 2, &map), LBM_E_STATE); /* nobody has a vertex */
    memset(hops, 0xff, sizeof hops);
    lbm_pivot_sums_add(4, hops, NULL, sums);
    assert_int_equal(lbm_pivot_sums_solve(sums, 2, &map), LBM_E_STATE); /* no pivot was reached */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_conserve_work_and_cuts),
        cmocka_unit_test(levels_of_weighted_guests_are_sound),
        cmocka_unit_test(unlike_vertices_are_never_matched),
        cmocka_unit_test(heavy_edges_are_matched_first),
        cmocka_unit_test(stars_and_isolated_vertices_become_fewer),
        cmocka_unit_test(edge_weights_stop_at_their_limit),
        cmocka_unit_test(nothing_to_coarsen_gives_one_level),
        cmocka_unit_test(the_same_seed_gives_the_same_levels),
        cmocka_unit_test(interpolation_carries_coordinates),
        cmocka_unit_test(pivots_keep_neighbours_together),
        cmocka_unit_test(sweeps_shorten_edges),
        cmocka_unit_test(weights_of_vertices_count_in_the_moments),
        cmocka_unit_test(degenerate_guests_still_span_the_space),
        cmocka_unit_test(few_points_lie_on_the_diagonal),
        cmocka_unit_test(the_same_seed_gives_the_same_coordinates),
        cmocka_unit_test(sums_of_parts_place_the_whole),
        cmocka_unit_test(distances_that_span_nothing_place_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
