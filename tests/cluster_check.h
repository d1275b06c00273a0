/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold over all disks of a cluster after every operation (PROTOCOL section 7), by definition
 * and apart from the code that keeps it. A violation is an assertion. */
#ifndef LBM_TESTS_CLUSTER_CHECK_H
#define LBM_TESTS_CLUSTER_CHECK_H

#include "cluster_disk.h"

/* A guest as it was submitted. */
struct known_guest {
    uint64_t job;
    struct lbm_graph g; /* a copy */
    int deleted;        /* some host has deleted the job: the others will */
};

struct cluster_check {
    LBM_VEC(struct known_guest) guests;
};

/* Look at an operation that disk[host] has just taken: at most one disk says OWN, whoever lets go knows
 * of a successor, and work and adjacency are those submitted. */
void check_op(struct cluster_check *check, struct disk *disk, uint32_t n, uint32_t host,
              const struct lbm_persist_op *op);

/* The guest of a job, or NULL. */
const struct lbm_graph *check_guest(const struct cluster_check *check, uint64_t job);

void check_free(struct cluster_check *check);

#endif
