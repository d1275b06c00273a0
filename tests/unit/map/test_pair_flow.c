/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least cuts between two hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"
#include "tests/unit/map/map_fixture.h"
#include "tests/unit/map/pair_fixture.h"

static void
add_stay(struct trial *t, struct lbm_rng *rng)
{
    int64_t *stay = lbm_alloc(t->g.n, sizeof *stay);
    assert_non_null(stay);
    for (uint32_t v = 0; v < t->g.n; v++)
        stay[v] = lbm_rng_below(rng, 3 * LBM_PAIR_PRICE_PARTS);
    t->pair.stay = stay;
}

/* That many pairs of regions, each its own, with a price for every row that moves. */
static void
each_trial(uint64_t seed, unsigned trials, unsigned vertices,
           void (*try)(struct trial *t, struct lbm_rng *rng, unsigned *count), unsigned *count)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, seed);
    for (unsigned i = 0; i < trials; i++) {
        struct trial t;
        trial_open(&t, i, vertices, &rng);
        add_stay(&t, &rng);
        try(&t, &rng, count);
        free((void *)t.pair.stay);
        trial_close(&t);
    }
}

/* Cost in parts of the mapping with those rows on the other side; INT64_MAX if a limit is exceeded. */
static int64_t
cost_of(const struct trial *t, const uint32_t *part, const uint64_t limit[2])
{
    uint64_t load[2] = {0, 0};
    int64_t stay = 0;
    for (uint32_t v = 0; v < t->g.n; v++) {
        stay += part[v] != t->before[v] ? t->pair.stay[v] : 0;
        if (part[v] == t->pair.a || part[v] == t->pair.b)
            load[part[v] == t->pair.b] += lbm_graph_work(&t->g, v);
    }
    if (load[0] > limit[0] || load[1] > limit[1])
        return INT64_MAX;
    return (int64_t)lbm_map_hop_bytes(&t->g, &t->h, part) * LBM_PAIR_PRICE_PARTS + stay;
}

/* The least cost over all ways to place the members that may move. */
static int64_t
least_cost(const struct trial *t, const uint64_t limit[2])
{
    uint32_t row[16], n = 0, *part = lbm_copy(t->before, t->g.n, sizeof *part);
    int64_t least = INT64_MAX;
    assert_non_null(part);
    for (uint32_t i = 0; i < t->pair.n_members; i++)
        if (!t->fixed[t->member[i]]) {
            assert_true(n < 16);
            row[n++] = t->member[i];
        }
    for (uint32_t set = 0; set < UINT32_C(1) << n; set++) {
        for (uint32_t i = 0; i < n; i++)
            part[row[i]] = set >> i & 1 ? t->pair.b : t->pair.a;
        int64_t cost = cost_of(t, part, limit);
        least = cost < least ? cost : least;
    }
    free(part);
    return least;
}

/* Where every placement keeps the limits none is better, and what is told is true. */
static void
try_a_cut_is_the_best_there_is(struct trial *t, struct lbm_rng *rng, unsigned *count)
{
    enum { MEMBERS_MAX = 12 };
    int64_t gain;
    uint32_t n_moved;
    (void)count;
    t->pair.n_members = t->pair.n_members < MEMBERS_MAX ? t->pair.n_members : MEMBERS_MAX;
    t->pair.limit[0] = t->pair.limit[1] = t->pair.load[0] + t->pair.load[1];
    assert_int_equal(lbm_pair_cut(&t->pair, rng, &gain, t->moved, &n_moved), LBM_OK);
    assert_true(cost_of(t, t->part, t->pair.limit) == least_cost(t, t->pair.limit));
    trial_expect(t, gain, n_moved);
}

static void
a_cut_is_the_best_there_is(void **state)
{
    (void)state;
    each_trial(23, 300, 24, try_a_cut_is_the_best_there_is, NULL);
}

/* Limits that ask for moves: balance never becomes worse, nor does cost where it was in order already. */
static void
try_a_cut_minds_the_limits(struct trial *t, struct lbm_rng *rng, unsigned *count)
{
    int64_t gain;
    uint32_t n_moved;
    (void)count;
    uint64_t before[2] = {t->pair.load[0], t->pair.load[1]};
    assert_int_equal(lbm_pair_cut(&t->pair, rng, &gain, t->moved, &n_moved), LBM_OK);
    uint64_t over = lbm_map_excess(2, before, t->pair.limit);
    assert_true(lbm_map_excess(2, t->pair.load, t->pair.limit) <= over);
    assert_true(t->pair.load[0] + t->pair.load[1] == before[0] + before[1]);
    if (over == 0)
        assert_true(cost_of(t, t->part, t->pair.limit) <= cost_of(t, t->before, t->pair.limit));
}

static void
a_cut_minds_the_limits(void **state)
{
    (void)state;
    each_trial(29, 300, 60, try_a_cut_minds_the_limits, NULL);
}

/* A row of twelve vertices of work 10, ten of them on the first side: each that goes costs its stay and no J.
 * Where the second side gets more than its limit no vertex goes that is only in part due. */
