/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct lbm_row *
disk_row(struct disk *disk, uint64_t job, uint32_t vertex)
{
    if (disk->index_job != job) {
        disk->index_job = job;
        lbm_idmap_clear(&disk->index);
        for (size_t i = 0; i < disk->rows.n; i++)
            if (disk->rows.at[i].job == job)
                LBM_ASSERT(lbm_idmap_put(&disk->index, disk->rows.at[i].vertex, (uint32_t)i) == LBM_OK);
    }
    uint32_t at = lbm_idmap_get(&disk->index, vertex);
    return at != LBM_NONE ? &disk->rows.at[at] : NULL;
}

static void
disk_put(struct disk *disk, struct lbm_row row)
{
    row.half = row.degree != 0 ? lbm_copy(row.half, row.degree, sizeof *row.half) : NULL;
    struct lbm_row *known = disk_row(disk, row.job, row.vertex);
    if (known == NULL) {
        LBM_ASSERT(lbm_vec_push(&disk->rows, row) == LBM_OK);
        LBM_ASSERT(lbm_idmap_put(&disk->index, row.vertex, (uint32_t)disk->rows.n - 1) == LBM_OK);
        return;
    }
    /* I9: no record's rank ever falls. */
    LBM_ASSERT(row.epoch > known->epoch || (row.epoch == known->epoch && row.stage >= known->stage));
    free(known->half);
    *known = row;
}

static void
disk_guest(struct disk *disk, uint64_t job, const struct lbm_graph *g)
{
    for (uint32_t v = 0; v < g->n; v++) {
        struct lbm_half half[64];
        uint32_t degree = (uint32_t)(g->offset[v + 1] - g->offset[v]);
        LBM_ASSERT(degree <= 64);
        for (uint32_t k = 0; k < degree; k++)
            half[k] = (struct lbm_half){g->target[g->offset[v] + k], lbm_graph_weight(g, g->offset[v] + k),
                                        LBM_NONE};
        struct lbm_row row = {.job = job,
                              .vertex = v,
                              .epoch = 1,
                              .stage = LBM_STAGE_OWN,
                              .peer = LBM_NONE,
                              .work = lbm_graph_work(g, v),
                              .pin = g->pin != NULL ? g->pin[v] : LBM_NONE,
                              .degree = degree,
                              .half = half};
        disk_put(disk, row);
    }
}

static void
disk_state(struct disk *disk, uint64_t job, enum lbm_job_state state, const uint8_t *command, size_t len)
{
    for (size_t i = 0; i < disk->jobs.n; i++)
        if (disk->jobs.at[i].job == job) {
            disk->jobs.at[i].state = state;
            return;
        }
    struct lbm_recovered_job entry = {job, state, len != 0 ? lbm_copy(command, len, 1) : NULL, len};
    LBM_ASSERT(lbm_vec_push(&disk->jobs, entry) == LBM_OK);
}

static void
disk_delete(struct disk *disk, uint64_t job)
{
    disk->index_job = 0;
    for (size_t i = disk->rows.n; i-- > 0;)
        if (disk->rows.at[i].job == job) {
            free(disk->rows.at[i].half);
            disk->rows.at[i] = disk->rows.at[--disk->rows.n];
        }
    for (size_t i = disk->jobs.n; i-- > 0;)
        if (disk->jobs.at[i].job == job) {
            free(disk->jobs.at[i].command);
            disk->jobs.at[i] = disk->jobs.at[--disk->jobs.n];
        }
}

void
disk_apply(struct disk *disk, const struct lbm_persist_op *op)
{
    switch (op->kind) {
    case LBM_PERSIST_SELF:
        disk->known = 1;
        disk->cluster = op->as.self.cluster;
        disk->host = op->as.self.host;
        disk->incarnation = op->as.self.incarnation;
        break;
    case LBM_PERSIST_LOG: {
        LBM_ASSERT(op->as.log.index == disk->log.n + 1);
        struct lbm_recovered_entry entry = {op->as.log.index, lbm_copy(op->as.log.command, op->as.log.len, 1),
                                            op->as.log.len};
        LBM_ASSERT(lbm_vec_push(&disk->log, entry) == LBM_OK);
        break;
    }
    case LBM_PERSIST_JOB:
        disk_state(disk, op->job, op->as.state.state, op->as.state.command, op->as.state.len);
        break;
    case LBM_PERSIST_JOB_DELETE:
        disk_delete(disk, op->job);
        break;
    case LBM_PERSIST_ROW:
        disk_put(disk, op->as.row);
        break;
    case LBM_PERSIST_GUEST:
        disk_guest(disk, op->job, op->as.guest.graph);
        break;
    case LBM_PERSIST_PLAN:
    case LBM_PERSIST_POSITIONS:
        for (uint32_t i = 0; i < op->as.plan.n; i++) {
            struct lbm_row *row =
                disk_row(disk, op->job, op->as.plan.vertex != NULL ? op->as.plan.vertex[i] : i);
            if (row == NULL)
                continue;
            memcpy(row->position, &op->as.plan.position[(size_t)i * op->as.plan.m],
                   op->as.plan.m * sizeof(double));
            if (op->as.plan.anchored != NULL)
                row->anchored = op->as.plan.anchored[i];
            if (op->as.plan.host != NULL && row->stage == LBM_STAGE_OWN)
                row->peer = op->as.plan.host[i];
        }
        break;
    case LBM_PERSIST_COUNT:
        break;
    }
}

void
disk_free(struct disk *disk)
{
    for (size_t i = 0; i < disk->log.n; i++)
        free(disk->log.at[i].command);
    for (size_t i = 0; i < disk->jobs.n; i++)
        free(disk->jobs.at[i].command);
    for (size_t i = 0; i < disk->rows.n; i++)
        free(disk->rows.at[i].half);
    lbm_vec_free(&disk->log);
    lbm_vec_free(&disk->jobs);
    lbm_vec_free(&disk->rows);
    lbm_idmap_free(&disk->index);
}

void
disk_recover(const struct disk *disk, struct lbm_recovered *out)
{
    *out = (struct lbm_recovered){
        .known = disk->known, .cluster = disk->cluster, .host = disk->host, .incarnation = disk->incarnation};
    for (size_t i = 0; i < disk->log.n; i++) {
        struct lbm_recovered_entry e = disk->log.at[i];
        e.command = lbm_copy(e.command, e.len, 1);
        LBM_ASSERT(lbm_vec_push(&out->log, e) == LBM_OK);
    }
    for (size_t i = 0; i < disk->jobs.n; i++) {
        struct lbm_recovered_job j = disk->jobs.at[i];
        j.command = j.len != 0 ? lbm_copy(j.command, j.len, 1) : NULL;
        LBM_ASSERT(lbm_vec_push(&out->jobs, j) == LBM_OK);
    }
    for (size_t i = 0; i < disk->rows.n; i++) {
        struct lbm_row r = disk->rows.at[i];
        r.half = lbm_copy(r.half, r.degree, sizeof *r.half);
        LBM_ASSERT(lbm_vec_push(&out->rows, r) == LBM_OK);
    }
}
