/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of update other than the mean: circles that touch, edges that halve the angles next to them. */
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

static double
sweep(const struct lbm_graph *g, const struct lbm_diffusion *how, int sweeps, double *x)
{
    struct lbm_rng rng;
    double largest;
    lbm_rng_seed(&rng, 1);
    assert_int_equal(lbm_diffuse(g, how, sweeps, x, &rng, NULL, &largest), LBM_OK);
    return largest;
}

static void
radii_follow_work_and_cover_the_share(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    struct lbm_graph g = embed_generate("lattice:4x4");
    double radius[16], area = 0.0, volume = 0.0;
    g.work = lbm_alloc(g.n, sizeof *g.work);
    assert_non_null(g.work);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = v + 1;
    lbm_circle_radii(&g, 2, 0.5, radius);
    for (uint32_t v = 0; v < g.n; v++) {
        area += pi * radius[v] * radius[v];
        assert_true(fabs(radius[v] - (v + 1) * radius[0]) < 1e-12);
    }
    assert_true(fabs(area - 0.5) < 1e-12);
    lbm_circle_radii(&g, 3, 2.0, radius);
    for (uint32_t v = 0; v < g.n; v++)
        volume += 4.0 / 3.0 * pi * pow(radius[v], 3);
    assert_true(fabs(volume - 2.0) < 1e-12);
    lbm_graph_free(&g);
}

static void
two_circles_touch_after_one_update(void **state)
{
    (void)state;
    const struct lbm_edge edge = {0, 1, 3};
    struct lbm_graph g = embed_build(2, &edge, 1);
    const double radius[2] = {0.1, 0.2};
    const uint8_t pinned[2] = {1, 0};
    double apart[4] = {0.1, 0.1, 0.4, 0.5}, close[6] = {0.5, 0.5, 0.5, 0.51, 0.5, 0.5};
    struct lbm_diffusion how = {.m = 2, .rule = LBM_RULE_CIRCLES, .radius = radius, .pinned = pinned};
    sweep(&g, &how, 1, apart);
    const double touching[4] = {0.1, 0.1, 0.1 + 0.3 * 0.6, 0.1 + 0.3 * 0.8};
    assert_close(apart, touching, 4, 1e-12);
    how.m = 3;
    sweep(&g, &how, 1, close);
    assert_true(fabs(hypot(hypot(close[0] - close[3], close[1] - close[4]), close[2] - close[5]) - 0.3) <
                1e-12);
    double at_one_place[4] = {0.5, 0.5, 0.5, 0.5};
    how.m = 2;
    sweep(&g, &how, 1, at_one_place);
    assert_true(at_one_place[2] == 0.5 && at_one_place[3] == 0.5);
    lbm_graph_free(&g);
}

static void
circles_without_radius_are_the_mean(void **state)
{
    (void)state;
    struct lbm_rng rng;
    struct lbm_graph g = embed_generate("tri:200");
    lbm_rng_seed(&rng, 3);
    double *x = embed_points(g.n, 2, &rng), *y = lbm_copy(x, 2 * (size_t)g.n, sizeof *x);
    double *radius = lbm_alloc(g.n, sizeof *radius);
    assert_true(y != NULL && radius != NULL);
    for (enum lbm_order order = 0; order < LBM_ORDER_COUNT; order++) {
        struct lbm_diffusion how = {.m = 2, .order = order}, circles = how;
        circles.rule = LBM_RULE_CIRCLES;
        circles.radius = radius;
        double a = sweep(&g, &how, 5, x), b = sweep(&g, &circles, 5, y);
        assert_close(x, y, 2 * (size_t)g.n, 1e-12);
        assert_true(fabs(a - b) < 1e-12);
    }
    free(x);
    free(y);
    free(radius);
    lbm_graph_free(&g);
}

/* Sum of squares of what is between touching circles. */
static double
stress(const struct lbm_graph *g, const double *radius, const double *x)
{
    double sum = 0.0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t j = g->target[e];
            double gap =
                hypot(x[2 * (size_t)v] - x[2 * (size_t)j], x[2 * (size_t)v + 1] - x[2 * (size_t)j + 1]) -
                radius[v] - radius[j];
            sum += gap * gap;
        }
    return sum;
}

static void
gaps_between_circles_never_grow(void **state)
{
    (void)state;
    struct lbm_rng rng;
    struct lbm_graph g = embed_generate("tri:200");
    lbm_rng_seed(&rng, 4);
    double *x = embed_points(g.n, 2, &rng), *radius = lbm_alloc(g.n, sizeof *radius);
    assert_non_null(radius);
    for (uint32_t v = 0; v < g.n; v++)
        radius[v] = 0.1 * lbm_rng_unit(&rng);
    struct lbm_diffusion how = {
        .m = 2, .order = LBM_ORDER_PERMUTATION, .rule = LBM_RULE_CIRCLES, .radius = radius};
    double first = stress(&g, radius, x), before = first;
    for (int i = 0; i < 200; i++) {
        sweep(&g, &how, 1, x);
        double now = stress(&g, radius, x);
        assert_true(now <= before + 1e-12);
        before = now;
    }
    assert_true(before < 0.5 * first);
    free(x);
    free(radius);
    lbm_graph_free(&g);
}

