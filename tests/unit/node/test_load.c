/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that applications report, in virtual time: when they grow vertices move until loads are even again;
 * noise moves nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "map/map.h"
#include "tests/unit/node/load_fixture.h"

static void
expect_following(const struct cluster_options *options)
{
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    uint32_t before[SIDE * SIDE], after[SIDE * SIDE], n_moved = 0;
    scene_of_applications(&scene, &loads, options);
    assert_true(loads_imbalance(&scene, &loads, before) <= 0.05);
    loads.corner = 2 * USUAL;
    cluster_run(scene.cluster, 15000000, NULL, NULL);
    scene_expect_settled(&scene, 30);
    double uneven = loads_imbalance(&scene, &loads, after);
    for (uint32_t v = 0; v < scene.g.n; v++)
        n_moved += before[v] != after[v];
    if (getenv("SHOW") != NULL)
        print_message("imbalance %.3f, %u vertices elsewhere\n", uneven, n_moved);
    assert_true(uneven <= 0.05);
    /* The four hosts of the corner have 576 vertices of double cost; 360 are their share. */
    assert_in_range(n_moved, 216, 900);
    assert_in_range(scene_job(&scene, 5)->work, 286000, 290000);
    scene_free(&scene);
}

static void
vertices_follow_loads(void **state)
{
    (void)state;
    expect_following(&scene_without_faults);
}

/* When loads have just changed no record is safe with the backup yet, and none of its vertices may move: that
 * is not to be taken for rest. */
static void
vertices_follow_loads_on_slow_disks(void **state)
{
    (void)state;
    struct cluster_options options = scene_without_faults;
    options.sync_us = 100000;
    expect_following(&options);
}

/* A second later there is a moment at which all hosts know the same sum of loads: it is told by one of them,
 * and reports that scatter change it now and then. */
static void
expect_one_sum(struct scene *scene)
{
    enum { STEP_US = 50000, STEPS_MAX = 20 };
    uint32_t alike = 0;
    cluster_run(scene->cluster, 1000000, NULL, NULL);
    for (int i = 0; i < STEPS_MAX && alike != scene->h.n; i++) {
        uint64_t whole = scene_job(scene, 0)->work;
        alike = 0;
        for (uint32_t p = 0; p < scene->h.n; p++)
            alike += scene_job(scene, p)->work == whole;
        if (alike != scene->h.n)
            cluster_run(scene->cluster, STEP_US, NULL, NULL);
        if (getenv("SHOW") != NULL && alike != scene->h.n)
            print_message("%u hosts know what host 0 knows\n", alike);
    }
    assert_int_equal(alike, scene->h.n);
}

/* A corner becomes twice as expensive by and by, with noise on every report. What many vertices have in
 * common is seen at once, and a vertex whose load has just changed may move: five seconds after each step
 * loads are even, and a second later all hosts know what there is to share. */
static void
loads_that_drift_are_followed(void **state)
{
    enum { STEPS = 10 };
    uint32_t part[SIDE * SIDE];
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        struct loads loads = {.corner = USUAL, .noise = 0.05 * noisy};
        struct scene scene;
        scene_of_applications(&scene, &loads, &scene_without_faults);
        for (int i = 1; i <= STEPS; i++) {
            loads.corner = USUAL + USUAL * i / (double)STEPS;
            cluster_run(scene.cluster, 5000000, NULL, NULL);
            double uneven = loads_imbalance(&scene, &loads, part);
            if (getenv("SHOW") != NULL)
                print_message("noise %.2f, step %d: imbalance %.3f\n", loads.noise, i, uneven);
            assert_true(uneven <= 0.05);
            expect_one_sum(&scene);
        }
        scene_free(&scene);
    }
}

static uint64_t
load_of_hosts(struct scene *scene)
{
    const Lbm__JobEntry *job = scene_job(scene, 0);
    uint64_t sum = 0;
    for (size_t p = 0; p < job->n_host_load; p++)
        sum += job->host_load[p];
    return sum;
}

/* One vertex in ten becomes a little more expensive. That is not much in common; but reports have not
 * differed so before. */
static void
loads_that_do_not_scatter_are_known_at_once(void **state)
{
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    (void)state;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    assert_int_equal(load_of_hosts(&scene), scene.g.n * USUAL);
    loads.tenth = 1.08 * USUAL;
    cluster_run(scene.cluster, 3000000, NULL, NULL);
    uint64_t more = load_of_hosts(&scene) - scene.g.n * USUAL;
    if (getenv("SHOW") != NULL)
        print_message("%u more\n", (unsigned)more);
    assert_in_range(more, scene.g.n / 10 * 6, scene.g.n / 10 * 8 + 8); /* 80 % of it by the first report */
    scene_free(&scene);
}

static double
one(void *arg, uint32_t vertex, int64_t now_us)
{
    (void)arg, (void)vertex, (void)now_us;
    return 1;
}

