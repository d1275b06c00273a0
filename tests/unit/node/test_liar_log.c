/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A member that lies about the control log: entries, and views, that it alone has come to nobody's copy, and
 * nobody waits for long for what it does not send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tests/unit/node/liar_fixture.h"

enum { LEADERS = 2, SECOND = 1000000 };

/* What the liar says comes next, though nobody has ordered it. */
enum forged { FORGED_EVICT, FORGED_DELETE, FORGED_KINDS };

static void
lie(struct scene *scene, enum forged forged)
{
    Lbm__Command command = LBM__COMMAND__INIT;
    Lbm__Evict evict = LBM__EVICT__INIT;
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    if (forged == FORGED_EVICT) {
        evict.host = OTHER;
        evict.incarnation = evict.lost = 1;
        command.what_case = LBM__COMMAND__WHAT_EVICT;
        command.evict = &evict;
    } else {
        delete.job = scene_job(scene, 1)->job;
        command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
        command.job_delete = &delete;
    }
    cluster_lie_entry(scene->cluster, LIAR, &command);
}

/* Nothing that is forged was stored; every host takes part, each vertex has one owner, the log can be
 * written.
 */
static void
expect_unharmed(struct scene *scene)
{
    if (liar_is_told(scene->cluster, ": evict host 2 incarnation 1 lost 1") ||
        liar_is_told(scene->cluster, ": job_delete"))
        fail_msg("a forged entry is stored");
    liar_expect_unharmed(scene, 1);
}

/* The liar goes on lying: an operator says whom the leader is to believe. */
static void
a_leader_that_starts_takes_no_entry_from_one_host_alone(void **state)
{
    (void)state;
    for (int forged = 0; forged < FORGED_KINDS; forged++)
        for (int is_forced = 0; is_forced < 2; is_forced++) {
            struct scene scene;
            liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_NONE);
            lie(&scene, (enum forged)forged);
            cluster_crash(scene.cluster, 0);
            cluster_run(scene.cluster, SECOND / 10, NULL, NULL);
            cluster_restart(scene.cluster, 0);
            cluster_run(scene.cluster, 20 * SECOND, NULL, NULL);
            liar_expect_told(scene.cluster, "waits for a second host that has what host 3 says");
            if (is_forced)
                assert_int_equal(liar_promote(&scene, 0, 1), LBM_OK);
            else
                cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
            cluster_run(scene.cluster, 10 * SECOND, NULL, NULL);
            liar_expect_told(scene.cluster, "this host orders the control log again");
            cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
            expect_unharmed(&scene);
            scene_free(&scene);
        }
}

/* The same without operators in the configuration: what any host may propose, one that alone has more may
 * have had ordered. What another host says of itself it may not. */
static void
a_leader_that_starts_takes_what_one_host_might_have_had_ordered(void **state)
{
    struct scene scene;
    struct cluster_options options = scene_without_faults;
    (void)state;
    scene_new(&scene, "chain:4", "lattice:8x8", &options);
    cluster_trace(scene.cluster, 1);
    Lbm__Set set = LBM__SET__INIT;
    set.host = LIAR;
    set.incarnation = 1;
    set.capacity = 0.75;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_SET;
    command.set = &set;
    cluster_lie_entry(scene.cluster, LIAR, &command);
    cluster_crash(scene.cluster, 0);
    cluster_run(scene.cluster, SECOND / 10, NULL, NULL);
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
    cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
    assert_true(scene_hosts(&scene, 1)->hosts[LIAR]->capacity == 0.75);
    scene_free(&scene);
}

/* Honest: an entry has come to one host alone, and the leader's disk is from before it. Of a host that might
 * have proposed it the leader takes it; else it waits for an operator. */
static void
what_one_honest_host_has_is_not_passed_over(void **state)
{
    (void)state;
    for (uint32_t host = 1; host <= LIAR; host += LIAR - 1) {
        struct scene scene;
        liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_NONE);
        cluster_image_disk(scene.cluster, 0);
        for (uint32_t other = 1; other <= LIAR; other++)
            cluster_cut(scene.cluster, 0, other, other != host);
        assert_int_equal(scene_set_capacity(scene.cluster, 0, OTHER, 0.75), LBM_OK);
        cluster_run(scene.cluster, SECOND / 100, NULL, NULL);
        cluster_crash(scene.cluster, 0);
        assert_true(cluster_roll_back_disk(scene.cluster, 0));
        for (uint32_t other = 1; other <= LIAR; other++)
            cluster_cut(scene.cluster, 0, other, 0);
        cluster_restart(scene.cluster, 0);
        cluster_run(scene.cluster, 20 * SECOND, NULL, NULL);
        if (host == LIAR)
            liar_expect_told(scene.cluster, "waits for a second host that has what host 3 says");
        else
            assert_true(scene_hosts(&scene, 1)->hosts[OTHER]->capacity == 0.75);
        scene_free(&scene);
    }
}

static void
who_is_promoted_takes_no_entry_from_one_host_alone(void **state)
{
    (void)state;
    for (int forged = 0; forged < FORGED_KINDS; forged++) {
        struct scene scene;
        liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_NONE);
        lie(&scene, (enum forged)forged);
        assert_int_equal(liar_promote(&scene, 1, 0), LBM_E_TIMEOUT);
        cluster_run(scene.cluster, 2 * SECOND, NULL, NULL);
        assert_int_equal(liar_promote(&scene, 1, 1), LBM_OK);
        cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
        cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
        expect_unharmed(&scene);
        scene_free(&scene);
    }
}

