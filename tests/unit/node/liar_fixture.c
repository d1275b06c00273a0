/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/liar_fixture.h"

void
liar_begin(struct scene *scene, const char *hosts, uint32_t operators, enum lbm_etcd_ability etcd)
{
    struct cluster_options options = scene_without_faults;
    options.operators = operators;
    options.etcd = etcd;
    liar_begin_with(scene, hosts, &options);
}

void
liar_begin_with(struct scene *scene, const char *hosts, const struct cluster_options *options)
{
    scene_new(scene, hosts, "lattice:8x8", options);
    cluster_trace(scene->cluster, 1);
    assert_int_equal(cluster_submit(scene->cluster, 0, "job", &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 60);
}

uint64_t
liar_job(struct scene *scene, uint32_t asked)
{
    return scene_job(scene, asked)->job;
}

int
liar_is_told(struct cluster *cluster, const char *text)
{
    return strstr(cluster_trace_text(cluster), text) != NULL;
}

void
liar_expect_told(struct cluster *cluster, const char *text)
{
    if (!liar_is_told(cluster, text))
        fail_msg("nobody is told \"%s\", but %.300s", text,
                 liar_is_told(cluster, "refused, as")
                     ? strstr(cluster_trace_text(cluster), "refused, as") - 200
                     : "nothing");
}

void
liar_expect_unharmed(struct scene *scene, uint32_t asked)
{
    uint32_t *part = calloc(scene->g.n, sizeof *part);
    const Lbm__HostsReply *hosts = scene_hosts(scene, asked);
    for (size_t i = 0; i < hosts->n_hosts; i++)
        assert_string_equal(hosts->hosts[i]->state, "ACTIVE");
    assert_int_equal(scene_set_capacity(scene->cluster, 1, 1, 2), LBM_OK);
    scene_expect_settled(scene, 60);
    scene_owners(scene, part);
    free(part);
}

enum lbm_err
liar_promote(struct scene *scene, uint32_t host, int force)
{
    Lbm__PromoteRequest promote = LBM__PROMOTE_REQUEST__INIT;
    promote.force = force != 0;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_PROMOTE;
    request.promote = &promote;
    const Lbm__Response *response = cluster_ask(scene->cluster, host, 0, &request);
    assert_non_null(response);
    return (enum lbm_err)response->code;
}