static void
a_shift_goes_as_far_as_its_price(void **state)
{
    enum { N = 12, STAY = 1000, WORK = 10 };
    static const struct {
        double escalation; /* in parts of what is asked for */
        uint64_t shift, limit;
        uint32_t n_moved;
    } cases[] = {{1.1, 40, 100, 4}, {0.9, 40, 100, 0}, {1.1, 37, 100, 4}, {1.1, 37, 20, 3}};
    struct lbm_diag diag;
    struct lbm_rng rng;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_hosts h;
        struct lbm_graph g;
        uint32_t part[N], member[N], moved[N], n_moved;
        int64_t stay[N], gain;
        lbm_rng_seed(&rng, 1);
        assert_int_equal(lbm_hosts_generate("chain:2", &h, &diag), LBM_OK);
        assert_int_equal(lbm_graph_generate("lattice:12x1", 1, &g, &diag), LBM_OK);
        if (g.work == NULL)
            g.work = lbm_alloc(N, sizeof *g.work);
        assert_non_null(g.work);
        for (uint32_t v = 0; v < N; v++) {
            part[v] = v >= 10;
            member[v] = v;
            stay[v] = STAY;
            g.work[v] = WORK;
        }
        struct lbm_pair pair = {.g = &g,
                                .h = &h,
                                .part = part,
                                .b = 1,
                                .member = member,
                                .n_members = N,
                                .load = {10 * WORK, 2 * WORK},
                                .limit = {10 * WORK, cases[i].limit},
                                .shift = cases[i].shift,
                                .stall_limit = 100,
                                .stay = stay,
                                .escalation = cases[i].escalation * STAY / WORK};
        assert_int_equal(lbm_pair_cut(&pair, &rng, &gain, moved, &n_moved), LBM_OK);
        assert_int_equal(n_moved, cases[i].n_moved);
        assert_int_equal(pair.load[0], (10 - cases[i].n_moved) * WORK);
        assert_true(gain == 0);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

/* A side that has too much never gets all of the other's, to be rid of the boundary, for want of an offer. */
static void
try_a_low_price_makes_no_side_fuller(struct trial *t, struct lbm_rng *rng, unsigned *count)
{
    enum { WORK_MAX = 11 };
    int64_t gain;
    uint32_t n_moved;
    uint64_t before[2] = {t->pair.load[0], t->pair.load[1]};
    t->pair.shift = 1 + before[0] / 8;
    t->pair.limit[0] = before[0] - before[0] / 8;
    t->pair.escalation = 1 + lbm_rng_below(rng, 2 * LBM_PAIR_PRICE_PARTS);
    uint64_t limit = before[1] + t->pair.shift;
    limit = limit > t->pair.limit[1] ? limit : t->pair.limit[1];
    assert_int_equal(lbm_pair_cut(&t->pair, rng, &gain, t->moved, &n_moved), LBM_OK);
    assert_true(t->pair.load[0] <= before[0] || t->pair.load[0] <= t->pair.limit[0]);
    assert_true(t->pair.load[1] <= before[1] || t->pair.load[1] <= limit + WORK_MAX);
    *count += t->pair.load[0] < before[0];
}

static void
a_low_price_makes_no_side_fuller(void **state)
{
    (void)state;
    unsigned shifts = 0;
    each_trial(37, 300, 60, try_a_low_price_makes_no_side_fuller, &shifts);
    assert_true(shifts > 20);
}

/* All of a guest that is in one piece is on one of two hosts: the other has no boundary that could move, and
 * four vertices go there nevertheless, since they may cost anything. */
static void
what_must_go_needs_no_boundary(void **state)
{
    enum { N = 25 };
    struct lbm_diag diag;
    struct lbm_rng rng;
    struct lbm_hosts h;
    struct lbm_graph g;
    uint32_t part[N] = {0}, member[N], moved[N], n_moved;
    int64_t stay[N] = {0}, gain;
    (void)state;
    lbm_rng_seed(&rng, 1);
    assert_int_equal(lbm_hosts_generate("chain:2", &h, &diag), LBM_OK);
    assert_int_equal(lbm_graph_generate("lattice:5x5", 1, &g, &diag), LBM_OK);
    for (uint32_t v = 0; v < N; v++)
        member[v] = v;
    struct lbm_pair pair = {.g = &g,
                            .h = &h,
                            .part = part,
                            .b = 1,
                            .member = member,
                            .n_members = N,
                            .load = {N},
                            .limit = {N - 4, 4},
                            .shift = 4,
                            .stall_limit = 100,
                            .stay = stay};
    assert_int_equal(lbm_pair_cut(&pair, &rng, &gain, moved, &n_moved), LBM_OK);
    assert_int_equal(n_moved, 4);
    assert_int_equal(pair.load[1], 4);
    assert_true(gain < 0);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
try_cuts_of_nothing_and_of_large_costs(struct trial *t, struct lbm_rng *rng, unsigned *count)
{
    int64_t gain;
    uint32_t n_moved, n_members;
    (void)count;
    n_members = t->pair.n_members;
    t->pair.n_members = 0;
    assert_int_equal(lbm_pair_cut(&t->pair, rng, &gain, t->moved, &n_moved), LBM_OK);
    assert_int_equal(n_moved, 0);
    t->pair.n_members = n_members;
    if (n_members != 0)
        ((int64_t *)t->pair.stay)[t->member[0]] = INT64_MAX / 4; /* no flow is asked: refinement alone */
    assert_int_equal(lbm_pair_cut(&t->pair, rng, &gain, t->moved, &n_moved), LBM_OK);
}

static void
cuts_of_nothing_and_of_large_costs(void **state)
{
    (void)state;
    each_trial(31, 20, 40, try_cuts_of_nothing_and_of_large_costs, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_the_best_there_is),
        cmocka_unit_test(a_cut_minds_the_limits),
        cmocka_unit_test(a_shift_goes_as_far_as_its_price),
        cmocka_unit_test(a_low_price_makes_no_side_fuller),
        cmocka_unit_test(what_must_go_needs_no_boundary),
        cmocka_unit_test(cuts_of_nothing_and_of_large_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
