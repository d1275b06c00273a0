/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/graph: the representation, the builder and the validator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/rows.h"
#include "tests/unit/graph/graph_fixture.h"

static struct lbm_diag diag;

#define BUILD(n, merge, out, ...)                                                                            \
    lbm_graph_build((n), (const struct lbm_edge[]){__VA_ARGS__},                                             \
                    sizeof((const struct lbm_edge[]){__VA_ARGS__}) / sizeof(struct lbm_edge), (merge),       \
                    (out), &diag)

/* ---- builder ------------------------------------------------------------------------------------- */

static void
no_vertices_and_no_edges_build(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 3; n++) {
        struct lbm_graph g;
        uint32_t component[3];
        assert_int_equal(lbm_graph_build(n, NULL, 0, LBM_MERGE_REJECT, &g, &diag), LBM_OK);
        assert_int_equal(lbm_graph_check(&g, &diag), LBM_OK);
        assert_int_equal(lbm_graph_directions(&g), 0);
        assert_int_equal(lbm_graph_total_work(&g), n);
        assert_int_equal(lbm_graph_max_work(&g), n > 0);
        assert_int_equal(lbm_graph_components(&g, component), n);
        lbm_graph_free(&g);
    }
}

static void
rows_are_sorted_and_symmetric_whatever_the_order(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    for (int round = 0; round < 50; round++) {
        struct lbm_graph g =
            graph_random(1 + lbm_rng_below(&rng, 200), lbm_rng_below(&rng, 2000), round % 2, &rng);
        if (lbm_graph_check(&g, &diag) != LBM_OK)
            fail_msg("%s", diag.text);
        lbm_graph_free(&g);
    }
}

static void
the_order_of_edges_does_not_matter(void **state)
{
    (void)state;
    struct lbm_edge edges[200];
    struct lbm_rng rng;
    struct lbm_graph first, again;
    lbm_rng_seed(&rng, 2);
    for (uint32_t e = 0; e < 200; e++)
        edges[e] = (struct lbm_edge){lbm_rng_below(&rng, 20), 20 + lbm_rng_below(&rng, 20), 1 + e};
    assert_int_equal(lbm_graph_build(40, edges, 200, LBM_MERGE_SUM, &first, &diag), LBM_OK);
    for (uint32_t e = 199; e > 0; e--) {
        uint32_t other = lbm_rng_below(&rng, e + 1);
        struct lbm_edge swapped = {edges[other].v, edges[other].u, edges[other].weight};
        edges[other] = edges[e];
        edges[e] = swapped;
    }
    assert_int_equal(lbm_graph_build(40, edges, 200, LBM_MERGE_SUM, &again, &diag), LBM_OK);
    assert_graph_equal(&first, &again);
    lbm_graph_free(&first);
    lbm_graph_free(&again);
}

static void
merge_sum_adds_weights(void **state)
{
    (void)state;
    struct lbm_graph g;
    assert_int_equal(BUILD(3, LBM_MERGE_SUM, &g, {0, 1, 3}, {1, 0, 4}, {1, 2, 1}, {0, 1, 5}), LBM_OK);
    assert_int_equal(lbm_graph_directions(&g), 4);
    assert_int_equal(lbm_graph_weight(&g, 0), 12);
    assert_int_equal(lbm_graph_check(&g, &diag), LBM_OK);
    lbm_graph_free(&g);
}

static void
merge_sum_beyond_the_largest_weight_is_refused(void **state)
{
    (void)state;
    struct lbm_graph g = {.n = 77};
    assert_int_equal(BUILD(2, LBM_MERGE_SUM, &g, {0, 1, LBM_WEIGHT_MAX}, {0, 1, 1}), LBM_E_RANGE);
    assert_int_equal(g.n, 77);
    assert_int_equal(BUILD(2, LBM_MERGE_SUM, &g, {0, 1, LBM_WEIGHT_MAX - 1}, {0, 1, 1}), LBM_OK);
    lbm_graph_free(&g);
}

static void
merge_keep_takes_equal_copies_only(void **state)
{
    (void)state;
    struct lbm_graph g = {.n = 77};
    assert_int_equal(BUILD(2, LBM_MERGE_KEEP, &g, {0, 1, 3}, {1, 0, 4}), LBM_E_SYNTAX);
    assert_int_equal(g.n, 77);
    assert_int_equal(BUILD(2, LBM_MERGE_KEEP, &g, {0, 1, 3}, {1, 0, 3}), LBM_OK);
    assert_int_equal(lbm_graph_directions(&g), 2);
    lbm_graph_free(&g);
}

