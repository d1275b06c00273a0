/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The l2-optimal flow on H: the potential phi with L phi = load - target, by conjugate gradients.
 * The flow along a link is the difference of the potentials over its cost: of all flows that balance it has
 * the least sum of cost times squares (Hu & Blake 1999; the limit of every diffusion). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "map/internal.h"

/* out = L x, L the Laplacian of H with conductances 1 / cost. */
static void
laplacian(const struct lbm_hosts *h, const double *x, double *out)
{
    for (uint32_t p = 0; p < h->n; p++) {
        double sum = 0;
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            sum += (x[p] - x[h->target[e]]) / h->cost[e];
        out[p] = sum;
    }
}

static double
dot(uint32_t n, const double *x, const double *y)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

enum lbm_err
map_potential(const struct lbm_hosts *h, const double *surplus, double *phi)
{
    const double tolerance = 0.01; /* work units: flows are rounded to whole ones */
    uint32_t n = h->n;
    double *residual = lbm_copy(surplus, n, sizeof *residual),
           *direction = lbm_copy(surplus, n, sizeof *direction);
    double *image = lbm_alloc(n, sizeof *image);
    if (residual != NULL && direction != NULL && image != NULL) {
        double rr = dot(n, residual, residual), least = tolerance * tolerance;
        for (uint32_t p = 0; p < n; p++)
            phi[p] = 0;
        for (uint64_t i = 0; i < 2 * (uint64_t)n && rr > least; i++) {
            laplacian(h, direction, image);
            double curvature = dot(n, direction, image);
            if (curvature <= 0)
                break; /* the direction is constant: rounding is all that is left */
            double step = rr / curvature, rr_before = rr;
            for (uint32_t p = 0; p < n; p++) {
                phi[p] += step * direction[p];
                residual[p] -= step * image[p];
            }
            rr = dot(n, residual, residual);
            for (uint32_t p = 0; p < n; p++)
                direction[p] = residual[p] + rr / rr_before * direction[p];
        }
    }
    int short_of_memory = residual == NULL || direction == NULL || image == NULL;
    free(residual);
    free(direction);
    free(image);
    return short_of_memory ? LBM_E_NOMEM : LBM_OK;
}
