/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node core in virtual time: whole clusters, no socket, no disk, no clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

/* Every vertex has exactly one owner on the disks; returns J and the largest load. */
static uint64_t
expect_one_owner(struct scene *scene, uint64_t *most)
{
    uint32_t *part = calloc(scene->g.n, sizeof *part);
    scene_owners(scene, part);
    *most = scene_largest_load(scene);
    uint64_t hop_bytes = lbm_map_hop_bytes(&scene->g, &scene->h, part);
    free(part);
    return hop_bytes;
}

static void
hosts_found_join_and_activate(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:3x3", "lattice:4x4", &scene_without_faults);
    assert_true(cluster_now(scene.cluster) < 5000000);
    scene_free(&scene);
}

static void
a_single_host_settles_with_everything(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "chain:1", "lattice:8x8", &scene_without_faults);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 30);
    assert_int_equal(expect_one_owner(&scene, &most), 0);
    assert_int_equal(most, 64);
    scene_free(&scene);
}

static void
a_planned_job_settles_with_the_plans_quality(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:4x4", "lattice:32x32", &scene_without_faults);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 5, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    assert_in_range(expect_one_owner(&scene, &most), 192, 211);
    assert_in_range(most, 64, 65);
    scene_free(&scene);
}

/* HEI97 figs 6 and 7: 64 vertices on every host, J within 1.10 of the 192 of perfect squares. */
static void
expect_model_problem(enum lbm_start start)
{
    struct scene scene;
    scene_new(&scene, "mesh:4x4", "lattice:32x32", &scene_without_faults);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 3, "job", &scene.g, start), LBM_OK);
    scene_expect_settled(&scene, 120);
    assert_in_range(expect_one_owner(&scene, &most), 192, 211);
    assert_int_equal(most, 64);
    scene_free(&scene);
}

static void
the_model_problem_settles_from_the_centre(void **state)
{
    (void)state;
    expect_model_problem(LBM_START_CENTRE);
}

static void
the_model_problem_settles_from_random_places(void **state)
{
    (void)state;
    expect_model_problem(LBM_START_RANDOM);
}

static void
lost_and_repeated_ghosts_do_not_break_it(void **state)
{
    (void)state;
    struct cluster_options bad = scene_without_faults;
    bad.lose_soft = 0.3;
    bad.repeat_soft = 0.3;
    bad.delay_most_us = 20000;
    struct scene scene;
    scene_new(&scene, "mesh:2x2", "lattice:16x16", &bad);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 1, "job", &scene.g, LBM_START_CENTRE), LBM_OK);
    scene_expect_settled(&scene, 120);
    assert_in_range(expect_one_owner(&scene, &most), 32, 40);
    assert_in_range(most, 64, 65);
    scene_free(&scene);
}

static void
guests_without_pins_are_renormalized(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:2x2", "lattice:8x8x4", &scene_without_faults);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_RANDOM), LBM_OK);
    scene_expect_settled(&scene, 120);
    expect_one_owner(&scene, &most);
    assert_in_range(most, 64, 65);
    scene_free(&scene);
}

/* Crash and restart random hosts at random moments; nothing may be lost or owned twice. */
static void
crashes_lose_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct cluster_options options = scene_without_faults;
        options.seed = seed;
        options.sync_us = 8000;
        struct scene scene;
        scene_new(&scene, "mesh:3x2", "lattice:18x18", &options);
        struct lbm_rng rng;
        lbm_rng_seed(&rng, seed);
        assert_int_equal(cluster_submit(scene.cluster, (uint32_t)seed % 6, "job", &scene.g,
                                        seed % 2 ? LBM_START_PLAN : LBM_START_CENTRE),
                         LBM_OK);
        for (int i = 0; i < 12; i++) {
            cluster_run(scene.cluster, lbm_rng_below(&rng, 300000), NULL, NULL);
            uint32_t host = lbm_rng_below(&rng, scene.h.n);
            cluster_crash(scene.cluster, host);
            cluster_run(scene.cluster, lbm_rng_below(&rng, 400000), NULL, NULL);
            if (!cluster_is_up(scene.cluster, host))
                cluster_restart(scene.cluster, host);
        }
        uint64_t most;
        scene_expect_settled(&scene, 180);
        expect_one_owner(&scene, &most);
        assert_in_range(most, 54, 56);
        scene_free(&scene);
    }
}

