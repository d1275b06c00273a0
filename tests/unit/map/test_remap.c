/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remapping: what moves, what stays, at which price. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "map/internal.h"
#include "tests/unit/map/map_fixture.h"

/* ---- helpers ---------------------------------------------------------------------------------------- */

static struct lbm_plan
plan_again(const struct lbm_graph *g, const struct lbm_hosts *h)
{
    struct lbm_plan_options options;
    struct lbm_plan plan;
    lbm_plan_defaults(&options);
    options.effort = LBM_EFFORT_FAST;
    assert_int_equal(lbm_plan_make(g, h, &options, &plan, NULL), LBM_OK);
    return plan;
}

static struct lbm_plan
remap_by(enum lbm_effort effort, const struct lbm_graph *g, const struct lbm_hosts *h,
         const uint32_t *current, double cost)
{
    struct lbm_plan_options options;
    struct lbm_plan plan;
    lbm_plan_defaults(&options);
    options.effort = effort;
    options.current = current;
    options.migration_cost = cost;
    assert_int_equal(lbm_plan_make(g, h, &options, &plan, NULL), LBM_OK);
    assert_int_equal(plan.n, g->n);
    for (uint32_t v = 0; v < g->n; v++) {
        assert_true(plan.part[v] < h->n);
        if (g->pin != NULL && g->pin[v] != LBM_NONE)
            assert_int_equal(plan.part[v], g->pin[v]);
    }
    return plan;
}

static struct lbm_plan
remap(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *current, double cost)
{
    return remap_by(LBM_EFFORT_FAST, g, h, current, cost);
}

static uint64_t
excess(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part)
{
    uint64_t *limit = lbm_alloc(h->n, sizeof *limit);
    assert_non_null(limit);
    assert_int_equal(lbm_map_limits(g, h, 0.03, limit), LBM_OK);
    uint64_t over = map_excess_of(g, h->n, part, limit);
    free(limit);
    return over;
}

static struct lbm_migration
migration(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *before, const uint32_t *after)
{
    struct lbm_migration out;
    uint64_t *limit = lbm_alloc(h->n, sizeof *limit);
    assert_non_null(limit);
    assert_int_equal(lbm_map_limits(g, h, 0.03, limit), LBM_OK);
    assert_int_equal(lbm_map_migration(g, h->n, limit, before, after, &out), LBM_OK);
    free(limit);
    return out;
}

/* ---- what stays ------------------------------------------------------------------------------------- */

static void
a_balanced_mapping_stays_if_moves_are_dear(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i);
        struct lbm_graph g = map_guest_by_spec("lattice:24x25");
        struct lbm_plan old = plan_again(&g, &h), new = remap(&g, &h, old.part, 1e6);
        assert_memory_equal(old.part, new.part, g.n * sizeof *new.part);
        lbm_plan_free(&old);
        lbm_plan_free(&new);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
moves_cost_a_part_up_to_the_budget_and_all_beyond(void **state)
{
    struct mapping m = {.budget = 1000};
    (void)state;
    assert_int_equal(mapping_price(&m, 0), 0);
    assert_int_equal(mapping_price(&m, 1000), 1000 / MAPPING_EASE);
    assert_int_equal(mapping_price(&m, 1234), 1000 / MAPPING_EASE + 234);
    for (int64_t away = 1; away < 3000; away++)
        assert_true(mapping_price(&m, away - 1) <= mapping_price(&m, away));
    m.budget = 0;
    assert_int_equal(mapping_price(&m, 1234), 1234);
}

/* A host leaves; what stays away from current beyond the budget has to pay in full. */
static void
little_more_moves_than_a_host_that_leaves_had(void **state)
{
    (void)state;
    for (uint32_t gone = 0; gone < 9; gone++) {
        struct lbm_hosts h = map_hosts("mesh:3x3"), left;
        struct lbm_graph g = map_guest_by_spec("lattice:30x30");
        struct lbm_plan old = plan_again(&g, &h);
        struct lbm_diag diag = {0};
        uint8_t without[9] = {0};
        uint32_t number[9], displaced = 0;
        without[gone] = 1;
        assert_int_equal(lbm_hosts_without(&h, without, number, &left, &diag), LBM_OK);
        for (uint32_t v = 0; v < g.n; v++) {
            displaced += old.part[v] == gone;
            old.part[v] = number[old.part[v]];
        }
        struct lbm_plan new = remap(&g, &left, old.part, lbm_map_migration_cost(&g, left.n));
        struct lbm_migration moves = migration(&g, &left, old.part, new.part);
        assert_int_equal(excess(&g, &left, new.part), 0);
        assert_true(moves.work >= displaced && moves.work <= 2 * (uint64_t)displaced);
        lbm_plan_free(&old);
        lbm_plan_free(&new);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
        lbm_hosts_free(&left);
    }
}

