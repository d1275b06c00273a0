/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest graph: compressed sparse rows, symmetric, immutable once built.
 *
 * Owns: the representation, the builder and the validator. Readers, writers and generators are in
 * read.h, write.h and generate.h.  Never: performs I/O. */
#ifndef LBM_GRAPH_GRAPH_H
#define LBM_GRAPH_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

/* A guest graph, or a patch of one. In a whole graph every target is < n and each edge is stored in both
 * directions with one weight. A patch (the vertices a host owns) has n rows too, but targets may be
 * >= n: they name ghosts, which have no row. Kernels take both. Neighbours are sorted by id. */
struct lbm_graph {
    uint32_t n;       /* vertices (rows) */
    uint64_t *offset; /* [n + 1]; row v is target[offset[v] .. offset[v + 1]) */
    uint32_t *target; /* [offset[n]] */
    uint32_t *weight; /* [offset[n]] bandwidth c_ij >= 1, or NULL: all 1 */
    uint32_t *work;   /* [n] vertex weight w_i in work units, 1 .. LBM_WEIGHT_MAX, or NULL: all 1 */
    double *position; /* [2n] x, y as the input gives them, or NULL */
    uint32_t *pin;    /* [n] host the vertex must stay on, or LBM_NONE; NULL: nothing is pinned */
    size_t *name;     /* [n] where in name_text the name of each vertex begins; NULL: numbers are the names */
    char *name_text;  /* terminated names, distinct, UTF-8 without control characters */
};

static inline uint32_t
lbm_graph_work(const struct lbm_graph *g, uint32_t v)
{
    return g->work != NULL ? g->work[v] : 1;
}

static inline uint32_t
lbm_graph_weight(const struct lbm_graph *g, uint64_t direction)
{
    return g->weight != NULL ? g->weight[direction] : 1;
}

static inline uint64_t
lbm_graph_directions(const struct lbm_graph *g)
{
    return g->offset[g->n];
}

/* Name of a vertex as the input gives it, or NULL if vertices have only their numbers. */
static inline const char *
lbm_graph_name(const struct lbm_graph *g, uint32_t v)
{
    return g->name != NULL ? g->name_text + g->name[v] : NULL;
}

/* Sum of all vertex weights W, work units. */
uint64_t lbm_graph_total_work(const struct lbm_graph *g);
uint32_t lbm_graph_max_work(const struct lbm_graph *g);

/* Release the arrays and zero the struct. */
void lbm_graph_free(struct lbm_graph *g);

/* One undirected edge, for the builder. */
struct lbm_edge {
    uint32_t u, v;
    uint32_t weight;
};

/* Build a graph from undirected edges in any order, each given once or in both directions.
 * In:      n vertices; edges [m], each u != v < n, weight >= 1.
 * merge:   what a second edge between the same two vertices does, in either direction: sum (weights add),
 *          keep (equal copies collapse; unequal are an error), reject.
 * Out:     *out owned by the caller; weight is NULL if all are 1; work, position and pin are NULL and may be
 *          set by the caller.
 * Errors:  LBM_E_RANGE (also a sum above LBM_WEIGHT_MAX), LBM_E_SYNTAX (duplicate), LBM_E_NOMEM; *out
 *          untouched.
 * Cost:    O(n + m log of the largest degree). */
enum lbm_merge { LBM_MERGE_SUM, LBM_MERGE_KEEP, LBM_MERGE_REJECT };
enum lbm_err lbm_graph_build(uint32_t n, const struct lbm_edge *edges, size_t m, enum lbm_merge merge,
                             struct lbm_graph *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Full validation of a whole graph, wherever it came from: offsets monotone, targets in range and
 * sorted, no self-loop, no duplicate, every edge in both directions with equal weight, weights in range,
 * positions finite.  Errors: LBM_E_SYNTAX or LBM_E_RANGE naming the vertices.  Cost: O(n + m). */
enum lbm_err lbm_graph_check(const struct lbm_graph *g, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Label connected components 0..k-1 in order of their smallest vertex; returns k.
 * Out: component [n].  Errors: 0 if memory is short and n > 0. */
uint32_t lbm_graph_components(const struct lbm_graph *g, uint32_t *component);

#endif
