/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application that serves a job, against a daemon that is a thread of the test with a real lease page. */
#include "config.h"

#include <math.h>
#include <pthread.h>
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
#include "daemon/lease_page.h"
#include "lbmap.h"
#include "tests/unit/api/scene.h"
#include "wire/lease_page.h"
#include "wire/wire.h"

enum { SECOND = 1000000 };

/* ---- the application ----------------------------------------------------------------------------------- */

enum { LARGE = 3 * LBM_BLOB_PIECE_MAX + 7 };
static char large[LARGE];

static void
on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct scene *scene = context;
    if (payload->len == LARGE) {
        lbm_buf_printf(&scene->told, "acquire %u %d %s; ", vertex, (int)token,
                       memcmp(payload->bytes, large, LARGE) == 0 ? "large" : "other");
        return;
    }
    lbm_buf_printf(&scene->told, "acquire %u %d \"%.*s\"; ", vertex, (int)token, (int)payload->len,
                   (const char *)payload->bytes);
}

static void
on_edges(void *context, uint32_t vertex, uint64_t token, const struct lbmap_edge *edges, size_t n)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "edges %u %d", vertex, (int)token);
    for (size_t i = 0; i < n; i++)
        lbm_buf_printf(&scene->told, " %u:%u", edges[i].other, edges[i].weight);
    lbm_buf_printf(&scene->told, "; ");
}

static void
on_peer_up(void *context, const struct lbmap_peer *peer)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "up %u %s %s %.*s%s; ", peer->host, peer->name, peer->address,
                   (int)peer->note_len, (const char *)peer->note, peer->finished ? " finished" : "");
}

static void
on_peer_down(void *context, uint32_t host)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "down %u; ", host);
}

static void
on_message(void *context, uint32_t host, const void *bytes, size_t n)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "from %u %.*s; ", host, (int)n, (const char *)bytes);
}

static void
expect_silence(struct scene *scene)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_null(scene->told.at);
}

/* Wait until the daemon has got that many. */
static void
expect_count(struct daemon *daemon, const size_t *count, size_t n)
{
    const struct timespec pause = {0, 1000000};
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    size_t got = 0;
    while (got < n && daemon_now_us() < end_us) {
        pthread_mutex_lock(&daemon->lock);
        got = *count;
        pthread_mutex_unlock(&daemon->lock);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(got, n);
}

static enum lbmap_error
serve(struct scene *scene)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = scene,
                                              .acquire = on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked};
    return lbmap_serve(scene->map, &callbacks);
}

/* A daemon whose lease lasts for a minute in term 1, and an application that has attached to its job. */
static int
set_up(void **state)
{
    struct scene *scene = scene_make();
    *state = scene;
    return 0;
}

/* The same, serving, and holding vertex 7 by token 5. */
static int
set_up_holding(void **state)
{
    set_up(state);
    struct scene *scene = *state;
    assert_int_equal(serve(scene), LBMAP_OK);
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "");
    scene_expect_told(scene, "acquire 7 5 \"\"; ");
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    return 0;
}

/* ---- what is given and asked back ---------------------------------------------------------------------- */

static void
vertices_come_with_their_payloads(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(serve(scene), LBMAP_OK);
    expect_silence(scene);
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "seven");
    daemon_push_acquire(&scene->daemon, 1, 9, 1, "");
    scene_expect_told(scene, "acquire 7 5 \"seven\"; acquire 9 1 \"\"; ");
}

/* Only to whom asked for them, and only of vertices that it holds by that token. */
static void
edges_are_told_of_what_is_held(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = scene,
                                              .acquire = on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked,
                                              .edges = on_edges};
    assert_int_equal(lbmap_serve(scene->map, &callbacks), LBMAP_OK);
    assert_int_equal(scene->daemon.wants_edges, 1);
    daemon_push_neighbours(&scene->daemon, 7, 5, 8);
    expect_silence(scene);
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "");
    daemon_push_neighbours(&scene->daemon, 7, 5, 8);
    daemon_push_neighbours(&scene->daemon, 7, 4, 9);
    daemon_push_neighbours(&scene->daemon, 6, 5, 9);
    daemon_push_neighbours(&scene->daemon, 7, 5, LBM_NONE);
    daemon_push_release(&scene->daemon, 7, 5);
    daemon_push_neighbours(&scene->daemon, 7, 5, 8);
    scene_expect_told(scene, "acquire 7 5 \"\"; edges 7 5 8:3; edges 7 5; release 7 5; ");
    expect_silence(scene);
}

