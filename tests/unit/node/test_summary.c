/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How jobs stand, as every host says; requests that end; lost vertices that begin again. In virtual time. */
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

enum { SECOND = 1000000, HOSTS = 6, VERTICES = 120 };

static int
never(struct cluster *cluster, void *arg)
{
    (void)cluster;
    (void)arg;
    return 0;
}

static void
pass(struct scene *scene, int seconds)
{
    assert_false(cluster_run(scene->cluster, (int64_t)seconds * SECOND, never, NULL));
}

static void
settle(struct scene *scene, int unwatched)
{
    struct cluster_options options = scene_without_faults;
    options.unwatched = unwatched;
    scene_new(scene, "mesh:3x2", "lattice:12x10", &options);
    assert_int_equal(cluster_submit(scene->cluster, 1, "job", &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 120);
}

static void
a_job_that_has_settled_is_well(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene, 0);
    for (uint32_t p = 0; p < HOSTS; p++) {
        const Lbm__JobEntry *job = scene_job(&scene, p);
        assert_string_equal(job->state, "SETTLED");
        assert_int_equal(job->condition, LBM_CONDITION_WELL);
        assert_int_equal(job->idle + job->lost, 0);
        assert_int_equal(job->known, VERTICES);
        assert_true(job->imbalance_known && job->imbalance >= 0 && job->imbalance <= 0.06);
        assert_string_equal(job->reason, "");
    }
    scene_free(&scene);
}

/* The one that is cut off says it of all others, and of itself once its lease is over. */
static void
what_is_not_heard_is_idle(void **state)
{
    struct scene scene;
    uint32_t had;
    (void)state;
    settle(&scene, 0);
    had = scene_job(&scene, 3)->host_vertices[3];
    assert_true(had > 0);
    for (uint32_t p = 0; p < HOSTS; p++)
        if (p != 3)
            cluster_cut(scene.cluster, 3, p, 1);
    pass(&scene, 5);
    const Lbm__JobEntry *job = scene_job(&scene, 4);
    assert_string_equal(job->state, "DEGRADED");
    assert_true(job->idle >= had);
    assert_false(job->settled || job->imbalance_known || strcmp(job->phase, "SETTLED") == 0);
    assert_non_null(strstr(job->reason, "host 3"));
    job = scene_job(&scene, 3);
    assert_string_equal(job->state, "DEGRADED");
    assert_true(job->idle >= VERTICES - had);
    pass(&scene, 5);
    job = scene_job(&scene, 3);
    assert_int_equal(job->idle, VERTICES);
    scene_free(&scene);
}

/* A mirror of the last: pings alone are missing. */
static void
old_pings_are_no_news(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene, 0);
    cluster_hold(scene.cluster, "ping", 3, 4);
    pass(&scene, 6);
    const Lbm__JobEntry *job = scene_job(&scene, 4);
    assert_string_equal(job->state, "DEGRADED");
    assert_string_equal(scene_job(&scene, 5)->state, "SETTLED");
    scene_free(&scene);
}

static enum lbm_err
set_capacity(struct scene *scene, uint32_t at, double capacity, uint64_t key, char text[LBM_DIAG_TEXT_MAX])
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    change.action = LBM__HOST_ACTION__HOST_SET;
    change.host = 2;
    change.capacity = capacity;
    request.key = key;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    const Lbm__Response *response = cluster_ask(scene->cluster, at, 0, &request);
    assert_non_null(response);
    snprintf(text, LBM_DIAG_TEXT_MAX, "%s", response->text);
    return (enum lbm_err)response->code;
}

static double
capacity_at(struct scene *scene, uint32_t at)
{
    return scene_hosts(scene, at)->hosts[2]->capacity;
}

/* Also when it comes by way of another host, which knows it from the log. */
static void
a_request_takes_effect_once(void **state)
{
    struct scene scene;
    char text[LBM_DIAG_TEXT_MAX];
    (void)state;
    settle(&scene, 0);
    assert_int_equal(set_capacity(&scene, 1, 1.5, 1000001, text), LBM_OK);
    assert_int_equal(set_capacity(&scene, 1, 2, 1000002, text), LBM_OK);
    pass(&scene, 1);
    assert_int_equal(set_capacity(&scene, 1, 1.5, 1000001, text), LBM_OK);
    assert_int_equal(set_capacity(&scene, 4, 1.5, 1000001, text), LBM_OK);
    pass(&scene, 1);
    assert_true(capacity_at(&scene, 0) == 2);
    assert_int_equal(set_capacity(&scene, 4, 1.5, 1000003, text), LBM_OK);
    pass(&scene, 1);
    assert_true(capacity_at(&scene, 0) == 1.5);
    scene_free(&scene);
}

