/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge lists: "u v [weight]" a line, vertices numbered from 0; "u" alone is a vertex without edges.
 * Lines that begin with # or % are comments, as in the SNAP and KONECT collections. */
#include <inttypes.h>

#include "graph/readers.h"
#include "graph/rows.h"

static const struct lbm_field field_vertex = {"vertex", 0, LBM_VERTICES_MAX - 1,
                                              "number the vertices from 0 without gaps"};

/* One line. In/out: *n covers the vertices seen. */
static enum lbm_err
read_line(struct lbm_scan *s, struct lbm_edge_list *list, uint32_t *n)
{
    struct lbm_edge edge = {.weight = 1};
    enum lbm_err err = lbm_scan_u32(s, &field_vertex, &edge.u);
    if (err != LBM_OK)
        return err;
    *n = edge.u >= *n ? edge.u + 1 : *n;
    if (lbm_scan_line_done(s))
        return LBM_OK;
    err = lbm_scan_u32(s, &field_vertex, &edge.v);
    if (err == LBM_OK && !lbm_scan_line_done(s))
        err = lbm_scan_u32(s, &lbm_field_weight, &edge.weight);
    if (err == LBM_OK)
        err = lbm_scan_expect_line_end(s, "an edge");
    if (err != LBM_OK)
        return err;
    *n = edge.v >= *n ? edge.v + 1 : *n;
    struct lbm_graph_fault self = {.kind = LBM_FAULT_SELF, .u = edge.u, .v = edge.u};
    if (edge.u == edge.v)
        return lbm_fault_tell_ids(&self, 0, s->name, s->line, s->diag);
    return lbm_edge_list_add(list, s, edge);
}

enum lbm_err
lbm_read_edges(struct lbm_scan *s, struct lbm_graph *out)
{
    struct lbm_edge_list list = {0};
    size_t len = (size_t)(s->end - s->at);
    uint32_t n = 0;
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !lbm_scan_skip_lines(s, "#%", 1)) {
        err = read_line(s, &list, &n);
        if (err == LBM_OK)
            err = lbm_edge_list_bound(n, len, s);
        if (err == LBM_OK)
            lbm_scan_next_line(s);
    }
    if (err == LBM_OK)
        err = lbm_edge_list_build(&list, n, LBM_MERGE_KEEP, 0, s, out);
    lbm_edge_list_free(&list);
    return err;
}
