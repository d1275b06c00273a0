/* SPDX-License-Identifier: GPL-3.0-or-later */
/* After a power cut at any operation on the files the database holds what was reported durable, and at most
 * the transaction in progress beyond it. CUTS=20000 in the environment makes that many cuts; the default is
 * every operation once with every outcome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "tests/unit/store/power_vfs.h"
#include "tests/unit/store/store_model.h"

enum { TRANSACTIONS = 36, REOPEN = 20, RESET = 28 };
enum { SHORT = 6, STRIDE = 7 }; /* for refused allocations: transactions, and every how many-th is refused */

static char *directory;
static struct lbm_diag diag;
static struct lbm_buf states[TRANSACTIONS + 1]; /* what is stored after that many transactions */

static const struct lbm_graph path_graph = {
    .n = 3,
    .offset = (uint64_t[]){0, 1, 3, 4},
    .target = (uint32_t[]){1, 0, 2, 1},
    .weight = (uint32_t[]){5, 5, 6, 6},
};

/* ---- transactions ------------------------------------------------------------------------------- */

static void
add_row(struct lbm_persist *persist, uint64_t id)
{
    struct lbm_row *row = model_row(persist, 1, (uint32_t)(id % 5), id + 1, LBM_STAGE_OWN, 40);
    row->seq = 10 + id;
    row->source = (uint32_t)id;
    row->payload_len = 700;
    assert_non_null(row->payload = lbm_alloc(row->payload_len, 1));
    memset(row->payload, (int)id, row->payload_len);
}

static void
add_replica(struct lbm_persist *persist, uint64_t id)
{
    struct lbm_persist *of_other = model_persist(1);
    add_row(of_other, id);
    struct lbm_row row = of_other->ops.at[0].as.row;
    of_other->ops.at[0].as.row.half = NULL;
    of_other->ops.at[0].as.row.payload = NULL;
    lbm_persist_free(of_other);
    struct lbm_persist_op *op = model_op(persist, LBM_PERSIST_REPLICA, 1);
    op->as.replica.owner = 3;
    op->as.replica.incarnation = 2;
    op->as.replica.repl_epoch = 7;
    op->as.replica.seq = id;
    op->as.replica.fresh = id % 3 == 0;
    assert_non_null(op->as.replica.row = lbm_copy(&row, 1, sizeof row));
    op->as.replica.n = 1;
    uint32_t gone = (uint32_t)((id + 1) % 5);
    assert_non_null(op->as.replica.gone = lbm_copy(&gone, 1, sizeof gone));
    op->as.replica.n_gone = 1;
}

static void
add_log(struct lbm_persist *persist, uint64_t index)
{
    struct lbm_persist_op *op = model_op(persist, LBM_PERSIST_LOG, 0);
    op->as.log.index = index;
    op->as.log.len = 300;
    assert_non_null(op->as.log.command = lbm_alloc(300, 1));
    memset(op->as.log.command, (int)index, 300);
}

static void
add_snapshot(struct lbm_persist *persist, uint64_t index)
{
    struct lbm_persist_op *op = model_op(persist, LBM_PERSIST_SNAPSHOT, 0);
    op->as.snapshot.index = index;
    op->as.snapshot.len = 2000;
    assert_non_null(op->as.snapshot.view = lbm_alloc(2000, 1));
    memset(op->as.snapshot.view, (int)index, 2000);
}

static void
add_beginning(struct lbm_persist *persist)
{
    struct lbm_persist_op *op = model_op(persist, LBM_PERSIST_SELF, 0);
    op->as.self.cluster = 99;
    op->as.self.host = 4;
    op->as.self.incarnation = 1;
    op = model_op(persist, LBM_PERSIST_TERM, 0);
    op->as.term.term = 2;
    op = model_op(persist, LBM_PERSIST_GUEST, 2);
    op->as.guest.graph = &path_graph;
    op->as.guest.seq = 1;
}