static void
a_request_ends_and_says_whom_it_waited_for(void **state)
{
    struct scene scene;
    char text[LBM_DIAG_TEXT_MAX];
    (void)state;
    settle(&scene, 0);
    cluster_stop(scene.cluster, 0);
    int64_t begin = cluster_now(scene.cluster);
    cluster_cancel(scene.cluster, 1, "job");
    pass(&scene, 11);
    const Lbm__Response *response = cluster_reply(scene.cluster, 1, 0);
    assert_non_null(response);
    assert_int_equal(response->code, LBM_E_TIMEOUT);
    assert_non_null(strstr(response->text, "host 0"));
    assert_true(cluster_now(scene.cluster) - begin <= 11 * SECOND);
    cluster_continue(scene.cluster, 0);
    pass(&scene, 10);
    assert_int_equal(set_capacity(&scene, 4, 1.5, 0, text), LBM_OK);
    for (uint32_t p = 0; p < HOSTS; p++)
        assert_true(cluster_has_job(scene.cluster, p, "job"));
    scene_free(&scene);
}

/* ---- alerts -----------------------------------------------------------------------------------------------
 */

static int
has_alert(struct scene *scene, uint32_t at, const char *id, const char *text)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_STATUS;
    request.status = &empty;
    const Lbm__StatusReply *status = scene_ask(scene, at, &request)->status;
    for (size_t i = 0; i < status->n_alerts; i++)
        if (strcmp(status->alerts[i]->id, id) == 0)
            return strstr(status->alerts[i]->text, text) != NULL;
    return 0;
}

/* Lines of the log of a host that have the text. */
static uint32_t
lines(struct scene *scene, uint32_t at, const char *text)
{
    Lbm__EventsRequest events = LBM__EVENTS_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    uint32_t n = 0;
    request.what_case = LBM__REQUEST__WHAT_EVENTS;
    request.events = &events;
    const Lbm__EventsReply *reply = scene_ask(scene, at, &request)->events;
    for (size_t i = 0; i < reply->n_events; i++)
        n += strstr(reply->events[i]->text, text) != NULL;
    return n;
}

/* Told at once, once a minute while it lasts, and when it is over. */
static void
a_standstill_is_announced(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene, 0);
    for (uint32_t p = 0; p < HOSTS; p++)
        assert_false(has_alert(&scene, p, "no-leader", ""));
    cluster_stop(scene.cluster, 0);
    pass(&scene, 10);
    assert_true(has_alert(&scene, 4, "no-leader", "host 0"));
    assert_true(has_alert(&scene, 4, "host-unreachable", "host 0"));
    assert_true(has_alert(&scene, 4, "eviction-held-back", "orders the control log"));
    assert_true(has_alert(&scene, 4, "job-degraded", "host 0"));
    assert_int_equal(lines(&scene, 4, "[no-leader] for"), 1);
    pass(&scene, 60);
    assert_int_equal(lines(&scene, 4, "[no-leader] for"), 2);
    assert_int_equal(lines(&scene, 4, "[no-leader] is over"), 0);
    cluster_continue(scene.cluster, 0);
    pass(&scene, 20);
    assert_int_equal(lines(&scene, 4, "[no-leader] is over"), 1);
    for (uint32_t p = 0; p < HOSTS; p++) {
        assert_false(has_alert(&scene, p, "no-leader", ""));
        assert_false(has_alert(&scene, p, "job-degraded", ""));
    }
    scene_free(&scene);
}

static void
a_link_that_carries_one_way_is_announced(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene, 0);
    cluster_hold(scene.cluster, "ping", 4, 5);
    pass(&scene, 6);
    assert_true(has_alert(&scene, 4, "one-way-link", "host 5"));
    assert_false(has_alert(&scene, 5, "one-way-link", ""));
    cluster_pass(scene.cluster, 4, 5);
    pass(&scene, 3);
    assert_false(has_alert(&scene, 4, "one-way-link", ""));
    scene_free(&scene);
}

static void
use_disk(struct scene *scene, uint32_t host, double used)
{
    struct lbm_event event = {.kind = LBM_EVENT_DISK, .as.used = used};
    step(scene->cluster, host, &event);
    pass(scene, 1);
}

static void
a_disk_that_fills_is_announced(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene, 0);
    use_disk(&scene, 2, 0.79);
    assert_false(has_alert(&scene, 2, "disk-full", ""));
    use_disk(&scene, 2, 0.85);
    assert_true(has_alert(&scene, 2, "disk-full", "85 %"));
    assert_false(has_alert(&scene, 3, "disk-full", ""));
    use_disk(&scene, 2, 0.5);
    assert_false(has_alert(&scene, 2, "disk-full", ""));
    scene_free(&scene);
}

/* ---- losses ----------------------------------------------------------------------------------------------
 */

static enum lbm_err
evict(struct scene *scene, uint32_t at, uint32_t host)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    change.action = LBM__HOST_ACTION__HOST_EVICT;
    change.host = host;
    change.lost = 1;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    const Lbm__Response *response = cluster_ask(scene->cluster, at, 0, &request);
    return response != NULL ? (enum lbm_err)response->code : LBM_E_TIMEOUT;
}

static int
is_given_up(struct cluster *cluster, void *arg)
{
    const Lbm__JobEntry *job = cluster_job(cluster, *(uint32_t *)arg, "job");
    return job != NULL && strcmp(job->state, "LOST") == 0 && job->idle == job->lost;
}

