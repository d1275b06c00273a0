/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages to vertices, against a daemon that is a thread of the test. The program at host 9 is the test: it
 * writes rows as lib/api/letters_rows.h has them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/letters_rows.h"
#include "api/steps_bytes.h"
#include "base/limits.h"
#include "tests/unit/api/scene.h"
#include "wire/lease_page.h"

enum { SECOND = 1000000, PEER = 9 };

static const char magic[16] = "lbmap letters 1";

static void
on_deliver(void *context, uint32_t to, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct scene *scene = context;
    assert_true(n == 0 || (uintptr_t)bytes % 16 == 0);
    lbm_buf_printf(&scene->told, "%u to %u, %u: %.*s; ", from, to, tag, (int)n, (const char *)bytes);
    if (scene->answers) {
        scene->answers--;
        assert_int_equal(lbmap_send(scene->map, to, from, tag + 1, bytes, n), LBMAP_OK);
    }
}

static void
on_vertex_moved(void *context, uint32_t vertex, uint32_t host)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "moved %u %u; ", vertex, host);
}

static void
expect_silence(struct scene *scene)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_null(scene->told.at);
}

/* ---- the program at host 9 ----------------------------------------------------------------------------- */

static void
tell_rows(struct scene *scene, const struct lbm_buf *rows)
{
    struct lbm_buf all = {0};
    lbm_buf_put(&all, magic, sizeof magic);
    lbm_buf_put(&all, rows->at, rows->len);
    daemon_push_bytes(&scene->daemon, PEER, all.at, all.len);
    lbm_buf_free(&all);
}

static void
tell_letter(struct scene *scene, uint32_t from, uint32_t to, uint64_t number, const char *text)
{
    struct lbm_buf row = {0};
    lbm_put32(&row, LBM_MAIL_LETTER);
    lbm_put32(&row, to);
    lbm_put32(&row, from);
    lbm_put64(&row, number);
    lbm_put32(&row, 4);
    lbm_put32(&row, (uint32_t)strlen(text));
    lbm_buf_put(&row, text, strlen(text));
    tell_rows(scene, &row);
    lbm_buf_free(&row);
}

static void
tell_answer(struct scene *scene, uint32_t vertex, uint32_t from, uint64_t token, uint64_t received,
            uint64_t kept)
{
    struct lbm_buf row = {0};
    lbm_put32(&row, LBM_MAIL_ANSWER);
    lbm_put32(&row, vertex);
    lbm_put32(&row, from);
    lbm_put64(&row, token);
    lbm_put64(&row, 1);
    lbm_put64(&row, received);
    lbm_put64(&row, kept);
    tell_rows(scene, &row);
    lbm_buf_free(&row);
}

static void
tell_pair(struct scene *scene, enum lbm_mail_row kind, uint32_t vertex, uint32_t from)
{
    struct lbm_buf row = {0};
    lbm_put32(&row, kind);
    lbm_put32(&row, vertex);
    lbm_put32(&row, from);
    tell_rows(scene, &row);
    lbm_buf_free(&row);
}

/* The rows that were posted since the last call, as text. */
static void
describe(struct scene *scene, struct lbm_buf *text)
{
    struct daemon *daemon = &scene->daemon;
    pthread_mutex_lock(&daemon->lock);
    struct lbm_reader reader = {(const uint8_t *)daemon->posted.at, daemon->posted.len, 0};
    while (reader.left != 0 && !reader.failed) {
        if (reader.left >= sizeof magic && memcmp(reader.at, magic, sizeof magic) == 0)
            (void)lbm_get_bytes(&reader, sizeof magic);
        uint32_t kind = lbm_get32(&reader), vertex = lbm_get32(&reader), from = lbm_get32(&reader);
        if (kind == LBM_MAIL_LETTER) {
            uint64_t number = lbm_get64(&reader);
            uint32_t tag = lbm_get32(&reader), len = lbm_get32(&reader);
            lbm_buf_printf(text, "letter %u to %u, %d, %u: %.*s; ", from, vertex, (int)number, tag, (int)len,
                           (const char *)lbm_get_bytes(&reader, len));
        } else if (kind == LBM_MAIL_ANSWER) {
            uint64_t token = lbm_get64(&reader);
            (void)lbm_get64(&reader);
            uint64_t received = lbm_get64(&reader), kept = lbm_get64(&reader);
            lbm_buf_printf(text, "%u by %d has of %u %d, kept %d; ", vertex, (int)token, from, (int)received,
                           (int)kept);
        } else {
            lbm_buf_printf(text, "%s %u; ",
                           kind == LBM_MAIL_ASK     ? "ask"
                           : kind == LBM_MAIL_AWAY  ? "away"
                           : kind == LBM_MAIL_GONE  ? "gone"
                           : kind == LBM_MAIL_WHERE ? "where"
                           : kind == LBM_MAIL_HERE  ? "here"
                                                    : "nonsense",
                           vertex);
        }
    }
    daemon->posted.len = 0;
    pthread_mutex_unlock(&daemon->lock);
}

