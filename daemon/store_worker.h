/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that makes transactions durable, so that the event loop never waits for the disk.
 *
 * Owns: the store from start to stop, and every transaction pushed.
 * Never: retries. After an error nothing more is stored; the daemon ends. */
#ifndef LBM_DAEMON_STORE_WORKER_H
#define LBM_DAEMON_STORE_WORKER_H

#include "base/err.h"
#include "node/node.h"
#include "store/store.h"

struct lbm_store_worker;

/* Start the thread. Takes the store on success.
 * Out:     *out owned by the caller: lbm_store_worker_stop. */
enum lbm_err lbm_store_worker_start(struct lbm_store *store, struct lbm_store_worker **out,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

/* Readable when lbm_store_worker_report has news. */
int lbm_store_worker_fd(const struct lbm_store_worker *worker);

/* lbm_store_in_place of the store. */
enum lbm_err lbm_store_worker_in_place(const struct lbm_store_worker *worker,
                                       struct lbm_diag *diag) LBM_MUST_CHECK;

/* Bytes of transactions that are not durable yet, about. */
size_t lbm_store_worker_waiting(struct lbm_store_worker *worker);

/* Queue a transaction; takes it. All that is queued becomes durable by one commit.
 * Errors: LBM_E_NOMEM; the transaction is freed. */
enum lbm_err lbm_store_worker_push(struct lbm_store_worker *worker,
                                   struct lbm_persist *persist) LBM_MUST_CHECK;

/* A piece of a large payload as it was read. */
struct lbm_blob_reading {
    struct lbm_blob_read read;
    enum lbm_err err; /* as lbm_store_read_blob */
    uint8_t *bytes;   /* [len] owned by whoever has this */
    size_t len;
};

/* Queue a read, behind all transactions that are queued. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_store_worker_read(struct lbm_store_worker *worker,
                                   const struct lbm_blob_read *read) LBM_MUST_CHECK;

/* Returns nonzero if a piece was read. Out: *reading, owned by the caller. */
int lbm_store_worker_reading(struct lbm_store_worker *worker, struct lbm_blob_reading *reading);

/* Id of the last durable transaction, 0 if none yet, and the worker's error, if it has failed. */
enum lbm_err lbm_store_worker_report(struct lbm_store_worker *worker, uint64_t *durable,
                                     struct lbm_diag *diag) LBM_MUST_CHECK;

/* Store what is queued, end the thread, close the store, free the worker. NULL is allowed.
 * Errors: as lbm_store_apply; what was not stored is lost, as if the host had failed then. */
enum lbm_err lbm_store_worker_stop(struct lbm_store_worker *worker, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