/* A host and its backup go with their disks, and operators give both up. Out: part [VERTICES], as it was.
 * Value: a host that is left. */
static uint32_t
lose_two(struct scene *scene, uint32_t *part, uint32_t *first, uint32_t *second)
{
    const Lbm__HostsReply *hosts = scene_hosts(scene, 0);
    uint32_t host = 1, left;
    while (hosts->hosts[host]->backup == 0)
        host++;
    *first = host;
    *second = hosts->hosts[host]->backup;
    for (left = 1; left == *first || left == *second;)
        left++;
    scene_owners(scene, part);
    cluster_crash(scene->cluster, *first);
    cluster_crash(scene->cluster, *second);
    cluster_lose_disk(scene->cluster, *first);
    cluster_lose_disk(scene->cluster, *second);
    pass(scene, 6);
    assert_string_equal(scene_job(scene, left)->state, "DEGRADED");
    for (int i = 0; i < 60 && !is_given_up(scene->cluster, &left); i++) {
        (void)evict(scene, left, *second);
        (void)evict(scene, left, *first);
        pass(scene, 1);
    }
    assert_true(is_given_up(scene->cluster, &left));
    return left;
}

static enum lbm_err
recover(struct scene *scene, uint32_t at, const uint32_t *vertex, uint32_t n)
{
    char name[] = "job";
    Lbm__RecoverBegin begin = LBM__RECOVER_BEGIN__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    begin.job = name;
    begin.vertices = n;
    request.what_case = LBM__REQUEST__WHAT_RECOVER_BEGIN;
    request.recover_begin = &begin;
    const Lbm__Response *response = scene_ask(scene, at, &request);
    if (response->code != LBM_OK)
        return (enum lbm_err)response->code;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t first = scene->g.offset[vertex[i]];
        uint32_t degree = (uint32_t)(scene->g.offset[vertex[i] + 1] - first), work = 1, len = 0,
                 id = vertex[i];
        uint32_t weight[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        Lbm__RecoverRows rows = LBM__RECOVER_ROWS__INIT;
        rows.n_vertex = rows.n_work = rows.n_degree = rows.n_payload_len = 1;
        rows.vertex = &id;
        rows.work = &work;
        rows.degree = &degree;
        rows.payload_len = &len;
        rows.n_neighbour = rows.n_weight = degree;
        rows.neighbour = &scene->g.target[first];
        rows.weight = weight;
        Lbm__Request more = LBM__REQUEST__INIT;
        more.what_case = LBM__REQUEST__WHAT_RECOVER_ROWS;
        more.recover_rows = &rows;
        response = scene_ask(scene, at, &more);
        if (response->code != LBM_OK)
            return (enum lbm_err)response->code;
    }
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request end = LBM__REQUEST__INIT;
    end.what_case = LBM__REQUEST__WHAT_RECOVER_END;
    end.recover_end = &empty;
    response = cluster_ask(scene->cluster, at, 0, &end);
    return response != NULL ? (enum lbm_err)response->code : LBM_E_TIMEOUT;
}

static void
lost_vertices_begin_again(void **state)
{
    struct scene scene;
    uint32_t part[VERTICES], vertex[VERTICES], n = 0, first, second;
    (void)state;
    settle(&scene, 1);
    uint32_t left = lose_two(&scene, part, &first, &second);
    for (uint32_t v = 0; v < VERTICES; v++)
        if (part[v] == first || part[v] == second)
            vertex[n++] = v;
    const Lbm__JobEntry *job = scene_job(&scene, left);
    uint32_t lost = job->lost;
    assert_true(lost > 0 && lost <= n);
    assert_int_equal(job->condition, LBM_CONDITION_LOST);
    assert_non_null(strstr(job->reason, "recover"));
    /* What the second had, its own backup has; what the first had is lost. */
    n = 0;
    for (uint32_t v = 0; v < VERTICES; v++)
        if (part[v] == first)
            vertex[n++] = v;
    assert_int_equal(lost, n);
    assert_int_equal(recover(&scene, left, vertex, n - 1), LBM_E_STATE); /* there are more */
    assert_int_equal(recover(&scene, left, vertex, n), LBM_OK);
    assert_int_equal(recover(&scene, left, vertex, n), LBM_E_STATE); /* nothing is lost any more */
    scene_expect_settled(&scene, 120);
    for (uint32_t p = 0; p < HOSTS; p++)
        if (cluster_is_up(scene.cluster, p))
            assert_string_equal(scene_job(&scene, p)->state, "SETTLED");
    scene_owners(&scene, part);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_has_settled_is_well),
        cmocka_unit_test(what_is_not_heard_is_idle),
        cmocka_unit_test(old_pings_are_no_news),
        cmocka_unit_test(a_request_takes_effect_once),
        cmocka_unit_test(a_request_ends_and_says_whom_it_waited_for),
        cmocka_unit_test(a_standstill_is_announced),
        cmocka_unit_test(a_link_that_carries_one_way_is_announced),
        cmocka_unit_test(a_disk_that_fills_is_announced),
        cmocka_unit_test(lost_vertices_begin_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
