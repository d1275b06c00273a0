/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spectra of the Laplacian and of diffusion matrices. */
#include "host/spectrum.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mutants.h"
#include "host/internal.h"

/* ---- closed forms -------------------------------------------------------------------------------- */

static int
capacities_agree(const struct lbm_hosts *h)
{
    for (uint32_t p = 1; p < h->n; p++)
        if (h->capacity[p] != h->capacity[0])
            return 0;
    return 1;
}

static struct lbm_laplacian
laplacian_axis(uint32_t extent, int wrap)
{
    double k = extent;
    if (extent == 1)
        return (struct lbm_laplacian){0};
    if (!wrap || extent == 2)
        return (struct lbm_laplacian){2.0 - 2.0 * cos(M_PI / k), 2.0 + 2.0 * cos(M_PI / k), 1};
    return (struct lbm_laplacian){
        2.0 - 2.0 * cos(2.0 * M_PI / k),
        LBM_MUTANT(LAPLACIAN_ODD, extent % 2 == 0, 1) ? 4.0 : 2.0 + 2.0 * cos(M_PI / k), 1};
}

/* Products of graphs: eigenvalues add. */
static struct lbm_laplacian
laplacian_axes(const struct lbm_hosts *h)
{
    int wrap = h->topology == LBM_TOPOLOGY_RING || h->topology == LBM_TOPOLOGY_TORUS;
    struct lbm_laplacian sum = {0};
    for (unsigned k = 0; k < 3; k++) {
        struct lbm_laplacian axis = laplacian_axis(h->dims[k], wrap);
        if (axis.lambda_2 > 0.0 && (sum.lambda_2 == 0.0 || axis.lambda_2 < sum.lambda_2))
            sum.lambda_2 = axis.lambda_2;
        sum.lambda_max += axis.lambda_max;
    }
    return sum;
}

static struct lbm_laplacian
laplacian_hypercube(const struct lbm_hosts *h)
{
    return h->n == 1 ? (struct lbm_laplacian){0} : (struct lbm_laplacian){2.0, 2.0 * h->dims[0], 1};
}

static struct lbm_laplacian
laplacian_star(const struct lbm_hosts *h)
{
    return h->n == 1   ? (struct lbm_laplacian){0}
           : h->n == 2 ? (struct lbm_laplacian){2.0, 2.0, 1}
                       : (struct lbm_laplacian){1.0, h->n, 1};
}

static struct lbm_laplacian
laplacian_complete(const struct lbm_hosts *h)
{
    return h->n == 1 ? (struct lbm_laplacian){0} : (struct lbm_laplacian){h->n, h->n, 1};
}

static struct lbm_laplacian (*const closed_forms[LBM_TOPOLOGY_COUNT])(const struct lbm_hosts *h) = {
    [LBM_TOPOLOGY_CHAIN] = laplacian_axes,          [LBM_TOPOLOGY_RING] = laplacian_axes,
    [LBM_TOPOLOGY_MESH] = laplacian_axes,           [LBM_TOPOLOGY_TORUS] = laplacian_axes,
    [LBM_TOPOLOGY_HYPERCUBE] = laplacian_hypercube, [LBM_TOPOLOGY_STAR] = laplacian_star,
    [LBM_TOPOLOGY_COMPLETE] = laplacian_complete,
};

int
lbm_laplacian_closed(const struct lbm_hosts *h, struct lbm_laplacian *out)
{
    if (closed_forms[h->topology] == NULL || !capacities_agree(h))
        return 0;
    *out = closed_forms[h->topology](h);
    out->closed_form = 1;
    return 1;
}

/* ---- numerically --------------------------------------------------------------------------------- */

/* S^-1/2 (sum over links alpha_pq (e_p - e_q)(e_p - e_q)^T) S^-1/2, its eigenvalue 0 moved to shift. */
struct weighted {
    const struct lbm_hosts *h;
    const double *alpha; /* [offset[n]] by direction, or NULL: 1 */
    double *root;        /* [n] square roots of the scaled capacities; the null vector */
    double shift;        /* in the midst of the other eigenvalues, so that neither end is the null vector's */
};

static void
apply_weighted(void *arg, const double *from, double *to, uint32_t n)
{
    const struct weighted *w = arg;
    const struct lbm_hosts *h = w->h;
    double along = 0.0;
    for (uint32_t p = 0; p < n; p++)
        along += w->root[p] * from[p];
    along *= w->shift / n; /* the squares of the roots sum to n */
    for (uint32_t p = 0; p < n; p++) {
        double sum = 0.0, x = from[p] / w->root[p];
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            uint32_t q = h->target[i];
            sum += (w->alpha == NULL ? 1.0 : w->alpha[i]) * (x - from[q] / w->root[q]);
        }
        to[p] = sum / w->root[p] + along * w->root[p];
    }
}

static void
scale_capacities(const struct lbm_hosts *h, double *root)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < h->n; p++)
        sum += h->capacity[p];
    for (uint32_t p = 0; p < h->n; p++)
        root[p] = sqrt(h->capacity[p] * h->n / sum);
}

