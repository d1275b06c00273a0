/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread that plans, with a planner of the test's own that can be held in the middle of a task. */
#include "config.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "daemon/plan_worker.h"

enum { TIMEOUT_MS = 20000, UNPLANNABLE = 13 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held by the test: planning waits */
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int begun, plans_alive;

static void
count(int *counter, int by)
{
    pthread_mutex_lock(&count_lock);
    *counter += by;
    pthread_mutex_unlock(&count_lock);
}

static int
read_count(const int *counter)
{
    pthread_mutex_lock(&count_lock);
    int value = *counter;
    pthread_mutex_unlock(&count_lock);
    return value;
}

/* Stands for lib/node's. */
enum lbm_err
lbm_node_plan(const struct lbm_plan_task *task, lbm_parallel *parallel, struct lbm_plan **plan,
              uint8_t **anchored)
{
    count(&begun, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    if (task->job == UNPLANNABLE || parallel == NULL)
        return LBM_E_RANGE;
    *plan = lbm_alloc(1, sizeof **plan);
    *anchored = lbm_alloc(4, 1);
    count(&plans_alive, 1);
    return LBM_OK;
}

/* Stands for lib/map's. */
void
lbm_plan_free(struct lbm_plan *plan)
{
    assert_non_null(plan);
    count(&plans_alive, -1);
}

static struct lbm_plan_worker *
new_worker(void)
{
    struct lbm_plan_worker *worker;
    begun = plans_alive = 0;
    assert_int_equal(lbm_plan_worker_new(&worker, NULL), LBM_OK);
    return worker;
}

static void
push(struct lbm_plan_worker *worker, uint64_t job)
{
    struct lbm_plan_task *task = lbm_alloc(1, sizeof *task);
    assert_non_null(task);
    task->job = job;
    assert_int_equal(lbm_plan_worker_push(worker, task), LBM_OK);
}

static struct lbm_plan_result
await_result(struct lbm_plan_worker *worker)
{
    struct lbm_plan_result result;
    while (!lbm_plan_worker_result(worker, &result)) {
        struct pollfd ready = {.fd = lbm_plan_worker_fd(worker), .events = POLLIN};
        assert_int_equal(poll(&ready, 1, TIMEOUT_MS), 1);
    }
    return result;
}

static void
discard(struct lbm_plan_result *result)
{
    lbm_plan_free(result->plan);
    free(result->plan);
    free(result->anchored);
}

static void
tasks_are_planned_in_order(void **state)
{
    struct lbm_plan_worker *worker = new_worker();
    (void)state;
    pthread_mutex_lock(&gate);
    for (uint64_t job = 1; job <= 10; job++)
        push(worker, job);
    pthread_mutex_unlock(&gate);
    for (uint64_t job = 1; job <= 10; job++) {
        struct lbm_plan_result result = await_result(worker);
        assert_int_equal(result.job, job);
        assert_int_equal(result.err, LBM_OK);
        assert_non_null(result.plan);
        assert_non_null(result.anchored);
        discard(&result);
    }
    assert_true(lbm_plan_worker_stop(worker));
    assert_int_equal(plans_alive, 0);
}

static void
an_error_is_a_result(void **state)
{
    struct lbm_plan_worker *worker = new_worker();
    (void)state;
    push(worker, UNPLANNABLE);
    struct lbm_plan_result result = await_result(worker);
    assert_int_equal(result.job, UNPLANNABLE);
    assert_int_equal(result.err, LBM_E_RANGE);
    assert_null(result.plan);
    assert_null(result.anchored);
    assert_true(lbm_plan_worker_stop(worker));
}

static void
a_worker_that_never_worked_stops(void **state)
{
    struct lbm_plan_result result;
    (void)state;
    struct lbm_plan_worker *worker = new_worker();
    assert_false(lbm_plan_worker_result(worker, &result));
    assert_true(lbm_plan_worker_stop(worker));
    assert_true(lbm_plan_worker_stop(NULL));
}

static void
results_nobody_took_are_freed(void **state)
{
    struct lbm_plan_worker *worker = new_worker();
    struct pollfd ready = {.fd = lbm_plan_worker_fd(worker), .events = POLLIN};
    (void)state;
    push(worker, 1);
    assert_int_equal(poll(&ready, 1, TIMEOUT_MS), 1);
    assert_true(lbm_plan_worker_stop(worker));
    assert_int_equal(plans_alive, 0);
}

/* The end of the process must not wait for a plan, and what the plan reads must stay. */
static void
a_worker_in_the_middle_of_a_task_is_left_to_it(void **state)
{
    struct lbm_plan_worker *worker = new_worker();
    (void)state;
    pthread_mutex_lock(&gate);
    push(worker, 1);
    push(worker, 2); /* never begun */
    while (read_count(&begun) == 0)
        poll(NULL, 0, 1);
    assert_false(lbm_plan_worker_stop(worker));
    pthread_mutex_unlock(&gate);
    struct lbm_plan_result result = await_result(worker);
    assert_int_equal(result.job, 1);
    discard(&result);
    assert_true(lbm_plan_worker_stop(worker)); /* it has ended its task since */
    assert_int_equal(read_count(&begun), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_planned_in_order),
        cmocka_unit_test(an_error_is_a_result),
        cmocka_unit_test(a_worker_that_never_worked_stops),
        cmocka_unit_test(results_nobody_took_are_freed),
        cmocka_unit_test(a_worker_in_the_middle_of_a_task_is_left_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
