/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/items.h"

#include <inttypes.h>
#include <stdlib.h>

static enum lbm_err
no_memory(const struct lbm_scan *s)
{
    return lbm_diag_set(s->diag, LBM_E_NOMEM, s->name, 0, "no memory for the graph");
}

static enum lbm_err
fill_work(const struct lbm_items *items, const struct lbm_scan *s, struct lbm_graph *g)
{
    enum lbm_err err = LBM_OK;
    if (lbm_reading_collects(s->reading)) {
        double *work = lbm_alloc(g->n, sizeof *work);
        for (size_t v = 0; v < g->n && work != NULL; v++)
            work[v] = items->at.at[v].work;
        err = work != NULL ? lbm_work_collect(work, g->n, &items->list.labels, s, &g->work) : no_memory(s);
        free(work);
        return err;
    }
    g->work = lbm_alloc(g->n, sizeof *g->work);
    for (size_t v = 0; v < g->n && g->work != NULL; v++)
        g->work[v] = (uint32_t)items->at.at[v].work;
    return g->work != NULL ? LBM_OK : no_memory(s);
}

static enum lbm_err
fill_positions(const struct lbm_items *items, const struct lbm_scan *s, struct lbm_graph *g)
{
    size_t placed = 0;
    for (size_t v = 0; v < g->n; v++)
        placed += items->at.at[v].has_x && items->at.at[v].has_y;
    if (placed == 0)
        return LBM_OK;
    if (placed < g->n) {
        lbm_reading_remark(s->reading, "positions are not kept: only %zu of %" PRIu32 " vertices have one",
                           placed, g->n);
        return LBM_OK;
    }
    g->position = lbm_alloc(2 * (size_t)g->n, sizeof *g->position);
    for (size_t v = 0; v < g->n && g->position != NULL; v++) {
        g->position[2 * v] = items->at.at[v].x;
        g->position[2 * v + 1] = items->at.at[v].y;
    }
    return g->position != NULL ? LBM_OK : no_memory(s);
}

enum lbm_err
lbm_items_build(struct lbm_items *items, const struct lbm_scan *s, struct lbm_graph *out)
{
    struct lbm_graph g = {0};
    enum lbm_err err = lbm_edge_list_build(&items->list, (uint32_t)items->at.n, LBM_DIRECTIONS_EQUAL, s, &g);
    if (err == LBM_OK)
        err = fill_work(items, s, &g);
    if (err == LBM_OK)
        err = fill_positions(items, s, &g);
    if (err == LBM_OK)
        err = lbm_names_give(&items->names, s, &g);
    if (err == LBM_OK)
        lbm_rows_trim(&g, lbm_graph_directions(&g));
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}

void
lbm_items_free(struct lbm_items *items)
{
    lbm_vec_free(&items->at);
    lbm_names_free(&items->names);
    lbm_edge_list_free(&items->list);
}
