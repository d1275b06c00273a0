/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diffusion kernel: HEI97's model problem, and every kind of sweep against its definition. */
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
#include "embed/order.h"
#include "tests/unit/embed/embed_fixture.h"
#include "tests/unit/graph/graph_fixture.h"

enum { SIDE = 32, MODEL = SIDE * SIDE };

static void
diffuse(const struct lbm_graph *g, const struct lbm_diffusion *how, int sweeps, double *x, uint64_t seed)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, seed);
    assert_int_equal(lbm_diffuse(g, how, sweeps, x, &rng, NULL, NULL), LBM_OK);
}

/* ---- HEI97's model problem -------------------------------------------------------------------------- */

/* The lattice of HEI97 section 6, perimeter pinned. */
struct model {
    struct lbm_graph g;
    uint8_t pinned[MODEL];
    double x[2 * MODEL];
};

static int
make_model(void **state)
{
    static struct model model;
    uint32_t n_pinned = 0;
    model.g = embed_generate("lattice:32x32");
    if (lbm_pin_outer_face(&model.g, model.pinned, model.x, &n_pinned) != LBM_OK)
        return -1;
    *state = &model;
    return n_pinned == 4 * (SIDE - 1) ? 0 : -1;
}

static int
free_model(void **state)
{
    struct model *model = *state;
    lbm_graph_free(&model->g);
    return 0;
}

/* Greatest distance of a vertex from where it belongs, in cells of the lattice. */
static double
error_cells(const struct model *model)
{
    double most = 0;
    for (uint32_t v = 0; v < MODEL; v++) {
        double dx = model->x[2 * v] * (SIDE - 1) - v % SIDE,
               dy = model->x[2 * v + 1] * (SIDE - 1) - (double)(v / SIDE);
        most = fmax(most, hypot(dx, dy));
    }
    return most;
}

/* Sweeps from the centre until no vertex is more than a tenth of a cell off, mean of three runs. */
static double
sweeps_needed(struct model *model, enum lbm_order order)
{
    struct lbm_diffusion how = {.m = 2, .order = order, .pinned = model->pinned};
    double sum = 0;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct lbm_rng rng;
        lbm_rng_seed(&rng, seed);
        lbm_start_centre(MODEL, 2, model->pinned, model->x, &rng);
        int sweeps = 0;
        for (; error_cells(model) > 0.1 && sweeps < 1000; sweeps++)
            assert_int_equal(lbm_diffuse(&model->g, &how, 1, model->x, &rng, NULL, NULL), LBM_OK);
        sum += sweeps;
    }
    return sum / 3;
}

static void
model_problem_needs_233_sweeps_by_permutation(void **state)
{
    double permutation = sweeps_needed(*state, LBM_ORDER_PERMUTATION),
           block = sweeps_needed(*state, LBM_ORDER_BLOCK);
    assert_true(permutation > 228 && permutation < 238);
    assert_true(block > 228 && block < 238);
}

static void
model_problem_needs_391_sweeps_with_replacement(void **state)
{
    double sweeps = sweeps_needed(*state, LBM_ORDER_REPLACEMENT);
    assert_true(sweeps > 380 && sweeps < 402);
}

/* With replacement a sweep does as much as one Jacobi iterate, of which the paper's figures 6 and 7 are. */
static void
follow_figure(struct model *model, int random, const int at[3], const double known[3], double factor)
{
    struct lbm_diffusion how = {.m = 2, .order = LBM_ORDER_REPLACEMENT, .pinned = model->pinned};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 7);
    (random ? lbm_start_random : lbm_start_centre)(MODEL, 2, model->pinned, model->x, &rng);
    for (int i = 0, done = 0; i < 3; done = at[i++]) {
        assert_int_equal(lbm_diffuse(&model->g, &how, at[i] - done, model->x, &rng, NULL, NULL), LBM_OK);
        double error = error_cells(model);
        if (!(error < known[i] * factor && error > known[i] / factor))
            fail_msg("after %d sweeps %g cells off, not about %g", at[i], error, known[i]);
    }
}

static void
model_problem_follows_figure_6_from_the_centre(void **state)
{
    follow_figure(*state, 0, (const int[]){100, 200, 400}, (const double[]){3.77, 1.03, 0.079}, 1.15);
}

