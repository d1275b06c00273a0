/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest that several hosts read, in virtual time: each vertex is owned once whatever happens meanwhile, and
 * what does not fit together is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "map/map.h"
#include "sim/model/cluster.h"
#include "tests/unit/node/cluster_fixture.h"

static const char name[] = "job";

/* Begin part i of n at host i. Returns the code of the answer. */
static uint32_t
begin_part(struct scene *scene, uint32_t i, uint32_t n, uint32_t host)
{
    char copy[sizeof name];
    memcpy(copy, name, sizeof name);
    Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
    begin.name = copy;
    begin.vertices = scene->g.n;
    begin.edges = lbm_graph_directions(&scene->g) / 2;
    begin.start = LBM_START_DIFFUSE;
    begin.seed = 1;
    begin.imbalance = 0.03;
    begin.parts = n;
    begin.part = i;
    begin.first = scene->g.n * i / n;
    begin.rows = scene->g.n * (i + 1) / n - begin.first;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_BEGIN;
    request.submit_begin = &begin;
    const Lbm__Response *response = cluster_ask(scene->cluster, host, 0, &request);
    return response != NULL ? response->code : LBM_E_TIMEOUT;
}

/* The rows, and their end, whose answer is not waited for. */
static void
send_part(struct scene *scene, uint32_t i, uint32_t n, uint32_t host)
{
    const struct lbm_graph *g = &scene->g;
    uint32_t first = g->n * i / n, end = g->n * (i + 1) / n, *degree = calloc(end - first, sizeof *degree);
    for (uint32_t v = first; v < end; v++)
        degree[v - first] = (uint32_t)(g->offset[v + 1] - g->offset[v]);
    Lbm__SubmitRows rows = LBM__SUBMIT_ROWS__INIT;
    rows.n_degree = end - first;
    rows.degree = degree;
    rows.n_neighbour = g->offset[end] - g->offset[first];
    rows.neighbour = g->target + g->offset[first];
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_ROWS;
    request.submit_rows = &rows;
    const Lbm__Response *response = cluster_ask(scene->cluster, host, 0, &request);
    assert_non_null(response);
    assert_int_equal(response->code, LBM_OK);
    free(degree);
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request done = LBM__REQUEST__INIT;
    done.what_case = LBM__REQUEST__WHAT_SUBMIT_END;
    done.submit_end = &empty;
    cluster_request(scene->cluster, host, 0, &done);
}

static void
submit_parts(struct scene *scene, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(begin_part(scene, i, n, i), LBM_OK);
    for (uint32_t i = 0; i < n; i++)
        send_part(scene, i, n, i);
}

static int
knows_job(struct cluster *cluster, void *arg)
{
    (void)arg;
    return cluster_has_job(cluster, 0, name);
}

/* No host has the guest, and J comes near that of a plan. */
static void
parts_become_a_mapping(void **state)
{
    (void)state;
    struct scene scene;
    struct lbm_plan_options options;
    struct lbm_plan plan;
    struct lbm_diag diag;
    scene_new(&scene, "mesh:3x3", "airfoil:2500", &scene_without_faults);
    submit_parts(&scene, 9);
    assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
    scene_expect_settled(&scene, 60);
    uint32_t *part = calloc(scene.g.n, sizeof *part);
    scene_owners(&scene, part);
    lbm_plan_defaults(&options);
    assert_int_equal(lbm_plan_make(&scene.g, &scene.h, &options, &plan, &diag), LBM_OK);
    assert_true((double)lbm_map_hop_bytes(&scene.g, &scene.h, part) <=
                1.15 * (double)lbm_map_hop_bytes(&scene.g, &scene.h, plan.part));
    assert_in_range(scene_largest_load(&scene), 1, scene.g.n / 9 * 103 / 100 + 1);
    lbm_plan_free(&plan);
    free(part);
    scene_free(&scene);
}

/* ---- a guest that one host reads, and spreads ---- */

