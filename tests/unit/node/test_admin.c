/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators do to hosts and read of them, in virtual time: the answer to a change is what the control
 * log made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/generate.h"
#include "sim/model/cluster.h"

enum { HOSTS = 4, TIMEOUT_US = 60000000, ANYBODY = 1000 };

static const struct cluster_options calm = {
    .seed = 1, .delay_least_us = 100, .delay_most_us = 300, .sync_us = 2000, .limited_host = LBM_NONE};

struct scene {
    struct lbm_hosts h;
    struct cluster *cluster;
};

/* The entry of a host as host 0 sees it, or NULL; valid until the next request. */
static const Lbm__HostEntry *
entry_of(struct cluster *cluster, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    cluster_request(cluster, 0, 0, &request);
    const Lbm__HostsReply *hosts = cluster_reply(cluster, 0, 0)->hosts;
    for (size_t i = 0; i < hosts->n_hosts; i++)
        if (hosts->hosts[i]->host == host)
            return hosts->hosts[i];
    return NULL;
}

struct target {
    uint32_t host;
    const char *state;
};

static int
is_in_state(struct cluster *cluster, void *arg)
{
    const struct target *target = arg;
    const Lbm__HostEntry *entry = entry_of(cluster, target->host);
    return entry != NULL && strcmp(entry->state, target->state) == 0;
}

static void
expect_state(struct cluster *cluster, uint32_t host, const char *state)
{
    struct target target = {host, state};
    assert_true(cluster_run(cluster, TIMEOUT_US, is_in_state, &target));
}

static int
is_in_sync(struct cluster *cluster, void *arg)
{
    for (uint32_t p = 0; p < *(uint32_t *)arg; p++) {
        const Lbm__HostEntry *entry = entry_of(cluster, p);
        if (entry == NULL || strcmp(entry->state, "ACTIVE") != 0 || !entry->insync)
            return 0;
    }
    return 1;
}

static int
set_up(void **state)
{
    static struct scene scene;
    struct lbm_diag diag;
    uint32_t n = HOSTS;
    assert_int_equal(lbm_hosts_generate("ring:4", &scene.h, &diag), LBM_OK);
    scene.cluster = cluster_new(&scene.h, &calm);
    assert_true(cluster_run(scene.cluster, TIMEOUT_US, is_in_sync, &n));
    *state = &scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;
    cluster_free(scene->cluster);
    lbm_hosts_free(&scene->h);
    return 0;
}

static Lbm__HostChange
change_of(Lbm__HostAction action, uint32_t host)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = action;
    change.host = host;
    return change;
}

/* Ask host `at` without waiting. */
static void
ask(struct cluster *cluster, uint32_t at, uint32_t uid, Lbm__HostChange *change)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = change;
    cluster_request(cluster, at, uid, &request);
}

static int
is_answered(struct cluster *cluster, void *arg)
{
    return cluster_reply(cluster, *(uint32_t *)arg, 0) != NULL;
}

/* The answer of host `at` to a change, in the end. */
static enum lbm_err
answer(struct cluster *cluster, uint32_t at, uint32_t uid, Lbm__HostChange change)
{
    ask(cluster, at, uid, &change);
    assert_true(cluster_run(cluster, TIMEOUT_US, is_answered, &at));
    assert_int_equal(cluster_reply(cluster, at, 0)->last, 1);
    return (enum lbm_err)cluster_reply(cluster, at, 0)->code;
}

static void
a_change_is_answered_when_the_log_has_it(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    Lbm__HostChange change = change_of(LBM__HOST_ACTION__HOST_SET, 2);
    change.capacity = 3;
    ask(cluster, 1, 0, &change);
    assert_null(cluster_reply(cluster, 1, 0));
    assert_int_equal(answer(cluster, 1, 0, change), LBM_OK);
    expect_state(cluster, 2, "ACTIVE");
    assert_true(entry_of(cluster, 2)->capacity == 3);
}

static void
a_refusal_of_the_log_is_the_answer(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_DRAIN, 0)), LBM_E_STATE);
    assert_non_null(strstr(cluster_reply(cluster, 1, 0)->text, "orders the control log"));
    Lbm__HostChange change = change_of(LBM__HOST_ACTION__HOST_SET, 2);
    double site[] = {0.1, 0.2, 0.3};
    change.n_site = 3;
    change.site = site;
    assert_int_equal(answer(cluster, 0, 0, change), LBM_E_STATE);
    assert_non_null(strstr(cluster_reply(cluster, 0, 0)->text, "coordinates"));
}

