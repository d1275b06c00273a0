/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/store_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/worker.h"

struct queue {
    struct lbm_persist **at;
    size_t n, capacity;
};

struct readings {
    struct lbm_blob_reading *at;
    size_t n, capacity;
};

struct lbm_store_worker {
    struct lbm_store *store;
    pthread_t thread;
    int eventfd;

    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t filled;
    struct queue queued;
    struct readings wanted, done; /* pieces of payloads: asked for, and read */
    size_t waiting;               /* bytes: queued, and taken but not durable */
    int stopping;
    uint64_t durable;
    enum lbm_err err;
    struct lbm_diag diag;
};

static void
free_all(struct queue *queue)
{
    for (size_t i = 0; i < queue->n; i++)
        lbm_persist_free(queue->at[i]);
    queue->n = 0;
}

/* Wait for work and take all of it. Value: 0 when there is none and none will come. */
static int
take(struct lbm_store_worker *w, struct queue *batch, struct readings *reads)
{
    pthread_mutex_lock(&w->lock);
    while (w->queued.n == 0 && w->wanted.n == 0 && !w->stopping)
        pthread_cond_wait(&w->filled, &w->lock);
    struct queue emptied = *batch;
    struct readings no_reads = *reads;
    *batch = w->queued;
    *reads = w->wanted;
    w->queued = emptied;
    w->wanted = no_reads;
    int usable = (batch->n > 0 || reads->n > 0) && w->err == LBM_OK;
    pthread_mutex_unlock(&w->lock);
    return usable;
}

static size_t
bytes_of(const struct queue *queue)
{
    size_t bytes = 0;
    for (size_t i = 0; i < queue->n; i++)
        bytes += lbm_persist_bytes(queue->at[i]);
    return bytes;
}

static void
report(struct lbm_store_worker *w, uint64_t durable, size_t bytes, enum lbm_err err,
       const struct lbm_diag *diag)
{
    pthread_mutex_lock(&w->lock);
    w->waiting -= bytes;
    if (err == LBM_OK) {
        w->durable = durable;
    } else {
        w->err = err;
        w->diag = *diag;
    }
    pthread_mutex_unlock(&w->lock);
    lbm_worker_ring(w->eventfd);
}

/* Pieces of payloads: after all transactions that were asked for before them. */
static void
read_all(struct lbm_store_worker *w, struct readings *reads)
{
    for (size_t i = 0; i < reads->n; i++) {
        struct lbm_blob_reading *reading = &reads->at[i];
        struct lbm_diag diag = {0};
        reading->err = lbm_store_read_blob(w->store, &reading->read.name, reading->read.piece,
                                           &reading->bytes, &reading->len, &diag);
        pthread_mutex_lock(&w->lock);
        if (lbm_vec_push(&w->done, *reading) != LBM_OK) {
            free(reading->bytes);
            w->err = LBM_E_NOMEM;
        }
        pthread_mutex_unlock(&w->lock);
    }
    if (reads->n != 0)
        lbm_worker_ring(w->eventfd);
    reads->n = 0;
}

/* Group commit: while one batch is being synced the next one gathers, so a slow disk makes larger batches,
 * not a longer queue. */
static void *
run(void *context)
{
    struct lbm_store_worker *w = context;
    struct queue batch = {0};
    struct readings reads = {0};
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && take(w, &batch, &reads)) {
        struct lbm_diag diag = {0};
        if (batch.n == 0) {
            read_all(w, &reads);
            continue;
        }
        uint64_t last = batch.at[batch.n - 1]->id;
        size_t bytes = bytes_of(&batch);
        err = lbm_store_apply(w->store, (const struct lbm_persist *const *)batch.at, batch.n, &diag);
        /* Graphs inside are borrowed only until the report. */
        free_all(&batch);
        report(w, last, bytes, err, &diag);
        if (err == LBM_OK)
            read_all(w, &reads);
    }
    free_all(&batch);
    free(batch.at);
    free(reads.at);
    return NULL;
}

