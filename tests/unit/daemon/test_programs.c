/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that runs programs, with real programs: what they write, how they end and are ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/programs.h"

enum { ID = 7, WAIT_MS = 20000 };

struct scene {
    struct lbm_programs_process *programs;
    struct lbm_buf written; /* the beginning of it */
    size_t n_written;
    uint32_t status;
    char why[LBM_PROGRAM_WHY_MAX];
};

static int64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
add_word(struct lbm_program_order *order, const char *word)
{
    memcpy(order->words + order->len, word, strlen(word) + 1);
    order->len += (uint32_t)strlen(word) + 1;
}

static void
start(struct scene *scene, const char *folder, const char *program, const char *script)
{
    static struct lbm_program_order order;
    memset(&order, 0, sizeof order);
    order.id = ID;
    order.uid = (uint32_t)geteuid();
    order.host = 3;
    order.arguments = 3;
    snprintf(order.job, sizeof order.job, "job");
    add_word(&order, folder);
    add_word(&order, program);
    add_word(&order, "-c");
    add_word(&order, script);
    add_word(&order, "WORD=a b");
    assert_int_equal(lbm_programs_start(scene->programs, &order), LBM_OK);
}

/* Take reports until the program has ended, or for so long. Nonzero: it has. */
static int
take(struct scene *scene, int64_t for_ms)
{
    static struct lbm_programs_report report;
    struct pollfd ready = {.fd = lbm_programs_fd(scene->programs), .events = POLLIN};
    for (int64_t end_ms = now_ms() + for_ms; now_ms() < end_ms;) {
        if (poll(&ready, 1, 50) <= 0 || lbm_programs_next(scene->programs, &report) <= 0)
            continue;
        assert_int_equal(report.id, ID);
        if (report.has_ended) {
            scene->status = report.status;
            snprintf(scene->why, sizeof scene->why, "%.*s", (int)report.len, (const char *)report.text);
            return 1;
        }
        scene->n_written += report.len;
        if (scene->written.len < 4096)
            lbm_buf_put(&scene->written, report.text, report.len);
    }
    return 0;
}

static int
set_up(void **state)
{
    struct lbm_diag diag;
    struct scene *scene = lbm_alloc(1, sizeof *scene);
    assert_int_equal(lbm_programs_new(LBM_PROGRAMS_OWN, "/run/x.sock", &scene->programs, &diag), LBM_OK);
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;
    lbm_programs_free(scene->programs);
    lbm_buf_free(&scene->written);
    free(scene);
    return 0;
}

static void
none_are_run_without_a_process(void **state)
{
    struct lbm_programs_process *programs;
    struct lbm_diag diag;
    (void)state;
    assert_int_equal(lbm_programs_new(LBM_PROGRAMS_NONE, "x", &programs, &diag), LBM_OK);
    assert_null(programs);
    lbm_programs_free(programs);
}

static void
a_program_finds_its_folder_and_environment(void **state)
{
    struct scene *scene = *state;
    start(scene, "/usr", "/bin/sh",
          "pwd; echo \"$WORD $LBMAP_JOB $LBMAP_HOST $LBMAP_SOCKET\" >&2; env | grep -c .; read x || exit 5");
    assert_true(take(scene, WAIT_MS));
    assert_int_equal(scene->status, 5);
    assert_string_equal(scene->why, "");
    lbm_buf_put(&scene->written, "", 1);
    assert_non_null(strstr((const char *)scene->written.at, "/usr\na b job 3 /run/x.sock\n"));
}

static void
what_cannot_be_started_says_why(void **state)
{
    struct scene *scene = *state;
    start(scene, "/", "/no/such", "");
    assert_true(take(scene, WAIT_MS));
    assert_int_equal(scene->status, 127);
    assert_string_equal(scene->why, "/no/such cannot be executed: No such file or directory");
    start(scene, "/no/folder", "/bin/sh", "");
    assert_true(take(scene, WAIT_MS));
    assert_string_equal(scene->why, "it cannot enter the folder /no/folder: No such file or directory");
}

static void
a_signal_is_told(void **state)
{
    struct scene *scene = *state;
    start(scene, "/", "/bin/sh", "kill -KILL $$");
    assert_true(take(scene, WAIT_MS));
    assert_int_equal(scene->status, 128 + SIGKILL);
}

static void
one_that_is_ended_may_say_something_first(void **state)
{
    struct scene *scene = *state;
    start(scene, "/", "/bin/sh", "trap 'echo last; exit 0' TERM; echo first; while :; do sleep 0.1; done");
    while (scene->n_written == 0)
        assert_false(take(scene, 100));
    assert_int_equal(lbm_programs_end(scene->programs, ID), LBM_OK);
    assert_true(take(scene, 2500));
    assert_int_equal(scene->status, 0);
    lbm_buf_put(&scene->written, "", 1);
    assert_non_null(strstr((const char *)scene->written.at, "last\n")); /* the shell may tell of its sleep */
}

static void
one_that_does_not_end_is_killed_after_three_seconds(void **state)
{
    struct scene *scene = *state;
    start(scene, "/", "/bin/sh", "trap '' TERM; echo begun; while :; do sleep 0.1; done");
    while (scene->n_written == 0)
        assert_false(take(scene, 100));
    int64_t since_ms = now_ms();
    assert_int_equal(lbm_programs_end(scene->programs, ID), LBM_OK);
    assert_true(take(scene, WAIT_MS));
    assert_int_equal(scene->status, 128 + SIGKILL);
    assert_in_range(now_ms() - since_ms, 2900, 5500);
}

/* Whose output is read more slowly than it comes waits; and what it has started ends with it. */
static void
output_is_bounded_in_time(void **state)
{
    struct scene *scene = *state;
    start(scene, "/", "/bin/sh", "yes & yes & wait");
    int64_t since_ms = now_ms();
    assert_false(take(scene, 2000));
    int64_t windows = (now_ms() - since_ms) / 100 + 2;
    assert_true(scene->n_written <= (uint64_t)windows * ((1 << 20) + LBM_OUTPUT_BYTES_MAX));
    assert_true(scene->n_written > 2 << 20);
    assert_int_equal(lbm_programs_end(scene->programs, ID), LBM_OK);
    assert_true(take(scene, WAIT_MS));
    assert_int_equal(scene->status, 128 + SIGTERM);
}

int
main(void)
{
#define ON_SCENE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_are_run_without_a_process),
        ON_SCENE(a_program_finds_its_folder_and_environment),
        ON_SCENE(what_cannot_be_started_says_why),
        ON_SCENE(a_signal_is_told),
        ON_SCENE(one_that_is_ended_may_say_something_first),
        ON_SCENE(one_that_does_not_end_is_killed_after_three_seconds),
        ON_SCENE(output_is_bounded_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