static void
what_cannot_be_is_refused_at_once(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    Lbm__HostChange own_link = change_of(LBM__HOST_ACTION__HOST_SET, 2);
    uint32_t host = 2, cost = 1;
    own_link.change_links = 1;
    own_link.n_link_host = own_link.n_link_cost = 1;
    own_link.link_host = &host;
    own_link.link_cost = &cost;
    const struct {
        Lbm__HostChange change;
        uint32_t uid;
        enum lbm_err err;
    } cases[] = {
        {change_of(LBM__HOST_ACTION__HOST_DRAIN, 2), ANYBODY, LBM_E_DENIED},
        {change_of(LBM__HOST_ACTION__HOST_DRAIN, 77), 0, LBM_E_NOTFOUND},
        {change_of(LBM__HOST_ACTION__HOST_JOIN, 2), 0, LBM_E_STATE},
        {change_of((Lbm__HostAction)9, 2), 0, LBM_E_UNSUPPORTED},
        {own_link, 0, LBM_E_RANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Lbm__HostChange change = cases[i].change;
        ask(cluster, 1, cases[i].uid, &change);
        assert_non_null(cluster_reply(cluster, 1, 0));
        assert_int_equal(cluster_reply(cluster, 1, 0)->code, cases[i].err);
    }
    expect_state(cluster, 2, "ACTIVE");
}

static void
leave_is_answered_when_the_host_has_left(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_LEAVE, 3)), LBM_OK);
    expect_state(cluster, 3, "LEFT");
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_LEAVE, 3)), LBM_OK);
}

static void
leave_is_refused_where_drain_is(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_LEAVE, 0)), LBM_E_STATE);
    expect_state(cluster, 0, "ACTIVE");
}

static void
a_host_that_left_joins_again_by_its_own_daemon(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_LEAVE, 3)), LBM_OK);
    uint64_t before = entry_of(cluster, 3)->incarnation;
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_JOIN, 3)), LBM_E_STATE);
    assert_int_equal(answer(cluster, 3, 0, change_of(LBM__HOST_ACTION__HOST_JOIN, 3)), LBM_OK);
    expect_state(cluster, 3, "ACTIVE");
    assert_true(entry_of(cluster, 3)->incarnation > before);
}

static void
a_dead_host_is_evicted_and_its_successor_named(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    uint32_t successor = entry_of(cluster, 2)->backup;
    assert_int_not_equal(successor, LBM_NONE);
    cluster_crash(cluster, 2);
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_EVICT, 2)), LBM_OK);
    expect_state(cluster, 2, "EVICTED");
    assert_int_equal(entry_of(cluster, 2)->successor, successor);
    assert_int_equal(answer(cluster, 1, 0, change_of(LBM__HOST_ACTION__HOST_EVICT, 2)), LBM_E_STATE);
}

/* The log's leader is away for so long when an operator wants host 2 evicted. */
static void
evict_behind_the_leaders_back(struct cluster *cluster, int64_t away_us)
{
    Lbm__HostChange change = change_of(LBM__HOST_ACTION__HOST_EVICT, 2);
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    cluster_crash(cluster, 0);
    cluster_request(cluster, 1, 0, &request);
    cluster_run(cluster, away_us, NULL, NULL);
    cluster_restart(cluster, 0);
    cluster_run(cluster, 10000000, NULL, NULL);
}

static void
an_eviction_that_the_log_gets_too_late_is_void(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    evict_behind_the_leaders_back(cluster, 6500000);
    assert_int_equal(cluster_reply(cluster, 1, 0)->code, LBM_E_TIMEOUT);
    assert_string_equal(entry_of(cluster, 2)->state, "ACTIVE");
    uint64_t before = entry_of(cluster, 2)->incarnation;
    evict_behind_the_leaders_back(cluster, 2000000);
    assert_int_equal(cluster_reply(cluster, 1, 0)->code, LBM_OK);
    expect_state(cluster, 2, "ACTIVE"); /* it comes back by itself, empty */
    assert_true(entry_of(cluster, 2)->incarnation > before);
}

static int
has_settled(struct cluster *cluster, void *name)
{
    return cluster_settled(cluster, name);
}

static uint32_t
attach(struct cluster *cluster, uint32_t uid)
{
    char name[] = "job";
    Lbm__AttachRequest attach = LBM__ATTACH_REQUEST__INIT;
    attach.job = name;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_ATTACH;
    request.attach = &attach;
    cluster_request(cluster, 1, uid, &request);
    return cluster_reply(cluster, 1, 0) != NULL ? cluster_reply(cluster, 1, 0)->code : LBM_OK;
}