/* Dispatch until these rows were posted; they may come more than once. */
static void
expect_posted(struct scene *scene, const char *what)
{
    struct lbm_buf text = {0};
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    while ((text.at == NULL || strstr(text.at, what) == NULL) && daemon_now_us() < end_us) {
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
        describe(scene, &text);
    }
    if (text.at == NULL || strstr(text.at, what) == NULL)
        fail_msg("not posted: %s; but: %s", what, text.at != NULL ? text.at : "nothing");
    lbm_buf_free(&text);
}

static void
expect_nothing_posted(struct scene *scene)
{
    struct lbm_buf text = {0};
    for (int i = 0; i < 30; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    describe(scene, &text);
    assert_null(text.at);
}

/* ---- a scene ------------------------------------------------------------------------------------------- */

static enum lbmap_error
serve(struct scene *scene, int send_kept)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = scene,
                                              .acquire = scene_on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked,
                                              .deliver = on_deliver,
                                              .send_kept = send_kept,
                                              .vertex_moved = on_vertex_moved};
    return lbmap_serve(scene->map, &callbacks);
}

static int
set_up_attached(void **state)
{
    struct scene *scene = scene_make();
    scene->returned = (struct lbmap_payload){"state", 5};
    *state = scene;
    return 0;
}

/* It holds vertices 7 and 8; a program is at host 9. */
static void
begin(struct scene *scene, int send_kept)
{
    assert_int_equal(serve(scene, send_kept), LBMAP_OK);
    assert_int_equal(scene->daemon.n_published, 1);
    daemon_push_place(&scene->daemon, PEER, 1, 0);
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "");
    daemon_push_acquire(&scene->daemon, 1, 8, 5, "mine");
    scene_expect_told(scene, "acquire 7 5 \"\"; acquire 8 5 \"mine\"; ");
}

static int
set_up(void **state)
{
    set_up_attached(state);
    begin(*state, 0);
    return 0;
}

static void
checkpoint(struct scene *scene, uint32_t vertex)
{
    const struct lbmap_state state = {vertex, 5, {"state", 5}};
    assert_int_equal(lbmap_checkpoint(scene->map, &state, 1), LBMAP_OK);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void
vertices_of_one_program_talk(void **state)
{
    struct scene *scene = *state;
    scene->answers = 2;
    assert_int_equal(lbmap_send(scene->map, 7, 8, 1, "hello", 5), LBMAP_OK);
    assert_null(scene->told.at); /* not before lbmap_dispatch */
    scene_expect_told(scene, "7 to 8, 1: hello; 8 to 7, 2: hello; 7 to 8, 3: hello; ");
    scene->answers = 1;
    assert_int_equal(lbmap_send(scene->map, 7, 7, 1, NULL, 0), LBMAP_OK);
    scene_expect_told(scene, "7 to 7, 1: ; 7 to 7, 2: ; ");
    expect_silence(scene);
}

/* Until the receiver is kept the sender has the message in its payload. */
static void
what_has_not_arrived_for_good_is_kept(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(lbmap_send(scene->map, 7, 8, 1, "hello", 5), LBMAP_OK);
    scene_expect_told(scene, "7 to 8, 1: hello; ");
    checkpoint(scene, 7);
    size_t len = scene->daemon.payload.len;
    checkpoint(scene, 8);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_OK);
    checkpoint(scene, 7);
    assert_int_equal(len - scene->daemon.payload.len, 20 + 5);
}

