/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges collected from a text that gives each once, or once for each direction. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/rows.h"

enum lbm_err
lbm_edge_list_add(struct lbm_edge_list *list, const struct lbm_scan *scan, struct lbm_edge edge)
{
    if (lbm_vec_push(&list->edges, edge) == LBM_OK &&
        lbm_vec_push(&list->lines, scan->line < UINT32_MAX ? (uint32_t)scan->line : 0) == LBM_OK)
        return LBM_OK;
    return lbm_scan_refuse(scan, LBM_E_NOMEM, "no memory for %zu edges", list->edges.n);
}

enum lbm_err
lbm_edge_list_bound(uint64_t n, size_t len, const struct lbm_scan *scan)
{
    if (n <= len + (uint64_t)LBM_IDLE_VERTICES_MAX)
        return LBM_OK;
    return lbm_scan_refuse(scan, LBM_E_LIMIT,
                           "%" PRIu64 " vertices in %zu bytes: nearly all would be without edges; number the "
                           "vertices without gaps",
                           n, len);
}

uint64_t
lbm_edge_list_line(const struct lbm_edge_list *list, uint32_t u, uint32_t v)
{
    for (size_t e = list->edges.n; e-- > 0;) {
        const struct lbm_edge *edge = &list->edges.at[e];
        if ((edge->u == u && edge->v == v) || (edge->u == v && edge->v == u))
            return list->lines.at[e];
    }
    return 0;
}

enum lbm_err
lbm_edge_list_join(const struct lbm_edge_list *list, uint32_t n, enum lbm_merge merge, struct lbm_graph *out,
                   struct lbm_graph_fault *fault)
{
    enum lbm_err err = lbm_edges_distinct(n, list->edges.at, list->edges.n, fault);
    return err == LBM_OK ? lbm_edges_build(n, list->edges.at, list->edges.n, merge, out, fault) : err;
}

enum lbm_err
lbm_edge_list_build(const struct lbm_edge_list *list, uint32_t n, enum lbm_merge merge, uint32_t base,
                    const struct lbm_scan *scan, struct lbm_graph *out)
{
    struct lbm_graph_fault fault;
    enum lbm_err err = lbm_edge_list_join(list, n, merge, out, &fault);
    if (err == LBM_E_SYNTAX)
        return lbm_fault_tell_ids(&fault, base, scan->name, lbm_edge_list_line(list, fault.u, fault.v),
                                  scan->diag);
    if (err != LBM_OK)
        return lbm_diag_set(scan->diag, err, scan->name, 0, "no memory for %zu edges", list->edges.n);
    return LBM_OK;
}

void
lbm_edge_list_free(struct lbm_edge_list *list)
{
    lbm_vec_free(&list->edges);
    lbm_vec_free(&list->lines);
}
