/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that a host runs for a job, and hosts that have none: one node, driven by hand; host 1 is the
 * test. What it starts and ends, and what it says of that. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "tests/unit/node/node_fixture.h"

enum { CLIENT = 5, WATCHER = 6, VERTEX = 3, OWNER = 0, STRANGER = 9 };

struct scene {
    struct alone b;
    struct lbm_buf told;
    uint64_t id; /* of the last start */
};

static void
note_reply(struct scene *scene, const struct lbm_effect *effect)
{
    Lbm__Response *r;
    struct lbm_diag diag;
    assert_int_equal(lbm_wire_unpack_response(effect->as.reply.frame + LBM_FRAME_HEADER,
                                              effect->as.reply.len - LBM_FRAME_HEADER, &r, &diag),
                     LBM_OK);
    int client = (int)effect->as.reply.client;
    if (r->code != LBM_OK)
        lbm_buf_printf(&scene->told, "%d: refused %u; ", client, r->code);
    else if (r->what_case == LBM__RESPONSE__WHAT_RUN && r->last)
        lbm_buf_printf(&scene->told, "%d: over, status %u; ", client, r->run->status);
    else if (r->what_case == LBM__RESPONSE__WHAT_RUN && r->run->data.len != 0)
        lbm_buf_printf(&scene->told, "%d: host %u writes \"%.*s\" after %u lost; ", client, r->run->host,
                       (int)r->run->data.len, (const char *)r->run->data.data, (unsigned)r->run->missing);
    lbm__response__free_unpacked(r, NULL);
}

static void
note_send(struct scene *scene, const struct lbm_effect *effect)
{
    Lbm__Peer *m;
    struct lbm_diag diag;
    assert_int_equal(lbm_wire_unpack_peer(effect->as.send.frame + LBM_FRAME_HEADER,
                                          effect->as.send.len - LBM_FRAME_HEADER, &m, &diag),
                     LBM_OK);
    if (m->body_case == LBM__PEER__BODY_PLACE)
        lbm_buf_printf(&scene->told, "%s%s%s; ",
                       m->place->program == 0
                           ? "none"
                           : lbm_program_state_name((enum lbm_program_state)m->place->program),
                       m->place->present ? ", works" : "", m->place->withdrawn ? ", withdrawn" : "");
    else if (m->body_case == LBM__PEER__BODY_OFFER)
        lbm_buf_printf(&scene->told, "vertex %u is offered; ", m->offer->records->vertex[0]);
    lbm__peer__free_unpacked(m, NULL);
}

static void
note_program(struct scene *scene, const struct lbm_effect *effect)
{
    const struct lbm_program_order *order = effect->as.program.program;
    if (order == NULL) {
        lbm_buf_printf(&scene->told, "end it; ");
        return;
    }
    const char *program = order->words + strlen(order->words) + 1;
    scene->id = order->id;
    lbm_buf_printf(&scene->told, "start %s in %s as %u; ", program, order->words, order->uid);
}

static void
step(struct scene *scene, struct lbm_event *event)
{
    struct lbm_effects effects = {0};
    uint64_t stored = 0;
    event->now_us = scene->b.now_us;
    assert_int_equal(lbm_node_step(scene->b.node, event, &effects), LBM_OK);
    for (size_t i = 0; i < effects.list.n; i++) {
        const struct lbm_effect *effect = &effects.list.at[i];
        if (effect->kind == LBM_EFFECT_REPLY)
            note_reply(scene, effect);
        if (effect->kind == LBM_EFFECT_SEND)
            note_send(scene, effect);
        if (effect->kind == LBM_EFFECT_PROGRAM)
            note_program(scene, effect);
        if (effect->kind == LBM_EFFECT_PERSIST)
            stored = effect->as.persist->id;
    }
    lbm_effects_clear(&effects);
    if (stored != 0)
        step(scene, &(struct lbm_event){.kind = LBM_EVENT_PERSISTED, .as.persisted = stored});
}

