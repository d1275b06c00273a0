/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of one pair of hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"
#include "tests/unit/map/map_fixture.h"
#include "tests/unit/map/pair_fixture.h"

static void
a_round_never_worsens_and_reports_what_it_did(void **state)
{
    struct lbm_rng rng;
    unsigned gains = 0, relieved = 0;
    (void)state;
    lbm_rng_seed(&rng, 6);
    for (unsigned i = 0; i < 200; i++) {
        struct trial t = {0};
        int64_t gain;
        uint32_t n_moved;
        trial_open(&t, i, i % 7 == 0 ? lbm_rng_below(&rng, 4) : 20 + lbm_rng_below(&rng, 100), &rng);
        uint64_t excess = lbm_map_excess(2, t.pair.load, t.pair.limit);
        assert_int_equal(lbm_pair_refine(&t.pair, &rng, &gain, t.moved, &n_moved), LBM_OK);
        trial_expect(&t, gain, n_moved);
        uint64_t after = lbm_map_excess(2, t.pair.load, t.pair.limit);
        assert_true(after < excess || (after == excess && gain >= 0));
        gains += gain > 0;
        relieved += after < excess;
        trial_close(&t);
    }
    assert_true(gains > 100 && relieved > 10); /* or the test shows nothing */
}

static void
a_shift_is_kept(void **state)
{
    struct lbm_rng rng;
    unsigned shifted = 0;
    (void)state;
    lbm_rng_seed(&rng, 7);
    for (unsigned i = 0; i < 100; i++) {
        struct trial t = {0};
        int64_t gain;
        uint32_t n_moved;
        trial_open(&t, i, 60 + lbm_rng_below(&rng, 60), &rng);
        uint64_t given = t.pair.load[0], whole = t.pair.load[0] + t.pair.load[1];
        t.pair.limit[0] = t.pair.limit[1] = whole;
        t.pair.shift = 1 + lbm_rng_below(&rng, (uint32_t)(given / 4 + 1));
        assert_int_equal(lbm_pair_refine(&t.pair, &rng, &gain, t.moved, &n_moved), LBM_OK);
        trial_expect(&t, gain, n_moved);
        assert_true(t.pair.load[0] <= given);
        if (t.g.work == NULL && given > t.pair.shift && t.pair.n_members > 30) {
            /* unit work, members enough: at least the shift has gone */
            assert_true(given - t.pair.load[0] >= t.pair.shift);
            shifted++;
        }
        trial_close(&t);
    }
    assert_true(shifted > 5);
}

static void
a_shift_without_boundary_takes_any_member(void **state)
{
    /* Ten vertices without edges on one host, none on the other. */
    struct lbm_rng rng;
    int64_t gain;
    uint32_t part[10] = {0}, member[10], moved[10], n_moved;
    (void)state;
    lbm_rng_seed(&rng, 8);
    struct lbm_hosts h = map_hosts("chain:2");
    struct lbm_graph g = map_guest(10, 0, 1, 1, &rng);
    for (uint32_t v = 0; v < 10; v++)
        member[v] = v;
    struct lbm_pair pair = {.g = &g,
                            .h = &h,
                            .part = part,
                            .b = 1,
                            .member = member,
                            .n_members = 10,
                            .load = {10, 0},
                            .limit = {10, 10},
                            .shift = 4};
    assert_int_equal(lbm_pair_refine(&pair, &rng, &gain, moved, &n_moved), LBM_OK);
    assert_int_equal(n_moved, 4);
    assert_int_equal(pair.load[0], 6);
    assert_int_equal(pair.load[1], 4);
    assert_int_equal(gain, 0);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
no_more_rows_leave_a_side_than_may(void **state)
{
    struct lbm_rng rng;
    uint32_t n_full = 0;
    (void)state;
    lbm_rng_seed(&rng, 10);
    for (unsigned i = 0; i < 200; i++) {
        struct trial t = {0};
        uint32_t n_moved, left[2] = {0}, most[2] = {lbm_rng_below(&rng, 6), lbm_rng_below(&rng, 6)};
        int64_t gain;
        trial_open(&t, i, 60, &rng);
        t.pair.most = most;
        if (i % 2 == 0)
            t.pair.shift = t.pair.load[0] / 4;
        assert_int_equal(lbm_pair_refine(&t.pair, &rng, &gain, t.moved, &n_moved), LBM_OK);
        trial_expect(&t, gain, n_moved);
        for (uint32_t k = 0; k < n_moved; k++)
            left[t.before[t.moved[k]] == t.pair.b]++;
        assert_in_range(left[0], 0, most[0]);
        assert_in_range(left[1], 0, most[1]);
        n_full += most[0] != 0 && left[0] == most[0];
        trial_close(&t);
    }
    assert_in_range(n_full, 50, 200);
}

static void
a_host_that_must_be_empty_gives_all_it_can(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 9);
    for (unsigned i = 0; i < 20; i++) {
        struct trial t = {0};
        int64_t gain;
        uint32_t n_moved;
        trial_open(&t, i, 60, &rng);
        memset(t.fixed, 0, t.g.n);
        t.pair.limit[0] = 0;
        t.pair.limit[1] = UINT64_MAX;
        t.pair.shift = t.pair.load[0];
        uint32_t stay = 0;
        for (uint32_t v = 0; v < t.g.n; v++)
            stay += t.part[v] == t.pair.a && !trial_lists(t.member, t.pair.n_members, v);
        assert_int_equal(lbm_pair_refine(&t.pair, &rng, &gain, t.moved, &n_moved), LBM_OK);
        trial_expect(&t, gain, n_moved);
        uint32_t left = 0;
        for (uint32_t v = 0; v < t.g.n; v++)
            left += t.part[v] == t.pair.a;
        assert_int_equal(left, stay);
        trial_close(&t);
    }
}

