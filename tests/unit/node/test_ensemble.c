/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ensemble of etcd that daemons run, in virtual time: when the log moves there and back, who is a member.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

enum { SECOND = 1000000, LOST = 20 * SECOND /* until a host is evicted, and replaced */ };

static struct cluster *
cluster_begun(const char *spec, enum lbm_etcd_ability etcd, struct lbm_hosts *h)
{
    const struct cluster_options options = {.seed = 7,
                                            .delay_least_us = 100,
                                            .delay_most_us = 300,
                                            .sync_us = 2000,
                                            .limited_host = LBM_NONE,
                                            .evict_share = 100,
                                            .etcd = etcd};
    struct lbm_diag diag;
    assert_int_equal(lbm_hosts_generate(spec, h, &diag), LBM_OK);
    return cluster_new(h, &options);
}

static struct cluster *
cluster_of(const char *spec, enum lbm_etcd_ability etcd, struct lbm_hosts *h)
{
    struct cluster *cluster = cluster_begun(spec, etcd, h);
    cluster_run(cluster, 20 * SECOND, NULL, NULL);
    return cluster;
}

static void
end(struct cluster *cluster, struct lbm_hosts *h)
{
    cluster_free(cluster);
    lbm_hosts_free(h);
}

static const Lbm__StatusReply *
status_of(struct cluster *cluster, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    const Lbm__Response *response = cluster_ask(cluster, host, 0, &request);
    assert_non_null(response);
    return response->status;
}

static int
is_member(const Lbm__StatusReply *status, uint32_t host)
{
    for (size_t i = 0; i < status->n_ensemble; i++)
        if (status->ensemble[i] == host)
            return 1;
    return 0;
}

static void
expect_ensemble(struct cluster *cluster, uint32_t at, size_t n)
{
    const Lbm__StatusReply *status = status_of(cluster, at);
    assert_true(status->log_external);
    assert_int_equal(status->n_ensemble, n);
    assert_int_equal(status->n_ensemble_answers, n);
    assert_true(is_member(status, status->ensemble_leader));
}

static enum lbm_err
move_log(struct cluster *cluster, uint32_t host, enum lbm_log_place place)
{
    Lbm__LogMoveRequest move = LBM__LOG_MOVE_REQUEST__INIT;
    move.place = place;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_LOG_MOVE;
    request.log_move = &move;
    const Lbm__Response *response = cluster_ask(cluster, host, 0, &request);
    assert_non_null(response);
    return (enum lbm_err)response->code;
}

static void
lose(struct cluster *cluster, uint32_t host)
{
    cluster_crash_with(cluster, host, CRASH_NONE);
    cluster_lose_disk(cluster, host);
    cluster_run(cluster, LOST, NULL, NULL);
}

static void
three_hosts_of_five_run_it_and_five_of_nine(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("ring:5", LBM_ETCD_ABILITY_RUNS, &h);
    expect_ensemble(cluster, 4, 3);
    end(cluster, &h);
    cluster = cluster_of("ring:9", LBM_ETCD_ABILITY_RUNS, &h);
    expect_ensemble(cluster, 8, 5);
    end(cluster, &h);
}

