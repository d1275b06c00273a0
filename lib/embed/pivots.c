/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coordinates of a coarse graph without pins: hop distances to farthest-point pivots, double-centred and
 * squared, projected on their main axes, then smoothed by renormalized diffusion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "embed/embed.h"
#include "embed/main_axis.h"

enum {
    POWER_ROUNDS = 300, /* of the power method: the axes need not be exact, sweeps follow */
    SHAKES_MAX = 8      /* one is enough unless x is not finite */
};

/* ---- one component ---------------------------------------------------------------------------------- */

/* List all edges of g, and for each component but the first one edge of weight 1 from its lowest vertex to a
 * random vertex of those before it. Components are numbered in order of their lowest vertices, so every
 * lower vertex belongs to an earlier one. */
static void
chain_edges(const struct lbm_graph *g, const uint32_t *component, struct lbm_rng *rng, struct lbm_edge *edges)
{
    uint32_t seen = 0;
    size_t n = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                edges[n++] = (struct lbm_edge){v, g->target[e], lbm_graph_weight(g, e)};
        if (component[v] < seen)
            continue;
        if (seen++ != 0)
            edges[n++] = (struct lbm_edge){v, lbm_rng_below(rng, v), 1};
    }
}

/* A connected graph with the vertices of g, for the embedding only: weights as in g, no pins.
 * Out: *out owned by the caller, untouched if g is connected. */
static enum lbm_err
connect(const struct lbm_graph *g, struct lbm_rng *rng, struct lbm_graph *out)
{
    uint32_t *component = lbm_alloc(g->n, sizeof *component);
    uint32_t n_components = component != NULL ? lbm_graph_components(g, component) : 0;
    if (n_components <= 1) {
        free(component);
        return n_components == 0 ? LBM_E_NOMEM : LBM_OK;
    }
    struct lbm_graph whole = {0};
    size_t n_edges = (size_t)(lbm_graph_directions(g) / 2) + n_components - 1;
    struct lbm_edge *edges = lbm_alloc(n_edges, sizeof *edges);
    enum lbm_err err = edges == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK) {
        chain_edges(g, component, rng, edges);
        err = lbm_graph_build(g->n, edges, n_edges, LBM_MERGE_REJECT, &whole, NULL);
    }
    if (err == LBM_OK && g->work != NULL && (whole.work = lbm_copy(g->work, g->n, sizeof *g->work)) == NULL) {
        lbm_graph_free(&whole);
        err = LBM_E_NOMEM;
    }
    if (err == LBM_OK)
        *out = whole;
    free(edges);
    free(component);
    return err;
}

/* ---- pivots ----------------------------------------------------------------------------------------- */

/* Hop distances from a source; queue [n] is scratch. Returns the farthest vertex. */
static uint32_t
distances(const struct lbm_graph *g, uint32_t source, uint32_t *hops, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    memset(hops, 0xff, g->n * sizeof *hops);
    hops[source] = 0;
    queue[tail++] = source;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (hops[g->target[e]] == LBM_NONE) {
                hops[g->target[e]] = hops[v] + 1;
                queue[tail++] = g->target[e];
            }
    }
    return queue[tail - 1];
}

/* column[v * k + i] = squared distance of v to pivot i; pivots are farthest from those before. */
static enum lbm_err
pivot_columns(const struct lbm_graph *g, uint32_t k, struct lbm_rng *rng, double *column)
{
    uint32_t *hops = lbm_alloc(g->n, sizeof *hops), *queue = lbm_alloc(g->n, sizeof *queue);
    uint32_t *nearest = lbm_alloc(g->n, sizeof *nearest);
    enum lbm_err err = hops == NULL || queue == NULL || nearest == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK) {
        memset(nearest, 0xff, g->n * sizeof *nearest);
        uint32_t pivot = distances(g, lbm_rng_below(rng, g->n), hops, queue);
        for (uint32_t i = 0; i < k; i++) {
            distances(g, pivot, hops, queue);
            pivot = 0;
            for (uint32_t v = 0; v < g->n; v++) {
                column[(size_t)v * k + i] = (double)hops[v] * hops[v];
                nearest[v] = hops[v] < nearest[v] ? hops[v] : nearest[v];
                if (nearest[v] > nearest[pivot])
                    pivot = v;
            }
        }
    }
    free(hops);
    free(queue);
    free(nearest);
    return err;
}

/* Subtract the means of rows, then the work-weighted means of columns. mean [k] is scratch. */
static void
double_centre(const struct lbm_graph *g, uint32_t k, double *column, double *mean)
{
    double total = (double)lbm_graph_total_work(g);
    memset(mean, 0, k * sizeof *mean);
    for (uint32_t v = 0; v < g->n; v++) {
        double *row = &column[(size_t)v * k], sum = 0;
        for (uint32_t i = 0; i < k; i++)
            sum += row[i];
        for (uint32_t i = 0; i < k; i++) {
            row[i] -= sum / k;
            mean[i] += lbm_graph_work(g, v) / total * row[i];
        }
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t i = 0; i < k; i++)
            column[(size_t)v * k + i] -= mean[i];
}

static double
dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

