/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/store keeps what it is given: operations, ranks, groups, limits, the lock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/internal.h"
#include "tests/unit/store/store_model.h"

static char *directory;
static struct lbm_diag diag;

static int
set_up(void **state)
{
    (void)state;
    directory = model_directory();
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
open_store(void)
{
    struct lbm_store *store = NULL;
    enum lbm_err err = lbm_store_open(model_path(directory, "db"), NULL, &store, &diag);
    if (err != LBM_OK)
        fail_msg("%s: %s", lbm_err_name(err), diag.text);
    return store;
}

static struct lbm_recovered *
load(struct lbm_store *store)
{
    struct lbm_recovered *recovered = NULL;
    enum lbm_err err = lbm_store_load(store, &recovered, &diag);
    if (err != LBM_OK)
        fail_msg("%s: %s", lbm_err_name(err), diag.text);
    return recovered;
}

/* A path 0 - 1 - 2 and the lone vertex 3. */
static const struct lbm_graph small = {
    .n = 4,
    .offset = (uint64_t[]){0, 1, 3, 4, 4},
    .target = (uint32_t[]){1, 0, 2, 1},
    .weight = (uint32_t[]){5, 5, 6, 6},
    .work = (uint32_t[]){1, 2, 3, LBM_WEIGHT_MAX},
    .position = (double[]){0, 1, 2, 3, 4, 5, -6, 1e300},
    .pin = (uint32_t[]){LBM_NONE, 0, 7, LBM_NONE},
};

static void
new_database_is_empty_and_private(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_recovered *recovered = load(store);
    struct lbm_recovered *nothing = model_new();
    model_assert_equal(recovered, nothing);
    struct stat status;
    assert_int_equal(stat(model_path(directory, "db"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    lbm_recovered_free(nothing);
    lbm_recovered_free(recovered);
    lbm_store_close(store);
}

static void
random_operations_read_back_equal(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 20);
    struct lbm_recovered *expected = model_new();
    struct lbm_store *store = open_store();
    int refused = 0, stored = 0;
    for (uint64_t id = 1; id <= 600; id++) {
        struct lbm_persist *persist = model_random(&rng, id, expected, &small);
        enum lbm_err want = model_apply(&expected, persist);
        assert_int_equal(model_store(store, persist, &diag), want);
        *(want == LBM_OK ? &stored : &refused) += 1;
        if (id % 30 != 0)
            continue;
        if (id % 60 == 0) {
            lbm_store_close(store);
            store = open_store();
        }
        struct lbm_recovered *recovered = load(store);
        model_assert_equal(recovered, expected);
        lbm_recovered_free(recovered);
    }
    assert_true(refused > 20 && stored > 200 && expected->rows.n > 10);
    lbm_recovered_free(expected);
    lbm_store_close(store);
    assert_int_equal(lbm_store_check(model_path(directory, "db"), &diag), LBM_OK);
}

static void
guest_is_stored_as_own_1_of_every_vertex(void **state)
{
    (void)state;
    const struct lbm_graph empty = {.n = 0, .offset = (uint64_t[]){0}};
    const struct lbm_graph single = {.n = 1, .offset = (uint64_t[]){0, 0}};
    const struct lbm_graph *guests[] = {&empty, &single, &small};
    struct lbm_store *store = open_store();
    struct lbm_recovered *expected = model_new();
    for (uint64_t i = 0; i < 3; i++) {
        struct lbm_persist *persist = model_persist(i + 1);
        model_op(persist, LBM_PERSIST_GUEST, i)->as.guest.graph = guests[i];
        assert_int_equal(model_apply(&expected, persist), LBM_OK);
        assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    }
    struct lbm_recovered *recovered = load(store);
    model_assert_equal(recovered, expected);
    assert_int_equal(recovered->rows.n, 5);
    const struct lbm_row *last = &recovered->rows.at[4];
    assert_true(last->epoch == 1 && last->stage == LBM_STAGE_OWN && last->degree == 0);
    assert_true(last->position[1] == 1e300 && last->work == LBM_WEIGHT_MAX && last->pin == LBM_NONE);
    lbm_recovered_free(recovered);
    lbm_recovered_free(expected);
    lbm_store_close(store);
}

static struct lbm_persist_op *
add_plan(struct lbm_persist *persist, enum lbm_persist_kind kind, uint32_t n, unsigned m)
{
    struct lbm_persist_op *op = model_op(persist, kind, 1);
    op->as.plan.n = n;
    op->as.plan.m = m;
    op->as.plan.position = lbm_alloc((size_t)n * m, sizeof(double));
    assert_non_null(op->as.plan.position);
    return op;
}

static void
plan_sets_targets_of_owned_rows_alone(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    for (uint32_t v = 0; v < 2; v++) {
        struct lbm_row *row = model_row(persist, 1, v, 3, v == 0 ? LBM_STAGE_OWN : LBM_STAGE_OUT, 2);
        row->peer = 9;
    }
    struct lbm_persist_op *op = add_plan(persist, LBM_PERSIST_PLAN, 2, 3);
    op->as.plan.position[5] = 0.25;
    op->as.plan.host = lbm_copy((uint32_t[]){4, 4}, 2, sizeof(uint32_t));
    op->as.plan.anchored = lbm_copy((uint8_t[]){0, 1}, 2, 1);
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    struct lbm_recovered *recovered = load(store);
    assert_int_equal(recovered->rows.at[0].peer, 4);
    assert_int_equal(recovered->rows.at[1].peer, 9);
    assert_true(recovered->rows.at[1].anchored && recovered->rows.at[1].position[2] == 0.25);
    lbm_recovered_free(recovered);

    /* A vertex that is not here can have no plan, and then none has. */
    persist = model_persist(2);
    op = add_plan(persist, LBM_PERSIST_PLAN, 3, 2);
    op->as.plan.host = lbm_copy((uint32_t[]){5, 5, 5}, 3, sizeof(uint32_t));
    assert_int_equal(model_store(store, persist, &diag), LBM_E_STATE);
    assert_non_null(strstr(diag.text, "vertex 2"));
    recovered = load(store);
    assert_int_equal(recovered->rows.at[0].peer, 4);
    lbm_recovered_free(recovered);
    lbm_store_close(store);
}

static void
positions_are_soft_but_finite(void **state)
{
    (void)state;
    const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    model_row(persist, 1, 0, 1, LBM_STAGE_OWN, 0);
    struct lbm_persist_op *op = add_plan(persist, LBM_PERSIST_POSITIONS, 2, 3); /* vertex 1 is not stored */
    op->as.plan.position[1] = 1.5;
    op->as.plan.position[2] = -0.0;
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    for (size_t i = 0; i < 3; i++) {
        persist = model_persist(2 + i);
        model_row(persist, 1, 1, 1, LBM_STAGE_OWN, 0);
        add_plan(persist, LBM_PERSIST_POSITIONS, 1, 2)->as.plan.position[1] = bad[i];
        assert_int_equal(model_store(store, persist, &diag), LBM_E_RANGE);
    }
    struct lbm_recovered *recovered = load(store);
    assert_int_equal(recovered->rows.n, 1);
    assert_true(recovered->rows.at[0].position[1] == 1.5);
    assert_true(signbit(recovered->rows.at[0].position[2]));
    lbm_recovered_free(recovered);
    lbm_store_close(store);
}

static void
rank_of_a_record_never_falls(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    uint64_t id = 1;
    uint32_t v = 0;
    for (unsigned from = 0; from < 12; from++)
        for (unsigned to = 0; to < 12; to++, v++) {
            struct lbm_persist *persist = model_persist(id++);
            model_row(persist, 1, v, 1 + from / 4, (enum lbm_stage)(1 + from % 4), from);
            assert_int_equal(model_store(store, persist, &diag), LBM_OK);
            persist = model_persist(id++);
            model_row(persist, 1, v, 1 + to / 4, (enum lbm_stage)(1 + to % 4), to);
            assert_int_equal(model_store(store, persist, &diag), to >= from ? LBM_OK : LBM_E_STATE);
        }
    struct lbm_recovered *recovered = load(store);
    for (v = 0; v < 144; v++)
        assert_int_equal(recovered->rows.at[v].degree, v / 12 > v % 12 ? v / 12 : v % 12);
    lbm_recovered_free(recovered);
    lbm_store_close(store);
}

static void
record_without_stage_or_epoch_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t epoch;
        enum lbm_stage stage;
    } bad[] = {
        {1, LBM_STAGE_NONE}, {1, LBM_STAGE_COUNT}, {0, LBM_STAGE_OWN}, {UINT64_C(1) << 63, LBM_STAGE_OWN}};
    struct lbm_store *store = open_store();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lbm_persist *persist = model_persist(1 + i);
        model_row(persist, 1, 0, bad[i].epoch, bad[i].stage, 0);
        assert_int_equal(model_store(store, persist, &diag), LBM_E_RANGE);
    }
    lbm_store_close(store);
}

