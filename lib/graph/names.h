/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of vertices while a text is read.
 *
 * Owns: the list of names, the look-up of a vertex by its name, and what may be a name at all. */
#ifndef LBM_GRAPH_NAMES_H
#define LBM_GRAPH_NAMES_H

#include "base/mem.h"
#include "graph/rows.h"

struct lbm_names {
    LBM_VEC(size_t) at; /* where each name begins in text */
    struct lbm_buf text;
};

/* Append a name. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_names_add(struct lbm_names *names, const char *name, size_t len) LBM_MUST_CHECK;

/* The labels that messages show. */
struct lbm_labels lbm_names_labels(const struct lbm_names *names);

/* Names sorted for look-up. A hash table would be faster and open to names made to collide. */
struct lbm_name_entry {
    const char *name;
    uint32_t v;
};

/* Sort the names; equal ones stand in the order of their vertices. Out: owned by the caller; NULL if memory
 * is short. */
struct lbm_name_entry *lbm_names_sort(const struct lbm_names *names);

/* The vertex of that name, the first one if several have it; LBM_NONE if there is none. */
uint32_t lbm_names_find(const struct lbm_name_entry *sorted, size_t n, const char *name);

/* Move the names to the graph that was read. They stay behind, with a remark where it is a loss, if they are
 * the numbers from 0 in order, if two are equal, or if one is empty, too long or no UTF-8 without control
 * characters. In: as many names as the graph has vertices.  Errors: LBM_E_NOMEM, told. */
enum lbm_err lbm_names_give(struct lbm_names *names, const struct lbm_scan *scan,
                            struct lbm_graph *g) LBM_MUST_CHECK;

void lbm_names_free(struct lbm_names *names);

#endif
