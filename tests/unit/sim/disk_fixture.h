/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two disks of the simulator under its checks: the first has a guest of six vertices. */
#ifndef LBM_TESTS_UNIT_SIM_DISK_FIXTURE_H
#define LBM_TESTS_UNIT_SIM_DISK_FIXTURE_H

#include "sim/model/internal.h"

enum { DISKS_JOB = 7, DISKS_FOUNDING = 3 /* entries of the control log */ };

struct disks {
    struct check check;
    struct disk disk[2];
    struct lbm_graph g;
};

/* The log has the job, and host 0, which is active. */
void disks_begin(struct disks *s);
void disks_end(struct disks *s);

/* Value: what the disk refuses it with, or NULL. */
const char *disks_apply(struct disks *s, uint32_t host, const struct lbm_persist_op *op);
void disks_log(struct disks *s, uint32_t host, uint64_t index, const Lbm__Command *command);

/* The row of a vertex as host 0 has it, at another rank. */
struct lbm_row disks_row_at(const struct disks *s, uint32_t vertex, uint64_t epoch, enum lbm_stage stage);
const char *disks_put_row(struct disks *s, uint32_t host, struct lbm_row row);
const char *disks_put_replica(struct disks *s, uint32_t host, uint32_t owner, struct lbm_row *row, int fresh);

#endif