static void
edges_are_not_told_to_whom_did_not_ask(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(scene->daemon.wants_edges, 0);
    daemon_push_neighbours(&scene->daemon, 7, 5, 8);
    expect_silence(scene);
}

static void
a_release_returns_the_payload(void **state)
{
    struct scene *scene = *state;
    scene->returned = (struct lbmap_payload){"done", 4};
    daemon_push_release(&scene->daemon, 7, 5);
    scene_expect_told(scene, "release 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_int_equal(scene->daemon.released[0].vertex, 7);
    assert_int_equal(scene->daemon.released[0].token, 5);
    assert_string_equal(scene->daemon.released[0].payload, "done");
}

static void
a_release_without_payload_leaves_it(void **state)
{
    struct scene *scene = *state;
    daemon_push_release(&scene->daemon, 7, 5);
    scene_expect_told(scene, "release 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_string_equal(scene->daemon.released[0].payload, "-");
}

static void
what_is_not_held_is_released_without_a_word(void **state)
{
    struct scene *scene = *state;
    daemon_push_release(&scene->daemon, 8, 1);
    daemon_push_release(&scene->daemon, 7, 4);
    expect_silence(scene);
    expect_count(&scene->daemon, &scene->daemon.n_released, 2);
}

/* More than one message may name. */
static void
many_are_returned_in_several_messages(void **state)
{
    struct scene *scene = *state;
    enum { AT_ONCE = 4096, MANY = LBM_ROWS_MAX + AT_ONCE };
    for (uint32_t first = 100; first < 100 + MANY; first += AT_ONCE) {
        daemon_push_acquires(&scene->daemon, 1, first, AT_ONCE);
        assert_int_equal(lbmap_dispatch(scene->map, TIMEOUT_MS), LBMAP_OK);
    }
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 2, 1, 0);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_OK);
    expect_count(&scene->daemon, &scene->daemon.n_returned, 1 + MANY);
    assert_int_equal(scene->daemon.n_attach, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

static void
a_cancelled_job_ends_the_service(void **state)
{
    struct scene *scene = *state;
    char text[] = "the job is cancelled";
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.code = LBM_E_NOTFOUND;
    response.text = text;
    pthread_mutex_lock(&scene->daemon.lock);
    daemon_respond(scene->daemon.connection, scene->daemon.attach_id, 1, &response);
    pthread_mutex_unlock(&scene->daemon.lock);
    assert_int_equal(lbmap_dispatch(scene->map, TIMEOUT_MS), LBMAP_E_NOTFOUND);
    assert_string_equal(scene->told.at, "revoked 7 5; ");
    assert_string_equal(lbmap_message(scene->map), text);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_E_STATE);
}

/* ---- the lease ----------------------------------------------------------------------------------------- */

static void
near_its_end_nothing_is_begun(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + LBM_LEASE_STOP_US - 500000, 1, 1, 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_STOP);
    expect_silence(scene);
    lbm_lease_file_write(scene->daemon.page, INT64_MAX, 1, 1, 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

static void
what_is_lost_is_returned_in_its_own_term(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 2, 1, 0);
    daemon_push_acquire(&scene->daemon, 2, 7, 5, "again"); /* the same token: the record has not changed */
    scene_expect_told(scene, "revoked 7 5; acquire 7 5 \"again\"; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_int_equal(scene->daemon.released_term, 1);
}

static void
after_its_end_all_is_lost_even_if_it_is_renewed(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() - 1, 1, 1, 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 1, 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    scene_expect_told(scene, "revoked 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1); /* the daemon may not have noticed */
    daemon_push_acquire(&scene->daemon, 1, 7, 5, "again");
    scene_expect_told(scene, "acquire 7 5 \"again\"; ");
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

static void
a_higher_term_voids_what_was_given_before(void **state)
{
    struct scene *scene = *state;
    daemon_push_acquire(&scene->daemon, 1, 8, 1, "void");
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 2, 1, 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    scene_expect_told(scene, "revoked 7 5; ");
    expect_silence(scene);
    daemon_push_acquire(&scene->daemon, 2, 8, 1, "good");
    scene_expect_told(scene, "acquire 8 1 \"good\"; ");
}

/* A program that stood still goes on with what it was about to do. The daemon refuses it: it has given the
 * same vertex again. */
static void
what_is_kept_or_changed_is_so_by_the_term_in_which_it_was_acquired(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state old = {7, 5, {"old", 3}};
    const struct lbmap_vertex_change held = {.vertex = 7, .token = 5};
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 2, 1, 0);
    daemon_push_acquire(&scene->daemon, 2, 7, 5, "older");
    assert_int_equal(lbmap_checkpoint(scene->map, &old, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.kept_term, 1);
    scene->daemon.kept_term = 0;
    assert_int_equal(lbmap_change(scene->map, &held, 1, NULL, 0), LBMAP_OK);
    assert_int_equal(scene->daemon.kept_term, 1);
    scene_expect_told(scene, "revoked 7 5; acquire 7 5 \"older\"; ");
    assert_int_equal(lbmap_checkpoint(scene->map, &old, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.kept_term, 2);
}

static void
a_page_that_is_being_written_stops_but_loses_nothing(void **state)
{
    struct scene *scene = *state;
    uint64_t word[8], odd;
    FILE *page = fopen(scene->daemon.page_path, "r+e");
    assert_int_equal(fread(word, sizeof *word, 8, page), 8);
    odd = word[2] | 1;
    assert_int_equal(fseek(page, 16, SEEK_SET), 0);
    assert_int_equal(fwrite(&odd, sizeof odd, 1, page), 1);
    assert_int_equal(fflush(page), 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_STOP);
    expect_silence(scene);
    fclose(page);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 1, 0);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

/* ---- the daemon goes and comes ------------------------------------------------------------------------- */

static void
the_daemon_may_be_restarted(void **state)
{
    struct scene *scene = *state;
    daemon_die(&scene->daemon);
    expect_silence(scene);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    assert_int_equal(lbmap_fd(scene->map), -1);
    assert_int_equal(lbmap_events(scene->map), 0);
    daemon_begin(&scene->daemon);
    for (int i = 0; i < 100 && lbmap_fd(scene->map) < 0; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(lbmap_events(scene->map), LBMAP_READ);
    assert_int_equal(scene->daemon.n_attach, 2);
    assert_int_equal(scene->daemon.n_attached, 1);
    assert_int_equal(scene->daemon.attached[0].vertex, 7);
    assert_int_equal(scene->daemon.attached[0].token, 5);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    expect_silence(scene);
}

static void
without_a_daemon_the_lease_ends_in_time(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + SECOND / 5, 1, 1, 0);
    daemon_die(&scene->daemon);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_STOP);
    scene_expect_told(scene, "revoked 7 5; ");
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
}

static void
a_daemon_that_cuts_us_off_and_goes_on_takes_all(void **state)
{
    struct scene *scene = *state;
    const struct timespec pause = {0, 1000000};
    daemon_cut(&scene->daemon);
    for (int i = 0; i < TIMEOUT_MS && lbmap_lease_valid(scene->map) != LBMAP_LOST; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    scene_expect_told(scene, "revoked 7 5; ");
    for (int i = 0; i < 100 && scene->daemon.n_attach < 2; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(scene->daemon.n_attached, 0);
}

/* The program stood still: all this has happened meanwhile. */
static void
what_a_daemon_gave_before_it_cut_us_off_is_void(void **state)
{
    struct scene *scene = *state;
    daemon_push_acquire(&scene->daemon, 1, 9, 1, "void");
    daemon_cut(&scene->daemon);
    scene_expect_told(scene, "revoked 7 5; ");
    for (int i = 0; i < 100 && scene->daemon.n_attach < 2; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    daemon_push_acquire(&scene->daemon, 1, 9, 2, "good");
    scene_expect_told(scene, "acquire 9 2 \"good\"; ");
}

/* All this happened while the program stood still. In: programs with vertices by the page, and those that
 * have gone. */
static void
cut_and_die(struct scene *scene, uint32_t used, uint32_t gone)
{
    daemon_cut(&scene->daemon);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, used, gone);
    daemon_die(&scene->daemon);
}

static void
expect_all_lost(struct scene *scene)
{
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    scene_expect_told(scene, "revoked 7 5; ");
    expect_silence(scene);
}

/* The page says that nobody is promised anything. */
static void
a_daemon_that_cut_us_off_and_died_has_taken_all(void **state)
{
    struct scene *scene = *state;
    daemon_push_acquire(&scene->daemon, 1, 9, 1, "void");
    cut_and_die(scene, 0, 0);
    expect_all_lost(scene);
}

/* The same where another program has vertices: the page promises something, but not to this one. */
static void
a_program_that_had_gone_when_its_daemon_died_has_lost_all_though_others_work(void **state)
{
    struct scene *scene = *state;
    cut_and_die(scene, 1, 1);
    expect_all_lost(scene);
}

/* It sees nothing of that before the next life of the daemon, which would take it for who has come back. */
static void
a_program_that_had_gone_in_the_life_before_comes_back_with_nothing(void **state)
{
    struct scene *scene = *state;
    cut_and_die(scene, 1, 1);
    daemon_begin(&scene->daemon);
    scene_expect_told(scene, "revoked 7 5; ");
    for (int i = 0; i < 100 && scene->daemon.n_attach < 2; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(scene->daemon.n_attached, 0);
}

static void
that_others_go_is_no_loss_for_who_is_connected(void **state)
{
    struct scene *scene = *state;
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 1, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    daemon_die(&scene->daemon);
    expect_silence(scene);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    daemon_begin(&scene->daemon);
    for (int i = 0; i < 100 && scene->daemon.n_attach < 2; i++)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_int_equal(scene->daemon.n_attached, 1);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
}

/* ---- checkpoints --------------------------------------------------------------------------------------- */

static void
a_checkpoint_is_answered_when_it_is_kept(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}}, strange = {8, 5, {"half", 4}};
    const struct lbmap_state endless = {7, 5, {"half", LBMAP_PAYLOAD_MAX + 1}};
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.n_kept, 1);
    assert_string_equal(scene->daemon.kept[0].payload, "half");
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 0), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &strange, 1), LBMAP_E_STATE);
    assert_int_equal(lbmap_checkpoint(scene->map, &endless, 1), LBMAP_E_RANGE);
    assert_int_equal(scene->daemon.n_kept, 1);
}

static void
fill_large(void)
{
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 31 >> 3);
}

