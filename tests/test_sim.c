/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator itself: its clocks and disks do what they say, and each check fires on what it is for. A
 * check that cannot fire would prove nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "sim/internal.h"

enum { JOB = 7, SECOND = 1000000, FOUNDING = 3 /* entries of the control log */ };

/* ---- clocks -------------------------------------------------------------------------------------------- */

static void
a_clock_gains_what_its_rate_says(void **state)
{
    (void)state;
    struct sim_clock clock = {0, 500, 10000};
    assert_int_equal(clock_shows(&clock, 0), 500);
    assert_int_equal(clock_shows(&clock, 100 * SECOND), 500 + 101 * (int64_t)SECOND);
    clock_set_rate(&clock, 100 * SECOND, -10000);
    assert_int_equal(clock_shows(&clock, 200 * SECOND), 500 + 200 * (int64_t)SECOND);
}

static void
a_clock_reaches_a_time_at_the_first_moment_that_shows_it(void **state)
{
    (void)state;
    const int32_t rates[] = {0, 1, -1, 333, -4950, 9999, 10000, -10000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct sim_clock clock = {1000, 77, rates[i]};
        for (int64_t shown = 78; shown < 400 * (int64_t)SECOND; shown = shown * 3 + 1) {
            int64_t at = clock_reaches(&clock, shown);
            assert_true(clock_shows(&clock, at) >= shown);
            assert_true(clock_shows(&clock, at - 1) < shown);
        }
        assert_int_equal(clock_reaches(&clock, 5), 1000);
        assert_int_equal(clock_reaches(&clock, INT64_MAX), INT64_MAX);
    }
}

/* ---- disks --------------------------------------------------------------------------------------------- */

struct scene {
    struct check check;
    struct disk disk[2];
    struct lbm_graph g;
};

static const char *
apply(struct scene *s, uint32_t host, const struct lbm_persist_op *op)
{
    check_op(&s->check, &s->disk[host], op);
    const char *wrong = disk_apply(&s->disk[host], op);
    check_transaction(&s->check);
    return wrong;
}

static void
log_command(struct scene *s, uint32_t host, uint64_t index, const Lbm__Command *command)
{
    uint8_t bytes[256];
    struct lbm_persist_op op = {.kind = LBM_PERSIST_LOG};
    op.as.log.index = index;
    op.as.log.command = bytes;
    op.as.log.len = lbm__command__pack(command, bytes);
    assert_null(apply(s, host, &op));
}

/* A cluster that host 0 founds; it is active. */
static void
log_founding(struct scene *s)
{
    char name[] = "h0", cluster_name[] = "test", address[] = "127.0.0.1:7000";
    double site[2] = {0.5, 0.5};
    Lbm__Command command = LBM__COMMAND__INIT;
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = 1;
    found.name = cluster_name;
    found.dimensions = 2;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    log_command(s, 0, 1, &command);
    Lbm__Join join = LBM__JOIN__INIT;
    join.incarnation = 1;
    join.name = name;
    join.address = address;
    join.capacity = 1;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    log_command(s, 0, 2, &command);
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.incarnation = 1;
    activate.n_site = 2;
    activate.site = site;
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    log_command(s, 0, 3, &command);
}

/* Two disks; the first has a guest of six vertices, and the log its job. */
static void
scene_begin(struct scene *s)
{
    struct lbm_diag diag;
    *s = (struct scene){.check = {.n_hosts = 2}};
    assert_int_equal(lbm_graph_generate("lattice:3x2", 1, &s->g, &diag), LBM_OK);
    for (uint32_t p = 0; p < 2; p++)
        s->disk[p] = (struct disk){
            .place = p, .known = 1, .incarnation = 1, .watcher = check_record, .watcher_arg = &s->check};
    struct lbm_persist_op guest = {.kind = LBM_PERSIST_GUEST, .job = JOB};
    guest.as.guest.graph = &s->g;
    guest.as.guest.seq = 1;
    assert_null(apply(s, 0, &guest));
    log_founding(s);
    char name[] = "job";
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = JOB;
    create.name = name;
    create.vertices = 6;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = &create;
    log_command(s, 0, FOUNDING + 1, &command);
    assert_string_equal(s->check.invariant, "");
}

static void
scene_end(struct scene *s)
{
    disk_free(&s->disk[0]);
    disk_free(&s->disk[1]);
    check_free(&s->check);
    lbm_graph_free(&s->g);
}