static void
two_hosts_and_hosts_without_etcd_keep_it_local(void **state)
{
    static const struct {
        const char *spec;
        enum lbm_etcd_ability etcd;
    } cases[] = {{"chain:2", LBM_ETCD_ABILITY_RUNS},
                 {"ring:5", LBM_ETCD_ABILITY_NONE},
                 {"ring:5", LBM_ETCD_ABILITY_UNKNOWN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lbm_hosts h;
        struct cluster *cluster = cluster_of(cases[i].spec, cases[i].etcd, &h);
        assert_false(status_of(cluster, 1)->log_external);
        assert_int_equal(status_of(cluster, 1)->n_ensemble, 0);
        assert_int_equal(move_log(cluster, 1, LBM_LOG_PLACE_ETCD), LBM_E_STATE);
        end(cluster, &h);
    }
}

/* The host that ordered the log is lost 10 ms after its last entry, before it has sent another ping. */
static void
its_former_leader_may_be_lost_at_once(void **state)
{
    struct lbm_hosts h;
    int left = 20 * SECOND / (SECOND / 200);
    (void)state;
    struct cluster *cluster = cluster_begun("ring:5", LBM_ETCD_ABILITY_RUNS, &h);
    cluster_run(cluster, SECOND, NULL, NULL);
    for (; left > 0 && !status_of(cluster, 0)->log_external; left--)
        cluster_run(cluster, SECOND / 200, NULL, NULL);
    assert_int_not_equal(left, 0);
    cluster_run(cluster, SECOND / 100, NULL, NULL);
    lose(cluster, 0);
    expect_ensemble(cluster, 4, 3);
    assert_false(is_member(status_of(cluster, 4), 0));
    end(cluster, &h);
}

/* One after the other, also the one that leads and the one that founded the cluster. */
static void
members_that_are_lost_are_replaced(void **state)
{
    struct lbm_hosts h;
    uint32_t lost[3];
    (void)state;
    struct cluster *cluster = cluster_of("complete:7", LBM_ETCD_ABILITY_RUNS, &h);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        lost[i] = status_of(cluster, 6)->ensemble_leader;
        assert_int_not_equal(lost[i], 6);
        lose(cluster, lost[i]);
        expect_ensemble(cluster, 6, 3);
        for (size_t k = 0; k <= i; k++)
            assert_false(is_member(status_of(cluster, 6), lost[k]));
    }
    end(cluster, &h);
}

/* One after the other; what the list has meanwhile is one that is lost. */
static void
two_members_that_are_lost_at_once_are_replaced(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("ring:11", LBM_ETCD_ABILITY_RUNS, &h);
    cluster_crash_with(cluster, 1, CRASH_NONE);
    cluster_lose_disk(cluster, 1);
    lose(cluster, 3);
    cluster_run(cluster, LOST, NULL, NULL);
    const Lbm__StatusReply *status = status_of(cluster, 8);
    assert_false(is_member(status, 1));
    assert_false(is_member(status, 3));
    expect_ensemble(cluster, 8, 5);
    end(cluster, &h);
}

/* With three hosts nobody can take the place: it is the same host that takes it, once it is back. */
static void
a_host_that_comes_back_takes_its_own_place(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("complete:3", LBM_ETCD_ABILITY_RUNS, &h);
    expect_ensemble(cluster, 0, 3);
    lose(cluster, 2);
    assert_int_equal(status_of(cluster, 0)->n_ensemble, 3);
    assert_int_equal(status_of(cluster, 0)->n_ensemble_answers, 2);
    cluster_restart(cluster, 2);
    cluster_run(cluster, LOST, NULL, NULL);
    expect_ensemble(cluster, 0, 3);
    end(cluster, &h);
}

static void
the_log_moves_to_a_host_and_back(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("ring:5", LBM_ETCD_ABILITY_RUNS, &h);
    uint64_t view = status_of(cluster, 3)->view;
    assert_int_equal(move_log(cluster, 3, LBM_LOG_PLACE_LOCAL), LBM_OK);
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    for (uint32_t p = 0; p < 5; p++) {
        assert_false(status_of(cluster, p)->log_external);
        assert_int_equal(status_of(cluster, p)->leader, 3);
        assert_int_equal(status_of(cluster, p)->view, view + 1);
    }
    for (uint32_t p = 0; p < 5; p++) /* who orders the log is known after a new start, too */
        cluster_crash_with(cluster, p, CRASH_NONE);
    for (uint32_t p = 0; p < 5; p++)
        cluster_restart(cluster, p);
    cluster_run(cluster, 20 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 0)->leader, 3);
    assert_int_equal(move_log(cluster, 1, LBM_LOG_PLACE_ETCD), LBM_OK);
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    expect_ensemble(cluster, 4, 3);
    end(cluster, &h);
}

