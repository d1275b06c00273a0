/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/graphml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/rows.h"

/* Names sorted for look-up. A hash table would be faster and open to names made to collide. */
struct entry {
    const char *name;
    uint32_t v;
};

static int
compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->v > right->v) - (left->v < right->v);
}

static int
compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct entry *)entry)->name);
}

enum { SHOWN_NAME_MAX = 32 };

/* A name for a message: printable and short. */
static void
show(const char *name, char out[SHOWN_NAME_MAX])
{
    struct lbm_scan scan;
    lbm_scan_begin(&scan, NULL, name, strlen(name), NULL);
    lbm_scan_token(&scan, out, SHOWN_NAME_MAX);
}

static enum lbm_err
no_memory(const struct lbm_scan *scan)
{
    return lbm_diag_set(scan->diag, LBM_E_NOMEM, scan->name, 0, "no memory for the graph");
}

/* Out: *index [nodes] sorted, owned by the caller. */
static enum lbm_err
sort_names(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct entry **index)
{
    size_t n = doc->nodes.n;
    struct entry *sorted = lbm_alloc(n, sizeof *sorted);
    if (sorted == NULL)
        return no_memory(scan);
    for (size_t v = 0; v < n; v++)
        sorted[v] = (struct entry){doc->names.at + doc->nodes.at[v].name, (uint32_t)v};
    qsort(sorted, n, sizeof *sorted, compare_entries);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name) != 0)
            continue;
        char name[SHOWN_NAME_MAX];
        show(sorted[i].name, name);
        uint64_t line = doc->nodes.at[sorted[i].v].line;
        free(sorted);
        return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, line, "node \"%s\" is given twice", name);
    }
    *index = sorted;
    return LBM_OK;
}

static enum lbm_err
resolve(const struct lbm_graphml *doc, const struct entry *index, size_t name, uint64_t line,
        const struct lbm_scan *scan, uint32_t *v)
{
    const char *text = doc->names.at + name;
    const struct entry *found = bsearch(text, index, doc->nodes.n, sizeof *index, compare_name);
    if (found != NULL) {
        *v = found->v;
        return LBM_OK;
    }
    char shown[SHOWN_NAME_MAX];
    show(text, shown);
    return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, line, "there is no node \"%s\"", shown);
}

static enum lbm_err
tell(const struct lbm_graphml *doc, const struct lbm_graph_fault *fault, const struct lbm_scan *scan,
     uint64_t line)
{
    char u[SHOWN_NAME_MAX], v[SHOWN_NAME_MAX];
    show(doc->names.at + doc->nodes.at[fault->u].name, u);
    show(doc->names.at + doc->nodes.at[fault->v].name, v);
    return lbm_fault_tell(fault, u, v, scan->name, line, scan->diag);
}

static enum lbm_err
collect_edges(const struct lbm_graphml *doc, const struct entry *index, const struct lbm_scan *scan,
              struct lbm_edge_list *list)
{
    for (size_t e = 0; e < doc->edges.n; e++) {
        const struct lbm_graphml_edge *from = &doc->edges.at[e];
        struct lbm_edge edge = {.weight = from->weight};
        struct lbm_scan at = *scan;
        at.line = from->line;
        enum lbm_err err = resolve(doc, index, from->source, from->line, scan, &edge.u);
        if (err == LBM_OK)
            err = resolve(doc, index, from->target, from->line, scan, &edge.v);
        struct lbm_graph_fault self = {.kind = LBM_FAULT_SELF, .u = edge.u, .v = edge.v};
        if (err == LBM_OK && edge.u == edge.v)
            err = tell(doc, &self, scan, from->line);
        if (err == LBM_OK)
            err = lbm_edge_list_add(list, &at, edge);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}

/* Out: *g has its rows. */
static enum lbm_err
build_rows(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *g)
{
    struct lbm_edge_list list = {0};
    struct lbm_graph_fault fault;
    struct entry *index = NULL;
    enum lbm_err err = sort_names(doc, scan, &index);
    if (err == LBM_OK)
        err = collect_edges(doc, index, scan, &list);
    free(index);
    if (err == LBM_OK) {
        err = lbm_edge_list_join(&list, (uint32_t)doc->nodes.n, LBM_MERGE_KEEP, g, &fault);
        if (err == LBM_E_SYNTAX)
            err = tell(doc, &fault, scan, lbm_edge_list_line(&list, fault.u, fault.v));
        else if (err != LBM_OK)
            err = no_memory(scan);
    }
    lbm_edge_list_free(&list);
    return err;
}

/* What the vertices have in common: all have a position or none, those pinned have a host. */
static enum lbm_err
survey(const struct lbm_graphml *doc, const struct lbm_scan *scan, int *positions, int *pins)
{
    *positions = *pins = 0;
    for (size_t v = 0; v < doc->nodes.n; v++) {
        *positions |= doc->nodes.at[v].has_x || doc->nodes.at[v].has_y;
        *pins |= doc->nodes.at[v].pinned;
    }
    for (size_t v = 0; v < doc->nodes.n; v++) {
        const struct lbm_graphml_node *node = &doc->nodes.at[v];
        char name[SHOWN_NAME_MAX];
        show(doc->names.at + node->name, name);
        if (*positions && !(node->has_x && node->has_y))
            return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, node->line,
                                "node \"%s\" has no x or no y, but others have", name);
        if (node->pinned && !node->has_host)
            return lbm_diag_set(scan->diag, LBM_E_SYNTAX, scan->name, node->line,
                                "node \"%s\" is pinned, but names no host", name);
    }
    return LBM_OK;
}

static enum lbm_err
fill_vertices(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *g)
{
    int positions, pins;
    enum lbm_err err = survey(doc, scan, &positions, &pins);
    if (err != LBM_OK)
        return err;
    g->work = lbm_alloc(g->n, sizeof *g->work);
    g->position = positions ? lbm_alloc(2 * (size_t)g->n, sizeof *g->position) : NULL;
    g->pin = pins ? lbm_alloc(g->n, sizeof *g->pin) : NULL;
    if (g->work == NULL || (positions && g->position == NULL) || (pins && g->pin == NULL))
        return no_memory(scan);
    for (size_t v = 0; v < g->n; v++) {
        const struct lbm_graphml_node *node = &doc->nodes.at[v];
        g->work[v] = node->work;
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
lbm_graphml_build(const struct lbm_graphml *doc, const struct lbm_scan *scan, struct lbm_graph *out)
{
    struct lbm_graph g = {0};
    enum lbm_err err = build_rows(doc, scan, &g);
    if (err == LBM_OK)
        err = fill_vertices(doc, scan, &g);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}

void
lbm_graphml_free(struct lbm_graphml *doc)
{
    lbm_buf_free(&doc->names);
    lbm_vec_free(&doc->nodes);
    lbm_vec_free(&doc->edges);
}
