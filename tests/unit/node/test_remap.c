/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that become uneven by much, in virtual time: labels are annealed from the mapping there is, nobody
 * plans, and hosts wait for that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "map/map.h"
#include "tests/unit/node/load_fixture.h"

/* J of the mapping there is, in parts of what a fresh plan for the same loads has. */
static double
next_to_fresh_plan(struct scene *scene, const struct loads *loads)
{
    uint32_t part[SIDE * SIDE], *work = lbm_alloc(scene->g.n, sizeof *work);
    struct lbm_graph now = scene->g;
    struct lbm_plan_options options;
    struct lbm_plan plan;
    struct lbm_diag diag;
    assert_non_null(work);
    for (uint32_t v = 0; v < now.n; v++)
        work[v] = (uint32_t)loads_true(loads, v);
    now.work = work;
    lbm_plan_defaults(&options);
    assert_int_equal(lbm_plan_make(&now, &scene->h, &options, &plan, &diag), LBM_OK);
    scene_owners(scene, part);
    double ratio = (double)lbm_map_hop_bytes(&now, &scene->h, part) /
                   (double)lbm_map_hop_bytes(&now, &scene->h, plan.part);
    lbm_plan_free(&plan);
    free(work);
    return ratio;
}

/* Pairs of hosts make loads even and boundaries long; labels annealed from where vertices are keep them
 * short. */
static void
boundaries_stay_short_while_loads_drift(void **state)
{
    enum { STEPS = 10 };
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    (void)state;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    for (int way = 1; way >= -1; way -= 2)
        for (int i = 1; i <= STEPS; i++) {
            loads.corner += way * USUAL / (double)STEPS;
            cluster_run(scene.cluster, 6000000, NULL, NULL);
        }
    double ratio = next_to_fresh_plan(&scene, &loads);
    if (getenv("SHOW") != NULL)
        print_message("J is %.3f of a fresh plan's\n", ratio);
    assert_true(ratio <= 1.10);
    scene_free(&scene);
}

/* In a large cluster the coordinator says that loads are uneven, and sums go along a tree. */
static void
boundaries_stay_short_in_a_large_cluster(void **state)
{
    enum { STEPS = 10, TREE_HOSTS = 2 };
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    struct cluster_options options = scene_without_faults;
    (void)state;
    options.tree_hosts = TREE_HOSTS;
    scene_of_applications(&scene, &loads, &options);
    for (int i = 1; i <= STEPS; i++) {
        uint32_t part[SIDE * SIDE];
        loads.corner += USUAL / (double)STEPS;
        cluster_run(scene.cluster, 6000000, NULL, NULL);
        assert_true(loads_imbalance(&scene, &loads, part) <= 0.06);
    }
    double ratio = next_to_fresh_plan(&scene, &loads);
    if (getenv("SHOW") != NULL)
        print_message("J is %.3f of a fresh plan's\n", ratio);
    assert_true(ratio <= 1.15);
    scene_free(&scene);
}

/* One half of a chain has so much that hosts in the middle have to pass on several times what they have.
 * Labels say at once where all of it comes to rest. */
static void
work_goes_through_hosts_that_have_less_in_a_large_cluster(void **state)
{
    enum { TIMES = 8, TREE_HOSTS = 2 };
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    uint32_t part[SIDE * SIDE];
    struct cluster_options options = scene_without_faults;
    (void)state;
    options.tree_hosts = TREE_HOSTS;
    scene_of_applications_on(&scene, "chain:24", &loads, &options);
    loads.corner = TIMES * USUAL;
    cluster_run(scene.cluster, 6000000, NULL, NULL);
    double uneven = loads_imbalance(&scene, &loads, part);
    if (getenv("SHOW") != NULL)
        print_message("uneven by %.3f\n", uneven);
    assert_true(uneven <= 0.06);
    scene_free(&scene);
}

