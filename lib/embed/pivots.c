/* Coordinates of a coarse graph without pins: hop distances to farthest-point pivots, double-centred and
 * squared, projected on their main axes, then smoothed by renormalized diffusion (DESIGN 3.1). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"

enum { POWER_ROUNDS = 300 };

/* A connected graph with the same vertices: components chained to the first by edges of weight 1, for the
 * embedding only. Out: owned by the caller; *linked 0 if g was connected already (out untouched). */
static enum lbm_err
chain_components(const struct lbm_graph *g, struct lbm_rng *rng, struct lbm_graph *out, int *linked)
{
    uint32_t *component = lbm_alloc(g->n, sizeof *component);
    uint32_t n_components = component != NULL ? lbm_graph_components(g, component) : 0;
    LBM_VEC(struct lbm_edge) edges = {0};
    enum lbm_err err = n_components == 0 ? LBM_E_NOMEM : LBM_OK;
    *linked = n_components > 1;
    for (uint32_t v = 0; err == LBM_OK && *linked && v < g->n; v++)
        for (uint64_t e = g->offset[v]; err == LBM_OK && e < g->offset[v + 1]; e++)
            if (v < g->target[e])
                err = lbm_vec_push(&edges, ((struct lbm_edge){v, g->target[e], lbm_graph_weight(g, e)}));
    /* Vertices come in order of their component's number; a new one is linked to one seen before. */
    uint32_t seen = 0;
    for (uint32_t v = 0; err == LBM_OK && *linked && v < g->n; v++) {
        if (component[v] < seen)
            continue;
        if (seen != 0)
            err = lbm_vec_push(&edges, ((struct lbm_edge){v, lbm_rng_below(rng, v), 1}));
        seen = component[v] + 1;
    }
    if (err == LBM_OK && *linked) {
        err = lbm_graph_build(g->n, edges.at, edges.n, LBM_MERGE_SUM, out, NULL);
        if (err == LBM_OK && g->work != NULL) {
            out->work = lbm_copy(g->work, g->n, sizeof *g->work);
            if (out->work == NULL) {
                lbm_graph_free(out);
                err = LBM_E_NOMEM;
            }
        }
    }
    lbm_vec_free(&edges);
    free(component);
    return err;
}

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

/* Subtract the means of rows, then the work-weighted means of columns. */
static void
double_centre(const struct lbm_graph *g, uint32_t k, double *column)
{
    double total = (double)lbm_graph_total_work(g);
    for (uint32_t v = 0; v < g->n; v++) {
        double mean = 0;
        for (uint32_t i = 0; i < k; i++)
            mean += column[(size_t)v * k + i] / k;
        for (uint32_t i = 0; i < k; i++)
            column[(size_t)v * k + i] -= mean;
    }
    for (uint32_t i = 0; i < k; i++) {
        double mean = 0;
        for (uint32_t v = 0; v < g->n; v++)
            mean += lbm_graph_work(g, v) * column[(size_t)v * k + i];
        for (uint32_t v = 0; v < g->n; v++)
            column[(size_t)v * k + i] -= mean / total;
    }
}

static double
dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Main axis `which` of the symmetric matrix s [k * k], orthogonal to those before; axis [m * k]. */
static void
main_axis(const double *s, uint32_t k, unsigned which, double *axis, double *scratch, struct lbm_rng *rng)
{
    double *own = &axis[(size_t)which * k];
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
        double length = sqrt(dot(scratch, scratch, k)) + 1e-300;
        for (uint32_t i = 0; i < k; i++)
            own[i] = scratch[i] / length;
    }
}

static enum lbm_err
project(const struct lbm_graph *g, unsigned m, uint32_t k, const double *column, struct lbm_rng *rng, double *x)
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
        main_axis(s, k, q, axis, scratch, rng);
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++)
        for (unsigned q = 0; q < m; q++)
            x[(size_t)v * m + q] = dot(&column[(size_t)v * k], &axis[(size_t)q * k], k);
    free(s);
    free(axis);
    free(scratch);
    return err;
}

/* Renormalize in place. Points that lie in a hyperplane (a path, two vertices) are shaken out of it. */
static void
renormalize(const struct lbm_graph *g, unsigned m, double *x, struct lbm_rng *rng)
{
    struct lbm_affine map;
    for (int tries = 0; tries < 8; tries++) {
        struct lbm_moments moments = {0};
        lbm_moments_take(&moments, g, m, x);
        if (lbm_moments_whiten(&moments, m, &map) == LBM_OK) {
            for (uint32_t v = 0; v < g->n; v++)
                lbm_affine_apply(&map, &x[(size_t)v * m], &x[(size_t)v * m]);
            return;
        }
        double size = 1e-300;
        for (size_t i = 0; i < (size_t)g->n * m; i++)
            size = fabs(x[i]) > size ? fabs(x[i]) : size;
        for (size_t i = 0; i < (size_t)g->n * m; i++)
            x[i] += 1e-3 * (size > 1e-100 ? size : 1) * (lbm_rng_unit(rng) - 0.5);
    }
    lbm_start_random(g->n, m, NULL, x, rng);
}

enum lbm_err
lbm_embed_pivots(const struct lbm_graph *g, unsigned m, int pivots, int sweeps, struct lbm_rng *rng, double *x)
{
    struct lbm_graph chained;
    int linked = 0;
    if (g->n < 2) {
        for (unsigned i = 0; g->n == 1 && i < m; i++)
            x[i] = 0.5;
        return LBM_OK;
    }
    enum lbm_err err = chain_components(g, rng, &chained, &linked);
    if (err != LBM_OK)
        return err;
    const struct lbm_graph *whole = linked ? &chained : g;
    uint32_t k = (uint32_t)pivots < g->n ? (uint32_t)pivots : g->n;
    double *column = lbm_alloc((size_t)g->n * k, sizeof *column);
    err = column == NULL ? LBM_E_NOMEM : pivot_columns(whole, k, rng, column);
    if (err == LBM_OK) {
        double_centre(whole, k, column);
        err = project(whole, m, k, column, rng, x);
    }
    free(column);
    struct lbm_diffusion how = {.m = m, .order = LBM_ORDER_PERMUTATION};
    if (err == LBM_OK)
        renormalize(whole, m, x, rng);
    for (int s = 0; err == LBM_OK && s < sweeps; s++) {
        err = lbm_diffuse(whole, &how, 1, x, rng, NULL, NULL);
        if (err == LBM_OK)
            renormalize(whole, m, x, rng);
    }
    if (linked)
        lbm_graph_free(&chained);
    return err;
}
