/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/node/cluster_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "map/map.h"

const struct cluster_options scene_without_faults = {
    .seed = 1, .delay_least_us = 100, .delay_most_us = 300, .sync_us = 2000, .limited_host = LBM_NONE};

const Lbm__Response *
scene_ask(struct scene *scene, uint32_t host, Lbm__Request *request)
{
    cluster_request(scene->cluster, host, 0, request);
    return cluster_reply(scene->cluster, host, 0);
}

const Lbm__HostsReply *
scene_hosts(struct scene *scene, uint32_t host)
{
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    return scene_ask(scene, host, &request)->hosts;
}

int
scene_is_active(struct cluster *cluster, void *arg)
{
    struct scene *scene = arg;
    uint32_t n_up = 0;
    for (uint32_t p = 0; p < scene->h.n; p++)
        n_up += (uint32_t)cluster_is_up(cluster, p);
    for (uint32_t p = 0; p < scene->h.n; p++) {
        if (!cluster_is_up(cluster, p))
            continue;
        const Lbm__HostsReply *hosts = scene_hosts(scene, p);
        if (hosts->n_hosts != n_up)
            return 0;
        for (size_t i = 0; i < hosts->n_hosts; i++)
            if (strcmp(hosts->hosts[i]->state, "ACTIVE") != 0)
                return 0;
    }
    return 1;
}

void
scene_new(struct scene *scene, const char *hosts, const char *guest, const struct cluster_options *options)
{
    struct lbm_diag diag;
    *scene = (struct scene){0};
    assert_int_equal(lbm_hosts_generate(hosts, &scene->h, &diag), LBM_OK);
    assert_int_equal(lbm_graph_generate(guest, 1, &scene->g, &diag), LBM_OK);
    scene->cluster = cluster_new(&scene->h, options);
    assert_true(cluster_run(scene->cluster, 20000000, scene_is_active, scene));
}

void
scene_free(struct scene *scene)
{
    cluster_free(scene->cluster);
    lbm_hosts_free(&scene->h);
    lbm_graph_free(&scene->g);
}

int
scene_is_settled(struct cluster *cluster, void *arg)
{
    return cluster_settled(cluster, arg);
}

void
scene_expect_settled(struct scene *scene, int seconds)
{
    char name[] = "job";
    assert_true(cluster_run(scene->cluster, (int64_t)seconds * 1000000, scene_is_settled, name));
}

void
scene_owners(struct scene *scene, uint32_t *part)
{
    uint32_t doubles, none;
    cluster_owners(scene->cluster, scene->g.n, part, &doubles, &none);
    assert_int_equal(doubles, 0);
    assert_int_equal(none, 0);
}

uint64_t
scene_planned(const struct scene *scene)
{
    struct lbm_plan_options options;
    struct lbm_plan plan;
    struct lbm_diag diag;
    lbm_plan_defaults(&options);
    assert_int_equal(lbm_plan_make(&scene->g, &scene->h, &options, &plan, &diag), LBM_OK);
    uint64_t hop_bytes = lbm_map_hop_bytes(&scene->g, &scene->h, plan.part);
    lbm_plan_free(&plan);
    return hop_bytes;
}

uint64_t
scene_hop_bytes(struct scene *scene)
{
    uint32_t *part = calloc(scene->g.n, sizeof *part);
    uint64_t *limit = calloc(scene->h.n, sizeof *limit), *load = calloc(scene->h.n, sizeof *load);
    scene_owners(scene, part);
    assert_int_equal(lbm_map_limits(&scene->g, &scene->h, 0.03, limit), LBM_OK);
    lbm_map_loads(&scene->g, scene->h.n, part, load);
    assert_int_equal(lbm_map_excess(scene->h.n, load, limit), 0);
    uint64_t hop_bytes = lbm_map_hop_bytes(&scene->g, &scene->h, part);
    free(part);
    free(limit);
    free(load);
    return hop_bytes;
}

void
scene_expect_pins(enum lbm_start start)
{
    struct scene scene;
    scene_new(&scene, "mesh:3x3", "airfoil:1500", &scene_without_faults);
    scene.g.pin = calloc(scene.g.n, sizeof *scene.g.pin);
    for (uint32_t v = 0; v < scene.g.n; v++)
        scene.g.pin[v] = v % 50 == 0 ? v / 50 % scene.h.n : LBM_NONE;
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, start), LBM_OK);
    scene_expect_settled(&scene, 200);
    uint32_t *part = calloc(scene.g.n, sizeof *part);
    scene_owners(&scene, part);
    for (uint32_t v = 0; v < scene.g.n; v += 50)
        assert_int_equal(part[v], scene.g.pin[v]);
    free(part);
    scene_free(&scene);
}

uint64_t
scene_largest_load(struct scene *scene)
{
    uint32_t *part = calloc(scene->g.n, sizeof *part);
    uint64_t *load = calloc(scene->h.n, sizeof *load), most = 0;
    scene_owners(scene, part);
    lbm_map_loads(&scene->g, scene->h.n, part, load);
    for (uint32_t p = 0; p < scene->h.n; p++)
        most = load[p] > most ? load[p] : most;
    free(part);
    free(load);
    return most;
}

enum lbm_err
scene_set_capacity(struct cluster *cluster, uint32_t at, uint32_t host, double capacity)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = LBM__HOST_ACTION__HOST_SET;
    change.host = host;
    change.capacity = capacity;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    const Lbm__Response *response = cluster_ask(cluster, at, 0, &request);
    return response != NULL ? (enum lbm_err)response->code : LBM_E_TIMEOUT;
}

const Lbm__JobEntry *
scene_job(struct scene *scene, uint32_t host)
{
    char name[] = "job";
    Lbm__JobsRequest jobs = LBM__JOBS_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    jobs.name = name;
    request.what_case = LBM__REQUEST__WHAT_JOBS;
    request.jobs = &jobs;
    const Lbm__Response *response = scene_ask(scene, host, &request);
    assert_int_equal(response->code, LBM_OK);
    return response->jobs->jobs[0];
}