static void
group_is_stored_whole_or_not_at_all(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_persist *group[3];
    for (uint64_t i = 0; i < 3; i++) {
        group[i] = model_persist(i + 1);
        model_row(group[i], 1, (uint32_t)i, 2, LBM_STAGE_OWN, 1);
    }
    model_row(group[1], 1, 0, 1, LBM_STAGE_MOV, 0); /* below what group[0] stores */
    const struct lbm_persist *const *list = (const struct lbm_persist *const *)group;
    assert_int_equal(lbm_store_apply(store, list, 3, &diag), LBM_E_STATE);
    struct lbm_recovered *recovered = load(store);
    assert_int_equal(recovered->rows.n, 0);
    lbm_recovered_free(recovered);
    group[1]->ops.at[1].as.row.epoch = 2;
    assert_int_equal(lbm_store_apply(store, list, 3, &diag), LBM_OK);
    recovered = load(store);
    assert_int_equal(recovered->rows.n, 3);
    assert_int_equal(recovered->rows.at[0].stage, LBM_STAGE_MOV);
    lbm_recovered_free(recovered);
    for (int i = 0; i < 3; i++)
        lbm_persist_free(group[i]);
    assert_int_equal(lbm_store_apply(store, list, 0, &diag), LBM_OK);
    lbm_store_close(store);
}

