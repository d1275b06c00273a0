/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints while the program goes on, against a daemon that is a thread of the test. */
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

#include "base/limits.h"
#include "base/mem.h"
#include "lbmap.h"
#include "tests/unit/api/scene.h"
#include "wire/lease_page.h"

enum { SECOND = 1000000, LARGE = 40 * LBM_BLOB_PIECE_MAX + 7 };

static char large[LARGE];

/* It holds vertices 7 and 8. */
static int
set_up(void **state)
{
    struct scene *scene = scene_make();
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = scene,
                                              .acquire = scene_on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked};
    scene->returned = (struct lbmap_payload){"last", 4};
    assert_int_equal(lbmap_serve(scene->map, &callbacks), LBMAP_OK);
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "");
    daemon_push_acquire(&scene->daemon, 1, 8, 5, "");
    scene_expect_told(scene, "acquire 7 5 \"\"; acquire 8 5 \"\"; ");
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 31 >> 3);
    *state = scene;
    return 0;
}

/* Ask until it is over; with `dispatches` it is lbmap_dispatch that makes it go on. */
static enum lbmap_error
end_of_it(struct scene *scene, int dispatches)
{
    const struct timespec pause = {0, 1000000};
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    enum lbmap_error error = LBMAP_OK;
    int done = 0;
    while (!done && daemon_now_us() < end_us) {
        if (dispatches)
            assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
        else
            nanosleep(&pause, NULL);
        error = lbmap_checkpoint_done(scene->map, &done);
    }
    assert_true(done);
    return error;
}

static void
expect_not_done(struct scene *scene)
{
    int done = 1;
    assert_int_equal(lbmap_checkpoint_done(scene->map, &done), LBMAP_OK);
    assert_int_equal(done, 0);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void
a_checkpoint_is_done_once_it_is_kept(void **state)
{
    struct scene *scene = *state;
    char bytes[] = "half";
    const struct lbmap_state kept[] = {{7, 5, {bytes, 4}}, {8, 5, {"", 0}}};
    int done = 0;
    assert_int_equal(lbmap_checkpoint_done(scene->map, &done), LBMAP_OK); /* there is none */
    assert_int_equal(done, 1);
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_OK);
    memset(bytes, 'x', 4); /* it is copied */
    expect_not_done(scene);
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 1), LBMAP_E_BUSY);
    assert_non_null(strstr(lbmap_message(scene->map), "in progress"));
    assert_int_equal(lbmap_checkpoint(scene->map, kept, 1), LBMAP_E_BUSY);
    expect_not_done(scene);
    daemon_answer_late(&scene->daemon);
    assert_int_equal(end_of_it(scene, 0), LBMAP_OK);
    assert_int_equal(scene->daemon.n_kept, 2);
    assert_string_equal(scene->daemon.kept[0].payload, "half");
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 0), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint_done(scene->map, &done), LBMAP_OK); /* of nothing */
    assert_int_equal(done, 1);
    assert_int_equal(lbmap_checkpoint(scene->map, kept, 1), LBMAP_OK);
}

static void
what_cannot_be_kept_is_not_begun(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state strange[] = {{7, 5, {"half", 4}}, {9, 5, {"half", 4}}};
    const struct lbmap_state endless = {7, 5, {"half", LBMAP_PAYLOAD_MAX + 1}};
    int done = 0;
    assert_int_equal(lbmap_checkpoint_start(scene->map, strange, 2), LBMAP_E_STATE);
    assert_int_equal(lbmap_checkpoint_start(scene->map, &endless, 1), LBMAP_E_RANGE);
    assert_int_equal(lbmap_checkpoint_done(scene->map, &done), LBMAP_OK);
    assert_int_equal(scene->daemon.n_kept, 0);
}

static void
large_payloads_go_in_pieces(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept[] = {{7, 5, {large, LARGE}}, {8, 5, {"small", 5}}};
    for (int dispatches = 0; dispatches < 2; dispatches++) {
        large[0] = (char)dispatches;
        assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_OK);
        assert_int_equal(end_of_it(scene, dispatches), LBMAP_OK);
        assert_int_equal(scene->daemon.n_pieces, 41 * (1 + dispatches));
        assert_int_equal(scene->daemon.blob.len, LARGE);
        assert_memory_equal(scene->daemon.blob.at, large, LARGE);
    }
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 1), LBMAP_OK); /* the daemon has it */
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.n_pieces, 82);
    assert_int_equal(scene->daemon.n_blobs, 3);
}

/* The socket takes less than what waits; what the program asks meanwhile goes behind it. */
static void
a_daemon_that_does_not_read_is_not_waited_for(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {large, LARGE}};
    const struct lbmap_load load = {7, 5, 2};
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    while (scene->daemon.n_pieces < 2)
        expect_not_done(scene);
    pthread_mutex_lock(&scene->daemon.lock);
    for (int i = 0; i < 100; i++)
        expect_not_done(scene);
    assert_int_equal(lbmap_events(scene->map), LBMAP_READ | LBMAP_WRITE);
    assert_true(scene->daemon.n_pieces < 41);
    pthread_mutex_unlock(&scene->daemon.lock);
    assert_int_equal(lbmap_report_load(scene->map, &load, 1), LBMAP_OK);
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK);
    assert_memory_equal(scene->daemon.blob.at, large, LARGE);
    assert_int_equal(lbmap_events(scene->map), LBMAP_READ);
}