static void
moves_of_a_balanced_mapping_pay(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 7);
    for (unsigned i = 0; i < 3 * MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        struct lbm_graph g = map_guest(200, 500, 1 + 9 * (i % 2), 1 + i % 3, &rng);
        struct lbm_plan old = plan_again(&g, &h);
        double cost = lbm_map_migration_cost(&g, h.n);
        struct lbm_plan new = remap(&g, &h, old.part, cost);
        struct lbm_migration moves = migration(&g, &h, old.part, new.part);
        assert_true(excess(&g, &h, new.part) <= excess(&g, &h, old.part));
        if (excess(&g, &h, old.part) == 0) {
            double before = (double)lbm_map_hop_bytes(&g, &h, old.part),
                   after = (double)lbm_map_hop_bytes(&g, &h, new.part) + cost * (double)moves.work;
            assert_true(after <= before + (double)g.n / LBM_PAIR_PRICE_PARTS); /* prices are rounded */
            assert_int_equal(moves.unavoidable, 0);
        }
        lbm_plan_free(&old);
        lbm_plan_free(&new);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
pinned_vertices_go_to_their_hosts_and_stay(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 3);
    for (unsigned i = 0; i < MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i);
        struct lbm_graph g = map_guest(300, 800, 5, 4, &rng);
        uint32_t *part = map_chunk(&g, h.n, &rng), *pins = map_chunk(&g, h.n, &rng);
        map_pin_some(&g, pins, 10, &rng);
        struct lbm_plan plan = remap(&g, &h, part, 0.5); /* looks at the pins */
        struct lbm_migration moves = migration(&g, &h, part, plan.part);
        assert_true(moves.work >= moves.unavoidable || excess(&g, &h, plan.part) > 0);
        lbm_plan_free(&plan);
        free(part);
        free(pins);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

/* ---- what moves ------------------------------------------------------------------------------------- */

/* A guest on 12 hosts of a 4 x 4 mesh, or with the vertices of one host nowhere, is balanced on all. */
static void
what_is_out_of_balance_is_balanced(void **state)
{
    (void)state;
    static const double costs[] = {0, 0.3, 1, 5};
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_graph g = map_guest_by_spec("tri:2000");
    struct lbm_plan old = plan_again(&g, &h);
    for (int orphans = 0; orphans < 2; orphans++)
        for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
            uint32_t *part = lbm_copy(old.part, g.n, sizeof *part);
            assert_non_null(part);
            for (uint32_t v = 0; v < g.n; v++)
                if (part[v] % 4 == 3)
                    part[v] = orphans ? LBM_NONE : part[v] - 1;
            struct lbm_plan new = remap(&g, &h, part, costs[i]);
            struct lbm_migration moves = migration(&g, &h, part, new.part);
            assert_int_equal(excess(&g, &h, new.part), 0);
            assert_true(moves.work >= moves.unavoidable && moves.unavoidable > 0);
            assert_int_equal(moves.work, moves.vertices); /* all weigh 1 */
            lbm_plan_free(&new);
            free(part);
        }
    lbm_plan_free(&old);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
dearer_moves_are_fewer(void **state)
{
    (void)state;
    static const double costs[] = {0, 0.25, 1, 4, 64};
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_graph g = map_guest_by_spec("lattice:32x32");
    struct lbm_plan old = plan_again(&g, &h);
    uint64_t before = 2 * (uint64_t)g.n;
    g.work = lbm_alloc(g.n, sizeof *g.work);
    assert_non_null(g.work);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = old.part[v] == 0 ? 2 : 1;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        struct lbm_plan new = remap_by(LBM_EFFORT_NORMAL, &g, &h, old.part, costs[i]);
        struct lbm_migration moves = migration(&g, &h, old.part, new.part);
        assert_true(10 * moves.work <= 11 * before); /* each is a draw */
        before = moves.work;
        if (i + 1 == sizeof costs / sizeof *costs)
            assert_true(2 * moves.work <= 3 * moves.unavoidable);
        lbm_plan_free(&new);
    }
    lbm_plan_free(&old);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
the_same_seed_gives_the_same_bytes(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 11);
    struct lbm_hosts h = map_hosts("hypercube:4");
    struct lbm_graph g = map_guest(500, 1500, 9, 9, &rng);
    uint32_t *part = map_chunk(&g, h.n, &rng);
    struct lbm_plan a = remap_by(LBM_EFFORT_NORMAL, &g, &h, part, 0.7),
                    b = remap_by(LBM_EFFORT_NORMAL, &g, &h, part, 0.7);
    assert_memory_equal(a.part, b.part, g.n * sizeof *a.part);
    assert_memory_equal(a.x, b.x, (size_t)g.n * h.m * sizeof *a.x);
    lbm_plan_free(&a);
    lbm_plan_free(&b);
    free(part);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* ---- odd guests, bad input -------------------------------------------------------------------------- */

static void
odd_guests_are_remapped(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 5);
    for (unsigned i = 0; i < MAP_HOSTS_SOME; i++)
        for (uint32_t n = 0; n < 40; n = 3 * n + 1)
            for (uint32_t m = 0; m < 80; m += 40) {
                struct lbm_hosts h = map_hosts_some(i);
                struct lbm_graph g = map_guest(n, m, 3, 5, &rng);
                uint32_t *part = map_chunk(&g, h.n, &rng);
                for (uint32_t v = 0; v < n; v++)
                    if (lbm_rng_below(&rng, 3) == 0 || i % 4 == 3)
                        part[v] = LBM_NONE;
                struct lbm_plan plan = remap(&g, &h, part, (double)(i % 3));
                lbm_plan_free(&plan);
                free(part);
                lbm_graph_free(&g);
                lbm_hosts_free(&h);
            }
}

