/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The builder: edges in any order become sorted rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "graph/rows.h"

enum { INSERTION_MAX = 24 }; /* rows of meshes are shorter; above, heap sort is never quadratic */

static void
row_swap(uint32_t *target, uint32_t *weight, size_t i, size_t j)
{
    uint32_t t = target[i];
    target[i] = target[j];
    target[j] = t;
    if (weight != NULL) {
        uint32_t w = weight[i];
        weight[i] = weight[j];
        weight[j] = w;
    }
}

static void
row_sift(uint32_t *target, uint32_t *weight, size_t root, size_t len)
{
    for (size_t child = 2 * root + 1; child < len; child = 2 * root + 1) {
        if (child + 1 < len && target[child + 1] > target[child])
            child++;
        if (target[root] >= target[child])
            return;
        row_swap(target, weight, root, child);
        root = child;
    }
}

void
lbm_row_sort(uint32_t *target, uint32_t *weight, size_t len)
{
    if (len <= INSERTION_MAX) {
        for (size_t i = 1; i < len; i++)
            for (size_t j = i; j > 0 && target[j - 1] > target[j]; j--)
                row_swap(target, weight, j - 1, j);
        return;
    }
    for (size_t i = len / 2; i-- > 0;)
        row_sift(target, weight, i, len);
    for (size_t end = len - 1; end > 0; end--) {
        row_swap(target, weight, 0, end);
        row_sift(target, weight, 0, end);
    }
}

/* Which directions of the edges become rows. */
enum sides { GIVEN_SIDE, BOTH_SIDES };

/* Scatter edges into unsorted rows. In: g->target has room, g->weight too or is NULL. Out: g->offset set. */
static void
scatter(struct lbm_graph *g, const struct lbm_edge *edges, size_t m, enum sides sides)
{
    uint64_t *next =
        g->offset + 1; /* next[v] runs from the start of row v to its end, which is offset[v + 1] */
    for (size_t e = 0; e < m; e++) {
        next[edges[e].u]++;
        if (sides == BOTH_SIDES)
            next[edges[e].v]++;
    }
    uint64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t degree = next[v];
        next[v] = sum;
        sum += degree;
    }
    for (size_t e = 0; e < m; e++) {
        uint64_t there = next[edges[e].u]++;
        g->target[there] = edges[e].v;
        if (g->weight != NULL)
            g->weight[there] = edges[e].weight;
        if (sides == GIVEN_SIDE)
            continue;
        uint64_t back = next[edges[e].v]++;
        g->target[back] = edges[e].u;
        if (g->weight != NULL)
            g->weight[back] = edges[e].weight;
    }
}

static void
sort_rows(struct lbm_graph *g)
{
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t begin = g->offset[v];
        lbm_row_sort(g->target + begin, g->weight != NULL ? g->weight + begin : NULL,
                     g->offset[v + 1] - begin);
    }
}

/* Add a copy of an edge of row v to the entry `into` that has the same target. */
static enum lbm_err
merge_copy(struct lbm_graph *g, uint32_t v, uint64_t into, uint64_t copy, enum lbm_merge merge,
           struct lbm_graph_fault *fault)
{
    uint32_t a = lbm_graph_weight(g, into), b = lbm_graph_weight(g, copy);
    *fault = (struct lbm_graph_fault){LBM_FAULT_DUPLICATE, v, g->target[into], a, b};
    if (merge == LBM_MERGE_REJECT)
        return LBM_E_SYNTAX;
    if (merge == LBM_MERGE_KEEP) {
        fault->kind = LBM_FAULT_UNEQUAL;
        return a == b ? LBM_OK : LBM_E_SYNTAX;
    }
    fault->kind = LBM_FAULT_HEAVY;
    if (b > LBM_WEIGHT_MAX - a)
        return LBM_E_SYNTAX;
    g->weight[into] = a + b;
    return LBM_OK;
}

/* Merge equal neighbours of sorted rows, closing the gaps. */
static enum lbm_err
merge_rows(struct lbm_graph *g, enum lbm_merge merge, struct lbm_graph_fault *fault)
{
    uint64_t write = 0, begin = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t end = g->offset[v + 1], row = write;
        for (uint64_t k = begin; k < end; k++) {
            if (write > row && g->target[write - 1] == g->target[k]) {
                enum lbm_err err = merge_copy(g, v, write - 1, k, merge, fault);
                if (err != LBM_OK)
                    return err;
                continue;
            }
            g->target[write] = g->target[k];
            if (g->weight != NULL)
                g->weight[write] = g->weight[k];
            write++;
        }
        begin = end;
        g->offset[v + 1] = write;
    }
    return LBM_OK;
}

