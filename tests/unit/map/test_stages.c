/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of a plan, one by one: each keeps what it promises on guests and hosts of every kind. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "map/refine/gain_queue.h"
#include "map/initial/host_tree.h"
#include "map/internal.h"
#include "tests/unit/map/map_fixture.h"

/* ---- the queue -------------------------------------------------------------------------------------- */

static void
queue_gives_the_largest_gain_first(void **state)
{
    enum { ROWS = 50 };
    struct gain_entry at[ROWS];
    uint32_t place[ROWS];
    int64_t gain[ROWS];
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 1);
    memset(place, 0xff, sizeof place);
    struct gain_queue q = {at, 0, place};
    for (int step = 0; step < 20000; step++) {
        uint32_t row = lbm_rng_below(&rng, ROWS);
        if (lbm_rng_below(&rng, 3) != 0) {
            gain[row] = (int64_t)lbm_rng_below(&rng, 20) - 10;
            gain_queue_put(&q, row, gain[row], lbm_rng_below(&rng, 5));
        } else if (q.n > 0) {
            int64_t most = INT64_MIN;
            for (uint32_t v = 0; v < ROWS; v++)
                most = place[v] != LBM_NONE && gain[v] > most ? gain[v] : most;
            uint32_t n = q.n;
            row = gain_queue_pop(&q);
            assert_int_equal(gain[row], most);
            assert_int_equal(place[row], LBM_NONE);
            assert_int_equal(q.n, n - 1);
        }
    }
    gain_queue_clear(&q);
    for (uint32_t v = 0; v < ROWS; v++)
        assert_int_equal(place[v], LBM_NONE);
}

/* ---- a mapping under work --------------------------------------------------------------------------- */

struct bench {
    struct lbm_hosts h;
    struct lbm_graph g;
    uint64_t *limit, *load;
    uint32_t *before;
    struct mapping m;
};

/* The i-th of many combinations; every third guest has pins. */
static void
bench_open(struct bench *b, unsigned i, uint32_t n, uint32_t hardest, struct lbm_rng *rng)
{
    b->h = map_hosts_some(i % MAP_HOSTS_SOME);
    b->g = map_guest(n, 3 * n, 1 + i % 4 * 10, hardest, rng);
    uint32_t *part = map_chunk(&b->g, b->h.n, rng);
    if (i % 3 == 0)
        map_pin_some(&b->g, part, 10, rng);
    b->before = lbm_copy(part, n, sizeof *part);
    b->limit = lbm_alloc(b->h.n, sizeof *b->limit);
    b->load = lbm_alloc(b->h.n, sizeof *b->load);
    assert_true(b->before != NULL && b->limit != NULL && b->load != NULL);
    assert_int_equal(lbm_map_limits(&b->g, &b->h, 0.03, b->limit), LBM_OK);
    b->m = (struct mapping){.g = &b->g, .h = &b->h, .limit = b->limit, .part = part};
}

static void
bench_close(struct bench *b)
{
    free(b->m.part);
    free(b->before);
    free(b->limit);
    free(b->load);
    lbm_graph_free(&b->g);
    lbm_hosts_free(&b->h);
}

static void
assert_pins_stayed(const struct bench *b)
{
    for (uint32_t v = 0; v < b->g.n; v++) {
        assert_true(b->m.part[v] < b->h.n);
        if (mapping_pinned(&b->m, v))
            assert_int_equal(b->m.part[v], b->g.pin[v]);
    }
}

static void
potential_gives_flows_that_balance(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 2);
    for (unsigned i = 0; i < MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i);
        double *surplus = lbm_alloc(h.n, sizeof *surplus), *phi = lbm_alloc(h.n, sizeof *phi), sum = 0;
        assert_true(surplus != NULL && phi != NULL);
        for (uint32_t p = 0; p + 1 < h.n; p++)
            sum += surplus[p] = 1000 * (lbm_rng_unit(&rng) - 0.5);
        surplus[h.n - 1] = -sum;
        assert_int_equal(map_potential(&h, surplus, phi), LBM_OK);
        for (uint32_t p = 0; p < h.n; p++) {
            double out = 0;
            for (uint32_t e = h.offset[p]; e < h.offset[p + 1]; e++)
                out += (phi[p] - phi[h.target[e]]) / h.cost[e];
            assert_true(fabs(out - surplus[p]) < 0.02);
        }
        free(surplus);
        free(phi);
        lbm_hosts_free(&h);
    }
}