/* The row of a vertex as host 0 has it, at another rank. */
static struct lbm_row
row_at(const struct scene *s, uint32_t vertex, uint64_t epoch, enum lbm_stage stage)
{
    struct lbm_row row = *rows_get(&s->disk[0].rows, JOB, vertex);
    row.epoch = epoch;
    row.stage = stage;
    return row;
}

static const char *
put_row(struct scene *s, uint32_t host, struct lbm_row row)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW, .job = JOB};
    op.as.row = row;
    return apply(s, host, &op);
}

static const char *
put_replica(struct scene *s, uint32_t host, uint32_t owner, struct lbm_row *row, int fresh)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_REPLICA, .job = JOB};
    op.as.replica.owner = owner;
    op.as.replica.incarnation = 1;
    op.as.replica.generation = 4;
    op.as.replica.seq = 9;
    op.as.replica.fresh = fresh;
    op.as.replica.row = row;
    op.as.replica.n = row != NULL;
    return apply(s, host, &op);
}

static void
a_disk_gives_back_what_it_was_given(void **state)
{
    (void)state;
    struct scene s;
    struct lbm_recovered recovered;
    scene_begin(&s);
    struct lbm_row row = row_at(&s, 2, 4, LBM_STAGE_OUT);
    row.seq = 50;
    assert_null(put_row(&s, 0, row));
    row = row_at(&s, 3, 2, LBM_STAGE_OWN);
    assert_null(put_replica(&s, 0, 1, &row, 1));
    struct disk copy;
    disk_copy(&s.disk[0], &copy);
    disk_recover(&copy, &recovered);
    assert_int_equal(recovered.seq, 50);
    assert_int_equal(recovered.rows.n, 6);
    for (uint32_t v = 0; v < 6; v++)
        assert_int_equal(recovered.rows.at[v].vertex, v);
    assert_int_equal(recovered.rows.at[2].stage, LBM_STAGE_OUT);
    assert_int_equal(recovered.replicas.n, 1);
    assert_int_equal(recovered.replicas.at[0].rows.at[0].vertex, 3);
    assert_int_equal(recovered.log.n, FOUNDING + 1);
    struct lbm_recovered *owned = lbm_copy(&recovered, 1, sizeof recovered);
    lbm_recovered_free(owned);
    disk_free(&copy);
    scene_end(&s);
}

static void
a_disk_says_what_it_must_not_be_told(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    assert_null(put_row(&s, 0, row_at(&s, 0, 3, LBM_STAGE_OUT)));
    assert_non_null(put_row(&s, 0, row_at(&s, 0, 3, LBM_STAGE_OWN)));
    assert_non_null(put_row(&s, 0, row_at(&s, 1, 0, LBM_STAGE_MOV)));
    struct lbm_persist_op gap = {.kind = LBM_PERSIST_LOG};
    gap.as.log.index = FOUNDING + 5;
    gap.as.log.command = (uint8_t *)"";
    assert_non_null(disk_apply(&s.disk[0], &gap));
    struct lbm_persist_op held = {.kind = LBM_PERSIST_ROW_DELETE, .job = JOB};
    held.as.gone.vertex = 4;
    assert_non_null(disk_apply(&s.disk[0], &held));
    struct lbm_persist_op again = {.kind = LBM_PERSIST_RESET};
    again.as.reset.incarnation = 1;
    assert_non_null(disk_apply(&s.disk[0], &again));
    scene_end(&s);
}

static void
a_reset_leaves_the_control_log_alone(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    struct lbm_persist_op reset = {.kind = LBM_PERSIST_RESET};
    reset.as.reset.incarnation = 2;
    assert_null(disk_apply(&s.disk[0], &reset));
    assert_int_equal(rows_count(&s.disk[0].rows), 0);
    assert_int_equal(s.disk[0].log.n, FOUNDING + 1);
    assert_int_equal(s.disk[0].incarnation, 2);
    scene_end(&s);
}

/* ---- checks: each fires -------------------------------------------------------------------------------- */

static void
a_vertex_that_only_a_replica_has_exists(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    struct lbm_row row = row_at(&s, 0, 1, LBM_STAGE_OWN);
    for (uint32_t v = 0; v < 6; v++) {
        row = row_at(&s, v, 1, LBM_STAGE_OWN);
        assert_null(put_replica(&s, 1, 0, &row, 0));
    }
    disk_vanish(&s.disk[0]);
    check_transaction(&s.check);
    assert_string_equal(s.check.invariant, "");
    disk_vanish(&s.disk[1]);
    check_transaction(&s.check);
    assert_string_equal(s.check.invariant, "I3");
    scene_end(&s);
}

