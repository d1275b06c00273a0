/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole plans: what every plan keeps, whatever the guest, the hosts and the method. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/map/map_fixture.h"
#include "space/space.h"

/* ---- helpers ---------------------------------------------------------------------------------------- */

static struct lbm_plan
plan_by(enum lbm_method method, const struct lbm_graph *g, const struct lbm_hosts *h, uint64_t seed)
{
    struct lbm_plan_options options;
    struct lbm_plan plan;
    lbm_plan_defaults(&options);
    options.method = method;
    options.seed = seed;
    assert_int_equal(lbm_plan_make(g, h, &options, &plan, NULL), LBM_OK);
    return plan;
}

/* What every plan keeps. */
static void
assert_sound(const struct lbm_plan *plan, const struct lbm_graph *g, const struct lbm_hosts *h)
{
    assert_int_equal(plan->n, g->n);
    assert_int_equal(plan->m, h->m);
    for (uint32_t v = 0; v < g->n; v++) {
        assert_true(plan->part[v] < h->n);
        if (g->pin != NULL && g->pin[v] != LBM_NONE)
            assert_int_equal(plan->part[v], g->pin[v]);
    }
    for (size_t i = 0; i < (size_t)g->n * h->m; i++)
        assert_true(plan->x[i] >= 0 && plan->x[i] <= 1);
    for (uint32_t p = 0; p < h->n; p++)
        assert_true(isfinite(plan->weight[p]));
}

static uint64_t
excess(const struct lbm_plan *plan, const struct lbm_graph *g, const struct lbm_hosts *h)
{
    uint64_t *limit = lbm_alloc(h->n, sizeof *limit);
    assert_non_null(limit);
    assert_int_equal(lbm_map_limits(g, h, 0.03, limit), LBM_OK);
    uint64_t over = map_excess_of(g, h->n, plan->part, limit);
    free(limit);
    return over;
}

static uint64_t
largest_load(const struct lbm_plan *plan, const struct lbm_graph *g, uint32_t n_hosts)
{
    uint64_t *load = lbm_alloc(n_hosts, sizeof *load), most = 0;
    assert_non_null(load);
    lbm_map_loads(g, n_hosts, plan->part, load);
    for (uint32_t p = 0; p < n_hosts; p++)
        most = load[p] > most ? load[p] : most;
    free(load);
    return most;
}

/* ---- quality ---------------------------------------------------------------------------------------- */

