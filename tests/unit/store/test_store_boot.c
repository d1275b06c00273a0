/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durability "memory": the end of the daemon loses nothing, a start of the machine sets the database aside,
 * and from its end in order, or a start with durability "disk", a power cut loses nothing either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/internal.h"
#include "tests/unit/store/power_vfs.h"
#include "tests/unit/store/store_model.h"

enum { ROWS = 20 };

static char *directory;
static char boot_path[256];
static struct lbm_diag diag;

/* ---- a machine that may start again ---------------------------------------------------------------------
 */

static void
write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
machine_starts(const char *boot)
{
    char line[64];
    snprintf(line, sizeof line, "%s\n", boot);
    write_file(boot_path, line);
}

static int
set_up(void **state)
{
    (void)state;
    directory = model_directory();
    snprintf(boot_path, sizeof boot_path, "%s", model_path(directory, "boot_id"));
    machine_starts("first");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    model_remove(directory);
    return 0;
}

static struct lbm_store *
open_store(enum lbm_durability durability)
{
    const struct lbm_store_how how = {durability, boot_path};
    struct lbm_store *store = NULL;
    enum lbm_err err = lbm_store_open(model_path(directory, "db"), &how, &store, &diag);
    if (err != LBM_OK)
        fail_msg("%s: %s", lbm_err_name(err), diag.text);
    return store;
}

/* One row each. */
static void
put_rows(struct lbm_store *store, uint32_t from, uint32_t n)
{
    for (uint32_t v = from; v < from + n; v++) {
        struct lbm_persist *persist = model_persist(store->last_id + 1);
        (void)model_row(persist, 1, v, 1, LBM_STAGE_OWN, 40);
        assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    }
}

static size_t
count_rows(struct lbm_store *store)
{
    struct lbm_recovered *recovered = NULL;
    enum lbm_err err = lbm_store_load(store, &recovered, &diag);
    if (err != LBM_OK)
        fail_msg("%s: %s", lbm_err_name(err), diag.text);
    size_t n = recovered->rows.n;
    lbm_recovered_free(recovered);
    return n;
}

/* As if by a signal: nothing is written any more. */
static void
kill_store(struct lbm_store *store)
{
    store->failed = 1;
    lbm_store_close(store);
}

static int
is_there(const char *name)
{
    return access(model_path(directory, name), F_OK) == 0;
}

static int64_t
synchronous(struct lbm_store *store)
{
    int64_t value = -1;
    assert_int_equal(lbm_store_exec(store->db, "PRAGMA synchronous", &value, store->path, &diag), LBM_OK);
    return value;
}

/* ---- the tests ------------------------------------------------------------------------------------------
 */

static void
end_of_the_daemon_loses_nothing(void **state)
{
    (void)state;
    struct lbm_store *store = open_store(LBM_DURABILITY_MEMORY);
    put_rows(store, 0, ROWS);
    kill_store(store);
    assert_true(is_there("db-boot"));
    assert_false(is_there("db-boot.new"));
    store = open_store(LBM_DURABILITY_MEMORY);
    assert_null(lbm_store_set_aside(store));
    assert_int_equal(count_rows(store), ROWS);
    assert_int_equal(synchronous(store), 0);
    kill_store(store);
}

static void
start_of_the_machine_sets_it_aside(void **state)
{
    (void)state;
    static const char *const aside[] = {"db.untrusted", "db.untrusted.1"};
    for (int i = 0; i < 2; i++) {
        /* Also where the disk is to count from now on. */
        struct lbm_store *store = open_store(LBM_DURABILITY_MEMORY);
        put_rows(store, 0, ROWS);
        kill_store(store);
        machine_starts(i == 0 ? "second" : "third");
        store = open_store(i == 0 ? LBM_DURABILITY_MEMORY : LBM_DURABILITY_DISK);
        assert_string_equal(lbm_store_set_aside(store), model_path(directory, aside[i]));
        assert_int_equal(count_rows(store), 0);
        assert_int_equal(is_there("db-boot"), i == 0);
        lbm_store_close(store);
        /* With its log, for whoever wants to look. */
        assert_int_equal(lbm_store_check(model_path(directory, aside[i]), &diag), LBM_OK);
    }
    assert_true(is_there("db.untrusted-wal") && is_there("db.untrusted.1-wal"));
}

