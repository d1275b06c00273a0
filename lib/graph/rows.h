/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows under construction: what builder and readers share.
 *
 * Owns: the order of a row, the symmetry of rows, rows filled from a text that gives every edge on both
 * sides (METIS, Scotch), edges collected from a text that gives each once (the other formats).
 * Never: allocates more than the text it reads from can justify. */
#ifndef LBM_GRAPH_ROWS_H
#define LBM_GRAPH_ROWS_H

#include "base/mem.h"
#include "graph/fault.h"
#include "graph/reading.h"
#include "graph/scan.h"

/* Vertices that a text may number beyond those it has a byte for. Together with the length of the text it
 * bounds what "0 999999999" makes us allocate: 8 bytes for each vertex. */
enum { LBM_IDLE_VERTICES_MAX = 65536 };

/* Sort a row by target; weight goes along and may be NULL. In place, O(len log len) at worst. */
void lbm_row_sort(uint32_t *target, uint32_t *weight, size_t len);

/* Check that rows agree with each other.
 * In:      rows sorted, without duplicates, targets < n.
 * Errors:  LBM_E_SYNTAX and *fault: ONE_SIDED or UNEQUAL; LBM_E_NOMEM.
 * Cost:    O(n + m), 4 bytes a vertex while it runs. */
enum lbm_err lbm_rows_symmetric(const struct lbm_graph *g, struct lbm_graph_fault *fault) LBM_MUST_CHECK;

/* Leave out weights that are all 1, and give back what rows do not use of `allocated` directions. */
void lbm_rows_trim(struct lbm_graph *g, uint64_t allocated);

/* Like lbm_graph_build for edges already known to be in range, with the fault apart from its text.
 * Errors: LBM_E_SYNTAX and *fault: DUPLICATE, UNEQUAL or HEAVY; LBM_E_NOMEM. */
enum lbm_err lbm_edges_build(uint32_t n, const struct lbm_edge *edges, size_t m, enum lbm_merge merge,
                             struct lbm_graph *out, struct lbm_graph_fault *fault) LBM_MUST_CHECK;

/* Check that no edge is given twice in the same direction; u to v and v to u may both be there.
 * Errors: LBM_E_SYNTAX and *fault DUPLICATE; LBM_E_NOMEM. */
enum lbm_err lbm_edges_distinct(uint32_t n, const struct lbm_edge *edges, size_t m,
                                struct lbm_graph_fault *fault) LBM_MUST_CHECK;

/* ---- edges in any order ---------------------------------------------------------------------------- */

struct lbm_edge_list {
    LBM_VEC(struct lbm_edge) edges; /* weight is not set if the reading collects */
    LBM_VEC(uint32_t) lines;        /* of each edge, for messages; 0 beyond 2^32 - 1 */
    LBM_VEC(double) reals;          /* weights as they stand, if the reading collects */
    uint64_t loops;                 /* self-loops that were dropped */
    struct lbm_labels labels;       /* of the vertices, for messages; borrowed */
};

/* Add the edge found on the scanner's line. A self-loop is dropped if the reading sums, else refused.
 * Errors: LBM_E_SYNTAX, LBM_E_NOMEM; told. */
enum lbm_err lbm_edge_list_add(struct lbm_edge_list *list, const struct lbm_scan *scan, uint32_t u,
                               uint32_t v, double weight) LBM_MUST_CHECK;

/* What the two directions of an edge are to each other: see enum lbm_merge; or both must be there, equal. */
enum lbm_directions {
    LBM_DIRECTIONS_ADD,   /* weights add up */
    LBM_DIRECTIONS_EQUAL, /* one or both; equal, if both */
    LBM_DIRECTIONS_ONE,   /* one alone */
    LBM_DIRECTIONS_BOTH   /* both, equal; only in a reading that collects */
};

/* Build the graph of n vertices, with weights as the reading wants them. Copies in the same direction are
 * refused unless it sums.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_NOMEM; told with the line of the edge. */
enum lbm_err lbm_edge_list_build(const struct lbm_edge_list *list, uint32_t n, enum lbm_directions directions,
                                 const struct lbm_scan *scan, struct lbm_graph *out) LBM_MUST_CHECK;

/* The same for a reading that collects (collect.c). */
enum lbm_err lbm_edge_list_collect(const struct lbm_edge_list *list, uint32_t n,
                                   enum lbm_directions directions, const struct lbm_scan *scan,
                                   struct lbm_graph *out) LBM_MUST_CHECK;