static void
expect(struct scene *scene, const char *what)
{
    assert_string_equal(scene->told.at != NULL ? scene->told.at : "", what);
    lbm_buf_free(&scene->told);
}

static void
forget(struct scene *scene)
{
    lbm_buf_free(&scene->told);
}

/* Host 1 stays heard, and its program works if `there`. */
static void
pass(struct scene *scene, int64_t us, int there)
{
    for (int64_t passed = 0; passed < us; passed += SECOND / 4) {
        Lbm__Peer message = alone_envelope();
        Lbm__Place place = LBM__PLACE__INIT;
        struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
        scene->b.now_us += SECOND / 4;
        place.job = JOB;
        place.present = there != 0;
        message.view = scene->b.node->view.index;
        message.body_case = LBM__PEER__BODY_PLACE;
        message.place = &place;
        event.as.received.message = &message;
        event.as.received.bytes = 50;
        step(scene, &event);
    }
}

static const uint8_t words[] = "/work\0prog\0-x\0A=b";

/* The log says that, from now on. */
static void
log_says(struct scene *scene, uint32_t arguments)
{
    static uint64_t index = 100;
    struct lbm_job_run *run = &scene->b.node->view.jobs.at[0].run;
    Lbm__JobRun message = LBM__JOB_RUN__INIT;
    message.watcher = SELF;
    message.arguments = arguments;
    message.words = (ProtobufCBinaryData){sizeof words, (uint8_t *)(uintptr_t)words};
    lbm_job_run_take(&message, run);
    run->view = ++index;
    step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
}

static void
request(struct scene *scene, uint64_t client, uint32_t uid, Lbm__RunAction action)
{
    char name[] = "job";
    Lbm__RunRequest run = LBM__RUN_REQUEST__INIT;
    Lbm__Request asked = LBM__REQUEST__INIT;
    struct lbm_event event = {.kind = LBM_EVENT_REQUEST};
    run.job = name;
    run.action = (uint32_t)action;
    run.arguments = 2;
    run.words = (ProtobufCBinaryData){sizeof words, (uint8_t *)(uintptr_t)words};
    asked.id = client;
    asked.what_case = LBM__REQUEST__WHAT_RUN;
    asked.run = &run;
    event.as.request.client = client;
    event.as.request.uid = uid;
    event.as.request.access = LBM_ACCESS_ADMIN;
    event.as.request.request = &asked;
    step(scene, &event);
}

static void
writes(struct scene *scene, const char *text)
{
    struct lbm_event event = {.kind = LBM_EVENT_PROGRAM};
    event.as.program.id = scene->id;
    event.as.program.why = "";
    event.as.program.bytes = (const uint8_t *)text;
    event.as.program.len = strlen(text);
    step(scene, &event);
}

static void
ends(struct scene *scene, uint32_t status, const char *why)
{
    struct lbm_event event = {.kind = LBM_EVENT_PROGRAM};
    event.as.program.id = scene->id;
    event.as.program.has_ended = 1;
    event.as.program.status = status;
    event.as.program.why = why;
    step(scene, &event);
}

static int
set_up(void **state)
{
    struct scene *scene = lbm_alloc(1, sizeof *scene);
    alone_prepare(&scene->b);
    alone_keep_row(&scene->b, VERTEX, 2, LBM_STAGE_OWN, LBM_NONE);
    alone_start(&scene->b, 0);
    scene->b.node->programs_run = LBM_PROGRAMS_OWN;
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;
    alone_stop(&scene->b);
    lbm_buf_free(&scene->told);
    free(scene);
    return 0;
}

static void
begin(struct scene *scene)
{
    log_says(scene, 2);
    expect(scene, "start prog in /work as 0; RUNS; ");
    request(scene, WATCHER, OWNER, LBM__RUN_ACTION__RUN_WATCH);
    expect(scene, "");
}

