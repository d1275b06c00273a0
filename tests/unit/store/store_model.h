/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the tests of lib/store: transactions made of random operations, and what they must leave behind,
 * computed without a database. */
#ifndef LBM_TESTS_UNIT_STORE_STORE_MODEL_H
#define LBM_TESTS_UNIT_STORE_STORE_MODEL_H

#include "base/rng.h"
#include "store/store.h"

/* Append an operation and return it. */
struct lbm_persist_op *model_op(struct lbm_persist *persist, enum lbm_persist_kind kind, uint64_t job);

/* Append a ROW with the given neighbours 0 .. degree - 1. */
struct lbm_row *model_row(struct lbm_persist *persist, uint64_t job, uint32_t vertex, uint64_t epoch,
                          enum lbm_stage stage, uint32_t degree);

struct lbm_persist *model_persist(uint64_t id);

/* A transaction of a few random operations, about three in four of them possible in the present state. */
struct lbm_persist *model_random(struct lbm_rng *rng, uint64_t id, const struct lbm_recovered *state,
                                 const struct lbm_graph *guest);

struct lbm_recovered *model_new(void);

/* What lbm_store_apply must return for one transaction; on LBM_OK *state is what must be stored then. */
enum lbm_err model_apply(struct lbm_recovered **state, const struct lbm_persist *persist);

/* Fail the test unless both hold the same. */
void model_assert_equal(const struct lbm_recovered *a, const struct lbm_recovered *b);
int model_equal(const struct lbm_recovered *a, const struct lbm_recovered *b);

/* Apply one transaction and free it. */
enum lbm_err model_store(struct lbm_store *store, struct lbm_persist *persist, struct lbm_diag *diag);

/* A new directory, and the removal of it with the files in it. */
char *model_directory(void);
void model_remove(char *directory);

/* directory/name; static storage. */
const char *model_path(const char *directory, const char *name);

#endif