static void
bad_input_is_refused(void **state)
{
    (void)state;
    struct lbm_hosts h = map_hosts("mesh:2x2");
    struct lbm_graph g = map_guest_by_spec("lattice:4x4");
    uint32_t current[16] = {0};
    struct lbm_plan_options options;
    struct lbm_plan plan;
    struct lbm_diag diag;
    lbm_plan_defaults(&options);
    options.current = current;
    current[5] = 4;
    assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, &diag), LBM_E_RANGE);
    assert_non_null(strstr(diag.text, "vertex 5 is on host 4"));
    current[5] = 3;
    options.migration_cost = 1e18;
    assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, &diag), LBM_E_LIMIT);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* ---- transports ------------------------------------------------------------------------------------- */

/* Every shipment is there when it goes, over a link unless it jumps, and in the end nobody is over. */
static void
transports_relieve_everybody(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 2);
    for (unsigned i = 0; i < 20 * MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        uint64_t load[32], limit[32], total = 0, room = 0;
        unsigned jump = i % 2 ? 0 : 1 + i / 2 % 4;
        struct shipments list = {0};
        for (uint32_t p = 0; p < h.n; p++) {
            total += load[p] = lbm_rng_below(&rng, 100);
            room += limit[p] = 50 + lbm_rng_below(&rng, 20);
        }
        if (total <= room) {
            assert_int_equal(map_transport(&h, load, limit, jump, &list), LBM_OK);
            for (size_t k = 0; k < list.n; k++) {
                const struct shipment *s = &list.at[k];
                int linked = 0;
                for (uint32_t e = h.offset[s->from]; e < h.offset[s->from + 1]; e++)
                    linked |= h.target[e] == s->to;
                assert_true(s->work > 0 && s->work <= load[s->from]);
                assert_true(linked || jump != 0);
                load[s->from] -= s->work;
                load[s->to] += s->work;
            }
            for (uint32_t p = 0; p < h.n; p++)
                assert_true(load[p] <= limit[p]);
        }
        lbm_vec_free(&list);
        lbm_hosts_free(&h);
    }
}

