/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole spectrum of the Laplacian: which eigenvalues there are. */
#include <math.h>
#include <stdlib.h>

#include "host/internal.h"
#include "host/spectrum.h"

static const double SAME = 1e-9; /* of the largest: eigenvalues are computed to about 1e-14 of it */

struct values {
    double *at;
    size_t n, capacity;
};

static int
rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sort, drop what is 0 or there twice. */
static void
make_distinct(struct values *v)
{
    size_t kept = 0;
    if (v->n == 0)
        return;
    qsort(v->at, v->n, sizeof *v->at, rising);
    double same = SAME * v->at[v->n - 1];
    for (size_t i = 0; i < v->n; i++)
        if (v->at[i] > same && (kept == 0 || v->at[i] - v->at[kept - 1] > same))
            v->at[kept++] = v->at[i];
    v->n = kept;
}

/* ---- closed forms -------------------------------------------------------------------------------- */

/* Eigenvalues of a product of graphs are sums: add those of an axis of `extent` hosts to each of v. */
static enum lbm_err
add_axis(struct values *v, uint32_t extent, int wrap)
{
    struct values sums = {0};
    int ring = wrap && extent > 2;
    uint32_t most = ring ? extent / 2 : extent - 1;
    for (uint32_t j = 0; j <= most; j++) {
        double own = 2.0 - 2.0 * cos((ring ? 2.0 : 1.0) * M_PI * j / extent);
        for (size_t i = 0; i < v->n; i++)
            if (lbm_vec_push(&sums, v->at[i] + own) != LBM_OK) {
                free(sums.at);
                return LBM_E_NOMEM;
            }
    }
    free(v->at);
    *v = sums;
    return LBM_OK;
}

static enum lbm_err
add_axes(const struct lbm_hosts *h, struct values *v)
{
    int wrap = h->topology == LBM_TOPOLOGY_RING || h->topology == LBM_TOPOLOGY_TORUS;
    enum lbm_err err = lbm_vec_push(v, 0.0);
    for (unsigned k = 0; err == LBM_OK && k < 3; k++)
        if (h->dims[k] > 1)
            err = add_axis(v, h->dims[k], wrap);
    return err;
}

static enum lbm_err
add_closed(const struct lbm_hosts *h, const struct lbm_laplacian *ends, struct values *v)
{
    if (h->n < 2)
        return LBM_OK;
    if (h->topology <= LBM_TOPOLOGY_TORUS)
        return add_axes(h, v);
    if (h->topology == LBM_TOPOLOGY_HYPERCUBE) {
        enum lbm_err err = LBM_OK;
        for (uint32_t k = 1; err == LBM_OK && k <= h->dims[0]; k++)
            err = lbm_vec_push(v, 2.0 * k);
        return err;
    }
    enum lbm_err err = lbm_vec_push(v, ends->lambda_2); /* star, complete: no others than the ends */
    return err == LBM_OK ? lbm_vec_push(v, ends->lambda_max) : err;
}

/* ---- numerically --------------------------------------------------------------------------------- */

static void
fill_matrix(const struct lbm_hosts *h, double *a)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < h->n; p++)
        sum += h->capacity[p];
    double mean = sum / h->n;
    for (uint32_t p = 0; p < h->n; p++) {
        a[(size_t)p * h->n + p] = (h->offset[p + 1] - h->offset[p]) * mean / h->capacity[p];
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            uint32_t q = h->target[i];
            a[(size_t)p * h->n + q] = -mean / sqrt(h->capacity[p] * h->capacity[q]);
        }
    }
}

static enum lbm_err
add_numeric(const struct lbm_hosts *h, struct values *v)
{
    if (h->n > LBM_SPECTRUM_HOSTS_MAX)
        return LBM_E_LIMIT;
    double *a = lbm_alloc((size_t)h->n * h->n, sizeof *a);
    v->at = lbm_alloc(h->n, sizeof *v->at);
    v->n = v->capacity = h->n;
    enum lbm_err err = a == NULL || v->at == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK) {
        fill_matrix(h, a);
        err = lbm_eigen_all(a, h->n, v->at, NULL);
    }
    free(a);
    return err;
}

enum lbm_err
lbm_laplacian_distinct(const struct lbm_hosts *h, double **value, uint32_t *n)
{
    struct values v = {0};
    struct lbm_laplacian ends;
    enum lbm_err err = lbm_laplacian_closed(h, &ends) ? add_closed(h, &ends, &v) : add_numeric(h, &v);
    if (err != LBM_OK) {
        free(v.at);
        return err;
    }
    make_distinct(&v);
    *value = v.at;
    *n = (uint32_t)v.n;
    return LBM_OK;
}