static void
merge_reject_takes_no_copies(void **state)
{
    (void)state;
    struct lbm_graph g = {.n = 77};
    assert_int_equal(BUILD(3, LBM_MERGE_REJECT, &g, {0, 1, 1}, {1, 2, 1}, {1, 0, 1}), LBM_E_SYNTAX);
    assert_non_null(strstr(diag.text, "0"));
    assert_int_equal(g.n, 77);
}

static void
edges_out_of_range_are_refused(void **state)
{
    (void)state;
    struct lbm_graph g = {.n = 77};
    static const struct lbm_edge bad[] = {{0, 2, 1}, {2, 0, 1}, {LBM_NONE, 0, 1},
                                          {1, 1, 1}, {0, 1, 0}, {0, 1, LBM_WEIGHT_MAX + 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(lbm_graph_build(2, &bad[i], 1, LBM_MERGE_SUM, &g, &diag), LBM_E_RANGE);
    assert_int_equal(lbm_graph_build(LBM_VERTICES_MAX + 1, NULL, 0, LBM_MERGE_SUM, &g, &diag), LBM_E_RANGE);
    assert_int_equal(g.n, 77);
}

static void
weights_that_are_all_one_are_not_stored(void **state)
{
    (void)state;
    struct lbm_graph g;
    assert_int_equal(BUILD(3, LBM_MERGE_SUM, &g, {0, 1, 1}, {1, 2, 1}), LBM_OK);
    assert_null(g.weight);
    lbm_graph_free(&g);
}

static void
long_rows_sort_with_their_weights(void **state)
{
    (void)state;
    enum { LEN = 1000 };
    uint32_t target[LEN], weight[LEN];
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (size_t len = 0; len <= LEN; len = len < 40 ? len + 1 : len * 5) {
        for (uint32_t i = 0; i < len; i++)
            target[i] = 3 * i;
        lbm_rng_shuffle(&rng, target, len);
        for (size_t i = 0; i < len; i++)
            weight[i] = target[i] + 1;
        lbm_row_sort(target, weight, len);
        for (uint32_t i = 0; i < len; i++) {
            assert_int_equal(target[i], 3 * i);
            assert_int_equal(weight[i], 3 * i + 1);
        }
    }
}

/* ---- validator ----------------------------------------------------------------------------------- */

/* A triangle with weights; each case breaks it in one place. */
struct triangle {
    struct lbm_graph g;
    uint64_t offset[4];
    uint32_t target[6], weight[6], work[3];
    double position[6];
};

static void
make_triangle(struct triangle *t)
{
    *t = (struct triangle){.offset = {0, 2, 4, 6},
                           .target = {1, 2, 0, 2, 0, 1},
                           .weight = {7, 8, 7, 9, 8, 9},
                           .work = {1, LBM_WEIGHT_MAX, 2}};
    t->g = (struct lbm_graph){.n = 3,
                              .offset = t->offset,
                              .target = t->target,
                              .weight = t->weight,
                              .work = t->work,
                              .position = t->position};
}

static void
each_kind_of_damage_is_found(void **state)
{
    (void)state;
    struct triangle t;
    make_triangle(&t);
    assert_int_equal(lbm_graph_check(&t.g, &diag), LBM_OK);
    struct {
        void *at;
        uint64_t value;
        size_t size;
        enum lbm_err err;
    } damages[] = {
        {&t.offset[0], 1, 8, LBM_E_RANGE},
        {&t.offset[1], 5, 8, LBM_E_RANGE},
        {&t.target[0], 0, 4, LBM_E_SYNTAX},
        {&t.target[1], 1, 4, LBM_E_SYNTAX},
        {&t.target[5], 3, 4, LBM_E_RANGE},
        {&t.target[0], LBM_NONE, 4, LBM_E_RANGE},
        {&t.weight[0], 6, 4, LBM_E_SYNTAX},
        {&t.weight[5], 10, 4, LBM_E_SYNTAX},
        {&t.weight[2], 0, 4, LBM_E_RANGE},
        {&t.weight[2], UINT64_C(0x80000000), 4, LBM_E_RANGE},
        {&t.work[1], 0, 4, LBM_E_RANGE},
        {&t.work[1], UINT64_C(0x80000000), 4, LBM_E_RANGE},
        {&t.position[3], UINT64_C(0x7ff8000000000000), 8, LBM_E_RANGE},
        {&t.position[0], UINT64_C(0x7ff0000000000000), 8, LBM_E_RANGE},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        make_triangle(&t);
        memcpy(damages[i].at, &damages[i].value, damages[i].size); /* little-endian: the low bytes */
        if (lbm_graph_check(&t.g, &diag) != damages[i].err)
            fail_msg("damage %zu was not found", i);
        assert_true(diag.text[0] != '\0');
    }
}

static void
unsorted_rows_are_found(void **state)
{
    (void)state;
    struct triangle t;
    make_triangle(&t);
    memcpy(t.target, (const uint32_t[]){2, 1, 0, 2, 0, 1}, sizeof t.target);
    assert_int_equal(lbm_graph_check(&t.g, &diag), LBM_E_SYNTAX);
    assert_non_null(strstr(diag.text, "sorted"));
}

/* Remove one direction of one edge of a random graph: whichever it is, that pair must be named. */
static void
every_one_sided_edge_is_found_and_named(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 4);
    struct lbm_graph g = graph_random(40, 120, 0, &rng);
    for (uint64_t gone = 0; gone < lbm_graph_directions(&g); gone++) {
        struct lbm_graph cut = {.n = g.n};
        cut.offset = lbm_copy(g.offset, (size_t)g.n + 1, sizeof *g.offset);
        cut.target = lbm_copy(g.target, lbm_graph_directions(&g), sizeof *g.target);
        assert_true(cut.offset != NULL && cut.target != NULL);
        memmove(cut.target + gone, cut.target + gone + 1,
                (lbm_graph_directions(&g) - gone - 1) * sizeof *cut.target);
        uint32_t v = 0;
        for (uint32_t u = 0; u <= g.n; u++) {
            v = g.offset[u] <= gone ? u : v;
            cut.offset[u] -= g.offset[u] > gone;
        }
        struct lbm_graph_fault fault;
        assert_int_equal(lbm_rows_symmetric(&cut, &fault), LBM_E_SYNTAX);
        assert_int_equal(fault.kind, LBM_FAULT_ONE_SIDED);
        assert_int_equal(fault.u, g.target[gone]);
        assert_int_equal(fault.v, v);
        lbm_graph_free(&cut);
    }
    lbm_graph_free(&g);
}

/* ---- the rest ------------------------------------------------------------------------------------ */

static void
work_sums_in_64_bits(void **state)
{
    (void)state;
    struct triangle t;
    make_triangle(&t);
    t.work[0] = t.work[2] = LBM_WEIGHT_MAX;
    assert_int_equal(lbm_graph_total_work(&t.g), 3 * (uint64_t)LBM_WEIGHT_MAX);
    assert_int_equal(lbm_graph_max_work(&t.g), LBM_WEIGHT_MAX);
}

static void
components_are_numbered_by_their_smallest_vertex(void **state)
{
    (void)state;
    struct lbm_graph g;
    uint32_t component[7];
    static const uint32_t expected[7] = {0, 1, 0, 2, 1, 0, 3};
    assert_int_equal(BUILD(7, LBM_MERGE_REJECT, &g, {5, 0, 1}, {2, 5, 1}, {4, 1, 1}), LBM_OK);
    assert_int_equal(lbm_graph_components(&g, component), 4);
    assert_memory_equal(component, expected, sizeof expected);
    lbm_graph_free(&g);
}

static void
components_of_a_patch_ignore_ghosts(void **state)
{
    (void)state;
    uint64_t offset[] = {0, 1, 2};
    uint32_t target[] = {2, 2}, component[2];
    struct lbm_graph patch = {.n = 2, .offset = offset, .target = target};
    assert_int_equal(lbm_graph_components(&patch, component), 2);
}

static void
free_leaves_an_empty_graph(void **state)
{
    (void)state;
    static const struct lbm_graph empty;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    struct lbm_graph g = graph_random(9, 20, 1, &rng);
    lbm_graph_free(&g);
    assert_memory_equal(&g, &empty, sizeof g);
    lbm_graph_free(&g);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_vertices_and_no_edges_build),
        cmocka_unit_test(rows_are_sorted_and_symmetric_whatever_the_order),
        cmocka_unit_test(the_order_of_edges_does_not_matter),
        cmocka_unit_test(merge_sum_adds_weights),
        cmocka_unit_test(merge_sum_beyond_the_largest_weight_is_refused),
        cmocka_unit_test(merge_keep_takes_equal_copies_only),
        cmocka_unit_test(merge_reject_takes_no_copies),
        cmocka_unit_test(edges_out_of_range_are_refused),
        cmocka_unit_test(weights_that_are_all_one_are_not_stored),
        cmocka_unit_test(long_rows_sort_with_their_weights),
        cmocka_unit_test(each_kind_of_damage_is_found),
        cmocka_unit_test(unsorted_rows_are_found),
        cmocka_unit_test(every_one_sided_edge_is_found_and_named),
        cmocka_unit_test(work_sums_in_64_bits),
        cmocka_unit_test(components_are_numbered_by_their_smallest_vertex),
        cmocka_unit_test(components_of_a_patch_ignore_ghosts),
        cmocka_unit_test(free_leaves_an_empty_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
