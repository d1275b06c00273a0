/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts know of the moves of vertices, in virtual time: every move has its reason, and gains add up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "map/map.h"
#include "node/migration/history.h"
#include "tests/unit/node/cluster_fixture.h"

enum { SIDE = 16 };

static const Lbm__Response *
ask(struct scene *scene, uint32_t host, const char *job, uint32_t vertex)
{
    char name[16];
    strncpy(name, job, sizeof name - 1);
    name[sizeof name - 1] = '\0';
    Lbm__ExplainRequest explain = LBM__EXPLAIN_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    explain.job = name;
    explain.vertex = vertex;
    request.what_case = LBM__REQUEST__WHAT_EXPLAIN;
    request.explain = &explain;
    const Lbm__Response *response = cluster_ask(scene->cluster, host, 0, &request);
    assert_non_null(response);
    return response;
}

static const Lbm__ExplainReply *
explain(struct scene *scene, uint32_t host, uint32_t vertex)
{
    const Lbm__Response *response = ask(scene, host, "job", vertex);
    assert_int_equal(response->code, LBM_OK);
    assert_int_equal(response->explain->vertex, vertex);
    return response->explain;
}

/* The moves of a vertex lead from its coordinator to where it is. Returns the reason of the last. */
static enum lbm_move_reason
expect_chain(struct scene *scene, uint32_t host, uint32_t vertex, uint32_t owner)
{
    const Lbm__ExplainReply *reply = explain(scene, host, vertex);
    uint32_t at = reply->coordinator;
    uint64_t epoch = 1;
    enum lbm_move_reason reason = LBM_MOVE_SUBMIT;
    assert_int_equal(reply->host, owner);
    assert_int_equal(reply->n_missing, 0);
    for (size_t i = 0; i < reply->n_moves; i++) {
        const Lbm__Move *move = reply->moves[i];
        assert_int_equal(move->state, LBM_MOVE_ARRIVED);
        assert_int_equal(move->from, at);
        assert_int_equal(move->epoch, epoch + 1);
        assert_true(move->bytes > 0 || move->reason == LBM_MOVE_TAKE_OVER);
        assert_true(move->took_s >= 0 && move->age_s >= move->took_s);
        at = move->to;
        epoch = move->epoch;
        reason = (enum lbm_move_reason)move->reason;
    }
    assert_int_equal(at, owner);
    assert_int_equal(epoch, reply->epoch);
    return reason;
}

static void
settle(struct scene *scene, const char *hosts, enum lbm_start start)
{
    scene_new(scene, hosts, "lattice:16x16", &scene_without_faults);
    assert_int_equal(cluster_submit(scene->cluster, 0, "job", &scene->g, start), LBM_OK);
    scene_expect_settled(scene, 120);
}

static void
every_vertex_has_a_chain_from_its_coordinator(void **state)
{
    static const struct {
        enum lbm_start start;
        enum lbm_move_reason reason;
    } cases[] = {{LBM_START_PLAN, LBM_MOVE_PLAN}, {LBM_START_CENTRE, LBM_MOVE_REGION}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct scene scene;
        uint32_t part[SIDE * SIDE], n = 0;
        settle(&scene, "mesh:2x2", cases[k].start);
        scene_owners(&scene, part);
        for (uint32_t v = 0; v < SIDE * SIDE; v++)
            n += expect_chain(&scene, v % 4, v, part[v]) == cases[k].reason;
        assert_in_range(n, SIDE * SIDE / 2, SIDE * SIDE);
        scene_free(&scene);
    }
}

