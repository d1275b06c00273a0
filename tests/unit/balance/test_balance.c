/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exchange of one pair, and the detection of termination in synchronous sweeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance/balance.h"
#include "base/rng.h"

/* ---- exchange ------------------------------------------------------------------------------------ */

/* XL95 eq. (6) as printed: the heavier keeps lighter + ceil((1 - lambda) d). */
static uint64_t
given_as_printed(uint64_t heavier, uint64_t lighter, uint32_t numerator, uint32_t denominator)
{
    uint64_t d = heavier - lighter, kept = (d * (denominator - numerator) + denominator - 1) / denominator;
    return d <= 1 ? 0 : heavier - (lighter + kept);
}

static void
the_heavier_keeps_what_the_paper_prints(void **state)
{
    (void)state;
    static const struct {
        uint64_t heavier, lighter;
        uint32_t numerator, denominator;
        uint64_t gives;
    } rows[] = {
        {5, 5, 1, 2, 0},   {6, 5, 1, 2, 0},   {7, 5, 1, 2, 1},      {8, 5, 1, 2, 1},      {9, 5, 1, 2, 2},
        {10, 0, 7, 10, 7}, {11, 1, 6, 10, 6}, {20, 0, 85, 100, 17}, {20, 0, 95, 100, 19}, {3, 0, 7, 10, 2},
        {3, 0, 4, 10, 1},  {2, 0, 4, 10, 0},  {9, 2, 1, 1, 7},      {9, 2, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            lbm_gde_exchange(rows[i].heavier, rows[i].lighter, rows[i].numerator, rows[i].denominator),
            rows[i].gives);
    for (uint64_t d = 0; d < 300; d++)
        for (uint32_t numerator = 0; numerator <= 20; numerator++)
            assert_int_equal(lbm_gde_exchange(d + 7, 7, numerator, 20),
                             given_as_printed(d + 7, 7, numerator, 20));
}

static void
the_largest_loads_and_fractions_do_not_overflow(void **state)
{
    (void)state;
    assert_true(lbm_gde_exchange(UINT64_MAX, 0, 1, 2) == UINT64_MAX / 2);
    assert_true(lbm_gde_exchange(UINT64_MAX, 0, UINT32_MAX, UINT32_MAX) == UINT64_MAX);
    assert_true(lbm_gde_exchange(UINT64_MAX, 0, UINT32_MAX - 1, UINT32_MAX) ==
                UINT64_MAX / UINT32_MAX * (UINT32_MAX - 1));
}

static void
half_levels_a_pair_to_a_difference_of_at_most_one(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    for (int i = 0; i < 10000; i++) {
        uint64_t a = lbm_rng_below(&rng, 1000000), b = lbm_rng_below(&rng, (uint32_t)a + 1);
        uint64_t gives = lbm_gde_exchange(a, b, 1, 2);
        assert_true(a - gives >= b + gives && (a - gives) - (b + gives) <= 1);
    }
}

/* Integer exchange on a ring as EXPECTED.md's definition counts: colours (0,1)(2,3).. then (1,2)(3,4)..,
 * the last sweep, in which nothing moves, included. */
static int
sweeps_on_even_ring(uint64_t *load, uint32_t n, uint32_t numerator, uint32_t denominator)
{
    for (int sweeps = 1;; sweeps++) {
        uint64_t moved = 0;
        for (uint32_t colour = 0; colour < 2; colour++)
            for (uint32_t p = colour; p < n; p += 2) {
                uint64_t *a = &load[p], *b = &load[(p + 1) % n];
                if (*a < *b) {
                    uint64_t *swap = a;
                    a = b;
                    b = swap;
                }
                uint64_t gives = lbm_gde_exchange(*a, *b, numerator, denominator);
                *a -= gives;
                *b += gives;
                moved += gives;
            }
        if (moved == 0)
            return sweeps;
        assert_true(sweeps < 10000);
    }
}

static void
exchange_on_a_ring_conserves_the_load_and_ends_within_one_of_each_neighbour(void **state)
{
    (void)state;
    enum { N = 16 };
    uint64_t balanced[N];
    for (int i = 0; i < N; i++)
        balanced[i] = 9;
    assert_int_equal(sweeps_on_even_ring(balanced, N, 7, 10), 1);
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 2);
    for (int run = 0; run < 50; run++) {
        uint64_t load[N], before = 0, after = 0;
        for (int i = 0; i < N; i++)
            before += load[i] = lbm_rng_below(&rng, 256);
        sweeps_on_even_ring(load, N, 7, 10);
        for (int i = 0; i < N; i++) {
            uint64_t next = load[(i + 1) % N];
            after += load[i];
            assert_true(load[i] <= next + 1 && next <= load[i] + 1);
        }
        assert_int_equal(before, after);
    }
}

