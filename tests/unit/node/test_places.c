/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that serve one job at two hosts: what they hear of each other, and what becomes of their posts.
 * One node, driven by hand; host 1 is the test. */
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
#include "tests/unit/node/node_fixture.h"

enum { CLIENT = 5, LATER = 6, STRANGER = 7 };

struct scene {
    struct alone b;
    struct lbm_buf told; /* what the node said of places and posts */
    uint32_t used, gone; /* what it told the lease page last */
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
    if (r->what_case == LBM__RESPONSE__WHAT_PLACES)
        lbm_buf_printf(&scene->told, "%d: host %u is %s%s \"%.*s\"; ", client, r->places->host[0],
                       r->places->present[0] ? "up" : "down", r->places->finished[0] ? ", done" : "",
                       (int)r->places->note[0].len, (const char *)r->places->note[0].data);
    else if (r->what_case == LBM__RESPONSE__WHAT_POSTED)
        lbm_buf_printf(&scene->told, "%d: host %u posts %zu bytes; ", client, r->posted->host,
                       r->posted->data.len);
    else if (r->code != LBM_OK)
        lbm_buf_printf(&scene->told, "%d: refused %u; ", client, r->code);
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
        lbm_buf_printf(&scene->told, "to %u: %s%s \"%.*s\"; ", m->dst, m->place->present ? "up" : "down",
                       m->place->finished ? ", done" : "", (int)m->place->note.len,
                       (const char *)m->place->note.data);
    else if (m->body_case == LBM__PEER__BODY_POST)
        lbm_buf_printf(&scene->told, "to %u: %zu bytes%s; ", m->dst, m->post->data.len,
                       effect->as.send.lossy ? "" : ", not lossy");
    lbm__peer__free_unpacked(m, NULL);
}

static void
step(struct scene *scene, struct lbm_event *event)
{
    struct lbm_effects effects = {0};
    event->now_us = scene->b.now_us;
    assert_int_equal(lbm_node_step(scene->b.node, event, &effects), LBM_OK);
    for (size_t i = 0; i < effects.list.n; i++) {
        if (effects.list.at[i].kind == LBM_EFFECT_REPLY)
            note_reply(scene, &effects.list.at[i]);
        if (effects.list.at[i].kind == LBM_EFFECT_SEND)
            note_send(scene, &effects.list.at[i]);
        if (effects.list.at[i].kind == LBM_EFFECT_LEASE) {
            scene->used = effects.list.at[i].as.lease.used;
            scene->gone = effects.list.at[i].as.lease.gone;
        }
    }
    lbm_effects_clear(&effects);
}

static void
expect(struct scene *scene, const char *what)
{
    assert_string_equal(scene->told.at != NULL ? scene->told.at : "", what);
    lbm_buf_free(&scene->told);
}

static void
pass(struct scene *scene, int64_t us)
{
    scene->b.now_us += us;
    step(scene, &(struct lbm_event){.kind = LBM_EVENT_TIMER});
}

static void
ask(struct scene *scene, uint64_t client, Lbm__Request *request)
{
    struct lbm_event event = {.kind = LBM_EVENT_REQUEST};
    request->id = client;
    event.as.request.client = client;
    event.as.request.access = LBM_ACCESS_ADMIN;
    event.as.request.request = request;
    step(scene, &event);
}

/* With n vertices that it says it has. */
static void
attach_with(struct scene *scene, uint64_t client, size_t n)
{
    char name[] = "job";
    uint32_t vertex = 0;
    uint64_t token = 1;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__AttachRequest attach = LBM__ATTACH_REQUEST__INIT;
    attach.job = name;
    attach.n_vertex = attach.n_token = n;
    attach.vertex = &vertex;
    attach.token = &token;
    request.what_case = LBM__REQUEST__WHAT_ATTACH;
    request.attach = &attach;
    ask(scene, client, &request);
}

static void
attach(struct scene *scene, uint64_t client)
{
    attach_with(scene, client, 0);
}

static void
publish(struct scene *scene, uint64_t client, const char *note, uint32_t finished)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__PublishRequest publish = LBM__PUBLISH_REQUEST__INIT;
    publish.note = (ProtobufCBinaryData){strlen(note), (uint8_t *)(uintptr_t)note};
    publish.finished = finished;
    request.what_case = LBM__REQUEST__WHAT_PUBLISH;
    request.publish = &publish;
    ask(scene, client, &request);
}

