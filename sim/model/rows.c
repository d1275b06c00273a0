/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of vertex records on a model disk. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/model/disk.h"

static struct job_rows *
job_of(const struct row_set *set, uint64_t job)
{
    for (size_t i = 0; i < set->jobs.n; i++)
        if (set->jobs.at[i].job == job)
            return &set->jobs.at[i];
    return NULL;
}

struct lbm_row *
rows_get(const struct row_set *set, uint64_t job, uint32_t vertex)
{
    struct job_rows *rows = job_of(set, job);
    uint32_t at = rows != NULL ? lbm_idmap_get(&rows->index, vertex) : LBM_NONE;
    return at != LBM_NONE ? &rows->rows.at[at] : NULL;
}

void
rows_put(struct row_set *set, struct lbm_row row, struct lbm_row *before)
{
    struct job_rows *rows = job_of(set, row.job);
    if (rows == NULL) {
        struct job_rows fresh = {.job = row.job};
        LBM_ASSERT(lbm_vec_push(&set->jobs, fresh) == LBM_OK);
        rows = &set->jobs.at[set->jobs.n - 1];
    }
    uint32_t at = lbm_idmap_get(&rows->index, row.vertex);
    if (before != NULL)
        *before = (struct lbm_row){0};
    if (at == LBM_NONE) {
        LBM_ASSERT(lbm_vec_push(&rows->rows, row) == LBM_OK);
        LBM_ASSERT(lbm_idmap_put(&rows->index, row.vertex, (uint32_t)rows->rows.n - 1) == LBM_OK);
        return;
    }
    if (before != NULL)
        *before = rows->rows.at[at];
    else
        lbm_row_free(&rows->rows.at[at]);
    rows->rows.at[at] = row;
}

void
rows_remove(struct row_set *set, uint64_t job, uint32_t vertex)
{
    struct job_rows *rows = job_of(set, job);
    uint32_t at = rows != NULL ? lbm_idmap_get(&rows->index, vertex) : LBM_NONE;
    if (at == LBM_NONE)
        return;
    lbm_row_free(&rows->rows.at[at]);
    lbm_idmap_remove(&rows->index, vertex);
    rows->rows.at[at] = rows->rows.at[--rows->rows.n];
    if (at != rows->rows.n)
        LBM_ASSERT(lbm_idmap_put(&rows->index, rows->rows.at[at].vertex, at) == LBM_OK);
}

void
rows_free(struct row_set *set)
{
    for (size_t i = 0; i < set->jobs.n; i++) {
        struct job_rows *rows = &set->jobs.at[i];
        for (size_t k = 0; k < rows->rows.n; k++)
            lbm_row_free(&rows->rows.at[k]);
        lbm_vec_free(&rows->rows);
        lbm_idmap_free(&rows->index);
    }
    lbm_vec_free(&set->jobs);
}

size_t
rows_count(const struct row_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->jobs.n; i++)
        n += set->jobs.at[i].rows.n;
    return n;
}

struct lbm_row
row_copy(const struct lbm_row *row)
{
    struct lbm_row copy = *row;
    if (row->degree != 0)
        LBM_ASSERT((copy.half = lbm_copy(row->half, row->degree, sizeof *row->half)) != NULL);
    else
        copy.half = NULL;
    if (row->payload != NULL)
        LBM_ASSERT((copy.payload = lbm_copy(row->payload, row->payload_len, 1)) != NULL);
    if (row->news != NULL)
        LBM_ASSERT((copy.news = lbm_copy(row->news, row->n_news, sizeof *row->news)) != NULL);
    return copy;
}