static void
model_problem_follows_figure_7_from_a_random_start(void **state)
{
    follow_figure(*state, 1, (const int[]){250, 500, 1000}, (const double[]){0.82, 0.116, 0.008}, 2.5);
}

static void
model_problem_comes_to_rest_on_the_grid(void **state)
{
    struct model *model = *state;
    struct lbm_diffusion how = {.m = 2, .pinned = model->pinned};
    struct lbm_rng rng;
    double norm = 1, largest = 1;
    lbm_rng_seed(&rng, 1);
    lbm_start_random(MODEL, 2, model->pinned, model->x, &rng);
    assert_int_equal(lbm_diffuse(&model->g, &how, 3000, model->x, &rng, &norm, &largest), LBM_OK);
    assert_true(error_cells(model) < 1e-9);
    assert_true(norm < 1e-24 && largest < 1e-12);
}

/* ---- the kernel ------------------------------------------------------------------------------------- */

/* One sweep as the definition says it, over the same vertices in the same order. */
static void
sweep_plainly(const struct lbm_graph *g, const struct lbm_diffusion *how, double *x, uint64_t seed)
{
    struct lbm_rng rng;
    struct lbm_sweep_order order;
    lbm_rng_seed(&rng, seed);
    double *before = lbm_copy(x, (size_t)g->n * how->m, sizeof *before);
    const double *from = how->order == LBM_ORDER_JACOBI ? before : x;
    assert_non_null(before);
    assert_int_equal(lbm_order_open(&order, how->order, g->n), LBM_OK);
    lbm_order_shuffle(&order, &rng);
    for (uint32_t count; (count = lbm_order_next(&order, &rng)) != 0;)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = order.batch[i];
            double sum[3] = {0}, total = 0;
            for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
                double c = lbm_graph_weight(g, e);
                total += c;
                for (unsigned k = 0; k < how->m; k++) {
                    double d = from[(size_t)g->target[e] * how->m + k] - x[(size_t)v * how->m + k];
                    sum[k] += c * (how->wrap ? d - rint(d) : d);
                }
            }
            for (unsigned k = 0; total > 0 && (how->pinned == NULL || !how->pinned[v]) && k < how->m; k++) {
                double *at = &x[(size_t)v * how->m + k];
                *at += sum[k] / total;
                *at -= how->wrap ? floor(*at) : 0;
            }
        }
    lbm_order_close(&order);
    free(before);
}

static void
every_kind_of_sweep_agrees_with_the_definition(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 11);
    struct lbm_graph g = graph_random(3 * LBM_ORDER_BLOCK_VERTICES, 20000, 1, &rng);
    uint32_t *weight = g.weight;
    assert_non_null(weight);
    uint8_t *pinned = lbm_alloc(g.n, 1);
    for (uint32_t v = 0; v < g.n; v += 7)
        pinned[v] = 1;
    for (unsigned kind = 0; kind < 2 * 2 * 2 * 2 * LBM_ORDER_COUNT; kind++) {
        struct lbm_diffusion how = {
            .m = 2 + kind % 2, .order = (enum lbm_order)(kind / 16), .wrap = kind / 2 % 2};
        how.pinned = kind / 4 % 2 ? pinned : NULL;
        g.weight = kind / 8 % 2 ? weight : NULL;
        double *x = embed_points(g.n, how.m, &rng), *y = lbm_copy(x, (size_t)g.n * how.m, sizeof *x);
        diffuse(&g, &how, 1, x, kind);
        sweep_plainly(&g, &how, y, kind);
        for (size_t i = 0; how.wrap && i < (size_t)g.n * how.m; i++)
            y[i] = x[i] + (y[i] - x[i] - rint(y[i] - x[i])); /* 0 and 1 are neighbours */
        assert_close(x, y, (size_t)g.n * how.m, 1e-11);
        free(x);
        free(y);
    }
    g.weight = weight;
    free(pinned);
    lbm_graph_free(&g);
}