static void
a_vertex_let_go_of_before_another_has_it_is_lost(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    assert_null(put_row(&s, 0, row_at(&s, 5, 1, LBM_STAGE_OUT)));
    assert_string_equal(s.check.invariant, "");
    assert_null(put_row(&s, 0, row_at(&s, 5, 1, LBM_STAGE_MOV)));
    assert_string_equal(s.check.invariant, "I3");
    scene_end(&s);
}

static void
another_adjacency_or_work_is_seen(void **state)
{
    (void)state;
    for (int what = 0; what < 2; what++) {
        struct scene s;
        scene_begin(&s);
        struct lbm_row row = row_at(&s, 5, 2, LBM_STAGE_OWN);
        struct lbm_half other[2] = {{0, 1, LBM_NONE}, {1, 1, LBM_NONE}};
        assert_int_equal(row.degree, 2);
        if (what == 0)
            row.half = other;
        else
            row.work++;
        assert_null(put_row(&s, 1, row));
        assert_string_equal(s.check.invariant, "I4");
        scene_end(&s);
    }
}

static void
another_entry_at_an_index_is_seen(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    delete.job = 99;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
    command.job_delete = &delete;
    log_command(&s, 1, 1, &command);
    assert_string_equal(s.check.invariant, "I5");
    scene_end(&s);
}

static void
a_ghost_from_the_future_is_seen(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    uint32_t vertex = 3;
    uint64_t epoch = 1;
    Lbm__Ghosts ghosts = LBM__GHOSTS__INIT;
    ghosts.job = JOB;
    ghosts.n_vertex = ghosts.n_epoch = 1;
    ghosts.vertex = &vertex;
    ghosts.epoch = &epoch;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_GHOSTS;
    message.ghosts = &ghosts;
    check_message(&s.check, 0, &message);
    assert_string_equal(s.check.invariant, "");
    epoch = 2;
    check_message(&s.check, 0, &message);
    assert_string_equal(s.check.invariant, "I6");
    scene_end(&s);
}

/* The log says that the two hosts are in sync with one another, by the stream that put_replica speaks of. */
static void
both_in_sync(struct scene *s)
{
    char name[] = "h1", address[] = "127.0.0.1:7001";
    Lbm__Join join = LBM__JOIN__INIT;
    join.host = 1;
    join.incarnation = 1;
    join.name = name;
    join.address = address;
    join.capacity = 1;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    log_command(s, 0, FOUNDING + 2, &command);
    assert_int_equal(s->check.view.members.n, 2);
    s->check.was_alone = 0;
    for (uint32_t p = 0; p < 2; p++) {
        struct lbm_member *member = &s->check.view.members.at[p];
        assert_int_equal(member->buddy, 1 - p);
        member->buddy_view = 4;
        member->insync = 1;
    }
}

/* Host 0 owns all vertices, host 1 has a copy of each. */
static void
copied_and_in_sync(struct scene *s)
{
    for (uint32_t v = 0; v < 6; v++) {
        struct lbm_row row = row_at(s, v, 1, LBM_STAGE_OWN);
        assert_null(put_replica(s, 1, 0, &row, 0));
    }
    both_in_sync(s);
}

static void
a_loss_that_nobody_would_survive_is_seen(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    copied_and_in_sync(&s);
    check_all_losses(&s.check);
    assert_string_equal(s.check.invariant, "");
    assert_null(put_row(&s, 0, row_at(&s, 5, 1, LBM_STAGE_OUT)));
    assert_null(put_row(&s, 1, row_at(&s, 5, 2, LBM_STAGE_OWN)));
    assert_string_equal(s.check.invariant, "");
    assert_null(put_row(&s, 0, row_at(&s, 5, 1, LBM_STAGE_MOV))); /* but host 1 alone has the new one */
    assert_string_equal(s.check.invariant, "I10");
    scene_end(&s);
}

static void
two_that_own_a_vertex_are_seen(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    copied_and_in_sync(&s);
    struct lbm_row row = row_at(&s, 5, 2, LBM_STAGE_OWN);
    assert_null(put_replica(&s, 0, 1, &row, 0));
    assert_string_equal(s.check.invariant, "");
    assert_null(put_row(&s, 1, row));
    assert_string_equal(s.check.invariant, "I12");
    scene_end(&s);
}

