/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows filled from a text that lists every edge on both sides. */
#include "graph/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static enum lbm_err
no_memory(const struct lbm_scan *scan)
{
    return lbm_diag_set(scan->diag, LBM_E_NOMEM, scan->name, 0, "no memory for the graph");
}

static enum lbm_err
allocate(struct lbm_rows *rows, const struct lbm_rows_header *header, const struct lbm_scan *scan)
{
    size_t n = (size_t)header->n, directions = (size_t)header->directions;
    *rows = (struct lbm_rows){.directions = directions,
                              .base = header->base,
                              .collects = lbm_reading_collects(scan->reading),
                              .has_work = header->has_work,
                              .has_weight = header->has_weight};
    rows->g.n = (uint32_t)n;
    rows->list.labels.base = header->base;
    if (rows->collects) {
        rows->work = lbm_alloc(n, sizeof *rows->work);
        return rows->work != NULL ? LBM_OK : no_memory(scan);
    }
    rows->g.offset = lbm_alloc(n + 1, sizeof *rows->g.offset);
    rows->g.target = lbm_alloc(directions, sizeof *rows->g.target);
    rows->g.weight = header->has_weight ? lbm_alloc(directions, sizeof *rows->g.weight) : NULL;
    rows->g.work = header->has_work ? lbm_alloc(n, sizeof *rows->g.work) : NULL;
    rows->line = lbm_alloc(n, sizeof *rows->line);
    if (rows->g.offset != NULL && rows->g.target != NULL && rows->line != NULL &&
        (rows->g.weight != NULL || !header->has_weight) && (rows->g.work != NULL || !header->has_work))
        return LBM_OK;
    lbm_rows_free(rows);
    return no_memory(scan);
}

enum lbm_err
lbm_rows_open(struct lbm_rows *rows, const struct lbm_rows_header *header, struct lbm_scan *scan)
{
    /* A vertex takes a byte at least (its line end; the last may lack it), an entry two (digit, separator).
     */
    uint64_t left = (uint64_t)(scan->end - scan->at) + 1;
    if (header->n > left)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX,
                               "the header announces %" PRIu64 " vertices, but only %" PRIu64
                               " bytes follow: the file is truncated or the header wrong",
                               header->n, left - 1);
    if (header->directions > left / 2)
        return lbm_scan_refuse(scan, LBM_E_SYNTAX,
                               "the header announces %" PRIu64 " edges, but only %" PRIu64
                               " bytes follow: the file is truncated or the header wrong",
                               header->directions / 2, left - 1);
    LBM_ASSERT(header->n <= LBM_VERTICES_MAX);
    return allocate(rows, header, scan);
}

static enum lbm_err
wrong_count(const struct lbm_rows *rows, const struct lbm_scan *scan)
{
    return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, 0,
                        "the header announces %" PRIu64 " edges, the rows hold %" PRIu64
                        ": each edge counts once and stands in two rows",
                        rows->directions / 2, rows->used / 2);
}

void
lbm_rows_begin(struct lbm_rows *rows, const struct lbm_scan *scan, uint32_t id)
{
    LBM_ASSERT(rows->row < rows->g.n && id < rows->g.n);
    rows->id = id;
    if (rows->collects)
        return;
    rows->line[rows->row] = scan->line < UINT32_MAX ? (uint32_t)scan->line : 0;
    rows->sorted = 1;
}

enum lbm_err
lbm_rows_refuse(const struct lbm_rows *rows, const struct lbm_scan *scan, uint32_t u)
{
    struct lbm_graph_fault self = {.kind = LBM_FAULT_SELF, .u = u, .v = u};
    if (u == rows->id)
        return lbm_fault_refuse(&self, &rows->list.labels, scan, scan->line);
    return lbm_scan_refuse(scan, LBM_E_SYNTAX,
                           "more neighbours than the header announces: it says %" PRIu64
                           " edges, that is %" PRIu64 " neighbours in all",
                           rows->directions / 2, rows->directions);
}

