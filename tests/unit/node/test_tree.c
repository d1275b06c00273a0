/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that nobody plans in clusters where sums go along a tree: clusters here are small, and so is the
 * number of hosts from which they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "map/map.h"
#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

enum { TREE_HOSTS = 2, FIRST = 0, INNER = 1, LAST = 15 };

static void
build(struct scene *scene, const char *hosts, const char *guest)
{
    struct cluster_options options = scene_without_faults;
    options.tree_hosts = TREE_HOSTS;
    scene_new(scene, hosts, guest, &options);
}

static void
submit(struct scene *scene, uint32_t host)
{
    assert_int_equal(cluster_submit(scene->cluster, host, "job", &scene->g, LBM_START_DIFFUSE), LBM_OK);
}

static uint64_t
plans(struct scene *scene)
{
    uint64_t n = 0;
    for (uint32_t p = 0; p < scene->h.n; p++) {
        Lbm__Empty empty = LBM__EMPTY__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_STATUS;
        request.status = &empty;
        const Lbm__Response *response = scene_ask(scene, p, &request);
        assert_non_null(response);
        n += response->status->plans;
    }
    return n;
}

static void
expect_near_a_plan(struct scene *scene, double bound)
{
    scene_expect_settled(scene, 100);
    assert_int_equal(plans(scene), 0);
    double own = (double)scene_hop_bytes(scene), planned = (double)scene_planned(scene);
    if (own > bound * planned)
        fail_msg("J is %.0f, that of a plan %.0f", own, planned);
    scene_free(scene);
}

static void
from_one_host_it_comes_near_a_plan(void **state)
{
    (void)state;
    static const char *const hosts[] = {"mesh:4x4", "torus:4x4", "hypercube:4", "mesh:3x3"};
    static const char *const guests[] = {"airfoil:4000", "lattice:40x40", "tri:2000", "tri:2000"};
    for (int i = 0; i < 4; i++) {
        struct scene scene;
        build(&scene, hosts[i], guests[i]);
        submit(&scene, 5);
        expect_near_a_plan(&scene, 1.20);
    }
}

/* Slices of a lattice, which lie side by side; and of vertices whose neighbours are anywhere. */
static void
from_all_hosts_it_comes_near_a_plan(void **state)
{
    (void)state;
    static const char *const guests[] = {"lattice:40x40", "airfoil:4000"};
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        build(&scene, "mesh:4x4", guests[i]);
        assert_int_equal(cluster_submit_parts(scene.cluster, 16, "job", &scene.g, LBM_START_DIFFUSE),
                         LBM_OK);
        expect_near_a_plan(&scene, 1.25);
    }
}

/* The first, to which all is told; one that others tell; one that nobody tells. Each is waited for, or
 * skipped when it has been silent for long, and hears where the others are when it is back. */
static void
a_host_may_stop_or_start_again_meanwhile(void **state)
{
    enum { TIMES = 6 };
    (void)state;
    static const uint32_t which[] = {FIRST, INNER, LAST};
    for (int i = 0; i < TIMES; i++) {
        struct scene scene;
        uint32_t host = which[i % 3];
        build(&scene, "mesh:4x4", "airfoil:1500");
        submit(&scene, 5);
        cluster_run(scene.cluster, 100000 + i * 300000, NULL, NULL);
        if (i / 3 % 2 == 0) {
            cluster_stop(scene.cluster, host);
            cluster_run(scene.cluster, i % 3 == 1 ? 9000000 : 700000, NULL, NULL);
            cluster_continue(scene.cluster, host);
        } else {
            cluster_crash(scene.cluster, host);
            cluster_run(scene.cluster, 300000, NULL, NULL);
            cluster_restart(scene.cluster, host);
        }
        expect_near_a_plan(&scene, 1.40);
    }
}

/* Messages that tell of stages may be lost: they come again. */
static void
messages_may_be_lost(void **state)
{
    (void)state;
    struct scene scene;
    build(&scene, "mesh:4x4", "airfoil:1500");
    cluster_soft_loss(scene.cluster, 0.2, 0.1);
    assert_int_equal(cluster_submit_parts(scene.cluster, 4, "job", &scene.g, LBM_START_DIFFUSE), LBM_OK);
    expect_near_a_plan(&scene, 1.40);
}

static void
odd_guests_settle(void **state)
{
    (void)state;
    static const char *const guests[] = {"lattice:1x1", "lattice:9x1", "lattice:2x2", "tree:300", "rgg:60"};
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++) {
        struct scene scene;
        build(&scene, "mesh:3x3", guests[i]);
        submit(&scene, 5);
        scene_expect_settled(&scene, 100);
        assert_int_equal(plans(&scene), 0);
        scene_free(&scene);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_one_host_it_comes_near_a_plan),
        cmocka_unit_test(from_all_hosts_it_comes_near_a_plan),
        cmocka_unit_test(a_host_may_stop_or_start_again_meanwhile),
        cmocka_unit_test(messages_may_be_lost),
        cmocka_unit_test(odd_guests_settle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