/* Hosts say at different moments what they have. Where they have four vertices each, one that moves meanwhile
 * is no change of what is due to all. */
static void
few_vertices_that_move_change_no_shares(void **state)
{
    enum { DEAD = 5 };
    (void)state;
    struct cluster_options options = scene_without_faults;
    struct scene scene;
    options.imbalance = 0.3;
    options.evict_share = 100;
    options.delay_most_us = 20000;
    scene_new(&scene, "mesh:26x2", "lattice:14x14", &options);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 120);
    cluster_set_loads(scene.cluster, one, NULL);
    for (uint32_t p = 0; p < scene.h.n; p++)
        cluster_run_application(scene.cluster, p, "job", CLIENT_MODEL_OBEDIENT);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    uint64_t moved = scene_job(&scene, 0)->moved;
    cluster_crash(scene.cluster, DEAD);
    for (int i = 0; i < 150; i++) {
        cluster_run(scene.cluster, 200000, NULL, NULL);
        for (uint32_t p = 0; p < scene.h.n; p++)
            assert_true(p == DEAD || scene_job(&scene, p)->work == scene.g.n);
    }
    scene_expect_settled(&scene, 120);
    assert_true(scene_job(&scene, 0)->moved > moved + 10);
    scene_free(&scene);
}

/* For that many seconds others leave that part of a host, give or take a little. */
static void
measure(struct scene *scene, uint32_t host, double left, int seconds)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (int i = 0; i < seconds; i++) {
        cluster_measure(scene->cluster, host, left * (1 - 0.1 * lbm_rng_unit(&rng)));
        cluster_run(scene->cluster, 1000000, NULL, NULL);
    }
}

static double
capacity_of(struct scene *scene, uint32_t host)
{
    return scene_hosts(scene, 3)->hosts[host]->capacity;
}

static void
vertices_follow_measured_capacity(void **state)
{
    enum { HOST = 5 };
    uint32_t part[SIDE * SIDE], n[2] = {0};
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:4x4", "lattice:48x48", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    measure(&scene, HOST, 1, 10);
    assert_true(capacity_of(&scene, HOST) == 1);
    measure(&scene, HOST, 0.5, 10);
    assert_in_range((int)(1000 * capacity_of(&scene, HOST)), 430, 530);
    scene_expect_settled(&scene, 30);
    for (int i = 0; i < 2; i++) {
        scene_owners(&scene, part);
        for (uint32_t v = 0; v < scene.g.n; v++)
            n[i] += part[v] == HOST;
        measure(&scene, HOST, 1, 10);
        scene_expect_settled(&scene, 30);
    }
    assert_true(capacity_of(&scene, HOST) == 1);
    assert_in_range(n[0], 50, 80); /* 2304 vertices on 15 hosts and a half: 149 and 74 */
    assert_in_range(n[1], n[0], 149);
    scene_free(&scene);
}

/* Ask a host for the job's vertices that changed after the stamps, if there are any. Out: stamps of the hosts
 * that told of some. Returns how many were told of. */
static uint32_t
ask_changes(struct scene *scene, uint32_t since_host[], uint64_t since[], size_t n_since, uint64_t stamp[])
{
    char name[] = "job";
    uint32_t n = 0;
    Lbm__MapRequest map = LBM__MAP_REQUEST__INIT;
    map.job = name;
    map.n_since_host = map.n_since = n_since;
    map.since_host = since_host;
    map.since = since;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_MAP;
    request.map = &map;
    assert_non_null(cluster_ask(scene->cluster, 2, 0, &request));
    const Lbm__Response *chunk;
    for (size_t i = 0; (chunk = cluster_reply(scene->cluster, 2, i)) != NULL; i++) {
        assert_int_equal(chunk->code, LBM_OK);
        if (chunk->map->records == NULL)
            continue;
        n += (uint32_t)chunk->map->records->n_vertex;
        assert_true(chunk->map->stamp > 0);
        stamp[chunk->map->host] = chunk->map->stamp;
    }
    return n;
}

static void
noise_moves_nothing(void **state)
{
    enum { HOSTS = 16 };
    uint32_t host[HOSTS], n;
    uint64_t stamp[HOSTS] = {0};
    (void)state;
    struct loads loads = {.corner = USUAL, .noise = 0.1};
    struct scene scene;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    uint64_t moved = scene_job(&scene, 0)->moved;
    for (uint32_t p = 0; p < HOSTS; p++)
        host[p] = p;
    ask_changes(&scene, NULL, NULL, 0, stamp);
    cluster_run(scene.cluster, 2000000, NULL, NULL);
    n = ask_changes(&scene, host, stamp, HOSTS, stamp);
    cluster_run(scene.cluster, 118000000, NULL, NULL);
    if (getenv("SHOW") != NULL)
        print_message("%u records of %u changed\n", n, scene.g.n);
    assert_in_range(n, 0, scene.g.n / 2);
    assert_int_equal(scene_job(&scene, 0)->moved, moved);
    scene_free(&scene);
}