static void
a_lattice_is_cut_into_squares(void **state)
{
    static const struct {
        const char *guest, *hosts;
        uint64_t bytes;
    } known[] = {
        {"lattice:64x64", "mesh:4x4", 384},  {"lattice:64x64", "mesh:8x8", 896},
        {"lattice:32x32", "mesh:4x4", 192},  {"lattice:64x32", "mesh:4x2", 160},
        {"lattice:32x64", "mesh:4x2", 192},  {"lattice:40x40", "chain:2", 40},
        {"lattice:64x64", "torus:4x4", 384},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct lbm_graph g = map_guest_by_spec(known[i].guest);
        struct lbm_hosts h = map_hosts(known[i].hosts);
        struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
        assert_sound(&plan, &g, &h);
        assert_int_equal(excess(&plan, &g, &h), 0);
        assert_true(lbm_map_hop_bytes(&g, &h, plan.part) <= known[i].bytes);
        lbm_plan_free(&plan);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

/* The seed is fixed: a guest on which luck decides would be another one. */
static void
more_effort_is_no_worse(void **state)
{
    static const char *const guests[] = {"tri:600", "lattice:20x30", "rgg:500"};
    (void)state;
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++) {
        struct lbm_graph g = map_guest_by_spec(guests[i]);
        struct lbm_hosts h = map_hosts("mesh:4x4");
        uint64_t bytes[LBM_EFFORT_COUNT];
        for (int effort = 0; effort < LBM_EFFORT_COUNT; effort++) {
            struct lbm_plan_options options;
            struct lbm_plan plan;
            lbm_plan_defaults(&options);
            options.effort = (enum lbm_effort)effort;
            assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, NULL), LBM_OK);
            assert_sound(&plan, &g, &h);
            assert_int_equal(excess(&plan, &g, &h), 0);
            bytes[effort] = lbm_map_hop_bytes(&g, &h, plan.part);
            lbm_plan_free(&plan);
        }
        assert_true(bytes[LBM_EFFORT_BEST] <= bytes[LBM_EFFORT_NORMAL]);
        assert_true(bytes[LBM_EFFORT_BEST] <= bytes[LBM_EFFORT_FAST]);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
a_chain_is_laid_along_a_chain(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:400x1");
    struct lbm_hosts h = map_hosts("chain:8");
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    assert_int_equal(excess(&plan, &g, &h), 0);
    assert_int_equal(lbm_map_hop_bytes(&g, &h, plan.part), 7);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
most_vertices_lie_in_their_regions(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("tri:3000");
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    struct lbm_regions regions = {.n = h.n, .m = h.m, .site = h.site, .weight = plan.weight};
    uint32_t at_current = 0;
    for (uint32_t v = 0; v < g.n; v++)
        at_current += lbm_regions_find(&regions, &plan.x[(size_t)v * h.m], NULL) == plan.part[v];
    assert_true(at_current > 0.75 * g.n);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* ---- what every plan keeps -------------------------------------------------------------------------- */

static void
the_same_seed_gives_the_same_bytes(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 1);
    for (int method = 0; method < LBM_METHOD_COUNT; method++)
        for (unsigned i = 1; i < MAP_HOSTS_SOME; i += 3) {
            struct lbm_hosts h = map_hosts_some(i);
            struct lbm_graph g = map_guest(700, 1500, 9, 5, &rng);
            struct lbm_plan a = plan_by((enum lbm_method)method, &g, &h, 7);
            struct lbm_plan b = plan_by((enum lbm_method)method, &g, &h, 7);
            assert_memory_equal(a.part, b.part, g.n * sizeof *a.part);
            assert_memory_equal(a.x, b.x, (size_t)g.n * h.m * sizeof *a.x);
            assert_memory_equal(a.weight, b.weight, h.n * sizeof *a.weight);
            lbm_plan_free(&a);
            lbm_plan_free(&b);
            lbm_graph_free(&g);
            lbm_hosts_free(&h);
        }
}

static void
random_guests_are_balanced_within_the_bound(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 2);
    for (unsigned i = 0; i < 3 * MAP_HOSTS_SOME; i++) {
        /* sparse enough to be disconnected, with isolated vertices, in every second case */
        uint32_t n = lbm_rng_below(&rng, 500);
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        struct lbm_graph g = map_guest(n, n * (1 + i % 2 * 2) / 2, 1 + i % 4 * 9, 1, &rng);
        struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, i);
        assert_sound(&plan, &g, &h);
        assert_int_equal(excess(&plan, &g, &h), 0);
        lbm_plan_free(&plan);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
light_work_is_balanced_within_the_bound(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 3);
    for (unsigned i = 0; i < 2 * MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        struct lbm_graph g = map_guest(1500, 4000, 5, 10, &rng);
        struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, i);
        assert_sound(&plan, &g, &h);
        assert_int_equal(excess(&plan, &g, &h), 0);
        lbm_plan_free(&plan);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
work_of_any_size_is_spread(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 4);
    for (unsigned i = 0; i < 2 * MAP_HOSTS_SOME; i++) {
        struct lbm_hosts h = map_hosts_some(i % MAP_HOSTS_SOME);
        struct lbm_graph g = map_guest(200, 500, 5, LBM_WEIGHT_MAX, &rng);
        struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, i);
        struct lbm_quality quality;
        assert_sound(&plan, &g, &h);
        assert_int_equal(lbm_map_evaluate(&g, &h, plan.part, &quality, NULL), LBM_OK);
        /* A host's share is several vertices: nobody needs to be over by more than one of the heaviest. */
        double smallest = HUGE_VAL, capacity = 0;
        for (uint32_t p = 0; p < h.n; p++) {
            capacity += h.capacity[p];
            smallest = fmin(smallest, h.capacity[p]);
        }
        double share = (double)lbm_graph_total_work(&g) * smallest / capacity;
        assert_true(quality.imbalance <= fmax(0.03, lbm_graph_max_work(&g) / share));
        lbm_plan_free(&plan);
        lbm_graph_free(&g);
        lbm_hosts_free(&h);
    }
}

