/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the vertices of a job start: from the centre and at random places as in the paper, where nothing but
 * diffusion, regions and rounds decide; whatever crashes, is cancelled, or weighs what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "map/map.h"
#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

static void
count_plans(void *arg, const struct lbm_plan_task *task, struct lbm_plan *plan)
{
    unsigned *n = arg;
    (void)plan;
    *n += task->start == LBM_START_PLAN;
}

/* HEI97 figures 6 and 7: diffusion alone maps an irregular mesh at 1.3 to 1.9 times a plan's J, and rounds
 * make loads even. */
static void
nothing_is_added_to_the_starts_of_the_paper(void **state)
{
    static const enum lbm_start starts[] = {LBM_START_CENTRE, LBM_START_RANDOM};
    static const char *const hosts[] = {"mesh:4x4", "torus:4x4"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        unsigned n_plans = 0;
        struct cluster_options options = scene_without_faults;
        struct scene scene;
        options.planned = count_plans;
        options.planned_arg = &n_plans;
        scene_new(&scene, hosts[i / 2], "airfoil:4000", &options);
        assert_int_equal(cluster_submit(scene.cluster, 5, "job", &scene.g, starts[i % 2]), LBM_OK);
        scene_expect_settled(&scene, 200);
        double ratio = (double)scene_hop_bytes(&scene) / (double)scene_planned(&scene);
        if (getenv("SHOW") != NULL)
            print_message("J is %.3f of a plan's\n", ratio);
        assert_int_equal(n_plans, 0);
        assert_true(ratio > 0.9 && ratio < 3);
        assert_true(scene_job(&scene, 0)->imbalance <= 0.03 + 0.01);
        scene_free(&scene);
    }
}

static void
pinned_vertices_go_where_they_must(void **state)
{
    (void)state;
    scene_expect_pins(LBM_START_RANDOM);
    scene_expect_pins(LBM_START_COARSE);
}

/* Nothing is left of the job on the disk of its coordinator, and the plan that is ready later is nobody's. */
static void
a_job_is_cancelled_while_it_is_planned(void **state)
{
    enum { COORDINATOR = 4, MOMENTS = 12 };
    (void)state;
    for (int i = 0; i < MOMENTS; i++) {
        struct cluster_options options = scene_without_faults;
        struct scene scene;
        options.plan_us = 3000000;
        scene_new(&scene, "mesh:3x3", "airfoil:1500", &options);
        assert_int_equal(cluster_submit(scene.cluster, COORDINATOR, "job", &scene.g, LBM_START_PLAN), LBM_OK);
        cluster_run(scene.cluster, 500000 + i * 300000, NULL, NULL);
        cluster_cancel(scene.cluster, 1, "job");
        cluster_run(scene.cluster, 1000000, NULL, NULL);
        if (i % 2 == 0) {
            cluster_crash(scene.cluster, COORDINATOR);
            cluster_restart(scene.cluster, COORDINATOR);
        }
        cluster_run(scene.cluster, 6000000, NULL, NULL);
        cluster_crash(scene.cluster, COORDINATOR); /* what its database has is found out by opening it */
        cluster_restart(scene.cluster, COORDINATOR);
        cluster_run(scene.cluster, 6000000, NULL, NULL);
        assert_true(cluster_is_up(scene.cluster, COORDINATOR));
        assert_false(cluster_has_job(scene.cluster, COORDINATOR, "job"));
        assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
        scene_free(&scene);
    }
}

/* Whoever crashes, the coordinator too, at any moment from the first sweeps to the end: the job settles. */
static void
crashes_do_not_hold_it_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct cluster_options options = scene_without_faults;
        options.seed = seed;
        struct scene scene;
        struct lbm_rng rng;
        scene_new(&scene, "mesh:3x2", "airfoil:600", &options);
        lbm_rng_seed(&rng, seed);
        uint32_t coordinator = (uint32_t)seed % 6;
        assert_int_equal(cluster_submit(scene.cluster, coordinator, "job", &scene.g, LBM_START_RANDOM),
                         LBM_OK);
        for (int i = 0; i < 10; i++) {
            uint32_t host = i % 3 == 0 ? coordinator : lbm_rng_below(&rng, scene.h.n);
            cluster_run(scene.cluster, lbm_rng_below(&rng, 1500000), NULL, NULL);
            cluster_crash(scene.cluster, host);
            cluster_run(scene.cluster, lbm_rng_below(&rng, 300000), NULL, NULL);
            if (!cluster_is_up(scene.cluster, host))
                cluster_restart(scene.cluster, host);
        }
        scene_expect_settled(&scene, 200);
        scene_hop_bytes(&scene);
        scene_free(&scene);
    }
}

/* One vertex a host, whatever each weighs. */
static void
equal_vertices_settle_one_a_host(void **state)
{
    static const enum lbm_start starts[] = {LBM_START_PLAN, LBM_START_RANDOM};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        scene_new(&scene, "mesh:4x4", "lattice:4x4", &scene_without_faults);
        scene.g.work = calloc(scene.g.n, sizeof *scene.g.work);
        for (uint32_t v = 0; v < scene.g.n; v++)
            scene.g.work[v] = 40;
        assert_int_equal(cluster_submit(scene.cluster, 5, "job", &scene.g, starts[i]), LBM_OK);
        scene_expect_settled(&scene, 200);
        assert_int_equal(scene_largest_load(&scene), 40);
        scene_free(&scene);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_added_to_the_starts_of_the_paper),
        cmocka_unit_test(pinned_vertices_go_where_they_must),
        cmocka_unit_test(equal_vertices_settle_one_a_host),
        cmocka_unit_test(a_job_is_cancelled_while_it_is_planned),
        cmocka_unit_test(crashes_do_not_hold_it_up),
    };
    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