static void
a_stopped_host_is_named_and_the_others_go_on(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:2x2", "lattice:16x16", &scene_without_faults);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    cluster_run(scene.cluster, 300000, NULL, NULL);
    cluster_stop(scene.cluster, 3);
    cluster_run(scene.cluster, 3000000, NULL, NULL);
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    const Lbm__Response *response = cluster_ask(scene.cluster, 0, 0, &request);
    assert_non_null(response);
    assert_int_equal(response->status->n_unreachable, 1);
    assert_int_equal(response->status->unreachable[0], 3);
    cluster_continue(scene.cluster, 3);
    scene_expect_settled(&scene, 60);
    expect_one_owner(&scene, &most);
    assert_in_range(most, 64, 65);
    scene_free(&scene);
}

/* HEI97 section 10: a new host takes its share by exchange with the hosts it is linked to. */
static void
a_host_that_joins_takes_its_share(void **state)
{
    (void)state;
    struct cluster_options options = scene_without_faults;
    options.late = 1;
    struct scene scene;
    scene_new(&scene, "mesh:5x3", "lattice:30x30", &options);
    uint64_t most;
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    cluster_restart(scene.cluster, 14);
    assert_true(cluster_run(scene.cluster, 20000000, scene_is_active, &scene));
    cluster_run(scene.cluster, 2000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    expect_one_owner(&scene, &most);
    assert_in_range(most, 60, 62);
    scene_free(&scene);
}

/* Its host has too much of it, but so would any other: it goes where the plan has it, and stays. */
static void
a_vertex_that_fits_nowhere_is_not_passed_on(void **state)
{
    (void)state;
    enum { HEAVY = 40 };
    struct scene scene;
    scene_new(&scene, "mesh:4x4", "lattice:4x4", &scene_without_faults);
    scene.g.work = lbm_alloc(scene.g.n, sizeof *scene.g.work);
    assert_non_null(scene.g.work);
    for (uint32_t v = 0; v < scene.g.n; v++)
        scene.g.work[v] = v == 5 || v == 10 ? HEAVY : 1;
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    assert_in_range(scene_job(&scene, 0)->moved, 1, lbm_graph_total_work(&scene.g));
    scene_free(&scene);
}

static void
a_refused_vertex_stays_with_its_owner(void **state)
{
    (void)state;
    struct cluster_options options = scene_without_faults;
    options.vertices_max = 20;
    options.limited_host = 1;
    struct scene scene;
    scene_new(&scene, "chain:2", "lattice:8x8", &options);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    uint32_t part[64], doubles, none, on_limited = 0;
    cluster_owners(scene.cluster, 64, part, &doubles, &none);
    assert_int_equal(doubles + none, 0);
    for (int v = 0; v < 64; v++)
        on_limited += part[v] == 1;
    assert_int_equal(on_limited, 20);
    scene_free(&scene);
}

static void
a_name_is_taken_once_and_free_after_cancel(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "chain:2", "lattice:4x4", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    assert_int_equal(cluster_submit(scene.cluster, 1, "job", &scene.g, LBM_START_PLAN), LBM_E_STATE);
    scene_expect_settled(&scene, 30);
    char name[] = "job";
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    cancel.job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_CANCEL;
    request.cancel = &cancel;
    assert_int_equal(cluster_ask(scene.cluster, 1, 1234, &request)->code, LBM_E_DENIED);
    assert_int_equal(cluster_ask(scene.cluster, 1, 0, &request)->code, LBM_OK);
    cluster_run(scene.cluster, 2000000, NULL, NULL);
    uint32_t part[16], doubles, none;
    cluster_owners(scene.cluster, 16, part, &doubles, &none);
    assert_int_equal(none, 16);
    assert_int_equal(cluster_submit(scene.cluster, 1, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 30);
    scene_free(&scene);
}

static void
the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    char *first = NULL;
    for (int run = 0; run < 2; run++) {
        struct lbm_hosts h;
        struct lbm_graph g;
        struct lbm_diag diag;
        assert_int_equal(lbm_hosts_generate("ring:3", &h, &diag), LBM_OK);
        assert_int_equal(lbm_graph_generate("lattice:6x6", 1, &g, &diag), LBM_OK);
        struct cluster *cluster = cluster_new(&h, &scene_without_faults);
        cluster_trace(cluster, 1);
        struct scene scene = {.h = h, .cluster = cluster};
        assert_true(cluster_run(cluster, 20000000, scene_is_active, &scene));
        assert_int_equal(cluster_submit(cluster, 0, "job", &g, LBM_START_PLAN), LBM_OK);
        char name[] = "job";
        assert_true(cluster_run(cluster, 60000000, scene_is_settled, name));
        if (run == 0)
            first = strdup(cluster_trace_text(cluster));
        else
            assert_string_equal(first, cluster_trace_text(cluster));
        cluster_free(cluster);
        lbm_hosts_free(&h);
        lbm_graph_free(&g);
    }
    free(first);
}

/* Add to claims [n] what every host says it owns at this moment. Returns how many claims there are. */
static uint32_t
count_claims(struct scene *scene, uint32_t *claims)
{
    uint32_t all = 0;
    char name[] = "job";
    for (uint32_t p = 0; p < scene->h.n; p++) {
        Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        const Lbm__Response *chunk;
        map.job = name;
        map.owned = 1;
        request.what_case = LBM__REQUEST__WHAT_MAP;
        request.map = &map;
        cluster_request(scene->cluster, p, 0, &request);
        for (size_t i = 0; (chunk = cluster_reply(scene->cluster, p, i)) != NULL; i++) {
            assert_int_equal(chunk->code, LBM_OK);
            assert_int_equal(chunk->map->host, p);
            assert_int_equal(chunk->last, cluster_reply(scene->cluster, p, i + 1) == NULL);
            for (size_t k = 0; chunk->map->records != NULL && k < chunk->map->records->n_vertex; k++, all++)
                claims[chunk->map->records->vertex[k]]++;
        }
    }
    return all;
}

/* Asked all at the same moment, while vertices are in flight and when all has settled. */
static void
no_two_hosts_say_that_they_own_a_vertex(void **state)
{
    (void)state;
    struct scene scene;
    uint32_t least = UINT32_MAX, all = 0;
    char name[] = "job";
    scene_new(&scene, "mesh:3x3", "lattice:30x30", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 4, name, &scene.g, LBM_START_CENTRE), LBM_OK);
    for (int settled = 0, round = 0; !settled; round++) {
        uint32_t *claims = calloc(scene.g.n, sizeof *claims);
        settled = cluster_run(scene.cluster, 1000 + 37 * round, scene_is_settled, name);
        all = count_claims(&scene, claims);
        least = all < least ? all : least;
        for (uint32_t v = 0; v < scene.g.n; v++)
            assert_in_range(claims[v], 0, 1);
        free(claims);
        assert_true(round < 3000);
    }
    assert_int_equal(all, scene.g.n);
    assert_true(least < scene.g.n); /* or no moment with a vertex in flight was seen */
    scene_free(&scene);
}