/* The mean of the eigenvalues but 0. */
static double
middle(const struct weighted *w)
{
    double trace = 0.0;
    for (uint32_t p = 0; p < w->h->n; p++)
        for (uint32_t i = w->h->offset[p]; i < w->h->offset[p + 1]; i++)
            trace += (w->alpha == NULL ? 1.0 : w->alpha[i]) / (w->root[p] * w->root[p]);
    return trace / (w->h->n - 1);
}

/* Where ARPACK does not converge, as among eigenvalues that lie close together: all of them by LAPACK. */
static enum lbm_err
ends_by_lapack(struct weighted *w, double *least, double *largest)
{
    uint32_t n = w->h->n;
    if (n > LBM_SPECTRUM_HOSTS_MAX)
        return LBM_E_STATE;
    double *a = lbm_alloc((size_t)n * n, sizeof *a), *value = lbm_alloc(n, sizeof *value);
    double *unit = lbm_alloc(n, sizeof *unit);
    enum lbm_err err = a && value && unit ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < n; p++) {
        unit[p] = 1.0;
        apply_weighted(w, unit, &a[(size_t)p * n], n);
        unit[p] = 0.0;
    }
    if (err == LBM_OK)
        err = lbm_eigen_all(a, n, value, NULL);
    if (err == LBM_OK) {
        *least = value[0];
        *largest = value[n - 1];
    }
    free(a);
    free(value);
    free(unit);
    return err;
}

static enum lbm_err
weighted_ends(const struct lbm_hosts *h, const double *alpha, double *lambda_2, double *lambda_max)
{
    if (h->n < 2) {
        *lambda_2 = *lambda_max = 0.0;
        return LBM_OK;
    }
    struct weighted w = {.h = h, .alpha = alpha, .root = lbm_alloc(h->n, sizeof(double))};
    if (w.root == NULL)
        return LBM_E_NOMEM;
    scale_capacities(h, w.root);
    w.shift = middle(&w);
    enum lbm_err err = LBM_OK;
    if (h->n == 2)
        *lambda_2 = *lambda_max = w.shift;
    else if (alpha != NULL && h->n <= 256) /* ARPACK may try for seconds before it gives up */
        err = ends_by_lapack(&w, lambda_2, lambda_max);
    else
        err = lbm_eigen_ends(apply_weighted, &w, h->n, lambda_2, lambda_max);
    if (err == LBM_E_STATE)
        err = ends_by_lapack(&w, lambda_2, lambda_max);
    free(w.root);
    return err;
}

enum lbm_err
lbm_laplacian_numeric(const struct lbm_hosts *h, struct lbm_laplacian *out)
{
    struct lbm_laplacian found = {0};
    enum lbm_err err = weighted_ends(h, NULL, &found.lambda_2, &found.lambda_max);
    if (err == LBM_OK)
        *out = found;
    return err;
}

enum lbm_err
lbm_laplacian_of(const struct lbm_hosts *h, struct lbm_laplacian *out)
{
    return lbm_laplacian_closed(h, out) ? LBM_OK : lbm_laplacian_numeric(h, out);
}

/* ---- diffusion ----------------------------------------------------------------------------------- */

double
lbm_alpha_optimal(const struct lbm_laplacian *l)
{
    return l->lambda_max > 0.0 ? LBM_MUTANT(ALPHA_OPTIMAL, 2.0, 1.8) / (l->lambda_2 + l->lambda_max) : 0.0;
}

double
lbm_alpha_safe(const struct lbm_hosts *h)
{
    double sum = 0.0, most = 0.0;
    for (uint32_t p = 0; p < h->n; p++) {
        sum += h->capacity[p];
        most =
            fmax(most, (h->offset[p + 1] - h->offset[p] + LBM_MUTANT(ALPHA_SAFE, 1.0, 2.0)) / h->capacity[p]);
    }
    return h->n / (sum * most);
}

double
lbm_gamma_uniform(const struct lbm_laplacian *l, double alpha)
{
    if (l->lambda_max == 0.0)
        return 0.0;
    return fmax(fabs(1.0 - alpha * l->lambda_2), fabs(1.0 - alpha * l->lambda_max));
}

enum lbm_err
lbm_diffusion_ends(const struct lbm_hosts *h, const double *alpha, double *lambda_2, double *lambda_n)
{
    double least, largest;
    enum lbm_err err = weighted_ends(h, alpha, &least, &largest);
    if (err == LBM_OK) {
        *lambda_2 = h->n < 2 ? 0.0 : 1.0 - least;
        *lambda_n = h->n < 2 ? 0.0 : 1.0 - largest;
    }
    return err;
}

double
lbm_modification(double lambda_2, double lambda_n, double own_least)
{
    return fmax(-(lambda_2 + lambda_n) / 2.0, LBM_MUTANT(LEMMA_2_FEASIBLE, -own_least, -1.0));
}