static void
flow_balances_unit_work_within_the_limits(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 3);
    for (unsigned i = 0; i < 4 * MAP_HOSTS_SOME; i++) {
        struct bench b;
        bench_open(&b, i, lbm_rng_below(&rng, 400), 1, &rng);
        for (uint32_t v = 0; v < b.g.n && i % 3 != 0; v++)
            b.m.part[v] = i % b.h.n; /* all on one host */
        assert_int_equal(map_flow(&b.m, &rng), LBM_OK);
        assert_pins_stayed(&b);
        assert_int_equal(map_excess_of(&b.g, b.h.n, b.m.part, b.limit), 0);
        bench_close(&b);
    }
}

static void
flow_never_adds_excess_whatever_the_work(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 4);
    for (unsigned i = 0; i < 4 * MAP_HOSTS_SOME; i++) {
        struct bench b;
        bench_open(&b, i, 1 + lbm_rng_below(&rng, 200), i % 2 == 0 ? 50 : LBM_WEIGHT_MAX, &rng);
        uint64_t before = map_excess_of(&b.g, b.h.n, b.before, b.limit);
        assert_int_equal(map_flow(&b.m, &rng), LBM_OK);
        assert_pins_stayed(&b);
        assert_true(map_excess_of(&b.g, b.h.n, b.m.part, b.limit) <= before);
        bench_close(&b);
    }
}

/* Runs a stage that must never worsen a mapping. */
static void
check_never_worse(enum lbm_err (*stage)(const struct mapping *m, struct lbm_rng *rng), uint64_t seed)
{
    struct lbm_rng rng;
    unsigned better = 0;
    lbm_rng_seed(&rng, seed);
    for (unsigned i = 0; i < 4 * MAP_HOSTS_SOME; i++) {
        struct bench b;
        bench_open(&b, i, 1 + lbm_rng_below(&rng, 300), 1 + i % 5 * 4, &rng);
        struct objective old = mapping_objective(&b.m, b.load);
        assert_int_equal(stage(&b.m, &rng), LBM_OK);
        struct objective new = mapping_objective(&b.m, b.load);
        assert_pins_stayed(&b);
        assert_false(objective_less(&old, &new));
        better += (unsigned)objective_less(&new, &old);
        bench_close(&b);
    }
    assert_true(better > MAP_HOSTS_SOME); /* or the stage does nothing */
}

static enum lbm_err
stage_refine(const struct mapping *m, struct lbm_rng *rng)
{
    return map_refine(m, 3, 100, rng);
}

static enum lbm_err
stage_swap(const struct mapping *m, struct lbm_rng *rng)
{
    (void)rng;
    return map_swap(m);
}

static enum lbm_err
stage_vcycle(const struct mapping *m, struct lbm_rng *rng)
{
    return map_vcycle(m, 40, rng);
}

static void
refinement_never_worsens(void **state)
{
    (void)state;
    check_never_worse(stage_refine, 5);
}

static void
swaps_never_worsen(void **state)
{
    (void)state;
    check_never_worse(stage_swap, 6);
}

static void
vcycles_never_worsen(void **state)
{
    (void)state;
    check_never_worse(stage_vcycle, 7);
}

static void
swaps_undo_a_permutation_of_hosts(void **state)
{
    /* Quarters of a lattice on a ring of four, two of them exchanged. */
    uint32_t part[256];
    (void)state;
    struct lbm_hosts h = map_hosts("ring:4");
    struct lbm_graph g = map_guest_by_spec("lattice:16x16");
    uint64_t limit[4];
    static const uint32_t host[4] = {0, 1, 2, 3}; /* row-major quarters: 2 and 3 are the wrong way around */
    assert_int_equal(lbm_map_limits(&g, &h, 0.03, limit), LBM_OK);
    for (uint32_t v = 0; v < 256; v++)
        part[v] = host[v / 128 * 2 + v % 16 / 8];
    struct mapping m = {.g = &g, .h = &h, .limit = limit, .part = part};
    assert_int_equal(lbm_map_hop_bytes(&g, &h, part), 48);
    assert_int_equal(map_swap(&m), LBM_OK);
    assert_int_equal(lbm_map_hop_bytes(&g, &h, part), 32);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
quotient_sums_the_bandwidth_between_hosts(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 8);
    for (unsigned i = 0; i < MAP_HOSTS_SOME; i++) {
        struct bench b;
        struct quotient q;
        bench_open(&b, i, 100, 1, &rng);
        assert_int_equal(quotient_build(&q, &b.g, b.h.n, b.m.part), LBM_OK);
        uint64_t bytes = 0;
        for (uint32_t p = 0; p < b.h.n; p++)
            for (uint64_t e = q.offset[p]; e < q.offset[p + 1]; e++) {
                assert_true(e == q.offset[p] || q.target[e] > q.target[e - 1]);
                assert_true(q.target[e] != p && q.weight[e] > 0);
                bytes += q.weight[e] * lbm_dist(&b.h, p, q.target[e]);
            }
        assert_int_equal(bytes, 2 * lbm_map_hop_bytes(&b.g, &b.h, b.m.part));
        quotient_free(&q);
        bench_close(&b);
    }
}