static void
places_are_in_the_order_of_the_question(void **state)
{
    (void)state;
    struct scene scene;
    char name[] = "job";
    uint32_t vertex[] = {63, 0, 63, 17, 0, 63}, part[64], doubles, none;
    scene_new(&scene, "mesh:2x2", "lattice:8x8", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 0, name, &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    cluster_owners(scene.cluster, scene.g.n, part, &doubles, &none);
    Lbm__LocateRequest locate = LBM__LOCATE_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    locate.job = name;
    locate.vertex = vertex;
    locate.n_vertex = sizeof vertex / sizeof *vertex;
    request.what_case = LBM__REQUEST__WHAT_LOCATE;
    request.locate = &locate;
    const Lbm__Response *response = cluster_ask(scene.cluster, 2, 0, &request);
    assert_non_null(response);
    assert_int_equal(response->locate->n_vertex, locate.n_vertex);
    for (size_t i = 0; i < locate.n_vertex; i++) {
        assert_int_equal(response->locate->vertex[i], vertex[i]);
        assert_int_equal(response->locate->host[i], part[vertex[i]]);
        assert_true(response->locate->epoch[i] > 0);
    }
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_found_join_and_activate),
        cmocka_unit_test(a_single_host_settles_with_everything),
        cmocka_unit_test(a_planned_job_settles_with_the_plans_quality),
        cmocka_unit_test(the_model_problem_settles_from_the_centre),
        cmocka_unit_test(the_model_problem_settles_from_random_places),
        cmocka_unit_test(lost_and_repeated_ghosts_do_not_break_it),
        cmocka_unit_test(guests_without_pins_are_renormalized),
        cmocka_unit_test(crashes_lose_nothing),
        cmocka_unit_test(a_stopped_host_is_named_and_the_others_go_on),
        cmocka_unit_test(a_host_that_joins_takes_its_share),
        cmocka_unit_test(a_vertex_that_fits_nowhere_is_not_passed_on),
        cmocka_unit_test(a_refused_vertex_stays_with_its_owner),
        cmocka_unit_test(a_name_is_taken_once_and_free_after_cancel),
        cmocka_unit_test(no_two_hosts_say_that_they_own_a_vertex),
        cmocka_unit_test(places_are_in_the_order_of_the_question),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
