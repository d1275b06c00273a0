/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model disk as a whole: what a node starts from, copies of it, its loss. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/model/disk.h"

/* The other fields of a row are the set's: its vertices are unique, so that the order is total. */
static int
compare_rows(const void *left, const void *right)
{
    const struct lbm_row *a = left, *b = right;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

static int
compare_replicas(const void *left, const void *right)
{
    const struct lbm_recovered_replica *a = left, *b = right;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return a->incarnation < b->incarnation ? -1 : a->incarnation > b->incarnation;
}

/* Copies of all rows of a set behind one another, by job and vertex. */
#define COPY_ROWS(set, out)                                                                                  \
    do {                                                                                                     \
        for (size_t j = 0; j < (set)->jobs.n; j++)                                                           \
            for (size_t r = 0; r < (set)->jobs.at[j].rows.n; r++)                                            \
                LBM_ASSERT(lbm_vec_push(out, row_copy(&(set)->jobs.at[j].rows.at[r])) == LBM_OK);            \
        if ((out)->n != 0)                                                                                   \
            qsort((out)->at, (out)->n, sizeof *(out)->at, compare_rows);                                     \
    } while (0)

void
disk_recover(const struct disk *disk, struct lbm_recovered *out)
{
    *out = (struct lbm_recovered){.known = disk->known,
                                  .cluster = disk->cluster,
                                  .host = disk->host,
                                  .incarnation = disk->incarnation,
                                  .seq = disk->seq,
                                  .term = disk->term,
                                  .leader = disk->leader,
                                  .forced = disk->forced,
                                  .snapshot_index = disk->snapshot_index,
                                  .snapshot_len = disk->snapshot.len};
    if (disk->snapshot_index != 0)
        LBM_ASSERT((out->snapshot = lbm_copy(disk->snapshot.at, disk->snapshot.len, 1)) != NULL);
    for (size_t i = 0; i < disk->log.n; i++) {
        struct lbm_recovered_entry e = disk->log.at[i];
        e.command = lbm_copy(e.command, e.len, 1);
        LBM_ASSERT(e.command != NULL && lbm_vec_push(&out->log, e) == LBM_OK);
    }
    for (size_t i = 0; i < disk->jobs.n; i++) {
        struct lbm_recovered_job j = disk->jobs.at[i];
        j.command = j.len != 0 ? lbm_copy(j.command, j.len, 1) : NULL;
        LBM_ASSERT(lbm_vec_push(&out->jobs, j) == LBM_OK);
    }
    COPY_ROWS(&disk->rows, &out->rows);
    for (size_t i = 0; i < disk->replicas.n; i++) {
        const struct disk_replica *from = &disk->replicas.at[i];
        struct lbm_recovered_replica to = {.owner = from->owner,
                                           .incarnation = from->incarnation,
                                           .repl_epoch = from->repl_epoch,
                                           .seq = from->seq};
        COPY_ROWS(&from->rows, &to.rows);
        LBM_ASSERT(lbm_vec_push(&out->replicas, to) == LBM_OK);
    }
    if (out->replicas.n != 0)
        qsort(out->replicas.at, out->replicas.n, sizeof *out->replicas.at, compare_replicas);
    for (size_t i = 0; i < disk->takeovers.n; i++)
        LBM_ASSERT(lbm_vec_push(&out->takeovers, disk->takeovers.at[i]) == LBM_OK);
    for (size_t i = 0; i < disk->blobs.n; i++) {
        struct lbm_recovered_blob blob = {disk->blobs.at[i].name, disk->blobs.at[i].pieces};
        LBM_ASSERT(lbm_vec_push(&out->blobs, blob) == LBM_OK);
    }
}

static void
copy_set(const struct row_set *from, struct row_set *to)
{
    for (size_t j = 0; j < from->jobs.n; j++)
        for (size_t r = 0; r < from->jobs.at[j].rows.n; r++)
            rows_put(to, row_copy(&from->jobs.at[j].rows.at[r]), NULL);
}

void
disk_copy(const struct disk *from, struct disk *to)
{
    *to = (struct disk){.place = from->place,
                        .known = from->known,
                        .cluster = from->cluster,
                        .incarnation = from->incarnation,
                        .seq = from->seq,
                        .host = from->host,
                        .term = from->term,
                        .leader = from->leader,
                        .forced = from->forced,
                        .snapshot_index = from->snapshot_index,
                        .watcher = from->watcher,
                        .watcher_arg = from->watcher_arg};
    if (from->snapshot.len != 0)
        lbm_buf_put(&to->snapshot, from->snapshot.at, from->snapshot.len);
    for (size_t i = 0; i < from->log.n; i++) {
        struct lbm_recovered_entry e = from->log.at[i];
        e.command = lbm_copy(e.command, e.len, 1);
        LBM_ASSERT(e.command != NULL && lbm_vec_push(&to->log, e) == LBM_OK);
    }
    for (size_t i = 0; i < from->jobs.n; i++) {
        struct lbm_recovered_job j = from->jobs.at[i];
        j.command = j.len != 0 ? lbm_copy(j.command, j.len, 1) : NULL;
        LBM_ASSERT(lbm_vec_push(&to->jobs, j) == LBM_OK);
    }
    copy_set(&from->rows, &to->rows);
    for (size_t i = 0; i < from->replicas.n; i++) {
        struct disk_replica replica = from->replicas.at[i];
        replica.rows = (struct row_set){0};
        copy_set(&from->replicas.at[i].rows, &replica.rows);
        LBM_ASSERT(lbm_vec_push(&to->replicas, replica) == LBM_OK);
    }
    for (size_t i = 0; i < from->takeovers.n; i++)
        LBM_ASSERT(lbm_vec_push(&to->takeovers, from->takeovers.at[i]) == LBM_OK);
    for (size_t i = 0; i < from->blobs.n; i++) {
        struct disk_blob blob = {.name = from->blobs.at[i].name, .pieces = from->blobs.at[i].pieces};
        for (uint32_t k = 0; k < blob.pieces; k++)
            lbm_buf_put(&blob.piece[k], from->blobs.at[i].piece[k].at, from->blobs.at[i].piece[k].len);
        LBM_ASSERT(lbm_vec_push(&to->blobs, blob) == LBM_OK);
    }
}

static void
tell_set(struct disk *disk, const struct disk_replica *replica, int comes)
{
    const struct row_set *set = replica != NULL ? &replica->rows : &disk->rows;
    for (size_t j = 0; j < set->jobs.n; j++)
        for (size_t r = 0; r < set->jobs.at[j].rows.n; r++) {
            const struct lbm_row *row = &set->jobs.at[j].rows.at[r];
            disk->watcher(disk->watcher_arg, disk, replica, comes ? NULL : row, comes ? row : NULL);
        }
}

static void
tell_all(struct disk *disk, int comes)
{
    if (disk->watcher == NULL)
        return;
    tell_set(disk, NULL, comes);
    for (size_t i = 0; i < disk->replicas.n; i++)
        tell_set(disk, &disk->replicas.at[i], comes);
}

void
disk_vanish(struct disk *disk)
{
    tell_all(disk, 0);
}

void
disk_appear(struct disk *disk)
{
    tell_all(disk, 1);
}

void
disk_free(struct disk *disk)
{
    for (size_t i = 0; i < disk->log.n; i++)
        free(disk->log.at[i].command);
    for (size_t i = 0; i < disk->jobs.n; i++)
        free(disk->jobs.at[i].command);
    for (size_t i = 0; i < disk->replicas.n; i++)
        rows_free(&disk->replicas.at[i].rows);
    rows_free(&disk->rows);
    lbm_vec_free(&disk->log);
    lbm_vec_free(&disk->jobs);
    lbm_vec_free(&disk->replicas);
    lbm_vec_free(&disk->takeovers);
    for (size_t i = 0; i < disk->blobs.n; i++)
        for (uint32_t k = 0; k < disk->blobs.at[i].pieces; k++)
            lbm_buf_free(&disk->blobs.at[i].piece[k]);
    lbm_vec_free(&disk->blobs);
    lbm_buf_free(&disk->snapshot);
}
