/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers: bytes to a validated guest graph. Every reader names file:line of what it refuses. */
#ifndef LBM_GRAPH_READ_H
#define LBM_GRAPH_READ_H

#include "graph/graph.h"
#include "graph/reading.h"

/* name, suffixes (first is the writer's), text */
#define LBM_GRAPH_FORMAT_LIST(X)                                                                             \
    X(METIS, "metis", ".graph .chaco .metis", "METIS/Chaco graph, every fmt digit, one constraint")          \
    X(SCOTCH, "scotch", ".grf .src", "Scotch source graph")                                                  \
    X(MATRIX_MARKET, "mtx", ".mtx", "Matrix Market coordinate matrix, symmetric or symmetrized")             \
    X(GRAPHML, "graphml", ".graphml .xml", "GraphML with weight, x, y, host, pinned")                        \
    X(EDGES, "edges", ".tsv .edges .edgelist .el .txt", "edge list: u v [weight] a line, numbers or names")  \
    X(MESH, "mesh", ".mesh", "METIS mesh: its dual graph")                                                   \
    X(GMSH, "gmsh", ".msh", "Gmsh mesh, ASCII 2 and 4.1: its dual graph")                                    \
    X(GML, "gml", ".gml", "GML with id, label, weight, graphics")                                            \
    X(PAJEK, "pajek", ".net .paj", "Pajek network: arcs, edges, lists, matrix")                              \
    X(DIMACS, "dimacs", ".col .gr .max .dimacs", "DIMACS graph: p edge, col, sp, max")                       \
    X(CSV, "csv", ".csv", "dense matrix of weights, with or without names")

enum lbm_graph_format {
#define LBM_GRAPH_FORMAT_ENUM(id, name, suffixes, text) LBM_FORMAT_##id,
    LBM_GRAPH_FORMAT_LIST(LBM_GRAPH_FORMAT_ENUM)
#undef LBM_GRAPH_FORMAT_ENUM
        LBM_FORMAT_COUNT
};

const char *lbm_graph_format_name(enum lbm_graph_format format);

/* Find a format by a file's suffix (a final .gz, .bz2, .xz or .zst is ignored). Returns LBM_FORMAT_COUNT if there is none. */
enum lbm_graph_format lbm_graph_format_by_path(const char *path);

/* Parse and validate. CR LF line ends are accepted.
 * In:      name for messages (the file's path); text [len], not necessarily terminated.
 * Out:     *out owned by the caller.
 * Errors:  LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_LIMIT, LBM_E_UNSUPPORTED, LBM_E_NOMEM; *out untouched and
 *          diag names file:line, what is wrong and what to do.  Memory is bounded by the length of the
 *          text, not by what its header claims. */
enum lbm_err lbm_graph_parse(enum lbm_graph_format format, const char *name, const char *text, size_t len,
                             struct lbm_graph *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* The same as a reading wants it; what it has to say is added to its remarks. reading: NULL as above. */
enum lbm_err lbm_graph_read(enum lbm_graph_format format, const char *name, const char *text, size_t len,
                            struct lbm_reading *reading, struct lbm_graph *out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* A range of the vertices of a guest. */
struct lbm_graph_part {
    uint32_t number, parts;
    uint32_t first, rows; /* vertices first .. first + rows - 1 */
    uint32_t vertices;    /* of the guest */
    uint64_t edges;
};

/* Parse what lbm_graph_write_part writes. Rows are checked each by itself: that both sides of an edge agree,
 * only all parts together show.
 * Out:     *part; *out owned by the caller, a patch whose targets are ids of the guest.
 * Errors:  as above. */
enum lbm_err lbm_graph_parse_part(const char *name, const char *text, size_t len, struct lbm_graph_part *part,
                                  struct lbm_graph *out, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