enum lbm_err
lbm_store_worker_start(struct lbm_store *store, struct lbm_store_worker **out, struct lbm_diag *diag)
{
    struct lbm_store_worker *w = lbm_alloc(1, sizeof *w);
    if (w == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    w->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (w->eventfd < 0) {
        free(w);
        return lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0, "no eventfd: %s", strerror(errno));
    }
    w->store = store;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->filled, NULL);
    enum lbm_err err = lbm_worker_start(&w->thread, "store", run, w);
    if (err != LBM_OK) {
        close(w->eventfd);
        free(w);
        return lbm_diag_set(diag, err, NULL, 0, "no thread for the database");
    }
    *out = w;
    return LBM_OK;
}

enum lbm_err
lbm_store_worker_in_place(const struct lbm_store_worker *worker, struct lbm_diag *diag)
{
    return lbm_store_in_place(worker->store, diag);
}

int
lbm_store_worker_fd(const struct lbm_store_worker *worker)
{
    return worker->eventfd;
}

size_t
lbm_store_worker_waiting(struct lbm_store_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    size_t bytes = worker->waiting;
    pthread_mutex_unlock(&worker->lock);
    return bytes;
}

enum lbm_err
lbm_store_worker_push(struct lbm_store_worker *worker, struct lbm_persist *persist)
{
    size_t bytes = lbm_persist_bytes(persist);
    pthread_mutex_lock(&worker->lock);
    enum lbm_err err = lbm_vec_push(&worker->queued, persist);
    worker->waiting += err == LBM_OK ? bytes : 0;
    pthread_cond_signal(&worker->filled);
    pthread_mutex_unlock(&worker->lock);
    if (err != LBM_OK)
        lbm_persist_free(persist);
    return err;
}

enum lbm_err
lbm_store_worker_read(struct lbm_store_worker *worker, const struct lbm_blob_read *read)
{
    struct lbm_blob_reading reading = {.read = *read};
    pthread_mutex_lock(&worker->lock);
    enum lbm_err err = lbm_vec_push(&worker->wanted, reading);
    pthread_cond_signal(&worker->filled);
    pthread_mutex_unlock(&worker->lock);
    return err;
}

int
lbm_store_worker_reading(struct lbm_store_worker *worker, struct lbm_blob_reading *reading)
{
    pthread_mutex_lock(&worker->lock);
    int is_there = worker->done.n != 0;
    if (is_there) {
        *reading = worker->done.at[0];
        memmove(worker->done.at, worker->done.at + 1, --worker->done.n * sizeof *worker->done.at);
    }
    pthread_mutex_unlock(&worker->lock);
    return is_there;
}

enum lbm_err
lbm_store_worker_report(struct lbm_store_worker *worker, uint64_t *durable, struct lbm_diag *diag)
{
    lbm_worker_silence(worker->eventfd);
    pthread_mutex_lock(&worker->lock);
    enum lbm_err err = worker->err;
    *durable = worker->durable;
    if (err != LBM_OK)
        *diag = worker->diag;
    pthread_mutex_unlock(&worker->lock);
    return err;
}

enum lbm_err
lbm_store_worker_stop(struct lbm_store_worker *worker, struct lbm_diag *diag)
{
    if (worker == NULL)
        return LBM_OK;
    pthread_mutex_lock(&worker->lock);
    worker->stopping = 1;
    pthread_cond_signal(&worker->filled);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    enum lbm_err err = worker->err;
    if (err != LBM_OK)
        *diag = worker->diag;
    lbm_store_close(worker->store);
    free_all(&worker->queued);
    free(worker->queued.at);
    for (size_t i = 0; i < worker->done.n; i++)
        free(worker->done.at[i].bytes);
    free(worker->done.at);
    free(worker->wanted.at);
    close(worker->eventfd);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->filled);
    free(worker);
    return err;
}
