/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/trace_guest.h"

#include <stdlib.h>

#include "graph/graph.h"

/* ---- the beginning ------------------------------------------------------------------------------------- */

static uint32_t
number_of(const struct lbm_gather *gather, uint32_t id)
{
    return id < gather->vertices.n ? gather->vertices.at[id].number : LBM_NONE;
}

enum lbm_err
lbm_trace_guest_begin(struct lbm_gather *gather, struct lbm_trace *trace, struct lbm_diag *diag)
{
    LBM_VEC(struct lbm_edge) edges = {0};
    enum lbm_err err = LBM_OK;
    uint32_t n = 0;
    for (size_t v = 0; v < gather->vertices.n; v++)
        if (gather->vertices.at[v].epoch != 0)
            gather->vertices.at[v].number = n++;
    for (uint32_t v = 0; err == LBM_OK && v < gather->vertices.n; v++) {
        const struct lbm_seen_vertex *vertex = &gather->vertices.at[v];
        for (uint32_t k = 0; err == LBM_OK && k < vertex->degree; k++) {
            struct lbm_edge edge = {vertex->number, number_of(gather, vertex->edge[k].other),
                                    vertex->edge[k].weight};
            if (edge.v != LBM_NONE && edge.u < edge.v)
                err = lbm_vec_push(&edges, edge);
        }
    }
    if (err == LBM_OK)
        err = lbm_graph_build(n, edges.at, edges.n, LBM_MERGE_REJECT, &trace->g, diag);
    else
        (void)lbm_diag_set(diag, err, "", 0, "no memory for the guest");
    lbm_vec_free(&edges);
    if (err != LBM_OK)
        return err;
    trace->n = n;
    trace->g.work = lbm_alloc(n, sizeof *trace->g.work);
    trace->g.pin = lbm_alloc(n, sizeof *trace->g.pin);
    trace->owner = lbm_alloc(n, sizeof *trace->owner);
    if (trace->g.work == NULL || trace->g.pin == NULL || trace->owner == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the guest");
    for (size_t v = 0; v < gather->vertices.n; v++) {
        const struct lbm_seen_vertex *vertex = &gather->vertices.at[v];
        if (vertex->number == LBM_NONE)
            continue;
        trace->g.work[vertex->number] = vertex->work;
        trace->g.pin[vertex->number] = vertex->pin;
        trace->owner[vertex->number] = vertex->owner;
    }
    return LBM_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Adds first, so that what follows is of vertices that are there; removals last. Of a kind, by host or
 * vertex. */
static int
in_order(const void *a, const void *b)
{
    const struct lbm_trace_event *x = a, *y = b;
    int by_host = x->kind == LBM_TRACE_OWN;
    uint32_t first_x = by_host ? x->b : x->a, first_y = by_host ? y->b : y->a;
    uint32_t second_x = by_host ? x->a : x->b, second_y = by_host ? y->a : y->b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (first_x != first_y)
        return first_x < first_y ? -1 : 1;
    return (second_x > second_y) - (second_x < second_y);
}

static enum lbm_err
add_edge(struct lbm_gather *gather, struct lbm_trace *trace, uint32_t v, uint32_t other, uint32_t weight)
{
    return lbm_trace_event_add(trace, LBM_TRACE_EDGE, number_of(gather, v), number_of(gather, other), weight);
}

/* Edges to vertices with higher ids. Those that are new in this step had none so far. */
static enum lbm_err
add_edges(struct lbm_gather *gather, struct lbm_trace *trace, const struct lbm_seen_change *change,
          uint32_t first_new)
{
    const struct lbm_seen_vertex *vertex = &gather->vertices.at[change->vertex];
    enum lbm_err err = LBM_OK;
    for (uint32_t k = 0; err == LBM_OK && k < vertex->degree; k++) {
        uint32_t other = vertex->edge[k].other, number = number_of(gather, other);
        if (other < change->vertex || number == LBM_NONE)
            continue;
        int is_new = vertex->number >= first_new || number >= first_new;
        uint32_t before = is_new ? 0 : lbm_seen_weight(change->edge, change->degree, other);
        if (vertex->edge[k].weight != before)
            err = add_edge(gather, trace, change->vertex, other, vertex->edge[k].weight);
    }
    for (uint32_t k = 0; err == LBM_OK && k < change->degree; k++) {
        uint32_t other = change->edge[k].other, number = number_of(gather, other);
        int is_old = vertex->number < first_new && number < first_new; /* LBM_NONE is not */
        if (other > change->vertex && is_old && lbm_seen_weight(vertex->edge, vertex->degree, other) == 0)
            err = add_edge(gather, trace, change->vertex, other, 0);
    }
    return err;
}

/* A new vertex: those with lower ids, of which the answer says nothing, may have had an edge to it for some
 * time. */
static enum lbm_err
add_known_edges(struct lbm_gather *gather, struct lbm_trace *trace, uint32_t v)
{
    const struct lbm_seen_vertex *vertex = &gather->vertices.at[v];
    enum lbm_err err = LBM_OK;
    for (uint32_t k = 0; err == LBM_OK && k < vertex->degree && vertex->edge[k].other < v; k++) {
        const struct lbm_seen_vertex *other = &gather->vertices.at[vertex->edge[k].other];
        uint32_t weight = other->number != LBM_NONE && other->told != gather->look
                              ? lbm_seen_weight(other->edge, other->degree, v)
                              : 0;
        if (weight != 0)
            err = add_edge(gather, trace, vertex->edge[k].other, v, weight);
    }
    return err;
}

/* Number the new ones by id. */
static enum lbm_err
add_new(struct lbm_gather *gather, struct lbm_trace *trace)
{
    enum lbm_err err = LBM_OK;
    for (size_t v = 0; err == LBM_OK && v < gather->vertices.n; v++) {
        struct lbm_seen_vertex *vertex = &gather->vertices.at[v];
        if (vertex->told != gather->look || vertex->number != LBM_NONE)
            continue;
        vertex->number = trace->n++;
        err = lbm_trace_event_add(trace, LBM_TRACE_ADD, vertex->number, vertex->owner, 0);
        if (err == LBM_OK)
            err = lbm_trace_event_add(trace, LBM_TRACE_LOAD, vertex->number, vertex->work, 0);
    }
    return err;
}

static enum lbm_err
remove_gone(struct lbm_gather *gather, struct lbm_trace *trace)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < gather->removed.n; i++) {
        uint32_t v = gather->removed.at[i], number = number_of(gather, v);
        if (number == LBM_NONE)
            continue;
        err = lbm_trace_event_add(trace, LBM_TRACE_REMOVE, number, 0, 0);
        gather->vertices.at[v].number = LBM_NONE;
        gather->vertices.at[v].epoch = UINT64_MAX; /* whoever answers for it yet is late */
    }
    return err;
}

