/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans next to each other: the best of several tries, and threads that change nothing but the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/map/map_fixture.h"
#include "threads/parallel.h"

enum { MANY = 100 };

static struct lbm_plan
make(const struct lbm_graph *g, const struct lbm_hosts *h, unsigned tries, lbm_parallel *parallel)
{
    struct lbm_plan_options options;
    struct lbm_plan plan;
    lbm_plan_defaults(&options);
    options.parallel = parallel;
    assert_int_equal(tries == 0 ? lbm_plan_make(g, h, &options, &plan, NULL)
                                : lbm_plan_make_best(g, h, &options, tries, &plan, NULL),
                     LBM_OK);
    return plan;
}

static void
assert_same(const struct lbm_plan *a, const struct lbm_plan *b, uint32_t n_hosts)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->part, b->part, a->n * sizeof *a->part);
    assert_memory_equal(a->x, b->x, (size_t)a->n * a->m * sizeof *a->x);
    assert_memory_equal(a->weight, b->weight, n_hosts * sizeof *a->weight);
}

static void
count_one(void *context)
{
    atomic_fetch_add((atomic_uint *)context, 1);
}

static void
every_task_is_carried_out_once(void **state)
{
    static const unsigned numbers[] = {0, 1, 2, 3, MANY};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        atomic_uint count[MANY] = {0};
        void *context[MANY];
        for (unsigned k = 0; k < MANY; k++)
            context[k] = &count[k];
        lbm_parallel_run(count_one, context, numbers[i]);
        for (unsigned k = 0; k < MANY; k++)
            assert_int_equal(atomic_load(&count[k]), k < numbers[i]);
    }
}

/* What tries are compared by: J, in which edges between hosts without a link count twice. */
static uint64_t
weigh(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan *plan)
{
    return lbm_map_hop_bytes(g, h, plan->part) + lbm_map_unlinked_hop_bytes(g, h, plan->part);
}

static void
more_tries_are_no_worse(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("airfoil:1500");
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_plan one = make(&g, &h, 0, NULL);
    uint64_t first = weigh(&g, &h, &one), least = first;
    for (unsigned tries = 1; tries <= 8; tries *= 2) {
        struct lbm_plan best = make(&g, &h, tries, NULL);
        uint64_t now = weigh(&g, &h, &best);
        if (tries == 1)
            assert_same(&one, &best, h.n);
        assert_true(now <= least);
        least = now;
        lbm_plan_free(&best);
    }
    assert_true(least < first); /* the tries differ */
    lbm_plan_free(&one);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* A path of three hosts: 0 and 2 have no link, so of two edges of weight 1 the one between them counts 2. */
static void
edges_without_a_link_are_told(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:3x1");
    struct lbm_hosts h = map_hosts("mesh:3x1");
    const uint32_t straight[] = {0, 1, 2}, bent[] = {1, 0, 2}, alone[] = {1, 1, 1};
    assert_int_equal(lbm_map_unlinked_hop_bytes(&g, &h, straight), 0);
    assert_int_equal(lbm_map_unlinked_hop_bytes(&g, &h, bent), 2);
    assert_int_equal(lbm_map_unlinked_hop_bytes(&g, &h, alone), 0);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
threads_change_nothing(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("tri:800");
    struct lbm_hosts h = map_hosts("torus:4x4");
    for (unsigned tries = 0; tries < 4; tries += 3) {
        struct lbm_plan alone = make(&g, &h, tries, NULL), next_to = make(&g, &h, tries, lbm_parallel_run);
        assert_same(&alone, &next_to, h.n);
        lbm_plan_free(&alone);
        lbm_plan_free(&next_to);
    }
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

/* From a mapping that has become uneven, at a price. */
static void
threads_change_no_remapping(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("tri:800");
    struct lbm_hosts h = map_hosts("mesh:4x4");
    struct lbm_plan old = make(&g, &h, 0, NULL), plan[2];
    struct lbm_plan_options options;
    g.work = lbm_alloc(g.n, sizeof *g.work);
    assert_non_null(g.work);
    for (uint32_t v = 0; v < g.n; v++)
        g.work[v] = old.part[v] < 2 ? 2 : 1;
    lbm_plan_defaults(&options);
    options.current = old.part;
    options.migration_cost = lbm_map_migration_cost(&g, h.n);
    for (int i = 0; i < 2; i++) {
        options.parallel = i == 0 ? NULL : lbm_parallel_run;
        assert_int_equal(lbm_plan_make(&g, &h, &options, &plan[i], NULL), LBM_OK);
    }
    assert_same(&plan[0], &plan[1], h.n);
    lbm_plan_free(&plan[0]);
    lbm_plan_free(&plan[1]);
    lbm_plan_free(&old);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static void
what_one_try_refuses_all_refuse(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:4x4");
    struct lbm_hosts h = map_hosts("mesh:2x2");
    struct lbm_plan_options options;
    struct lbm_plan plan = {.n = MANY};
    struct lbm_diag diag;
    uint32_t current[16] = {[7] = 4}; /* hosts are 0 to 3 */
    lbm_plan_defaults(&options);
    options.current = current;
    assert_int_equal(lbm_plan_make_best(&g, &h, &options, 3, &plan, &diag), LBM_E_RANGE);
    assert_non_null(strstr(diag.text, "vertex 7"));
    assert_int_equal(plan.n, MANY);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

static int allocations_left;

static int
runs_short(void)
{
    return allocations_left-- <= 0;
}

/* Whichever allocation fails: a plan, or none and nothing kept. */
static void
short_memory_is_an_error(void **state)
{
    (void)state;
    struct lbm_graph g = map_guest_by_spec("lattice:6x6");
    struct lbm_hosts h = map_hosts("mesh:2x2");
    struct lbm_plan_options options;
    lbm_plan_defaults(&options);
    int first_done = 0;
    for (int room = 0; !first_done && room < 100000; room += 1 + room / 40) {
        struct lbm_plan plan = {.n = MANY};
        allocations_left = room;
        lbm_alloc_fails = runs_short;
        enum lbm_err err = lbm_plan_make_best(&g, &h, &options, 2, &plan, NULL);
        first_done = allocations_left > 0;
        lbm_alloc_fails = NULL;
        assert_true(err == LBM_E_NOMEM ? plan.n == MANY : err == LBM_OK && plan.n == g.n);
        if (err == LBM_OK)
            lbm_plan_free(&plan);
    }
    assert_true(first_done);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_carried_out_once), cmocka_unit_test(more_tries_are_no_worse),
        cmocka_unit_test(edges_without_a_link_are_told),  cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(threads_change_no_remapping),    cmocka_unit_test(what_one_try_refuses_all_refuse),
        cmocka_unit_test(short_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