/* Vertex weights as integers, in a reading that collects.
 * In: work [n], finite, >= 0.  Out: *out owned by the caller. Errors: LBM_E_RANGE, LBM_E_NOMEM; told. */
enum lbm_err lbm_work_collect(const double *work, uint32_t n, const struct lbm_labels *labels,
                              const struct lbm_scan *scan, uint32_t **out) LBM_MUST_CHECK;

/* Refuse n vertices if the text of len bytes is too short to mean them. Errors: LBM_E_LIMIT, told. */
enum lbm_err lbm_edge_list_bound(uint64_t n, size_t len, const struct lbm_scan *scan) LBM_MUST_CHECK;

void lbm_edge_list_free(struct lbm_edge_list *list);

/* ---- every edge on both sides --------------------------------------------------------------------- */

struct lbm_rows {
    struct lbm_graph g;  /* offset is set up to the row being filled */
    uint32_t *line;      /* [n] where each row began, for messages */
    uint64_t directions; /* as the header says; room for that many */
    uint64_t used;
    uint32_t row;  /* being filled */
    uint32_t id;   /* the vertex it is of; differs from row only if a text orders rows freely */
    uint32_t base; /* number of the first vertex in the text */
    int sorted;    /* neighbours of this row ascended so far */
    /* If the reading collects, rows go here as they come, and the arrays of g stay empty. */
    int collects, has_work, has_weight;
    struct lbm_edge_list list;
    double *work; /* [n] */
};

/* What a header promises. */
struct lbm_rows_header {
    uint64_t n;
    uint64_t directions;
    uint32_t base;
    int has_work;
    int has_weight;
};

/* Make room for the graph that a header announces, if the rest of the text is long enough to hold it.
 * Errors: LBM_E_SYNTAX (the text is too short for it), LBM_E_NOMEM; told in scan->diag. */
enum lbm_err lbm_rows_open(struct lbm_rows *rows, const struct lbm_rows_header *header,
                           struct lbm_scan *scan) LBM_MUST_CHECK;

/* Begin the next row, of vertex id < n. */
void lbm_rows_begin(struct lbm_rows *rows, const struct lbm_scan *scan, uint32_t id);

enum lbm_err lbm_rows_refuse(const struct lbm_rows *rows, const struct lbm_scan *scan, uint32_t u);

/* Set the weight of the present row's vertex; only if the header announced weights. */
static inline void
lbm_rows_set_work(struct lbm_rows *rows, double work)
{
    if (rows->collects)
        rows->work[rows->id] = work;
    else
        rows->g.work[rows->row] = (uint32_t)work;
}

/* Add neighbour u, counted from 0 and < n, to the present row.
 * Errors: LBM_E_SYNTAX (self-loop, more than the header says), told in scan->diag. */
static inline enum lbm_err
lbm_rows_add(struct lbm_rows *rows, const struct lbm_scan *scan, uint32_t u, double weight)
{
    uint64_t k = rows->used;
    if (rows->collects) {
        rows->used++;
        return lbm_edge_list_add(&rows->list, scan, rows->id, u, weight);
    }
    if (u == rows->id || k == rows->directions)
        return lbm_rows_refuse(rows, scan, u);
    rows->g.target[k] = u;
    if (rows->g.weight != NULL)
        rows->g.weight[k] = (uint32_t)weight;
    rows->sorted &= k == rows->g.offset[rows->row] || u > rows->g.target[k - 1];
    rows->used = k + 1;
    return LBM_OK;
}

/* End the present row. Errors: LBM_E_SYNTAX (duplicate), told in scan->diag. */
enum lbm_err lbm_rows_end(struct lbm_rows *rows, const struct lbm_scan *scan) LBM_MUST_CHECK;

/* Bring rows that came in another order into the order of their vertices.
 * In: row_of [n] row of each vertex, a permutation.  Errors: LBM_E_NOMEM, told in scan->diag. */
enum lbm_err lbm_rows_order(struct lbm_rows *rows, const uint32_t *row_of,
                            const struct lbm_scan *scan) LBM_MUST_CHECK;

/* All rows are there and in order of their vertices: check them against each other and the header. Out: *out
 * owned by the caller. Errors: LBM_E_SYNTAX, LBM_E_NOMEM, told in scan->diag. */
enum lbm_err lbm_rows_close(struct lbm_rows *rows, const struct lbm_scan *scan,
                            struct lbm_graph *out) LBM_MUST_CHECK;

void lbm_rows_free(struct lbm_rows *rows); /* harmless after close */

#endif