/* ---- starts ----------------------------------------------------------------------------------------- */

static void
host_tree_halves_down_to_single_hosts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i);
        struct host_tree tree;
        assert_int_equal(host_tree_build(&h, 12, &tree), LBM_OK);
        assert_int_equal(tree.at[0].hosts.n, 1);
        const struct host_groups *last = &tree.at[tree.depths - 1];
        assert_int_equal(last->hosts.n, h.n);
        for (uint32_t p = 0; p < h.n; p++)
            for (uint32_t q = 0; q < h.n; q++)
                assert_int_equal(lbm_dist(&last->hosts, last->group_of[p], last->group_of[q]),
                                 12 * lbm_dist(&h, p, q));
        for (uint32_t d = 0; d + 1 < tree.depths; d++) {
            const struct host_groups *from = &tree.at[d], *to = &tree.at[d + 1];
            assert_true(to->hosts.n > from->hosts.n);
            for (uint32_t p = 0; p < h.n; p++) {
                uint32_t half = to->group_of[p] - from->first_half[from->group_of[p]];
                assert_true(half <= 1);
                uint32_t size[2] = {0}, whole = 0;
                for (uint32_t q = 0; q < h.n; q++)
                    if (from->group_of[q] == from->group_of[p]) {
                        whole++;
                        size[to->group_of[q] != to->group_of[p]]++;
                    }
                /* Hosts with links of different cost may wait, and part unevenly. */
                uint32_t least = h.topology == LBM_TOPOLOGY_FILE ? whole / 4 : whole / 2;
                assert_true(size[0] == whole || (size[0] >= least && size[1] >= least));
            }
        }
        host_tree_free(&tree);
        lbm_hosts_free(&h);
    }
}

static void
halves_of_a_mesh_are_its_sides(void **state)
{
    struct host_tree tree;
    (void)state;
    struct lbm_hosts h = map_hosts("mesh:8x4");
    assert_int_equal(host_tree_build(&h, 12, &tree), LBM_OK);
    for (uint32_t p = 0; p < h.n; p++) /* the short cut: columns 0 to 3 against 4 to 7 */
        assert_int_equal(tree.at[1].group_of[p] == tree.at[1].group_of[0], p % 8 < 4);
    host_tree_free(&tree);
    lbm_hosts_free(&h);
}

static void
bisection_maps_every_guest(void **state)
{
    const struct staging staging = {10, 2, 1000, 1, 1000};
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 9);
    for (unsigned i = 0; i < 3 * MAP_HOSTS_SOME; i++) {
        struct bench b;
        bench_open(&b, i, 1 + lbm_rng_below(&rng, 300), 1 + i % 2 * 8, &rng);
        assert_int_equal(map_start_bisection(&b.m, &staging, &rng), LBM_OK);
        assert_pins_stayed(&b);
        bench_close(&b);
    }
}

