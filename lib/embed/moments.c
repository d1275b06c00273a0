/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments, affine maps and the renormalization of HEI97 fig. 4. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mutants.h"
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

/* Lower Cholesky factor of the covariance, in place; only the lower triangle of c is read.
 * scale2 [m] second moment of each axis about the origin, which bounds the rounding in c.
 * Returns 0 if what is left of an axis is rounding. */
static int
factorize(double c[3][3], const double *scale2, unsigned m)
{
    const double rounding = 1e-12; /* sums of 10^6 terms keep 12 digits and more */
    for (unsigned i = 0; i < m; i++) {
        for (unsigned j = 0; j < i; j++) {
            for (unsigned k = 0; k < j; k++)
                c[i][j] -= c[i][k] * c[j][k];
            c[i][j] /= c[j][j];
            c[i][i] -= c[i][j] * c[i][j];
        }
        if (!(c[i][i] > rounding * scale2[i]))
            return 0;
        c[i][i] = sqrt(c[i][i]);
    }
    return 1;
}

/* Inverse of a lower triangular matrix; out is zero above the diagonal. */
static void
invert(double c[3][3], unsigned m, double out[3][3])
{
    for (unsigned i = 0; i < m; i++) {
        out[i][i] = 1 / c[i][i];
        for (unsigned j = 0; j < i; j++) {
            for (unsigned k = j; k < i; k++)
                out[i][j] -= c[i][k] * out[k][j];
            out[i][j] /= c[i][i];
        }
    }
}

/* Gram-Schmidt in axis order is the inverse of the Cholesky factor of the covariance. */
enum lbm_err
lbm_moments_whiten(const struct lbm_moments *moments, unsigned m, struct lbm_affine *out)
{
    LBM_ASSERT(m >= 1 && m <= 3);
    const double deviation = sqrt(1.0 / LBM_MUTANT(WHITEN_VARIANCE, 12.0, 10.0));
    double mean[3], scale2[3], c[3][3], inverse[3][3] = {{0}};
    unsigned at = 0;
    if (!(moments->work > 0))
        return LBM_E_STATE;
    for (unsigned i = 0; i < m; i++) {
        mean[i] = moments->sum[i] / moments->work;
        for (unsigned j = 0; j <= i; j++) {
            c[i][j] = moments->prod[at++] / moments->work - mean[i] * mean[j];
            c[i][j] *= LBM_MUTANT(WHITEN_SHEAR, 1.0, i == j);
        }
        scale2[i] = c[i][i] + mean[i] * mean[i];
    }
    if (!factorize(c, scale2, m))
        return LBM_E_STATE;
    invert(c, m, inverse);
    *out = (struct lbm_affine){.m = m};
    for (unsigned i = 0; i < m; i++) {
        out->centre[i] = mean[i];
        out->shift[i] = 0.5;
        for (unsigned j = 0; j <= i; j++)
            out->matrix[i * m + j] = deviation * inverse[i][j];
    }
    return LBM_OK;
}
