/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest that several hosts read: each a range of its vertices. The first active host gathers what they say
 * of their parts, and proposes the job when all are stored.
 */
#ifndef LBM_NODE_JOB_INGEST_H
#define LBM_NODE_JOB_INGEST_H

#include "node/view/view.h"

/* What a part is like, which no other host needs to see it for. */
struct part_sums {
    uint64_t directions; /* neighbours of its rows */
    uint64_t work;
    uint32_t each_work; /* of every vertex, if all have the same; else 0 */
    uint64_t weight;    /* over directions */
    uint64_t balance;   /* hashes of edges that go up, less those that go down: 0 over all parts */
};

/* On a host that reads one: of a job that is not in the log yet. */
struct part {
    int is_slice;
    uint32_t coordinator, number, first, rows;
    uint64_t coordinator_incarnation;
    int64_t tell_us; /* when the coordinator is told again */
    int is_summed;
    struct part_sums sums;
};

/* On the host that gathers: a part that somebody has begun to send. */
struct gathered {
    uint32_t host, number, first, rows;
    uint64_t incarnation;
    int is_ready;
    struct part_sums sums;
};

struct gathering {
    uint64_t job;
    struct lbm_job_entry entry; /* as the job will be, but for its sums */
    uint32_t parts;
    int64_t heard_us;
    LBM_VEC(struct gathered) list;
};

#endif