static void
a_vertex_elsewhere_is_found_and_told_until_it_is_kept(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, "one", 3), LBMAP_OK);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 2, "two", 3), LBMAP_OK);
    expect_posted(scene, "where 40; ");
    tell_pair(scene, LBM_MAIL_HERE, 40, LBM_NONE);
    expect_posted(scene, "letter 7 to 40, 1, 1: one; letter 7 to 40, 2, 2: two; ");
    expect_posted(scene, "letter 7 to 40, 1, 1: one; letter 7 to 40, 2, 2: two; "); /* nobody answers */
    tell_answer(scene, 40, 7, 3, 1, 0);
    expect_posted(scene, "letter 7 to 40, 2, 2: two; ");
    tell_answer(scene, 40, 7, 3, 2, 0);
    expect_posted(scene, "ask 40; ");
    tell_answer(scene, 40, 7, 4, 1, 1); /* somebody else has it, from its checkpoint */
    expect_posted(scene, "letter 7 to 40, 2, 2: two; ");
    tell_answer(scene, 40, 7, 3, 2, 0); /* who had it before */
    expect_posted(scene, "letter 7 to 40, 2, 2: two; ");
    tell_answer(scene, 40, 7, 4, 2, 2);
    assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    expect_nothing_posted(scene);
    checkpoint(scene, 7);
    assert_int_equal(scene->daemon.payload.len, 20 + 12 + 5);
}

static void
who_has_moved_is_looked_for(void **state)
{
    struct scene *scene = *state;
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, "one", 3), LBMAP_OK);
    expect_posted(scene, "letter 7 to 40, 1, 1: one; ");
    tell_pair(scene, LBM_MAIL_AWAY, 40, 7);
    expect_posted(scene, "where 40; ");
    tell_pair(scene, LBM_MAIL_HERE, 40, LBM_NONE);
    expect_posted(scene, "letter 7 to 40, 1, 1: one; ");
    daemon_push_place(&scene->daemon, PEER, 0, 0);
    daemon_push_place(&scene->daemon, PEER, 1, 0);
    expect_posted(scene, "where 40; ");
    tell_pair(scene, LBM_MAIL_GONE, 40, 7); /* it was removed: there is nobody to send to */
    for (int i = 0; i < 5; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    checkpoint(scene, 7);
    assert_int_equal(scene->daemon.payload.len, 20 + 12 + 5);
}

/* A host may be lost with what it has received; who has the vertex then is asked, and has less. */
static void
who_is_silent_is_looked_for(void **state)
{
    struct scene *scene = *state;
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, "one", 3), LBMAP_OK);
    expect_posted(scene, "letter 7 to 40, 1, 1: one; ");
    tell_answer(scene, 40, 7, 3, 1, 0);
    expect_posted(scene, "ask 40; ask 40; ask 40; where 40; ");
    tell_pair(scene, LBM_MAIL_HERE, 40, LBM_NONE);
    expect_posted(scene, "ask 40; ");
    tell_answer(scene, 40, 7, 4, 0, 0);
    expect_posted(scene, "letter 7 to 40, 1, 1: one; ");
}

static void
messages_come_once_and_in_order(void **state)
{
    struct scene *scene = *state;
    tell_letter(scene, 40, 7, 2, "two");
    expect_posted(scene, "7 by 5 has of 40 0, kept 0; ");
    tell_letter(scene, 40, 7, 1, "one");
    tell_letter(scene, 40, 7, 2, "two");
    tell_letter(scene, 40, 7, 2, "two");
    tell_letter(scene, 40, 7, 4, "four");
    tell_letter(scene, 40, 6, 1, "for somebody else");
    scene_expect_told(scene, "40 to 7, 4: one; 40 to 7, 4: two; ");
    expect_posted(scene, "away 6; ");
    expect_silence(scene);
    tell_pair(scene, LBM_MAIL_ASK, 7, 40);
    expect_posted(scene, "7 by 5 has of 40 2, kept 0; ");
    checkpoint(scene, 7);
    expect_posted(scene, "7 by 5 has of 40 2, kept 2; ");
    tell_pair(scene, LBM_MAIL_WHERE, 7, LBM_NONE);
    expect_posted(scene, "here 7; ");
}

