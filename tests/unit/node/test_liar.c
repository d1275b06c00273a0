/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a member says that lies, and what a stranger says, one forgery a test: it is refused with a reason,
 * and what others have stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tests/unit/node/liar_fixture.h"

enum { STRANGER = 7 };

static uint64_t
last_entry(struct scene *scene)
{
    Lbm__LogRequest log = LBM__LOG_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    log.count = 1;
    request.what_case = LBM__REQUEST__WHAT_LOG;
    request.log = &log;
    return scene_ask(scene, 0, &request)->log->last;
}

/* The leader, host 0, hears that `from` wants the command in the log. Nonzero if it is there afterwards. */
static int
propose(struct scene *scene, uint32_t from, const Lbm__Command *command)
{
    uint8_t bytes[1024];
    uint64_t before = last_entry(scene);
    size_t len = lbm__command__get_packed_size(command);
    assert_true(len <= sizeof bytes);
    lbm__command__pack(command, bytes);
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    append.token = 1;
    append.index = before + 1;
    append.command = (ProtobufCBinaryData){len, bytes};
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    assert_true(cluster_say(scene->cluster, from, 0, &message));
    cluster_run(scene->cluster, 1000000, NULL, NULL);
    return last_entry(scene) != before;
}

static int
propose_evict(struct scene *scene, uint32_t from, uint32_t host, int lost)
{
    Lbm__Evict evict = LBM__EVICT__INIT;
    evict.host = host;
    evict.incarnation = 1;
    evict.lost = lost != 0;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_EVICT;
    command.evict = &evict;
    return propose(scene, from, &command);
}

static int
propose_delete(struct scene *scene, uint32_t from)
{
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    delete.job = liar_job(scene, 0);
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
    command.job_delete = &delete;
    return propose(scene, from, &command);
}

static void
a_stranger_proposes_nothing_but_itself(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    assert_false(propose_evict(&scene, STRANGER, OTHER, 0));
    liar_expect_told(scene.cluster, "host 7 proposes what it may not");
    assert_false(propose_evict(&scene, STRANGER, OTHER, 1));
    assert_false(propose_delete(&scene, STRANGER));
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

static void
a_member_evicts_and_cancels_only_where_operators_are(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 2, LBM_ETCD_ABILITY_NONE);
    assert_false(propose_evict(&scene, LIAR, OTHER, 1));
    liar_expect_told(scene.cluster, "host 3 proposes what it may not");
    assert_false(propose_evict(&scene, LIAR, OTHER, 0)); /* nobody else misses it */
    assert_false(propose_delete(&scene, LIAR));
    liar_expect_unharmed(&scene, 0);
    assert_true(propose_delete(&scene, 1)); /* an operator's host may */
    scene_free(&scene);
}

