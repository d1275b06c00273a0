/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contraction: the graph of the matched pairs, built row by row in place. */
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "embed/coarsen.h"
#include "graph/rows.h"

/* A coarse graph in the making. */
struct contraction {
    const struct lbm_graph *fine;
    const uint32_t *parent;
    struct lbm_graph coarse; /* arrays have room for all directions of the fine graph */
    uint64_t used;           /* directions so far */
    uint64_t *place;         /* [n] direction that last led to each coarse vertex */
};

static uint32_t
add_weights(uint32_t a, uint32_t b)
{
    return a < LBM_WEIGHT_MAX - b ? a + b : LBM_WEIGHT_MAX;
}

/* Add the neighbours of fine vertex v to the row of its parent, which begins at `begin`. */
static void
add_row(struct contraction *c, uint32_t v, uint64_t begin)
{
    const struct lbm_graph *fine = c->fine;
    uint32_t self = c->parent[v];
    for (uint64_t e = fine->offset[v]; e < fine->offset[v + 1]; e++) {
        uint32_t u = c->parent[fine->target[e]], w = lbm_graph_weight(fine, e);
        uint64_t known = c->place[u];
        if (u == self)
            continue;
        if (known >= begin && known < c->used && c->coarse.target[known] == u) {
            c->coarse.weight[known] = add_weights(c->coarse.weight[known], w);
        } else {
            c->coarse.target[c->used] = u;
            c->coarse.weight[c->used] = w;
            c->place[u] = c->used++;
        }
    }
}

/* Make coarse vertex parent[v] of v and its mate u (v itself if it is alone). */
static void
add_pair(struct contraction *c, uint32_t v, uint32_t u)
{
    struct lbm_graph *coarse = &c->coarse;
    uint32_t self = c->parent[v];
    uint64_t begin = c->used;
    add_row(c, v, begin);
    coarse->work[self] = lbm_graph_work(c->fine, v);
    if (u != v) {
        add_row(c, u, begin);
        coarse->work[self] = add_weights(coarse->work[self], lbm_graph_work(c->fine, u));
    }
    if (coarse->pin != NULL)
        coarse->pin[self] = c->fine->pin[v];
    lbm_row_sort(coarse->target + begin, coarse->weight + begin, c->used - begin);
    coarse->offset[self + 1] = c->used;
}

static int
open_contraction(struct contraction *c, uint32_t n)
{
    uint64_t directions = lbm_graph_directions(c->fine);
    struct lbm_graph *coarse = &c->coarse;
    coarse->n = n;
    coarse->offset = lbm_alloc((size_t)n + 1, sizeof *coarse->offset);
    coarse->target = lbm_alloc(directions, sizeof *coarse->target);
    coarse->weight = lbm_alloc(directions, sizeof *coarse->weight);
    coarse->work = lbm_alloc(n, sizeof *coarse->work);
    coarse->pin = c->fine->pin != NULL ? lbm_alloc(n, sizeof *coarse->pin) : NULL;
    c->place = lbm_alloc(n, sizeof *c->place);
    return coarse->offset != NULL && coarse->target != NULL && coarse->weight != NULL &&
           coarse->work != NULL && (c->fine->pin == NULL || coarse->pin != NULL) && c->place != NULL;
}

/* Give back what an array does not use; if that fails, it only stays longer. */
static void
trim(uint32_t **array, uint64_t used)
{
    uint32_t *shorter = reallocarray(*array, used != 0 ? used : 1, sizeof **array);
    if (shorter != NULL)
        *array = shorter;
}

enum lbm_err
lbm_matching_contract(const struct lbm_graph *g, const uint32_t *mate, const uint32_t *parent,
                      uint32_t n_coarse, struct lbm_graph *out)
{
    struct contraction c = {.fine = g, .parent = parent};
    if (!open_contraction(&c, n_coarse)) {
        free(c.place);
        lbm_graph_free(&c.coarse);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        LBM_ASSERT(mate[mate[v]] == v && parent[v] < n_coarse);
        if (mate[v] >= v) /* else it came with its mate */
            add_pair(&c, v, mate[v]);
    }
    free(c.place);
    trim(&c.coarse.target, c.used);
    trim(&c.coarse.weight, c.used);
    *out = c.coarse;
    return LBM_OK;
}
