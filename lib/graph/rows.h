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

/* ---- every edge on both sides --------------------------------------------------------------------- */

struct lbm_rows {
    struct lbm_graph g;  /* offset is set up to the row being filled */
    uint32_t *line;      /* [n] where each row began, for messages */
    uint64_t directions; /* as the header says; room for so many */
    uint64_t used;
    uint32_t row;  /* being filled */
    uint32_t id;   /* the vertex it is of; differs from row only if a text orders rows freely */
    uint32_t base; /* number of the first vertex in the text */
    int sorted;    /* neighbours of this row ascended so far */
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

/* Add neighbour u, counted from 0 and < n, to the present row.
 * Errors: LBM_E_SYNTAX (self-loop, more than the header says), told in scan->diag. */
static inline enum lbm_err
lbm_rows_add(struct lbm_rows *rows, const struct lbm_scan *scan, uint32_t u, uint32_t weight)
{
    uint64_t k = rows->used;
    if (u == rows->id || k == rows->directions)
        return lbm_rows_refuse(rows, scan, u);
    rows->g.target[k] = u;
    if (rows->g.weight != NULL)
        rows->g.weight[k] = weight;
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

/* ---- every edge once ------------------------------------------------------------------------------ */

struct lbm_edge_list {
    LBM_VEC(struct lbm_edge) edges;
    LBM_VEC(uint32_t) lines; /* of each edge, for messages; 0 beyond 2^32 - 1 */
};

/* Add the edge found on the scanner's line; u == v is refused. */
enum lbm_err lbm_edge_list_add(struct lbm_edge_list *list, const struct lbm_scan *scan,
                               struct lbm_edge edge) LBM_MUST_CHECK;

/* Build the graph. Copies in the same direction are refused, opposite ones are merged by `merge`.
 * Errors: LBM_E_SYNTAX and *fault, not told; LBM_E_NOMEM. */
enum lbm_err lbm_edge_list_join(const struct lbm_edge_list *list, uint32_t n, enum lbm_merge merge,
                                struct lbm_graph *out, struct lbm_graph_fault *fault) LBM_MUST_CHECK;

/* The same, telling what is wrong with the line it is on. base: number of the first vertex in the text. */
enum lbm_err lbm_edge_list_build(const struct lbm_edge_list *list, uint32_t n, enum lbm_merge merge,
                                 uint32_t base, const struct lbm_scan *scan,
                                 struct lbm_graph *out) LBM_MUST_CHECK;

/* Refuse n vertices if the text of len bytes is too short to mean them. Errors: LBM_E_LIMIT, told. */
enum lbm_err lbm_edge_list_bound(uint64_t n, size_t len, const struct lbm_scan *scan) LBM_MUST_CHECK;

/* Line of the last edge between u and v, 0 if there is none. */
uint64_t lbm_edge_list_line(const struct lbm_edge_list *list, uint32_t u, uint32_t v);

void lbm_edge_list_free(struct lbm_edge_list *list);

#endif