/* Transaction id of the script: an entry of the control log each, and by turns every kind of operation. */
static struct lbm_persist *
scripted(uint64_t id)
{
    struct lbm_persist *persist = model_persist(id);
    add_log(persist, id);
    if (id == 1) {
        add_beginning(persist);
        return persist;
    }
    if (id == RESET) {
        model_op(persist, LBM_PERSIST_RESET, 0)->as.reset.incarnation = 2;
        return persist;
    }
    add_row(persist, id);
    add_replica(persist, id);
    if (id % 4 == 0)
        model_op(persist, LBM_PERSIST_ROW_DELETE, 1)->as.gone.vertex = (uint32_t)(id % 5);
    if (id % 7 == 0)
        add_snapshot(persist, id - 2);
    if (id % 9 == 0) {
        model_op(persist, LBM_PERSIST_REPLICA_DROP, 0)->as.drop.owner = 3;
        persist->ops.at[persist->ops.n - 1].as.drop.incarnation = 2;
        model_op(persist, LBM_PERSIST_TAKEN_OVER, 0)->as.drop.owner = (uint32_t)id;
    }
    if (id % 11 == 0)
        model_op(persist, LBM_PERSIST_JOB_DELETE, id % 2 + 1);
    return persist;
}

/* ---- what is stored, as bytes ------------------------------------------------------------------- */

static void
put_row(struct lbm_buf *out, const struct lbm_row *row)
{
    lbm_buf_printf(out, "%llu.%u e%llu s%d p%u w%u q%llu from %u fin %d degree %u\n",
                   (unsigned long long)row->job, row->vertex, (unsigned long long)row->epoch, (int)row->stage,
                   row->peer, row->work, (unsigned long long)row->seq, row->source, row->fin, row->degree);
    lbm_buf_put(out, row->position, sizeof row->position);
    lbm_buf_put(out, row->half, row->degree * sizeof *row->half);
    if (row->payload_len != 0)
        lbm_buf_put(out, row->payload, row->payload_len);
}

static struct lbm_buf
as_bytes(const struct lbm_recovered *all)
{
    struct lbm_buf out = {0};
    lbm_buf_printf(&out, "%d %llu seq %llu term %llu snapshot %llu\n", all->known,
                   (unsigned long long)all->incarnation, (unsigned long long)all->seq,
                   (unsigned long long)all->term, (unsigned long long)all->snapshot_index);
    if (all->snapshot_len != 0)
        lbm_buf_put(&out, all->snapshot, all->snapshot_len);
    for (size_t i = 0; i < all->log.n; i++)
        lbm_buf_put(&out, all->log.at[i].command, all->log.at[i].len);
    for (size_t i = 0; i < all->rows.n; i++)
        put_row(&out, &all->rows.at[i]);
    for (size_t i = 0; i < all->replicas.n; i++) {
        lbm_buf_printf(&out, "of %u at %llu\n", all->replicas.at[i].owner,
                       (unsigned long long)all->replicas.at[i].seq);
        for (size_t k = 0; k < all->replicas.at[i].rows.n; k++)
            put_row(&out, &all->replicas.at[i].rows.at[k]);
    }
    for (size_t i = 0; i < all->takeovers.n; i++)
        lbm_buf_printf(&out, "taken over %u\n", all->takeovers.at[i].host);
    assert_false(out.failed);
    return out;
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

static struct lbm_buf
stored(struct lbm_store *store)
{
    struct lbm_recovered *recovered = NULL;
    enum lbm_err err = lbm_store_load(store, &recovered, &diag);
    if (err != LBM_OK)
        fail_msg("%s: %s", lbm_err_name(err), diag.text);
    struct lbm_buf bytes = as_bytes(recovered);
    lbm_recovered_free(recovered);
    return bytes;
}

/* ---- the test ----------------------------------------------------------------------------------- */

static void
record_script(void)
{
    power_begin();
    struct lbm_store *store = open_store();
    states[0] = stored(store);
    for (uint64_t id = 1; id <= TRANSACTIONS; id++) {
        enum lbm_err err = model_store(store, scripted(id), &diag);
        if (err != LBM_OK)
            fail_msg("transaction %d: %s", (int)id, diag.text);
        power_durable();
        states[id] = stored(store);
        if (id == REOPEN) {
            lbm_store_close(store);
            store = open_store();
        }
    }
    lbm_store_close(store);
    power_end();
}

static int
is_state(const struct lbm_buf *bytes, size_t transactions)
{
    return transactions <= TRANSACTIONS && bytes->len == states[transactions].len &&
           memcmp(bytes->at, states[transactions].at, bytes->len) == 0;
}

static void
assert_survived(size_t durable)
{
    struct lbm_store *store = open_store();
    struct lbm_buf bytes = stored(store);
    lbm_store_close(store);
    if (!is_state(&bytes, durable) && !is_state(&bytes, durable + 1))
        fail_msg("neither %zu nor %zu transactions are stored", durable, durable + 1);
    /* Once the reset is stored, what it removed is in the archive. */
    int was_reset = durable >= RESET || (durable == RESET - 1 && is_state(&bytes, RESET));
    lbm_buf_free(&bytes);
    if (lbm_store_check(model_path(directory, "db"), &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    if (was_reset && lbm_store_check(model_path(directory, "db.incarnation-1"), &diag) != LBM_OK)
        fail_msg("the archive is lost: %s", diag.text);
}

static void
power_cut_at_any_operation_loses_nothing_durable(void **state)
{
    (void)state;
    directory = model_directory();
    record_script();
    model_remove(directory);
    const char *asked = getenv("CUTS");
    size_t cuts = POWER_OUTCOMES * (power_length() + 1);
    if (asked != NULL)
        cuts = strtoul(asked, NULL, 10);
    for (size_t i = 0; i < cuts; i++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, 1, i);
        size_t cut = i / POWER_OUTCOMES % (power_length() + 1);
        enum power_outcome outcome = (enum power_outcome)(i % POWER_OUTCOMES);
        directory = model_directory();
        size_t durable = power_cut(cut, outcome, &rng, directory);
        assert_survived(durable);
        model_remove(directory);
    }
    print_message("%zu cuts in %zu operations\n", cuts, power_length());
    for (size_t i = 0; i <= TRANSACTIONS; i++)
        lbm_buf_free(&states[i]);
    power_free();
}

/* ---- no memory ---------------------------------------------------------------------------------- */

static struct {
    sqlite3_mem_methods real;
    long left; /* allocations before the one that fails; below 0: none fails any more */
    int failed;
} memory;

static int
refuse_memory(void)
{
    int refused = memory.left-- == 0;
    memory.failed |= refused;
    return refused;
}

static void *
scarce_malloc(int len)
{
    return refuse_memory() ? NULL : memory.real.xMalloc(len);
}

static void *
scarce_realloc(void *at, int len)
{
    return refuse_memory() ? NULL : memory.real.xRealloc(at, len);
}

static void
make_memory_scarce(void)
{
    assert_int_equal(sqlite3_shutdown(), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real), SQLITE_OK);
    sqlite3_mem_methods scarce = memory.real;
    scarce.xMalloc = scarce_malloc;
    scarce.xRealloc = scarce_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce), SQLITE_OK);
}

