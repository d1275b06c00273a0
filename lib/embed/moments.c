/* Moments, affine maps and the renormalization of HEI97 fig. 4; starts of figs 6 and 7. */
#include <math.h>
#include <string.h>

#include "embed/embed.h"

void
lbm_moments_add(struct lbm_moments *to, const struct lbm_moments *from)
{
    to->work += from->work;
    for (int i = 0; i < 3; i++)
        to->sum[i] += from->sum[i];
    for (int i = 0; i < 6; i++)
        to->prod[i] += from->prod[i];
}

void
lbm_moments_take(struct lbm_moments *to, const struct lbm_graph *g, unsigned m, const double *x)
{
    for (uint32_t v = 0; v < g->n; v++) {
        const double *p = &x[(size_t)v * m];
        double w = lbm_graph_work(g, v);
        unsigned at = 0;
        to->work += w;
        for (unsigned i = 0; i < m; i++) {
            to->sum[i] += w * p[i];
            for (unsigned j = 0; j <= i; j++)
                to->prod[at++] += w * p[i] * p[j];
        }
    }
}

void
lbm_affine_identity(struct lbm_affine *a, unsigned m)
{
    *a = (struct lbm_affine){.m = m};
    for (unsigned i = 0; i < m; i++)
        a->matrix[i * m + i] = 1;
}

void
lbm_affine_apply(const struct lbm_affine *a, const double *x, double *out)
{
    double y[3];
    for (unsigned i = 0; i < a->m; i++) {
        y[i] = a->shift[i];
        for (unsigned j = 0; j < a->m; j++)
            y[i] += a->matrix[i * a->m + j] * (x[j] - a->centre[j]);
    }
    memcpy(out, y, a->m * sizeof *y);
}

/* Gram-Schmidt in axis order is the inverse of the Cholesky factor of the covariance. */
enum lbm_err
lbm_moments_whiten(const struct lbm_moments *moments, unsigned m, struct lbm_affine *out)
{
    double mean[3], c[3][3], inverse[3][3] = {{0}};
    const double deviation = sqrt(1.0 / 12.0);
    unsigned at = 0;
    if (!(moments->work > 0))
        return LBM_E_STATE;
    for (unsigned i = 0; i < m; i++)
        mean[i] = moments->sum[i] / moments->work;
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j <= i; j++)
            c[i][j] = moments->prod[at++] / moments->work - mean[i] * mean[j];
    for (unsigned i = 0; i < m; i++) {
        double variance = c[i][i];
        for (unsigned j = 0; j <= i; j++) {
            double s = c[i][j];
            for (unsigned k = 0; k < j; k++)
                s -= c[i][k] * c[j][k];
            if (j < i)
                c[i][j] = s / c[j][j];
            else if (s > 1e-12 * variance && s > 0)
                c[i][i] = sqrt(s);
            else
                return LBM_E_STATE; /* what is left of this axis is rounding */
        }
    }
    for (unsigned i = 0; i < m; i++) {
        inverse[i][i] = 1 / c[i][i];
        for (unsigned j = 0; j < i; j++) {
            double s = 0;
            for (unsigned k = j; k < i; k++)
                s -= c[i][k] * inverse[k][j];
            inverse[i][j] = s / c[i][i];
        }
    }
    *out = (struct lbm_affine){.m = m};
    for (unsigned i = 0; i < m; i++) {
        out->centre[i] = mean[i];
        out->shift[i] = 0.5;
        for (unsigned j = 0; j <= i; j++)
            out->matrix[i * m + j] = deviation * inverse[i][j];
    }
    return LBM_OK;
}

void
lbm_start_centre(uint32_t n, unsigned m, const uint8_t *pinned, double *x, struct lbm_rng *rng)
{
    for (uint32_t v = 0; v < n; v++)
        for (unsigned i = 0; i < m; i++)
            if (pinned == NULL)
                x[(size_t)v * m + i] = 0.5 + 1e-3 * (lbm_rng_unit(rng) - 0.5);
            else if (!pinned[v])
                x[(size_t)v * m + i] = 0.5;
}

void
lbm_start_random(uint32_t n, unsigned m, const uint8_t *pinned, double *x, struct lbm_rng *rng)
{
    for (uint32_t v = 0; v < n; v++)
        for (unsigned i = 0; i < m; i++)
            if (pinned == NULL || !pinned[v])
                x[(size_t)v * m + i] = lbm_rng_unit(rng);
}

void
lbm_embed_interpolate(const uint32_t *parent, uint32_t n_fine, unsigned m, const double *x_coarse, double *x_fine)
{
    for (uint32_t v = 0; v < n_fine; v++)
        memcpy(&x_fine[(size_t)v * m], &x_coarse[(size_t)parent[v] * m], m * sizeof(double));
}
