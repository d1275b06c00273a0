/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each check of the simulator fires on what it is for: one that cannot fire would prove nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/model/internal.h"
#include "tests/unit/sim/disk_fixture.h"

enum { SECOND = 1000000 };

/* ---- records and words --------------------------------------------------------------------------------- */

static void
a_vertex_that_only_a_replica_has_exists(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    struct lbm_row row = disks_row_at(&s, 0, 1, LBM_STAGE_OWN);
    for (uint32_t v = 0; v < 6; v++) {
        row = disks_row_at(&s, v, 1, LBM_STAGE_OWN);
        assert_null(disks_put_replica(&s, 1, 0, &row, 0));
    }
    disk_vanish(&s.disk[0]);
    check_transaction(&s.check);
    assert_string_equal(s.check.invariant, "");
    disk_vanish(&s.disk[1]);
    check_transaction(&s.check);
    assert_string_equal(s.check.invariant, "I3");
    disks_end(&s);
}

static void
a_vertex_let_go_of_before_another_has_it_is_lost(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    assert_null(disks_put_row(&s, 0, disks_row_at(&s, 5, 1, LBM_STAGE_OUT)));
    assert_string_equal(s.check.invariant, "");
    assert_null(disks_put_row(&s, 0, disks_row_at(&s, 5, 1, LBM_STAGE_MOV)));
    assert_string_equal(s.check.invariant, "I3");
    disks_end(&s);
}

static void
another_adjacency_or_work_is_seen(void **state)
{
    (void)state;
    for (int what = 0; what < 2; what++) {
        struct disks s;
        disks_begin(&s);
        struct lbm_row row = disks_row_at(&s, 5, 2, LBM_STAGE_OWN);
        struct lbm_half other[2] = {{0, 1, LBM_NONE}, {1, 1, LBM_NONE}};
        assert_int_equal(row.degree, 2);
        if (what == 0)
            row.half = other;
        else
            row.work++;
        assert_null(disks_put_row(&s, 1, row));
        assert_string_equal(s.check.invariant, "I4");
        disks_end(&s);
    }
}

static void
another_entry_at_an_index_is_seen(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    Lbm__JobDelete delete = LBM__JOB_DELETE__INIT;
    delete.job = 99;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_DELETE;
    command.job_delete = &delete;
    disks_log(&s, 1, 1, &command);
    assert_string_equal(s.check.invariant, "I5");
    disks_end(&s);
}

static void
a_ghost_from_the_future_is_seen(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    uint32_t vertex = 3;
    uint64_t epoch = 1;
    Lbm__Ghosts ghosts = LBM__GHOSTS__INIT;
    ghosts.job = DISKS_JOB;
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
    disks_end(&s);
}

/* The log says that the two hosts are in sync with one another, by the replication log that put_replica
 * speaks of. */
static void
both_in_sync(struct disks *s)
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
    disks_log(s, 0, DISKS_FOUNDING + 2, &command);
    assert_int_equal(s->check.view.members.n, 2);
    s->check.was_alone = 0;
    for (uint32_t p = 0; p < 2; p++) {
        struct lbm_member *member = &s->check.view.members.at[p];
        assert_int_equal(member->backups[0].host, 1 - p);
        member->backups[0].view = 4;
        member->backups[0].insync = 1;
    }
}

/* Host 0 owns all vertices, host 1 has a copy of each. */
static void
copied_and_in_sync(struct disks *s)
{
    for (uint32_t v = 0; v < 6; v++) {
        struct lbm_row row = disks_row_at(s, v, 1, LBM_STAGE_OWN);
        assert_null(disks_put_replica(s, 1, 0, &row, 0));
    }
    both_in_sync(s);
}

static void
a_loss_that_nobody_would_survive_is_seen(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    copied_and_in_sync(&s);
    check_all_losses(&s.check);
    assert_string_equal(s.check.invariant, "");
    assert_null(disks_put_row(&s, 0, disks_row_at(&s, 5, 1, LBM_STAGE_OUT)));
    assert_null(disks_put_row(&s, 1, disks_row_at(&s, 5, 2, LBM_STAGE_OWN)));
    assert_string_equal(s.check.invariant, "");
    assert_null(
        disks_put_row(&s, 0, disks_row_at(&s, 5, 1, LBM_STAGE_MOV))); /* but host 1 alone has the new one */
    assert_string_equal(s.check.invariant, "I10");
    disks_end(&s);
}