/* It was away when the log moved, and knows an old leader alone. */
static void
a_host_that_was_away_finds_the_log(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("complete:5", LBM_ETCD_ABILITY_RUNS, &h);
    cluster_crash_with(cluster, 4, CRASH_NONE);
    assert_int_equal(move_log(cluster, 1, LBM_LOG_PLACE_LOCAL), LBM_OK);
    cluster_restart(cluster, 4);
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    assert_false(status_of(cluster, 4)->log_external);
    assert_int_equal(status_of(cluster, 4)->leader, 1);
    cluster_crash_with(cluster, 4, CRASH_NONE);
    assert_int_equal(move_log(cluster, 1, LBM_LOG_PLACE_ETCD), LBM_OK);
    cluster_run(cluster, 3 * SECOND, NULL, NULL);
    cluster_restart(cluster, 4);
    cluster_run(cluster, 20 * SECOND, NULL, NULL);
    assert_true(status_of(cluster, 4)->log_external);
    assert_int_equal(status_of(cluster, 4)->view, status_of(cluster, 0)->view);
    end(cluster, &h);
}

static enum lbm_err
promote(struct cluster *cluster, uint32_t host, int force)
{
    Lbm__PromoteRequest promote = LBM__PROMOTE_REQUEST__INIT;
    promote.force = (uint32_t)force;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &promote;
    const Lbm__Response *response = cluster_ask(cluster, host, 0, &request);
    assert_non_null(response);
    return (enum lbm_err)response->code;
}

static void
expect_same(struct cluster *cluster, uint32_t n)
{
    cluster_run(cluster, 20 * SECOND, NULL, NULL);
    for (uint32_t p = 1; p < n; p++)
        assert_int_equal(status_of(cluster, p)->view, status_of(cluster, 0)->view);
}

/* Not while it answers. Host 1 is away when it happens, and knows the lost ensemble alone. */
static void
a_host_takes_the_log_from_an_ensemble_that_is_lost(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("complete:6", LBM_ETCD_ABILITY_RUNS, &h);
    assert_int_equal(promote(cluster, 5, 0), LBM_E_UNSUPPORTED);
    assert_int_equal(promote(cluster, 5, 1), LBM_E_STATE);
    assert_true(cluster_lose_ensemble(cluster, 0));
    cluster_run(cluster, 5 * SECOND, NULL, NULL);
    assert_int_equal(status_of(cluster, 5)->n_ensemble_answers, 0);
    cluster_crash_with(cluster, 1, CRASH_NONE);
    cluster_run(cluster, 5 * SECOND, NULL, NULL);
    assert_int_equal(promote(cluster, 5, 1), LBM_OK);
    cluster_run(cluster, SECOND, NULL, NULL);
    assert_false(status_of(cluster, 3)->log_external);
    assert_int_equal(status_of(cluster, 3)->leader, 5);
    assert_int_equal(scene_set_capacity(cluster, 4, 4, 2), LBM_OK);
    cluster_run(cluster, LOST, NULL, NULL);
    expect_ensemble(cluster, 3, 3);
    assert_false(is_member(status_of(cluster, 3), 1));
    cluster_restart(cluster, 1);
    expect_same(cluster, 6);
    expect_ensemble(cluster, 1, 3);
    end(cluster, &h);
}

/* Another host is promoted just before the log moves: whoever wins, that host does not stay behind. */
static void
a_promotion_that_the_move_overtakes_ends(void **state)
{
    struct lbm_hosts h;
    int64_t moved_us = 0;
    (void)state;
    struct cluster *cluster = cluster_begun("ring:5", LBM_ETCD_ABILITY_RUNS, &h);
    while (!cluster_log_is_external(cluster) && moved_us < 30 * SECOND) {
        cluster_run(cluster, 1000, NULL, NULL);
        moved_us = cluster_now(cluster);
    }
    end(cluster, &h);
    for (int before_us = 500; before_us <= 8000; before_us += 500) {
        cluster = cluster_begun("ring:5", LBM_ETCD_ABILITY_RUNS, &h);
        Lbm__PromoteRequest empty = LBM__PROMOTE_REQUEST__INIT;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_PROMOTE;
        request.promote = &empty;
        cluster_run(cluster, moved_us - before_us - cluster_now(cluster), NULL, NULL);
        cluster_request(cluster, 4, 0, &request);
        cluster_run(cluster, 60 * SECOND, NULL, NULL);
        expect_ensemble(cluster, 4, 3);
        end(cluster, &h);
    }
}

