/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread that stores: what was pushed before the end is there after it. */
#include "config.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "daemon/store_worker.h"

enum { TIMEOUT_MS = 20000 };

struct fixture {
    char directory[64];
    char path[96];
    struct lbm_store_worker *worker;
};

static int
set_up(void **state)
{
    struct fixture *f = lbm_alloc(1, sizeof *f);
    struct lbm_store *store;
    if (f == NULL)
        return -1;
    strcpy(f->directory, "/tmp/lbmap-worker-XXXXXX");
    *state = f;
    if (mkdtemp(f->directory) == NULL)
        return -1;
    snprintf(f->path, sizeof f->path, "%s/db", f->directory);
    if (lbm_store_open(f->path, NULL, &store, NULL) != LBM_OK ||
        lbm_store_worker_start(store, &f->worker, NULL) != LBM_OK)
        return -1;
    return 0;
}

static int
tear_down(void **state)
{
    static const char *const suffixes[] = {"", "-lock", "-wal", "-shm"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", f->path, suffixes[i]);
        unlink(name);
    }
    int left = rmdir(f->directory);
    free(f);
    return left;
}

/* The transaction with this id: one log entry with the index `index`. */
static void
push(struct fixture *f, uint64_t id, uint64_t index)
{
    struct lbm_persist *persist = lbm_alloc(1, sizeof *persist);
    struct lbm_persist_op op = {.kind = LBM_PERSIST_LOG};
    assert_non_null(persist);
    persist->id = id;
    op.as.log.index = index;
    op.as.log.command = lbm_copy("command", 7, 1);
    op.as.log.len = 7;
    assert_int_equal(lbm_vec_push(&persist->ops, op), LBM_OK);
    assert_int_equal(lbm_store_worker_push(f->worker, persist), LBM_OK);
}

static enum lbm_err
await_report(struct fixture *f, uint64_t *durable, struct lbm_diag *diag)
{
    struct pollfd ready = {.fd = lbm_store_worker_fd(f->worker), .events = POLLIN};
    assert_int_equal(poll(&ready, 1, TIMEOUT_MS), 1);
    return lbm_store_worker_report(f->worker, durable, diag);
}

static size_t
entries_stored(const struct fixture *f)
{
    struct lbm_store *store;
    struct lbm_recovered *recovered;
    assert_int_equal(lbm_store_open(f->path, NULL, &store, NULL), LBM_OK);
    assert_int_equal(lbm_store_load(store, &recovered, NULL), LBM_OK);
    size_t n = recovered->log.n;
    lbm_recovered_free(recovered);
    lbm_store_close(store);
    return n;
}

static void
reports_grow_until_all_is_durable(void **state)
{
    struct fixture *f = *state;
    struct lbm_diag diag;
    uint64_t durable = 0;
    for (uint64_t id = 1; id <= 50; id++)
        push(f, id, id);
    while (durable < 50) {
        uint64_t before = durable;
        assert_int_equal(await_report(f, &durable, &diag), LBM_OK);
        assert_true(durable > before);
    }
    assert_int_equal(durable, 50);
    assert_int_equal(lbm_store_worker_stop(f->worker, &diag), LBM_OK);
    assert_int_equal(entries_stored(f), 50);
}

static void
what_is_queued_at_the_end_is_stored(void **state)
{
    struct fixture *f = *state;
    struct lbm_diag diag;
    for (uint64_t id = 1; id <= 500; id++)
        push(f, id, id);
    assert_int_equal(lbm_store_worker_stop(f->worker, &diag), LBM_OK);
    assert_int_equal(entries_stored(f), 500);
}

static void
a_worker_without_work_ends(void **state)
{
    struct fixture *f = *state;
    struct lbm_diag diag;
    uint64_t durable = 7;
    assert_int_equal(lbm_store_worker_report(f->worker, &durable, &diag), LBM_OK);
    assert_int_equal(durable, 0);
    assert_int_equal(lbm_store_worker_stop(f->worker, &diag), LBM_OK);
    assert_int_equal(entries_stored(f), 0);
    assert_int_equal(lbm_store_worker_stop(NULL, &diag), LBM_OK);
}

static void
after_an_error_nothing_more_is_stored(void **state)
{
    struct fixture *f = *state;
    struct lbm_diag diag = {0};
    uint64_t durable = 0;
    push(f, 1, 1);
    while (durable < 1)
        assert_int_equal(await_report(f, &durable, &diag), LBM_OK);
    push(f, 2, 9); /* the log would have a gap */
    assert_int_not_equal(await_report(f, &durable, &diag), LBM_OK);
    assert_int_equal(durable, 1);
    assert_true(diag.text[0] != '\0');
    push(f, 3, 2);
    assert_int_not_equal(lbm_store_worker_stop(f->worker, &diag), LBM_OK);
    assert_int_equal(entries_stored(f), 1);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(reports_grow_until_all_is_durable),
        TEST(what_is_queued_at_the_end_is_stored),
        TEST(a_worker_without_work_ends),
        TEST(after_an_error_nothing_more_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