static void
a_large_payload_goes_and_comes_in_pieces(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {large, LARGE}};
    fill_large();
    assert_int_equal(lbmap_checkpoint(scene->map, &kept, 1), LBMAP_OK);
    assert_int_equal(scene->daemon.n_pieces, 4);
    assert_int_equal(scene->daemon.n_blobs, 1);
    assert_int_equal(scene->daemon.blob.len, LARGE);
    assert_memory_equal(scene->daemon.blob.at, large, LARGE);
    assert_int_equal(lbmap_checkpoint(scene->map, &kept, 1), LBMAP_OK); /* it is there */
    assert_int_equal(scene->daemon.n_pieces, 4);
    assert_int_equal(scene->daemon.n_blobs, 2);
    daemon_push_acquire_large(&scene->daemon, 1, 8, 2);
    scene_expect_told(scene, "acquire 8 2 large; ");
    scene->returned = (struct lbmap_payload){large, LARGE};
    daemon_push_release(&scene->daemon, 8, 2);
    scene_expect_told(scene, "release 8 2; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_int_equal(scene->daemon.n_blobs, 3);
}

static void
a_large_payload_that_is_damaged_is_not_given(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {large, LARGE}};
    enum lbmap_error err = LBMAP_OK;
    fill_large();
    assert_int_equal(lbmap_checkpoint(scene->map, &kept, 1), LBMAP_OK);
    scene->daemon.damages_blob = 1;
    daemon_push_acquire_large(&scene->daemon, 1, 8, 2);
    for (int i = 0; i < 500 && err == LBMAP_OK; i++)
        err = lbmap_dispatch(scene->map, 20);
    assert_int_equal(err, LBMAP_E_CORRUPT);
    expect_silence(scene);
}

