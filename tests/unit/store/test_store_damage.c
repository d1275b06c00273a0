/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/store when things go wrong: other people's files, damage, crashes, failing disks, old and new schemas.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/internal.h"
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

/* ---- files as bytes ----------------------------------------------------------------------------- */

struct bytes {
    uint8_t *at;
    size_t len;
};

static struct bytes
read_file(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && fstat(file, &status) == 0);
    struct bytes bytes = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    assert_true(bytes.at != NULL && read(file, bytes.at, bytes.len) == status.st_size);
    close(file);
    return bytes;
}

static void
write_file(const char *path, const void *bytes, size_t len)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0 && write(file, bytes, len) == (ssize_t)len);
    close(file);
}

/* A closed database of a few pages; returns what it holds. */
static struct lbm_recovered *
make_database(void)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    const struct lbm_graph guest = {.n = 2, .offset = (uint64_t[]){0, 1, 2}, .target = (uint32_t[]){1, 0}};
    struct lbm_recovered *expected = model_new();
    struct lbm_store *store = NULL;
    assert_int_equal(lbm_store_open(database(), NULL, &store, &diag), LBM_OK);
    for (uint64_t id = 1; id <= 100; id++) {
        struct lbm_persist *persist = model_random(&rng, id, expected, &guest);
        enum lbm_err want = model_apply(&expected, persist);
        assert_int_equal(model_store(store, persist, &diag), want);
    }
    struct lbm_persist *persist = model_persist(101);
    model_row(persist, 5, 0, 1, LBM_STAGE_OWN, 900); /* overflow pages */
    model_op(persist, LBM_PERSIST_SELF, 0)->as.self.cluster = UINT64_MAX;
    assert_int_equal(model_apply(&expected, persist), LBM_OK);
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    assert_true(expected->log.n > 3 && expected->jobs.n > 0);
    lbm_store_close(store);
    return expected;
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

/* Whatever was done to the file: an error that names it, or exactly what was stored. */
static int
assert_error_or_equal(const struct lbm_recovered *expected)
{
    struct lbm_recovered *recovered = NULL;
    enum lbm_err err = open_and_load(&recovered);
    if (err == LBM_OK) {
        model_assert_equal(recovered, expected);
        lbm_recovered_free(recovered);
        return 0;
    }
    assert_true(err == LBM_E_CORRUPT || err == LBM_E_VERSION || err == LBM_E_DENIED || err == LBM_E_IO);
    assert_string_equal(diag.where, database());
    return 1;
}

static void
flipped_bits_are_found_or_harmless(void **state)
{
    (void)state;
    struct lbm_recovered *expected = make_database();
    struct bytes whole = read_file(database());
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    int found = 0, tries = 3000;
    for (int i = 0; i < tries; i++) {
        size_t at = lbm_rng_below(&rng, (uint32_t)whole.len);
        uint8_t bit = (uint8_t)(1u << lbm_rng_below(&rng, 8));
        whole.at[at] ^= bit;
        write_file(database(), whole.at, whole.len);
        found += assert_error_or_equal(expected);
        whole.at[at] ^= bit;
    }
    assert_true(found > tries / 10); /* the rest hit free space */
    free(whole.at);
    lbm_recovered_free(expected);
}

static void
cut_off_file_is_found_and_kept(void **state)
{
    (void)state;
    struct lbm_recovered *expected = make_database();
    struct bytes whole = read_file(database());
    for (size_t len = 1; len < whole.len; len += len < 200 ? 1 : 509) {
        write_file(database(), whole.at, len);
        int found = assert_error_or_equal(expected);
        assert_true(found || len > whole.len - 4096); /* the last page may end in free space */
        struct bytes after = read_file(database());
        assert_true(!found || (after.len == len && memcmp(after.at, whole.at, len) == 0));
        free(after.at);
    }
    free(whole.at);
    lbm_recovered_free(expected);
}

static void
zeroed_page_is_found(void **state)
{
    (void)state;
    struct lbm_recovered *expected = make_database();
    struct bytes whole = read_file(database());
    for (size_t page = 0; page + 4096 <= whole.len; page += 4096) {
        uint8_t *damaged = lbm_copy(whole.at, whole.len, 1);
        memset(damaged + page, 0, 4096);
        write_file(database(), damaged, whole.len);
        assert_int_equal(assert_error_or_equal(expected), 1);
        free(damaged);
    }
    free(whole.at);
    lbm_recovered_free(expected);
}

/* ---- files that are not ours --------------------------------------------------------------------- */