static uint32_t
begin_spread(struct scene *scene, uint32_t host)
{
    char copy[sizeof name];
    memcpy(copy, name, sizeof name);
    Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
    begin.name = copy;
    begin.vertices = scene->g.n;
    begin.edges = lbm_graph_directions(&scene->g) / 2;
    begin.start = LBM_START_DIFFUSE;
    begin.seed = 1;
    begin.imbalance = 0.03;
    begin.spread = 1;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_BEGIN;
    request.submit_begin = &begin;
    const Lbm__Response *response = cluster_ask(scene->cluster, host, 0, &request);
    return response != NULL ? response->code : LBM_E_TIMEOUT;
}

static int
is_refused(struct cluster *cluster, void *arg)
{
    const Lbm__Response *response = cluster_reply(cluster, *(uint32_t *)arg, 0);
    return response != NULL && response->code != LBM_OK;
}

/* Each host has a part of it before the job begins, the one that reads no more than others. */
static void
a_guest_is_spread_as_it_is_read(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:3x3", "airfoil:2500", &scene_without_faults);
    assert_int_equal(begin_spread(&scene, 4), LBM_OK);
    send_part(&scene, 0, 1, 4); /* all rows in one message */
    assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
    assert_in_range(scene_largest_load(&scene), scene.g.n / 9, scene.g.n / 9 + 1);
    scene_expect_settled(&scene, 60);
    assert_true((double)scene_hop_bytes(&scene) <= 1.15 * (double)scene_planned(&scene));
    scene_free(&scene);
}

/* The end of a guest whose rows have not come is refused; later it may be read again. */
static void
rows_that_do_not_come_are_no_job(void **state)
{
    (void)state;
    struct scene scene;
    uint32_t host = 0;
    scene_new(&scene, "mesh:2x2", "lattice:20x20", &scene_without_faults);
    assert_int_equal(begin_spread(&scene, host), LBM_OK);
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request done = LBM__REQUEST__INIT;
    done.what_case = LBM__REQUEST__WHAT_SUBMIT_END;
    done.submit_end = &empty;
    cluster_request(scene.cluster, host, 0, &done); /* without any rows */
    assert_true(cluster_run(scene.cluster, 10000000, is_refused, &host));
    cluster_run(scene.cluster, 130000000, NULL, NULL);
    assert_false(cluster_has_job(scene.cluster, 1, name));
    assert_int_equal(begin_spread(&scene, host), LBM_OK);
    send_part(&scene, 0, 1, host);
    assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
    scene_expect_settled(&scene, 60);
    scene_free(&scene);
}

/* Vertex v becomes `step` v, modulo their number, so that neighbours are all over the guest. */
static void
scatter(struct lbm_graph *g, uint32_t step)
{
    struct lbm_edge *edges = calloc(lbm_graph_directions(g), sizeof *edges);
    size_t m = 0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                edges[m++] = (struct lbm_edge){v * step % g->n, g->target[e] * step % g->n, 1};
    uint32_t n = g->n;
    struct lbm_diag diag;
    lbm_graph_free(g);
    assert_int_equal(lbm_graph_build(n, edges, m, LBM_MERGE_REJECT, g, &diag), LBM_OK);
    free(edges);
}

/* Fewer readers than hosts, and rows whose neighbours are all over the guest: these diffuse first. */
static void
parts_without_neighbours_inside_diffuse(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "mesh:2x2", "lattice:20x20", &scene_without_faults);
    scatter(&scene.g, 161);
    submit_parts(&scene, 3);
    assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
    scene_expect_settled(&scene, 120);
    assert_in_range(scene_largest_load(&scene), 100, 103);
    scene_free(&scene);
}

/* Vertices of the host that owns most; those on their way have no owner. */
static uint32_t
most_owned(struct scene *scene)
{
    uint32_t *part = calloc(scene->g.n, sizeof *part), *owned = calloc(scene->h.n, sizeof *owned), most = 0;
    uint32_t doubles, none;
    cluster_owners(scene->cluster, scene->g.n, part, &doubles, &none);
    for (uint32_t v = 0; v < scene->g.n; v++)
        if (part[v] < scene->h.n && ++owned[part[v]] > most)
            most = owned[part[v]];
    free(part);
    free(owned);
    return most;
}