static void
control_log_grows_by_one(void **state)
{
    (void)state;
    static const struct {
        uint64_t index;
        enum lbm_err err;
    } tries[] = {{0, LBM_E_STATE}, {2, LBM_E_STATE}, {1, LBM_OK},
                 {1, LBM_E_STATE}, {3, LBM_E_STATE}, {2, LBM_OK}};
    struct lbm_store *store = open_store();
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct lbm_persist *persist = model_persist(i + 1);
        model_op(persist, LBM_PERSIST_LOG, 0)->as.log.index = tries[i].index;
        assert_int_equal(model_store(store, persist, &diag), tries[i].err);
    }
    lbm_store_close(store);
}

static void
rows_come_in_order_of_unsigned_jobs(void **state)
{
    (void)state;
    static const uint64_t jobs[] = {UINT64_MAX, 0, INT64_MAX, UINT64_C(1) << 63};
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    for (int i = 0; i < 4; i++)
        model_row(persist, jobs[i], LBM_NONE - 1, INT64_MAX, LBM_STAGE_OUT, 0)->peer_incarnation = UINT64_MAX;
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    struct lbm_recovered *recovered = load(store);
    assert_int_equal(recovered->rows.n, 4);
    for (int i = 1; i < 4; i++)
        assert_true(recovered->rows.at[i - 1].job < recovered->rows.at[i].job);
    assert_true(recovered->rows.at[3].peer_incarnation == UINT64_MAX);
    lbm_recovered_free(recovered);
    lbm_store_close(store);
}

/* What is left to tell of changed edges, with a vertex and with one that was removed; */
static void
what_is_to_be_told_reads_back(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    for (uint32_t v = 0; v < 2; v++) {
        struct lbm_row *row =
            model_row(persist, 5, v, 3, v == 0 ? LBM_STAGE_OWN : LBM_STAGE_MOV, v == 0 ? 2 : 0);
        row->n_news = 2;
        assert_non_null(row->news = lbm_alloc(2, sizeof *row->news));
        row->news[0] = (struct lbm_half){7 + v, 0, 1};
        row->news[1] = (struct lbm_half){9, LBM_WEIGHT_MAX, LBM_NONE};
    }
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    lbm_store_close(store);
    store = open_store();
    struct lbm_recovered *recovered = load(store);
    assert_int_equal(recovered->rows.n, 2);
    for (uint32_t v = 0; v < 2; v++) {
        const struct lbm_row *row = &recovered->rows.at[v];
        assert_int_equal(row->n_news, 2);
        assert_true(row->news[0].to == 7 + v && row->news[0].weight == 0 && row->news[0].host == 1);
        assert_true(row->news[1].to == 9 && row->news[1].weight == LBM_WEIGHT_MAX &&
                    row->news[1].host == LBM_NONE);
        assert_int_equal(row->degree, v == 0 ? 2 : 0);
    }
    lbm_recovered_free(recovered);
    lbm_store_close(store);
    assert_int_equal(lbm_store_check(model_path(directory, "db"), &diag), LBM_OK);
}

