/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host's disk keeps in a cluster under test: the effect of each transaction that was synced. */
#ifndef LBM_TESTS_CLUSTER_DISK_H
#define LBM_TESTS_CLUSTER_DISK_H

#include "base/idmap.h"
#include "node/persist.h"

/* The structs of lbm_recovered, owned. */
struct disk {
    int known;
    uint64_t cluster, incarnation;
    uint32_t host;
    LBM_VEC(struct lbm_recovered_entry) log;
    LBM_VEC(struct lbm_recovered_job) jobs;
    LBM_VEC(struct lbm_row) rows;
    uint64_t index_job;     /* the job that index speaks of, 0: none */
    struct lbm_idmap index; /* vertex to place in rows */
};

/* The row of a vertex, or NULL. */
struct lbm_row *disk_row(struct disk *disk, uint64_t job, uint32_t vertex);

/* One operation of a synced transaction. Asserts that no record's rank falls. */
void disk_apply(struct disk *disk, const struct lbm_persist_op *op);

/* What a node that starts from this disk is given: copies. */
void disk_recover(const struct disk *disk, struct lbm_recovered *out);

void disk_free(struct disk *disk);

#endif
