/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coordinates and region weights that go with a finished mapping. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    SWEEPS_LEVEL = 2, /* after each interpolation */
    FILLS = 8,        /* of the regions, each after a sweep */
    BALANCE_ROUNDS = 100,
    SAMPLES_HOST = 100, /* points of Omega that measure a region */
    SAMPLES_MAX = 20000,
};

enum lbm_err
map_interpolate(const struct lbm_levels *levels, uint32_t level, unsigned m, struct lbm_rng *rng, double *x)
{
    const struct lbm_graph *g = &levels->graph[level];
    struct lbm_diffusion how = {.m = m, .order = LBM_ORDER_BLOCK};
    lbm_embed_interpolate(levels->parent[level], g->n, m, x, x);
    return lbm_diffuse(g, &how, SWEEPS_LEVEL, x, rng, NULL, NULL);
}

/* Hosts in a line tell nothing of the directions across it: a row of the fit that is nothing next to the
 * others takes the axis of the embedding that those use least. */
static void
complete_rows(struct lbm_affine *fit)
{
    unsigned m = fit->m;
    double size[LBM_DIMENSIONS_MAX] = {0}, most = 0;
    for (unsigned r = 0; r < m; r++) {
        for (unsigned c = 0; c < m; c++)
            size[r] += fabs(fit->matrix[r * m + c]);
        most = size[r] > most ? size[r] : most;
    }
    for (unsigned r = 0; r < m; r++) {
        unsigned least = 0;
        double use[LBM_DIMENSIONS_MAX] = {0};
        for (unsigned i = 0; i < m * m; i++)
            use[i % m] += fabs(fit->matrix[i]);
        for (unsigned c = 1; c < m; c++)
            least = use[c] < use[least] ? c : least;
        if (size[r] < 1e-6 * most || most == 0)
            fit->matrix[r * m + least] += most != 0 ? 0.1 * most : 1;
    }
}

/* Lay x over the sites: the affine map that brings vertices nearest to the sites of their hosts (least
 * squares). With x renormalized the normal equations are diagonal. */
static void
lay_over_sites(const struct mapping *m, double *x)
{
    const struct lbm_hosts *h = m->h;
    struct lbm_affine fit = {.m = h->m};
    struct lbm_moments moments = {0};
    double work = 0;
    lbm_moments_take(&moments, m->g, h->m, x);
    if (lbm_moments_whiten(&moments, h->m, &fit) == LBM_OK)
        for (uint32_t v = 0; v < m->g->n; v++)
            lbm_affine_apply(&fit, &x[(size_t)v * h->m], &x[(size_t)v * h->m]);
    fit = (struct lbm_affine){.m = h->m};
    for (uint32_t v = 0; v < m->g->n; v++) {
        const double *site = &h->site[(size_t)m->part[v] * h->m], *at = &x[(size_t)v * h->m];
        double w = lbm_graph_work(m->g, v);
        work += w;
        for (unsigned r = 0; r < h->m; r++) {
            fit.shift[r] += w * site[r];
            for (unsigned c = 0; c < h->m; c++)
                fit.matrix[r * h->m + c] += w * site[r] * 12 * (at[c] - 0.5);
        }
    }
    for (unsigned r = 0; r < h->m; r++) {
        fit.centre[r] = 0.5;
        fit.shift[r] /= work;
        for (unsigned c = 0; c < h->m; c++)
            fit.matrix[r * h->m + c] /= work;
    }
    complete_rows(&fit);
    for (uint32_t v = 0; v < m->g->n; v++)
        lbm_affine_apply(&fit, &x[(size_t)v * h->m], &x[(size_t)v * h->m]);
}

/* Moments of each host's region, whose share of Omega is the host's share of capacity, measured on a grid of
 * points.
 * Out: weight [n] power weights of the regions; region [n]. */