static void
a_program_is_started_again_ever_later_and_given_up(void **state)
{
    struct scene *scene = *state;
    static const int64_t pauses_us[] = {500000, 1000000, 2000000, 4000000};
    begin(scene);
    for (size_t i = 0; i < sizeof pauses_us / sizeof *pauses_us; i++) {
        ends(scene, 3, "");
        expect(scene, "WAITS; ");
        scene->b.now_us += pauses_us[i] - 1;
        step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
        assert_null(strstr(scene->told.at != NULL ? scene->told.at : "", "start"));
        assert_true(lbm_node_deadline(scene->b.node) <= scene->b.now_us + 1);
        scene->b.now_us += 1;
        step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
        assert_non_null(strstr(scene->told.at, "start prog in /work as 0; RUNS; "));
        forget(scene);
    }
    ends(scene, 3, "");
    expect(scene, "FAILED; ");
}

/* Nobody has published: a program that runs works, as far as others know. */
static void
a_host_whose_program_has_died_has_idle_vertices(void **state)
{
    struct scene *scene = *state;
    struct lbm_job_summary summary;
    begin(scene);
    assert_true(lbm_node_summary(scene->b.node, JOB, &summary));
    assert_null(strstr(summary.reason, "no program works at host 0"));
    ends(scene, 137, "");
    assert_true(lbm_node_summary(scene->b.node, JOB, &summary));
    assert_int_equal(summary.condition, LBM_CONDITION_DEGRADED);
    assert_non_null(strstr(summary.reason, "no program works at host 0: it was ended by signal 9"));
    scene->b.now_us += 500000;
    step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
    assert_true(lbm_node_summary(scene->b.node, JOB, &summary));
    assert_null(strstr(summary.reason, "no program works at host 0"));
    pass(scene, SECOND, 1); /* others publish, and this one does not */
    assert_true(lbm_node_summary(scene->b.node, JOB, &summary));
    assert_non_null(strstr(summary.reason, "no program works at host 0"));
}

static void
one_that_has_lived_long_begins_with_a_short_pause_again(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (int i = 0; i < 8; i++) {
        pass(scene, 11 * SECOND, 0);
        forget(scene);
        ends(scene, 137, "");
        expect(scene, "WAITS; ");
        scene->b.now_us += 500000;
        step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
        assert_non_null(strstr(scene->told.at, "start"));
        forget(scene);
    }
}

static void
one_that_dies_after_nine_seconds_is_given_up_too(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (int i = 0; i < 5; i++) {
        pass(scene, 9 * SECOND, 0);
        forget(scene);
        ends(scene, 1, "");
        expect(scene, i < 4 ? "WAITS; " : "FAILED; ");
        scene->b.now_us += 4 * SECOND;
        step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
        forget(scene);
    }
}

static void
one_that_cannot_be_executed_is_given_up_at_once(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    ends(scene, 127, "prog cannot be executed");
    expect(scene, "FAILED; ");
    pass(scene, SECOND + SECOND / 2, 0); /* others may have yet to begin */
    assert_null(strstr(scene->told.at != NULL ? scene->told.at : "", "over"));
    pass(scene, SECOND + SECOND / 2, 0);
    assert_non_null(strstr(scene->told.at, "6: over, status 127; "));
}

static void
output_goes_to_the_client_and_what_is_lost_is_told(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    writes(scene, "hello");
    expect(scene, "6: host 0 writes \"hello\" after 0 lost; ");
    Lbm__Peer message = alone_envelope();
    Lbm__Place place = LBM__PLACE__INIT;
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    place.job = JOB;
    place.program = LBM_PROGRAM_RUNS;
    place.run = scene->b.node->view.jobs.at[0].run.view;
    message.view = scene->b.node->view.index;
    message.body_case = LBM__PEER__BODY_PLACE;
    message.place = &place;
    event.as.received.message = &message;
    step(scene, &event);
    uint8_t there[] = "there";
    Lbm__ProgramOutput output = LBM__PROGRAM_OUTPUT__INIT;
    output.job = JOB;
    output.run = place.run;
    output.at = 7;
    output.data = (ProtobufCBinaryData){5, there};
    message.body_case = LBM__PEER__BODY_PROGRAM_OUTPUT;
    message.program_output = &output;
    step(scene, &event);
    expect(scene, "6: host 1 writes \"there\" after 7 lost; ");
    output.at = 12;
    step(scene, &event);
    expect(scene, "6: host 1 writes \"there\" after 0 lost; ");
}