static void
two_that_own_a_vertex_are_seen(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    copied_and_in_sync(&s);
    struct lbm_row row = disks_row_at(&s, 5, 2, LBM_STAGE_OWN);
    assert_null(disks_put_replica(&s, 0, 1, &row, 0));
    assert_string_equal(s.check.invariant, "");
    assert_null(disks_put_row(&s, 1, row));
    assert_string_equal(s.check.invariant, "I12");
    disks_end(&s);
}

static void
a_vertex_that_moves_on_before_its_source_is_done_is_seen(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    copied_and_in_sync(&s);
    assert_null(disks_put_row(&s, 0, disks_row_at(&s, 5, 1, LBM_STAGE_OUT)));
    assert_null(disks_put_row(&s, 1, disks_row_at(&s, 5, 2, LBM_STAGE_OWN)));
    assert_string_equal(s.check.invariant, "");
    assert_null(disks_put_row(&s, 1, disks_row_at(&s, 5, 2, LBM_STAGE_OUT)));
    assert_string_equal(s.check.invariant, "I13");
    disks_end(&s);
}

static void
a_replica_of_an_earlier_log_does_not_count(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    copied_and_in_sync(&s);
    s.check.view.members.at[0].backups[0].view = 5;
    check_all_losses(&s.check);
    assert_string_equal(s.check.invariant, "I10");
    disks_end(&s);
}

static void
a_word_about_what_no_other_disk_has_is_seen(void **state)
{
    (void)state;
    struct disks s;
    disks_begin(&s);
    both_in_sync(&s);
    struct lbm_row row = disks_row_at(&s, 2, 1, LBM_STAGE_OWN);
    assert_null(disks_put_replica(&s, 1, 0, &row, 0));
    uint32_t vertex = 2, refused = 0;
    uint64_t epoch = 1;
    Lbm__Answer answer = LBM__ANSWER__INIT;
    answer.job = DISKS_JOB;
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
    disks_end(&s);
}

/* ---- who works ----------------------------------------------------------------------------------------- */

/* A cluster of two hosts, none of them started, with an application on each and leases as told. */
static struct cluster *
workers(struct lbm_hosts *h, struct disks *s, int64_t lease_0_us, int64_t lease_1_us)
{
    struct lbm_diag diag;
    assert_int_equal(lbm_hosts_generate("chain:2", h, &diag), LBM_OK);
    struct cluster_options options = {.late = 2, .judged = 1, .limited_host = LBM_NONE};
    struct cluster *c = cluster_new(h, &options);
    disks_begin(s);
    check_free(&c->check);
    c->check = s->check;
    s->check = (struct check){0};
    for (uint32_t p = 0; p < 2; p++) {
        struct application a = {.host = p, .job = DISKS_JOB, .alive = 1};
        assert_int_equal(lbm_vec_push(&c->applications, a), LBM_OK);
        c->machine[p].page = (struct page){p == 0 ? lease_0_us : lease_1_us, 1, 1, 0};
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
workers_end(struct cluster *c, struct lbm_hosts *h, struct disks *s)
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
    struct disks s;
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
    struct disks s;
    struct cluster *c = workers(&h, &s, SECOND, 5 * SECOND); /* the clock shows one second */
    begin_work(c, 0, 1);
    begin_work(c, 1, 2);
    assert_string_equal(c->check.invariant, "");
    set_page(c, 0, (struct page){9 * SECOND, 2, 1, 0}); /* in another term: what was held is lost */
    assert_string_equal(c->check.invariant, "");
    c->machine[0].page = (struct page){SECOND, 1, 1, 0};
    set_page(c, 0, (struct page){9 * SECOND, 1, 1, 0});
    assert_string_equal(c->check.invariant, "I1");
    workers_end(c, &h, &s);
}

static void
an_successor_that_does_not_wait_for_the_end_of_a_lease_is_seen(void **state)
{
    (void)state;
    for (int in_time = 0; in_time < 2; in_time++) {
        struct lbm_hosts h;
        struct disks s;
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
        struct disks s;
        struct cluster *c = workers(&h, &s, 5 * SECOND, 5 * SECOND);
        begin_work(c, 0, 4);
        c->applications.at[0].held.n = 0;
        work_ends(c, 0, 2);
        begin_work(c, 1, token);
        assert_string_equal(c->check.invariant, "I2");
        workers_end(c, &h, &s);
    }
}

/* ---- what is said of jobs, and requests ------------------------------------------------------------------
 */

static void
a_job_that_is_called_well_while_vertices_are_idle_is_seen(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct truth truth[2] = {{.idle_us = 0}, {.idle_us = SECOND}};
        struct guest guest = {.n = 2, .vertex = truth, .was_whole = how != 3};
        struct check check = {.n_hosts = 1};
        struct lbm_job_summary summary = {.condition =
                                              how == 1 ? LBM_CONDITION_DEGRADED : LBM_CONDITION_WELL};
        check_summary(&check, 0, &guest, &summary, SECOND);
        check_summary(&check, 0, &guest, &summary, 9 * SECOND); /* it may not know yet */
        assert_string_equal(check.invariant, "");
        if (how == 2)
            check_summary(&check, 0, &guest, NULL, 9 * SECOND + 1); /* it does not say so all the time */
        check_summary(&check, 0, &guest, &summary, 10 * SECOND);
        assert_string_equal(check.invariant, how == 0 ? "I17" : "");
        free(guest.well_us);
    }
}

