/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which client may ask what: every request of the schema, by every kind of client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/cluster_fixture.h"

enum { OWNER = 1000, OTHER = 1001, VERTICES = 16 };

/* The least that may ask it about a job that is not its own; the schema's names. */
static const struct {
    const char *request;
    enum lbm_access least;
} expected[] = {
    {"status", LBM_ACCESS_READ},
    {"hosts", LBM_ACCESS_READ},
    {"jobs", LBM_ACCESS_READ},
    {"submit_begin", LBM_ACCESS_SUBMIT},
    {"submit_rows", LBM_ACCESS_SUBMIT},
    {"submit_end", LBM_ACCESS_SUBMIT},
    {"map", LBM_ACCESS_READ},
    {"locate", LBM_ACCESS_READ},
    {"cancel", LBM_ACCESS_ADMIN},
    {"host_change", LBM_ACCESS_ADMIN},
    {"log", LBM_ACCESS_READ},
    {"promote", LBM_ACCESS_ADMIN},
    {"events", LBM_ACCESS_READ},
    {"attach", LBM_ACCESS_ADMIN},
    {"released", LBM_ACCESS_READ},
    {"checkpoint", LBM_ACCESS_READ},
    {"job_change", LBM_ACCESS_ADMIN},
    {"load", LBM_ACCESS_READ},
    {"explain", LBM_ACCESS_READ},
    {"ids", LBM_ACCESS_READ},
    {"change", LBM_ACCESS_READ},
    {"publish", LBM_ACCESS_READ},
    {"post", LBM_ACCESS_READ},
    {"blob_put", LBM_ACCESS_READ},  /* of a job that it serves or submits */
    {"blob_read", LBM_ACCESS_READ}, /* the same; of another only its owner, or who administers */
    {"network", LBM_ACCESS_READ},
    {"admit", LBM_ACCESS_ADMIN},
    {"revoke", LBM_ACCESS_ADMIN},
    {"revoke_user", LBM_ACCESS_ADMIN},
    {"log_move", LBM_ACCESS_ADMIN},
    {"recover_begin", LBM_ACCESS_ADMIN},
    {"run", LBM_ACCESS_ADMIN}, /* or the job's owner */
    {"recover_rows", LBM_ACCESS_SUBMIT},
    {"recover_end", LBM_ACCESS_SUBMIT},
    {"enrol", LBM_ACCESS_NONE}, /* answered at the port; at the socket nobody may */
};

static enum lbm_access
least_of(const char *request)
{
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strcmp(expected[i].request, request) == 0)
            return expected[i].least;
    fail_msg("nobody has said who may ask \"%s\": add it here and to lib/node/client/rights.c", request);
    return LBM_ACCESS_NONE;
}

static enum lbm_err
ask(struct scene *scene, uint32_t uid, enum lbm_access access, Lbm__Request *request)
{
    cluster_request_as(scene->cluster, 0, uid, access, request);
    for (int i = 0; i < 100 && cluster_reply(scene->cluster, 0, 0) == NULL; i++)
        cluster_run(scene->cluster, 100000, NULL, NULL);
    const Lbm__Response *response = cluster_reply(scene->cluster, 0, 0);
    if (response != NULL && response->code == LBM_E_DENIED) {
        char user[32];
        snprintf(user, sizeof user, "user %u may not ", (unsigned)uid);
        assert_non_null(strstr(response->text, user));
        assert_non_null(strstr(response->text, "; ask ")); /* what to do */
    }
    return response != NULL ? (enum lbm_err)response->code : LBM_OK;
}

/* A guest without edges, submitted by that user. */
static enum lbm_err
submit(struct scene *scene, uint32_t uid, enum lbm_access access)
{
    char name[] = "job";
    uint32_t degree[VERTICES] = {0};
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__SubmitBegin begin = LBM__SUBMIT_BEGIN__INIT;
    begin.name = name;
    begin.vertices = VERTICES;
    begin.start = LBM_START_PLAN;
    begin.imbalance = 0.03;
    Lbm__SubmitRows rows = LBM__SUBMIT_ROWS__INIT;
    rows.n_degree = VERTICES;
    rows.degree = degree;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_BEGIN;
    request.submit_begin = &begin;
    enum lbm_err err = ask(scene, uid, access, &request);
    if (err != LBM_OK)
        return err;
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_ROWS;
    request.submit_rows = &rows;
    assert_int_equal(ask(scene, uid, access, &request), LBM_OK);
    request.what_case = LBM__REQUEST__WHAT_SUBMIT_END;
    request.submit_end = &empty;
    return ask(scene, uid, access, &request);
}