static void
the_end_of_a_bent_chain_becomes_straight(void **state)
{
    (void)state;
    const struct lbm_edge edges[] = {{0, 1, 1}, {1, 2, 1}};
    struct lbm_graph g = embed_build(3, edges, 2);
    const uint8_t pinned[3] = {1, 1, 0};
    double own[6] = {0, 0, 1, 0, 1, 3}, equal[6] = {0, 0, 1, 0, 1, 3};
    struct lbm_diffusion how = {.m = 2, .rule = LBM_RULE_ANGLES, .pinned = pinned};
    sweep(&g, &how, 1, own);
    assert_close(own, (const double[6]){0, 0, 1, 0, 4, 0}, 6, 1e-12);
    how.length = 2.0;
    sweep(&g, &how, 1, equal);
    assert_close(equal, (const double[6]){0, 0, 1, 0, 3, 0}, 6, 1e-12);
    lbm_graph_free(&g);
}

/* Of the centre's three edges one is to go to where the other two leave room. */
static void
an_edge_halves_the_angle_between_those_next_to_it(void **state)
{
    (void)state;
    const struct lbm_edge edges[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}};
    struct lbm_graph g = embed_build(4, edges, 3);
    const uint8_t pinned[4] = {1, 1, 1, 0};
    double x[8] = {0, 0, 1, 0, 0, 1, 1.0, -0.01};
    struct lbm_diffusion how = {.m = 2, .rule = LBM_RULE_ANGLES, .pinned = pinned, .length = 1.0};
    sweep(&g, &how, 1, x);
    assert_true(fabs(x[6] + sqrt(0.5)) < 1e-12 && fabs(x[7] + sqrt(0.5)) < 1e-12);
    lbm_graph_free(&g);
}

static void
a_pinned_lattice_is_where_angles_rest(void **state)
{
    (void)state;
    struct lbm_graph g = embed_generate("lattice:8x8");
    uint8_t pinned[64];
    double x[128];
    uint32_t n_pinned;
    assert_int_equal(lbm_pin_outer_face(&g, pinned, x, &n_pinned), LBM_OK);
    for (uint32_t v = 0; v < g.n; v++) {
        x[2 * v] = v % 8 / 7.0;
        x[2 * v + 1] = v / 8 / 7.0;
    }
    struct lbm_diffusion how = {.m = 2, .rule = LBM_RULE_ANGLES, .pinned = pinned};
    assert_true(sweep(&g, &how, 1, x) < 1e-12);
    how.length = 1.0 / 7.0;
    for (uint32_t v = 0; v < g.n; v++)
        x[2 * v] += pinned[v] ? 0.0 : 0.01 * (v % 3);
    assert_true(sweep(&g, &how, 1, x) > 1e-3);
    assert_true(sweep(&g, &how, 500, x) < 1e-9); /* with lengths that are held the solution attracts */
    for (uint32_t v = 0; v < g.n; v++)
        assert_true(fabs(x[2 * v] - v % 8 / 7.0) < 1e-6);
    lbm_graph_free(&g);
}

static void
vertices_without_neighbours_and_pins_stay(void **state)
{
    (void)state;
    const struct lbm_edge edge = {0, 1, 1};
    struct lbm_graph g = embed_build(3, &edge, 1);
    const uint8_t pinned[3] = {1, 1, 0};
    const double radius[3] = {1, 1, 1}, start[6] = {0, 0, 0.1, 0, 0.3, 0.7};
    for (enum lbm_diffusion_rule rule = 0; rule < LBM_RULE_COUNT; rule++) {
        double x[6];
        memcpy(x, start, sizeof x);
        struct lbm_diffusion how = {.m = 2, .rule = rule, .pinned = pinned, .radius = radius};
        assert_true(sweep(&g, &how, 3, x) == 0.0);
        assert_memory_equal(x, start, sizeof x);
    }
    lbm_graph_free(&g);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radii_follow_work_and_cover_the_share),
        cmocka_unit_test(two_circles_touch_after_one_update),
        cmocka_unit_test(circles_without_radius_are_the_mean),
        cmocka_unit_test(gaps_between_circles_never_grow),
        cmocka_unit_test(the_end_of_a_bent_chain_becomes_straight),
        cmocka_unit_test(an_edge_halves_the_angle_between_those_next_to_it),
        cmocka_unit_test(a_pinned_lattice_is_where_angles_rest),
        cmocka_unit_test(vertices_without_neighbours_and_pins_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
