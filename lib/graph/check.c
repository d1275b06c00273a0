/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The validator: what every kernel may rely on, checked once wherever a graph comes in. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/rows.h"

enum lbm_err
lbm_fault_tell(const struct lbm_graph_fault *fault, const char *u, const char *v, const char *where,
               uint64_t line, struct lbm_diag *diag)
{
    switch (fault->kind) {
    case LBM_FAULT_SELF:
        return lbm_diag_set(diag, LBM_E_SYNTAX, where, line,
                            "vertex %s is its own neighbour: leave self-loops out", u);
    case LBM_FAULT_DUPLICATE:
        return lbm_diag_set(diag, LBM_E_SYNTAX, where, line,
                            "the edge from %s to %s is given twice: join the copies and add their weights", u,
                            v);
    case LBM_FAULT_ONE_SIDED:
        return lbm_diag_set(diag, LBM_E_SYNTAX, where, line,
                            "vertex %s lists %s as a neighbour, but %s does not list %s: add the other side",
                            u, v, v, u);
    case LBM_FAULT_UNEQUAL:
        return lbm_diag_set(diag, LBM_E_SYNTAX, where, line,
                            "the edge between %s and %s weighs %.10g on one side and %.10g "
                            "on the other: make them equal",
                            u, v, fault->weight_u, fault->weight_v);
    case LBM_FAULT_HEAVY:
        break;
    }
    return lbm_diag_set(diag, LBM_E_RANGE, where, line,
                        "the copies of the edge between %s and %s add up to more than %" PRIu32
                        ": scale the weights down",
                        u, v, LBM_WEIGHT_MAX);
}

enum lbm_err
lbm_fault_tell_ids(const struct lbm_graph_fault *fault, uint32_t base, const char *where, uint64_t line,
                   struct lbm_diag *diag)
{
    char u[24], v[24];
    snprintf(u, sizeof u, "%" PRIu64, (uint64_t)fault->u + base);
    snprintf(v, sizeof v, "%" PRIu64, (uint64_t)fault->v + base);
    return lbm_fault_tell(fault, u, v, where, line, diag);
}

void
lbm_label_show(const struct lbm_labels *labels, uint32_t v, char out[LBM_LABEL_BYTES])
{
    struct lbm_scan scan = {0};
    if (labels->name == NULL) {
        snprintf(out, LBM_LABEL_BYTES, "%" PRIu64, (uint64_t)v + labels->base);
        return;
    }
    const char *name = labels->name_text + labels->name[v];
    scan.at = name;
    scan.end = name + strlen(name);
    lbm_scan_token(&scan, out, LBM_LABEL_BYTES);
}

enum lbm_err
lbm_fault_refuse(const struct lbm_graph_fault *fault, const struct lbm_labels *labels,
                 const struct lbm_scan *scan, uint64_t line)
{
    char u[LBM_LABEL_BYTES], v[LBM_LABEL_BYTES];
    struct lbm_diag reason = {0};
    const char *hint = NULL;
    lbm_label_show(labels, fault->u, u);
    lbm_label_show(labels, fault->v, v);
    enum lbm_err err = lbm_fault_tell(fault, u, v, NULL, 0, &reason);
    if (scan->reading != NULL)
        hint = fault->kind == LBM_FAULT_HEAVY ? scan->reading->hint : scan->reading->copies_hint;
    return lbm_diag_set(scan->diag, err, scan->name, line, "%s%s%s", reason.text, hint != NULL ? "; " : "",
                        hint != NULL ? hint : "");
}

static enum lbm_err
one_sided(struct lbm_graph_fault *fault, uint32_t lists, uint32_t does_not)
{
    *fault = (struct lbm_graph_fault){.kind = LBM_FAULT_ONE_SIDED, .u = lists, .v = does_not};
    return LBM_E_SYNTAX;
}

/* Match the entries u < v of row v with those of the rows u. seen[u] counts the entries of row u that are
 * matched; since v ascends and rows are sorted, the next entry of row u can only be v. */
