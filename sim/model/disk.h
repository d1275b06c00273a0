/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host's disk keeps in a simulated cluster: the effect of each transaction that was synced.
 *
 * Owns: the model of lib/store, operation by operation, as plainly as it can be said. Never: decides; what
 * it is told and must not do (a rank falls, a gap in the control log) it reports. */
#ifndef LBM_SIM_MODEL_DISK_H
#define LBM_SIM_MODEL_DISK_H

#include "base/idmap.h"
#include "node/core/persist.h"

enum { DISK_PIECES_MAX = 4 }; /* of a large payload, in a simulated cluster */

/* Rows of one job, in no order. */
struct job_rows {
    uint64_t job;
    LBM_VEC(struct lbm_row) rows;
    struct lbm_idmap index; /* vertex to place in rows */
};

struct row_set {
    LBM_VEC(struct job_rows) jobs;
};

/* What the host keeps for another one. */
struct disk_replica {
    uint32_t owner;
    uint64_t incarnation, repl_epoch, seq;
    struct row_set rows;
};

/* A large payload. */
struct disk_blob {
    struct lbm_blob_name name;
    uint32_t pieces; /* one after the other from the first on */
    struct lbm_buf piece[DISK_PIECES_MAX];
};

struct disk;

/* Told of every change of a record: before and after (NULL: none). replica NULL: the host's own. */
typedef void disk_watcher(void *arg, const struct disk *disk, const struct disk_replica *replica,
                          const struct lbm_row *before, const struct lbm_row *after);

struct disk {
    uint32_t place; /* host that the disk is of */
    int known;
    uint64_t cluster, incarnation, seq;
    uint32_t host;
    uint64_t term;
    uint32_t leader;
    uint64_t forced;
    uint64_t snapshot_index;
    struct lbm_buf snapshot;
    LBM_VEC(struct lbm_recovered_entry) log;
    LBM_VEC(struct lbm_recovered_job) jobs;
    struct row_set rows;
    LBM_VEC(struct disk_replica) replicas;
    LBM_VEC(struct lbm_recovered_takeover) takeovers;
    LBM_VEC(struct disk_blob) blobs;
    disk_watcher *watcher; /* NULL: nobody */
    void *watcher_arg;
};

/* Carry out one operation of a synced transaction. Returns NULL, or what was wrong with it. */
const char *disk_apply(struct disk *disk, const struct lbm_persist_op *op);

/* A piece of a large payload; NULL: there is none. */
const struct lbm_buf *disk_piece(const struct disk *disk, const struct lbm_blob_name *name, uint32_t piece);
/* Nonzero if the large payload that a record describes is there as a whole, or it describes none. */
int disk_has_payload(const struct disk *disk, const struct lbm_row *row);

/* What a node that starts from this disk is given: copies. */
void disk_recover(const struct disk *disk, struct lbm_recovered *out);

/* The same content on another disk (which must be empty), with the same watcher. */
void disk_copy(const struct disk *from, struct disk *to);
/* Tell the watcher that all rows go, or come. */
void disk_vanish(struct disk *disk);
void disk_appear(struct disk *disk);
void disk_free(struct disk *disk);

/* ---- rows (rows.c) ------------------------------------------------------------------------------------ */

struct lbm_row *rows_get(const struct row_set *set, uint64_t job, uint32_t vertex); /* NULL: none */
/* The set takes what the row owns. before, unless NULL: the row it replaces, which the caller then owns; its
 * stage is NONE if there was none. */
void rows_put(struct row_set *set, struct lbm_row row, struct lbm_row *before);
void rows_remove(struct row_set *set, uint64_t job, uint32_t vertex);
void rows_free(struct row_set *set);
size_t rows_count(const struct row_set *set);
struct lbm_row row_copy(const struct lbm_row *row);

#endif
