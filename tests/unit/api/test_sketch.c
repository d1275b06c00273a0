/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sketch of who talks with whom: what it counts exactly, what it keeps when there are too many, when a
 * weight changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/sketch.h"
#include "base/limits.h"

enum { SECOND = 1000, LOUD = 100, QUIET = 200000 };

static int
set_up(void **state)
{
    *state = calloc(1, sizeof(struct lbm_sketch));
    return *state == NULL;
}

static int
tear_down(void **state)
{
    free(*state);
    return 0;
}

static struct lbm_counter *
counter(struct lbm_sketch *sketch, uint32_t vertex, uint32_t other)
{
    for (size_t i = 0; i < LBM_SKETCH_COUNTERS; i++)
        if (sketch->counter[i].vertex == vertex && sketch->counter[i].other == other && vertex != other)
            return &sketch->counter[i];
    return NULL;
}

static void
few_pairs_are_counted_exactly(void **state)
{
    struct lbm_sketch *sketch = *state;
    for (int64_t second = 0; second < 3; second++) {
        for (uint32_t v = 0; v < LOUD; v++)
            for (uint32_t i = 0; i <= v; i++)
                lbm_sketch_add(sketch, v, v + 1, 2, second * SECOND);
        lbm_sketch_measure(sketch, (second + 1) * SECOND);
    }
    for (uint32_t v = 0; v < LOUD; v++) {
        struct lbm_counter *c = counter(sketch, v, v + 1);
        assert_non_null(c);
        assert_true(c->rate > 2 * (v + 1) - 1e-6 && c->rate < 2 * (v + 1) + 1e-6);
        assert_int_equal(lbm_sketch_weight(c, 2), v + 1);
    }
}

/* Pairs that talk often keep their counters whatever number of others talks now and then. */
static void
who_talks_much_is_kept(void **state)
{
    struct lbm_sketch *sketch = *state;
    uint32_t next = LOUD;
    for (int64_t second = 0; second < 10; second++) {
        for (int again = 0; again < 100; again++) {
            for (uint32_t v = 0; v < LOUD; v++)
                lbm_sketch_add(sketch, v, v + 1, 1, second * SECOND);
            for (int i = 0; i < QUIET / 1000; i++, next++)
                lbm_sketch_add(sketch, next, next + 1, 1, second * SECOND);
        }
        lbm_sketch_measure(sketch, (second + 1) * SECOND);
    }
    for (uint32_t v = 0; v < LOUD; v++) {
        struct lbm_counter *c = counter(sketch, v, v + 1);
        assert_non_null(c);
        assert_int_equal(c->measures, 10);
        assert_int_equal(lbm_sketch_weight(c, 1), 100);
    }
}

static void
a_weight_changes_when_it_is_worth_it(void **state)
{
    static const struct {
        double rate;
        uint32_t told, weight;
    } cases[] = {{100, 100, 100},
                 {124, 100, 100},
                 {126, 100, 126},
                 {76, 100, 100},
                 {74, 100, 74},
                 {0.2, 1, 1},
                 {0.05, 1, 0},
                 {0.05, 0, 0},
                 {0.2, 0, 1},
                 {3, LBM_SKETCH_UNTOLD, 3},
                 {1e12, 5, LBM_WEIGHT_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_counter c = {.other = 1, .measures = 2, .rate = cases[i].rate, .told = cases[i].told};
        assert_int_equal(lbm_sketch_weight(&c, 1), cases[i].weight);
        c.measures = 1; /* too early */
        assert_int_equal(lbm_sketch_weight(&c, 1), cases[i].told);
    }
}

static void
a_short_time_is_no_measure(void **state)
{
    struct lbm_sketch *sketch = *state;
    lbm_sketch_add(sketch, 1, 2, 5, 0);
    lbm_sketch_measure(sketch, 10);
    assert_int_equal(counter(sketch, 1, 2)->measures, 0);
    lbm_sketch_measure(sketch, SECOND);
    assert_int_equal(counter(sketch, 1, 2)->measures, 1);
    assert_true(counter(sketch, 1, 2)->rate > 4.99 && counter(sketch, 1, 2)->rate < 5.01);
    lbm_sketch_clear(counter(sketch, 1, 2));
    assert_null(counter(sketch, 1, 2));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_pairs_are_counted_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_talks_much_is_kept, set_up, tear_down),
        cmocka_unit_test(a_weight_changes_when_it_is_worth_it),
        cmocka_unit_test_setup_teardown(a_short_time_is_no_measure, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
