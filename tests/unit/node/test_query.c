/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings gathered from all hosts, in virtual time: for whom an answer waits, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

enum { SECOND = 1000000, SLOW = 3 };

static int
never(struct cluster *cluster, void *arg)
{
    (void)cluster;
    (void)arg;
    return 0;
}

static void
settle(struct scene *scene)
{
    scene_new(scene, "mesh:2x2", "lattice:16x16", &scene_without_faults);
    assert_int_equal(cluster_submit(scene->cluster, 0, "job", &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 120);
}

/* The last part of what host 0 answers, and after how long. */
static const Lbm__MapReply *
ask_for_the_map(struct scene *scene, int64_t *took_us)
{
    char name[] = "job";
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    map.job = name;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &map;
    int64_t begin = cluster_now(scene->cluster);
    const Lbm__Response *response = cluster_ask(scene->cluster, 0, 0, &request);
    *took_us = cluster_now(scene->cluster) - begin;
    assert_non_null(response);
    assert_int_equal(response->code, LBM_OK);
    return response->map;
}

static void
a_host_that_is_alive_is_waited_for(void **state)
{
    struct scene scene;
    int64_t took_us;
    (void)state;
    settle(&scene);
    cluster_lag(scene.cluster, SLOW, 0, 2 * SECOND);
    assert_false(cluster_run(scene.cluster, 3 * SECOND, never, NULL));
    assert_int_equal(ask_for_the_map(&scene, &took_us)->n_missing, 0);
    assert_in_range(took_us, 2 * SECOND, 3 * SECOND);
    scene_free(&scene);
}

static void
a_unreachable_host_is_named(void **state)
{
    struct scene scene;
    int64_t took_us;
    (void)state;
    settle(&scene);
    cluster_stop(scene.cluster, SLOW);
    const Lbm__MapReply *map = ask_for_the_map(&scene, &took_us);
    assert_int_equal(map->n_missing, 1);
    assert_int_equal(map->missing[0], SLOW);
    assert_in_range(took_us, SECOND, 3 * SECOND);
    scene_free(&scene);
}

/* What host 0 answers from a host on, about `rows` vertices: adds those of each host to count, and returns
 * the host that it asks to go on from. */
static uint32_t
ask_for_a_piece(struct scene *scene, uint32_t from, uint32_t rows, uint32_t *count)
{
    char name[] = "job";
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    map.job = name;
    map.from = from;
    map.rows = rows;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &map;
    const Lbm__Response *last = cluster_ask(scene->cluster, 0, 0, &request);
    assert_non_null(last);
    assert_int_equal(last->code, LBM_OK);
    assert_int_equal(last->map->n_missing, 0);
    const Lbm__Response *chunk;
    for (size_t i = 0; (chunk = cluster_reply(scene->cluster, 0, i)) != last; i++)
        count[chunk->map->host] += (uint32_t)chunk->map->records->n_vertex;
    return last->map->next;
}

static void
a_large_mapping_comes_in_pieces(void **state)
{
    struct scene scene;
    uint32_t whole[4] = {0}, pieces[4] = {0};
    (void)state;
    settle(&scene);
    assert_int_equal(ask_for_a_piece(&scene, 0, 0, whole), 0);
    assert_int_equal(whole[0] + whole[1] + whole[2] + whole[3], scene.g.n);
    assert_int_equal(ask_for_a_piece(&scene, 0, scene.g.n, pieces), 0);
    assert_memory_equal(pieces, whole, sizeof whole);
    memset(pieces, 0, sizeof pieces);
    assert_int_equal(ask_for_a_piece(&scene, 0, 1, pieces), 1); /* all of one host, at least */
    assert_int_equal(pieces[0], whole[0]);
    assert_int_equal(pieces[1] + pieces[2] + pieces[3], 0);
    assert_int_equal(ask_for_a_piece(&scene, 1, scene.g.n / 2, pieces), 3);
    assert_int_equal(pieces[3], 0);
    assert_int_equal(ask_for_a_piece(&scene, 3, scene.g.n / 2, pieces), 0);
    assert_memory_equal(pieces, whole, sizeof whole);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_is_alive_is_waited_for),
        cmocka_unit_test(a_unreachable_host_is_named),
        cmocka_unit_test(a_large_mapping_comes_in_pieces),
    };
    return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