static void
a_large_payload_that_is_not_taken_leaves_the_last_one(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state kept = {7, 5, {large, LARGE}};
    enum lbmap_error err = LBMAP_OK;
    fill_large();
    scene->daemon.blob_error = LBM_E_VERSION;
    assert_int_equal(lbmap_checkpoint(scene->map, &kept, 1), LBMAP_E_VERSION);
    assert_int_equal(scene->daemon.n_kept, 0);
    scene->returned = (struct lbmap_payload){large, LARGE};
    daemon_push_release(&scene->daemon, 7, 5);
    for (int i = 0; i < 500 && err == LBMAP_OK; i++)
        err = lbmap_dispatch(scene->map, 20);
    assert_int_equal(err, LBMAP_E_VERSION);
    scene_expect_told(scene, "release 7 5; ");
    expect_count(&scene->daemon, &scene->daemon.n_released, 1);
    assert_string_equal(scene->daemon.released[0].payload, "-");
}

static void
many_checkpoints_take_several_messages(void **state)
{
    struct scene *scene = *state;
    enum { MANY = LBM_ROWS_MAX + 1 };
    struct lbmap_state *states = calloc(MANY, sizeof *states);
    for (size_t i = 0; i < MANY; i++)
        states[i] = (struct lbmap_state){7, 5, {"", 0}};
    assert_int_equal(lbmap_checkpoint(scene->map, states, MANY), LBMAP_OK);
    assert_int_equal(scene->daemon.n_attach, 1);
    free(states);
}