/* Vertices will move, and who waits for the job is not told before that all is well. */
static void
a_job_whose_labels_are_annealed_has_not_settled(void **state)
{
    enum { LOOKS = 200 };
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    int n_uneven = 0;
    (void)state;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    loads.corner = 2 * USUAL;
    for (int i = 0; i < LOOKS; i++) {
        cluster_run(scene.cluster, 50000, NULL, NULL);
        const Lbm__JobEntry *job = scene_job(&scene, 0);
        n_uneven += job->imbalance > 0.2;
        assert_false(job->imbalance > 0.2 && job->settled);
    }
    if (getenv("SHOW") != NULL)
        print_message("uneven at %d looks\n", n_uneven);
    assert_in_range(n_uneven, 10, LOOKS / 2);
    scene_expect_settled(&scene, 30);
    scene_free(&scene);
}

/* Rounds may be going on for another reason when loads become uneven by much. They leave everything where
 * it is, or labels would begin neither where vertices are nor know where they are wanted. */
static void
nothing_moves_while_labels_are_annealed(void **state)
{
    enum { AWAKE = 5, LOOKS = 12 };
    uint32_t before[SIDE * SIDE], after[SIDE * SIDE], n_moved = 0;
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    (void)state;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    scene_owners(&scene, before);
    loads.corner = 2 * USUAL;
    for (int i = 0; i < LOOKS; i++) {
        double capacity = i % 2 == 0 ? 1.001 : 1; /* its neighbours look at their boundaries */
        assert_int_equal(scene_set_capacity(scene.cluster, AWAKE, AWAKE, capacity), LBM_OK);
        cluster_run(scene.cluster, 50000, NULL, NULL);
    }
    scene_owners(&scene, after);
    for (uint32_t v = 0; v < scene.g.n; v++)
        n_moved += before[v] != after[v];
    if (getenv("SHOW") != NULL)
        print_message("%u moved early\n", n_moved);
    assert_int_equal(n_moved, 0);
    cluster_run(scene.cluster, 15000000, NULL, NULL);
    scene_expect_settled(&scene, 30);
    assert_true(loads_imbalance(&scene, &loads, after) <= 0.05);
    scene_free(&scene);
}

static void
count_plans(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    unsigned *n = arg;
    (void)task;
    (void)plan;
    ++*n;
}

/* A host between those that have too much and the others gives what labels take from it long before it has
 * what they bring, if those disks are slow. It looks empty meanwhile, and nobody fills it. No host plans. */
static void
rounds_wait_for_what_labels_bring(void **state)
{
    enum { SLOWER = 50 };
    static const uint32_t corner[] = {0, 1, 4, 5};
    unsigned n_plans = 0;
    uint32_t part[SIDE * SIDE];
    struct loads loads = {.corner = USUAL};
    struct cluster_options options = scene_without_faults;
    struct scene scene;
    (void)state;
    options.planned = count_plans;
    options.planned_arg = &n_plans;
    scene_of_applications(&scene, &loads, &options);
    uint64_t before = scene_job(&scene, 0)->moved;
    n_plans = 0;
    loads.corner = 3 * USUAL;
    for (size_t i = 0; i < sizeof corner / sizeof *corner; i++)
        cluster_slow_disk(scene.cluster, corner[i], SLOWER);
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    uint64_t moved = scene_job(&scene, 0)->moved - before;
    if (getenv("SHOW") != NULL)
        print_message("%u moved\n", (unsigned)moved);
    assert_int_equal(n_plans, 0);
    assert_in_range(moved, 500, 1250); /* 1130 */
    assert_true(loads_imbalance(&scene, &loads, part) <= 0.05);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries_stay_short_while_loads_drift),
        cmocka_unit_test(boundaries_stay_short_in_a_large_cluster),
        cmocka_unit_test(work_goes_through_hosts_that_have_less_in_a_large_cluster),
        cmocka_unit_test(a_job_whose_labels_are_annealed_has_not_settled),
        cmocka_unit_test(nothing_moves_while_labels_are_annealed),
        cmocka_unit_test(rounds_wait_for_what_labels_bring),
    };
    return cmocka_run_group_tests_name("remap", tests, NULL, NULL);
}
