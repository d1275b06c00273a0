/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders of update, renormalization and starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "embed/order.h"
#include "tests/unit/embed/embed_fixture.h"
#include "tests/unit/graph/graph_fixture.h"

/* ---- orders ----------------------------------------------------------------------------------------- */

static const uint32_t sizes[] = {0,
                                 1,
                                 2,
                                 LBM_ORDER_BLOCK_VERTICES - 1,
                                 LBM_ORDER_BLOCK_VERTICES,
                                 LBM_ORDER_BLOCK_VERTICES + 1,
                                 5 * LBM_ORDER_BLOCK_VERTICES + 77};

static void
a_sweep_visits_every_vertex_once(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 2; kind++) {
            struct lbm_sweep_order order;
            uint8_t *visits = lbm_alloc(sizes[s], 1);
            assert_int_equal(lbm_order_open(&order, kind ? LBM_ORDER_PERMUTATION : LBM_ORDER_BLOCK, sizes[s]),
                             LBM_OK);
            for (int sweep = 1; sweep <= 3; sweep++) {
                lbm_order_shuffle(&order, &rng);
                for (uint32_t count; (count = lbm_order_next(&order, &rng)) != 0;)
                    for (uint32_t i = 0; i < count; i++)
                        visits[order.batch[i]]++;
                for (uint32_t v = 0; v < sizes[s]; v++)
                    assert_int_equal(visits[v], sweep);
            }
            lbm_order_close(&order);
            free(visits);
        }
}

static void
a_sweep_with_replacement_draws_n_vertices(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct lbm_sweep_order order;
        uint32_t drawn = 0;
        assert_int_equal(lbm_order_open(&order, LBM_ORDER_REPLACEMENT, sizes[s]), LBM_OK);
        lbm_order_shuffle(&order, &rng);
        for (uint32_t count; (count = lbm_order_next(&order, &rng)) != 0; drawn += count)
            for (uint32_t i = 0; i < count; i++)
                assert_true(order.batch[i] < sizes[s]);
        assert_int_equal(drawn, sizes[s]);
        lbm_order_close(&order);
    }
}

static void
what_is_said_to_come_comes(void **state)
{
    (void)state;
    enum { N = 4 * LBM_ORDER_BLOCK_VERTICES + 5 };
    struct lbm_sweep_order order;
    struct lbm_rng rng;
    uint32_t first[2] = {0, 0}, n[2] = {0, 0}, batches = 0;
    lbm_rng_seed(&rng, 3);
    assert_int_equal(lbm_order_open(&order, LBM_ORDER_BLOCK, N), LBM_OK);
    lbm_order_shuffle(&order, &rng);
    for (uint32_t count; (count = lbm_order_next(&order, &rng)) != 0; batches++) {
        if (batches != 0) { /* what was one batch ahead is here, what was two ahead is one ahead */
            assert_int_equal(count, n[0]);
            for (uint32_t i = 0; i < count; i++)
                assert_true(order.batch[i] - first[0] < n[0]);
        }
        uint32_t was_second = n[1], was_first = first[1];
        n[0] = lbm_order_coming(&order, 1, &first[0]);
        n[1] = lbm_order_coming(&order, 2, &first[1]);
        if (batches != 0)
            assert_true(n[0] == was_second && (n[0] == 0 || first[0] == was_first));
    }
    assert_int_equal(batches, 5);
    lbm_order_close(&order);
}

/* ---- renormalization -------------------------------------------------------------------------------- */

static void
moments_of_parts_add(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 12);
    struct lbm_graph g = graph_random(1000, 2000, 1, &rng), left = g, right = g;
    double *x = embed_points(1000, 3, &rng);
    struct lbm_moments all = {0}, sum = {0}, rest = {0};
    left.n = 400;
    right.n = 600;
    right.work = g.work != NULL ? g.work + 400 : NULL;
    lbm_moments_take(&all, &g, 3, x);
    lbm_moments_take(&sum, &left, 3, x);
    lbm_moments_take(&rest, &right, 3, x + 3 * 400);
    lbm_moments_add(&sum, &rest);
    assert_close(&sum.work, &all.work, 1, 0);
    assert_close(sum.sum, all.sum, 3, 1e-9 * all.work);
    assert_close(sum.prod, all.prod, 6, 1e-9 * all.work);
    free(x);
    lbm_graph_free(&g);
}