static void
a_vertex_that_moves_on_before_its_source_is_done_is_seen(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    copied_and_in_sync(&s);
    assert_null(put_row(&s, 0, row_at(&s, 5, 1, LBM_STAGE_OUT)));
    assert_null(put_row(&s, 1, row_at(&s, 5, 2, LBM_STAGE_OWN)));
    assert_string_equal(s.check.invariant, "");
    assert_null(put_row(&s, 1, row_at(&s, 5, 2, LBM_STAGE_OUT)));
    assert_string_equal(s.check.invariant, "I13");
    scene_end(&s);
}

static void
a_replica_of_an_earlier_stream_does_not_count(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    copied_and_in_sync(&s);
    s.check.view.members.at[0].buddy_view = 5;
    check_all_losses(&s.check);
    assert_string_equal(s.check.invariant, "I10");
    scene_end(&s);
}

static void
a_word_about_what_no_other_disk_has_is_seen(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    both_in_sync(&s);
    struct lbm_row row = row_at(&s, 2, 1, LBM_STAGE_OWN);
    assert_null(put_replica(&s, 1, 0, &row, 0));
    uint32_t vertex = 2, refused = 0;
    uint64_t epoch = 1;
    Lbm__Answer answer = LBM__ANSWER__INIT;
    answer.job = JOB;
    answer.n_vertex = answer.n_epoch = answer.n_refused = 1;
    answer.vertex = &vertex;
    answer.epoch = &epoch;
    answer.refused = &refused;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_ANSWER;
    message.answer = &answer;
    message.src_incarnation = 1;
    check_message(&s.check, 0, &message);
    assert_string_equal(s.check.invariant, "");
    vertex = 3;
    check_message(&s.check, 0, &message);
    assert_string_equal(s.check.invariant, "I11");
    scene_end(&s);
}

/* ---- who works ----------------------------------------------------------------------------------------- */

/* A cluster of two hosts, none of them started, with an application on each and leases as told. */
static struct cluster *
workers(struct lbm_hosts *h, struct scene *s, int64_t lease_0_us, int64_t lease_1_us)
{
    struct lbm_diag diag;
    assert_int_equal(lbm_hosts_generate("chain:2", h, &diag), LBM_OK);
    struct cluster_options options = {.late = 2, .judged = 1, .limited_host = LBM_NONE};
    struct cluster *c = cluster_new(h, &options);
    scene_begin(s);
    check_free(&c->check);
    c->check = s->check;
    s->check = (struct check){0};
    for (uint32_t p = 0; p < 2; p++) {
        struct application a = {.host = p, .job = JOB, .alive = 1};
        assert_int_equal(lbm_vec_push(&c->applications, a), LBM_OK);
        c->machine[p].page = (struct page){p == 0 ? lease_0_us : lease_1_us, 1, 1};
    }
    return c;
}

static void
begin_work(struct cluster *c, uint32_t application, uint64_t token)
{
    struct held held = {.vertex = 2, .token = token, .term = 1};
    assert_int_equal(lbm_vec_push(&c->applications.at[application].held, held), LBM_OK);
    work_begins(c, application, &held);
}

static void
workers_end(struct cluster *c, struct lbm_hosts *h, struct scene *s)
{
    for (uint32_t p = 0; p < 2; p++) { /* the disks of the scene watched for this check */
        s->disk[p].watcher = NULL;
        disk_free(&s->disk[p]);
    }
    lbm_graph_free(&s->g);
    cluster_free(c);
    lbm_hosts_free(h);
}

static void
two_that_work_on_a_vertex_are_seen(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct scene s;
    struct cluster *c = workers(&h, &s, 5 * SECOND, 5 * SECOND);
    begin_work(c, 0, 1);
    assert_string_equal(c->check.invariant, "");
    begin_work(c, 1, 2);
    assert_string_equal(c->check.invariant, "I1");
    workers_end(c, &h, &s);
}