static void
dense_rows_agree_with_the_definition(void **state)
{
    (void)state;
    enum { N = 2 * LBM_ORDER_BLOCK_VERTICES + 9, DEGREE = 80 }; /* beyond the reciprocals and the fetching */
    struct lbm_edge *edges = lbm_alloc((size_t)N * DEGREE / 2, sizeof *edges);
    size_t n_edges = 0;
    for (uint32_t v = 0; v < N; v++)
        for (uint32_t k = 1; k <= DEGREE / 2; k++)
            edges[n_edges++] = (struct lbm_edge){v, (v + k * k) % N, 1};
    struct lbm_graph g = embed_build(N, edges, n_edges);
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    double *x = embed_points(N, 2, &rng), *y = lbm_copy(x, 2 * N, sizeof *x);
    struct lbm_diffusion how = {.m = 2};
    diffuse(&g, &how, 1, x, 1);
    sweep_plainly(&g, &how, y, 1);
    assert_close(x, y, 2 * N, 1e-12);
    free(x);
    free(y);
    free(edges);
    lbm_graph_free(&g);
}

static void
a_vertex_moves_to_the_weighted_mean(void **state)
{
    (void)state;
    const struct lbm_edge edges[] = {{0, 1, 1}, {0, 2, 2}, {0, 3, 5}};
    struct lbm_graph g = embed_build(4, edges, 3);
    double x[] = {9, 9, 1, 0, 0, 1, 2, 2};
    double norm = 0, largest = 0, moved = hypot(9 - 11 / 8.0, 9 - 12 / 8.0);
    struct lbm_diffusion how = {.m = 2, .pinned = (const uint8_t[]){0, 1, 1, 1}};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    assert_int_equal(lbm_diffuse(&g, &how, 1, x, &rng, &norm, &largest), LBM_OK);
    assert_close(x, (const double[]){11 / 8.0, 12 / 8.0, 1, 0, 0, 1, 2, 2}, 8, 1e-15);
    assert_close(&norm, &(double){moved * moved}, 1, 1e-12);
    assert_close(&largest, &moved, 1, 1e-12);
    lbm_graph_free(&g);
}

static void
norm_is_that_of_the_last_sweep(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("lattice:50x60");
    struct lbm_rng rng, again;
    lbm_rng_seed(&rng, 2);
    double *x = embed_points(g.n, 2, &rng), *before = lbm_copy(x, 2 * (size_t)g.n, sizeof *x);
    double norm = 0, largest = 0, sum4 = 0, most2 = 0;
    struct lbm_diffusion how = {.m = 2};
    again = rng;
    assert_int_equal(lbm_diffuse(&g, &how, 3, x, &rng, &norm, &largest), LBM_OK);
    assert_int_equal(lbm_diffuse(&g, &how, 2, before, &again, NULL, NULL), LBM_OK);
    for (uint32_t v = 0; v < g.n; v++) {
        double d2 = pow(x[2 * v] - before[2 * v], 2) + pow(x[2 * v + 1] - before[2 * v + 1], 2);
        sum4 += d2 * d2;
        most2 = fmax(most2, d2);
    }
    assert_close(&norm, &(double){sqrt(sum4)}, 1, 1e-12);
    assert_close(&largest, &(double){sqrt(most2)}, 1, 1e-12);
    free(x);
    free(before);
    lbm_graph_free(&g);
}

static void
diffusion_commutes_with_affine_maps(void **state)
{
    (void)state;
    const struct lbm_affine map = {
        .m = 3, .matrix = {2, 0.5, -1, 0, 3, 1, 0.25, 0, -1}, .centre = {1, 2, 3}, .shift = {-4, 5, 0.5}};
    struct lbm_graph g = embed_generate("lattice:20x20x10");
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 2);
    double *x = embed_points(g.n, 3, &rng), *y = lbm_copy(x, 3 * (size_t)g.n, sizeof *x);
    for (int order = 0; order < LBM_ORDER_COUNT; order++) {
        struct lbm_diffusion how = {.m = 3, .order = (enum lbm_order)order};
        diffuse(&g, &how, 5, x, 1);
        for (uint32_t v = 0; v < g.n; v++)
            lbm_affine_apply(&map, &x[3 * v], &x[3 * v]);
        for (uint32_t v = 0; v < g.n; v++)
            lbm_affine_apply(&map, &y[3 * v], &y[3 * v]);
        diffuse(&g, &how, 5, y, 1);
        assert_close(x, y, 3 * (size_t)g.n, 1e-9);
    }
    free(x);
    free(y);
    lbm_graph_free(&g);
}