static void
a_vertex_heavier_than_a_share_gets_a_host_alone(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:20x20");
    struct lbm_hosts h = map_hosts("mesh:2x2");
    g.work = lbm_alloc(g.n, sizeof *g.work);
    assert_non_null(g.work);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = v == 210 ? 1000 : 1; /* a share is 349.75 */
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    assert_sound(&plan, &g, &h);
    assert_int_equal(largest_load(&plan, &g, h.n), 1000);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
pinned_vertices_stay(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 5);
    for (int method = 0; method < LBM_METHOD_COUNT; method++)
        for (unsigned i = 0; i < MAP_HOSTS_SOME; i++) {
            struct lbm_hosts h = map_hosts_some(i);
            struct lbm_graph g = map_guest(600, 1500, 3, 4, &rng);
            uint32_t *part = map_chunk(&g, h.n, &rng);
            map_pin_some(&g, part, i % 2 == 0 ? 20 : 3, &rng);
            struct lbm_plan plan = plan_by((enum lbm_method)method, &g, &h, i);
            assert_sound(&plan, &g, &h);
            if (method == LBM_METHOD_LBMAP && i % 2 == 0)
                assert_int_equal(excess(&plan, &g, &h), 0); /* few pins leave room to balance */
            lbm_plan_free(&plan);
            free(part);
            lbm_graph_free(&g);
            lbm_hosts_free(&h);
        }
}

static void
pins_of_everything_leave_no_choice(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 6);
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_graph g = map_guest(100, 200, 1, 1, &rng);
    uint32_t *part = map_chunk(&g, h.n, &rng);
    map_pin_some(&g, part, 1, &rng);
    for (int method = 0; method < LBM_METHOD_COUNT; method++) {
        struct lbm_plan plan = plan_by((enum lbm_method)method, &g, &h, 1);
        assert_memory_equal(plan.part, part, g.n * sizeof *part);
        lbm_plan_free(&plan);
    }
    free(part);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
a_pin_to_no_host_is_refused(void **state)
{
    struct lbm_diag diag = {0};
    struct lbm_plan_options options;
    struct lbm_plan plan = {.n = 99};
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:3x3");
    struct lbm_hosts h = map_hosts("chain:2");
    g.pin = lbm_alloc(g.n, sizeof *g.pin);
    assert_non_null(g.pin);
    g.pin[5] = 2;
    lbm_plan_defaults(&options);
    assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, &diag), LBM_E_RANGE);
    assert_non_null(strstr(diag.text, "vertex 5 "));
    assert_int_equal(plan.n, 99);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* ---- the smallest and the strangest ----------------------------------------------------------------- */

static void
small_guests_and_small_networks_work(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 7);
    for (int method = 0; method < LBM_METHOD_COUNT; method++)
        for (unsigned i = 0; i < MAP_HOSTS_SOME; i++)
            for (uint32_t n = 0; n < 6; n++) {
                struct lbm_hosts h = map_hosts_some(i);
                struct lbm_graph g = map_guest(n, n, 1, 1, &rng);
                struct lbm_plan plan = plan_by((enum lbm_method)method, &g, &h, n);
                assert_sound(&plan, &g, &h);
                if (method == LBM_METHOD_LBMAP)
                    assert_int_equal(excess(&plan, &g, &h), 0);
                lbm_plan_free(&plan);
                lbm_graph_free(&g);
                lbm_hosts_free(&h);
            }
}