enum lbm_err
lbm_rows_end(struct lbm_rows *rows, const struct lbm_scan *scan)
{
    if (rows->collects) {
        rows->row++;
        return LBM_OK;
    }
    uint64_t begin = rows->g.offset[rows->row];
    uint32_t *target = rows->g.target + begin;
    size_t degree = (size_t)(rows->used - begin);
    if (!rows->sorted) {
        lbm_row_sort(target, rows->g.weight != NULL ? rows->g.weight + begin : NULL, degree);
        for (size_t k = 1; k < degree; k++) {
            struct lbm_graph_fault fault = {.kind = LBM_FAULT_DUPLICATE, .u = rows->id, .v = target[k]};
            if (target[k] == target[k - 1])
                return lbm_fault_refuse(&fault, &rows->list.labels, scan, rows->line[rows->row]);
        }
    }
    rows->g.offset[++rows->row] = rows->used;
    return LBM_OK;
}

enum lbm_err
lbm_rows_order(struct lbm_rows *rows, const uint32_t *row_of, const struct lbm_scan *scan)
{
    if (rows->collects)
        return LBM_OK;
    const struct lbm_graph *from = &rows->g;
    struct lbm_rows_header header = {from->n, rows->directions, rows->base, from->work != NULL,
                                     from->weight != NULL};
    struct lbm_rows to;
    enum lbm_err err = allocate(&to, &header, scan);
    if (err != LBM_OK)
        return err;
    for (uint32_t v = 0; v < from->n; v++) {
        uint64_t begin = from->offset[row_of[v]];
        size_t degree = (size_t)(from->offset[row_of[v] + 1] - begin);
        memcpy(to.g.target + to.used, from->target + begin, degree * sizeof *from->target);
        if (from->weight != NULL)
            memcpy(to.g.weight + to.used, from->weight + begin, degree * sizeof *from->weight);
        if (from->work != NULL)
            to.g.work[v] = from->work[row_of[v]];
        to.line[v] = rows->line[row_of[v]];
        to.used += degree;
        to.g.offset[v + 1] = to.used;
    }
    to.row = from->n;
    lbm_rows_free(rows);
    *rows = to;
    return LBM_OK;
}

/* The end of a reading that collects. */
static enum lbm_err
close_collected(struct lbm_rows *rows, const struct lbm_scan *scan, struct lbm_graph *out)
{
    struct lbm_graph g = {0};
    enum lbm_err err = lbm_edge_list_build(&rows->list, rows->g.n, LBM_DIRECTIONS_BOTH, scan, &g);
    if (err == LBM_OK && rows->has_work)
        err = lbm_work_collect(rows->work, rows->g.n, &rows->list.labels, scan, &g.work);
    if (err == LBM_OK && rows->used != rows->directions && scan->reading->sum)
        lbm_reading_remark(scan->reading, "the header announces %" PRIu64 " edges, the rows hold %" PRIu64,
                           rows->directions / 2, rows->used / 2);
    else if (err == LBM_OK && rows->used != rows->directions)
        err = wrong_count(rows, scan);
    if (err != LBM_OK) {
        lbm_graph_free(&g);
        return err;
    }
    lbm_rows_trim(&g, lbm_graph_directions(&g));
    *out = g;
    return LBM_OK;
}

enum lbm_err
lbm_rows_close(struct lbm_rows *rows, const struct lbm_scan *scan, struct lbm_graph *out)
{
    LBM_ASSERT(rows->row == rows->g.n);
    if (rows->collects)
        return close_collected(rows, scan, out);
    if (scan->reading != NULL && scan->reading->unweighted) {
        free(rows->g.weight);
        rows->g.weight = NULL;
    }
    struct lbm_graph_fault fault;
    enum lbm_err err = lbm_rows_symmetric(&rows->g, &fault);
    if (err == LBM_E_SYNTAX)
        return lbm_fault_refuse(&fault, &rows->list.labels, scan, rows->line[fault.u]);
    if (err != LBM_OK)
        return no_memory(scan);
    if (rows->used != rows->directions)
        return wrong_count(rows, scan);
    lbm_rows_trim(&rows->g, rows->directions);
    *out = rows->g;
    rows->g = (struct lbm_graph){0};
    return LBM_OK;
}

void
lbm_rows_free(struct lbm_rows *rows)
{
    lbm_graph_free(&rows->g);
    free(rows->line);
    rows->line = NULL;
    lbm_edge_list_free(&rows->list);
    free(rows->work);
    rows->work = NULL;
}