static enum lbm_err
name_job(struct scene *scene, uint32_t uid, enum lbm_access access, Lbm__Request__WhatCase what)
{
    char name[] = "job";
    Lbm__CancelRequest cancel = LBM__CANCEL_REQUEST__INIT;
    Lbm__AttachRequest attach = LBM__ATTACH_REQUEST__INIT;
    Lbm__JobChange change = LBM__JOB_CHANGE__INIT;
    Lbm__RecoverBegin recover = LBM__RECOVER_BEGIN__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__RunRequest run = LBM__RUN_REQUEST__INIT;
    cancel.job = attach.job = change.job = recover.job = run.job = name;
    request.what_case = what;
    if (what == LBM__REQUEST__WHAT_CANCEL)
        request.cancel = &cancel;
    else if (what == LBM__REQUEST__WHAT_ATTACH)
        request.attach = &attach;
    else if (what == LBM__REQUEST__WHAT_RUN)
        request.run = &run;
    else if (what == LBM__REQUEST__WHAT_RECOVER_BEGIN)
        request.recover_begin = &recover;
    else
        request.job_change = &change;
    return ask(scene, uid, access, &request);
}

static void
every_request_has_a_right(void **state)
{
    struct scene scene;
    size_t n = 0;
    (void)state;
    scene_new(&scene, "chain:2", "lattice:4x4", &scene_without_faults);
    assert_int_equal(submit(&scene, OWNER, LBM_ACCESS_SUBMIT), LBM_OK);
    for (unsigned i = 0; i < lbm__request__descriptor.n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &lbm__request__descriptor.fields[i];
        if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0)
            continue;
        n++;
        for (enum lbm_access access = LBM_ACCESS_NONE; access <= LBM_ACCESS_ADMIN; access++) {
            union {
                ProtobufCMessage base;
                max_align_t space[64];
            } body;
            const ProtobufCMessageDescriptor *type = field->descriptor;
            assert_true(type->sizeof_message <= sizeof body);
            protobuf_c_message_init(type, &body.base);
            Lbm__Request request = LBM__REQUEST__INIT;
            request.what_case = (Lbm__Request__WhatCase)field->id;
            request.status = (Lbm__Empty *)(void *)&body; /* a member of the union like any other */
            enum lbm_err err;
            if (request.what_case == LBM__REQUEST__WHAT_CANCEL ||
                request.what_case == LBM__REQUEST__WHAT_ATTACH ||
                request.what_case == LBM__REQUEST__WHAT_JOB_CHANGE ||
                request.what_case == LBM__REQUEST__WHAT_RUN ||
                request.what_case == LBM__REQUEST__WHAT_RECOVER_BEGIN) {
                if (access >= least_of(field->name))
                    continue; /* the next test */
                err = name_job(&scene, OTHER, access, request.what_case);
            } else {
                err = ask(&scene, OTHER, access, &request);
            }
            assert_int_equal(err == LBM_E_DENIED, access < least_of(field->name));
        }
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
    scene_free(&scene);
}

static void
a_job_belongs_to_who_submitted_it(void **state)
{
    struct scene scene;
    (void)state;
    scene_new(&scene, "chain:2", "lattice:4x4", &scene_without_faults);
    assert_int_equal(submit(&scene, OWNER, LBM_ACCESS_READ), LBM_E_DENIED);
    assert_int_equal(submit(&scene, OWNER, LBM_ACCESS_SUBMIT), LBM_OK);
    assert_int_equal(scene_job(&scene, 1)->owner, OWNER); /* by the log, on every host */
    static const Lbm__Request__WhatCase acts[] = {LBM__REQUEST__WHAT_ATTACH, LBM__REQUEST__WHAT_JOB_CHANGE,
                                                  LBM__REQUEST__WHAT_RECOVER_BEGIN,
                                                  LBM__REQUEST__WHAT_CANCEL};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        assert_int_equal(name_job(&scene, OTHER, LBM_ACCESS_READ, acts[i]), LBM_E_DENIED);
        assert_int_equal(name_job(&scene, OTHER, LBM_ACCESS_SUBMIT, acts[i]), LBM_E_DENIED);
        assert_int_equal(name_job(&scene, OWNER, LBM_ACCESS_NONE, acts[i]), LBM_E_DENIED);
        assert_int_not_equal(name_job(&scene, OWNER, LBM_ACCESS_READ, acts[i]), LBM_E_DENIED);
    }
    scene_free(&scene);
}

static void
a_job_of_nobody_is_the_administrators(void **state)
{
    struct scene scene;
    (void)state;
    scene_new(&scene, "chain:2", "lattice:4x4", &scene_without_faults);
    assert_int_equal(cluster_submit(scene.cluster, 0, "job", &scene.g, LBM_START_PLAN), LBM_OK);
    assert_int_equal(scene_job(&scene, 0)->owner, 0); /* as an entry reads that names nobody */
    assert_int_equal(name_job(&scene, OTHER, LBM_ACCESS_SUBMIT, LBM__REQUEST__WHAT_CANCEL), LBM_E_DENIED);
    assert_int_equal(name_job(&scene, OTHER, LBM_ACCESS_ADMIN, LBM__REQUEST__WHAT_CANCEL), LBM_OK);
    scene_free(&scene);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_has_a_right),
        cmocka_unit_test(a_job_belongs_to_who_submitted_it),
        cmocka_unit_test(a_job_of_nobody_is_the_administrators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
