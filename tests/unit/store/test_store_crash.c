/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/store when its process is killed or its disk fails: what was reported durable is there, whole
 * transactions in their order are there, and nothing else. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "tests/unit/store/store_model.h"

static char *directory;
static struct lbm_diag diag;

static int
set_up(void **state)
{
    (void)state;
    directory = model_directory();
    diag = (struct lbm_diag){0};
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    model_remove(directory);
    return 0;
}

static const char *
database(void)
{
    return model_path(directory, "db");
}

/* Open and load; on LBM_OK *out is owned by the caller. */
static enum lbm_err
open_and_load(struct lbm_recovered **out)
{
    struct lbm_store *store = NULL;
    enum lbm_err err = lbm_store_open(database(), NULL, &store, &diag);
    if (err == LBM_OK)
        err = lbm_store_load(store, out, &diag);
    lbm_store_close(store);
    return err;
}

/* ---- crashes ------------------------------------------------------------------------------------ */

/* Transaction id: entry id of the log, and rows id and id % 7 at epoch id. */
static struct lbm_persist *
numbered(uint64_t id)
{
    struct lbm_persist *persist = model_persist(id);
    model_op(persist, LBM_PERSIST_LOG, 0)->as.log.index = id;
    model_row(persist, 1, (uint32_t)id + 7, id, LBM_STAGE_OWN, 3);
    model_row(persist, 1, (uint32_t)(id % 7), id, LBM_STAGE_OUT, 50);
    return persist;
}

/* What is stored are the transactions 1 .. n; returns n. */
static uint64_t
assert_prefix(void)
{
    struct lbm_recovered *recovered = NULL, *expected = model_new();
    enum lbm_err err = open_and_load(&recovered);
    if (err != LBM_OK)
        fail_msg("%s: %s", lbm_err_name(err), diag.text);
    uint64_t n = recovered->log.n;
    for (uint64_t id = 1; id <= n; id++) {
        struct lbm_persist *persist = numbered(id);
        assert_int_equal(model_apply(&expected, persist), LBM_OK);
        lbm_persist_free(persist);
    }
    model_assert_equal(recovered, expected);
    lbm_recovered_free(expected);
    lbm_recovered_free(recovered);
    return n;
}

/* Store transactions from first on for ever, saying on the pipe what is durable. */
static _Noreturn void
store_until_killed(uint64_t first, int report)
{
    struct lbm_store *store = NULL;
    if (lbm_store_open(database(), NULL, &store, &diag) != LBM_OK)
        _exit(1);
    for (uint64_t id = first;; id++)
        if (model_store(store, numbered(id), &diag) != LBM_OK || write(report, &id, sizeof id) != sizeof id)
            _exit(1);
}

static void
killed_at_any_time_a_prefix_remains(void **state)
{
    (void)state;
    uint64_t durable = 0;
    for (int round = 0; round < 12; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            store_until_killed(durable + 1, ends[1]);
        close(ends[1]);
        uint64_t acknowledged = durable;
        for (int i = 0; i < 3 + 5 * round; i++)
            assert_int_equal(read(ends[0], &acknowledged, sizeof acknowledged), sizeof acknowledged);
        usleep((useconds_t)(137 * round)); /* somewhere inside a later transaction */
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        while (read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged)
            ;
        close(ends[0]);
        durable = assert_prefix();
        assert_true(durable >= acknowledged);
    }
}

/* ---- failing disks ------------------------------------------------------------------------------ */

/* The default file system of SQLite with writes and syncs that fail from some call on. It has different
 * methods for different kinds of files; each kind gets its copy here. */
enum { KINDS = 4 };
static struct {
    sqlite3_vfs vfs;
    const sqlite3_io_methods *real[KINDS];
    sqlite3_io_methods methods[KINDS];
    int calls_left; /* before every further call fails */
    int late_calls; /* that were made after the first failure */
    int syncs;
} fault;

static int
fault_now(void)
{
    if (fault.calls_left > 0) {
        fault.calls_left--;
        return 0;
    }
    fault.late_calls++;
    return 1;
}

static const sqlite3_io_methods *
real_methods(const sqlite3_file *file)
{
    return fault.real[file->pMethods - fault.methods];
}

static int
faulty_sync(sqlite3_file *file, int flags)
{
    fault.syncs++;
    return fault_now() ? SQLITE_IOERR_FSYNC : real_methods(file)->xSync(file, flags);
}

static int
faulty_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    return fault_now() ? SQLITE_IOERR_WRITE : real_methods(file)->xWrite(file, bytes, len, at);
}

static int
faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *flags_out)
{
    sqlite3_vfs *real = vfs->pAppData;
    int result = real->xOpen(real, name, file, flags, flags_out);
    if (result != SQLITE_OK)
        return result;
    int kind = 0;
    while (kind < KINDS - 1 && fault.real[kind] != NULL && fault.real[kind] != file->pMethods)
        kind++;
    assert_true(fault.real[kind] == NULL || fault.real[kind] == file->pMethods);
    fault.real[kind] = file->pMethods;
    fault.methods[kind] = *file->pMethods;
    fault.methods[kind].xSync = faulty_sync;
    fault.methods[kind].xWrite = faulty_write;
    file->pMethods = &fault.methods[kind];
    return SQLITE_OK;
}

static void
install_faults(int calls)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    fault.vfs = *real;
    fault.vfs.zName = "faulty";
    fault.vfs.pAppData = real;
    fault.vfs.xOpen = faulty_open;
    fault.calls_left = calls;
    fault.late_calls = 0;
    assert_int_equal(sqlite3_vfs_register(&fault.vfs, 1), SQLITE_OK);
}

static void
remove_faults(void)
{
    assert_int_equal(sqlite3_vfs_unregister(&fault.vfs), SQLITE_OK);
}

/* Store from first on until the disk fails; returns the last transaction that was reported durable. */
static uint64_t
store_until_failure(uint64_t first)
{
    struct lbm_store *store = NULL;
    uint64_t id = first;
    enum lbm_err err = lbm_store_open(database(), NULL, &store, &diag);
    while (err == LBM_OK)
        err = model_store(store, numbered(id++), &diag);
    assert_int_equal(err, LBM_E_IO);
    if (store == NULL)
        return first - 1;
    int late = fault.late_calls;
    assert_int_equal(model_store(store, numbered(id), &diag), LBM_E_IO);
    lbm_store_close(store);
    assert_int_equal(fault.late_calls, late); /* the failed write was not tried again */
    return id - 2;
}

static void
failed_write_ends_all_writing(void **state)
{
    (void)state;
    uint64_t durable = 0;
    for (int calls = 0; calls < 150; calls += 1 + calls / 8) {
        install_faults(calls);
        uint64_t reported = store_until_failure(durable + 1);
        remove_faults();
        durable = assert_prefix();
        assert_true(durable >= reported);
    }
    assert_true(durable > 10);
}

static void
every_commit_reaches_the_disk(void **state)
{
    (void)state;
    install_faults(1 << 30); /* none: only the syncs are counted */
    struct lbm_store *store = NULL;
    assert_int_equal(lbm_store_open(database(), NULL, &store, &diag), LBM_OK);
    for (uint64_t id = 1; id <= 10; id++) {
        int before = fault.syncs;
        assert_int_equal(model_store(store, numbered(id), &diag), LBM_OK);
        assert_true(fault.syncs > before);
    }
    lbm_store_close(store);
    remove_faults();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_at_any_time_a_prefix_remains, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_commit_reaches_the_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failed_write_ends_all_writing, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("store crash", tests, NULL, NULL);
}