static void
who_has_no_lease_does_not_work_until_it_comes_back(void **state)
{
    (void)state;
    struct lbm_hosts h;
    struct scene s;
    struct cluster *c = workers(&h, &s, SECOND, 5 * SECOND); /* the clock shows one second */
    begin_work(c, 0, 1);
    begin_work(c, 1, 2);
    assert_string_equal(c->check.invariant, "");
    set_page(c, 0, (struct page){9 * SECOND, 2, 1}); /* in another term: what was held is lost */
    assert_string_equal(c->check.invariant, "");
    c->machine[0].page = (struct page){SECOND, 1, 1};
    set_page(c, 0, (struct page){9 * SECOND, 1, 1});
    assert_string_equal(c->check.invariant, "I1");
    workers_end(c, &h, &s);
}

static void
an_heir_that_does_not_wait_for_the_end_of_a_lease_is_seen(void **state)
{
    (void)state;
    for (int in_time = 0; in_time < 2; in_time++) {
        struct lbm_hosts h;
        struct scene s;
        struct cluster *c = workers(&h, &s, in_time ? SECOND : 5 * SECOND, 5 * SECOND);
        c->disk[0].incarnation = 1;
        begin_work(c, 0, 1);
        work_inherited(c, 1, 0, 1);
        assert_string_equal(c->check.invariant, in_time ? "" : "I1");
        workers_end(c, &h, &s);
    }
}

static void
tokens_that_fall_or_repeat_are_seen(void **state)
{
    (void)state;
    for (uint64_t token = 3; token <= 4; token++) {
        struct lbm_hosts h;
        struct scene s;
        struct cluster *c = workers(&h, &s, 5 * SECOND, 5 * SECOND);
        begin_work(c, 0, 4);
        c->applications.at[0].held.n = 0;
        work_ends(c, 0, 2);
        begin_work(c, 1, token);
        assert_string_equal(c->check.invariant, "I2");
        workers_end(c, &h, &s);
    }
}

/* Against looking at all of them. */
static void
the_first_timer_is_found(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 7);
    for (uint32_t n = 1; n <= 40; n += 13) {
        struct timers timers;
        int64_t when_us[40], first_us;
        timers_init(&timers, n);
        assert_int_equal(timers_first(&timers, &first_us), LBM_NONE);
        for (uint32_t p = 0; p < n; p++)
            when_us[p] = INT64_MAX;
        for (int i = 0; i < 500; i++) {
            uint32_t p = lbm_rng_below(&rng, n), first = LBM_NONE;
            when_us[p] = lbm_rng_below(&rng, 4) != 0 ? (int64_t)lbm_rng_below(&rng, 50) : INT64_MAX;
            timers_set(&timers, p, when_us[p]);
            for (uint32_t q = 0; q < n; q++)
                if (when_us[q] != INT64_MAX && (first == LBM_NONE || when_us[q] < when_us[first]))
                    first = q;
            assert_int_equal(timers_first(&timers, &first_us), first);
            if (first != LBM_NONE)
                assert_int_equal(first_us, when_us[first]);
        }
        timers_free(&timers);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_timer_is_found),
        cmocka_unit_test(a_clock_gains_what_its_rate_says),
        cmocka_unit_test(a_clock_reaches_a_time_at_the_first_moment_that_shows_it),
        cmocka_unit_test(a_disk_gives_back_what_it_was_given),
        cmocka_unit_test(a_disk_says_what_it_must_not_be_told),
        cmocka_unit_test(a_reset_leaves_the_control_log_alone),
        cmocka_unit_test(a_vertex_that_only_a_replica_has_exists),
        cmocka_unit_test(a_vertex_let_go_of_before_another_has_it_is_lost),
        cmocka_unit_test(another_adjacency_or_work_is_seen),
        cmocka_unit_test(another_entry_at_an_index_is_seen),
        cmocka_unit_test(a_ghost_from_the_future_is_seen),
        cmocka_unit_test(a_loss_that_nobody_would_survive_is_seen),
        cmocka_unit_test(two_that_own_a_vertex_are_seen),
        cmocka_unit_test(a_vertex_that_moves_on_before_its_source_is_done_is_seen),
        cmocka_unit_test(a_replica_of_an_earlier_stream_does_not_count),
        cmocka_unit_test(a_word_about_what_no_other_disk_has_is_seen),
        cmocka_unit_test(two_that_work_on_a_vertex_are_seen),
        cmocka_unit_test(an_heir_that_does_not_wait_for_the_end_of_a_lease_is_seen),
        cmocka_unit_test(who_has_no_lease_does_not_work_until_it_comes_back),
        cmocka_unit_test(tokens_that_fall_or_repeat_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