static enum lbm_err
match_row(const struct lbm_graph *g, uint32_t v, uint32_t *seen, struct lbm_graph_fault *fault)
{
    uint64_t k = g->offset[v];
    for (; k < g->offset[v + 1] && g->target[k] < v; k++) {
        uint32_t u = g->target[k];
        uint64_t back = g->offset[u] + seen[u];
        if (back == g->offset[u + 1] || g->target[back] > v)
            return one_sided(fault, v, u);
        if (g->target[back] < v)
            return one_sided(fault, u, g->target[back]);
        if (g->weight != NULL && g->weight[back] != g->weight[k]) {
            *fault = (struct lbm_graph_fault){LBM_FAULT_UNEQUAL, u, v, g->weight[back], g->weight[k]};
            return LBM_E_SYNTAX;
        }
        seen[u]++;
    }
    seen[v] = (uint32_t)(k - g->offset[v]);
    return LBM_OK;
}

enum lbm_err
lbm_rows_symmetric(const struct lbm_graph *g, struct lbm_graph_fault *fault)
{
    uint32_t *seen = lbm_alloc(g->n, sizeof *seen);
    if (seen == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = LBM_OK;
    for (uint32_t v = 0; v < g->n && err == LBM_OK; v++)
        err = match_row(g, v, seen, fault);
    for (uint32_t v = 0; v < g->n && err == LBM_OK; v++)
        if (g->offset[v] + seen[v] < g->offset[v + 1])
            err = one_sided(fault, v, g->target[g->offset[v] + seen[v]]);
    free(seen);
    return err;
}

/* Row v by itself: offsets, range, order, weights. */
static enum lbm_err
check_row(const struct lbm_graph *g, uint32_t v, struct lbm_diag *diag)
{
    for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
        uint32_t u = g->target[k];
        struct lbm_graph_fault fault = {
            .kind = u == v ? LBM_FAULT_SELF : LBM_FAULT_DUPLICATE, .u = v, .v = u};
        if (u >= g->n)
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "vertex %" PRIu32 " has neighbour %" PRIu32 ", but there are only %" PRIu32
                                " vertices",
                                v, u, g->n);
        if (u == v || (k > g->offset[v] && u == g->target[k - 1]))
            return lbm_fault_tell_ids(&fault, 0, NULL, 0, diag);
        if (k > g->offset[v] && u < g->target[k - 1])
            return lbm_diag_set(diag, LBM_E_SYNTAX, NULL, 0,
                                "the neighbours of vertex %" PRIu32 " are not sorted", v);
        if (lbm_graph_weight(g, k) - 1 >= LBM_WEIGHT_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "the edge from %" PRIu32 " to %" PRIu32 " weighs %" PRIu32
                                ", outside 1 to %" PRIu32,
                                v, u, lbm_graph_weight(g, k), LBM_WEIGHT_MAX);
    }
    return LBM_OK;
}

static enum lbm_err
check_vertex(const struct lbm_graph *g, uint32_t v, struct lbm_diag *diag)
{
    if (lbm_graph_work(g, v) - 1 >= LBM_WEIGHT_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                            "vertex %" PRIu32 " weighs %" PRIu32 ", outside 1 to %" PRIu32, v,
                            lbm_graph_work(g, v), LBM_WEIGHT_MAX);
    if (g->position != NULL &&
        (!isfinite(g->position[2 * (size_t)v]) || !isfinite(g->position[2 * (size_t)v + 1])))
        return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0, "the position of vertex %" PRIu32 " is not finite",
                            v);
    return LBM_OK;
}

enum lbm_err
lbm_graph_check(const struct lbm_graph *g, struct lbm_diag *diag)
{
    if (g->n > LBM_VERTICES_MAX || g->offset == NULL || g->offset[0] != 0)
        return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0, "the graph has no rows or too many");
    for (uint32_t v = 0; v < g->n; v++)
        if (g->offset[v] > g->offset[v + 1])
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0, "row %" PRIu32 " ends before it begins", v);
    for (uint32_t v = 0; v < g->n; v++) {
        enum lbm_err err = check_vertex(g, v, diag);
        if (err == LBM_OK)
            err = check_row(g, v, diag);
        if (err != LBM_OK)
            return err;
    }
    struct lbm_graph_fault fault;
    enum lbm_err err = lbm_rows_symmetric(g, &fault);
    if (err == LBM_E_SYNTAX)
        return lbm_fault_tell_ids(&fault, 0, NULL, 0, diag);
    return err != LBM_OK ? lbm_diag_set(diag, err, NULL, 0, "no memory to check the graph") : LBM_OK;
}
