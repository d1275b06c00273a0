/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load policies between nodes in virtual time: a pile on one host is balanced by every policy and every
 * schedule; nothing is lost or doubled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/model/internal.h"
#include "tests/unit/node/cluster_fixture.h"

static struct cluster_options
with(uint32_t policy, enum lbm_schedule schedule)
{
    struct cluster_options options = scene_without_faults;
    options.policy = policy;
    options.schedule = 1 + (uint32_t)schedule;
    return options;
}

static void
every_policy_levels_a_pile(void **state)
{
    (void)state;
    for (uint32_t policy = 0; policy < LBM_POLICY_COUNT; policy++) {
        struct scene scene;
        if (policy == LBM_POLICY_AUTO || !lbm_policy_is_local((enum lbm_policy)policy))
            continue;
        struct cluster_options options =
            with(LBM_JOB_POLICY_FIRST + policy, (enum lbm_schedule)(policy % LBM_SCHEDULE_COUNT));
        scene_new(&scene, policy == LBM_POLICY_RANDOM_LOAD ? "mesh:4x2" : "hypercube:3", "lattice:20x20",
                  &options);
        assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_COORDINATOR), LBM_OK);
        scene_expect_settled(&scene, 120);
        const Lbm__JobEntry *job = scene_job(&scene, 3);
        if (getenv("SHOW") != NULL)
            print_message("%-20s sweeps %3d words %6d flow %5d transfer %.2f s moved %d most %d\n",
                          job->policy, (int)job->flow_sweeps, (int)job->flow_words, (int)job->flow,
                          job->transfer_s, (int)job->moved, (int)scene_largest_load(&scene));
        assert_string_equal(job->policy, lbm_policy_name((enum lbm_policy)policy));
        assert_true(job->flow >= 350 && job->flow_sweeps != 0);
        assert_in_range(scene_largest_load(&scene), 50, 51);
        scene_free(&scene);
    }
}

static void
auto_says_what_it_chose_and_why(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = with(LBM_JOB_POLICY_FIRST + LBM_POLICY_AUTO, LBM_SCHEDULE_PIPELINED);
    scene_new(&scene, "chain:5", "lattice:20x20", &options);
    assert_int_equal(cluster_submit(scene.cluster, 2, "job", &scene.g, LBM_START_COORDINATOR), LBM_OK);
    scene_expect_settled(&scene, 120);
    const Lbm__JobEntry *job = scene_job(&scene, 4);
    assert_string_equal(job->policy_asked, "auto");
    assert_string_not_equal(job->policy, "auto");
    assert_non_null(strstr(job->policy_why, job->policy));
    assert_string_equal(job->schedule, "pipelined");
    assert_in_range(scene_largest_load(&scene), 80, 82);
    scene_free(&scene);
}

static void
a_plan_within_the_bound_is_left_alone(void **state)
{
    (void)state;
    struct scene scene;
    struct cluster_options options = with(LBM_JOB_POLICY_FIRST + LBM_POLICY_GDE, LBM_SCHEDULE_PIPELINED);
    scene_new(&scene, "mesh:3x3", "lattice:30x30", &options);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(&scene, 60);
    const Lbm__JobEntry *job = scene_job(&scene, 0);
    assert_int_equal(job->flow, 0);
    assert_in_range(job->flow_sweeps, 1, 7);
    scene_free(&scene);
}

static enum lbm_err
change(struct scene *scene, uint32_t host, uint32_t policy)
{
    char name[] = "job";
    Lbm__JobChange change = LBM__JOB_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    change.job = name;
    change.policy = policy;
    request.what_case = LBM__REQUEST__WHAT_JOB_CHANGE;
    request.job_change = &change;
    return (enum lbm_err)cluster_ask(scene->cluster, host, 0, &request)->code;
}

static void
a_settled_job_takes_another_policy(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "ring:6", "lattice:18x18", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 1, "job", &scene.g, LBM_START_COORDINATOR), LBM_OK);
    scene_expect_settled(&scene, 60);
    assert_string_equal(scene_job(&scene, 4)->policy, "none");
    assert_int_equal(change(&scene, 4, LBM_JOB_POLICY_FIRST + LBM_POLICY_CHEBYSHEV), LBM_OK);
    cluster_run(scene.cluster, 3000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    assert_string_equal(scene_job(&scene, 1)->policy, "chebyshev");
    assert_true(scene_job(&scene, 1)->flow_sweeps != 0);
    assert_in_range(scene_largest_load(&scene), 54, 56);
    scene_free(&scene);
}

/* It has never seen the job settled, and hears of it from hosts that move vertices because it has come. Its
 * region is filled by rounds near it; flow computation would move the loads of all. */
static void
a_host_that_joins_starts_no_levelling(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct scene scene;
        struct cluster_options options = with(LBM_JOB_POLICY_FIRST + LBM_POLICY_AUTO, LBM_SCHEDULE_PIPELINED);
        options.seed = seed;
        options.late = 1;
        scene_new(&scene, "mesh:4x4", "lattice:40x40", &options);
        assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
        scene_expect_settled(&scene, 60);
        uint32_t words = scene_job(&scene, 3)->flow_words;
        assert_true(words != 0);
        cluster_restart(scene.cluster, 15);
        assert_true(cluster_run(scene.cluster, 20000000, scene_is_active, &scene));
        cluster_run(scene.cluster, 1000000, NULL, NULL);
        scene_expect_settled(&scene, 60);
        assert_int_equal(scene_job(&scene, 3)->flow_words, words);
        assert_in_range(scene_largest_load(&scene), 100, 103);
        scene_free(&scene);
    }
}

