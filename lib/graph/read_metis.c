/* SPDX-License-Identifier: GPL-3.0-or-later */
/* METIS and Chaco graphs: a header "n m [fmt [ncon]]", then a line for each vertex, numbered from 1.
 * Source: METIS 5 manual section 4.1.1; Chaco 2 user's guide. Both sides of every edge are there. */
#include <inttypes.h>
#include <string.h>

#include "graph/read.h"
#include "graph/readers.h"
#include "graph/rows.h"

struct header {
    struct lbm_rows_header rows;
    int has_size;
    uint64_t ids;   /* of neighbours, from 1 */
    uint32_t first; /* vertex of the first row */
};

static const struct lbm_field field_vertices = {"number of vertices", 0, LBM_VERTICES_MAX, ""};
static const struct lbm_field field_edges = {"number of edges", 0, LBM_EDGE_DIRECTIONS_MAX / 2, ""};
static const struct lbm_field field_fmt = {
    "fmt", 0, 111, "its digits 0 or 1 stand for vertex size, vertex weight, edge weight"};
static const struct lbm_field field_ncon = {"number of weights per vertex", 0, 1000, ""};
static const struct lbm_field field_size = {"vertex size", 0, LBM_WEIGHT_MAX, ""};

static enum lbm_err
read_fmt(struct lbm_scan *s, struct header *header)
{
    struct lbm_scan before = *s;
    uint64_t fmt = 0, ncon = 1;
    enum lbm_err err = lbm_scan_line_done(s) ? LBM_OK : lbm_scan_u64(s, &field_fmt, &fmt);
    if (err == LBM_OK && (fmt % 10 > 1 || fmt / 10 % 10 > 1)) {
        lbm_scan_line_done(&before);
        return lbm_scan_bad_field(&before, &field_fmt);
    }
    if (err == LBM_OK && !lbm_scan_line_done(s))
        err = lbm_scan_u64(s, &field_ncon, &ncon);
    if (err == LBM_OK && ncon > 1)
        return lbm_scan_refuse(s, LBM_E_UNSUPPORTED,
                               "%" PRIu64 " weights per vertex are not supported: keep one of them", ncon);
    header->rows.has_weight = fmt % 10 != 0;
    header->rows.has_work = fmt / 10 % 10 != 0;
    header->has_size = fmt / 100 != 0;
    return err;
}

static enum lbm_err
read_header(struct lbm_scan *s, struct header *header)
{
    uint64_t edges = 0;
    if (lbm_scan_skip_lines(s, "%", 1))
        return lbm_scan_refuse(s, LBM_E_SYNTAX,
                               "no header: the first line is \"vertices edges [fmt [ncon]]\"");
    *header = (struct header){.rows.base = 1};
    enum lbm_err err = lbm_scan_u64(s, &field_vertices, &header->rows.n);
    if (err == LBM_OK)
        err = lbm_scan_u64(s, &field_edges, &edges);
    header->rows.directions = 2 * edges;
    header->ids = header->rows.n;
    if (err == LBM_OK)
        err = read_fmt(s, header);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "the header");
    return err;
}

/* The row the scanner stands at; line ends are left to the caller. */
static enum lbm_err
read_row(struct lbm_scan *s, const struct header *header, struct lbm_rows *rows)
{
    const struct lbm_field field_id = {"neighbour", 1, header->ids, "vertices are numbered from 1"};
    enum lbm_err err = LBM_OK;
    uint64_t size;
    lbm_rows_begin(rows, s, rows->row);
    rows->id += header->first;
    double work = 1;
    if (header->has_size)
        err = lbm_scan_u64(s, &field_size, &size);
    if (err == LBM_OK && rows->has_work)
        err = lbm_scan_weight(s, s->work, &work);
    if (err == LBM_OK && rows->has_work)
        lbm_rows_set_work(rows, work);
    while (err == LBM_OK && !lbm_scan_line_done(s)) {
        uint32_t id = 0;
        double weight = 1;
        err = lbm_scan_u32(s, &field_id, &id);
        if (err == LBM_OK && rows->has_weight)
            err = lbm_scan_weight(s, &lbm_field_weight, &weight);
        if (err == LBM_OK)
            err = lbm_rows_add(rows, s, id - 1, weight);
    }
    return err == LBM_OK ? lbm_rows_end(rows, s) : err;
}