static void
the_torus_has_no_seam(void **state)
{
    (void)state;
    const struct lbm_edge edges[] = {{0, 1, 1}, {1, 2, 1}};
    struct lbm_graph path = embed_build(3, edges, 2), g = embed_generate("lattice:40x40");
    double x[] = {0.9, 0.2, 0.5, 0.5, 0.2, 0.8};
    struct lbm_diffusion how = {.m = 2, .wrap = 1, .pinned = (const uint8_t[]){1, 0, 1}};
    diffuse(&path, &how, 60, x, 1);
    assert_close(x + 2, (const double[]){0.55, 0.5}, 2, 1e-12); /* from here both ways are as short */
    x[2] = 0.1;
    x[3] = 0.9;
    diffuse(&path, &how, 60, x, 1);
    assert_close(x + 2, (const double[]){0.05, 0.0}, 1, 1e-12);
    assert_true(x[3] < 1e-12 || x[3] > 1 - 1e-12);

    struct lbm_rng rng;
    lbm_rng_seed(&rng, 4);
    double *a = embed_points(g.n, 2, &rng), *b = lbm_copy(a, 2 * (size_t)g.n, sizeof *a);
    for (uint32_t i = 0; i < 2 * g.n; i++) /* near each other, around a corner of the square */
        b[i] = fmod((a[i] = 0.3 + 0.4 * a[i]) + 0.5, 1);
    how.pinned = NULL;
    diffuse(&g, &how, 20, a, 9);
    diffuse(&g, &how, 20, b, 9);
    for (uint32_t i = 0; i < 2 * g.n; i++) {
        double d = b[i] - a[i] - 0.5;
        assert_true(fabs(d - rint(d)) < 1e-12);
        assert_true(b[i] >= 0 && b[i] < 1);
    }
    free(a);
    free(b);
    lbm_graph_free(&g);
    lbm_graph_free(&path);
}

/* Whatever a peer sends as a ghost's position, what comes out is on the torus. */
static void
the_torus_holds_far_away_ghosts(void **state)
{
    (void)state;
    const double far[] = {-1e-18, 1, 1e6, -1e300, 7.5, -0.5};
    struct lbm_graph patch = {.n = 1, .offset = (uint64_t[]){0, 1}, .target = (uint32_t[]){1}};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        double x[] = {0, 0.999, far[i], far[i]};
        struct lbm_diffusion how = {.m = 2, .wrap = 1};
        diffuse(&patch, &how, 2, x, 1);
        assert_true(x[0] >= 0 && x[0] < 1 && x[1] >= 0 && x[1] < 1);
    }
}

/* Cut the model problem into left and right halves of the vertex list, each a patch whose ghosts are the
 * other's vertices, and sweep them in turn. */
static void
two_patches_with_ghosts_rest_where_the_whole_does(void **state)
{
    struct model *model = *state;
    enum { HALF = MODEL / 2 };
    static double x[2][2 * MODEL];
    struct lbm_graph patch[2];
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 6);
    for (int p = 0; p < 2; p++) { /* patch p names own vertices 0 .. HALF - 1, the others HALF .. MODEL - 1 */
        uint64_t begin = model->g.offset[p * HALF], end = model->g.offset[(p + 1) * HALF];
        patch[p] = (struct lbm_graph){.n = HALF,
                                      .offset = lbm_alloc(HALF + 1, sizeof(uint64_t)),
                                      .target = lbm_alloc(end - begin, sizeof(uint32_t))};
        for (uint32_t v = 0; v <= HALF; v++)
            patch[p].offset[v] = model->g.offset[p * HALF + (int)v] - begin;
        for (uint64_t e = begin; e < end; e++)
            patch[p].target[e - begin] = (model->g.target[e] + (p == 1 ? HALF : 0)) % MODEL;
    }
    lbm_start_centre(MODEL, 2, model->pinned, model->x, &rng);
    memcpy(x[0], model->x, sizeof x[0]);
    memcpy(x[1], model->x + MODEL, sizeof(double) * MODEL);
    memcpy(x[1] + MODEL, model->x, sizeof(double) * MODEL);
    for (int sweep = 0; sweep < 1500; sweep++) {
        for (int p = 0; p < 2; p++) {
            struct lbm_diffusion how = {.m = 2, .pinned = model->pinned + p * HALF};
            assert_int_equal(lbm_diffuse(&patch[p], &how, 1, x[p], &rng, NULL, NULL), LBM_OK);
        }
        memcpy(x[0] + MODEL, x[1], sizeof(double) * MODEL);
        memcpy(x[1] + MODEL, x[0], sizeof(double) * MODEL);
    }
    memcpy(model->x, x[0], sizeof model->x);
    assert_true(error_cells(model) < 1e-6);
    lbm_graph_free(&patch[0]);
    lbm_graph_free(&patch[1]);
}

