/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges collected from a text that gives them in any order. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/rows.h"

enum lbm_err
lbm_edge_list_add(struct lbm_edge_list *list, const struct lbm_scan *scan, uint32_t u, uint32_t v,
                  double weight)
{
    if (u == v && scan->reading != NULL && scan->reading->sum) {
        list->loops++;
        return LBM_OK;
    }
    struct lbm_graph_fault self = {.kind = LBM_FAULT_SELF, .u = u, .v = v};
    if (u == v)
        return lbm_fault_refuse(&self, &list->labels, scan, scan->line);
    if (scan->reading != NULL && scan->reading->unweighted)
        weight = 1;
    int collects = lbm_reading_collects(scan->reading);
    struct lbm_edge edge = {u, v, collects ? 1 : (uint32_t)weight};
    if (lbm_vec_push(&list->edges, edge) == LBM_OK &&
        lbm_vec_push(&list->lines, scan->line < UINT32_MAX ? (uint32_t)scan->line : 0) == LBM_OK &&
        (!collects || lbm_vec_push(&list->reals, weight) == LBM_OK))
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

/* Line of the last edge between u and v, 0 if there is none. */
static uint64_t
line_of(const struct lbm_edge_list *list, uint32_t u, uint32_t v)
{
    for (size_t e = list->edges.n; e-- > 0;) {
        const struct lbm_edge *edge = &list->edges.at[e];
        if ((edge->u == u && edge->v == v) || (edge->u == v && edge->v == u))
            return list->lines.at[e];
    }
    return 0;
}

enum lbm_err
lbm_edge_list_build(const struct lbm_edge_list *list, uint32_t n, enum lbm_directions directions,
                    const struct lbm_scan *scan, struct lbm_graph *out)
{
    static const enum lbm_merge merges[] = {[LBM_DIRECTIONS_ADD] = LBM_MERGE_SUM,
                                            [LBM_DIRECTIONS_EQUAL] = LBM_MERGE_KEEP,
                                            [LBM_DIRECTIONS_ONE] = LBM_MERGE_REJECT};
    if (lbm_reading_collects(scan->reading))
        return lbm_edge_list_collect(list, n, directions, scan, out);
    struct lbm_graph_fault fault;
    const struct lbm_edge *edges = list->edges.at;
    enum lbm_err err = lbm_edges_distinct(n, edges, list->edges.n, &fault);
    if (err == LBM_OK)
        err = lbm_edges_build(n, edges, list->edges.n, merges[directions], out, &fault);
    if (err == LBM_E_SYNTAX)
        return lbm_fault_refuse(&fault, &list->labels, scan, line_of(list, fault.u, fault.v));
    if (err != LBM_OK)
        return lbm_diag_set(scan->diag, err, scan->name, 0, "no memory for %zu edges", list->edges.n);
    return LBM_OK;
}

void
lbm_edge_list_free(struct lbm_edge_list *list)
{
    lbm_vec_free(&list->edges);
    lbm_vec_free(&list->lines);
    lbm_vec_free(&list->reals);
}
