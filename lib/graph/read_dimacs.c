/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DIMACS graphs, one line an item: "c" a comment, "p FORMAT n m" the sizes, "e u v [weight]" or "a u v
 * weight" an edge, "n v weight" the weight of a vertex (in a flow problem, "n v s" and "n v t", which mean
 * nothing here). Vertices are numbered from 1. Source: DIMACS challenges on cliques and colouring, maximum
 * flow, shortest paths. */
#include <inttypes.h>

#include "graph/items.h"
#include "graph/readers.h"

static const struct lbm_field field_vertices = {"number of vertices", 0, LBM_VERTICES_MAX, ""};
static const struct lbm_field field_edges = {"number of edges", 0, LBM_EDGE_DIRECTIONS_MAX, ""};

struct dimacs {
    struct lbm_items items;
    uint64_t announced, lines;  /* edges */
    uint64_t terminals, others; /* lines that mean nothing to us */
    int has_problem;
};

static enum lbm_err
read_problem(struct dimacs *d, struct lbm_scan *s)
{
    static const char *const words[] = {"edge", "edges", "col", "sp", "max", "clq", "graph"};
    uint64_t n = 0;
    size_t i = 0, left = (size_t)(s->end - s->at);
    if (d->has_problem)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "a second line p");
    while (i < sizeof words / sizeof words[0] && !lbm_scan_word(s, words[i]))
        i++;
    if (i == sizeof words / sizeof words[0])
        return lbm_scan_refuse(
            s, LBM_E_UNSUPPORTED,
            "only the formats edge, col, sp and max are graphs: \"p edge vertices edges\"");
    enum lbm_err err = lbm_scan_u64(s, &field_vertices, &n);
    if (err == LBM_OK)
        err = lbm_scan_u64(s, &field_edges, &d->announced);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "the sizes");
    if (err == LBM_OK)
        err = lbm_edge_list_bound(n, left, s);
    if (err != LBM_OK)
        return err;
    d->has_problem = 1;
    if (lbm_vec_reserve(&d->items.at, (size_t)n) != LBM_OK)
        return lbm_scan_refuse(s, LBM_E_NOMEM, "no memory for the vertices");
    for (uint64_t v = 0; v < n; v++)
        d->items.at.at[v] = (struct lbm_item){.work = 1};
    d->items.at.n = (size_t)n;
    return LBM_OK;
}

static enum lbm_err
read_vertex(struct dimacs *d, struct lbm_scan *s, uint32_t *v)
{
    const struct lbm_field field = {"vertex", 1, d->items.at.n, "vertices are numbered from 1"};
    if (!d->has_problem)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the line \"p FORMAT vertices edges\" must come first");
    if (d->items.at.n == 0)
        return lbm_scan_refuse(s, LBM_E_RANGE, "there are no vertices");
    enum lbm_err err = lbm_scan_u32(s, &field, v);
    *v -= err == LBM_OK;
    return err;
}

static enum lbm_err
read_edge(struct dimacs *d, struct lbm_scan *s)
{
    uint32_t u = 0, v = 0;
    double weight = 1;
    enum lbm_err err = read_vertex(d, s, &u);
    if (err == LBM_OK)
        err = read_vertex(d, s, &v);
    if (err == LBM_OK && !lbm_scan_line_done(s))
        err = lbm_scan_weight(s, &lbm_field_weight, &weight);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "an edge");
    d->lines++;
    return err == LBM_OK ? lbm_edge_list_add(&d->items.list, s, u, v, weight) : err;
}

static enum lbm_err
read_node(struct dimacs *d, struct lbm_scan *s)
{
    uint32_t v = 0;
    enum lbm_err err = read_vertex(d, s, &v);
    if (err != LBM_OK)
        return err;
    if (lbm_scan_word(s, "s") || lbm_scan_word(s, "t")) {
        d->terminals++;
        return LBM_OK;
    }
    err = lbm_scan_weight(s, s->work, &d->items.at.at[v].work);
    return err == LBM_OK ? lbm_scan_expect_line_end(s, "the weight of a vertex") : err;
}

static enum lbm_err
read_line(struct dimacs *d, struct lbm_scan *s)
{
    char token[32];
    if (lbm_scan_word(s, "p"))
        return read_problem(d, s);
    if (lbm_scan_word(s, "e") || lbm_scan_word(s, "a"))
        return read_edge(d, s);
    if (lbm_scan_word(s, "n"))
        return read_node(d, s);
    if (lbm_scan_word(s, "d") || lbm_scan_word(s, "v") || lbm_scan_word(s, "x")) {
        d->others++;
        return LBM_OK;
    }
    lbm_scan_token(s, token, sizeof token);
    return lbm_scan_refuse(s, LBM_E_SYNTAX, "a line begins with c, p, e, a or n, not with \"%s\"", token);
}

/* Nonzero if the next line is a comment: "c" alone or before a blank. */
static int
is_comment(struct lbm_scan *s)
{
    struct lbm_scan probe = *s;
    return lbm_scan_word(&probe, "c");
}

static void
remark(const struct dimacs *d, struct lbm_reading *r)
{
    if (d->lines != d->announced && d->lines != 2 * d->announced)
        lbm_reading_remark(r, "the line p announces %" PRIu64 " edges, there are %" PRIu64, d->announced,
                           d->lines);
    if (d->terminals > 0)
        lbm_reading_remark(r, "source and sink mean nothing to a mapping");
    if (d->others > 0)
        lbm_reading_remark(r, "%" PRIu64 " descriptions of how the graph was made are not read", d->others);
}

enum lbm_err
lbm_read_dimacs(struct lbm_scan *s, struct lbm_graph *out)
{
    struct dimacs d = {.items.list.labels.base = 1};
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !lbm_scan_text_done(s)) {
        err = is_comment(s) ? LBM_OK : read_line(&d, s);
        if (err == LBM_OK)
            lbm_scan_next_line(s);
    }
    if (err == LBM_OK && !d.has_problem)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "there is no line \"p FORMAT vertices edges\"");
    if (err == LBM_OK && d.lines < d.announced)
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "the file ends after %" PRIu64 " of %" PRIu64 " edges",
                              d.lines, d.announced);
    if (err == LBM_OK)
        err = lbm_items_build(&d.items, s, out);
    if (err == LBM_OK)
        remark(&d, s->reading);
    lbm_items_free(&d.items);
    return err;
}