static void
a_transport_takes_the_cheapest_way(void **state)
{
    (void)state;
    struct lbm_hosts h = map_hosts("chain:4");
    uint64_t load[] = {20, 10, 10, 4}, limit[] = {12, 12, 12, 12};
    struct shipments list = {0};
    assert_int_equal(map_transport(&h, load, limit, 0, &list), LBM_OK);
    const struct shipment ways[] = {{0, 1, 8}, {1, 2, 6}, {2, 3, 4}};
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list.at[i].from, ways[i].from);
        assert_int_equal(list.at[i].to, ways[i].to);
        assert_int_equal(list.at[i].work, ways[i].work);
    }
    list.n = 0;
    assert_int_equal(map_transport(&h, load, limit, 2, &list), LBM_OK);
    uint64_t moved = 0;
    for (size_t i = 0; i < list.n; i++)
        moved += list.at[i].work;
    assert_int_equal(moved, 8);
    lbm_vec_free(&list);
    lbm_hosts_free(&h);
}

/* ---- hosts that are gone ---------------------------------------------------------------------------- */

static void
hosts_without_some_are_those_of_the_links_left(void **state)
{
    (void)state;
    struct lbm_hosts h = map_hosts("mesh:3x3"), left;
    uint8_t gone[9] = {[0] = 1, [4] = 1};
    uint32_t number[9];
    struct lbm_diag diag = {0};
    h.capacity[5] = 3;
    assert_int_equal(lbm_hosts_without(&h, gone, number, &left, &diag), LBM_OK);
    const uint32_t expected[9] = {LBM_NONE, 0, 1, 2, LBM_NONE, 3, 4, 5, 6};
    assert_memory_equal(number, expected, sizeof number);
    assert_int_equal(left.n, 7);
    assert_int_equal(left.offset[7], 2 * 6);
    assert_int_equal(lbm_dist(&left, number[1], number[3]), 6); /* around */
    assert_true(left.capacity[number[5]] == 3 && left.capacity[number[3]] == 1);
    assert_memory_equal(&left.site[2 * (size_t)number[8]], &h.site[2 * 8], 2 * sizeof *h.site);
    lbm_hosts_free(&left);
    gone[3] = gone[5] = 1; /* 1 and 2 are cut from 6, 7 and 8 */
    assert_int_equal(lbm_hosts_without(&h, gone, number, &left, &diag), LBM_E_SYNTAX);
    assert_non_null(strstr(diag.text, "from host 1 to host 6"));
    memset(gone, 1, sizeof gone);
    assert_int_equal(lbm_hosts_without(&h, gone, number, &left, &diag), LBM_E_RANGE);
    lbm_hosts_free(&h);
}

static void
given_distances_stay_without_some_hosts(void **state)
{
    (void)state;
    struct lbm_hosts h = map_hosts("hier:4:4:2/1:10:100"), left;
    uint8_t gone[32] = {0};
    uint32_t number[32];
    struct lbm_diag diag = {0};
    for (uint32_t p = 0; p < 32; p++)
        gone[p] = p % 4 != p / 4 % 4; /* one of each four: links have to be found */
    assert_int_equal(lbm_hosts_without(&h, gone, number, &left, &diag), LBM_OK);
    assert_int_equal(left.n, 8);
    for (uint32_t p = 0; p < 32; p++)
        for (uint32_t q = 0; q < 32; q++)
            if (!gone[p] && !gone[q])
                assert_int_equal(lbm_dist(&left, number[p], number[q]), lbm_dist(&h, p, q));
    assert_int_equal(left.offset[left.n], 2 * (left.n - 1)); /* a tree joins them */
    lbm_hosts_free(&left);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_balanced_mapping_stays_if_moves_are_dear),
        cmocka_unit_test(moves_cost_a_part_up_to_the_budget_and_all_beyond),
        cmocka_unit_test(little_more_moves_than_a_host_that_leaves_had),
        cmocka_unit_test(moves_of_a_balanced_mapping_pay),
        cmocka_unit_test(pinned_vertices_go_to_their_hosts_and_stay),
        cmocka_unit_test(what_is_out_of_balance_is_balanced),
        cmocka_unit_test(dearer_moves_are_fewer),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(odd_guests_are_remapped),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(transports_relieve_everybody),
        cmocka_unit_test(a_transport_takes_the_cheapest_way),
        cmocka_unit_test(hosts_without_some_are_those_of_the_links_left),
        cmocka_unit_test(given_distances_stay_without_some_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