/* The host that takes it ends in between: it goes on, and so does the log. */
static void
taking_it_goes_on_after_a_crash(void **state)
{
    struct lbm_hosts h;
    (void)state;
    for (int after_ms = 0; after_ms < 60; after_ms += 3) {
        struct cluster *cluster = cluster_of("ring:5", LBM_ETCD_ABILITY_RUNS, &h);
        Lbm__PromoteRequest by_force = LBM__PROMOTE_REQUEST__INIT;
        by_force.force = 1;
        Lbm__Request request = LBM__REQUEST__INIT;
        request.what_case = LBM__REQUEST__WHAT_PROMOTE;
        request.promote = &by_force;
        assert_true(cluster_lose_ensemble(cluster, 1));
        cluster_run(cluster, 5 * SECOND, NULL, NULL);
        cluster_request(cluster, 4, 0, &request);
        cluster_run(cluster, after_ms * 1000, NULL, NULL);
        cluster_crash(cluster, 4);
        cluster_restart(cluster, 4);
        cluster_run(cluster, 5 * SECOND, NULL, NULL);
        if (status_of(cluster, 4)->log_external) /* it was not begun */
            assert_int_equal(promote(cluster, 4, 1), LBM_OK);
        cluster_run(cluster, LOST, NULL, NULL);
        expect_ensemble(cluster, 2, 3);
        expect_same(cluster, 5);
        end(cluster, &h);
    }
}

static int
has_joined_again(struct cluster *cluster, void *host)
{
    const uint32_t *again = host;
    const Lbm__HostsReply *hosts;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    hosts = cluster_ask(cluster, 0, 0, &request)->hosts;
    for (size_t i = 0; i < hosts->n_hosts; i++)
        if (hosts->hosts[i]->host == *again && hosts->hosts[i]->incarnation == 2 &&
            strcmp(hosts->hosts[i]->state, "ACTIVE") == 0)
            return 1;
    return 0;
}

/* A job that has settled, so that every host has something. */
static void
submit(struct cluster *cluster)
{
    static char name[] = "job";
    struct lbm_graph guest;
    struct lbm_diag diag;
    assert_int_equal(lbm_graph_generate("lattice:5x5", 1, &guest, &diag), LBM_OK);
    assert_int_equal(cluster_submit(cluster, 0, name, &guest, LBM_START_PLAN), LBM_OK);
    assert_true(cluster_run(cluster, 60 * SECOND, scene_is_settled, name));
    lbm_graph_free(&guest);
}

/* What host 4 answers as incarnation 1 does not count, and it hears from other hosts alone that there is an
 * incarnation 2. Its disk is from before that, or a new one. In: after_ms, it crashes once more so long after
 * its start, and may have stored half of what follows; < 0: it does not. */
static void
force_with_disk_from_before(int is_empty, int after_ms)
{
    struct lbm_hosts h;
    uint32_t again = 4;
    struct cluster *cluster = cluster_of("complete:5", LBM_ETCD_ABILITY_RUNS, &h);
    submit(cluster);
    cluster_image_disk(cluster, again);
    cluster_crash_with(cluster, again, CRASH_ALL);
    cluster_run(cluster, LOST, NULL, NULL);
    cluster_restart(cluster, again);
    assert_true(cluster_run(cluster, 2 * LOST, has_joined_again, &again));
    assert_true(cluster_lose_ensemble(cluster, 0));
    cluster_run(cluster, 5 * SECOND, NULL, NULL);
    cluster_crash_with(cluster, again, CRASH_ALL);
    if (is_empty)
        cluster_lose_disk(cluster, again);
    else
        assert_true(cluster_roll_back_disk(cluster, again));
    cluster_trace(cluster, 1);
    cluster_restart(cluster, again);
    if (after_ms >= 0) {
        cluster_run(cluster, after_ms * 1000, NULL, NULL);
        cluster_crash_with(cluster, again, CRASH_SOME);
        cluster_restart(cluster, again);
    }
    cluster_run(cluster, 10 * SECOND, NULL, NULL);
    const char *gives_up = strstr(cluster_trace_text(cluster), "no longer a member as incarnation 1:");
    assert_int_equal(gives_up == NULL, is_empty); /* a new disk has nothing that could be given up */
    assert_int_equal(promote(cluster, 0, 1), LBM_OK);
    expect_same(cluster, 5);
    assert_int_equal(status_of(cluster, again)->leader, 0);
    end(cluster, &h);
}