static void
a_payload_that_is_not_taken_ends_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept[] = {{7, 5, {large, LARGE}}, {8, 5, {"small", 5}}};
    scene->daemon.blob_error = LBM_E_VERSION;
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_OK);
    assert_int_equal(end_of_it(scene, 1), LBMAP_E_VERSION);
    assert_int_equal(scene->daemon.n_kept, 0);
    scene->daemon.blob_error = LBM_OK;
    assert_int_equal(lbmap_checkpoint(scene->map, kept, 2), LBMAP_OK);
}

/* What it was released with is newer. */
static void
a_vertex_that_is_released_meanwhile_is_no_part_of_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept[] = {{7, 5, {"half", 4}}, {8, 5, {"other", 5}}};
    daemon_push_release(&scene->daemon, 7, 5);
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_OK);
    while (scene->told.at == NULL)
        assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_OK);
    scene_expect_told(scene, "release 7 5; ");
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK);
    assert_string_equal(scene->daemon.released[0].payload, "last");
    for (size_t i = 0; i < scene->daemon.n_kept; i++)
        assert_true(scene->daemon.kept[i].vertex == 8 || scene->daemon.n_kept == 2);
}

/* The same of one that was revoked: also if it comes back with its token, from an older payload. */
static void
a_vertex_that_comes_back_is_no_part_of_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {"half", 4}};
    const struct lbmap_load load = {7, 5, 2};
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 2, 2, 0);
    daemon_push_acquire(&scene->daemon, 2, 7, 5, "old");
    assert_int_equal(lbmap_report_load(scene->map, &load, 1), LBMAP_OK); /* it has come */
    scene_expect_told(scene, "revoked 8 5; revoked 7 5; acquire 7 5 \"old\"; ");
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.n_kept, 0);
}

static void
a_newer_payload_of_a_change_stays(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {"half", 4}};
    const struct lbmap_vertex_change change = {.vertex = 7, .token = 5, .payload = {"newer", 5}};
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    assert_int_equal(lbmap_change(scene->map, &change, 1, NULL, 0), LBMAP_OK);
    assert_int_equal(scene->daemon.n_changes, 1);
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.n_kept, 0);
}

static void
a_daemon_that_goes_away_ends_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept[] = {{7, 5, {large, LARGE}}, {8, 5, {"small", 5}}};
    scene->daemon.late_answers = DAEMON_LISTED;
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_OK);
    expect_not_done(scene);
    daemon_die(&scene->daemon);
    assert_int_equal(end_of_it(scene, 1), LBMAP_E_BUSY);
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_E_BUSY);
    scene->daemon.late_answers = 0;
    scene->daemon.n_unanswered = 0;
    daemon_begin(&scene->daemon);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 2, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_null(scene->told.at);
    assert_int_equal(lbmap_checkpoint_start(scene->map, kept, 2), LBMAP_OK);
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK);
}

/* It comes back before anybody asks: what was on its way to the one before is not known to be kept. */
static void
a_daemon_that_has_come_back_ends_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {"half", 4}};
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    expect_not_done(scene);
    daemon_die(&scene->daemon);
    scene->daemon.n_unanswered = 0;
    daemon_begin(&scene->daemon);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 2, 0);
    for (int i = 0; i < 100 && scene->daemon.n_attach < 2; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(end_of_it(scene, 0), LBMAP_E_BUSY);
}

static void
an_answer_that_does_not_come_ends_it(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {"half", 4}};
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_set_timeout(scene->map, 50), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    assert_int_equal(end_of_it(scene, 0), LBMAP_E_TIMEOUT);
    assert_int_equal(lbmap_set_timeout(scene->map, TIMEOUT_MS), LBMAP_OK);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    assert_int_equal(end_of_it(scene, 1), LBMAP_OK); /* the late answer is dropped */
    assert_int_equal(scene->daemon.n_attach, 1);
}

static void
it_may_be_left_in_progress(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {large, LARGE}};
    assert_int_equal(lbmap_checkpoint_start(scene->map, &kept, 1), LBMAP_OK);
    expect_not_done(scene);
}

int
main(void)
{
#define CHECKPOINT(test) cmocka_unit_test_setup_teardown(test, set_up, scene_tear_down)
    const struct CMUnitTest tests[] = {
        CHECKPOINT(a_checkpoint_is_done_once_it_is_kept),
        CHECKPOINT(what_cannot_be_kept_is_not_begun),
        CHECKPOINT(large_payloads_go_in_pieces),
        CHECKPOINT(a_daemon_that_does_not_read_is_not_waited_for),
        CHECKPOINT(a_payload_that_is_not_taken_ends_it),
        CHECKPOINT(a_vertex_that_is_released_meanwhile_is_no_part_of_it),
        CHECKPOINT(a_vertex_that_comes_back_is_no_part_of_it),
        CHECKPOINT(a_newer_payload_of_a_change_stays),
        CHECKPOINT(a_daemon_that_goes_away_ends_it),
        CHECKPOINT(a_daemon_that_has_come_back_ends_it),
        CHECKPOINT(an_answer_that_does_not_come_ends_it),
        CHECKPOINT(it_may_be_left_in_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