/* What a host says of itself nobody else says, operator or not. */
static void
a_member_speaks_for_itself_alone(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    Lbm__Join join = LBM__JOIN__INIT;
    Lbm__Leave leave = LBM__LEAVE__INIT;
    Lbm__InSync in_sync = LBM__IN_SYNC__INIT;
    Lbm__TakeOver take_over = LBM__TAKE_OVER__INIT;
    Lbm__AllotIds allot = LBM__ALLOT_IDS__INIT;
    Lbm__Promote promote = LBM__PROMOTE__INIT;
    Lbm__Found found = LBM__FOUND__INIT;
    char name[] = "h2", address[] = "127.0.0.1:9999", cluster[] = "mine";
    join.host = leave.host = in_sync.host = allot.host = promote.host = OTHER;
    join.incarnation = leave.incarnation = in_sync.incarnation = allot.incarnation = 1;
    join.name = name;
    join.address = address; /* others would dial the liar */
    join.capacity = 1;
    in_sync.backup = LIAR;
    take_over.successor = OTHER;
    take_over.successor_incarnation = 1;
    take_over.host = 1;
    take_over.incarnation = 1;
    allot.job = liar_job(&scene, 0);
    allot.count = 1;
    promote.term = 1;
    found.name = cluster;
    found.cluster = 1;
    found.dimensions = 2;
    Lbm__Command commands[7];
    for (size_t i = 0; i < 7; i++)
        commands[i] = (Lbm__Command)LBM__COMMAND__INIT;
    commands[0].what_case = LBM__COMMAND__WHAT_JOIN, commands[0].join = &join;
    commands[1].what_case = LBM__COMMAND__WHAT_LEAVE, commands[1].leave = &leave;
    commands[2].what_case = LBM__COMMAND__WHAT_IN_SYNC, commands[2].in_sync = &in_sync;
    commands[3].what_case = LBM__COMMAND__WHAT_TAKE_OVER, commands[3].take_over = &take_over;
    commands[4].what_case = LBM__COMMAND__WHAT_ALLOT_IDS, commands[4].allot_ids = &allot;
    commands[5].what_case = LBM__COMMAND__WHAT_PROMOTE, commands[5].promote = &promote;
    commands[6].what_case = LBM__COMMAND__WHAT_FOUND, commands[6].found = &found;
    for (size_t i = 0; i < 7; i++)
        assert_false(propose(&scene, LIAR, &commands[i]));
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* One frame with the last term there is does not stop the log, nor one with the next term of a host that may
 * not lead. */
static void
a_forged_term_stops_nothing(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 2, LBM_ETCD_ABILITY_NONE);
    for (uint32_t host = 0; host < LIAR; host++)
        for (int step = 0; step < 2; step++) {
            Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
            entries.from = entries.last = last_entry(&scene) + 1;
            entries.term = step != 0 ? 1 : UINT64_MAX;
            entries.leader = LIAR;
            Lbm__Peer message = LBM__PEER__INIT;
            message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
            message.log_entries = &entries;
            assert_true(cluster_say(scene.cluster, LIAR, host, &message));
            Lbm__LogPoll poll = LBM__LOG_POLL__INIT;
            poll.term = step != 0 ? 1 : UINT64_MAX;
            poll.promise = 1;
            message = (Lbm__Peer)LBM__PEER__INIT;
            message.body_case = LBM__PEER__BODY_LOG_POLL;
            message.log_poll = &poll;
            assert_true(cluster_say(scene.cluster, LIAR, host, &message));
        }
    liar_expect_told(scene.cluster, "host 3 says term 18446744073709551615");
    liar_expect_unharmed(&scene, 0);
    for (uint32_t host = 0; host < 3; host++) { /* across restarts */
        cluster_crash(scene.cluster, host);
        cluster_run(scene.cluster, 100000, NULL, NULL);
        cluster_restart(scene.cluster, host);
    }
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    assert_int_equal(scene_set_capacity(scene.cluster, 1, 1, 3), LBM_OK);
    scene_free(&scene);
}

/* A host that announces a million gets sixteen times what is usual, unless an operator says so. */
static void
an_absurd_capacity_is_capped(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    assert_int_equal(scene_job(&scene, 0)->n_host, 4);
    cluster_crash(scene.cluster, LIAR);
    cluster_configure(scene.cluster, LIAR, 1e6);
    cluster_restart(scene.cluster, LIAR);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    const Lbm__HostsReply *hosts = scene_hosts(&scene, 0);
    assert_true(hosts->hosts[LIAR]->capacity == LBM_CAPACITY_RATIO_MAX);
    liar_expect_told(scene.cluster, "host 3 announces capacity 1e+06, but gets 16");
    assert_int_equal(scene_set_capacity(scene.cluster, 0, LIAR, 100), LBM_OK);
    assert_true(scene_hosts(&scene, 1)->hosts[LIAR]->capacity == 100);
    scene_free(&scene);
}

