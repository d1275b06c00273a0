/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The client of etcd against a real one at a Unix socket: snapshots that etcd does not take in one request,
 * and a database that lacks what was read before. Skipped where etcd is not installed. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/etcd.h"

#define ETCD "/usr/bin/etcd"
enum { VIEW_BYTES = 7 << 19, ENTRIES = 3, LIMIT_S = 60 };

struct fixture {
    struct event_base *base;
    char dir[64], socket[1][LBM_ETCD_URL_MAX + 1], url[1][LBM_ETCD_URL_MAX + 1];
    pid_t pid;
    struct lbm_etcd *etcd;
    unsigned results;
    enum lbm_log_result result;
    uint64_t n_entries, snapshot_index, older;
    size_t snapshot_len;
    int snapshot_is_right, caught_up;
};

static uint8_t
byte_at(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 13 | 1);
}

static void
take_result(void *context, uint64_t index, enum lbm_log_result result)
{
    struct fixture *f = context;
    (void)index;
    f->results++;
    f->result = result;
}

static void
take_entries(void *context, uint64_t from, const struct lbm_bytes *command, size_t n, int caught_up)
{
    struct fixture *f = context;
    (void)from;
    (void)command;
    f->n_entries += n;
    f->caught_up |= caught_up;
}

static void
take_snapshot(void *context, uint64_t index, const struct lbm_bytes *view)
{
    struct fixture *f = context;
    f->snapshot_index = index;
    f->snapshot_len = view->len;
    f->snapshot_is_right = 1;
    for (size_t i = 0; i < view->len; i++)
        f->snapshot_is_right &= view->at[i] == byte_at(i);
}

static void
take_older(void *context, uint64_t index)
{
    ((struct fixture *)context)->older = index;
}

static int
begin(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    struct lbm_diag diag = {0};
    *f = (struct fixture){.base = event_base_new(), .dir = "/tmp/lbmap-etcd.XXXXXX", .url = {"http://etcd"}};
    *state = f;
    if (access(ETCD, X_OK) != 0)
        return 0;
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->socket[0], sizeof f->socket[0], "%.*s/client:1", (int)sizeof f->dir - 1, f->dir);
    f->pid = fork();
    if (f->pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDERR_FILENO);
        if (chdir(f->dir) == 0)
            execl(ETCD, "etcd", "--data-dir", "data", "--listen-peer-urls", "unix://peer:1",
                  "--initial-advertise-peer-urls", "unix://peer:1", "--listen-client-urls", "unix://client:1",
                  "--advertise-client-urls", "unix://client:1", "--initial-cluster", "default=unix://peer:1",
                  (char *)NULL);
        _exit(127);
    }
    const struct lbm_etcd_config config = {.endpoint = (const char(*)[LBM_ETCD_URL_MAX + 1]) f->url,
                                           .socket = (const char(*)[LBM_ETCD_URL_MAX + 1]) f->socket,
                                           .n_endpoints = 1,
                                           .prefix = "/lbmap",
                                           .ca = "",
                                           .cert = "",
                                           .key = "",
                                           .user = "",
                                           .password_file = ""};
    const struct lbm_etcd_handler handler = {.context = f,
                                             .result = take_result,
                                             .entries = take_entries,
                                             .snapshot = take_snapshot,
                                             .older = take_older};
    assert_int_equal(lbm_etcd_new(f->base, &config, &handler, &f->etcd, &diag), LBM_OK);
    return 0;
}

static int
end(void **state)
{
    struct fixture *f = *state;
    char command[128];
    lbm_etcd_free(f->etcd);
    event_base_free(f->base);
    if (f->pid == 0)
        return 0;
    kill(f->pid, SIGKILL);
    waitpid(f->pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    return system(command);
}

static void
run_for(struct fixture *f, long ms)
{
    const struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    event_base_loopexit(f->base, &time);
    event_base_dispatch(f->base);
}

#define UNTIL_WITHIN(f, condition)                                                                           \
    do {                                                                                                     \
        for (int i = 0; i < LIMIT_S * 20 && !(condition); i++)                                               \
            run_for(f, 50);                                                                                  \
        assert_true(condition);                                                                              \
    } while (0)

static void
append_all(struct fixture *f)
{
    uint8_t bytes[] = {'x'};
    const struct lbm_bytes command = {bytes, sizeof bytes};
    for (uint64_t index = 1; index <= ENTRIES;) {
        unsigned before = f->results;
        lbm_etcd_append(f->etcd, index, &command);
        UNTIL_WITHIN(f, f->results > before);
        if (f->result == LBM_LOG_UNKNOWN)
            run_for(f, 200); /* etcd has just started */
        else
            index++;
    }
}

static void
a_large_snapshot_is_split(void **state)
{
    struct fixture *f = *state;
    if (f->pid == 0)
        skip();
    append_all(f);
    uint8_t *bytes = malloc(VIEW_BYTES);
    assert_non_null(bytes);
    for (size_t i = 0; i < VIEW_BYTES; i++)
        bytes[i] = byte_at(i);
    const struct lbm_bytes view = {bytes, VIEW_BYTES};
    lbm_etcd_compact(f->etcd, 2, &view);
    run_for(f, 1000);
    for (int i = 0; i < 50 && f->snapshot_index == 0; i++) {
        lbm_etcd_follow(f->etcd, 1);
        run_for(f, 500);
    }
    assert_int_equal(f->snapshot_index, 2);
    assert_int_equal(f->snapshot_len, VIEW_BYTES);
    assert_true(f->snapshot_is_right);
    UNTIL_WITHIN(f, f->caught_up);
    free(bytes);
}

static void
a_restored_ensemble_is_noticed(void **state)
{
    struct fixture *f = *state;
    if (f->pid == 0)
        skip();
    append_all(f);
    lbm_etcd_follow(f->etcd, ENTRIES + 1);
    UNTIL_WITHIN(f, f->caught_up);
    assert_int_equal(f->older, 0);
    lbm_etcd_follow(f->etcd, ENTRIES + 10); /* as a host that has read more does */
    UNTIL_WITHIN(f, f->older != 0);
    assert_int_equal(f->older, ENTRIES + 9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_large_snapshot_is_split, begin, end),
        cmocka_unit_test_setup_teardown(a_restored_ensemble_is_noticed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