/* A client asks for a run, and then to be told of it. */
static void
what_is_written_before_a_client_watches_is_kept(void **state)
{
    struct scene *scene = *state;
    log_says(scene, 2);
    expect(scene, "start prog in /work as 0; RUNS; ");
    writes(scene, "one");
    writes(scene, "two");
    expect(scene, "");
    request(scene, WATCHER, OWNER, LBM__RUN_ACTION__RUN_WATCH);
    expect(scene, "6: host 0 writes \"one\" after 0 lost; 6: host 0 writes \"two\" after 0 lost; ");
    writes(scene, "three");
    expect(scene, "6: host 0 writes \"three\" after 0 lost; ");
}

/* Of that 256 KiB. */
static void
what_is_beyond_is_told_to_be_lost(void **state)
{
    struct scene *scene = *state;
    char text[LBM_OUTPUT_BYTES_MAX + 1];
    memset(text, 'x', LBM_OUTPUT_BYTES_MAX);
    text[LBM_OUTPUT_BYTES_MAX] = '\0';
    log_says(scene, 2);
    expect(scene, "start prog in /work as 0; RUNS; ");
    for (int i = 0; i < (256 << 10) / LBM_OUTPUT_BYTES_MAX; i++)
        writes(scene, text);
    writes(scene, "gone");
    request(scene, WATCHER, OWNER, LBM__RUN_ACTION__RUN_WATCH);
    assert_true(scene->told.len > 256 << 10);
    forget(scene);
    writes(scene, "y");
    expect(scene, "6: host 0 writes \"y\" after 4 lost; ");
}

/* That many proposals that no program is run any more wait for the log. */
static size_t
proposed_ends(const struct scene *scene)
{
    size_t n = 0;
    for (size_t i = 0; i < scene->b.node->appends.n; i++) {
        const struct append *append = &scene->b.node->appends.at[i];
        Lbm__Command *command = lbm__command__unpack(NULL, append->len, append->command);
        assert_non_null(command);
        n += command->what_case == LBM__COMMAND__WHAT_JOB_SET && command->job_set->run != NULL &&
             command->job_set->run->arguments == 0;
        lbm__command__free_unpacked(command, NULL);
    }
    return n;
}

/* What a client does not read is lost from 8 MiB on, until it has read. */
static void
a_client_that_does_not_read_loses_output(void **state)
{
    struct scene *scene = *state;
    char text[LBM_OUTPUT_BYTES_MAX + 1];
    memset(text, 'x', LBM_OUTPUT_BYTES_MAX);
    text[LBM_OUTPUT_BYTES_MAX] = '\0';
    begin(scene);
    for (int i = 0; i <= 512; i++) {
        writes(scene, text);
        assert_true(scene->told.len > LBM_OUTPUT_BYTES_MAX);
        forget(scene);
    }
    writes(scene, text);
    expect(scene, "");
    struct lbm_event read = {.kind = LBM_EVENT_CLIENT_READ};
    read.as.client = WATCHER;
    step(scene, &read);
    writes(scene, "y");
    expect(scene, "6: host 0 writes \"y\" after 16384 lost; ");
}

static void
a_run_ends_on_request_and_when_nobody_watches(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    request(scene, CLIENT, OWNER, LBM__RUN_ACTION__RUN_START);
    expect(scene, "5: refused 6; "); /* LBM_E_EXISTS */
    log_says(scene, 0);
    expect(scene, "end it; ");
    pass(scene, 5 * SECOND, 0);
    assert_null(strstr(scene->told.at, "over")); /* it has not ended yet */
    ends(scene, 143, "");
    assert_non_null(strstr(scene->told.at, "6: over, status 1; "));
    forget(scene);
    begin(scene);
    struct lbm_event gone = {.kind = LBM_EVENT_CLIENT_GONE};
    gone.as.client = WATCHER;
    step(scene, &gone);
    pass(scene, 9 * SECOND, 0);
    assert_int_equal(proposed_ends(scene), 0);
    while (scene->b.node->appends.n != 0) /* this log does not go on */
        free(scene->b.node->appends.at[--scene->b.node->appends.n].command);
    pass(scene, 2 * SECOND, 0);
    assert_true(proposed_ends(scene) != 0);
}