enum lbm_err
lbm_trace_guest_step(struct lbm_gather *gather, struct lbm_trace *trace)
{
    size_t first = trace->events.n;
    uint32_t first_new = trace->n;
    enum lbm_err err = add_new(gather, trace);
    for (size_t i = 0; err == LBM_OK && i < gather->changed.n; i++) {
        const struct lbm_seen_change *change = &gather->changed.at[i];
        const struct lbm_seen_vertex *vertex = &gather->vertices.at[change->vertex];
        int is_new = vertex->number >= first_new;
        if (!is_new && vertex->work != change->work)
            err = lbm_trace_event_add(trace, LBM_TRACE_LOAD, vertex->number, vertex->work, 0);
        if (err == LBM_OK && !is_new && vertex->owner != change->owner)
            err = lbm_trace_event_add(trace, LBM_TRACE_OWN, vertex->number, vertex->owner, 0);
        if (err == LBM_OK)
            err = add_edges(gather, trace, change, first_new);
        if (err == LBM_OK && is_new)
            err = add_known_edges(gather, trace, change->vertex);
    }
    if (err == LBM_OK)
        err = remove_gone(gather, trace);
    if (trace->events.n > first)
        qsort(&trace->events.at[first], trace->events.n - first, sizeof *trace->events.at, in_order);
    return err;
}
