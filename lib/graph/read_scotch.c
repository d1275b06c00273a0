/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scotch source graphs, version 0: "0", "n arcs", "baseval flags", then for each vertex
 * "[label] [load] degree ([load] neighbour)..."; line ends mean no more than blanks.
 * Source: Scotch user's guide section 5.1. Labels must be the vertices' numbers in any order: the results
 * of lbmap are told by number. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/readers.h"
#include "graph/rows.h"

struct header {
    struct lbm_rows_header rows;
    int has_label;
};

static const struct lbm_field field_version = {"version", 0, 0,
                                               "only version 0, the centralized format, is known"};
static const struct lbm_field field_vertices = {"number of vertices", 0, LBM_VERTICES_MAX, ""};
static const struct lbm_field field_arcs = {"number of arcs", 0, LBM_EDGE_DIRECTIONS_MAX,
                                            "each edge counts twice"};
static const struct lbm_field field_base = {"base value", 0, 1, ""};
static const struct lbm_field field_flags = {"flag", 0, 111,
                                             "its digits 0 or 1 stand for labels, edge loads, vertex loads"};

/* The next number, on whatever line it is. */
static enum lbm_err
next(struct lbm_scan *s, const struct lbm_field *field, uint64_t *value)
{
    if (lbm_scan_text_done(s))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends before the %s", field->what);
    return lbm_scan_u64(s, field, value);
}

static enum lbm_err
next_weight(struct lbm_scan *s, const struct lbm_field *field, double *value)
{
    if (lbm_scan_text_done(s))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends before the %s", field->what);
    return lbm_scan_weight(s, field, value);
}

static enum lbm_err
next_u32(struct lbm_scan *s, const struct lbm_field *field, uint32_t *value)
{
    uint64_t number = 0;
    enum lbm_err err = next(s, field, &number);
    if (err == LBM_OK)
        *value = (uint32_t)number;
    return err;
}

static enum lbm_err
read_header(struct lbm_scan *s, struct header *header)
{
    uint64_t version, base = 0, flags = 0;
    *header = (struct header){0};
    enum lbm_err err = next(s, &field_version, &version);
    if (err == LBM_OK)
        err = next(s, &field_vertices, &header->rows.n);
    if (err == LBM_OK)
        err = next(s, &field_arcs, &header->rows.directions);
    if (err == LBM_OK && header->rows.directions % 2 != 0)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "%" PRIu64 " arcs cannot be: each edge counts twice",
                               header->rows.directions);
    if (err == LBM_OK)
        err = next(s, &field_base, &base);
    if (err == LBM_OK)
        err = next(s, &field_flags, &flags);
    if (err != LBM_OK)
        return err;
    if (flags % 10 > 1 || flags / 10 % 10 > 1)
        return lbm_scan_refuse(s, LBM_E_RANGE, "flag %" PRIu64 ": %s", flags, field_flags.hint);
    header->rows.base = (uint32_t)base;
    header->rows.has_work = flags % 10 != 0;
    header->rows.has_weight = flags / 10 % 10 != 0;
    header->has_label = flags / 100 != 0;
    return LBM_OK;
}

/* Read the label of the present row and note which row it names. In/out: row_of [n], LBM_NONE: not seen. */
static enum lbm_err
read_label(struct lbm_scan *s, const struct lbm_rows *rows, uint32_t *row_of, uint32_t *id)
{
    const struct lbm_field field = {"label", rows->base, (uint64_t)rows->base + rows->g.n - 1,
                                    "labels must be the numbers of the vertices"};
    uint32_t label = 0;
    enum lbm_err err = next_u32(s, &field, &label);
    if (err != LBM_OK)
        return err;
    *id = label - rows->base;
    if (row_of[*id] != LBM_NONE)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "label %" PRIu32 " is given twice", label);
    row_of[*id] = rows->row;
    return LBM_OK;
}

static enum lbm_err
read_row(struct lbm_scan *s, struct lbm_rows *rows, uint32_t *row_of)
{
    const struct lbm_field field_id = {"neighbour", rows->base, (uint64_t)rows->base + rows->g.n - 1,
                                       "the base value is the number of the first vertex"};
    const struct lbm_field field_degree = {"degree", 0, rows->g.n - 1, ""};
    uint32_t id = rows->row;
    uint64_t degree = 0;
    double weight = 1;
    enum lbm_err err = row_of != NULL ? read_label(s, rows, row_of, &id) : LBM_OK;
    if (err != LBM_OK)
        return err;
    lbm_rows_begin(rows, s, id);
    if (rows->has_work)
        err = next_weight(s, s->work, &weight);
    if (err == LBM_OK && rows->has_work)
        lbm_rows_set_work(rows, weight);
    if (err == LBM_OK)
        err = next(s, &field_degree, &degree);
    for (uint64_t k = 0; k < degree && err == LBM_OK; k++) {
        uint32_t neighbour = 0;
        weight = 1;
        if (rows->has_weight)
            err = next_weight(s, &lbm_field_weight, &weight);
        if (err == LBM_OK)
            err = next_u32(s, &field_id, &neighbour);
        if (err == LBM_OK)
            err = lbm_rows_add(rows, s, neighbour - rows->base, weight);
    }
    return err == LBM_OK ? lbm_rows_end(rows, s) : err;
}

static enum lbm_err
read_rows(struct lbm_scan *s, const struct header *header, struct lbm_rows *rows)
{
    uint32_t *row_of = NULL;
    enum lbm_err err = LBM_OK;
    if (header->has_label) {
        row_of = lbm_alloc(rows->g.n, sizeof *row_of);
        if (row_of == NULL)
            return lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for %" PRIu32 " labels", rows->g.n);
        for (uint32_t v = 0; v < rows->g.n; v++)
            row_of[v] = LBM_NONE;
    }
    while (rows->row < rows->g.n && err == LBM_OK)
        err = read_row(s, rows, row_of);
    if (err == LBM_OK)
        err = lbm_scan_expect_text_end(s, "", "the last vertex");
    if (err == LBM_OK && row_of != NULL)
        err = lbm_rows_order(rows, row_of, s);
    free(row_of);
    return err;
}

enum lbm_err
lbm_read_scotch(struct lbm_scan *s, struct lbm_graph *out)
{
    struct header header;
    struct lbm_rows rows = {0};
    enum lbm_err err = read_header(s, &header);
    if (err == LBM_OK)
        err = lbm_rows_open(&rows, &header.rows, s);
    if (err == LBM_OK)
        err = read_rows(s, &header, &rows);
    if (err == LBM_OK)
        err = lbm_rows_close(&rows, s, out);
    lbm_rows_free(&rows);
    return err;
}