static void
a_host_with_a_disk_from_before_its_reset_does_not_stop_that(void **state)
{
    (void)state;
    for (int is_empty = 0; is_empty < 2; is_empty++)
        for (int after_ms = -1; after_ms < 4000; after_ms += 400)
            force_with_disk_from_before(is_empty, after_ms);
}

/* The log moves to a host while one other is cut off, and the third one goes down before that is back: it has
 * the word of the leader alone, as entries and as a view. */
static void
who_was_away_follows_the_leader_though_the_third_host_is_down(void **state)
{
    (void)state;
    for (int n = 0; n <= 40; n += 40) {
        struct lbm_hosts h;
        struct cluster *cluster = cluster_of("complete:3", LBM_ETCD_ABILITY_RUNS, &h);
        expect_ensemble(cluster, 0, 3);
        cluster_log_deaf(cluster, 2, 1);
        cluster_cut(cluster, 0, 2, 1);
        cluster_cut(cluster, 1, 2, 1);
        assert_int_equal(move_log(cluster, 0, LBM_LOG_PLACE_LOCAL), LBM_OK);
        cluster_run(cluster, SECOND, NULL, NULL);
        for (int i = 0; i < n; i++)
            assert_int_equal(scene_set_capacity(cluster, 0, 1, 2 + i % 2), LBM_OK);
        cluster_crash_with(cluster, 1, CRASH_ALL);
        cluster_cut(cluster, 0, 2, 0);
        cluster_run(cluster, 10 * SECOND, NULL, NULL);
        assert_false(status_of(cluster, 2)->log_external);
        assert_int_equal(status_of(cluster, 2)->view, status_of(cluster, 0)->view);
        end(cluster, &h);
    }
}

/* It says that it has more entries, which etcd does not bring, and that others have what is not in the log.
 */
static void
a_member_that_lies_about_the_log_is_not_believed(void **state)
{
    struct lbm_hosts h;
    (void)state;
    struct cluster *cluster = cluster_of("complete:5", LBM_ETCD_ABILITY_RUNS, &h);
    cluster_lie(cluster, 2, CLUSTER_LIE_HISTORY);
    cluster_run(cluster, 30 * SECOND, NULL, NULL);
    for (uint32_t p = 0; p < 5; p++) {
        assert_string_equal(status_of(cluster, p)->state, "ACTIVE");
        assert_int_equal(status_of(cluster, p)->n_alerts, 0);
    }
    assert_int_equal(scene_set_capacity(cluster, 0, 1, 4), LBM_OK);
    end(cluster, &h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_hosts_of_five_run_it_and_five_of_nine),
        cmocka_unit_test(two_hosts_and_hosts_without_etcd_keep_it_local),
        cmocka_unit_test(its_former_leader_may_be_lost_at_once),
        cmocka_unit_test(members_that_are_lost_are_replaced),
        cmocka_unit_test(two_members_that_are_lost_at_once_are_replaced),
        cmocka_unit_test(a_host_that_comes_back_takes_its_own_place),
        cmocka_unit_test(the_log_moves_to_a_host_and_back),
        cmocka_unit_test(a_host_that_was_away_finds_the_log),
        cmocka_unit_test(who_was_away_follows_the_leader_though_the_third_host_is_down),
        cmocka_unit_test(a_host_takes_the_log_from_an_ensemble_that_is_lost),
        cmocka_unit_test(a_promotion_that_the_move_overtakes_ends),
        cmocka_unit_test(taking_it_goes_on_after_a_crash),
        cmocka_unit_test(a_host_with_a_disk_from_before_its_reset_does_not_stop_that),
        cmocka_unit_test(a_member_that_lies_about_the_log_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
