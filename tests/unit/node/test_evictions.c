/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many hosts are evicted without an operator: all that are lost at once while most are left, and none
 * beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

static void
begin(struct scene *scene, const char *hosts, double share, uint32_t domain_hosts)
{
    struct cluster_options options = scene_without_faults;
    options.evict_share = share;
    options.domain_hosts = domain_hosts;
    scene_new(scene, hosts, "lattice:16x16", &options);
    cluster_trace(scene->cluster, 1);
    assert_int_equal(cluster_submit(scene->cluster, 0, "job", &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 60);
    for (uint32_t p = 0; p < scene->h.n; p++)
        cluster_run_application(scene->cluster, p, "job", CLIENT_MODEL_OBEDIENT);
    cluster_run(scene->cluster, 3000000, NULL, NULL);
    assert_int_equal(cluster_idle_vertices(scene->cluster), 0);
}

static uint32_t
evicted(struct scene *scene)
{
    const Lbm__HostsReply *hosts = scene_hosts(scene, 0);
    uint32_t n = 0;
    for (size_t i = 0; i < hosts->n_hosts; i++)
        n += strcmp(hosts->hosts[i]->state, "EVICTED") == 0;
    return n;
}

static void
crash(struct scene *scene, const uint32_t *host, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cluster_crash(scene->cluster, host[i]);
}

static void
after(struct scene *scene, int64_t seconds)
{
    cluster_run(scene->cluster, seconds * 1000000, NULL, NULL);
}

/* Hosts none of which keeps another one's copy; not the leader. Out: host [n]. */
static void
choose(struct scene *scene, uint32_t *host, size_t n)
{
    const Lbm__HostsReply *hosts = scene_hosts(scene, 0);
    size_t chosen = 0;
    for (uint32_t p = 1; chosen < n && p < scene->h.n; p++) {
        int is_apart = 1;
        for (size_t i = 0; i < chosen; i++)
            is_apart &= hosts->hosts[p]->backup != host[i] && hosts->hosts[host[i]]->backup != p;
        if (is_apart)
            host[chosen++] = p;
    }
    assert_int_equal(chosen, n);
}

static void
expect_told(struct scene *scene, const char *text)
{
    if (strstr(cluster_trace_text(scene->cluster), text) == NULL)
        fail_msg("nobody is told \"%s\"", text);
}

static void
a_quarter_is_evicted_at_once(void **state)
{
    struct scene scene;
    (void)state;
    uint32_t lost[4];
    begin(&scene, "mesh:4x4", 0.334, 0);
    choose(&scene, lost, 4);
    crash(&scene, lost, 4);
    after(&scene, 7);
    assert_int_equal(evicted(&scene), 4);
    after(&scene, 10);
    assert_int_equal(cluster_idle_vertices(scene.cluster), 0);
    scene_free(&scene);
}

static void
half_waits_for_an_operator(void **state)
{
    static const uint32_t lost[] = {2, 3, 6, 7, 10, 11, 14, 15};
    struct scene scene;
    (void)state;
    begin(&scene, "mesh:4x4", 0.334, 0);
    crash(&scene, lost, 8);
    after(&scene, 60);
    assert_int_equal(evicted(&scene), 0);
    expect_told(&scene, "takes itself to be the one that is cut off");
    for (size_t i = 0; i < 8; i++)
        cluster_restart(scene.cluster, lost[i]);
    for (size_t i = 0; i < 8; i++)
        cluster_run_application(scene.cluster, lost[i], "job", CLIENT_MODEL_OBEDIENT);
    after(&scene, 30);
    assert_int_equal(evicted(&scene), 0);
    assert_int_equal(cluster_idle_vertices(scene.cluster), 0);
    scene_free(&scene);
}

/* Five of sixteen, one after the other, are less than a third; the sixth is not. */
static void
those_evicted_within_ten_minutes_count(void **state)
{
    struct scene scene;
    (void)state;
    uint32_t lost[6];
    begin(&scene, "mesh:4x4", 0.334, 0);
    choose(&scene, lost, 6);
    for (size_t i = 0; i < 5; i++) {
        crash(&scene, &lost[i], 1);
        after(&scene, 30);
    }
    assert_int_equal(evicted(&scene), 5);
    crash(&scene, &lost[5], 1);
    after(&scene, 30);
    assert_int_equal(evicted(&scene), 5);
    expect_told(&scene, "6 of the 16 members of the last ten minutes are lost");
    after(&scene, 600);
    assert_int_equal(evicted(&scene), 6);
    scene_free(&scene);
}

/* Four of nine hosts are more than a third, but one rack of three. */
static void
a_failure_domain_counts_as_one(void **state)
{
    static const uint32_t lost[] = {4, 5, 6, 7};
    struct scene scene;
    for (uint32_t domain_hosts = 0; domain_hosts <= 4; domain_hosts += 4) {
        (void)state;
        begin(&scene, "mesh:3x3", 0.334, domain_hosts);
        crash(&scene, lost, 4);
        after(&scene, 12);
        assert_int_equal(evicted(&scene), domain_hosts != 0 ? 4 : 0);
        scene_free(&scene);
    }
}

static void
with_share_0_an_operator_evicts_all(void **state)
{
    struct scene scene;
    (void)state;
    static const uint32_t lost[] = {5};
    begin(&scene, "mesh:4x4", 0, 0);
    crash(&scene, lost, 1);
    after(&scene, 60);
    assert_int_equal(evicted(&scene), 0);
    scene_free(&scene);
}

/* ---- maintenance ------------------------------------------------------------------------- */

static int32_t
maintain(struct scene *scene, uint32_t host, int64_t seconds, uint32_t moves)
{
    char reason[] = "new memory";
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    change.action = LBM__HOST_ACTION__HOST_MAINTAIN;
    change.host = host;
    change.duration_us = (uint64_t)seconds * 1000000;
    change.moves = moves;
    change.reason = reason;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    cluster_request(scene->cluster, 1, 0, &request);
    cluster_run(scene->cluster, 5000000, NULL, NULL);
    return (int32_t)cluster_reply(scene->cluster, 1, 0)->code;
}

static const Lbm__HostEntry *
entry_of(struct scene *scene, uint32_t host)
{
    return scene_hosts(scene, 0)->hosts[host];
}

static void
a_host_in_maintenance_comes_back_with_what_it_had(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "mesh:3x3", 0.334, 0);
    uint32_t *before = calloc(scene.g.n, sizeof *before), *later = calloc(scene.g.n, sizeof *later);
    scene_owners(&scene, before);
    assert_int_equal(maintain(&scene, 5, 120, 0), LBM_OK);
    for (uint32_t p = 0; p < scene.h.n; p++) /* others keep their copies elsewhere */
        assert_true(p == 5 || (entry_of(&scene, p)->backup != 5 && entry_of(&scene, p)->insync));
    cluster_crash(scene.cluster, 5);
    after(&scene, 60);
    assert_string_equal(entry_of(&scene, 5)->state, "ACTIVE");
    assert_string_equal(entry_of(&scene, 5)->maintenance_reason, "new memory");
    assert_true(entry_of(&scene, 5)->maintenance_s > 40);
    cluster_restart(scene.cluster, 5);
    cluster_run_application(scene.cluster, 5, "job", CLIENT_MODEL_OBEDIENT);
    after(&scene, 10);
    assert_int_equal(maintain(&scene, 5, 0, 0), LBM_OK);
    assert_true(entry_of(&scene, 5)->maintenance_s == 0);
    scene_expect_settled(&scene, 60);
    scene_owners(&scene, later);
    assert_memory_equal(before, later, scene.g.n * sizeof *before);
    assert_int_equal(evicted(&scene), 0);
    assert_int_equal(cluster_idle_vertices(scene.cluster), 0);
    free(before);
    free(later);
    scene_free(&scene);
}