static void
a_job_is_served_by_its_owner_alone(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    struct lbm_graph g;
    struct lbm_diag diag;
    assert_int_equal(attach(cluster, 0), LBM_E_NOTFOUND);
    assert_int_equal(lbm_graph_generate("lattice:8x8", 1, &g, &diag), LBM_OK);
    assert_int_equal(cluster_submit(cluster, 1, "job", &g, LBM_START_PLAN), LBM_OK);
    assert_int_equal(attach(cluster, ANYBODY), LBM_E_DENIED);
    assert_int_equal(attach(cluster, 0), LBM_OK);
    lbm_graph_free(&g);
}

/* Vertices pinned to a host that leaves go elsewhere, and back when it is. */
static void
a_host_that_has_vertices_of_another_one_can_leave(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    struct lbm_graph g;
    struct lbm_diag diag;
    uint32_t owner[64], doubles, none;
    char name[] = "job";
    assert_int_equal(lbm_graph_generate("lattice:8x8", 1, &g, &diag), LBM_OK);
    g.pin = lbm_alloc(g.n, sizeof *g.pin);
    assert_non_null(g.pin);
    for (uint32_t v = 0; v < g.n; v++)
        g.pin[v] = v % 7 == 0 ? 3 : LBM_NONE;
    assert_int_equal(cluster_submit(cluster, 1, name, &g, LBM_START_PLAN), LBM_OK);
    assert_true(cluster_run(cluster, TIMEOUT_US, has_settled, name));
    for (uint32_t host = 3; host != 0; host--) {
        assert_int_equal(answer(cluster, host, 0, change_of(LBM__HOST_ACTION__HOST_LEAVE, host)), LBM_OK);
        assert_int_equal(answer(cluster, host, 0, change_of(LBM__HOST_ACTION__HOST_JOIN, host)), LBM_OK);
        expect_state(cluster, host, "ACTIVE");
        assert_true(cluster_run(cluster, TIMEOUT_US, has_settled, name));
    }
    cluster_owners(cluster, g.n, owner, &doubles, &none);
    assert_int_equal(doubles + none, 0);
    for (uint32_t v = 0; v < g.n; v += 7)
        assert_int_equal(owner[v], 3);
    lbm_graph_free(&g);
}

static const Lbm__EventsReply *
events_from(struct cluster *cluster, uint32_t host, uint64_t from)
{
    Lbm__EventsRequest events = LBM__EVENTS_REQUEST__INIT;
    events.from = from;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_EVENTS;
    request.events = &events;
    cluster_request(cluster, host, ANYBODY, &request);
    assert_non_null(cluster_reply(cluster, host, 0));
    return cluster_reply(cluster, host, 0)->events;
}

static void
events_tell_what_happened_to_members(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    const Lbm__EventsReply *all = events_from(cluster, 0, 0);
    size_t before = all->n_events;
    assert_true(before >= HOSTS); /* all have joined */
    for (size_t i = 0; i < before; i++) {
        assert_int_equal(all->events[i]->number, i + 1);
        assert_true(all->events[i]->age_s >= 0);
    }
    assert_int_equal(events_from(cluster, 0, before + 1)->n_events, 0);
    assert_int_equal(answer(cluster, 0, 0, change_of(LBM__HOST_ACTION__HOST_DRAIN, 2)), LBM_OK);
    const Lbm__EventsReply *later = events_from(cluster, 0, before + 1);
    assert_true(later->n_events >= 1);
    assert_non_null(strstr(later->events[0]->text, "host 2 drains"));
}

static void
the_oldest_events_go_first(void **state)
{
    struct cluster *cluster = ((struct scene *)*state)->cluster;
    Lbm__HostChange change = change_of(LBM__HOST_ACTION__HOST_SET, 2);
    for (int i = 0; i < LBM_EVENTS_MAX + 10; i++) {
        change.capacity = 1 + i % 2;
        assert_int_equal(answer(cluster, 0, 0, change), LBM_OK);
    }
    const Lbm__EventsReply *all = events_from(cluster, 0, 0);
    assert_int_equal(all->n_events, LBM_EVENTS_MAX);
    assert_true(all->events[0]->number > 10);
    for (size_t i = 1; i < all->n_events; i++)
        assert_int_equal(all->events[i]->number, all->events[0]->number + i);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_change_is_answered_when_the_log_has_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_of_the_log_is_the_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leave_is_answered_when_the_host_has_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leave_is_refused_where_drain_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_left_joins_again_by_its_own_daemon, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dead_host_is_evicted_and_its_successor_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_eviction_that_the_log_gets_too_late_is_void, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_is_served_by_its_owner_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_that_has_vertices_of_another_one_can_leave, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_tell_what_happened_to_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_events_go_first, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