static void
a_request_that_is_carried_out_after_its_end_is_seen(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct check check = {.external = how == 3};
        check_request_begins(&check, 7, 10 * SECOND);
        if (how == 1)
            check_request_is_void(&check, 7);
        check_request_ordered(&check, 8, 0, 20 * SECOND); /* another one */
        assert_string_equal(check.invariant, "");
        check_request_ordered(&check, 7, 0, how == 2 || how == 3 ? 11 * SECOND : 9 * SECOND);
        assert_string_equal(check.invariant, how == 1 || how == 2 ? "I18" : "");
        lbm_vec_free(&check.requests);
    }
}

static void
a_request_that_is_called_void_and_was_carried_out_is_seen(void **state)
{
    (void)state;
    struct check check = {0};
    check_request_begins(&check, 7, 10 * SECOND);
    check_request_ordered(&check, 7, 0, 9 * SECOND);
    assert_string_equal(check.invariant, "");
    check_request_is_void(&check, 7);
    assert_string_equal(check.invariant, "I18");
    lbm_vec_free(&check.requests);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_is_called_well_while_vertices_are_idle_is_seen),
        cmocka_unit_test(a_request_that_is_carried_out_after_its_end_is_seen),
        cmocka_unit_test(a_request_that_is_called_void_and_was_carried_out_is_seen),
        cmocka_unit_test(a_vertex_that_only_a_replica_has_exists),
        cmocka_unit_test(a_vertex_let_go_of_before_another_has_it_is_lost),
        cmocka_unit_test(another_adjacency_or_work_is_seen),
        cmocka_unit_test(another_entry_at_an_index_is_seen),
        cmocka_unit_test(a_ghost_from_the_future_is_seen),
        cmocka_unit_test(a_loss_that_nobody_would_survive_is_seen),
        cmocka_unit_test(two_that_own_a_vertex_are_seen),
        cmocka_unit_test(a_vertex_that_moves_on_before_its_source_is_done_is_seen),
        cmocka_unit_test(a_replica_of_an_earlier_log_does_not_count),
        cmocka_unit_test(a_word_about_what_no_other_disk_has_is_seen),
        cmocka_unit_test(two_that_work_on_a_vertex_are_seen),
        cmocka_unit_test(an_successor_that_does_not_wait_for_the_end_of_a_lease_is_seen),
        cmocka_unit_test(who_has_no_lease_does_not_work_until_it_comes_back),
        cmocka_unit_test(tokens_that_fall_or_repeat_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
