/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97's model problem. */
#include "papers/lattice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
    err = l.pinned == NULL || l.x == NULL ? LBM_E_NOMEM : LBM_OK;
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

enum lbm_err
lattice_sweep(struct lattice *l, enum lbm_order order, uint32_t sweeps, struct lbm_rng *rng)
{
    struct lbm_diffusion how = {.m = 2, .order = order, .pinned = l->pinned};
    return lbm_diffuse(&l->graph, &how, (int)sweeps, l->x, rng, NULL, NULL);
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
