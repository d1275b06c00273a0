/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A database written step by step, for tests/cluster/kth.sh.
 *
 *   kth_store FILE         store 1 to 20, one transaction each, and say "stored N" after each
 *   kth_store -c FILE N    the database is whole, and what it has reaches at least N and at most one further
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

enum { STEPS = 20, VERTICES = 10, DEGREE = 4 };

/* Step n of the one entry of the log and ten records of epoch n. NULL: memory is short. */
static struct lbm_persist *
make_step(uint64_t n)
{
    struct lbm_persist *persist = lbm_alloc(1, sizeof *persist);
    if (persist == NULL)
        return NULL;
    persist->id = n;
    enum lbm_err err = LBM_OK;
    struct lbm_persist_op log = {.kind = LBM_PERSIST_LOG};
    log.as.log.index = n;
    log.as.log.len = 8;
    log.as.log.command = lbm_copy(&n, 1, sizeof n);
    if (log.as.log.command == NULL || lbm_vec_push(&persist->ops, log) != LBM_OK) {
        free(log.as.log.command);
        err = LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < VERTICES && err == LBM_OK; v++) {
        struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW, .job = 1};
        op.as.row = (struct lbm_row){.job = 1,
                                     .vertex = v,
                                     .epoch = n,
                                     .stage = LBM_STAGE_OWN,
                                     .peer = LBM_NONE,
                                     .work = 1,
                                     .pin = LBM_NONE,
                                     .seq = n * VERTICES + v,
                                     .source = LBM_NONE,
                                     .degree = DEGREE};
        op.as.row.half = lbm_alloc(DEGREE, sizeof *op.as.row.half);
        if (op.as.row.half == NULL || lbm_vec_push(&persist->ops, op) != LBM_OK) {
            free(op.as.row.half);
            err = LBM_E_NOMEM;
        }
    }
    if (err == LBM_OK)
        return persist;
    lbm_persist_free(persist);
    return NULL;
}

static int
fail(enum lbm_err err, const struct lbm_diag *diag)
{
    fprintf(stderr, "kth_store: %s: %s\n", lbm_err_text(err), diag->text);
    return 1;
}

static enum lbm_err
write_steps(struct lbm_store *store, struct lbm_diag *diag)
{
    struct lbm_recovered *recovered;
    enum lbm_err err = lbm_store_load(store, &recovered, diag);
    if (err != LBM_OK)
        return err;
    lbm_recovered_free(recovered);
    for (uint64_t n = 1; n <= STEPS && err == LBM_OK; n++) {
        struct lbm_persist *persist = make_step(n);
        if (persist == NULL)
            return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
        const struct lbm_persist *const one = persist;
        err = lbm_store_apply(store, &one, 1, diag);
        lbm_persist_free(persist);
        if (err == LBM_OK)
            fprintf(stderr, "stored %" PRIu64 "\n", n);
    }
    return err;
}

/* Value: 0 if the database has a whole number of steps, `stored` or one more. */
static int
look(struct lbm_store *store, uint64_t stored, struct lbm_diag *diag)
{
    struct lbm_recovered *recovered;
    enum lbm_err err = lbm_store_load(store, &recovered, diag);
    if (err != LBM_OK)
        return fail(err, diag);
    uint64_t n = recovered->log.n;
    int bad = n < stored || n > stored + 1 || recovered->rows.n != (n != 0 ? VERTICES : 0);
    for (size_t i = 0; i < recovered->rows.n; i++)
        bad |= recovered->rows.at[i].epoch != n;
    if (bad)
        fprintf(stderr, "%" PRIu64 " entries and %zu rows, not of one step from %" PRIu64 " on\n", n,
                recovered->rows.n, stored);
    lbm_recovered_free(recovered);
    return bad;
}

int
main(int argc, char **argv)
{
    int checking = argc == 4 && strcmp(argv[1], "-c") == 0;
    if (argc != 2 && !checking) {
        fputs("usage: kth_store FILE | -c FILE N\n", stderr);
        return 2;
    }
    struct lbm_store *store = NULL;
    struct lbm_diag diag = {0};
    int status;
    enum lbm_err err = lbm_store_open(argv[checking ? 2 : 1], NULL, &store, &diag);
    if (err != LBM_OK)
        return fail(err, &diag);
    if (checking) {
        status = look(store, strtoull(argv[3], NULL, 10), &diag);
    } else {
        err = write_steps(store, &diag);
        status = err != LBM_OK ? fail(err, &diag) : 0;
    }
    lbm_store_close(store);
    return status;
}
