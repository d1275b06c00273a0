/* Coordinates and region weights that go with a finished mapping. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    SWEEPS_LEVEL = 2, /* after each interpolation */
    PULLS = 12,       /* towards the hosts' sites, each followed by a sweep */
    BALANCE_ROUNDS = 60,
};

static const double PULL = 0.25;

/* Bring coarse coordinates down to the guest. x [n * m] holds those of the coarsest level first. */
static enum lbm_err
interpolate(const struct lbm_levels *levels, unsigned m, struct lbm_rng *rng, double *x)
{
    struct lbm_diffusion how = {.m = m, .order = LBM_ORDER_BLOCK};
    double *coarse = lbm_alloc((size_t)levels->graph[0].n * m, sizeof *coarse);
    enum lbm_err err = coarse == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t l = levels->n - 1; l-- > 0 && err == LBM_OK;) {
        memcpy(coarse, x, (size_t)levels->graph[l + 1].n * m * sizeof *x);
        lbm_embed_interpolate(levels->parent[l], levels->graph[l].n, m, coarse, x);
        err = lbm_diffuse(&levels->graph[l], &how, SWEEPS_LEVEL, x, rng, NULL, NULL);
    }
    free(coarse);
    return err;
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
    for (uint32_t v = 0; v < m->g->n; v++)
        lbm_affine_apply(&fit, &x[(size_t)v * h->m], &x[(size_t)v * h->m]);
}

/* What the drawing does not know, refinement's moves, is told by pulling each vertex towards its host's site
 * while it diffuses. */
static enum lbm_err
pull_to_sites(const struct mapping *m, struct lbm_rng *rng, double *x)
{
    const struct lbm_hosts *h = m->h;
    struct lbm_diffusion how = {.m = h->m, .order = LBM_ORDER_BLOCK};
    enum lbm_err err = LBM_OK;
    for (int pull = 0; pull < PULLS && err == LBM_OK; pull++) {
        for (uint32_t v = 0; v < m->g->n; v++)
            for (unsigned k = 0; k < h->m; k++) {
                double *at = &x[(size_t)v * h->m + k];
                *at += PULL * (h->site[(size_t)m->part[v] * h->m + k] - *at);
            }
        err = lbm_diffuse(m->g, &how, 1, x, rng, NULL, NULL);
    }
    for (size_t i = 0; i < (size_t)m->g->n * h->m; i++)
        x[i] = x[i] < 0 ? 0 : x[i] > 1 ? 1 : x[i];
    return err;
}

enum lbm_err
map_geometry(const struct mapping *m, const struct lbm_levels *levels, struct lbm_rng *rng, double *x,
             double *weight)
{
    const struct lbm_hosts *h = m->h;
    uint32_t *region = lbm_alloc(m->g->n, sizeof *region);
    enum lbm_err err = region == NULL ? LBM_E_NOMEM : interpolate(levels, h->m, rng, x);
    if (err == LBM_OK) {
        lay_over_sites(m, x);
        err = pull_to_sites(m, rng, x);
    }
    if (err == LBM_OK && lbm_regions_balance(h->n, h->m, 0, h->site, h->capacity, m->g->n, x, m->g->work,
                                             0.03, BALANCE_ROUNDS, weight, region) < 0)
        err = LBM_E_NOMEM;
    free(region);
    return err;
}
