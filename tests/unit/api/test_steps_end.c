/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Last states of lbmap_steps and whom they go to, against a daemon that is a thread of the test. */
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

#include "api/steps.h"
#include "api/steps_bytes.h"
#include "tests/unit/api/scene.h"
#include "wire/lease_page.h"

enum { COLLECTOR = 1, LOWER = 0, VERTEX = 7, STATE_BYTES = 8 };

struct run {
    struct daemon daemon;
    struct lbmap_steps program;
    pthread_t thread;
    int stop;
};

/* ---- a program of one step ----------------------------------------------------------------------------- */

static void
init(void *context, uint32_t vertex, void *state)
{
    (void)context, (void)vertex;
    memset(state, 1, STATE_BYTES);
}

static void
do_step(void *context, const struct lbmap_step *step, void *after)
{
    (void)context, (void)step;
    memset(after, 2, STATE_BYTES);
}

static void *
be_program(void *arg)
{
    struct run *run = arg;
    char message[LBM_DIAG_TEXT_MAX];
    (void)lbmap_steps(&run->program, message, sizeof message);
    return NULL;
}

static void
begin_program(struct run *run)
{
    run->stop = 0;
    assert_int_equal(pthread_create(&run->thread, NULL, be_program, run), 0);
}

static void
end_program(struct run *run)
{
    __atomic_store_n(&run->stop, 1, __ATOMIC_SEQ_CST);
    pthread_join(run->thread, NULL);
}

/* ---- the scene ----------------------------------------------------------------------------------------- */

static int
set_up(void **state)
{
    struct run *run = lbm_alloc(1, sizeof *run);
    daemon_make(&run->daemon);
    run->program = (struct lbmap_steps){.size = sizeof run->program,
                                        .job = "job",
                                        .socket_path = run->daemon.path,
                                        .steps = 1,
                                        .state_size = STATE_BYTES,
                                        .init = init,
                                        .step = do_step,
                                        .stop = &run->stop};
    *state = run;
    return 0;
}

static int
tear_down(void **state)
{
    struct run *run = *state;
    daemon_free(&run->daemon);
    free(run);
    return 0;
}

/* Wait until a counter of the daemon is above that number. */
static void
wait_above(struct daemon *daemon, const size_t *counter, size_t number)
{
    const struct timespec pause = {0, 1000000};
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    size_t now = 0;
    do {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&daemon->lock);
        now = *counter;
        pthread_mutex_unlock(&daemon->lock);
    } while (now <= number && daemon_now_us() < end_us);
    assert_true(now > number);
}

/* Nothing but last states is posted: there are no neighbours elsewhere. */
static void
wait_for_result(struct daemon *daemon)
{
    wait_above(daemon, &daemon->posted.len, 0);
    pthread_mutex_lock(&daemon->lock);
    struct lbm_reader reader = {(const uint8_t *)daemon->posted.at, daemon->posted.len, 0};
    assert_int_equal(lbm_get32(&reader), LBM_ROW_DONE);
    assert_int_equal(lbm_get32(&reader), VERTEX);
    daemon->posted.len = 0;
    pthread_mutex_unlock(&daemon->lock);
}

static void
tell_got(struct daemon *daemon)
{
    struct lbm_buf row = {0};
    lbm_put32(&row, LBM_ROW_GOT);
    lbm_put32(&row, VERTEX);
    daemon_push_bytes(daemon, COLLECTOR, row.at, row.len);
    lbm_buf_free(&row);
}

/* To where the collector is told the last state of the only vertex, */
static void
begin_until_told(struct run *run)
{
    struct daemon *daemon = &run->daemon;
    begin_program(run);
    wait_above(daemon, &daemon->n_published, 0);
    daemon_push_place(daemon, COLLECTOR, 1, 0);
    daemon_push_acquire(daemon, 1, VERTEX, 5, "");
    daemon_push_neighbours(daemon, VERTEX, 5, LBM_NONE);
    wait_for_result(daemon);
}

/* and to where it has it. */
static void
run_to_the_end(struct run *run)
{
    begin_until_told(run);
    tell_got(&run->daemon);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void
expect_told_again(struct run *run)
{
    daemon_push_place(&run->daemon, COLLECTOR, 1, 0);
    wait_for_result(&run->daemon);
    end_program(run);
}

/* Nobody has told that the one before has ended. */
static void
a_collector_that_begins_again_is_told_what_the_one_before_had(void **state)
{
    struct run *run = *state;
    run_to_the_end(run);
    expect_told_again(run);
}

static void
a_collector_that_ends_and_begins_at_once_is_told_all_again(void **state)
{
    struct run *run = *state;
    run_to_the_end(run);
    daemon_push_place(&run->daemon, COLLECTOR, 0, 0);
    expect_told_again(run);
}

/* Its word comes late: what the collector of now was told may have been lost. */
static void
that_an_earlier_collector_has_it_is_not_enough(void **state)
{
    struct run *run = *state;
    struct daemon *daemon = &run->daemon;
    begin_until_told(run);
    daemon_push_place(daemon, LOWER, 1, 0);
    wait_for_result(daemon);
    tell_got(daemon);
    wait_for_result(daemon);
    end_program(run);
}

/* So the daemons of others see that it is another one. */
static void
each_program_has_a_note_of_its_own(void **state)
{
    struct run *run = *state;
    struct daemon *daemon = &run->daemon;
    char first[sizeof daemon->note];
    begin_program(run);
    wait_above(daemon, &daemon->n_published, 0);
    end_program(run);
    memcpy(first, daemon->note, sizeof first);
    begin_program(run);
    wait_above(daemon, &daemon->n_published, 1);
    end_program(run);
    assert_memory_not_equal(first, daemon->note, sizeof first);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_collector_that_begins_again_is_told_what_the_one_before_had, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_collector_that_ends_and_begins_at_once_is_told_all_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(that_an_earlier_collector_has_it_is_not_enough, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_program_has_a_note_of_its_own, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