/* A guest without anchors gathers in the middle, and no host gets much of it for that. */
static void
no_host_gets_much_of_what_diffuses(void **state)
{
    (void)state;
    struct scene scene;
    char job[] = "job";
    scene_new(&scene, "mesh:4x4", "lattice:15x15x15", &scene_without_faults);
    scatter(&scene.g, 1237);
    submit_parts(&scene, 16);
    assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
    for (int i = 0; i < 600 && !scene_is_settled(scene.cluster, job); i++) {
        cluster_run(scene.cluster, 100000, scene_is_settled, job);
        assert_in_range(most_owned(&scene), 1, 2 * scene.g.n / 16);
    }
    assert_true(scene_is_settled(scene.cluster, job));
    scene_free(&scene);
}

static void
a_part_comes_once(void **state)
{
    (void)state;
    struct scene scene;
    scene_new(&scene, "chain:3", "lattice:8x8", &scene_without_faults);
    assert_int_equal(begin_part(&scene, 0, 2, 1), LBM_OK);
    assert_int_equal(begin_part(&scene, 0, 2, 2), LBM_E_STATE); /* host 1 reads it */
    assert_int_equal(begin_part(&scene, 1, 3, 2), LBM_E_STATE); /* of how many? */
    assert_int_equal(begin_part(&scene, 1, 2, 2), LBM_OK);
    send_part(&scene, 0, 2, 1);
    send_part(&scene, 1, 2, 2);
    assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
    assert_int_equal(begin_part(&scene, 0, 2, 0), LBM_E_STATE); /* the name is taken */
    scene_expect_settled(&scene, 60);
    scene_free(&scene);
}

/* Whoever crashes, at whatever moment: either all have the job, and every vertex has one owner, or none has.
 */
static void
crashes_leave_all_or_nothing(void **state)
{
    (void)state;
    int came = 0;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct cluster_options options = scene_without_faults;
        struct scene scene;
        options.seed = seed;
        options.sync_us = 20000;
        scene_new(&scene, "mesh:2x2", "lattice:12x12", &options);
        struct lbm_rng rng;
        lbm_rng_seed(&rng, seed);
        submit_parts(&scene, 4);
        cluster_run(scene.cluster, lbm_rng_below(&rng, 200000), NULL, NULL);
        uint32_t host = (uint32_t)seed % 4; /* the one that gathers, too */
        cluster_crash(scene.cluster, host);
        cluster_run(scene.cluster, lbm_rng_below(&rng, 400000), NULL, NULL);
        cluster_restart(scene.cluster, host);
        cluster_run(scene.cluster, 20000000, NULL, NULL);
        if (cluster_has_job(scene.cluster, 1, name)) {
            scene_expect_settled(&scene, 60);
            assert_in_range(scene_largest_load(&scene), 36, 38); /* and one owner each: see scene_owners */
            uint32_t *part = calloc(scene.g.n, sizeof *part);
            scene_owners(&scene, part);
            free(part);
            came++;
        } else { /* parts that others waited for in vain are let go of after two minutes, then all may be read
                    again */
            cluster_run(scene.cluster, 130000000, NULL, NULL);
            submit_parts(&scene, 4);
            assert_true(cluster_run(scene.cluster, 10000000, knows_job, NULL));
            scene_expect_settled(&scene, 60);
        }
        scene_free(&scene);
    }
    assert_in_range(came, 1, 23);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_become_a_mapping),
        cmocka_unit_test(a_guest_is_spread_as_it_is_read),
        cmocka_unit_test(rows_that_do_not_come_are_no_job),
        cmocka_unit_test(parts_without_neighbours_inside_diffuse),
        cmocka_unit_test(no_host_gets_much_of_what_diffuses),
        cmocka_unit_test(a_part_comes_once),
        cmocka_unit_test(crashes_leave_all_or_nothing),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