double
lbm_main_axis(const double *s, uint32_t k, unsigned which, double *axis, double *scratch, struct lbm_rng *rng)
{
    double *own = &axis[(size_t)which * k], value = 0;
    for (uint32_t i = 0; i < k; i++)
        own[i] = lbm_rng_unit(rng) - 0.5;
    for (int round = 0; round < POWER_ROUNDS; round++) {
        for (uint32_t i = 0; i < k; i++)
            scratch[i] = dot(&s[(size_t)i * k], own, k);
        for (unsigned b = 0; b < which; b++) {
            double along = dot(scratch, &axis[(size_t)b * k], k);
            for (uint32_t i = 0; i < k; i++)
                scratch[i] -= along * axis[(size_t)b * k + i];
        }
        value = sqrt(dot(scratch, scratch, k));
        double length = value + 1e-300;
        for (uint32_t i = 0; i < k; i++)
            own[i] = scratch[i] / length;
    }
    return value;
}

static enum lbm_err
project(const struct lbm_graph *g, unsigned m, uint32_t k, const double *column, struct lbm_rng *rng,
        double *x)
{
    double *s = lbm_alloc((size_t)k * k, sizeof *s), *axis = lbm_alloc((size_t)m * k, sizeof *axis);
    double *scratch = lbm_alloc(k, sizeof *scratch);
    enum lbm_err err = s == NULL || axis == NULL || scratch == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        const double *row = &column[(size_t)v * k];
        double w = lbm_graph_work(g, v);
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t j = 0; j <= i; j++)
                s[(size_t)i * k + j] += w * row[i] * row[j];
    }
    for (uint32_t i = 0; err == LBM_OK && i < k; i++)
        for (uint32_t j = 0; j < i; j++)
            s[(size_t)j * k + i] = s[(size_t)i * k + j];
    for (unsigned q = 0; err == LBM_OK && q < m; q++)
        lbm_main_axis(s, k, q, axis, scratch, rng);
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++)
        for (unsigned q = 0; q < m; q++)
            x[(size_t)v * m + q] = dot(&column[(size_t)v * k], &axis[(size_t)q * k], k);
    free(s);
    free(axis);
    free(scratch);
    return err;
}

/* ---- coordinates ------------------------------------------------------------------------------------ */

/* Move every coordinate by up to 1/2000 of the extent of all, out of the hyperplane they lie in. */
static void
shake(size_t n, double *x, struct lbm_rng *rng)
{
    double extent = 0;
    for (size_t i = 0; i < n; i++)
        extent = fabs(x[i]) > extent ? fabs(x[i]) : extent;
    for (size_t i = 0; i < n; i++)
        x[i] += 1e-3 * (extent > 0 ? extent : 1) * (lbm_rng_unit(rng) - 0.5);
}

/* Renormalize in place. A path lies on a line, and the leaves of a star fall on one point: they are shaken
 * until they span the space, which takes more than m points. */
static void
renormalize(const struct lbm_graph *g, unsigned m, double *x, struct lbm_rng *rng)
{
    struct lbm_affine map;
    for (int tries = 0; tries < SHAKES_MAX; tries++) {
        struct lbm_moments moments = {0};
        lbm_moments_take(&moments, g, m, x);
        if (lbm_moments_whiten(&moments, m, &map) == LBM_OK) {
            for (uint32_t v = 0; v < g->n; v++)
                lbm_affine_apply(&map, &x[(size_t)v * m], &x[(size_t)v * m]);
            return;
        }
        shake((size_t)g->n * m, x, rng);
    }
    lbm_start_random(g->n, m, NULL, x, rng);
}

static enum lbm_err
place_by_pivots(const struct lbm_graph *g, unsigned m, uint32_t k, struct lbm_rng *rng, double *x)
{
    double *column = lbm_alloc((size_t)g->n * k, sizeof *column), *mean = lbm_alloc(k, sizeof *mean);
    enum lbm_err err = column == NULL || mean == NULL ? LBM_E_NOMEM : pivot_columns(g, k, rng, column);
    if (err == LBM_OK) {
        double_centre(g, k, column, mean);
        err = project(g, m, k, column, rng, x);
    }
    free(column);
    free(mean);
    return err;
}

enum lbm_err
lbm_embed_pivots(const struct lbm_graph *g, unsigned m, int pivots, int sweeps, struct lbm_rng *rng,
                 double *x)
{
    LBM_ASSERT(pivots >= 1 && sweeps >= 0);
    struct lbm_graph chained = {0};
    const struct lbm_diffusion how = {.m = m, .order = LBM_ORDER_BLOCK};
    if (g->n <= m) { /* too few points to span the space: on its diagonal */
        for (size_t i = 0; i < (size_t)g->n * m; i++)
            x[i] = ((double)(i / m) + 0.5) / g->n;
        return LBM_OK;
    }
    enum lbm_err err = connect(g, rng, &chained);
    if (err != LBM_OK)
        return err;
    const struct lbm_graph *whole = chained.n != 0 ? &chained : g;
    err = place_by_pivots(whole, m, (uint32_t)pivots < g->n ? (uint32_t)pivots : g->n, rng, x);
    if (err == LBM_OK)
        renormalize(whole, m, x, rng);
    for (int i = 0; err == LBM_OK && i < sweeps; i++) {
        err = lbm_diffuse(whole, &how, 1, x, rng, NULL, NULL);
        if (err == LBM_OK)
            renormalize(whole, m, x, rng);
    }
    lbm_graph_free(&chained);
    return err;
}