static void
post(struct scene *scene, uint64_t client, uint32_t host, uint32_t len, size_t bytes)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__PostRequest post = LBM__POST_REQUEST__INIT;
    uint8_t data[16] = {0};
    assert_true(bytes <= sizeof data);
    post.n_host = post.n_len = 1;
    post.host = &host;
    post.len = &len;
    post.data = (ProtobufCBinaryData){bytes, data};
    request.what_case = LBM__REQUEST__WHAT_POST;
    request.post = &post;
    ask(scene, client, &request);
}

static void
leave(struct scene *scene, uint64_t client)
{
    struct lbm_event event = {.kind = LBM_EVENT_CLIENT_GONE};
    event.as.client = client;
    step(scene, &event);
}

static void
hear(struct scene *scene, Lbm__Peer *message)
{
    struct lbm_event event = {.kind = LBM_EVENT_MESSAGE};
    event.as.received.message = message;
    event.as.received.bytes = 100;
    step(scene, &event);
}

static void
hear_place(struct scene *scene, uint64_t job, uint32_t present, uint32_t finished, const char *note)
{
    Lbm__Peer message = alone_envelope();
    Lbm__Place place = LBM__PLACE__INIT;
    place.job = job;
    place.present = present;
    place.finished = finished;
    place.note = (ProtobufCBinaryData){strlen(note), (uint8_t *)(uintptr_t)note};
    message.body_case = LBM__PEER__BODY_PLACE;
    message.place = &place;
    hear(scene, &message);
}

static void
hear_post(struct scene *scene, uint64_t job, size_t len)
{
    Lbm__Peer message = alone_envelope();
    Lbm__Post post = LBM__POST__INIT;
    uint8_t *data = lbm_alloc(len, 1);
    post.job = job;
    post.data = (ProtobufCBinaryData){len, data};
    message.body_case = LBM__PEER__BODY_POST;
    message.post = &post;
    hear(scene, &message);
    free(data);
}

static int
set_up(void **state)
{
    struct scene *scene = lbm_alloc(1, sizeof *scene);
    alone_prepare(&scene->b);
    alone_start(&scene->b, 0);
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
a_note_is_told_at_once_and_again(void **state)
{
    struct scene *scene = *state;
    attach(scene, CLIENT);
    expect(scene, "");
    publish(scene, CLIENT, "a", 0);
    expect(scene, "to 1: up \"a\"; ");
    publish(scene, CLIENT, "b", 0);
    expect(scene, "to 1: up \"b\"; ");
    pass(scene, SECOND);
    expect(scene, "");
    pass(scene, SECOND + 1);
    expect(scene, "to 1: up \"b\"; ");
    leave(scene, CLIENT);
    expect(scene, "to 1: down \"b\"; ");
    pass(scene, 10 * SECOND);
    expect(scene, "");
}

/* A program that was cut off sees by that number that the page promises nothing to it. */
static void
programs_that_had_vertices_and_have_gone_are_counted(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++) {
        attach_with(scene, LATER, 1);
        assert_int_equal(scene->used, 1);
        assert_int_equal(scene->gone, i);
        leave(scene, LATER);
        assert_int_equal(scene->used, 0);
        assert_int_equal(scene->gone, i + 1);
    }
}

static void
others_are_heard_of_by_who_has_published(void **state)
{
    struct scene *scene = *state;
    hear_place(scene, JOB, 1, 0, "there");
    hear_place(scene, JOB + 1, 1, 0, "of a job that is not here");
    attach(scene, CLIENT);
    hear_place(scene, JOB, 1, 0, "here");
    expect(scene, "");
    publish(scene, CLIENT, "a", 0);
    expect(scene, "to 1: up \"a\"; 5: host 1 is up \"here\"; ");
    hear_place(scene, JOB, 1, 0, "here"); /* nothing new */
    expect(scene, "");
    hear_place(scene, JOB, 0, 0, "here");
    expect(scene, "5: host 1 is down \"here\"; ");
}

static void
who_is_not_heard_is_down(void **state)
{
    struct scene *scene = *state;
    attach(scene, CLIENT);
    publish(scene, CLIENT, "a", 0);
    hear_place(scene, JOB, 1, 0, "b");
    lbm_buf_free(&scene->told);
    for (int i = 0; i < 3; i++) {
        pass(scene, 2 * SECOND + 1);
        expect(scene, "to 1: up \"a\"; ");
    }
    hear_place(scene, JOB, 1, 0, "b"); /* in time */
    for (int i = 0; i < 4; i++) {
        pass(scene, 2 * SECOND + 1);
        expect(scene, i < 3 ? "to 1: up \"a\"; " : "to 1: up \"a\"; 5: host 1 is down \"b\"; ");
    }
}

