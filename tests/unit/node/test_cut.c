/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Consistent cuts of a job in virtual time, while applications keep payloads and loads change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

enum { SECOND = 1000000, HOSTS = 4, BEGIN = 1, END = 2, VERTICES = 256 };

/* What a cut shows: of each vertex its host and a hash of its payload. */
struct picture {
    uint32_t host[VERTICES], found;
    uint64_t payload[VERTICES];
};

static int
never(struct cluster *cluster, void *arg)
{
    (void)cluster;
    (void)arg;
    return 0;
}

static void
pass(struct scene *scene, int64_t us)
{
    assert_false(cluster_run(scene->cluster, us, never, NULL));
}

static void
settle(struct scene *scene)
{
    scene_new(scene, "mesh:2x2", "lattice:16x16", &scene_without_faults);
    assert_int_equal(cluster_submit(scene->cluster, 0, "job", &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 120);
    for (uint32_t host = 0; host < HOSTS; host++)
        cluster_run_application(scene->cluster, host, "job", CLIENT_MODEL_OBEDIENT);
    pass(scene, 10 * SECOND);
}

static const Lbm__Response *
ask(struct scene *scene, uint32_t hold, uint64_t cut, uint32_t from, uint32_t rows)
{
    char name[] = "job";
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    map.job = name;
    map.hold = hold;
    map.cut = cut;
    map.from = from;
    map.rows = rows;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &map;
    const Lbm__Response *response = cluster_ask(scene->cluster, 0, 0, &request);
    assert_non_null(response);
    return response;
}

static uint64_t
begin(struct scene *scene)
{
    const Lbm__Response *response = ask(scene, BEGIN, 0, 0, 0);
    assert_int_equal(response->code, LBM_OK);
    assert_int_equal(response->map->n_missing, 0);
    assert_int_equal(response->map->n_torn, 0);
    assert_int_not_equal(response->map->cut, 0);
    return response->map->cut;
}

static uint64_t
hash_of(const uint8_t *bytes, size_t n)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static void
take(struct picture *picture, const Lbm__MapReply *map)
{
    size_t at = 0;
    for (size_t i = 0; map->records != NULL && i < map->records->n_vertex; i++) {
        uint32_t v = map->records->vertex[i], len = map->records->payload_len[i];
        picture->host[v] = map->host;
        picture->payload[v] = hash_of(map->records->payload.data + at, len);
        picture->found++;
        at += len;
    }
}

/* Read a cut host by host, with pauses. Returns how many hosts say that it is torn. */
static size_t
read_cut(struct scene *scene, uint64_t cut, int64_t pause_us, struct picture *picture)
{
    size_t torn = 0;
    uint32_t next = 0;
    memset(picture, 0, sizeof *picture);
    do {
        const Lbm__Response *last = ask(scene, 0, cut, next, 1), *chunk;
        assert_int_equal(last->code, LBM_OK);
        torn += last->map->n_torn;
        next = last->map->next;
        for (size_t i = 0; (chunk = cluster_reply(scene->cluster, 0, i)) != last; i++)
            take(picture, chunk->map);
        pass(scene, pause_us);
    } while (next != 0);
    return torn;
}

static uint32_t
differences(const struct picture *a, const struct picture *b)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < VERTICES; v++)
        n += a->payload[v] != b->payload[v];
    return n;
}

static void
payloads_stay_while_it_is_read(void **state)
{
    struct scene scene;
    struct picture first, second, later;
    (void)state;
    settle(&scene);
    uint64_t cut = begin(&scene);
    assert_int_equal(read_cut(&scene, cut, 3 * SECOND, &first), 0);
    assert_int_equal(first.found, VERTICES);
    assert_int_equal(read_cut(&scene, cut, 3 * SECOND, &second), 0);
    assert_int_equal(differences(&first, &second), 0);
    assert_int_equal(ask(&scene, END, cut, 0, 0)->code, LBM_OK);
    pass(&scene, 10 * SECOND);
    cut = begin(&scene); /* what was put off has come, and more */
    assert_int_equal(read_cut(&scene, cut, 0, &later), 0);
    assert_true(differences(&first, &later) >= HOSTS);
    scene_free(&scene);
}

static void
vertices_stay_while_it_is_read(void **state)
{
    struct scene scene;
    struct picture first, second, later;
    (void)state;
    settle(&scene);
    uint64_t cut = begin(&scene);
    assert_int_equal(read_cut(&scene, cut, 0, &first), 0);
    assert_int_equal(scene_set_capacity(scene.cluster, 0, 3, 0.25), LBM_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(read_cut(&scene, cut, 2 * SECOND, &second), 0);
    assert_memory_equal(first.host, second.host, sizeof first.host);
    assert_int_equal(ask(&scene, END, cut, 0, 0)->code, LBM_OK);
    scene_expect_settled(&scene, 120);
    cut = begin(&scene);
    assert_int_equal(read_cut(&scene, cut, 0, &later), 0);
    assert_int_equal(later.found, VERTICES);
    assert_memory_not_equal(first.host, later.host, sizeof first.host);
    scene_free(&scene);
}

static void
a_cut_that_nobody_asks_for_ends(void **state)
{
    struct scene scene;
    struct picture picture;
    (void)state;
    settle(&scene);
    uint64_t cut = begin(&scene);
    pass(&scene, 9 * SECOND);
    assert_int_equal(read_cut(&scene, cut, 0, &picture), 0);
    pass(&scene, 11 * SECOND);
    assert_true(read_cut(&scene, cut, 0, &picture) >= HOSTS);
    assert_int_equal(picture.found, 0);
    scene_free(&scene);
}

static void
a_host_that_begins_again_has_not_kept_it(void **state)
{
    struct scene scene;
    struct picture picture;
    (void)state;
    settle(&scene);
    uint64_t cut = begin(&scene);
    cluster_crash(scene.cluster, 2);
    cluster_restart(scene.cluster, 2);
    pass(&scene, 3 * SECOND);
    assert_true(read_cut(&scene, cut, 0, &picture) >= 1);
    assert_true(picture.found < VERTICES);
    scene_free(&scene);
}

static void
only_one_cut_at_a_time(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene);
    (void)begin(&scene);
    assert_int_equal(ask(&scene, BEGIN, 0, 0, 0)->map->n_torn, HOSTS);
    assert_int_equal(ask(&scene, 0, 12345, 0, 0)->code, LBM_E_STATE); /* nobody's */
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payloads_stay_while_it_is_read),
        cmocka_unit_test(vertices_stay_while_it_is_read),
        cmocka_unit_test(a_cut_that_nobody_asks_for_ends),
        cmocka_unit_test(a_host_that_begins_again_has_not_kept_it),
        cmocka_unit_test(only_one_cut_at_a_time),
    };
    return cmocka_run_group_tests_name("cuts", tests, NULL, NULL);
}