/* A host stands at 3.7 % over its share, and wakes at 4 %: a third more than the bound. Little as that is,
 * all come to know what there is to share. */
static void
noise_moves_nothing_right_below_what_wakes(void **state)
{
    enum { HOST = 5, HOSTS = 16 };
    const double stands = 1.037;
    uint32_t owner[SIDE * SIDE], part[SIDE * SIDE], n = 0;
    struct loads loads = {.corner = USUAL, .noise = 0.1};
    struct scene scene;
    (void)state;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    scene_owners(&scene, owner);
    for (uint32_t v = 0; v < scene.g.n; v++)
        n += owner[v] == HOST;
    loads.next_to = stands * (scene.g.n - n) / (n * (HOSTS - stands));
    loads.owner = owner;
    loads.host = HOST;
    uint64_t moved = scene_job(&scene, 0)->moved;
    cluster_run(scene.cluster, 300000000, NULL, NULL);
    if (getenv("SHOW") != NULL)
        print_message("imbalance %.4f, %u moved\n", loads_imbalance(&scene, &loads, part),
                      (unsigned)(scene_job(&scene, 0)->moved - moved));
    assert_int_equal(scene_job(&scene, 0)->moved, moved);
    assert_in_range((int)(10000 * loads_imbalance(&scene, &loads, part)), 368, 371);
    double whole = 0;
    for (uint32_t v = 0; v < scene.g.n; v++)
        whole += loads_true(&loads, v);
    assert_true(fabs((double)scene_job(&scene, 0)->work / whole - 1) < 0.0015);
    scene_free(&scene);
}

/* By less than noise makes of a sum, which is why nobody would believe it from that alone. */
static void
a_guest_that_grows_a_little_is_counted(void **state)
{
    enum { NEW = 5 };
    struct loads loads = {.corner = USUAL, .noise = 0.1};
    struct scene scene;
    double whole = 0;
    char name[] = "job";
    (void)state;
    scene_of_applications(&scene, &loads, &scene_without_faults);
    cluster_follow_script(scene.cluster, name, scene.g.n);
    for (uint32_t i = 0; i < NEW; i++) {
        uint32_t v = scene.g.n + i, next_to = i * (scene.g.n / NEW);
        cluster_edit(scene.cluster, (struct cluster_edit){CLUSTER_EDIT_ADD, v, next_to, USUAL});
        cluster_edit(scene.cluster, (struct cluster_edit){CLUSTER_EDIT_EDGE, v, next_to, 1});
    }
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    assert_int_equal(cluster_edits_left(scene.cluster), 0);
    for (uint32_t v = 0; v < scene.g.n + NEW; v++)
        whole += loads_true(&loads, v);
    if (getenv("SHOW") != NULL)
        print_message("%.4f of it are known\n", (double)scene_job(&scene, 0)->work / whole);
    assert_true(fabs((double)scene_job(&scene, 0)->work / whole - 1) < 0.0015);
    scene_free(&scene);
}

static void
hosts_tell_what_has_changed_since(void **state)
{
    enum { HOSTS = 16 };
    uint32_t host[HOSTS], n;
    uint64_t stamp[HOSTS] = {0}, future[HOSTS];
    struct loads loads = {.corner = USUAL};
    struct scene scene;
    (void)state;
    for (uint32_t p = 0; p < HOSTS; p++) {
        host[p] = p;
        future[p] = UINT64_C(1) << 60;
    }
    scene_of_applications(&scene, &loads, &scene_without_faults);
    n = ask_changes(&scene, NULL, NULL, 0, stamp);
    assert_in_range(n, scene.g.n, scene.g.n + 100);
    n = ask_changes(&scene, host, stamp, HOSTS, stamp);
    assert_in_range(n, 0, 100); /* payloads that were kept meanwhile */
    loads.corner = 1.5 * USUAL;
    cluster_run(scene.cluster, 1000000, NULL, NULL);
    n = ask_changes(&scene, host, stamp, HOSTS, stamp);
    assert_in_range(n, SIDE * SIDE / 4, SIDE * SIDE * 3 / 4);
    n = ask_changes(&scene, host, future, HOSTS, stamp);
    assert_in_range(n, scene.g.n, scene.g.n + 100); /* twice, if it is on its way */
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_follow_loads),
        cmocka_unit_test(vertices_follow_loads_on_slow_disks),
        cmocka_unit_test(loads_that_drift_are_followed),
        cmocka_unit_test(loads_that_do_not_scatter_are_known_at_once),
        cmocka_unit_test(noise_moves_nothing),
        cmocka_unit_test(noise_moves_nothing_right_below_what_wakes),
        cmocka_unit_test(a_guest_that_grows_a_little_is_counted),
        cmocka_unit_test(few_vertices_that_move_change_no_shares),
        cmocka_unit_test(vertices_follow_measured_capacity),
        cmocka_unit_test(hosts_tell_what_has_changed_since),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