/* Run the script until something fails; returns how many transactions were reported durable. */
static size_t
run_until_failure(enum lbm_err *err)
{
    struct lbm_store *store = NULL;
    size_t durable = 0;
    *err = lbm_store_open(model_path(directory, "db"), NULL, &store, &diag);
    while (*err == LBM_OK && durable < SHORT) {
        *err = model_store(store, scripted(durable + 1), &diag);
        durable += *err == LBM_OK;
    }
    lbm_store_close(store);
    return durable;
}

static void
refused_allocation_is_an_error_that_loses_nothing(void **state)
{
    (void)state;
    make_memory_scarce();
    long tries = 0;
    for (int failed = 1; failed; tries++) {
        directory = model_directory();
        memory.failed = 0;
        memory.left = tries * STRIDE;
        enum lbm_err err;
        size_t durable = run_until_failure(&err);
        failed = memory.failed;
        memory.left = -1;
        if (err != LBM_OK && (!failed || (err != LBM_E_NOMEM && err != LBM_E_IO)))
            fail_msg("allocation %ld: %s: %s", tries * STRIDE, lbm_err_name(err), diag.text);
        struct lbm_recovered *recovered = NULL;
        struct lbm_store *store = open_store();
        assert_int_equal(lbm_store_load(store, &recovered, &diag), LBM_OK);
        assert_in_range(recovered->log.n, durable, durable + 1);
        lbm_recovered_free(recovered);
        lbm_store_close(store);
        assert_int_equal(lbm_store_check(model_path(directory, "db"), &diag), LBM_OK);
        model_remove(directory);
    }
    print_message("%ld refused allocations\n", tries - 1);
    assert_true(tries > 100);
    assert_int_equal(sqlite3_shutdown(), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &memory.real), SQLITE_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_cut_at_any_operation_loses_nothing_durable),
        cmocka_unit_test(refused_allocation_is_an_error_that_loses_nothing),
    };
    return cmocka_run_group_tests_name("store power", tests, NULL, NULL);
}