static void
who_asks_in_place_of_the_leader_takes_no_entry_from_one_host_alone(void **state)
{
    (void)state;
    for (int forged = 0; forged < FORGED_KINDS; forged++) {
        struct scene scene;
        liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_NONE);
        lie(&scene, (enum forged)forged);
        cluster_crash(scene.cluster, 0);
        cluster_run(scene.cluster, 10 * SECOND, NULL, NULL);
        cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
        cluster_restart(scene.cluster, 0);
        cluster_run(scene.cluster, 10 * SECOND, NULL, NULL);
        expect_unharmed(&scene);
        scene_free(&scene);
    }
}

static void
who_asks_in_place_of_etcd_takes_no_entry_from_one_host_alone(void **state)
{
    (void)state;
    for (int forged = 0; forged < FORGED_KINDS; forged++) {
        struct scene scene;
        liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_RUNS);
        cluster_run(scene.cluster, 20 * SECOND, NULL, NULL);
        assert_true(cluster_log_is_managed(scene.cluster));
        cluster_log_unavailable(scene.cluster, 1);
        lie(&scene, (enum forged)forged);
        cluster_run(scene.cluster, 10 * SECOND, NULL, NULL);
        cluster_log_unavailable(scene.cluster, 0);
        cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
        cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
        cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
        expect_unharmed(&scene);
        scene_free(&scene);
    }
}

/* The leader's disk is an older copy, from before the snapshots of all others: two of them have the same, and
 * the longest copy is the liar's. */
static void
a_leader_with_an_older_disk_takes_no_view_from_one_host_alone(void **state)
{
    (void)state;
    for (int forged = 0; forged < FORGED_KINDS; forged++) {
        struct scene scene;
        liar_begin(&scene, "chain:5", LEADERS, LBM_ETCD_ABILITY_NONE);
        cluster_image_disk(scene.cluster, 0);
        for (int i = 0; i < 40; i++)
            assert_int_equal(scene_set_capacity(scene.cluster, 1, OTHER, 1 + i % 2), LBM_OK);
        cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
        lie(&scene, (enum forged)forged);
        cluster_crash(scene.cluster, 0);
        assert_true(cluster_roll_back_disk(scene.cluster, 0));
        cluster_restart(scene.cluster, 0);
        cluster_run(scene.cluster, 5 * SECOND, NULL, NULL);
        liar_expect_told(scene.cluster, "the control log begins at a snapshot");
        cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
        cluster_run(scene.cluster, 60 * SECOND, NULL, NULL);
        expect_unharmed(&scene);
        scene_free(&scene);
    }
}

/* A host without a log, whose contact is away. */
static void
a_host_without_a_log_takes_no_view_from_one_host_alone(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_NONE);
    lie(&scene, FORGED_DELETE);
    cluster_crash(scene.cluster, 0);
    cluster_crash(scene.cluster, OTHER);
    cluster_lose_disk(scene.cluster, OTHER);
    cluster_restart(scene.cluster, OTHER);
    cluster_run(scene.cluster, 10 * SECOND, NULL, NULL);
    if (liar_is_told(scene.cluster, "the control log begins at a snapshot"))
        fail_msg("the view of one host alone is taken");
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 60 * SECOND, NULL, NULL);
    expect_unharmed(&scene);
    scene_free(&scene);
}

static void
nobody_waits_for_a_host_that_sends_nothing(void **state)
{
    (void)state;
    for (int is_promoted = 0; is_promoted < 2; is_promoted++) {
        struct scene scene;
        liar_begin(&scene, "chain:4", LEADERS, LBM_ETCD_ABILITY_NONE);
        cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_SILENCE);
        if (is_promoted) {
            assert_int_equal(liar_promote(&scene, 1, 0), LBM_E_TIMEOUT);
        } else {
            cluster_crash(scene.cluster, 0);
            cluster_run(scene.cluster, SECOND / 10, NULL, NULL);
            cluster_restart(scene.cluster, 0);
        }
        cluster_run(scene.cluster, 20 * SECOND, NULL, NULL);
        liar_expect_told(scene.cluster, "has sent nothing of what comes after");
        assert_int_equal(scene_set_capacity(scene.cluster, 1, 1, 3), LBM_OK);
        expect_unharmed(&scene);
        scene_free(&scene);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leader_that_starts_takes_no_entry_from_one_host_alone),
        cmocka_unit_test(a_leader_that_starts_takes_what_one_host_might_have_had_ordered),
        cmocka_unit_test(what_one_honest_host_has_is_not_passed_over),
        cmocka_unit_test(who_is_promoted_takes_no_entry_from_one_host_alone),
        cmocka_unit_test(who_asks_in_place_of_the_leader_takes_no_entry_from_one_host_alone),
        cmocka_unit_test(who_asks_in_place_of_etcd_takes_no_entry_from_one_host_alone),
        cmocka_unit_test(a_leader_with_an_older_disk_takes_no_view_from_one_host_alone),
        cmocka_unit_test(a_host_without_a_log_takes_no_view_from_one_host_alone),
        cmocka_unit_test(nobody_waits_for_a_host_that_sends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
