/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fixed point of the pinned diffusion (HEI97 sections 5 and 6), found at once: every free vertex at the
 * mean of its neighbours is a linear system, symmetric and positive definite, for conjugate gradients. */
#include <stdlib.h>

#include "base/mem.h"
#include "map/internal.h"

enum { ITERATIONS_MAX = 2000 };

/* Squared norm of the residual, relative to the start's, that is small enough. */
static const double TOLERANCE = 1e-11;

struct system {
    const struct lbm_graph *g;
    const uint8_t *pinned;
    double *diagonal; /* [n] bandwidth of each vertex */
    double *residual; /* [n] 0 where pinned, as all below */
    double *direction;
    double *image;
};

/* out = L x at the free vertices, L the Laplacian; x counts only where it is free. */
static void
apply(const struct system *s, const double *x, double *out)
{
    const struct lbm_graph *g = s->g;
    for (uint32_t v = 0; v < g->n; v++) {
        double sum = 0;
        if (!s->pinned[v]) {
            sum = s->diagonal[v] * x[v];
            for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
                sum -= lbm_graph_weight(g, e) * x[g->target[e]];
        }
        out[v] = sum;
    }
}

/* <residual, D^-1 residual>: Jacobi's preconditioner, as one sweep of the diffusion. */
static double
preconditioned_norm(const struct system *s)
{
    double sum = 0;
    for (uint32_t v = 0; v < s->g->n; v++)
        if (!s->pinned[v])
            sum += s->residual[v] * s->residual[v] / s->diagonal[v];
    return sum;
}

/* Residual of coordinate k of x: the pinned vertices count in it. */
static void
start(const struct system *s, const double *x, unsigned m, unsigned k)
{
    const struct lbm_graph *g = s->g;
    for (uint32_t v = 0; v < g->n; v++) {
        double sum = 0;
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1] && !s->pinned[v]; e++)
            sum += lbm_graph_weight(g, e) * (x[(size_t)g->target[e] * m + k] - x[(size_t)v * m + k]);
        s->residual[v] = sum;
        s->direction[v] = s->pinned[v] ? 0 : sum / s->diagonal[v];
    }
}

static void
solve(const struct mapping *m, const struct system *s, double *x, unsigned dimensions, unsigned k)
{
    uint32_t n = s->g->n;
    start(s, x, dimensions, k);
    double norm = preconditioned_norm(s), least = TOLERANCE * norm;
    for (int i = 0; i < ITERATIONS_MAX && norm > least && !mapping_stopped(m); i++) {
        double curvature = 0;
        apply(s, s->direction, s->image);
        for (uint32_t v = 0; v < n; v++)
            curvature += s->direction[v] * s->image[v];
        double step = norm / curvature, before = norm;
        for (uint32_t v = 0; v < n; v++) {
            x[(size_t)v * dimensions + k] += step * s->direction[v];
            s->residual[v] -= step * s->image[v];
        }
        norm = preconditioned_norm(s);
        for (uint32_t v = 0; v < n; v++)
            if (!s->pinned[v])
                s->direction[v] = s->residual[v] / s->diagonal[v] + norm / before * s->direction[v];
    }
}

enum lbm_err
map_harmonic(const struct mapping *m, const uint8_t *pinned, unsigned dimensions, double *x)
{
    const struct lbm_graph *g = m->g;
    struct system s = {.g = g,
                       .pinned = pinned,
                       .diagonal = lbm_alloc(g->n, sizeof *s.diagonal),
                       .residual = lbm_alloc(g->n, sizeof *s.residual),
                       .direction = lbm_alloc(g->n, sizeof *s.direction),
                       .image = lbm_alloc(g->n, sizeof *s.image)};
    enum lbm_err err = LBM_E_NOMEM;
    if (s.diagonal != NULL && s.residual != NULL && s.direction != NULL && s.image != NULL) {
        for (uint32_t v = 0; v < g->n; v++)
            for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
                s.diagonal[v] += lbm_graph_weight(g, e);
        for (unsigned k = 0; k < dimensions; k++)
            solve(m, &s, x, dimensions, k);
        err = LBM_OK;
    }
    free(s.diagonal);
    free(s.residual);
    free(s.direction);
    free(s.image);
    return err;
}