/* Both hosts of a chain take part in every move, and keep 1024 of more. */
static void
the_last_moves_are_kept(void **state)
{
    enum { FLIPS = 24, KEPT = 1024 };
    struct scene scene;
    uint64_t made = 0, told = 0;
    (void)state;
    settle(&scene, "chain:2", LBM_START_PLAN);
    for (int i = 0; i < FLIPS; i++) {
        assert_int_equal(scene_set_capacity(scene.cluster, 0, 0, i % 2 == 0 ? 3 : 1), LBM_OK);
        cluster_run(scene.cluster, 2000000, NULL, NULL);
        scene_expect_settled(&scene, 60);
    }
    for (uint32_t v = 0; v < SIDE * SIDE; v++) {
        const Lbm__ExplainReply *reply = explain(&scene, v % 2, v);
        made += reply->epoch - 1;
        told += reply->n_moves;
        for (size_t i = 1; i < reply->n_moves; i++)
            assert_int_equal(reply->moves[i]->epoch, reply->moves[i - 1]->epoch + 1);
        if (reply->n_moves != 0) {
            assert_int_equal(reply->moves[reply->n_moves - 1]->to, reply->host);
            assert_int_equal(reply->moves[reply->n_moves - 1]->epoch, reply->epoch);
        }
    }
    assert_true(made > KEPT);
    assert_int_equal(told, KEPT);
    scene_free(&scene);
}

static void
what_cannot_be_explained_is_refused(void **state)
{
    struct scene scene;
    (void)state;
    settle(&scene, "chain:2", LBM_START_PLAN);
    const Lbm__Response *response = ask(&scene, 1, "nobody", 0);
    assert_int_equal(response->code, LBM_E_NOTFOUND);
    assert_non_null(strstr(response->text, "no job named nobody"));
    response = ask(&scene, 1, "job", SIDE * SIDE);
    assert_int_equal(response->code, LBM_E_RANGE);
    assert_non_null(strstr(response->text, "vertices 0 to 255"));
    scene_free(&scene);
}

static void
change(struct scene *scene, uint32_t host, Lbm__HostAction action)
{
    Lbm__HostChange asked = LBM__HOST_CHANGE__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    asked.action = (uint32_t)action;
    asked.host = host;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &asked;
    assert_int_equal(cluster_ask(scene->cluster, 0, 0, &request)->code, LBM_OK);
}

static void
vertices_of_a_host_that_drains_say_so(void **state)
{
    struct scene scene;
    uint32_t before[SIDE * SIDE], after[SIDE * SIDE];
    (void)state;
    settle(&scene, "mesh:2x2", LBM_START_PLAN);
    scene_owners(&scene, before);
    change(&scene, 3, LBM__HOST_ACTION__HOST_DRAIN);
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    scene_owners(&scene, after);
    for (uint32_t v = 0; v < SIDE * SIDE; v++) {
        const Lbm__ExplainReply *reply = explain(&scene, 0, v);
        size_t n = 0;
        for (size_t i = 0; i < reply->n_moves; i++)
            n += reply->moves[i]->reason == LBM_MOVE_DRAIN;
        assert_int_equal(n, before[v] == 3);
        assert_true(after[v] != 3 && reply->host == after[v]);
    }
    scene_free(&scene);
}

static void
vertices_of_a_lost_host_say_who_took_over(void **state)
{
    struct scene scene;
    uint32_t before[SIDE * SIDE];
    (void)state;
    settle(&scene, "mesh:2x2", LBM_START_PLAN);
    scene_owners(&scene, before);
    cluster_crash(scene.cluster, 3);
    change(&scene, 3, LBM__HOST_ACTION__HOST_EVICT);
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    for (uint32_t v = 0; v < SIDE * SIDE; v++) {
        const Lbm__ExplainReply *reply = explain(&scene, 0, v);
        size_t n = 0;
        for (size_t i = 0; i < reply->n_moves; i++)
            n += reply->moves[i]->reason == LBM_MOVE_TAKE_OVER && reply->moves[i]->from == 3;
        assert_int_equal(n, before[v] == 3);
    }
    scene_free(&scene);
}

/* Vertices of the left third become dear. */
static double
costs(void *arg, uint32_t vertex, int64_t now_us)
{
    (void)now_us;
    return vertex % SIDE < SIDE / 3 ? *(double *)arg : 100;
}

static double
cost_of(const struct scene *scene, const uint32_t *part)
{
    return (double)lbm_map_hop_bytes(&scene->g, &scene->h, part);
}

