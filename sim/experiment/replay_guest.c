/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest of a trace at some time: edges that come and go. */
#include <stdlib.h>

#include "sim/experiment/replay.h"

typedef LBM_VEC(struct lbm_edge) edge_list;

/* Of all that is ever there; vertices that are not there yet weigh nothing and have no edges. */
enum lbm_err
replay_guest_make(const struct lbm_trace *trace, struct lbm_graph *out)
{
    const struct lbm_graph *g = &trace->g;
    struct lbm_diag diag;
    edge_list edges = {0};
    enum lbm_err err = LBM_OK;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; err == LBM_OK && e < g->offset[v + 1]; e++) {
            const struct lbm_edge edge = {v, g->target[e], lbm_graph_weight(g, e)};
            if (edge.u < edge.v)
                err = lbm_vec_push(&edges, edge);
        }
    if (err == LBM_OK)
        err = lbm_graph_build(trace->n, edges.at, edges.n, LBM_MERGE_REJECT, out, &diag);
    lbm_vec_free(&edges);
    if (err != LBM_OK)
        return err;
    out->work = lbm_alloc(trace->n, sizeof *out->work);
    if (out->work == NULL) {
        lbm_graph_free(out);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < g->n; v++)
        out->work[v] = lbm_graph_work(g, v);
    return LBM_OK;
}

/* An edge that a step changes. */
struct change {
    struct lbm_edge edge; /* u < v */
    size_t order;
};

static int
by_ends(const void *a, const void *b)
{
    const struct lbm_edge *x = a, *y = b; /* of a change the edge comes first */
    if (x->u != y->u)
        return x->u < y->u ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

static int
by_ends_and_order(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    int ends = by_ends(&x->edge, &y->edge);
    return ends != 0 ? ends : (x->order > y->order) - (x->order < y->order);
}

typedef LBM_VEC(struct change) change_list;

/* What the step says last of each edge, by their ends. */
static enum lbm_err
find_changes(const struct lbm_trace *trace, const struct lbm_trace_step *step, change_list *changes)
{
    for (size_t i = step->first; i < step->first + step->n; i++) {
        const struct lbm_trace_event *event = &trace->events.at[i];
        uint32_t low = event->a < event->b ? event->a : event->b;
        struct change change = {{low, event->a ^ event->b ^ low, event->c}, i};
        if (event->kind == LBM_TRACE_EDGE && lbm_vec_push(changes, change) != LBM_OK)
            return LBM_E_NOMEM;
    }
    if (changes->n > 1)
        qsort(changes->at, changes->n, sizeof *changes->at, by_ends_and_order);
    size_t kept = 0;
    for (size_t i = 0; i < changes->n; i++)
        if (i + 1 == changes->n || by_ends(&changes->at[i].edge, &changes->at[i + 1].edge) != 0)
            changes->at[kept++] = changes->at[i];
    changes->n = kept;
    return LBM_OK;
}

static int
changes_edges(const struct lbm_trace *trace, const struct lbm_trace_step *step)
{
    for (size_t i = step->first; i < step->first + step->n; i++)
        if (trace->events.at[i].kind == LBM_TRACE_EDGE || trace->events.at[i].kind == LBM_TRACE_REMOVE)
            return 1;
    return 0;
}

/* An edge ends with either of its vertices. */
static enum lbm_err
keep(const struct lbm_graph *g, const struct lbm_edge *edge, edge_list *edges)
{
    int is_there = edge->weight != 0 && g->work[edge->u] != 0 && g->work[edge->v] != 0;
    return is_there ? lbm_vec_push(edges, *edge) : LBM_OK;
}

static enum lbm_err
rebuild(struct replay_state *state, const change_list *changes, edge_list *edges)
{
    struct lbm_graph *g = &state->g, built;
    struct lbm_diag diag;
    enum lbm_err err = LBM_OK;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->offset[v]; err == LBM_OK && e < g->offset[v + 1]; e++) {
            const struct lbm_edge edge = {v, g->target[e], lbm_graph_weight(g, e)};
            int is_old = changes->n == 0 ||
                         bsearch(&edge, changes->at, changes->n, sizeof *changes->at, by_ends) == NULL;
            if (edge.u < edge.v && is_old)
                err = keep(g, &edge, edges);
        }
    for (size_t i = 0; err == LBM_OK && i < changes->n; i++)
        err = keep(g, &changes->at[i].edge, edges);
    if (err == LBM_OK)
        err = lbm_graph_build(g->n, edges->at, edges->n, LBM_MERGE_REJECT, &built, &diag);
    if (err != LBM_OK)
        return err;
    built.work = g->work;
    g->work = NULL;
    lbm_graph_free(g);
    *g = built;
    state->is_known = 0;
    return LBM_OK;
}

enum lbm_err
replay_state_edges(struct replay_state *state, const struct lbm_trace_step *step)
{
    change_list changes = {0};
    edge_list edges = {0};
    if (!changes_edges(state->trace, step))
        return LBM_OK;
    enum lbm_err err = find_changes(state->trace, step, &changes);
    if (err == LBM_OK)
        err = rebuild(state, &changes, &edges);
    lbm_vec_free(&changes);
    lbm_vec_free(&edges);
    return err;
}