static void
vertex_of_largest_degree_fits(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    model_row(persist, 1, 0, 1, LBM_STAGE_OWN, LBM_DEGREE_MAX);
    struct lbm_recovered *expected = model_new();
    assert_int_equal(model_apply(&expected, persist), LBM_OK);
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    struct lbm_recovered *recovered = load(store);
    model_assert_equal(recovered, expected);
    lbm_recovered_free(expected);
    lbm_recovered_free(recovered);
    lbm_store_close(store);
}

static void
second_daemon_is_refused_until_the_first_ends(void **state)
{
    (void)state;
    struct lbm_store *store = open_store(), *second = NULL;
    assert_int_equal(lbm_store_open(model_path(directory, "db"), NULL, &second, &diag), LBM_E_BUSY);
    assert_null(second);
    char owner[32];
    snprintf(owner, sizeof owner, "process %ld", (long)getpid());
    assert_non_null(strstr(diag.text, owner));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(lbm_store_open(model_path(directory, "db"), NULL, &second, &diag) == LBM_E_BUSY ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    lbm_store_close(store);
    lbm_store_close(open_store());
}

static int
count_rows(sqlite3 *db)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM vertex", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int rows = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return rows;
}

static void
readers_may_look_while_it_is_open(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    sqlite3 *reader;
    assert_int_equal(sqlite3_open_v2(model_path(directory, "db"), &reader, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(count_rows(reader), 0);
    for (uint64_t id = 1; id <= 20; id++) { /* also long enough for the write-ahead log to be folded in */
        struct lbm_persist *persist = model_persist(id);
        model_row(persist, 1, (uint32_t)id, 1, LBM_STAGE_OWN, LBM_DEGREE_MAX);
        assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    }
    assert_int_equal(count_rows(reader), 0);
    assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(count_rows(reader), 20);
    assert_int_equal(lbm_store_check(model_path(directory, "db"), &diag), LBM_OK);
    sqlite3_close(reader);
    lbm_store_close(store);
}

static void
write_ahead_log_stays_bounded(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    for (uint64_t id = 1; id <= 120; id++) { /* 120 times 720 KB */
        struct lbm_persist *persist = model_persist(id);
        model_row(persist, 1, 0, id, LBM_STAGE_OWN, LBM_DEGREE_MAX);
        assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    }
    struct stat status;
    assert_int_equal(stat(model_path(directory, "db-wal"), &status), 0);
    assert_true(status.st_size < 24 << 20);
    lbm_store_close(store);
}

static int64_t
cache_pages(struct lbm_store *store)
{
    int64_t pages = 0;
    assert_int_equal(lbm_store_exec(store->db, "PRAGMA cache_size", &pages, "cache", &diag), LBM_OK);
    return pages;
}

static void
cache_is_small_while_the_database_is(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    assert_int_equal(cache_pages(store), 32);
    for (uint64_t id = 1; id <= 128; id++) { /* the first ten are 720 KB each */
        struct lbm_persist *persist = model_persist(id);
        model_row(persist, 1, (uint32_t)id, id, LBM_STAGE_OWN, id <= 10 ? LBM_DEGREE_MAX : 1);
        assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    }
    assert_int_equal(cache_pages(store), 128);
    lbm_store_close(store);
    store = open_store();
    assert_int_equal(cache_pages(store), 128);
    lbm_store_close(store);
}

/* ---- files of others ----------------------------------------------------------------------------------- */

static void
write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
assert_text(const char *path, const char *text)
{
    char line[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fgets(line, sizeof line, file);
    fclose(file);
    assert_string_equal(line, text);
}

static void
assert_not_opened(const char *why)
{
    struct lbm_store *store = NULL;
    assert_int_equal(lbm_store_open(model_path(directory, "db"), NULL, &store, &diag), LBM_E_DENIED);
    if (strstr(diag.text, why) == NULL)
        fail_msg("%s: %s, not: %s", diag.where, diag.text, why);
}

static void
a_lock_that_is_somebody_elses_file_is_kept(void **state)
{
    (void)state;
    char lock[256], other[256];
    snprintf(lock, sizeof lock, "%s", model_path(directory, "db-lock"));
    snprintf(other, sizeof other, "%s", model_path(directory, "precious"));
    write_text(other, "precious");
    assert_int_equal(symlink(other, lock), 0);
    assert_not_opened("is a symbolic link");
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(symlink("/nowhere/at/all", lock), 0);
    assert_not_opened("is a symbolic link");
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(link(other, lock), 0);
    assert_not_opened("has other names");
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkfifo(lock, 0600), 0);
    assert_not_opened("not an ordinary file");
    assert_int_equal(unlink(lock), 0);
    static const char *const texts[] = {"12x", "precious", "\n", "1234567890123456789012345", "12\n13\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(lock, texts[i]);
        assert_not_opened("holds something else");
        assert_int_equal(unlink(lock), 0);
    }
    assert_text(other, "precious");
    unlink(other);
    write_text(lock, "4711\n"); /* of a daemon that is gone */
    lbm_store_close(open_store());
    write_text(lock, "4711"); /* the same, on a disk that was full */
    lbm_store_close(open_store());
}

static void
a_database_that_is_a_link_is_refused(void **state)
{
    (void)state;
    char path[256], other[256];
    snprintf(path, sizeof path, "%s", model_path(directory, "db"));
    snprintf(other, sizeof other, "%s", model_path(directory, "other"));
    lbm_store_close(open_store());
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_not_opened("is a symbolic link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(other, path), 0);
    assert_not_opened("has other names");
    assert_int_equal(unlink(other), 0);
    lbm_store_close(open_store());
}

static void
a_database_that_is_gone_stores_nothing(void **state)
{
    (void)state;
    char path[256], other[256];
    snprintf(path, sizeof path, "%s", model_path(directory, "db"));
    snprintf(other, sizeof other, "%s", model_path(directory, "other"));
    for (int how = 0; how < 4; how++) {
        struct lbm_store *store = open_store();
        struct lbm_persist *persist = model_persist(1);
        assert_int_equal(lbm_store_in_place(store, &diag), LBM_OK);
        if (how == 0)
            assert_int_equal(unlink(path), 0);
        else if (how == 3)
            assert_int_equal(unlink(model_path(directory, "db-lock")), 0);
        else
            assert_int_equal(rename(path, other), 0);
        if (how == 2)
            write_text(path, "");
        assert_int_equal(lbm_store_in_place(store, &diag), LBM_E_IO);
        assert_non_null(strstr(diag.text, how == 2 ? "replaced" : "removed"));
        model_row(persist, 1, 0, 1, LBM_STAGE_OWN, 0);
        assert_int_equal(model_store(store, persist, &diag), LBM_E_IO);
        lbm_store_close(store);
        unlink(path);
        unlink(other);
        unlink(model_path(directory, "db-wal"));
        unlink(model_path(directory, "db-shm"));
    }
}

/* ---- large payloads ------------------------------------------------------------------------------------ */

static const struct lbm_blob_name first_blob = {.job = UINT64_MAX, .len = 5, .digest = {1, 2, 3}};
static const struct lbm_blob_name second_blob = {.job = UINT64_MAX, .len = 5, .digest = {1, 2, 4}};

static void
add_piece(struct lbm_persist *persist, const struct lbm_blob_name *name, uint32_t piece, const char *bytes)
{
    struct lbm_persist_op *op = model_op(persist, LBM_PERSIST_BLOB_PIECE, name->job);
    op->as.blob.name = *name;
    op->as.blob.piece = piece;
    op->as.blob.len = strlen(bytes);
    op->as.blob.bytes = lbm_copy(bytes, strlen(bytes), 1);
}

static void
expect_piece(struct lbm_store *store, const struct lbm_blob_name *name, uint32_t piece, const char *bytes)
{
    uint8_t *got = NULL;
    size_t len = 0;
    enum lbm_err err = lbm_store_read_blob(store, name, piece, &got, &len, &diag);
    assert_int_equal(err, bytes != NULL ? LBM_OK : LBM_E_NOTFOUND);
    if (bytes != NULL) {
        assert_int_equal(len, strlen(bytes));
        assert_memory_equal(got, bytes, len);
    }
    free(got);
}

static void
pieces_of_a_payload_read_back_until_they_go(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    add_piece(persist, &first_blob, 0, "abc");
    add_piece(persist, &second_blob, 0, "xyz");
    add_piece(persist, &first_blob, 1, "de");
    uint8_t words[LBM_BLOB_WORDS];
    lbm_blob_write_name(&first_blob, words);
    struct lbm_row *row = model_row(persist, first_blob.job, 4, 1, LBM_STAGE_OWN, 0);
    row->payload = lbm_copy(words, sizeof words, 1);
    row->payload_len = sizeof words;
    row->is_blob = 1;
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    lbm_store_close(store);
    store = open_store();
    struct lbm_recovered *recovered = load(store);
    assert_int_equal(recovered->blobs.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct lbm_recovered_blob *blob = &recovered->blobs.at[i];
        int is_first = blob->name.digest[2] == 3;
        assert_memory_equal(&blob->name, is_first ? &first_blob : &second_blob, sizeof blob->name);
        assert_int_equal(blob->pieces, is_first ? 2 : 1);
    }
    struct lbm_blob_name named;
    row = &recovered->rows.at[0];
    assert_true(row->is_blob && lbm_blob_read_name(row->job, row->payload, row->payload_len, &named));
    assert_memory_equal(&named, &first_blob, sizeof named);
    lbm_recovered_free(recovered);
    expect_piece(store, &first_blob, 0, "abc");
    expect_piece(store, &first_blob, 1, "de");
    expect_piece(store, &first_blob, 2, NULL);
    expect_piece(store, &second_blob, 0, "xyz");
    persist = model_persist(1);
    model_op(persist, LBM_PERSIST_BLOB_DELETE, first_blob.job)->as.blob.name = first_blob;
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    expect_piece(store, &first_blob, 0, NULL);
    expect_piece(store, &second_blob, 0, "xyz");
    lbm_store_close(store);
    assert_int_equal(lbm_store_check(model_path(directory, "db"), &diag), LBM_OK);
}

static void
a_piece_that_was_changed_is_not_read(void **state)
{
    (void)state;
    struct lbm_store *store = open_store();
    struct lbm_persist *persist = model_persist(1);
    uint8_t *got = NULL;
    size_t len = 0;
    add_piece(persist, &first_blob, 0, "abcde");
    assert_int_equal(model_store(store, persist, &diag), LBM_OK);
    lbm_store_close(store);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(model_path(directory, "db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE blob SET bytes = x'6162636466'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(lbm_store_check(model_path(directory, "db"), &diag), LBM_E_CORRUPT);
    store = open_store();
    assert_int_equal(lbm_store_read_blob(store, &first_blob, 0, &got, &len, &diag), LBM_E_CORRUPT);
    assert_null(got);
    lbm_store_close(store);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(new_database_is_empty_and_private),     TEST(a_lock_that_is_somebody_elses_file_is_kept),
        TEST(a_database_that_is_a_link_is_refused),  TEST(a_database_that_is_gone_stores_nothing),
        TEST(random_operations_read_back_equal),     TEST(guest_is_stored_as_own_1_of_every_vertex),
        TEST(plan_sets_targets_of_owned_rows_alone), TEST(positions_are_soft_but_finite),
        TEST(rank_of_a_record_never_falls),          TEST(record_without_stage_or_epoch_is_refused),
        TEST(group_is_stored_whole_or_not_at_all),   TEST(control_log_grows_by_one),
        TEST(rows_come_in_order_of_unsigned_jobs),   TEST(what_is_to_be_told_reads_back),
        TEST(vertex_of_largest_degree_fits),         TEST(second_daemon_is_refused_until_the_first_ends),
        TEST(readers_may_look_while_it_is_open),     TEST(write_ahead_log_stays_bounded),
        TEST(cache_is_small_while_the_database_is),  TEST(pieces_of_a_payload_read_back_until_they_go),
        TEST(a_piece_that_was_changed_is_not_read),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
