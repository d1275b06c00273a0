/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/graphml.h"

#include <stdlib.h>
#include <string.h>

#include "graph/names.h"

static enum lbm_err
no_memory(const struct lbm_scan *scan)
{
    return lbm_diag_set(scan->diag, LBM_E_NOMEM, scan->name, 0, "no memory for the graph");
}

/* Out: *index [nodes] sorted, owned by the caller. */
static enum lbm_err
sort_names(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_name_entry **index)
{
    struct lbm_labels labels = lbm_names_labels(&doc->names);
    struct lbm_name_entry *sorted = lbm_names_sort(&doc->names);
    if (sorted == NULL)
        return no_memory(scan);
    for (size_t i = 1; i < doc->nodes.n; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name) != 0)
            continue;
        char name[LBM_LABEL_BYTES];
        lbm_label_show(&labels, sorted[i].v, name);
        uint64_t line = doc->nodes.at[sorted[i].v].line;
        free(sorted);
        return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, line, "node \"%s\" is given twice", name);
    }
    *index = sorted;
    return LBM_OK;
}

static enum lbm_err
resolve(const struct lbm_graphml *doc, const struct lbm_name_entry *index, size_t end, uint64_t line,
        const struct lbm_scan *scan, uint32_t *v)
{
    const char *text = doc->ends.at + end;
    *v = lbm_names_find(index, doc->nodes.n, text);
    if (*v != LBM_NONE)
        return LBM_OK;
    const size_t start = 0;
    struct lbm_labels label = {0, &start, text};
    char shown[LBM_LABEL_BYTES];
    lbm_label_show(&label, 0, shown);
    return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, line, "there is no node \"%s\"", shown);
}

static enum lbm_err
collect_edges(const struct lbm_graphml *doc, const struct lbm_name_entry *index, const struct lbm_scan *scan,
              struct lbm_edge_list *list)
{
    for (size_t e = 0; e < doc->edges.n; e++) {
        const struct lbm_graphml_edge *from = &doc->edges.at[e];
        uint32_t u, v;
        struct lbm_scan at = *scan;
        at.line = from->line;
        enum lbm_err err = resolve(doc, index, from->source, from->line, scan, &u);
        if (err == LBM_OK)
            err = resolve(doc, index, from->target, from->line, scan, &v);
        if (err == LBM_OK)
            err = lbm_edge_list_add(list, &at, u, v, from->weight);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}

/* Out: *g has its rows. */
static enum lbm_err
build_rows(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *g)
{
    struct lbm_edge_list list = {.labels = lbm_names_labels(&doc->names)};
    struct lbm_name_entry *index = NULL;
    enum lbm_err err = sort_names(doc, scan, &index);
    if (err == LBM_OK)
        err = collect_edges(doc, index, scan, &list);
    free(index);
    if (err == LBM_OK)
        err = lbm_edge_list_build(&list, (uint32_t)doc->nodes.n, LBM_DIRECTIONS_EQUAL, scan, g);
    lbm_edge_list_free(&list);
    return err;
}

/* What the vertices have in common: all have a position or none, those pinned have a host. */
static enum lbm_err
survey(const struct lbm_graphml *doc, const struct lbm_scan *scan, int *positions, int *pins)
{
    struct lbm_labels labels = lbm_names_labels(&doc->names);
    *positions = *pins = 0;
    for (size_t v = 0; v < doc->nodes.n; v++) {
        *positions |= doc->nodes.at[v].has_x || doc->nodes.at[v].has_y;
        *pins |= doc->nodes.at[v].pinned;
    }
    for (size_t v = 0; v < doc->nodes.n; v++) {
        const struct lbm_graphml_node *node = &doc->nodes.at[v];
        char name[LBM_LABEL_BYTES];
        if ((*positions && !(node->has_x && node->has_y)) || node->pinned)
            lbm_label_show(&labels, (uint32_t)v, name);
        if (*positions && !(node->has_x && node->has_y))
            return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, node->line,
                                "node \"%s\" has no x or no y, but others have", name);
        if (node->pinned && !node->has_host)
            return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, node->line,
                                "node \"%s\" is pinned, but names no host", name);
    }
    return LBM_OK;
}

/* Vertex weights. Out: g->work. */
static enum lbm_err
fill_work(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *g)
{
    struct lbm_labels labels = lbm_names_labels(&doc->names);
    double *work = lbm_alloc(g->n, sizeof *work);
    enum lbm_err err = LBM_OK;
    if (work == NULL)
        return no_memory(scan);
    for (size_t v = 0; v < g->n; v++)
        work[v] = doc->nodes.at[v].work;
    if (lbm_reading_collects(scan->reading)) {
        err = lbm_work_collect(work, g->n, &labels, scan, &g->work);
    } else {
        g->work = lbm_alloc(g->n, sizeof *g->work);
        for (size_t v = 0; v < g->n && g->work != NULL; v++)
            g->work[v] = (uint32_t)work[v];
        err = g->work != NULL ? LBM_OK : no_memory(scan);
    }
    free(work);
    return err;
}

static enum lbm_err
fill_vertices(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *g)
{
    int positions, pins;
    enum lbm_err err = survey(doc, scan, &positions, &pins);
    if (err != LBM_OK)
        return err;
    err = fill_work(doc, scan, g);
    if (err != LBM_OK)
        return err;
    g->position = positions ? lbm_alloc(2 * (size_t)g->n, sizeof *g->position) : NULL;
    g->pin = pins ? lbm_alloc(g->n, sizeof *g->pin) : NULL;
    if ((positions && g->position == NULL) || (pins && g->pin == NULL))
        return no_memory(scan);
    for (size_t v = 0; v < g->n; v++) {
        const struct lbm_graphml_node *node = &doc->nodes.at[v];
        if (positions) {
            g->position[2 * v] = node->x;
            g->position[2 * v + 1] = node->y;
        }
        if (pins)
            g->pin[v] = node->pinned ? node->host : LBM_NONE;
    }
    lbm_rows_trim(g, lbm_graph_directions(g));
    return LBM_OK;
}

enum lbm_err
lbm_graphml_build(struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *out)
{
    struct lbm_graph g = {0};
    enum lbm_err err = build_rows(doc, scan, &g);
    if (err == LBM_OK)
        err = fill_vertices(doc, scan, &g);
    if (err == LBM_OK)
        err = lbm_names_give(&doc->names, scan, &g);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}

void
lbm_graphml_free(struct lbm_graphml *doc)
{
    lbm_names_free(&doc->names);
    lbm_buf_free(&doc->ends);
    lbm_vec_free(&doc->nodes);
    lbm_vec_free(&doc->edges);
}