static void
rounds_on_a_shared_workspace_do_the_same(void **state)
{
    struct lbm_rng rng;
    struct lbm_pair_workspace *ws = lbm_pair_workspace_new(150);
    (void)state;
    assert_non_null(ws);
    for (unsigned i = 0; i < 30; i++) {
        struct trial own = {0}, shared = {0};
        int64_t gain[2];
        uint32_t n_moved[2];
        lbm_rng_seed(&rng, 100 + i);
        trial_open(&own, i, 120, &rng);
        assert_int_equal(lbm_pair_refine(&own.pair, &rng, &gain[0], own.moved, &n_moved[0]), LBM_OK);
        lbm_rng_seed(&rng, 100 + i);
        trial_open(&shared, i, 120, &rng);
        shared.pair.workspace = ws;
        assert_int_equal(lbm_pair_refine(&shared.pair, &rng, &gain[1], shared.moved, &n_moved[1]), LBM_OK);
        assert_int_equal(gain[0], gain[1]);
        assert_int_equal(n_moved[0], n_moved[1]);
        assert_memory_equal(own.part, shared.part, 120 * sizeof *own.part);
        trial_close(&own);
        trial_close(&shared);
    }
    lbm_pair_workspace_free(ws);
}

static void
a_patch_with_ghosts_gains_what_the_whole_gains(void **state)
{
    struct lbm_rng rng;
    unsigned moves = 0;
    (void)state;
    lbm_rng_seed(&rng, 10);
    for (unsigned i = 0; i < 60; i++) {
        struct trial t = {0};
        int64_t gain;
        uint32_t n_moved, rows = 60;
        trial_open(&t, i, 100, &rng);
        /* The first rows are the patch; vertices above have no row and are ghosts. */
        struct lbm_graph patch = t.g;
        patch.n = rows;
        uint32_t n_members = 0;
        for (uint32_t k = 0; k < t.pair.n_members; k++)
            if (t.member[k] < rows)
                t.member[n_members++] = t.member[k];
        t.pair.n_members = n_members;
        t.pair.g = &patch;
        assert_int_equal(lbm_pair_refine(&t.pair, &rng, &gain, t.moved, &n_moved), LBM_OK);
        trial_expect(&t, gain, n_moved);
        moves += n_moved;
        trial_close(&t);
    }
    assert_true(moves > 100);
}

static void
a_straight_boundary_stays_and_a_ragged_one_improves(void **state)
{
    struct lbm_rng rng;
    int64_t gain;
    uint32_t part[64], member[64], moved[64], n_moved;
    (void)state;
    lbm_rng_seed(&rng, 11);
    struct lbm_hosts h = map_hosts("chain:2");
    struct lbm_graph g = map_guest_by_spec("lattice:8x8");
    for (uint32_t v = 0; v < 64; v++) {
        member[v] = v;
        part[v] = v % 8 >= 4;
    }
    struct lbm_pair pair = {.g = &g,
                            .h = &h,
                            .part = part,
                            .b = 1,
                            .member = member,
                            .n_members = 64,
                            .load = {32, 32},
                            .limit = {33, 33},
                            .stall_limit = 100};
    assert_int_equal(lbm_pair_refine(&pair, &rng, &gain, moved, &n_moved), LBM_OK);
    assert_int_equal(gain, 0);
    assert_int_equal(lbm_map_hop_bytes(&g, &h, part), 8);
    for (uint32_t v = 0; v < 64; v++) /* teeth */
        part[v] = v % 8 >= 3 + v / 8 % 2 * 2;
    int64_t ragged = (int64_t)lbm_map_hop_bytes(&g, &h, part);
    assert_int_equal(lbm_pair_refine(&pair, &rng, &gain, moved, &n_moved), LBM_OK);
    assert_true(gain > 0);
    assert_int_equal(lbm_map_hop_bytes(&g, &h, part), ragged - gain);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
moves_that_have_a_price_pay_it(void **state)
{
    struct lbm_rng rng;
    unsigned moves = 0, forgone = 0;
    (void)state;
    lbm_rng_seed(&rng, 12);
    for (unsigned i = 0; i < 100; i++) {
        struct trial t = {0};
        int64_t gain;
        uint32_t n_moved;
        trial_open(&t, i, 20 + lbm_rng_below(&rng, 100), &rng);
        t.pair.limit[0] = t.pair.limit[1] = t.pair.load[0] + t.pair.load[1]; /* balance asks for nothing */
        t.pair.price = i % 4 == 0 ? UINT32_MAX : 1 + lbm_rng_below(&rng, 3 * LBM_PAIR_PRICE_PARTS);
        assert_int_equal(lbm_pair_refine(&t.pair, &rng, &gain, t.moved, &n_moved), LBM_OK);
        trial_expect(&t, gain, n_moved);
        assert_true((uint64_t)gain * LBM_PAIR_PRICE_PARTS >= (uint64_t)t.pair.price * n_moved);
        moves += n_moved;
        forgone += n_moved == 0;
        trial_close(&t);
    }
    assert_true(moves > 100 && forgone > 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_never_worsens_and_reports_what_it_did),
        cmocka_unit_test(a_shift_is_kept),
        cmocka_unit_test(a_shift_without_boundary_takes_any_member),
        cmocka_unit_test(no_more_rows_leave_a_side_than_may),
        cmocka_unit_test(a_host_that_must_be_empty_gives_all_it_can),
        cmocka_unit_test(rounds_on_a_shared_workspace_do_the_same),
        cmocka_unit_test(a_patch_with_ghosts_gains_what_the_whole_gains),
        cmocka_unit_test(a_straight_boundary_stays_and_a_ragged_one_improves),
        cmocka_unit_test(moves_that_have_a_price_pay_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