static void
that_a_job_is_done_stays(void **state)
{
    struct scene *scene = *state;
    attach(scene, CLIENT);
    publish(scene, CLIENT, "a", 0);
    hear_place(scene, JOB, 1, 1, "b");
    expect(scene, "to 1: up \"a\"; 5: host 1 is up, done \"b\"; ");
    hear_place(scene, JOB, 0, 0, "b"); /* begun again, and knows nothing */
    expect(scene, "5: host 1 is down, done \"b\"; ");
    leave(scene, CLIENT);
    lbm_buf_free(&scene->told);
    attach(scene, LATER);
    publish(scene, LATER, "c", 1);
    expect(scene, "to 1: up, done \"c\"; 6: host 1 is down, done \"b\"; 6: host 0 is up, done \"c\"; ");
    leave(scene, LATER);
    expect(scene, "to 1: down, done \"c\"; ");
    pass(scene, 3 * SECOND);
    expect(scene, "to 1: down, done \"c\"; ");
}

static void
who_has_not_heard_that_a_job_is_done_is_told(void **state)
{
    struct scene *scene = *state;
    hear_place(scene, JOB, 1, 0, "b");
    expect(scene, "");
    hear_place(scene, JOB, 0, 1, "b"); /* a program that ends */
    hear_place(scene, JOB, 0, 0, "b"); /* begun again, and knows nothing */
    expect(scene, "");
    hear_place(scene, JOB, 1, 0, "c");
    expect(scene, "to 1: down, done \"\"; ");
    attach(scene, CLIENT);
    publish(scene, CLIENT, "a", 0);
    lbm_buf_free(&scene->told);
    hear_place(scene, JOB, 1, 0, "c");
    expect(scene, "to 1: up, done \"a\"; ");
    hear_place(scene, JOB, 1, 1, "c");
    expect(scene, "");
}

static void
posts_go_between_programs_of_one_job(void **state)
{
    struct scene *scene = *state;
    attach(scene, CLIENT);
    hear_post(scene, JOB, 3); /* it has not published */
    expect(scene, "");
    publish(scene, CLIENT, "a", 0);
    lbm_buf_free(&scene->told);
    hear_post(scene, JOB, 3);
    hear_post(scene, JOB + 1, 3);
    expect(scene, "5: host 1 posts 3 bytes; ");
    post(scene, CLIENT, OTHER, 4, 4);
    expect(scene, "to 1: 4 bytes; ");
    post(scene, CLIENT, SELF, 4, 4); /* nobody there */
    post(scene, CLIENT, 9, 4, 4);
    expect(scene, "");
    post(scene, CLIENT, OTHER, 5, 4);
    expect(scene, "5: refused 2; ");
    post(scene, STRANGER, OTHER, 4, 4);
    publish(scene, STRANGER, "x", 0);
    expect(scene, "7: refused 8; 7: refused 8; ");
}

static void
what_is_not_read_is_lost_beyond_a_bound(void **state)
{
    struct scene *scene = *state;
    enum { MIB = 1 << 20 };
    int n = 0;
    attach(scene, CLIENT);
    publish(scene, CLIENT, "a", 0);
    for (lbm_buf_free(&scene->told); n < 100; n++) {
        hear_post(scene, JOB, MIB);
        if (scene->told.at == NULL)
            break;
        lbm_buf_free(&scene->told);
    }
    assert_int_equal(n, 9); /* 8 MiB, and the one that goes beyond */
    struct lbm_event event = {.kind = LBM_EVENT_CLIENT_READ};
    event.as.client = CLIENT;
    step(scene, &event);
    hear_post(scene, JOB, 1);
    expect(scene, "5: host 1 posts 1 bytes; ");
}

int
main(void)
{
#define ALONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ALONE(a_note_is_told_at_once_and_again),
        ALONE(programs_that_had_vertices_and_have_gone_are_counted),
        ALONE(others_are_heard_of_by_who_has_published),
        ALONE(who_is_not_heard_is_down),
        ALONE(that_a_job_is_done_stays),
        ALONE(who_has_not_heard_that_a_job_is_done_is_told),
        ALONE(posts_go_between_programs_of_one_job),
        ALONE(what_is_not_read_is_lost_beyond_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