static enum lbm_err
read_rows(struct lbm_scan *s, const struct header *header, struct lbm_rows *rows)
{
    while (rows->row < rows->g.n) {
        lbm_scan_next_line(s);
        if (lbm_scan_skip_lines(s, "%", 0))
            return lbm_scan_refuse(s, LBM_E_SYNTAX,
                                   "the file ends after %" PRIu32 " of %" PRIu32
                                   " vertices: a vertex without edges still needs its empty line",
                                   rows->row, rows->g.n);
        enum lbm_err err = read_row(s, header, rows);
        if (err != LBM_OK)
            return err;
    }
    lbm_scan_next_line(s);
    return lbm_scan_expect_text_end(s, "%", "the last vertex");
}

enum lbm_err
lbm_read_metis(struct lbm_scan *s, struct lbm_graph *out)
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

/* ---- a part -------------------------------------------------------------------------------------------- */

static const char mark[] = "%lbmap-part ";

static enum lbm_err
read_mark(struct lbm_scan *s, struct lbm_graph_part *part, uint64_t *directions)
{
    static const struct lbm_field number = {"number of the part", 0, LBM_VERTICES_MAX,
                                            "parts are numbered from 0"};
    static const struct lbm_field parts = {"number of parts", 1, LBM_VERTICES_MAX, ""};
    static const struct lbm_field first = {"first vertex", 0, LBM_VERTICES_MAX, "it is counted from 0"};
    static const struct lbm_field rows = {"number of rows", 0, LBM_VERTICES_MAX, ""};
    static const struct lbm_field neighbours = {"number of neighbours", 0, LBM_EDGE_DIRECTIONS_MAX, ""};
    if ((size_t)(s->end - s->at) < sizeof mark - 1 || memcmp(s->at, mark, sizeof mark - 1) != 0)
        return lbm_scan_refuse(s, LBM_E_SYNTAX,
                               "this is no part of a guest: lbctl convert --parts N writes such files");
    s->at += sizeof mark - 1;
    enum lbm_err err = lbm_scan_u32(s, &number, &part->number);
    if (err == LBM_OK)
        err = lbm_scan_u32(s, &parts, &part->parts);
    if (err == LBM_OK)
        err = lbm_scan_u32(s, &first, &part->first);
    if (err == LBM_OK)
        err = lbm_scan_u32(s, &rows, &part->rows);
    if (err == LBM_OK)
        err = lbm_scan_u64(s, &neighbours, directions);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "what the part is");
    if (err == LBM_OK && part->number >= part->parts)
        err = lbm_scan_refuse(s, LBM_E_RANGE, "part %" PRIu32 " of %" PRIu32 ": parts are numbered from 0",
                              part->number, part->parts);
    lbm_scan_next_line(s);
    return err;
}

enum lbm_err
lbm_read_metis_part(struct lbm_scan *s, struct lbm_graph_part *part, struct lbm_graph *out)
{
    struct header header;
    struct lbm_rows rows;
    uint64_t directions = 0;
    enum lbm_err err = read_mark(s, part, &directions);
    if (err == LBM_OK)
        err = read_header(s, &header);
    if (err != LBM_OK)
        return err;
    part->vertices = (uint32_t)header.rows.n;
    part->edges = header.rows.directions / 2;
    if (part->first > part->vertices || part->rows > part->vertices - part->first || part->rows == 0)
        return lbm_scan_refuse(
            s, LBM_E_RANGE, "%" PRIu32 " rows from vertex %" PRIu32 " on are no part of %" PRIu32 " vertices",
            part->rows, part->first, part->vertices);
    header.first = part->first;
    header.rows.n = part->rows;
    header.rows.directions = directions;
    err = lbm_rows_open(&rows, &header.rows, s);
    if (err != LBM_OK)
        return err;
    err = read_rows(s, &header, &rows);
    if (err == LBM_OK && rows.used != directions)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "%" PRIu64 " neighbours are announced, the rows hold %" PRIu64,
                              directions, rows.used);
    if (err == LBM_OK) {
        *out = rows.g;
        rows.g = (struct lbm_graph){0};
    }
    lbm_rows_free(&rows);
    return err;
}