static void
nothing_to_move_stays(void **state)
{
    (void)state;
    const uint64_t offset[] = {0, 0, 0};
    struct lbm_graph g = {.offset = (uint64_t *)(uintptr_t)offset};
    for (g.n = 0; g.n <= 2; g.n++)
        for (int order = 0; order < LBM_ORDER_COUNT; order++) {
            double x[] = {0.25, 7, -1, 0.5}, norm = 1, largest = 1;
            struct lbm_diffusion how = {.m = 2, .order = (enum lbm_order)order};
            struct lbm_rng rng;
            lbm_rng_seed(&rng, 1);
            assert_int_equal(lbm_diffuse(&g, &how, 4, x, &rng, &norm, &largest), LBM_OK);
            assert_close(x, (const double[]){0.25, 7, -1, 0.5}, 4, 0);
            assert_true(norm == 0 && largest == 0);
        }
}

static void
the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("tri:6000");
    for (int order = 0; order < LBM_ORDER_COUNT; order++) {
        struct lbm_diffusion how = {.m = 2, .order = (enum lbm_order)order};
        struct lbm_rng rng;
        lbm_rng_seed(&rng, 8);
        double *x = embed_points(g.n, 2, &rng), *y = lbm_copy(x, 2 * (size_t)g.n, sizeof *x);
        double *z = lbm_copy(x, 2 * (size_t)g.n, sizeof *x);
        diffuse(&g, &how, 3, x, 1);
        diffuse(&g, &how, 3, y, 1);
        diffuse(&g, &how, 3, z, 2);
        assert_memory_equal(x, y, 2 * (size_t)g.n * sizeof *x);
        int is_drawn = order != LBM_ORDER_JACOBI && order != LBM_ORDER_IDS;
        assert_int_equal(memcmp(x, z, 2 * (size_t)g.n * sizeof *x) != 0, is_drawn);
        free(x);
        free(y);
        free(z);
    }
    lbm_graph_free(&g);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(model_problem_needs_233_sweeps_by_permutation, make_model,
                                        free_model),
        cmocka_unit_test_setup_teardown(model_problem_needs_391_sweeps_with_replacement, make_model,
                                        free_model),
        cmocka_unit_test_setup_teardown(model_problem_follows_figure_6_from_the_centre, make_model,
                                        free_model),
        cmocka_unit_test_setup_teardown(model_problem_follows_figure_7_from_a_random_start, make_model,
                                        free_model),
        cmocka_unit_test_setup_teardown(model_problem_comes_to_rest_on_the_grid, make_model, free_model),
        cmocka_unit_test(every_kind_of_sweep_agrees_with_the_definition),
        cmocka_unit_test(dense_rows_agree_with_the_definition),
        cmocka_unit_test(a_vertex_moves_to_the_weighted_mean),
        cmocka_unit_test(norm_is_that_of_the_last_sweep),
        cmocka_unit_test(diffusion_commutes_with_affine_maps),
        cmocka_unit_test(the_torus_has_no_seam),
        cmocka_unit_test(the_torus_holds_far_away_ghosts),
        cmocka_unit_test_setup_teardown(two_patches_with_ghosts_rest_where_the_whole_does, make_model,
                                        free_model),
        cmocka_unit_test(nothing_to_move_stays),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