static void
one_that_does_not_come_back_in_time_is_evicted(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "mesh:3x3", 0.334, 0);
    assert_int_equal(maintain(&scene, 5, 30, 0), LBM_OK);
    cluster_crash(scene.cluster, 5);
    after(&scene, 20);
    assert_int_equal(evicted(&scene), 0);
    after(&scene, 20);
    assert_int_equal(evicted(&scene), 1);
    scene_free(&scene);
}

static void
it_is_given_nothing(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "mesh:3x3", 0.334, 0);
    assert_int_equal(maintain(&scene, 5, 600, 0), LBM_OK);
    uint64_t had = entry_of(&scene, 5)->vertices;
    assert_int_equal(cluster_submit(scene.cluster, 0, "second", &scene.g, LBM_START_PLAN), LBM_OK);
    after(&scene, 60);
    assert_int_equal(entry_of(&scene, 5)->vertices, had);
    scene_free(&scene);
}

static void
its_vertices_go_elsewhere_and_it_stays_a_member(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "mesh:3x3", 0.334, 0);
    assert_int_equal(maintain(&scene, 5, 60, 1), LBM_OK);
    after(&scene, 30);
    assert_int_equal(entry_of(&scene, 5)->vertices, 0);
    assert_string_equal(entry_of(&scene, 5)->state, "DRAINING");
    after(&scene, 40);
    assert_string_equal(entry_of(&scene, 5)->state, "ACTIVE");
    scene_expect_settled(&scene, 60);
    assert_true(entry_of(&scene, 5)->vertices > 0);
    scene_free(&scene);
}

static void
the_leader_and_strangers_cannot_be(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "mesh:3x3", 0.334, 0);
    assert_int_equal(maintain(&scene, 0, 60, 0), LBM_E_STATE);
    assert_int_equal(maintain(&scene, 77, 60, 0), LBM_E_NOTFOUND);
    assert_int_equal(maintain(&scene, 5, 0, 0), LBM_E_STATE); /* it is in none */
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_is_evicted_at_once),
        cmocka_unit_test(half_waits_for_an_operator),
        cmocka_unit_test(those_evicted_within_ten_minutes_count),
        cmocka_unit_test(a_failure_domain_counts_as_one),
        cmocka_unit_test(with_share_0_an_operator_evicts_all),
        cmocka_unit_test(a_host_in_maintenance_comes_back_with_what_it_had),
        cmocka_unit_test(one_that_does_not_come_back_in_time_is_evicted),
        cmocka_unit_test(it_is_given_nothing),
        cmocka_unit_test(its_vertices_go_elsewhere_and_it_stays_a_member),
        cmocka_unit_test(the_leader_and_strangers_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
