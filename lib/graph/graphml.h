/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GraphML document between its XML (read_graphml.c), its data (graphml_data.c) and the graph
 * (graphml_build.c): vertices have names, edges are pairs of names, and an edge may come before its ends. */
#ifndef LBM_GRAPH_GRAPHML_H
#define LBM_GRAPH_GRAPHML_H

#include "base/mem.h"
#include "graph/names.h"

struct lbm_graphml_node {
    double x, y, work;
    uint64_t line;
    uint32_t host;
    uint8_t has_x, has_y, has_host, pinned;
};

struct lbm_graphml_edge {
    size_t source, target; /* offsets in ends */
    uint64_t line;
    double weight;
};

enum {
    LBM_GRAPHML_KEYS_MAX = 256, /* a data element looks for its key among them one by one */
    LBM_GRAPHML_TEXT_MAX = 64   /* a number with all its digits; ids of keys */
};

struct lbm_graphml;

/* Set something of the last node or edge from a text, which the scanner stands at the beginning of.
 * Errors: told in text->diag. */
typedef enum lbm_err lbm_graphml_setter(struct lbm_graphml *doc, struct lbm_scan *text);

/* What data of one key mean; NULL: nothing to us. */
struct lbm_graphml_key {
    char id[LBM_GRAPHML_TEXT_MAX];
    char name[LBM_GRAPHML_TEXT_MAX]; /* attr.name, cut to fit */
    uint8_t for_node, for_edge;
    uint8_t is_numeric;   /* its type is a number */
    uint8_t is_misplaced; /* data of a node or edge for which it is not declared were found, and told */
    lbm_graphml_setter *node, *edge;
    char preset[LBM_GRAPHML_TEXT_MAX]; /* the text of <default>; empty: none */
};

struct lbm_graphml {
    struct lbm_graphml_key keys[LBM_GRAPHML_KEYS_MAX];
    unsigned n_keys;
    unsigned n_undeclared;                 /* data whose key is unknown */
    char undeclared[LBM_GRAPHML_TEXT_MAX]; /* the first such key */
    struct lbm_names names;                /* of the nodes */
    struct lbm_buf ends; /* names of the ends of edges: terminated strings, one after the other */
    LBM_VEC(struct lbm_graphml_node) nodes;
    LBM_VEC(struct lbm_graphml_edge) edges;
};

/* The attributes of a key element, each NULL if it is not there. */
struct lbm_graphml_declaration {
    const char *id, *domain, *name, *type;
};

/* Add a key. One id may be that of a key for nodes and of one for edges.
 * Errors: LBM_E_LIMIT, LBM_E_SYNTAX; told at scan's line. */
enum lbm_err lbm_graphml_add_key(struct lbm_graphml *doc, const struct lbm_scan *scan,
                                 const struct lbm_graphml_declaration *key) LBM_MUST_CHECK;

/* What data with this key of a node, or else of an edge, set: NULL if nothing. What is lost is remarked at
 * the end. */
lbm_graphml_setter *lbm_graphml_setter_of(struct lbm_graphml *doc, const char *id, int node);

/* Remark which data were not read and might have been meant. */
void lbm_graphml_remark(const struct lbm_graphml *doc, struct lbm_reading *reading);

/* Give a text to the last node or edge. Errors: told at scan's line. */
enum lbm_err lbm_graphml_apply(struct lbm_graphml *doc, const struct lbm_scan *scan, lbm_graphml_setter *set,
                               const char *text, size_t len) LBM_MUST_CHECK;

/* Give the defaults of all keys to the last node, or else to the last edge. */
enum lbm_err lbm_graphml_apply_defaults(struct lbm_graphml *doc, const struct lbm_scan *scan,
                                        int node) LBM_MUST_CHECK;

/* Resolve the names and build the graph; vertices are numbered in the order of the nodes. Names go to the
 * graph. Errors: told in scan->diag (its line is not used). */
enum lbm_err lbm_graphml_build(struct lbm_graphml *doc, const struct lbm_scan *scan,
                               struct lbm_graph *out) LBM_MUST_CHECK;

void lbm_graphml_free(struct lbm_graphml *doc);

#endif
