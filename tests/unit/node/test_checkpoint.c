/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints are answered when the backup has what they say; what an application keeps or changes by a lease
 * that was over since is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

enum { SECOND_US = 1000000 };

static char name[] = "job";

static void
begin(struct scene *scene)
{
    scene_new(scene, "chain:2", "lattice:4x4", &scene_without_faults);
    assert_int_equal(cluster_submit(scene->cluster, 0, name, &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 60);
    cluster_run(scene->cluster, 10 * SECOND_US, NULL, NULL);
}

/* All is kept as it is, and nothing else happens: nobody will say so later. */
static void
one_that_changes_nothing_is_answered(void **state)
{
    struct scene scene;
    Lbm__CheckpointRequest checkpoint = LBM__CHECKPOINT_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    (void)state;
    begin(&scene);
    request.what_case = LBM__REQUEST__WHAT_CHECKPOINT;
    request.checkpoint = &checkpoint;
    const Lbm__Response *response = cluster_ask(scene.cluster, 0, 0, &request);
    assert_non_null(response);
    assert_int_equal(response->code, LBM_OK);
    scene_free(&scene);
}

/* The first vertex that host 0 gives to its application. */
struct given {
    uint32_t vertex;
    uint64_t token, term;
};

/* For cluster_run: one was given in another term. In/out: arg, a struct given. */
static int
is_given(struct cluster *cluster, void *arg)
{
    struct given *given = arg;
    const Lbm__Response *response;
    for (size_t i = 0; (response = cluster_reply(cluster, 0, i)) != NULL; i++) {
        const Lbm__Acquire *acquire =
            response->what_case == LBM__RESPONSE__WHAT_ACQUIRE ? response->acquire : NULL;
        if (acquire == NULL || acquire->term == given->term)
            continue;
        *given = (struct given){acquire->vertex[0], acquire->token[0], acquire->term};
        return 1;
    }
    return 0;
}

static void
attach(struct scene *scene)
{
    Lbm__AttachRequest attach = LBM__ATTACH_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    attach.job = name;
    request.what_case = LBM__REQUEST__WHAT_ATTACH;
    request.attach = &attach;
    cluster_request(scene->cluster, 0, 0, &request);
}

static enum lbm_err
checkpoint(struct scene *scene, struct given given, uint64_t term)
{
    uint8_t payload[] = "kept";
    uint32_t len = sizeof payload;
    Lbm__CheckpointRequest checkpoint = LBM__CHECKPOINT_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    checkpoint.n_vertex = checkpoint.n_token = checkpoint.n_payload_len = 1;
    checkpoint.vertex = &given.vertex;
    checkpoint.token = &given.token;
    checkpoint.payload_len = &len;
    checkpoint.payload = (ProtobufCBinaryData){sizeof payload, payload};
    checkpoint.term = term;
    request.what_case = LBM__REQUEST__WHAT_CHECKPOINT;
    request.checkpoint = &checkpoint;
    const Lbm__Response *response = cluster_ask(scene->cluster, 0, 0, &request);
    assert_non_null(response);
    return (enum lbm_err)response->code;
}

static enum lbm_err
change(struct scene *scene, struct given given, uint64_t term)
{
    uint32_t no = 0, yes = 1;
    Lbm__ChangeRequest change = LBM__CHANGE_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    change.n_vertex = change.n_token = change.n_near = change.n_work = change.n_removed = change.n_keeps =
        change.n_payload_len = 1;
    change.vertex = change.near = &given.vertex;
    change.token = &given.token;
    change.work = change.removed = change.payload_len = &no; /* all stays as it is */
    change.keeps = &yes;
    change.term = term;
    request.what_case = LBM__REQUEST__WHAT_CHANGE;
    request.change = &change;
    const Lbm__Response *response = cluster_ask(scene->cluster, 0, 0, &request);
    assert_non_null(response);
    return (enum lbm_err)response->code;
}

/* The lease was over, and holds again; the application was given the vertex once more, with the same token
 * and the payload that there was, and has not read that yet. */
static void
what_was_lost_is_not_kept_although_it_was_given_again(void **state)
{
    struct scene scene;
    struct given given = {0};
    (void)state;
    begin(&scene);
    attach(&scene);
    assert_true(cluster_run(scene.cluster, 10 * SECOND_US, is_given, &given));
    const struct given first = given;
    cluster_cut(scene.cluster, 0, 1, 1);
    cluster_run(scene.cluster, 12 * SECOND_US, NULL, NULL);
    cluster_cut(scene.cluster, 0, 1, 0);
    attach(&scene); /* it is attached: refused, and the replies before are gone */
    assert_true(cluster_run(scene.cluster, 20 * SECOND_US, is_given, &given));
    assert_int_equal(given.vertex, first.vertex);
    assert_int_equal(given.token, first.token);
    assert_true(given.term > first.term);
    assert_int_equal(checkpoint(&scene, given, first.term), LBM_E_STATE);
    assert_int_equal(change(&scene, given, first.term), LBM_E_STATE);
    assert_int_equal(checkpoint(&scene, given, given.term), LBM_OK);
    assert_int_equal(change(&scene, given, given.term), LBM_OK);
    assert_int_equal(checkpoint(&scene, given, 0), LBM_OK); /* an earlier library does not say it */
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_changes_nothing_is_answered),
        cmocka_unit_test(what_was_lost_is_not_kept_although_it_was_given_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