/* Loads, sums and coordinates that nobody can have: told, and nobody's vertices move for them. */
static void
absurd_loads_and_coordinates_move_nothing(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    uint32_t *before = calloc(scene.g.n, sizeof *before), *after = calloc(scene.g.n, sizeof *after);
    scene_owners(&scene, before);
    for (uint32_t host = 0; host < LIAR; host++) {
        double far[3] = {9e11, -9e11, 9e11};
        Lbm__LoadReport report = LBM__LOAD_REPORT__INIT, *reports[] = {&report};
        report.job = liar_job(&scene, 0);
        report.phase = LBM_PHASE_SETTLED;
        report.ready = 1;
        report.vertices = LBM_VERTICES_MAX - 1;
        report.load = report.whole = report.flow = report.flow_words = report.moved = UINT64_MAX;
        report.sum = UINT64_MAX;
        report.sum_vertices = 1;
        Lbm__Ping ping = LBM__PING__INIT;
        ping.seq = 1;
        ping.n_jobs = 1;
        ping.jobs = reports;
        ping.sent_us = 1;
        ping.echo_us = 1;
        ping.n_coordinate = 3;
        ping.coordinate = far;
        ping.height = 1;
        ping.error = 0;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_PING;
        message.ping = &ping;
        assert_true(cluster_say(scene.cluster, LIAR, host, &message));
        cluster_run(scene.cluster, 11000000, NULL, NULL); /* the next refusal is told again */
        ping.n_coordinate = 0;
        assert_true(cluster_say(scene.cluster, LIAR, host, &message));
        cluster_run(scene.cluster, 11000000, NULL, NULL);
        report.vertices = 0;
        assert_true(cluster_say(scene.cluster, LIAR, host, &message));
    }
    liar_expect_told(scene.cluster, "host 3 says a coordinate ");
    liar_expect_told(scene.cluster, "host 3 says that it has 999999999 vertices of job");
    liar_expect_told(scene.cluster, "host 3 says load 18446744073709551615, which no host has");
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    scene_owners(&scene, after);
    assert_memory_equal(before, after, scene.g.n * sizeof *before);
    free(before);
    free(after);
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* A leader that starts asks who says that it has more of the log, and goes on when that one has not. */
static void
a_leader_that_starts_does_not_wait_for_entries_that_do_not_exist(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_VIEW);
    cluster_crash(scene.cluster, 0);
    cluster_run(scene.cluster, 100000, NULL, NULL);
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    liar_expect_told(scene.cluster, "host 3 said that it has the control log up to entry ");
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* The same with a liar that has less of the log than the leader, which tells nobody of the entries it has
 * alone. */
static void
a_leader_that_starts_asks_a_liar_that_lacks_entries_itself(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_crash(scene.cluster, LIAR);
    assert_int_equal(scene_set_capacity(scene.cluster, OTHER, 1, 2), LBM_OK);
    cluster_crash(scene.cluster, 0);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_VIEW);
    cluster_restart(scene.cluster, LIAR);
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    liar_expect_told(scene.cluster, "host 3 said that it has the control log up to entry ");
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* The trace has that text. */
static int
has_told(struct cluster *cluster, void *text)
{
    return liar_is_told(cluster, text);
}

/* The same with one that is no member any more, and goes away before it can answer: it is asked when it is
 * back. */
static void
a_leader_that_starts_asks_again_who_was_evicted_and_lied(void **state)
{
    struct scene scene;
    char claimed[] = "host 3 has the control log up to entry 10";
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_crash(scene.cluster, LIAR);
    assert_true(propose_evict(&scene, OTHER, LIAR, 0));
    cluster_crash(scene.cluster, 0);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_VIEW);
    cluster_restart(scene.cluster, 0);
    cluster_restart(scene.cluster, LIAR);
    assert_true(cluster_run(scene.cluster, 5000000, has_told, claimed));
    cluster_crash(scene.cluster, LIAR);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    liar_expect_told(scene.cluster, "the control log waits for ");
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
    cluster_restart(scene.cluster, LIAR);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    liar_expect_told(scene.cluster, "this host orders the control log again");
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

static void
expect_not_told(struct cluster *cluster, const char *text)
{
    if (liar_is_told(cluster, text))
        fail_msg("somebody is told \"%s\"", text);
}

/* Of a leader that starts one host says that its copy is not the log. */
static void
a_leader_that_starts_keeps_its_log_whatever_one_host_says(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_crash(scene.cluster, 0);
    cluster_run(scene.cluster, 100000, NULL, NULL);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_HISTORY);
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    expect_not_told(scene.cluster, "begins again, empty");
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* The same of hosts that ask it while the leader is away. */
static void
who_asks_in_place_of_the_leader_keeps_its_log_whatever_one_host_says(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_crash(scene.cluster, 0);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_HISTORY);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    expect_not_told(scene.cluster, "begins again, empty");
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

/* Two say so: it is believed, and an operator decides. */
static void
a_leader_of_whose_log_two_say_that_it_is_another_steps_aside(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_crash(scene.cluster, 0);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_HISTORY);
    cluster_lie(scene.cluster, OTHER, CLUSTER_LIE_HISTORY);
    cluster_restart(scene.cluster, 0);
    cluster_run(scene.cluster, 1000000, NULL, NULL);
    liar_expect_told(scene.cluster, "begins again, empty");
    scene_free(&scene);
}