static void
database_that_is_torn_is_set_aside_unread(void **state)
{
    (void)state;
    struct lbm_store *store = open_store(LBM_DURABILITY_MEMORY);
    put_rows(store, 0, ROWS);
    kill_store(store);
    write_file(model_path(directory, "db"), "SQLite format 3, or so");
    machine_starts("second");
    store = open_store(LBM_DURABILITY_MEMORY);
    assert_non_null(lbm_store_set_aside(store));
    assert_int_equal(count_rows(store), 0);
    lbm_store_close(store);
}

static void
mark_that_says_nothing_is_one_of_another_start(void **state)
{
    (void)state;
    static const char *const marks[] = {"", "\n", "first and more\n", "\n\n\n"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        struct lbm_store *store = open_store(LBM_DURABILITY_MEMORY);
        put_rows(store, 0, 1);
        kill_store(store);
        write_file(model_path(directory, "db-boot"), marks[i]);
        store = open_store(LBM_DURABILITY_MEMORY);
        assert_non_null(lbm_store_set_aside(store));
        lbm_store_close(store);
    }
}

/* It says nothing of the database, which stays as it is: whatever is in the way may not last. */
static void
mark_that_cannot_be_opened_ends_the_daemon(void **state)
{
    (void)state;
    static const enum lbm_durability durabilities[] = {LBM_DURABILITY_MEMORY, LBM_DURABILITY_DISK};
    struct lbm_store *store = open_store(LBM_DURABILITY_DISK);
    put_rows(store, 0, 1);
    lbm_store_close(store);
    for (size_t i = 0; i < sizeof durabilities / sizeof *durabilities; i++) {
        const struct lbm_store_how how = {durabilities[i], boot_path};
        char mark[256];
        snprintf(mark, sizeof mark, "%s", model_path(directory, "db-boot"));
        assert_int_equal(symlink(boot_path, mark), 0); /* which is not followed */
        assert_int_equal(lbm_store_open(model_path(directory, "db"), &how, &store, &diag), LBM_E_IO);
        assert_int_equal(unlink(mark), 0);
        store = open_store(LBM_DURABILITY_DISK);
        assert_null(lbm_store_set_aside(store));
        assert_int_equal(count_rows(store), 1);
        lbm_store_close(store);
    }
    assert_true(is_there("boot_id"));
}

static void
end_in_order_outlives_a_start_of_the_machine(void **state)
{
    (void)state;
    struct lbm_store *store = open_store(LBM_DURABILITY_MEMORY);
    put_rows(store, 0, ROWS);
    lbm_store_close(store);
    assert_false(is_there("db-boot"));
    machine_starts("second");
    store = open_store(LBM_DURABILITY_MEMORY);
    assert_null(lbm_store_set_aside(store));
    assert_int_equal(count_rows(store), ROWS);
    kill_store(store);
}

static void
setting_changes_in_both_directions(void **state)
{
    (void)state;
    struct lbm_store *store = open_store(LBM_DURABILITY_DISK);
    put_rows(store, 0, 1);
    assert_int_equal(synchronous(store), 2);
    assert_false(is_there("db-boot"));
    kill_store(store);
    store = open_store(LBM_DURABILITY_MEMORY);
    put_rows(store, 1, 1);
    assert_int_equal(synchronous(store), 0);
    kill_store(store);
    store = open_store(LBM_DURABILITY_DISK);
    assert_int_equal(count_rows(store), 2);
    assert_int_equal(synchronous(store), 2);
    assert_false(is_there("db-boot"));
    put_rows(store, 2, 1);
    kill_store(store);
    machine_starts("second");
    store = open_store(LBM_DURABILITY_MEMORY);
    assert_null(lbm_store_set_aside(store));
    assert_int_equal(count_rows(store), 3);
    lbm_store_close(store);
}