/* Between two hosts nobody else changes anything, so the cost changes by what moves gain. */
static void
gains_add_up_to_the_change_of_the_cost(void **state)
{
    struct scene scene;
    uint32_t before[SIDE * SIDE], after[SIDE * SIDE], n = 0, n_balance = 0;
    double dear = 100, sum = 0;
    (void)state;
    settle(&scene, "chain:2", LBM_START_PLAN);
    cluster_report_loads(scene.cluster, costs, &dear);
    for (uint32_t p = 0; p < 2; p++)
        cluster_run_application(scene.cluster, p, "job", CLIENT_MODEL_OBEDIENT);
    cluster_run(scene.cluster, 20000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    scene_owners(&scene, before);
    double since_s = (double)cluster_now(scene.cluster) / 1e6;
    dear = 300;
    cluster_run(scene.cluster, 30000000, NULL, NULL);
    scene_expect_settled(&scene, 60);
    scene_owners(&scene, after);
    for (uint32_t v = 0; v < SIDE * SIDE; v++) {
        const Lbm__ExplainReply *reply = explain(&scene, 1, v);
        double now_s = (double)cluster_now(scene.cluster) / 1e6;
        for (size_t i = 0; i < reply->n_moves; i++) {
            const Lbm__Move *move = reply->moves[i];
            if (now_s - move->age_s < since_s)
                continue;
            assert_int_equal(move->gain_is_known, 1);
            assert_true(move->waited_s > 0 && move->together > 0);
            assert_true(move->share_from > 0 && move->share_to > 0);
            sum += move->gain;
            n_balance += move->reason == LBM_MOVE_BALANCE;
            n++;
        }
    }
    assert_in_range(n, 10, SIDE * SIDE);
    assert_in_range(n_balance, 5, n);
    assert_true(fabs(cost_of(&scene, before) - cost_of(&scene, after) - sum) < 1e-6);
    scene_free(&scene);
}

static void
restart(struct scene *scene, uint32_t host)
{
    cluster_kill(scene->cluster, host, CRASH_ALL);
    cluster_restart(scene->cluster, host);
    cluster_run(scene->cluster, 5000000, NULL, NULL);
}

/* How many vertices are known to have gone because of the plan, in `n_moves` moves. */
static uint32_t
count_planned(struct scene *scene, size_t *n_moves)
{
    uint32_t n = 0;
    *n_moves = 0;
    for (uint32_t v = 0; v < SIDE * SIDE; v++) {
        const Lbm__ExplainReply *reply = explain(scene, 1, v);
        *n_moves += reply->n_moves;
        for (size_t i = 0; i < reply->n_moves; i++) {
            const Lbm__Move *move = reply->moves[i];
            n += move->reason == LBM_MOVE_PLAN;
            assert_true(move->bytes > 0 && move->state == LBM_MOVE_ARRIVED);
        }
    }
    return n;
}

/* What a daemon knows is lost with it; that others know of it is not. */
static void
a_taker_tells_what_its_giver_has_forgotten(void **state)
{
    struct scene scene;
    size_t n_moves;
    (void)state;
    settle(&scene, "chain:2", LBM_START_PLAN);
    uint32_t n = count_planned(&scene, &n_moves);
    assert_in_range(n, SIDE * SIDE / 3, SIDE * SIDE);
    restart(&scene, 0);
    assert_int_equal(count_planned(&scene, &n_moves), n);
    restart(&scene, 1);
    assert_int_equal(count_planned(&scene, &n_moves), 0);
    assert_int_equal(n_moves, 0);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vertex_has_a_chain_from_its_coordinator),
        cmocka_unit_test(the_last_moves_are_kept),
        cmocka_unit_test(what_cannot_be_explained_is_refused),
        cmocka_unit_test(vertices_of_a_host_that_drains_say_so),
        cmocka_unit_test(vertices_of_a_lost_host_say_who_took_over),
        cmocka_unit_test(gains_add_up_to_the_change_of_the_cost),
        cmocka_unit_test(a_taker_tells_what_its_giver_has_forgotten),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