static void
groups_far_from_each_other_are_stages(void **state)
{
    static const struct {
        const char *hosts;
        int staged;
    } some[] = {{"mesh:8x8", 0},    {"hypercube:5", 0}, {"complete:9", 0},   {"star:9", 0},
                {"chain:2", 0},     {"hier:8/5", 0},    {"hier:4:2/1:2", 1}, {"hier:2:2:3/1:10:100", 1},
                {"hier:3:3/4:7", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct lbm_hosts h = map_hosts(some[i].hosts);
        int staged = -1;
        assert_int_equal(map_is_staged(&h, &staged), LBM_OK);
        assert_int_equal(staged, some[i].staged);
        lbm_hosts_free(&h);
    }
}

/* A square is quartered for four halls, though that is no matter for the hosts inside. */
static void
a_stage_cuts_little_where_it_is_dear(void **state)
{
    enum { SIDE = 24, HOSTS = 16 };
    const struct staging staging = {100, 3, 100000, 1, 100000};
    uint32_t part[SIDE * SIDE] = {0}, cut = 0;
    uint64_t limit[HOSTS];
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:24x24");
    struct lbm_hosts h = map_hosts("hier:4:4/1:100");
    struct mapping m = {.g = &g, .h = &h, .limit = limit, .part = part};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    assert_int_equal(lbm_map_limits(&g, &h, 0.03, limit), LBM_OK);
    assert_int_equal(map_start_bisection(&m, &staging, &rng), LBM_OK);
    for (uint32_t v = 0; v < g.n; v++)
        for (uint64_t e = g.offset[v]; e < g.offset[v + 1]; e++)
            cut += v < g.target[e] && lbm_dist(&h, part[v], part[g.target[e]]) == 100;
    assert_in_range(cut, 2 * SIDE, 2 * SIDE + 4);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
harmonic_vertices_lie_at_the_mean_of_their_neighbours(void **state)
{
    struct lbm_graph g = map_guest_by_spec("lattice:20x13");
    uint8_t *pinned = lbm_alloc(g.n, 1);
    double *x = lbm_alloc(2 * (size_t)g.n, sizeof *x);
    uint32_t n_pinned;
    (void)state;
    assert_true(pinned != NULL && x != NULL);
    assert_int_equal(lbm_pin_outer_face(&g, pinned, x, &n_pinned), LBM_OK);
    assert_int_equal(n_pinned, 62);
    struct mapping m = {.g = &g};
    assert_int_equal(map_harmonic(&m, pinned, 2, x), LBM_OK);
    for (uint32_t v = 0; v < g.n; v++)
        for (int k = 0; k < 2; k++) {
            double mean = 0;
            for (uint64_t e = g.offset[v]; e < g.offset[v + 1]; e++)
                mean += x[2 * g.target[e] + k] / (double)(g.offset[v + 1] - g.offset[v]);
            assert_true(pinned[v] || fabs(mean - x[2 * v + k]) < 1e-5);
        }
    for (uint32_t v = 0; v + 1 < g.n; v++) /* neighbours in a row are a cell apart, on either axis */
        if (v % 20 != 19)
            assert_true(fabs(hypot(x[2 * v] - x[2 * v + 2], x[2 * v + 1] - x[2 * v + 3]) - 1.0 / 19) < 1e-4);
    free(pinned);
    free(x);
    lbm_graph_free(&g);
}

static void
outer_face_does_not_apply_to_what_is_not_planar(void **state)
{
    struct lbm_rng rng;
    uint32_t part[125] = {0};
    uint64_t limit[4];
    int applies = 1;
    (void)state;
    lbm_rng_seed(&rng, 10);
    struct lbm_hosts h = map_hosts("mesh:2x2");
    struct lbm_graph g = map_guest_by_spec("lattice:5x5x5");
    assert_int_equal(lbm_map_limits(&g, &h, 0.03, limit), LBM_OK);
    struct mapping m = {.g = &g, .h = &h, .limit = limit, .part = part};
    assert_int_equal(map_start_face(&m, &rng, &applies), LBM_OK);
    assert_false(applies);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
a_turned_box_is_set_upright(void **state)
{
    enum { SIDE = 9, CUBE = SIDE * SIDE * SIDE };
    static double x[3 * CUBE], y[3 * CUBE];
    double matrix[9];
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 12);
    for (unsigned m = 2; m <= 3; m++) {
        struct lbm_graph g = {.n = m == 2 ? SIDE * SIDE : CUBE};
        for (int turn = 0; turn < 20; turn++) {
            for (uint32_t v = 0; v < g.n; v++)
                for (uint32_t k = 0, rest = v; k < m; k++, rest /= SIDE)
                    x[v * m + k] = rest % SIDE / (SIDE - 1.0);
            if (m == 2)
                map_isometry_plane(turn * 0.13, turn % 2, matrix);
            else
                map_isometry_space(&rng, matrix);
            map_isometry_apply(matrix, m, g.n, x, y);
            map_set_upright(&g, m, y);
            for (size_t i = 0; i < (size_t)g.n * m; i++) /* a box again, whichever of its sides is up */
                assert_true(y[i] > -1e-6 && y[i] < 1 + 1e-6);
        }
    }
}

static void
orders_of_axes_differ(void **state)
{
    double matrix[6][9], from[3] = {0.5, 0.6, 0.8}, to[6][3];
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        map_isometry_axes(i, matrix[i]);
        map_isometry_apply(matrix[i], 3, 1, from, to[i]);
        assert_true(fabs(to[i][0] + to[i][1] + to[i][2] - 1.9) < 1e-12);
        for (unsigned j = 0; j < i; j++)
            assert_true(memcmp(to[i], to[j], sizeof to[i]) != 0);
    }
}

static void
plane_sites_of_a_hypercube_put_neighbours_on_one_line(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 9; d++) {
        char spec[32];
        snprintf(spec, sizeof spec, "hypercube:%u", d);
        struct lbm_hosts h = map_hosts(spec);
        double *site = lbm_alloc(2 * (size_t)h.n, sizeof *site);
        assert_non_null(site);
        assert_true(map_plane_sites(&h, site));
        for (uint32_t p = 0; p < h.n; p++) {
            assert_true(site[2 * p] > 0 && site[2 * p] < 1 && site[2 * p + 1] > 0 && site[2 * p + 1] < 1);
            for (uint32_t q = 0; q < p; q++) {
                double dx = fabs(site[2 * p] - site[2 * q]), dy = fabs(site[2 * p + 1] - site[2 * q + 1]);
                assert_true(dx + dy > 1e-9);
                if (lbm_dist(&h, p, q) == 1)
                    assert_true(dx < 1e-9 || dy < 1e-9);
                double columns = 1 << (d + 1) / 2, rows = 1 << d / 2;
                if (fabs(dx * columns + dy * rows - 1) < 1e-9) /* next to each other on the grid */
                    assert_int_equal(lbm_dist(&h, p, q), 1);
            }
        }
        free(site);
        lbm_hosts_free(&h);
    }
    struct lbm_hosts h = map_hosts("mesh:2x2x2");
    double site[16];
    assert_false(map_plane_sites(&h, site));
    lbm_hosts_free(&h);
}