static void
without_a_boot_id_only_the_disk_counts(void **state)
{
    (void)state;
    const struct lbm_store_how memory = {LBM_DURABILITY_MEMORY, boot_path};
    struct lbm_store *store = NULL;
    assert_int_equal(unlink(boot_path), 0);
    assert_int_equal(lbm_store_open(model_path(directory, "db"), &memory, &store, &diag), LBM_E_UNSUPPORTED);
    store = open_store(LBM_DURABILITY_DISK);
    put_rows(store, 0, 1);
    lbm_store_close(store);
    machine_starts("first");
    store = open_store(LBM_DURABILITY_MEMORY);
    kill_store(store);
    assert_int_equal(unlink(boot_path), 0);
    const struct lbm_store_how disk = {LBM_DURABILITY_DISK, boot_path};
    assert_int_equal(lbm_store_open(model_path(directory, "db"), &disk, &store, &diag), LBM_E_UNSUPPORTED);
    machine_starts("first");
    store = open_store(LBM_DURABILITY_DISK);
    assert_int_equal(count_rows(store), 1);
    lbm_store_close(store);
}

/* ---- power cuts -----------------------------------------------------------------------------------------
 */

enum { UNSYNCED, SYNCED, CLOSED, OPENED, LAST, MOMENTS };

/* Rows in memory, an end in order, more rows in memory, a kill, a start on the disk.
 * Out: at[]: how many operations there were at each moment. */
static void
record_script(size_t at[MOMENTS])
{
    power_begin();
    struct lbm_store *store = open_store(LBM_DURABILITY_MEMORY);
    put_rows(store, 0, ROWS);
    at[UNSYNCED] = power_length();
    lbm_store_end_boot(store);
    at[SYNCED] = power_length();
    lbm_store_close(store);
    at[CLOSED] = power_length();
    store = open_store(LBM_DURABILITY_MEMORY);
    put_rows(store, ROWS, ROWS);
    kill_store(store);
    store = open_store(LBM_DURABILITY_DISK);
    at[OPENED] = power_length();
    put_rows(store, 2 * ROWS, 1);
    lbm_store_close(store);
    at[LAST] = power_length();
    power_end();
}

/* Returns the rows after a cut; what cannot be opened has none. */
static size_t
rows_after(size_t cut, enum power_outcome outcome, struct lbm_rng *rng)
{
    struct lbm_store *store = NULL;
    struct lbm_recovered *recovered = NULL;
    char *whole = directory;
    size_t n = 0;
    directory = model_directory();
    (void)power_cut(cut, outcome, rng, directory);
    if (lbm_store_open(model_path(directory, "db"), NULL, &store, &diag) == LBM_OK &&
        lbm_store_load(store, &recovered, &diag) == LBM_OK)
        n = recovered->rows.n;
    lbm_recovered_free(recovered);
    lbm_store_close(store);
    model_remove(directory);
    directory = whole;
    return n;
}

static void
power_cut_loses_nothing_that_is_not_marked(void **state)
{
    (void)state;
    struct lbm_rng rng;
    size_t at[MOMENTS];
    record_script(at);
    lbm_rng_stream(&rng, 1, 0);
    /* A sync does make the difference here. */
    assert_int_equal(rows_after(at[UNSYNCED], POWER_NONE, &rng), 0);
    for (int outcome = 0; outcome < POWER_OUTCOMES; outcome++) {
        for (size_t cut = at[SYNCED]; cut <= at[CLOSED]; cut++)
            assert_int_equal(rows_after(cut, (enum power_outcome)outcome, &rng), ROWS);
        for (size_t cut = at[OPENED]; cut <= at[LAST]; cut++)
            assert_in_range(rows_after(cut, (enum power_outcome)outcome, &rng), 2 * ROWS, 2 * ROWS + 1);
    }
    print_message("%zu operations\n", power_length());
    power_free();
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(end_of_the_daemon_loses_nothing),
        TEST(start_of_the_machine_sets_it_aside),
        TEST(database_that_is_torn_is_set_aside_unread),
        TEST(mark_that_says_nothing_is_one_of_another_start),
        TEST(mark_that_cannot_be_opened_ends_the_daemon),
        TEST(end_in_order_outlives_a_start_of_the_machine),
        TEST(setting_changes_in_both_directions),
        TEST(without_a_boot_id_only_the_disk_counts),
        TEST(power_cut_loses_nothing_that_is_not_marked),
    };
    return cmocka_run_group_tests_name("store boot", tests, NULL, NULL);
}