/* The daemon would end the connection, and take back all that is held. */
static void
what_the_daemon_would_not_read_is_not_sent(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_vertex_change held = {.vertex = 7, .token = 5};
    const struct lbmap_vertex_change changes[] = {{.vertex = LBMAP_NOWHERE, .near = 7, .work = 1},
                                                  {.vertex = 7, .token = 5, .work = UINT32_MAX},
                                                  {.vertex = 7, .token = UINT64_MAX}};
    const struct lbmap_edge_change edges[] = {{7, 8, UINT32_MAX}, {7, LBMAP_NOWHERE, 1}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_int_equal(lbmap_change(scene->map, &changes[i], 1, NULL, 0), LBMAP_E_RANGE);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        assert_int_equal(lbmap_change(scene->map, &held, 1, &edges[i], 1), LBMAP_E_RANGE);
    assert_non_null(strstr(lbmap_message(scene->map), "change.other"));
    expect_silence(scene);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    assert_int_equal(scene->daemon.n_attach, 1);
}

/* It is no reason to give up what is held. */
static void
a_daemon_that_is_away_is_waited_for(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}};
    const struct lbmap_load load = {7, 5, 2};
    uint32_t vertex;
    daemon_die(&scene->daemon);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_E_BUSY);
    assert_int_equal(lbmap_report_load(scene->map, &load, 1), LBMAP_E_BUSY);
    assert_int_equal(lbmap_new_vertices(scene->map, &vertex, 1), LBMAP_E_BUSY);
    daemon_begin(&scene->daemon);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 2, 0);
    expect_silence(scene);
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
}

static void
loads_are_reported_all_or_none(void **state)
{
    struct scene *scene = *state;
    enum { MANY = 5000 }; /* more than one request has */
    struct lbmap_load *loads = calloc(MANY, sizeof *loads);
    for (uint32_t v = 0; v < MANY; v++)
        loads[v] = (struct lbmap_load){v, 5, 2};
    assert_int_equal(lbmap_report_load(scene->map, loads, MANY), LBMAP_OK);
    assert_true(scene->daemon.load == 2 * MANY);
    assert_int_equal(lbmap_set_load(scene->map, loads, MANY), LBMAP_OK);
    assert_true(scene->daemon.load == 4 * MANY);
    loads[MANY - 1].load = -1;
    assert_int_equal(lbmap_report_load(scene->map, loads, MANY), LBMAP_E_RANGE);
    loads[MANY - 1].load = HUGE_VAL;
    assert_int_equal(lbmap_report_load(scene->map, loads, MANY), LBMAP_E_RANGE);
    assert_int_equal(lbmap_set_load(scene->map, loads, MANY), LBMAP_E_RANGE);
    assert_true(scene->daemon.load == 4 * MANY);
    free(loads);
}