static void
nobody_but_the_owner_runs_and_a_host_may_refuse(void **state)
{
    struct scene *scene = *state;
    request(scene, CLIENT, STRANGER, LBM__RUN_ACTION__RUN_START);
    expect(scene, "5: refused 11; "); /* LBM_E_DENIED */
    scene->b.node->uid = STRANGER;
    request(scene, CLIENT, OWNER, LBM__RUN_ACTION__RUN_START);
    expect(scene, "5: refused 12; "); /* LBM_E_UNSUPPORTED: not as another user */
    scene->b.node->programs_run = LBM_PROGRAMS_USERS;
    request(scene, CLIENT, OWNER, LBM__RUN_ACTION__RUN_START);
    expect(scene, "5: refused 12; "); /* nor as root */
    scene->b.node->programs_run = LBM_PROGRAMS_NONE;
    scene->b.node->uid = OWNER;
    request(scene, CLIENT, OWNER, LBM__RUN_ACTION__RUN_START);
    expect(scene, "5: refused 12; ");
}

/* Where programs work elsewhere and none does here, the job is not well; after the time of grace vertices go,
 * and they may come again once a program works here. */
static void
a_host_without_a_program_gives_its_vertices_away(void **state)
{
    struct scene *scene = *state;
    struct lbm_job_summary summary;
    const struct job *job = lbm_local_job(scene->b.node, JOB);
    const struct lbm_job_entry *entry = &scene->b.node->view.jobs.at[0];
    pass(scene, SECOND, 1);
    assert_true(lbm_node_summary(scene->b.node, JOB, &summary));
    assert_int_equal(summary.condition, LBM_CONDITION_DEGRADED);
    assert_non_null(strstr(summary.reason, "no program works at host 0"));
    assert_true(lbm_local_target(scene->b.node, entry, SELF) > 0);
    pass(scene, 28 * SECOND, 1);
    assert_false(lbm_local_is_withdrawn(job, SELF));
    pass(scene, 3 * SECOND, 1);
    assert_true(lbm_local_is_withdrawn(job, SELF));
    assert_non_null(strstr(scene->told.at, "none, withdrawn; "));
    assert_true(lbm_local_target(scene->b.node, entry, SELF) == 0);
    assert_true(lbm_local_target(scene->b.node, entry, OTHER) == (double)entry->work);
    pass(scene, SECOND, 0); /* nor there: nobody computes */
    assert_false(lbm_local_is_withdrawn(job, SELF));
    assert_true(lbm_node_summary(scene->b.node, JOB, &summary));
    assert_null(strstr(summary.reason, "no program"));
}

int
main(void)
{
#define ON_SCENE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ON_SCENE(a_program_is_started_again_ever_later_and_given_up),
        ON_SCENE(a_host_whose_program_has_died_has_idle_vertices),
        ON_SCENE(one_that_has_lived_long_begins_with_a_short_pause_again),
        ON_SCENE(one_that_dies_after_nine_seconds_is_given_up_too),
        ON_SCENE(a_client_that_does_not_read_loses_output),
        ON_SCENE(one_that_cannot_be_executed_is_given_up_at_once),
        ON_SCENE(output_goes_to_the_client_and_what_is_lost_is_told),
        ON_SCENE(what_is_written_before_a_client_watches_is_kept),
        ON_SCENE(what_is_beyond_is_told_to_be_lost),
        ON_SCENE(a_run_ends_on_request_and_when_nobody_watches),
        ON_SCENE(nobody_but_the_owner_runs_and_a_host_may_refuse),
        ON_SCENE(a_host_without_a_program_gives_its_vertices_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
