/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97's model problem. */
#include "sim/tables/lattice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/generate.h"

static const double pi = 3.14159265358979323846;

enum lbm_err
lattice_open(uint32_t side, struct lattice *out)
{
    char spec[40];
    uint32_t n_pinned, n = side * side;
    struct lattice l = {.side = side};
    snprintf(spec, sizeof spec, "lattice:%ux%u", side, side);
    enum lbm_err err = lbm_graph_generate(spec, 1, &l.graph, NULL);
    if (err != LBM_OK)
        return err;
    l.pinned = lbm_alloc(n, sizeof *l.pinned);
    l.x = lbm_alloc(2 * (size_t)n, sizeof *l.x);
    l.next = lbm_alloc(2 * (size_t)n, sizeof *l.next);
    err = l.pinned == NULL || l.x == NULL || l.next == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK)
        err = lbm_pin_outer_face(&l.graph, l.pinned, l.x, &n_pinned);
    if (err == LBM_OK && n_pinned != 4 * (side - 1))
        err = LBM_E_STATE;
    if (err == LBM_OK)
        *out = l;
    else
        lattice_close(&l);
    return err;
}

void
lattice_close(struct lattice *l)
{
    lbm_graph_free(&l->graph);
    free(l->pinned);
    free(l->x);
    free(l->next);
    *l = (struct lattice){0};
}

void
lattice_pin_corners(struct lattice *l)
{
    uint32_t last = l->side - 1;
    for (uint32_t v = 0; v < l->graph.n; v++) {
        uint32_t column = v % l->side, row = v / l->side;
        l->pinned[v] = (column == 0 || column == last) && (row == 0 || row == last);
    }
}

static void
mean_of_neighbours(const struct lattice *l, uint32_t v, double out[2])
{
    const struct lbm_graph *g = &l->graph;
    double sum[2] = {0, 0}, total = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        double weight = lbm_graph_weight(g, e);
        total += weight;
        for (unsigned k = 0; k < 2; k++)
            sum[k] += weight * l->x[2 * (size_t)g->target[e] + k];
    }
    for (unsigned k = 0; k < 2 && total > 0; k++)
        out[k] = sum[k] / total;
}

void
lattice_jacobi(struct lattice *l, uint32_t sweeps)
{
    for (uint32_t s = 0; s < sweeps; s++) {
        memcpy(l->next, l->x, 2 * (size_t)l->graph.n * sizeof *l->x);
        for (uint32_t v = 0; v < l->graph.n; v++)
            if (!l->pinned[v])
                mean_of_neighbours(l, v, &l->next[2 * (size_t)v]);
        double *x = l->x;
        l->x = l->next;
        l->next = x;
    }
}

void
lattice_ordered_sweep(struct lattice *l)
{
    for (uint32_t v = 0; v < l->graph.n; v++)
        if (!l->pinned[v])
            mean_of_neighbours(l, v, &l->x[2 * (size_t)v]);
}

/* How far v is from its place, in cells. */
static double
error_of(const struct lattice *l, uint32_t v, unsigned axis)
{
    uint32_t place = axis == 0 ? v % l->side : v / l->side;
    return l->x[2 * (size_t)v + axis] * (l->side - 1) - place;
}

double
lattice_error(const struct lattice *l)
{
    double largest = 0.0;
    for (uint32_t v = 0; v < l->graph.n; v++)
        largest = fmax(largest, hypot(error_of(l, v, 0), error_of(l, v, 1)));
    return largest;
}

double
lattice_amplitude(const struct lattice *l, uint32_t i, uint32_t j, unsigned axis)
{
    double sum = 0.0, intervals = l->side - 1;
    for (uint32_t v = 0; v < l->graph.n; v++)
        sum += error_of(l, v, axis) * sin(pi * i * (v % l->side) / intervals) *
               sin(pi * j * (v / l->side) / intervals);
    return sum * 4.0 / (intervals * intervals);
}