static void
more_hosts_than_vertices_share_no_host_needlessly(void **state)
{
    struct lbm_rng rng;
    (void)state;
    lbm_rng_seed(&rng, 8);
    struct lbm_hosts h = map_hosts("mesh:8x8");
    struct lbm_graph g = map_guest(40, 0, 1, 1, &rng);
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    assert_int_equal(largest_load(&plan, &g, h.n), 1);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
components_stay_whole_where_they_fit(void **state)
{
    /* 16 cliques of 6 for 4 hosts: nothing need be cut. */
    LBM_VEC(struct lbm_edge) edges = {0};
    struct lbm_graph g;
    (void)state;
    for (uint32_t clique = 0; clique < 16; clique++)
        for (uint32_t a = 0; a < 6; a++)
            for (uint32_t b = 0; b < a; b++)
                assert_int_equal(lbm_vec_push(&edges, ((struct lbm_edge){6 * clique + a, 6 * clique + b, 1})),
                                 LBM_OK);
    assert_int_equal(lbm_graph_build(96, edges.at, edges.n, LBM_MERGE_REJECT, &g, NULL), LBM_OK);
    struct lbm_hosts h = map_hosts("mesh:2x2");
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    assert_int_equal(excess(&plan, &g, &h), 0);
    assert_int_equal(lbm_map_hop_bytes(&g, &h, plan.part), 0);
    lbm_plan_free(&plan);
    lbm_vec_free(&edges);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
a_star_of_many_leaves_is_balanced(void **state)
{
    LBM_VEC(struct lbm_edge) edges = {0};
    struct lbm_graph g;
    (void)state;
    for (uint32_t leaf = 1; leaf < 2000; leaf++)
        assert_int_equal(lbm_vec_push(&edges, ((struct lbm_edge){0, leaf, 1})), LBM_OK);
    assert_int_equal(lbm_graph_build(2000, edges.at, edges.n, LBM_MERGE_REJECT, &g, NULL), LBM_OK);
    struct lbm_hosts h = map_hosts("star:8");
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    assert_int_equal(excess(&plan, &g, &h), 0);
    assert_int_equal(plan.part[0], 0); /* the hub in the middle: half the distance of any other place */
    lbm_plan_free(&plan);
    lbm_vec_free(&edges);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
distances_and_bandwidths_at_their_limits_work(void **state)
{
    /* A chain as long as costs allow: twelve of its length do not fit 32 bits. */
    enum { HOSTS = 760 };
    static struct lbm_link links[HOSTS - 1];
    static double site[2 * HOSTS];
    struct lbm_hosts h;
    (void)state;
    for (uint32_t p = 0; p < HOSTS; p++) {
        if (p > 0)
            links[p - 1] = (struct lbm_link){p - 1, p, LBM_LINK_COST_MAX};
        site[2 * p] = p;
        site[2 * p + 1] = p % 2;
    }
    assert_int_equal(lbm_hosts_build(HOSTS, links, HOSTS - 1, NULL, 2, site, &h, NULL), LBM_OK);
    struct lbm_graph g = map_guest_by_spec("lattice:60x1");
    g.weight = lbm_alloc(lbm_graph_directions(&g), sizeof *g.weight);
    assert_non_null(g.weight);
    for (uint64_t e = 0; e < lbm_graph_directions(&g); e++)
        g.weight[e] = 100000000; /* by 118 directions and twice the length: nearly all of 63 bits */
    struct lbm_plan plan = plan_by(LBM_METHOD_LBMAP, &g, &h, 1);
    assert_sound(&plan, &g, &h);
    assert_int_equal(largest_load(&plan, &g, h.n), 1);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* ---- stopping, progress ----------------------------------------------------------------------------- */

struct watch {
    unsigned asked, stop_after;
    double done;
    unsigned told;
};

static int
stop_after_some(void *arg)
{
    struct watch *watch = arg;
    return ++watch->asked > watch->stop_after;
}

static void
note_progress(void *arg, const char *stage, double done)
{
    struct watch *watch = arg;
    assert_true(stage != NULL && stage[0] != '\0');
    assert_true(done >= watch->done && done <= 1);
    watch->done = done;
    watch->told++;
}

static void
a_stopped_plan_is_balanced_and_progress_only_grows(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("tri:1000");
    struct lbm_hosts h = map_hosts("torus:4x4");
    static const struct {
        enum lbm_method method;
        enum lbm_effort effort;
    } run[] = {{LBM_METHOD_HEIRICH, LBM_EFFORT_NORMAL},
               {LBM_METHOD_LBMAP, LBM_EFFORT_FAST},
               {LBM_METHOD_LBMAP, LBM_EFFORT_NORMAL},
               {LBM_METHOD_LBMAP, LBM_EFFORT_BEST}};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++)
        for (unsigned after = 0; after < 1000; after = 3 * after + 1) {
            struct watch watch = {.stop_after = after};
            struct lbm_plan_options options;
            struct lbm_plan plan;
            lbm_plan_defaults(&options);
            options.method = run[i].method;
            options.effort = run[i].effort;
            options.stop = stop_after_some;
            options.progress = note_progress;
            options.arg = &watch;
            assert_int_equal(lbm_plan_make(&g, &h, &options, &plan, NULL), LBM_OK);
            assert_sound(&plan, &g, &h);
            if (run[i].method == LBM_METHOD_LBMAP)
                assert_int_equal(excess(&plan, &g, &h), 0);
            assert_true(watch.told > 0 && watch.done > 1 - 1e-9);
            lbm_plan_free(&plan);
        }
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* ---- heirich ---------------------------------------------------------------------------------------- */

static void
heirich_maps_its_model_problem_exactly(void **state)
{
    struct lbm_quality quality;
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:32x32");
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_plan plan = plan_by(LBM_METHOD_HEIRICH, &g, &h, 1);
    assert_sound(&plan, &g, &h);
    assert_int_equal(lbm_map_evaluate(&g, &h, plan.part, &quality, NULL), LBM_OK);
    assert_int_equal(quality.hop_bytes, 192);
    assert_true(fabs(quality.imbalance) < 1e-12);
    for (uint32_t p = 0; p < h.n; p++)
        assert_true(plan.weight[p] == 0.0); /* squares of equal area */
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
heirich_balances_across_edges(void **state)
{
    /* A planar guest whose drawing is uneven: fig. 9 levels the loads to a vertex. */
    struct lbm_quality quality;
    (void)state;
    struct lbm_graph g = map_guest_by_spec("tri:1600");
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_plan plan = plan_by(LBM_METHOD_HEIRICH, &g, &h, 1);
    assert_int_equal(lbm_map_evaluate(&g, &h, plan.part, &quality, NULL), LBM_OK);
    assert_true(quality.imbalance <= 0.01 + 1e-9);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lattice_is_cut_into_squares),
        cmocka_unit_test(more_effort_is_no_worse),
        cmocka_unit_test(a_chain_is_laid_along_a_chain),
        cmocka_unit_test(most_vertices_lie_in_their_regions),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(random_guests_are_balanced_within_the_bound),
        cmocka_unit_test(light_work_is_balanced_within_the_bound),
        cmocka_unit_test(work_of_any_size_is_spread),
        cmocka_unit_test(a_vertex_heavier_than_a_share_gets_a_host_alone),
        cmocka_unit_test(pinned_vertices_stay),
        cmocka_unit_test(pins_of_everything_leave_no_choice),
        cmocka_unit_test(a_pin_to_no_host_is_refused),
        cmocka_unit_test(small_guests_and_small_networks_work),
        cmocka_unit_test(more_hosts_than_vertices_share_no_host_needlessly),
        cmocka_unit_test(components_stay_whole_where_they_fit),
        cmocka_unit_test(a_star_of_many_leaves_is_balanced),
        cmocka_unit_test(distances_and_bandwidths_at_their_limits_work),
        cmocka_unit_test(a_stopped_plan_is_balanced_and_progress_only_grows),
        cmocka_unit_test(heirich_maps_its_model_problem_exactly),
        cmocka_unit_test(heirich_balances_across_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