static void
whitened_points_have_mean_half_and_variance_a_twelfth(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 13);
    struct lbm_graph g = graph_random(500, 100, 1, &rng);
    for (unsigned m = 2; m <= 3; m++) {
        double *x = embed_points(g.n, m, &rng);
        struct lbm_moments before = {0}, after = {0};
        struct lbm_affine map;
        for (uint32_t v = 0; v < g.n; v++) { /* skewed, flat and off the centre */
            x[v * m + 1] = 0.01 * x[v * m + 1] + x[v * m] + 3;
            x[v * m + m - 1] -= 2 * x[v * m];
        }
        lbm_moments_take(&before, &g, m, x);
        assert_int_equal(lbm_moments_whiten(&before, m, &map), LBM_OK);
        for (uint32_t v = 0; v < g.n; v++)
            lbm_affine_apply(&map, &x[v * m], &x[v * m]);
        lbm_moments_take(&after, &g, m, x);
        for (unsigned i = 0, at = 0; i < m; i++) {
            double mean = after.sum[i] / after.work;
            assert_close(&mean, &(double){0.5}, 1, 1e-9);
            for (unsigned j = 0; j <= i; j++, at++) {
                double covariance = after.prod[at] / after.work - mean * after.sum[j] / after.work;
                assert_close(&covariance, &(double){i == j ? 1.0 / 12 : 0}, 1, 1e-7);
            }
        }
        free(x);
    }
    lbm_graph_free(&g);
}

static void
points_in_a_hyperplane_are_not_whitened(void **state)
{
    (void)state;
    const uint64_t offset[101] = {0};
    struct lbm_graph g = {.n = 100, .offset = (uint64_t *)(uintptr_t)offset};
    double x[200];
    struct lbm_affine map;
    for (int kind = 0; kind < 3; kind++)
        for (double at = 0.01; at < 1; at += 0.01) { /* rounding leaves some of them a little variance */
            for (uint32_t v = 0; v < g.n; v++) {
                double t = kind == 0 ? at : at * v; /* one point, a line, a line along an axis */
                x[2 * v] = t;
                x[2 * v + 1] = kind == 2 ? at : 0.2 - t / 3;
            }
            struct lbm_moments moments = {0};
            lbm_moments_take(&moments, &g, 2, x);
            assert_int_equal(lbm_moments_whiten(&moments, 2, &map), LBM_E_STATE);
        }
}

static void
no_points_are_not_whitened(void **state)
{
    (void)state;
    struct lbm_moments none = {0};
    struct lbm_affine map;
    for (unsigned m = 2; m <= 3; m++)
        assert_int_equal(lbm_moments_whiten(&none, m, &map), LBM_E_STATE);
}

static void
the_identity_changes_nothing(void **state)
{
    (void)state;
    for (unsigned m = 2; m <= 3; m++) {
        struct lbm_affine map;
        double x[] = {0.1, -2, 3e9}, y[3] = {0};
        lbm_affine_identity(&map, m);
        lbm_affine_apply(&map, x, y);
        assert_close(x, y, m, 0);
    }
}

/* ---- starts ----------------------------------------------------------------------------------------- */

static void
starts_leave_pins_alone(void **state)
{
    (void)state;
    const uint8_t pinned[] = {0, 2, 0}, none[] = {0, 0, 0};
    double x[] = {9, 9, 9, 9, 9, 9};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    lbm_start_centre(3, 2, pinned, x, &rng);
    assert_close(x, (const double[]){0.5, 0.5, 9, 9, 0.5, 0.5}, 6, 0);
    lbm_start_random(3, 2, pinned, x, &rng);
    assert_close(x + 2, (const double[]){9, 9}, 2, 0);
    assert_close(x, (const double[]){0.5, 0.5}, 2, 0.5);
    assert_close(x + 4, (const double[]){0.5, 0.5}, 2, 0.5);
    assert_true(x[0] != x[4]);
    for (int i = 0; i < 2; i++) { /* without pins the start is no fixed point */
        lbm_start_centre(3, 2, i ? none : NULL, x, &rng);
        assert_close(x, (const double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 6, 0.5e-3);
        assert_true(x[0] != x[2] && x[2] != x[4]);
    }
    lbm_start_random(0, 2, NULL, NULL, &rng);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_visits_every_vertex_once),
        cmocka_unit_test(a_sweep_with_replacement_draws_n_vertices),
        cmocka_unit_test(what_is_said_to_come_comes),
        cmocka_unit_test(moments_of_parts_add),
        cmocka_unit_test(whitened_points_have_mean_half_and_variance_a_twelfth),
        cmocka_unit_test(points_in_a_hyperplane_are_not_whitened),
        cmocka_unit_test(no_points_are_not_whitened),
        cmocka_unit_test(the_identity_changes_nothing),
        cmocka_unit_test(starts_leave_pins_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