static enum lbm_err
measure_regions(const struct lbm_hosts *h, double *weight, struct lbm_moments *region)
{
    uint32_t want = h->n < SAMPLES_MAX / SAMPLES_HOST ? h->n * SAMPLES_HOST : SAMPLES_MAX, side = 1, n = 1;
    while (pow(side, h->m) < want)
        side++;
    for (unsigned k = 0; k < h->m; k++)
        n *= side;
    double *point = lbm_alloc((size_t)n * h->m, sizeof *point);
    uint32_t *host = lbm_alloc(n, sizeof *host);
    enum lbm_err err = point == NULL || host == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < n; i++)
        for (uint32_t k = 0, rest = i; k < h->m; k++, rest /= side)
            point[(size_t)i * h->m + k] = (rest % side + 0.5) / side;
    if (err == LBM_OK && lbm_regions_balance(h->n, h->m, 0, h->site, h->capacity, n, point, NULL, 0.01,
                                             BALANCE_ROUNDS, weight, host) < 0)
        err = LBM_E_NOMEM;
    struct lbm_graph one = {.n = 1};
    for (uint32_t i = 0; err == LBM_OK && i < n; i++)
        lbm_moments_take(&region[host[i]], &one, h->m, &point[(size_t)i * h->m]);
    free(point);
    free(host);
    return err;
}

/* y -> the point of the region that lies as y lies among the renormalized points: the inverse of the
 * renormalization `whiten` of the region's own points, a lower triangle. */
static void
unwhiten(const struct lbm_affine *whiten, const double *y, double *out)
{
    unsigned m = whiten->m;
    double x[LBM_DIMENSIONS_MAX];
    for (unsigned r = 0; r < m; r++) {
        double rest = y[r] - whiten->shift[r];
        for (unsigned c = 0; c < r; c++)
            rest -= whiten->matrix[r * m + c] * x[c];
        x[r] = rest / whiten->matrix[r * m + r];
    }
    for (unsigned r = 0; r < m; r++) {
        double at = x[r] + whiten->centre[r];
        out[r] = at < 0 ? 0 : at > 1 ? 1 : at;
    }
}

/* The spreading of one host's vertices over its region. */
struct spread {
    int possible;           /* the host has vertices enough, and not on a line */
    struct lbm_moments own; /* of its vertices */
    struct lbm_affine from; /* renormalizes them */
    struct lbm_affine to;   /* renormalizes the region */
};

/* An affine map for each host gives its vertices the mean and covariance of its region; those of hosts that
 * have too few for that go to the site. */
static void
fill_regions(const struct mapping *m, const struct lbm_moments *region, struct spread *spread, double *x)
{
    const struct lbm_hosts *h = m->h;
    struct lbm_graph one = {.n = 1};
    for (uint32_t p = 0; p < h->n; p++)
        spread[p].own = (struct lbm_moments){0};
    for (uint32_t v = 0; v < m->g->n; v++)
        lbm_moments_take(&spread[m->part[v]].own, &one, h->m, &x[(size_t)v * h->m]);
    for (uint32_t p = 0; p < h->n; p++)
        spread[p].possible = lbm_moments_whiten(&spread[p].own, h->m, &spread[p].from) == LBM_OK &&
                             lbm_moments_whiten(&region[p], h->m, &spread[p].to) == LBM_OK;
    for (uint32_t v = 0; v < m->g->n; v++) {
        const struct spread *s = &spread[m->part[v]];
        double *at = &x[(size_t)v * h->m];
        if (s->possible) {
            lbm_affine_apply(&s->from, at, at);
            unwhiten(&s->to, at, at);
        } else {
            memcpy(at, &h->site[(size_t)m->part[v] * h->m], h->m * sizeof *at);
        }
    }
}

enum lbm_err
map_geometry(const struct mapping *m, struct lbm_rng *rng, double *x, double *weight)
{
    const struct lbm_hosts *h = m->h;
    struct lbm_diffusion how = {.m = h->m, .order = LBM_ORDER_BLOCK};
    struct lbm_moments *region = lbm_alloc(h->n, sizeof *region);
    struct spread *spread = lbm_alloc(h->n, sizeof *spread);
    enum lbm_err err = region == NULL || spread == NULL ? LBM_E_NOMEM : measure_regions(h, weight, region);
    if (err == LBM_OK)
        lay_over_sites(m, x);
    for (int i = 0; err == LBM_OK && i < FILLS; i++) {
        fill_regions(m, region, spread, x);
        if (i + 1 < FILLS)
            err = lbm_diffuse(m->g, &how, 1, x, rng, NULL, NULL);
    }
    free(region);
    free(spread);
    return err;
}
