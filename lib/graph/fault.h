/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be wrong with edges, found once and told in the words of whoever reads them: the validator
 * counts vertices from 0, a METIS file from 1, GraphML has names.
 *
 * Owns: the kinds of fault and their texts. */
#ifndef LBM_GRAPH_FAULT_H
#define LBM_GRAPH_FAULT_H

#include "graph/graph.h"

enum lbm_fault {
    LBM_FAULT_SELF,      /* u is its own neighbour */
    LBM_FAULT_DUPLICATE, /* the edge from u to v is there twice */
    LBM_FAULT_ONE_SIDED, /* u lists v, v does not list u */
    LBM_FAULT_UNEQUAL,   /* u's row says weight_u, v's row weight_v */
    LBM_FAULT_HEAVY      /* the copies of an edge add up to more than LBM_WEIGHT_MAX */
};

struct lbm_graph_fault {
    enum lbm_fault kind;
    uint32_t u, v;
    double weight_u, weight_v;
};

/* Tell a fault, with the vertices by name. Returns LBM_E_SYNTAX (HEAVY: LBM_E_RANGE). */
enum lbm_err lbm_fault_tell(const struct lbm_graph_fault *fault, const char *u, const char *v,
                            const char *where, uint64_t line, struct lbm_diag *diag);

/* What vertices are called in a text: by names, or by numbers from base on. */
struct lbm_labels {
    uint32_t base;
    const size_t *name; /* [n] where each name begins in name_text; NULL: numbers */
    const char *name_text;
};

enum { LBM_LABEL_BYTES = 32 };

/* The label of v for a message: printable and short. */
void lbm_label_show(const struct lbm_labels *labels, uint32_t v, char out[LBM_LABEL_BYTES]);

/* Refuse a text for a fault on the given line, with the vertices by label and, where the reading knows one,
 * the option that helps. Returns as above. */
struct lbm_scan;
enum lbm_err lbm_fault_refuse(const struct lbm_graph_fault *fault, const struct lbm_labels *labels,
                              const struct lbm_scan *scan, uint64_t line);

/* The same with numbers, the first vertex being `base`. */
enum lbm_err lbm_fault_tell_ids(const struct lbm_graph_fault *fault, uint32_t base, const char *where,
                                uint64_t line, struct lbm_diag *diag);

#endif
