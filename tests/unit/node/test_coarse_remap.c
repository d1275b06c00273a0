/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that become uneven by much, in virtual time: the coordinator plans again from the mapping there is,
 * and hosts wait for that. */
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

/* Pairs of hosts make loads even and boundaries long; a plan from where vertices are keeps them short. */
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
    assert_true(ratio <= 1.07);
    scene_free(&scene);
}

/* Vertices will move, and who waits for the job is not told before that all is well. */
static void
a_job_that_awaits_a_plan_has_not_settled(void **state)
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
 * it is, or the plan that comes would know neither what is on its way nor where that is wanted. */
static void
nothing_moves_while_a_plan_is_made(void **state)
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

/* Vertices that are elsewhere in plans than they were. */
static void
count_planned(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    uint64_t *n = arg;
    for (uint32_t v = 0; task->current != NULL && v < task->graph->n; v++)
        *n += plan->part[v] != task->current[v];
}

struct asked {
    unsigned again;    /* plans from the mapping there was, */
    unsigned compared; /* those of them that knew what is usual, */
    double usual;      /* and J of that, the last time */
    unsigned draws;    /* plans from nothing that nobody followed, */
    double drawn;      /* and J of the last one */
};

static void
note_asked(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    struct asked *asked = arg;
    asked->again += task->current != NULL;
    asked->compared += task->baseline != NULL;
    if (task->baseline != NULL)
        asked->usual = 0;
    for (uint32_t p = 0; p < task->hosts->n && task->baseline != NULL; p++)
        asked->usual += task->baseline[p];
    asked->draws += task->is_draw != 0;
    if (task->is_draw)
        asked->drawn = (double)lbm_map_hop_bytes(task->graph, task->hosts, plan->part);
}

/* Of applications, in a cluster whose plans take so long and are noted. */
static void
scene_of_plans(struct scene *scene, struct loads *loads, struct asked *asked, int64_t plan_us)
{
    struct cluster_options options = scene_without_faults;
    options.planned = note_asked;
    options.planned_arg = asked;
    options.plan_us = plan_us;
    scene_of_applications(scene, loads, &options);
}

/* Once loads are even, and nobody waits, the coordinator makes plans from nothing. The next plan knows their
 * J. */
static void
what_is_usual_is_drawn_after_a_plan(void **state)
{
    enum { PLANS = 2, DRAWS = 7, LOOKS = 100 };
    struct asked asked = {.again = 0};
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    (void)state;
    scene_of_plans(&scene, &loads, &asked, 0);
    assert_int_equal(asked.draws, 0);
    for (unsigned i = 1; i <= PLANS; i++) {
        uint32_t part[SIDE * SIDE];
        double drawn = asked.drawn;
        loads.corner *= 1.3;
        for (int look = 0; look < LOOKS && asked.again < i; look++)
            cluster_run(scene.cluster, 100000, NULL, NULL);
        assert_int_equal(asked.again, i);
        assert_int_equal(asked.compared, i - 1);
        assert_true(i == 1 || (asked.usual > 0.9 * drawn && asked.usual < 1.1 * drawn));
        cluster_run(scene.cluster, 10000000, NULL, NULL);
        assert_int_equal(asked.again, i);
        assert_int_equal(asked.draws, i * DRAWS);
        assert_true(loads_imbalance(&scene, &loads, part) <= 0.05);
    }
    scene_free(&scene);
}

/* Loads change while the coordinator draws, which takes longer than hosts wait for it to ask. It asks
 * meanwhile, so they go on waiting, for a plan that it begins when that draw has ended. */
static void
a_change_while_the_coordinator_draws_is_planned(void **state)
{
    enum { LOOKS = 4000, LOOK_US = 10000 };
    uint32_t before[SIDE * SIDE], after[SIDE * SIDE], n_moved = 0;
    struct asked asked = {.again = 0};
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    (void)state;
    scene_of_plans(&scene, &loads, &asked, 2400000);
    loads.corner *= 1.3;
    for (int look = 0; look < LOOKS && asked.draws < 3; look++)
        cluster_run(scene.cluster, LOOK_US, NULL, NULL);
    assert_int_equal(asked.again, 1);
    assert_int_equal(asked.draws, 3); /* and the next one has just begun */
    scene_owners(&scene, before);
    loads.corner *= 1.3;
    for (int look = 0; look < LOOKS && asked.again < 2; look++) {
        scene_owners(&scene, after);
        cluster_run(scene.cluster, LOOK_US, NULL, NULL);
    }
    assert_int_equal(asked.again, 2);
    assert_int_equal(asked.draws, 4);
    for (uint32_t v = 0; v < scene.g.n; v++)
        n_moved += before[v] != after[v];
    if (getenv("SHOW") != NULL)
        print_message("%u moved before the plan\n", n_moved);
    assert_int_equal(n_moved, 0);
    scene_free(&scene);
}

/* A host between those that have too much and the others gives what a plan takes from it long before it has
 * what the plan brings, if those disks are slow. It looks empty meanwhile, and nobody fills it. */
static void
rounds_wait_for_what_a_plan_brings(void **state)
{
    enum { SLOWER = 50 };
    static const uint32_t corner[] = {0, 1, 4, 5};
    uint64_t planned = 0;
    struct loads loads = {.corner = USUAL};
    struct cluster_options options = scene_without_faults;
    struct scene scene;
    (void)state;
    options.planned = count_planned;
    options.planned_arg = &planned;
    scene_of_applications(&scene, &loads, &options);
    uint64_t before = scene_job(&scene, 0)->moved;
    planned = 0;
    loads.corner = 3 * USUAL;
    for (size_t i = 0; i < sizeof corner / sizeof *corner; i++)
        cluster_slow_disk(scene.cluster, corner[i], SLOWER);
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    uint64_t moved = scene_job(&scene, 0)->moved - before;
    if (getenv("SHOW") != NULL)
        print_message("%u moved, %u were to\n", (unsigned)moved, (unsigned)planned);
    assert_in_range(planned, 500, 1500);
    assert_in_range(moved, planned, planned + planned / 40); /* 1183 of 1130 if nobody waits */
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries_stay_short_while_loads_drift),
        cmocka_unit_test(a_job_that_awaits_a_plan_has_not_settled),
        cmocka_unit_test(nothing_moves_while_a_plan_is_made),
        cmocka_unit_test(what_is_usual_is_drawn_after_a_plan),
        cmocka_unit_test(a_change_while_the_coordinator_draws_is_planned),
        cmocka_unit_test(rounds_wait_for_what_a_plan_brings),
    };
    return cmocka_run_group_tests_name("replan", tests, NULL, NULL);
}