static void
what_cannot_run_here_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "ring:6", "lattice:8x8", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 1, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    assert_int_equal(change(&scene, 1, LBM_JOB_POLICY_FIRST + LBM_POLICY_OEM), LBM_E_UNSUPPORTED);
    assert_int_equal(change(&scene, 1, LBM_JOB_POLICY_FIRST + LBM_POLICY_CWA), LBM_E_UNSUPPORTED);
    scene_expect_settled(&scene, 60);
    assert_string_equal(scene_job(&scene, 1)->policy, "none");
    scene_free(&scene);
}

/* Hosts crash and come back while numbers are balanced, or vertices are on their way. */
static void
crashes_in_the_middle_lose_nothing(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 24; seed++) {
        struct scene scene;
        enum lbm_policy policies[] = {LBM_POLICY_GDE, LBM_POLICY_DIFFUSION, LBM_POLICY_DEM};
        struct cluster_options options =
            with(LBM_JOB_POLICY_FIRST + policies[seed % 3], (enum lbm_schedule)(seed / 3 % 3));
        options.seed = seed;
        scene_new(&scene, "hypercube:3", "lattice:24x24", &options);
        assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_COORDINATOR), LBM_OK);
        cluster_run(scene.cluster, 600000 + 80000 * (int64_t)seed, NULL, NULL);
        cluster_crash(scene.cluster, seed % 8);
        cluster_run(scene.cluster, seed % 2 != 0 ? 700000 : 2500000, NULL, NULL);
        cluster_restart(scene.cluster, seed % 8);
        cluster_run(scene.cluster, 1000000, NULL, NULL);
        scene_expect_settled(&scene, 120);
        assert_in_range(scene_largest_load(&scene), 72, 75);
        scene_free(&scene);
    }
}

/* A host of another version proposes a load policy for the job, as host 1 would. */
static void
propose_policy(struct scene *scene, uint32_t policy, uint32_t schedule)
{
    char why[] = "of a later version";
    uint8_t bytes[256];
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__JobPolicy rule = LBM__JOB_POLICY__INIT;
    Lbm__JobSet set = LBM__JOB_SET__INIT;
    Lbm__Command command = LBM__COMMAND__INIT;
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    Lbm__Peer message = LBM__PEER__INIT;
    rule.policy = rule.asked = policy;
    rule.schedule = schedule;
    rule.alpha = 0.2;
    rule.why = why;
    set.job = scene_job(scene, 0)->job;
    set.policy = &rule;
    command.what_case = LBM__COMMAND__WHAT_JOB_SET;
    command.job_set = &set;
    append.command = (ProtobufCBinaryData){lbm__command__pack(&command, bytes), bytes};
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    const Lbm__StatusReply *status = scene_ask(scene, 0, &request)->status;
    append.index = status->view + 1;
    message.cluster = status->cluster;
    const Lbm__HostsReply *hosts = scene_hosts(scene, 0);
    message.src = 1;
    message.src_incarnation = hosts->hosts[1]->incarnation;
    message.dst_incarnation = hosts->hosts[0]->incarnation;
    message.view = append.index - 1;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    for (append.term = 0; append.term < 2; append.term++) { /* the leader takes one of them, once */
        struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
        event.as.received.message = &message;
        step(scene->cluster, 0, &event);
        cluster_run(scene->cluster, 3000000, NULL, NULL);
        if (scene_ask(scene, 0, &request)->status->view >= append.index)
            return;
    }
    fail_msg("the log takes no policy %u", policy);
}

static void
a_policy_of_a_later_version_is_kept_and_rounds_balance(void **state)
{
    (void)state;
    static const struct {
        uint32_t policy, schedule;
        const char *shown;
    } cases[] = {{200, LBM_SCHEDULE_PLAIN, "unknown"},
                 {LBM_JOB_POLICY_FIRST + LBM_POLICY_DIFFUSION, 99, "diffusion"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene;
        scene_new(&scene, "ring:6", "lattice:18x18", &scene_without_faults);
        assert_int_equal(cluster_submit(scene.cluster, 1, "job", &scene.g, LBM_START_PLAN), LBM_OK);
        scene_expect_settled(&scene, 60);
        propose_policy(&scene, cases[i].policy, cases[i].schedule);
        assert_int_equal(scene_set_capacity(scene.cluster, 2, 2, 3), LBM_OK);
        cluster_run(scene.cluster, 3000000, NULL, NULL);
        scene_expect_settled(&scene, 120);
        for (uint32_t host = 0; host < 6; host++)
            assert_string_equal(scene_job(&scene, host)->policy, cases[i].shown);
        assert_true(scene_job(&scene, 3)->imbalance <= 0.06);
        scene_free(&scene);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_levels_a_pile),
        cmocka_unit_test(a_policy_of_a_later_version_is_kept_and_rounds_balance),
        cmocka_unit_test(auto_says_what_it_chose_and_why),
        cmocka_unit_test(a_plan_within_the_bound_is_left_alone),
        cmocka_unit_test(a_settled_job_takes_another_policy),
        cmocka_unit_test(a_host_that_joins_starts_no_levelling),
        cmocka_unit_test(what_cannot_run_here_is_refused),
        cmocka_unit_test(crashes_in_the_middle_lose_nothing),
    };
    return cmocka_run_group_tests_name("flow computation", tests, NULL, NULL);
}