static void
isometries_of_space_keep_distances(void **state)
{
    struct lbm_rng rng;
    double matrix[9];
    (void)state;
    lbm_rng_seed(&rng, 11);
    for (int i = 0; i < 50; i++) {
        map_isometry_space(&rng, matrix);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double dot = 0;
                for (int k = 0; k < 3; k++)
                    dot += matrix[3 * a + k] * matrix[3 * b + k];
                assert_true(fabs(dot - (a == b)) < 1e-9);
            }
    }
}

static void
pool_keeps_the_best_in_order(void **state)
{
    struct pool pool;
    (void)state;
    assert_int_equal(pool_init(&pool, 1, 3), LBM_OK);
    static const uint32_t bytes[] = {7, 3, 9, 5, 3, 8, 1};
    for (uint32_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        pool_offer(&pool, &bytes[i], (struct objective){.hop_bytes = bytes[i]});
    static const uint32_t unbalanced = 0;
    pool_offer(&pool, &unbalanced, (struct objective){.excess = 1});
    assert_int_equal(pool.n, 3);
    assert_int_equal(*pool_part(&pool, 0), 1);
    assert_int_equal(*pool_part(&pool, 1), 3);
    assert_int_equal(*pool_part(&pool, 2), 3);
    pool_free(&pool);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_gives_the_largest_gain_first),
        cmocka_unit_test(potential_gives_flows_that_balance),
        cmocka_unit_test(flow_balances_unit_work_within_the_limits),
        cmocka_unit_test(flow_never_adds_excess_whatever_the_work),
        cmocka_unit_test(refinement_never_worsens),
        cmocka_unit_test(swaps_never_worsen),
        cmocka_unit_test(vcycles_never_worsen),
        cmocka_unit_test(swaps_undo_a_permutation_of_hosts),
        cmocka_unit_test(quotient_sums_the_bandwidth_between_hosts),
        cmocka_unit_test(host_tree_halves_down_to_single_hosts),
        cmocka_unit_test(halves_of_a_mesh_are_its_sides),
        cmocka_unit_test(bisection_maps_every_guest),
        cmocka_unit_test(groups_far_from_each_other_are_stages),
        cmocka_unit_test(a_stage_cuts_little_where_it_is_dear),
        cmocka_unit_test(harmonic_vertices_lie_at_the_mean_of_their_neighbours),
        cmocka_unit_test(outer_face_does_not_apply_to_what_is_not_planar),
        cmocka_unit_test(a_turned_box_is_set_upright),
        cmocka_unit_test(orders_of_axes_differ),
        cmocka_unit_test(plane_sites_of_a_hypercube_put_neighbours_on_one_line),
        cmocka_unit_test(isometries_of_space_keep_distances),
        cmocka_unit_test(pool_keeps_the_best_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
