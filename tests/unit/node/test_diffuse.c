/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that nobody plans: hosts embed the guest by diffusion and anneal labels. J comes near that of a plan,
 * and no host asks for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "map/map.h"
#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

enum { SUBMITTER = 5 };

static void
expect_no_plan(struct scene *scene)
{
    for (uint32_t p = 0; p < scene->h.n; p++) {
        Lbm__Empty empty = LBM__EMPTY__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_STATUS;
        request.status = &empty;
        const Lbm__Response *response = scene_ask(scene, p, &request);
        assert_non_null(response);
        assert_int_equal(response->status->plans, 0);
    }
}

static void
submit(struct scene *scene, const char *hosts, const char *guest)
{
    scene_new(scene, hosts, guest, &scene_without_faults);
    assert_int_equal(cluster_submit(scene->cluster, SUBMITTER, "job", &scene->g, LBM_START_DIFFUSE), LBM_OK);
}

static void
it_comes_near_a_plan_and_makes_none(void **state)
{
    (void)state;
    static const char *const hosts[] = {"mesh:4x4", "torus:4x4", "mesh:3x3"};
    static const char *const guests[] = {"airfoil:4000", "lattice:40x40", "tri:2000"};
    for (int i = 0; i < 3; i++) {
        struct scene scene;
        submit(&scene, hosts[i], guests[i]);
        scene_expect_settled(&scene, 100);
        expect_no_plan(&scene);
        assert_true((double)scene_hop_bytes(&scene) <= 1.20 * (double)scene_planned(&scene));
        scene_free(&scene);
    }
}

/* Each vertex goes once, and a few more than once in rounds. */
static void
records_follow_once(void **state)
{
    (void)state;
    struct scene scene;
    submit(&scene, "mesh:4x4", "airfoil:4000");
    scene_expect_settled(&scene, 100);
    const Lbm__JobEntry *job = scene_job(&scene, 0);
    assert_non_null(job);
    assert_true((double)job->moved <= 1.3 * scene.g.n);
    scene_free(&scene);
}

static void
pinned_vertices_go_where_they_must(void **state)
{
    (void)state;
    scene_expect_pins(LBM_START_DIFFUSE);
}

/* Whatever the stage: a host that does not run is waited for, one that starts again hears where the others
 * are. */
static void
a_host_may_stop_or_start_again_meanwhile(void **state)
{
    enum { LATE = 8, TIMES = 12 };
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        struct scene scene;
        submit(&scene, "mesh:3x3", "airfoil:1500");
        cluster_run(scene.cluster, 100000 + i * 150000, NULL, NULL);
        if (i % 2 == 0) {
            cluster_stop(scene.cluster, LATE);
            cluster_run(scene.cluster, 700000, NULL, NULL);
            cluster_continue(scene.cluster, LATE);
        } else {
            cluster_crash(scene.cluster, LATE);
            cluster_run(scene.cluster, 300000, NULL, NULL);
            cluster_restart(scene.cluster, LATE);
        }
        scene_expect_settled(&scene, 100);
        expect_no_plan(&scene);
        assert_true((double)scene_hop_bytes(&scene) <= 1.35 * (double)scene_planned(&scene));
        scene_free(&scene);
    }
}

static void
odd_guests_settle(void **state)
{
    (void)state;
    static const char *const guests[] = {"lattice:1x1", "lattice:9x1", "lattice:2x2", "tree:300", "rgg:60"};
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++) {
        struct scene scene;
        submit(&scene, "mesh:3x3", guests[i]);
        scene_expect_settled(&scene, 100);
        scene_free(&scene);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_near_a_plan_and_makes_none),
        cmocka_unit_test(records_follow_once),
        cmocka_unit_test(pinned_vertices_go_where_they_must),
        cmocka_unit_test(a_host_may_stop_or_start_again_meanwhile),
        cmocka_unit_test(odd_guests_settle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