static int
all_one(const struct lbm_edge *edges, size_t m)
{
    for (size_t e = 0; e < m; e++)
        if (edges[e].weight != 1)
            return 0;
    return 1;
}

/* Free an array of n ones and return NULL; return any other array as it is. */
static uint32_t *
without_ones(uint32_t *array, uint64_t n)
{
    if (array == NULL)
        return NULL;
    for (uint64_t i = 0; i < n; i++)
        if (array[i] != 1)
            return array;
    free(array);
    return NULL;
}

void
lbm_rows_trim(struct lbm_graph *g, uint64_t allocated)
{
    uint64_t directions = lbm_graph_directions(g);
    g->weight = without_ones(g->weight, directions);
    g->work = without_ones(g->work, g->n);
    if (directions == allocated)
        return;
    size_t size = (directions != 0 ? directions : 1) * sizeof *g->target;
    void *smaller = realloc(g->target, size); /* if it fails, the larger block serves as well */
    g->target = smaller != NULL ? smaller : g->target;
    if (g->weight != NULL) {
        smaller = realloc(g->weight, size);
        g->weight = smaller != NULL ? smaller : g->weight;
    }
}

enum lbm_err
lbm_edges_build(uint32_t n, const struct lbm_edge *edges, size_t m, enum lbm_merge merge,
                struct lbm_graph *out, struct lbm_graph_fault *fault)
{
    LBM_ASSERT(m <= SIZE_MAX / 2);
    struct lbm_graph g = {.n = n};
    int weighted = merge == LBM_MERGE_SUM || !all_one(edges, m);
    g.offset = lbm_alloc((size_t)n + 1, sizeof *g.offset);
    g.target = lbm_alloc(2 * m, sizeof *g.target);
    g.weight = weighted ? lbm_alloc(2 * m, sizeof *g.weight) : NULL;
    enum lbm_err err = LBM_E_NOMEM;
    if (g.offset != NULL && g.target != NULL && (g.weight != NULL || !weighted)) {
        scatter(&g, edges, m, BOTH_SIDES);
        sort_rows(&g);
        err = merge_rows(&g, merge, fault);
    }
    if (err != LBM_OK) {
        lbm_graph_free(&g);
        return err;
    }
    lbm_rows_trim(&g, 2 * m);
    *out = g;
    return LBM_OK;
}

enum lbm_err
lbm_edges_distinct(uint32_t n, const struct lbm_edge *edges, size_t m, struct lbm_graph_fault *fault)
{
    struct lbm_graph rows = {.n = n};
    rows.offset = lbm_alloc((size_t)n + 1, sizeof *rows.offset);
    rows.target = lbm_alloc(m, sizeof *rows.target);
    enum lbm_err err = LBM_E_NOMEM;
    if (rows.offset != NULL && rows.target != NULL) {
        scatter(&rows, edges, m, GIVEN_SIDE);
        sort_rows(&rows);
        err = merge_rows(&rows, LBM_MERGE_REJECT, fault);
    }
    lbm_graph_free(&rows);
    return err;
}

enum lbm_err
lbm_graph_build(uint32_t n, const struct lbm_edge *edges, size_t m, enum lbm_merge merge,
                struct lbm_graph *out, struct lbm_diag *diag)
{
    if (n > LBM_VERTICES_MAX || m > LBM_EDGE_DIRECTIONS_MAX / 2)
        return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0, "%" PRIu32 " vertices and %zu edges are too many", n,
                            m);
    for (size_t e = 0; e < m; e++) {
        const struct lbm_edge *edge = &edges[e];
        if (edge->u >= n || edge->v >= n || edge->u == edge->v || edge->weight - 1 >= LBM_WEIGHT_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "edge %" PRIu32 " - %" PRIu32 " of weight %" PRIu32
                                ": ends must differ and be below %" PRIu32 ", weights from 1 to %" PRIu32,
                                edge->u, edge->v, edge->weight, n, LBM_WEIGHT_MAX);
    }
    struct lbm_graph_fault fault;
    enum lbm_err err = lbm_edges_build(n, edges, m, merge, out, &fault);
    if (err == LBM_E_SYNTAX)
        return lbm_fault_tell_ids(&fault, 0, NULL, 0, diag);
    return err != LBM_OK ? lbm_diag_set(diag, err, NULL, 0, "no memory for %zu edges", m) : LBM_OK;
}