static void
a_late_checkpoint_costs_nothing_but_the_time(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}};
    scene->daemon.late_answers = 1;
    assert_int_equal(lbmap_set_timeout(scene->map, 50), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_E_TIMEOUT);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
    assert_int_equal(lbmap_set_timeout(scene->map, TIMEOUT_MS), LBMAP_OK);
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
    expect_silence(scene);
    assert_int_equal(scene->daemon.n_attach, 1);
}

static void
what_comes_during_a_checkpoint_waits_for_dispatch(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_state good = {7, 5, {"half", 4}};
    daemon_push_acquire(&scene->daemon, 1, 9, 1, "nine");
    assert_int_equal(lbmap_checkpoint(scene->map, &good, 1), LBMAP_OK);
    assert_null(scene->told.at);
    scene_expect_told(scene, "acquire 9 1 \"nine\"; ");
}

/* ---- other programs ------------------------------------------------------------------------------------ */

static enum lbmap_error
serve_with_others(struct scene *scene, size_t size)
{
    const struct lbmap_callbacks callbacks = {.size = size,
                                              .context = scene,
                                              .acquire = on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked,
                                              .peer_up = on_peer_up,
                                              .peer_down = on_peer_down,
                                              .message = on_message};
    return lbmap_serve(scene->map, &callbacks);
}

static void
other_programs_are_told_of_and_heard(void **state)
{
    struct scene *scene = *state;
    struct daemon *daemon = &scene->daemon;
    assert_int_equal(serve_with_others(scene, sizeof(struct lbmap_callbacks)), LBMAP_OK);
    assert_int_equal(daemon->n_published, 0);
    assert_int_equal(lbmap_publish(scene->map, "here", 4), LBMAP_OK);
    assert_string_equal(daemon->note, "here");
    daemon_push_place(daemon, 9, 1, 0);
    daemon_push_posted(daemon, 9, "hello");
    daemon_push_place(daemon, 9, 0, 0);
    scene_expect_told(scene, "up 9 h9 10.0.0.9:7411 note; from 9 hello; down 9; ");
    daemon_push_place(daemon, 9, 0, 1);
    scene_expect_told(scene, "up 9 h9 10.0.0.9:7411 note finished; down 9; ");
    assert_int_equal(lbmap_post(scene->map, 9, "answer", 6), LBMAP_OK);
    assert_int_equal(lbmap_finish(scene->map), LBMAP_OK);
    assert_int_equal(daemon->n_posted, 1);
    assert_int_equal(daemon->finished, 1);
    assert_string_equal(daemon->note, "here");
}

static void
what_is_published_is_told_to_the_next_daemon(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(serve_with_others(scene, sizeof(struct lbmap_callbacks)), LBMAP_OK);
    assert_int_equal(lbmap_publish(scene->map, "here", 4), LBMAP_OK);
    daemon_die(&scene->daemon);
    assert_int_equal(lbmap_dispatch(scene->map, 200), LBMAP_OK);
    assert_int_equal(lbmap_post(scene->map, 9, "lost", 4), LBMAP_E_BUSY);
    memset(scene->daemon.note, 0, sizeof scene->daemon.note);
    daemon_begin(&scene->daemon);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 1, 0);
    assert_int_equal(lbmap_dispatch(scene->map, 500), LBMAP_OK);
    expect_count(&scene->daemon, &scene->daemon.n_published, 2);
    assert_string_equal(scene->daemon.note, "here");
}

static void
begin_again(struct scene *scene, size_t n_published)
{
    daemon_die(&scene->daemon);
    assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    daemon_begin(&scene->daemon);
    lbm_lease_file_write(scene->daemon.page, daemon_now_us() + 60 * SECOND, 1, 1, 0);
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    for (size_t n = 0; n < n_published && daemon_now_us() < end_us;) {
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
        pthread_mutex_lock(&scene->daemon.lock);
        n = scene->daemon.n_published;
        pthread_mutex_unlock(&scene->daemon.lock);
    }
}