static void
equal_targets_share_as_the_integer_exchange_does(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (int i = 0; i < 10000; i++) {
        uint64_t a = lbm_rng_below(&rng, 5000), b = lbm_rng_below(&rng, 5000);
        uint32_t numerator = lbm_rng_below(&rng, 21);
        int64_t share = lbm_gde_share(a, 31.7, b, 31.7, numerator, 20);
        int64_t expected = a >= b ? (int64_t)lbm_gde_exchange(a, b, numerator, 20)
                                  : -(int64_t)lbm_gde_exchange(b, a, numerator, 20);
        assert_int_equal(share, expected);
        assert_int_equal(lbm_gde_share(b, 31.7, a, 31.7, numerator, 20), -share);
    }
}

static void
unequal_targets_are_levelled_in_proportion_without_overshoot(void **state)
{
    (void)state;
    assert_int_equal(lbm_gde_share(100, 30.0, 0, 10.0, 1, 2), 25);
    assert_int_equal(lbm_gde_share(0, 10.0, 100, 30.0, 1, 2), -25);
    assert_int_equal(lbm_gde_share(75, 30.0, 25, 10.0, 1, 2), 0);
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 4);
    for (int i = 0; i < 10000; i++) {
        uint64_t a = lbm_rng_below(&rng, 100000), b = lbm_rng_below(&rng, 100000);
        double ta = 1.0 + lbm_rng_unit(&rng) * 1000, tb = 1.0 + lbm_rng_unit(&rng) * 1000;
        double d = ((double)a * tb - (double)b * ta) / (ta + tb);
        double share = (double)lbm_gde_share(a, ta, b, tb, 1, 2);
        assert_true(fabs(share) <= fabs(d) + 1e-6 && fabs(d) - fabs(share) < 1.0 + 1e-6 && share * d >= 0.0);
    }
}

static void
a_share_is_never_more_than_the_giver_has(void **state)
{
    (void)state;
    assert_int_equal(lbm_gde_share(10, 1.0, 0, 1000.0, 1, 1), 10);
    assert_int_equal(lbm_gde_share(0, 1000.0, 10, 1.0, 1, 1), -10);
}

static void
a_host_without_a_target_gives_all_it_has(void **state)
{
    (void)state;
    assert_int_equal(lbm_gde_share(41, 0.0, 17, 20.0, 1, 2), 41);
    assert_int_equal(lbm_gde_share(17, 20.0, 41, 0.0, 1, 2), -41);
    assert_int_equal(lbm_gde_share(0, 0.0, 17, 20.0, 1, 2), 0);
    assert_int_equal(lbm_gde_share(3, 0.0, 3, 0.0, 1, 2), 0);
}

/* ---- termination --------------------------------------------------------------------------------- */

enum { HOSTS_MAX = 24 };

struct network {
    uint32_t n, diameter;
    uint8_t linked[HOSTS_MAX][HOSTS_MAX];
};

/* A random tree with extra links, and its diameter by Floyd and Warshall. */
static struct network
random_network(struct lbm_rng *rng)
{
    struct network net = {.n = 1 + lbm_rng_below(rng, HOSTS_MAX)};
    uint32_t d[HOSTS_MAX][HOSTS_MAX];
    for (uint32_t p = 1; p < net.n; p++) {
        uint32_t q = lbm_rng_below(rng, p), r = lbm_rng_below(rng, p);
        net.linked[p][q] = net.linked[q][p] = 1;
        if (lbm_rng_below(rng, 3) == 0)
            net.linked[p][r] = net.linked[r][p] = 1;
    }
    for (uint32_t p = 0; p < net.n; p++)
        for (uint32_t q = 0; q < net.n; q++)
            d[p][q] = p == q ? 0 : net.linked[p][q] ? 1 : 1000;
    for (uint32_t r = 0; r < net.n; r++)
        for (uint32_t p = 0; p < net.n; p++)
            for (uint32_t q = 0; q < net.n; q++)
                if (d[p][r] + d[r][q] < d[p][q])
                    d[p][q] = d[p][r] + d[r][q];
    for (uint32_t p = 0; p < net.n; p++)
        for (uint32_t q = 0; q < net.n; q++)
            net.diameter = d[p][q] > net.diameter ? d[p][q] : net.diameter;
    return net;
}