/* Nobody has the leader's last entry, so only the liar can say whether it is in the log: the leader waits
 * until it takes that back, or an operator does not believe it. */
static void
a_leader_with_entries_of_its_own_waits_for_another_word(void **state)
{
    (void)state;
    for (int is_forced = 0; is_forced < 2; is_forced++) {
        struct scene scene;
        liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
        for (uint32_t host = 1; host <= LIAR; host++)
            cluster_cut(scene.cluster, 0, host, 1);
        assert_int_equal(scene_set_capacity(scene.cluster, 0, 1, 3), LBM_OK);
        cluster_crash_with(scene.cluster, 0, CRASH_ALL);
        for (uint32_t host = 1; host <= LIAR; host++)
            cluster_cut(scene.cluster, 0, host, 0);
        cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_HISTORY);
        cluster_restart(scene.cluster, 0);
        cluster_run(scene.cluster, 20000000, NULL, NULL);
        liar_expect_told(scene.cluster, "the control log waits for a host that has the same entries");
        if (is_forced)
            assert_int_equal(liar_promote(&scene, 0, 1), LBM_OK);
        else
            cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_NONE);
        cluster_run(scene.cluster, 10000000, NULL, NULL);
        expect_not_told(scene.cluster, "begins again, empty");
        liar_expect_unharmed(&scene, 0);
        scene_free(&scene);
    }
}

static void
who_is_promoted_keeps_its_log_whatever_one_host_says(void **state)
{
    struct scene scene;
    (void)state;
    liar_begin(&scene, "chain:4", 0, LBM_ETCD_ABILITY_NONE);
    cluster_lie(scene.cluster, LIAR, CLUSTER_LIE_HISTORY);
    assert_int_equal(liar_promote(&scene, 1, 0), LBM_OK);
    cluster_run(scene.cluster, 10000000, NULL, NULL);
    expect_not_told(scene.cluster, "begins again, empty");
    liar_expect_unharmed(&scene, 0);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stranger_proposes_nothing_but_itself),
        cmocka_unit_test(a_member_evicts_and_cancels_only_where_operators_are),
        cmocka_unit_test(a_member_speaks_for_itself_alone),
        cmocka_unit_test(a_forged_term_stops_nothing),
        cmocka_unit_test(an_absurd_capacity_is_capped),
        cmocka_unit_test(absurd_loads_and_coordinates_move_nothing),
        cmocka_unit_test(a_leader_that_starts_does_not_wait_for_entries_that_do_not_exist),
        cmocka_unit_test(a_leader_that_starts_asks_a_liar_that_lacks_entries_itself),
        cmocka_unit_test(a_leader_that_starts_asks_again_who_was_evicted_and_lied),
        cmocka_unit_test(a_leader_that_starts_keeps_its_log_whatever_one_host_says),
        cmocka_unit_test(who_asks_in_place_of_the_leader_keeps_its_log_whatever_one_host_says),
        cmocka_unit_test(a_leader_of_whose_log_two_say_that_it_is_another_steps_aside),
        cmocka_unit_test(a_leader_with_entries_of_its_own_waits_for_another_word),
        cmocka_unit_test(who_is_promoted_keeps_its_log_whatever_one_host_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