/* Nobody tells of its end: the daemon that there is now has never heard of it. */
static void
a_program_that_the_next_daemon_does_not_know_is_gone(void **state)
{
    struct scene *scene = *state;
    struct daemon *daemon = &scene->daemon;
    const char up[] = "up 9 h9 10.0.0.9:7411 note; ";
    assert_int_equal(serve_with_others(scene, sizeof(struct lbmap_callbacks)), LBMAP_OK);
    assert_int_equal(lbmap_publish(scene->map, "here", 4), LBMAP_OK);
    daemon_push_place(daemon, 9, 1, 0);
    scene_expect_told(scene, up);
    begin_again(scene, 2); /* in time it is told of again: it was there all the while */
    daemon_push_place(daemon, 9, 1, 0);
    scene_expect_told(scene, up);
    assert_int_equal(lbmap_set_timeout(scene->map, 200), LBMAP_OK);
    begin_again(scene, 3);
    scene_expect_told(scene, "down 9; ");
    daemon_push_place(daemon, 9, 1, 0);
    scene_expect_told(scene, up);
    expect_silence(scene);
}

static void
notes_and_messages_have_bounds(void **state)
{
    struct scene *scene = *state;
    static char bytes[LBMAP_MESSAGE_MAX + 1];
    assert_int_equal(lbmap_publish(scene->map, bytes, 1), LBMAP_E_STATE);
    assert_int_equal(lbmap_post(scene->map, 9, bytes, 1), LBMAP_E_STATE);
    assert_int_equal(lbmap_finish(scene->map), LBMAP_E_STATE);
    assert_int_equal(serve_with_others(scene, sizeof(struct lbmap_callbacks)), LBMAP_OK);
    assert_int_equal(lbmap_publish(scene->map, bytes, LBMAP_NOTE_MAX + 1), LBMAP_E_RANGE);
    assert_int_equal(lbmap_post(scene->map, 9, bytes, 0), LBMAP_E_RANGE);
    assert_int_equal(lbmap_post(scene->map, 9, bytes, sizeof bytes), LBMAP_E_RANGE);
    assert_int_equal(lbmap_post(scene->map, UINT32_MAX, bytes, 1), LBMAP_E_RANGE);
    assert_int_equal(lbmap_post(scene->map, 9, bytes, sizeof bytes - 1), LBMAP_OK);
    expect_count(&scene->daemon, &scene->daemon.n_posted, 1);
}

/* A program that was built with an earlier header has fewer callbacks; what lies behind them is not read. */
static void
callbacks_beyond_the_size_are_not_called(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(serve_with_others(scene, 0), LBMAP_E_RANGE);
    assert_int_equal(serve_with_others(scene, offsetof(struct lbmap_callbacks, peer_up)), LBMAP_OK);
    daemon_push_place(&scene->daemon, 9, 1, 0);
    daemon_push_posted(&scene->daemon, 9, "hello");
    expect_silence(scene);
}

/* Before every step of a vertex: the bound is a third of what one poll and the clock cost. */
static void
a_look_at_the_lease_is_cheap(void **state)
{
    struct scene *scene = *state;
    enum { LOOKS = 20000, TRIES = 20, NS_MAX = 500 };
    double least_ns = 1e9;
    for (int try = 0; try < TRIES; try++) {
        int64_t begin_us = daemon_now_us();
        for (int i = 0; i < LOOKS; i++)
            assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_WORK);
        double ns = (double)(daemon_now_us() - begin_us) * 1e3 / LOOKS;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    print_message("a look at the lease takes %.0f ns\n", least_ns);
    assert_true(least_ns < NS_MAX);
}

/* ---- beginning ----------------------------------------------------------------------------------------- */

static void
what_cannot_be_served_is_refused(void **state)
{
    struct scene *scene = *state;
    const struct lbmap_callbacks none = {.size = sizeof(struct lbmap_callbacks), .context = scene};
    struct lbmap *fresh = NULL;
    assert_int_equal(lbmap_serve(scene->map, &none), LBMAP_E_RANGE);
    assert_int_equal(lbmap_dispatch(scene->map, 0), LBMAP_E_STATE);
    assert_int_equal(lbmap_lease_valid(scene->map), LBMAP_LOST);
    assert_int_equal(lbmap_checkpoint(scene->map, NULL, 0), LBMAP_E_STATE);
    assert_int_equal(lbmap_report_load(scene->map, NULL, 0), LBMAP_E_STATE);
    scene->daemon.refusal = LBM_E_BUSY;
    assert_int_equal(serve(scene), LBMAP_E_BUSY);
    assert_string_equal(lbmap_message(scene->map), "not now");
    scene->daemon.refusal = LBM_OK;
    assert_int_equal(serve(scene), LBMAP_OK);
    assert_int_equal(serve(scene), LBMAP_E_STATE);
    assert_int_equal(lbmap_attach(scene->map, "job"), LBMAP_E_STATE);
    lbmap_close(scene->map);
    scene->map = NULL;
    assert_int_equal(lbmap_open(scene->daemon.path, &fresh), LBMAP_OK);
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = scene,
                                              .acquire = on_acquire,
                                              .release = scene_on_release,
                                              .revoked = scene_on_revoked};
    assert_int_equal(lbmap_serve(fresh, &callbacks), LBMAP_E_STATE); /* no job */
    lbmap_close(fresh);
}