/* A vertex that moves goes on as it was; one that is lost, from what was kept. */
static void
numbers_travel_with_the_vertex(void **state)
{
    struct scene *scene = *state;
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    tell_letter(scene, 40, 7, 1, "one");
    scene_expect_told(scene, "40 to 7, 4: one; ");
    assert_int_equal(lbmap_send(scene->map, 7, 40, 6, "back", 4), LBMAP_OK);
    daemon_push_release(&scene->daemon, 7, 5);
    scene_expect_told(scene, "release 7 5; ");
    assert_int_equal(lbmap_send(scene->map, 7, 40, 6, "back", 4), LBMAP_E_STATE);
    tell_letter(scene, 40, 7, 2, "two");
    expect_posted(scene, "away 7; ");
    struct lbm_buf payload = {0};
    pthread_mutex_lock(&scene->daemon.lock);
    lbm_buf_put(&payload, scene->daemon.payload.at, scene->daemon.payload.len);
    pthread_mutex_unlock(&scene->daemon.lock);
    daemon_push_given(&scene->daemon, 1, 7, 6, payload.at, payload.len);
    scene_expect_told(scene, "acquire 7 6 \"state\"; ");
    expect_posted(scene, "letter 7 to 40, 1, 6: back; ");
    tell_letter(scene, 40, 7, 1, "one");
    tell_letter(scene, 40, 7, 2, "two");
    scene_expect_told(scene, "40 to 7, 4: two; ");
    expect_posted(scene, "7 by 6 has of 40 2, kept 1; ");
    lbm_buf_free(&payload);
}

static void
messages_may_wait_for_checkpoints(void **state)
{
    struct scene *scene = *state;
    begin(scene, 1);
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, "one", 3), LBMAP_OK);
    assert_int_equal(lbmap_send(scene->map, 7, 8, 1, "one", 3), LBMAP_OK);
    expect_silence(scene);
    expect_nothing_posted(scene);
    checkpoint(scene, 7);
    scene_expect_told(scene, "7 to 8, 1: one; ");
    expect_posted(scene, "letter 7 to 40, 1, 1: one; ");
}

static void
moves_of_neighbours_are_told(void **state)
{
    struct scene *scene = *state;
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    expect_silence(scene);
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, 11);
    daemon_push_neighbour_at(&scene->daemon, 8, 5, 40, 11);
    scene_expect_told(scene, "moved 40 11; ");
    expect_silence(scene);
}

static void
what_makes_no_sense_is_dropped(void **state)
{
    struct scene *scene = *state;
    for (uint32_t kind = 0; kind < 10; kind++)
        for (size_t len = 0; len < 40; len++) {
            struct lbm_buf row = {0};
            lbm_put32(&row, kind);
            for (uint32_t i = 0; i < 9; i++)
                lbm_put32(&row, i % 2 != 0 ? 7 : UINT32_MAX);
            row.len = len;
            tell_rows(scene, &row);
            lbm_buf_free(&row);
            assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_OK);
        }
    expect_silence(scene);
}

static void
bounds_are_errors(void **state)
{
    struct scene *scene = *state;
    static char bytes[LBMAP_SEND_MAX + 1];
    unsigned n = 0;
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, bytes, sizeof bytes), LBMAP_E_RANGE);
    assert_int_equal(lbmap_send(scene->map, 7, LBMAP_NOWHERE, 1, bytes, 1), LBMAP_E_RANGE);
    assert_int_equal(lbmap_send(scene->map, 6, 40, 1, bytes, 1), LBMAP_E_STATE);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, bytes, LBMAP_SEND_MAX), LBMAP_OK);
    while (n < 1000 && lbmap_send(scene->map, 7, 40, 1, bytes, 1000) == LBMAP_OK)
        n++;
    assert_in_range(n, 10, 20);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, bytes, 1000), LBMAP_E_BUSY);
    assert_non_null(strstr(lbmap_message(scene->map), "have not arrived"));
    const struct lbmap_state kept = {7, 5, {bytes, LBMAP_CHANGE_PAYLOAD_MAX - LBMAP_MAIL_MAX}};
    static char large[LBMAP_PAYLOAD_MAX];
    const struct lbmap_state too_long = {7, 5, {large, sizeof large}};
    struct lbmap_state fits = kept;
    fits.payload.bytes = large;
    assert_int_equal(lbmap_checkpoint(scene->map, &fits, 1), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &too_long, 1), LBMAP_E_RANGE);
    assert_int_equal(lbmap_post(scene->map, PEER, magic, sizeof magic), LBMAP_E_RANGE);
}