static void
run_sql(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(database(), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Opening and checking fail with err, say that the file is kept, and keep it. */
static void
assert_kept(enum lbm_err err)
{
    struct bytes before = read_file(database());
    struct lbm_store *store = NULL;
    assert_int_equal(lbm_store_open(database(), NULL, &store, &diag), err);
    assert_null(store);
    assert_string_equal(diag.where, database());
    assert_non_null(strstr(diag.text, "kept as it is"));
    assert_int_equal(lbm_store_check(database(), &diag), err);
    struct bytes after = read_file(database());
    assert_true(before.len == after.len && memcmp(before.at, after.at, before.len) == 0);
    free(before.at);
    free(after.at);
}

static void
file_of_something_else_is_refused_and_kept(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof text);
    write_file(database(), text, sizeof text);
    assert_kept(LBM_E_CORRUPT);
    write_file(database(), "short", 5);
    assert_kept(LBM_E_CORRUPT);
}

static void
database_of_something_else_is_refused_and_kept(void **state)
{
    (void)state;
    run_sql("CREATE TABLE vertex(job, v)"); /* no application id */
    assert_kept(LBM_E_CORRUPT);
    run_sql("PRAGMA application_id = 1196444487"); /* a GeoPackage */
    assert_kept(LBM_E_CORRUPT);
    run_sql("PRAGMA journal_mode = WAL; PRAGMA user_version = 1");
    assert_kept(LBM_E_CORRUPT);
}

static void
application_id_alone_tells_whose_a_database_is(void **state)
{
    (void)state;
    lbm_recovered_free(make_database());
    run_sql("PRAGMA application_id = 1");
    assert_kept(LBM_E_CORRUPT);
    assert_non_null(strstr(diag.text, "application id 1"));
}

static void
database_of_a_newer_version_is_refused_and_kept(void **state)
{
    (void)state;
    lbm_recovered_free(make_database());
    run_sql("PRAGMA user_version = 1000");
    assert_kept(LBM_E_VERSION);
    assert_non_null(strstr(diag.text, "1000"));
}

static void
schema_that_belies_its_version_is_refused(void **state)
{
    (void)state;
    lbm_recovered_free(make_database());
    run_sql("ALTER TABLE vertex RENAME COLUMN pin TO pinned");
    assert_kept(LBM_E_CORRUPT);
}

static void
missing_or_wrong_kinds_of_files_are_named(void **state)
{
    (void)state;
    struct lbm_store *store = NULL;
    assert_int_equal(lbm_store_open(directory, NULL, &store, &diag), LBM_E_IO);
    assert_non_null(strstr(diag.text, "directory"));
    char inside[256];
    snprintf(inside, sizeof inside, "%s/none/db", directory);
    assert_int_equal(lbm_store_open(inside, NULL, &store, &diag), LBM_E_IO);
    assert_non_null(strstr(diag.text, "No such file"));
    assert_int_equal(lbm_store_check(inside, &diag), LBM_E_NOTFOUND);
    write_file(database(), "", 0);
    assert_int_equal(lbm_store_check(database(), &diag), LBM_E_VERSION);
    assert_int_equal(lbm_store_open(database(), NULL, &store, &diag), LBM_OK); /* an empty file is a new database */
    lbm_store_close(store);
}

/* Root may write anywhere, so a child becomes somebody else for this. */
static void
directory_without_write_access_is_denied(void **state)
{
    (void)state;
    assert_int_equal(chmod(directory, 0555), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        struct lbm_store *store = NULL;
        enum lbm_err err = lbm_store_open(database(), NULL, &store, &diag);
        _exit(err == LBM_E_DENIED && strstr(diag.text, "write access") != NULL ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- migration ---------------------------------------------------------------------------------- */

static int64_t
query(const char *sql)
{
    sqlite3 *db;
    int64_t value = -1;
    assert_int_equal(sqlite3_open_v2(database(), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    enum lbm_err err = lbm_store_exec(db, sql, &value, database(), &diag);
    sqlite3_close(db);
    return err == LBM_OK ? value : -1;
}

static enum lbm_err
migrate(const struct lbm_store_step *steps, int from, int to)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(database(), &db), SQLITE_OK);
    enum lbm_err err = lbm_store_migrate(db, steps, from, to, database(), &diag);
    assert_true(sqlite3_get_autocommit(db));
    sqlite3_close(db);
    return err;
}

/* A database of version 1 with n records of job 5, vertices n .. 1, and one of job 2^63. */
static void
make_version_1(uint32_t n)
{
    static const char put[] =
        "INSERT INTO vertex VALUES(?1, ?2, 3, 1, 4294967295, 0, 7, 4294967295, 0, 0, ?3, x'')";
    assert_int_equal(migrate(lbm_store_steps, 0, 1), LBM_OK);
    sqlite3 *db;
    sqlite3_stmt *statement;
    struct lbm_buf position = {0};
    assert_int_equal(sqlite3_open(database(), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, put, -1, &statement, NULL), SQLITE_OK);
    for (uint32_t v = n + 1; v-- > 0;) {
        uint64_t job = v == 0 ? UINT64_C(1) << 63 : 5;
        assert_int_equal(lbm_store_encode_position(&position, job, v, (double[3]){v, 0.5, 0}, &diag), LBM_OK);
        sqlite3_bind_int64(statement, 1, (int64_t)job);
        sqlite3_bind_int64(statement, 2, v);
        sqlite3_bind_blob(statement, 3, position.at, (int)position.len, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    lbm_buf_free(&position);
}

/* The database as it was is kept next to it, for its owner alone, and is one that the program of before reads.
 */
static void
assert_copy_of_version_1(int rows)
{
    char path[512];
    struct stat status;
    sqlite3 *db;
    sqlite3_stmt *statement;
    snprintf(path, sizeof path, "%s.schema-1", database());
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    static const char *const queries[] = {"PRAGMA user_version", "SELECT count(*) FROM vertex"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sqlite3_prepare_v2(db, queries[i], -1, &statement, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(statement, 0), i == 0 ? 1 : rows);
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
    assert_int_equal(unlink(path), 0);
}

static void
version_1_is_brought_forward_with_its_rows(void **state)
{
    (void)state;
    struct lbm_recovered *recovered = NULL;
    make_version_1(9);
    assert_int_equal(open_and_load(&recovered), LBM_OK);
    assert_copy_of_version_1(10);
    assert_int_equal(query("PRAGMA user_version"), lbm_store_version);
    assert_int_equal(query("PRAGMA application_id"), LBM_STORE_APPLICATION_ID);
    assert_int_equal(recovered->rows.n, 10);
    assert_true(recovered->seq == 10);
    for (size_t i = 0, seen = 0; i < 10; i++) {
        const struct lbm_row *row = &recovered->rows.at[i];
        assert_true(row->seq >= 1 && row->seq <= 10 && (seen & (size_t)1 << row->seq) == 0);
        seen |= (size_t)1 << row->seq;
        assert_true(row->source == LBM_NONE && row->fin == 1 && row->payload_len == 0);
        assert_true(row->epoch == 3 && row->work == 7 && row->position[0] == row->vertex);
    }
    lbm_recovered_free(recovered);
}

static void
empty_version_1_is_brought_forward(void **state)
{
    (void)state;
    struct lbm_recovered *recovered = NULL, *nothing = model_new();
    assert_int_equal(migrate(lbm_store_steps, 0, 1), LBM_OK);
    assert_int_equal(open_and_load(&recovered), LBM_OK);
    model_assert_equal(recovered, nothing);
    assert_true(recovered->seq == 0);
    lbm_recovered_free(recovered);
    lbm_recovered_free(nothing);
}

static void
failed_migration_leaves_the_old_schema(void **state)
{
    (void)state;
    const struct lbm_store_step steps[] = {
        lbm_store_steps[0],
        lbm_store_steps[1],
        lbm_store_steps[2],
        lbm_store_steps[3],
        {"ALTER TABLE vertex ADD COLUMN extra BLOB; DELETE FROM job"},
        {"CREATE TABLE vertex(clash)"},
    };
    struct lbm_recovered *expected = make_database(), *recovered = NULL;
    assert_int_equal(migrate(steps, 4, 6), LBM_E_CORRUPT);
    assert_int_equal(query("PRAGMA user_version"), 4);
    assert_int_equal(query("SELECT count(extra) FROM vertex"), -1);
    assert_int_equal(open_and_load(&recovered), LBM_OK);
    model_assert_equal(recovered, expected);
    lbm_recovered_free(recovered);
    lbm_recovered_free(expected);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(flipped_bits_are_found_or_harmless),
        TEST(cut_off_file_is_found_and_kept),
        TEST(zeroed_page_is_found),
        TEST(file_of_something_else_is_refused_and_kept),
        TEST(database_of_something_else_is_refused_and_kept),
        TEST(application_id_alone_tells_whose_a_database_is),
        TEST(database_of_a_newer_version_is_refused_and_kept),
        TEST(schema_that_belies_its_version_is_refused),
        TEST(missing_or_wrong_kinds_of_files_are_named),
        TEST(directory_without_write_access_is_denied),
        TEST(version_1_is_brought_forward_with_its_rows),
        TEST(empty_version_1_is_brought_forward),
        TEST(failed_migration_leaves_the_old_schema),
    };
    return cmocka_run_group_tests_name("store damage", tests, NULL, NULL);
}