static void
without_a_page_nothing_is_served(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(truncate(scene->daemon.page_path, 8), 0);
    assert_int_equal(serve(scene), LBMAP_E_IO);
    assert_int_equal(truncate(scene->daemon.page_path, LBM_LEASE_PAGE_BYTES), 0);
    unlink(scene->daemon.page_path);
    assert_int_equal(serve(scene), LBMAP_E_IO);
    assert_non_null(strstr(lbmap_message(scene->map), "lease page"));
}

int
main(void)
{
#define SERVING(test) cmocka_unit_test_setup_teardown(test, set_up_holding, scene_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(vertices_come_with_their_payloads, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(edges_are_told_of_what_is_held, set_up, scene_tear_down),
        SERVING(edges_are_not_told_to_whom_did_not_ask),
        SERVING(a_release_returns_the_payload),
        SERVING(a_release_without_payload_leaves_it),
        SERVING(what_is_not_held_is_released_without_a_word),
        SERVING(a_cancelled_job_ends_the_service),
        SERVING(near_its_end_nothing_is_begun),
        SERVING(what_is_lost_is_returned_in_its_own_term),
        SERVING(many_are_returned_in_several_messages),
        SERVING(many_checkpoints_take_several_messages),
        SERVING(what_the_daemon_would_not_read_is_not_sent),
        SERVING(a_daemon_that_is_away_is_waited_for),
        SERVING(after_its_end_all_is_lost_even_if_it_is_renewed),
        SERVING(a_higher_term_voids_what_was_given_before),
        SERVING(what_is_kept_or_changed_is_so_by_the_term_in_which_it_was_acquired),
        SERVING(a_page_that_is_being_written_stops_but_loses_nothing),
        SERVING(the_daemon_may_be_restarted),
        SERVING(without_a_daemon_the_lease_ends_in_time),
        SERVING(a_daemon_that_cuts_us_off_and_goes_on_takes_all),
        SERVING(what_a_daemon_gave_before_it_cut_us_off_is_void),
        SERVING(a_daemon_that_cut_us_off_and_died_has_taken_all),
        SERVING(a_program_that_had_gone_when_its_daemon_died_has_lost_all_though_others_work),
        SERVING(a_program_that_had_gone_in_the_life_before_comes_back_with_nothing),
        SERVING(that_others_go_is_no_loss_for_who_is_connected),
        SERVING(a_checkpoint_is_answered_when_it_is_kept),
        SERVING(a_large_payload_goes_and_comes_in_pieces),
        SERVING(a_large_payload_that_is_damaged_is_not_given),
        SERVING(a_large_payload_that_is_not_taken_leaves_the_last_one),
        SERVING(loads_are_reported_all_or_none),
        SERVING(a_late_checkpoint_costs_nothing_but_the_time),
        SERVING(what_comes_during_a_checkpoint_waits_for_dispatch),
        cmocka_unit_test_setup_teardown(other_programs_are_told_of_and_heard, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(what_is_published_is_told_to_the_next_daemon, set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(a_program_that_the_next_daemon_does_not_know_is_gone, set_up,
                                        scene_tear_down),
        cmocka_unit_test_setup_teardown(notes_and_messages_have_bounds, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(callbacks_beyond_the_size_are_not_called, set_up, scene_tear_down),
        SERVING(a_look_at_the_lease_is_cheap),
        cmocka_unit_test_setup_teardown(what_cannot_be_served_is_refused, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(without_a_page_nothing_is_served, set_up, scene_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