/* One sweep: all hear the counters their neighbours began it with. */
static void
sweep(const struct network *net, struct lbm_termination *t)
{
    uint32_t counter[HOSTS_MAX];
    for (uint32_t p = 0; p < net->n; p++)
        counter[p] = t[p].counter;
    for (uint32_t p = 0; p < net->n; p++) {
        for (uint32_t q = 0; q < net->n; q++)
            if (net->linked[p][q])
                lbm_termination_hear(&t[p], counter[q]);
        lbm_termination_sweep(&t[p]);
    }
}

/* A sweep in which nothing moves anywhere ends the exchange for good, so before that at least one host, any
 * one, is disturbed in every sweep. */
static void
termination_is_never_early_and_at_most_a_diameter_and_a_sweep_late(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (int run = 0; run < 300; run++) {
        struct network net = random_network(&rng);
        struct lbm_termination t[HOSTS_MAX];
        uint32_t disturbed = lbm_rng_below(&rng, 40); /* sweeps, after the first, which counts as such */
        for (uint32_t p = 0; p < net.n; p++)
            lbm_termination_reset(&t[p]);
        sweep(&net, t);
        for (uint32_t s = 0; s < disturbed; s++) {
            for (uint32_t i = lbm_rng_below(&rng, 3) + 1; i > 0; i--)
                lbm_termination_disturb(&t[lbm_rng_below(&rng, net.n)]);
            sweep(&net, t);
            for (uint32_t p = 0; p < net.n; p++)
                assert_false(lbm_termination_done(&t[p], net.diameter));
        }
        for (uint32_t s = 0; s < net.diameter + 1; s++)
            sweep(&net, t);
        for (uint32_t p = 0; p < net.n; p++)
            assert_true(lbm_termination_done(&t[p], net.diameter));
    }
}

static void
one_host_is_done_after_one_quiet_sweep(void **state)
{
    (void)state;
    struct lbm_termination t;
    lbm_termination_reset(&t);
    lbm_termination_sweep(&t);
    assert_false(lbm_termination_done(&t, 0));
    lbm_termination_sweep(&t);
    assert_true(lbm_termination_done(&t, 0));
    lbm_termination_disturb(&t);
    lbm_termination_sweep(&t);
    assert_false(lbm_termination_done(&t, 0));
}

static void
a_counter_at_its_limit_stays_there(void **state)
{
    (void)state;
    struct lbm_termination t = {.counter = UINT32_MAX, .least = UINT32_MAX};
    lbm_termination_sweep(&t);
    assert_true(lbm_termination_done(&t, 100));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heavier_keeps_what_the_paper_prints),
        cmocka_unit_test(the_largest_loads_and_fractions_do_not_overflow),
        cmocka_unit_test(half_levels_a_pair_to_a_difference_of_at_most_one),
        cmocka_unit_test(exchange_on_a_ring_conserves_the_load_and_ends_within_one_of_each_neighbour),
        cmocka_unit_test(equal_targets_share_as_the_integer_exchange_does),
        cmocka_unit_test(unequal_targets_are_levelled_in_proportion_without_overshoot),
        cmocka_unit_test(a_share_is_never_more_than_the_giver_has),
        cmocka_unit_test(a_host_without_a_target_gives_all_it_has),
        cmocka_unit_test(termination_is_never_early_and_at_most_a_diameter_and_a_sweep_late),
        cmocka_unit_test(one_host_is_done_after_one_quiet_sweep),
        cmocka_unit_test(a_counter_at_its_limit_stays_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