static void
expect_done(struct scene *scene)
{
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    int done = 0;
    while (!done && daemon_now_us() < end_us) {
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
        assert_int_equal(lbmap_checkpoint_done(scene->map, &done), LBMAP_OK);
    }
    assert_true(done);
}

/* What is kept has what was delivered when it was made, and not what came while it was on its way. */
static void
what_comes_during_a_checkpoint_is_not_kept_by_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {"state", 5}};
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    tell_letter(scene, 40, 7, 1, "one");
    scene_expect_told(scene, "40 to 7, 4: one; ");
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    tell_letter(scene, 40, 7, 2, "two");
    tell_letter(scene, 41, 7, 1, "first");
    scene_expect_told(scene, "40 to 7, 4: two; 41 to 7, 4: first; ");
    tell_pair(scene, LBM_MAIL_ASK, 7, 40);
    expect_posted(scene, "7 by 5 has of 40 2, kept 0; ");
    daemon_answer_late(&scene->daemon);
    expect_done(scene);
    tell_pair(scene, LBM_MAIL_ASK, 7, 40);
    expect_posted(scene, "7 by 5 has of 40 2, kept 1; ");
    tell_pair(scene, LBM_MAIL_ASK, 7, 41);
    expect_posted(scene, "7 by 5 has of 41 1, kept 0; ");
    checkpoint(scene, 7);
    expect_posted(scene, "7 by 5 has of 40 2, kept 2; 7 by 5 has of 41 1, kept 1; ");
}

/* With send_kept: what is sent while a checkpoint is on its way waits for the next one. */
static void
what_is_sent_during_a_checkpoint_waits_for_the_next(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {"state", 5}};
    begin(scene, 1);
    daemon_push_neighbour_at(&scene->daemon, 7, 5, 40, PEER);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, "one", 3), LBMAP_OK);
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(lbmap_send(scene->map, 7, 40, 1, "two", 3), LBMAP_OK);
    expect_nothing_posted(scene);
    daemon_answer_late(&scene->daemon);
    expect_posted(scene, "letter 7 to 40, 1, 1: one; ");
    expect_done(scene);
    tell_answer(scene, 40, 7, 3, 1, 1);
    expect_nothing_posted(scene);
    checkpoint(scene, 7);
    expect_posted(scene, "letter 7 to 40, 2, 1: two; ");
}

/* Nobody has asked for messages. */
static void
without_deliver_nothing_is_sent(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_callbacks callbacks = {.size = offsetof(struct lbmap_callbacks, deliver),
                                              .context = scene,
                                              .acquire = scene_on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked,
                                              .deliver = on_deliver};
    assert_int_equal(lbmap_send(scene->map, 7, 8, 1, "hello", 5), LBMAP_E_STATE);
    assert_int_equal(lbmap_serve(scene->map, &callbacks), LBMAP_OK);
    assert_int_equal(scene->daemon.n_published, 0);
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "mine");
    scene_expect_told(scene, "acquire 7 5 \"mine\"; ");
    assert_int_equal(lbmap_send(scene->map, 7, 8, 1, "hello", 5), LBMAP_E_STATE);
    checkpoint(scene, 7);
    assert_string_equal(scene->daemon.kept[0].payload, "state");
}

int
main(void)
{
#define TALKING(test) cmocka_unit_test_setup_teardown(test, set_up, scene_tear_down)
    const struct CMUnitTest tests[] = {
        TALKING(vertices_of_one_program_talk),
        TALKING(what_has_not_arrived_for_good_is_kept),
        TALKING(a_vertex_elsewhere_is_found_and_told_until_it_is_kept),
        TALKING(who_has_moved_is_looked_for),
        TALKING(who_is_silent_is_looked_for),
        TALKING(messages_come_once_and_in_order),
        TALKING(numbers_travel_with_the_vertex),
        cmocka_unit_test_setup_teardown(messages_may_wait_for_checkpoints, set_up_attached, scene_tear_down),
        TALKING(what_comes_during_a_checkpoint_is_not_kept_by_it),
        cmocka_unit_test_setup_teardown(what_is_sent_during_a_checkpoint_waits_for_the_next, set_up_attached,
                                        scene_tear_down),
        TALKING(moves_of_neighbours_are_told),
        TALKING(what_makes_no_sense_is_dropped),
        TALKING(bounds_are_errors),
        cmocka_unit_test_setup_teardown(without_deliver_nothing_is_sent, set_up_attached, scene_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
