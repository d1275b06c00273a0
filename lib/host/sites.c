/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites of named topologies, and fitting sites of any scale into the unit box. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/internal.h"

static const double tau = 6.283185307179586477;

/* ---- topologies ---------------------------------------------------------------------------------- */

enum lbm_err
lbm_sites_grid(struct lbm_hosts *h)
{
    enum lbm_err err = LBM_OK;
    if (h->dims[2] > 1)
        err = lbm_hosts_set_dimensions(h, 3);
    if (err != LBM_OK)
        return err;
    for (uint32_t p = 0; p < h->n; p++) {
        uint32_t rest = p;
        for (unsigned k = 0; k < h->m; rest /= h->dims[k++])
            h->site[(size_t)p * h->m + k] = rest % h->dims[k];
    }
    lbm_sites_fit(h->site, h->n, h->m);
    return LBM_OK;
}

enum lbm_err
lbm_sites_circle(struct lbm_hosts *h)
{
    LBM_ASSERT(h->m == 2);
    for (uint32_t p = 0; p < h->n; p++) {
        h->site[2 * (size_t)p] = cos(tau * p / h->n);
        h->site[2 * (size_t)p + 1] = sin(tau * p / h->n);
    }
    lbm_sites_fit(h->site, h->n, h->m);
    return LBM_OK;
}

/* Where a code stands in the reflected Gray sequence. */
static uint32_t
gray_rank(uint32_t code)
{
    uint32_t rank = 0;
    for (; code != 0; code >>= 1)
        rank ^= code;
    return rank;
}

/* The bits of the id in m runs, each a Gray code of one axis: neighbours on the grid differ in one bit, and
 * so do the two ends of an axis, the product of rings that HEI97 section 4 embeds a hypercube in. */
enum lbm_err
lbm_sites_hypercube(struct lbm_hosts *h)
{
    enum lbm_err err = lbm_hosts_set_dimensions(h, h->dims[0] >= 6 ? 3 : 2);
    if (err != LBM_OK)
        return err;
    for (uint32_t p = 0; p < h->n; p++) {
        uint32_t shift = 0;
        for (unsigned k = 0; k < h->m; k++) {
            uint32_t bits = h->dims[0] / h->m + (k < h->dims[0] % h->m);
            h->site[(size_t)p * h->m + k] = gray_rank(p >> shift & ((UINT32_C(1) << bits) - 1));
            shift += bits;
        }
    }
    lbm_sites_fit(h->site, h->n, h->m);
    return LBM_OK;
}

/* Radius by depth, angle in the middle of a sector that is shared out by leaves. */
enum lbm_err
lbm_sites_radial(struct lbm_hosts *h)
{
    uint32_t n = h->n;
    uint32_t *depth = lbm_alloc(n, sizeof *depth), *order = lbm_alloc(n, sizeof *order);
    uint32_t *leaves = lbm_alloc(n, sizeof *leaves), *begin = lbm_alloc(n, sizeof *begin);
    enum lbm_err err = depth && order && leaves && begin ? LBM_OK : LBM_E_NOMEM;
    if (err != LBM_OK)
        goto out;
    uint32_t reached = lbm_hosts_hops(h, 0, depth, order);
    LBM_ASSERT(reached == n && h->offset[n] == 2 * (n - 1) && h->m == 2);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t p = order[i];
        for (uint32_t k = h->offset[p]; k < h->offset[p + 1]; k++)
            if (depth[h->target[k]] > depth[p])
                leaves[p] += leaves[h->target[k]];
        leaves[p] += leaves[p] == 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = order[i], cursor = begin[p];
        double angle = tau * (begin[p] + 0.5 * leaves[p]) / leaves[0];
        h->site[2 * (size_t)p] = depth[p] * cos(angle);
        h->site[2 * (size_t)p + 1] = depth[p] * sin(angle);
        for (uint32_t k = h->offset[p]; k < h->offset[p + 1]; k++)
            if (depth[h->target[k]] > depth[p]) {
                begin[h->target[k]] = cursor;
                cursor += leaves[h->target[k]];
            }
    }
    lbm_sites_fit(h->site, n, h->m);
out:
    free(depth);
    free(order);
    free(leaves);
    free(begin);
    return err;
}

/* ---- fitting ------------------------------------------------------------------------------------- */

/* The distinct coordinates along an axis, ascending. */
struct axis {
    uint32_t n;
    double value[LBM_HOSTS_MAX];
};

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Coordinates closer than 1e-9 of the axis' extent are one: they were computed, not meant to differ. */
static void
axis_take(struct axis *axis, const double *site, uint32_t n, unsigned m, unsigned k)
{
    for (uint32_t p = 0; p < n; p++)
        axis->value[p] = site[(size_t)p * m + k];
    qsort(axis->value, n, sizeof *axis->value, ascending);
    double apart = 1e-9 * (axis->value[n - 1] - axis->value[0]);
    axis->n = 1;
    for (uint32_t p = 1; p < n; p++)
        if (axis->value[p] - axis->value[axis->n - 1] > apart)
            axis->value[axis->n++] = axis->value[p];
}

/* Rank of the greatest value <= x (the values of one cluster rank alike). */
static uint32_t
axis_rank(const struct axis *axis, double x)
{
    uint32_t lo = 0, hi = axis->n;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (axis->value[mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Whether every combination of the axes' values occurs exactly once. */
static int
is_grid(const struct axis *axes, const double *site, uint32_t n, unsigned m)
{
    uint64_t cells = 1;
    for (unsigned k = 0; k < m; k++)
        cells *= axes[k].n;
    if (cells != n)
        return 0;
    uint8_t taken[LBM_HOSTS_MAX] = {0};
    for (uint32_t p = 0; p < n; p++) {
        uint32_t cell = 0;
        for (unsigned k = 0; k < m; k++)
            cell = cell * axes[k].n + axis_rank(&axes[k], site[(size_t)p * m + k]);
        if (taken[cell])
            return 0;
        taken[cell] = 1;
    }
    return 1;
}

static void
fit_variance(double *site, uint32_t n, unsigned m, unsigned k)
{
    double mean = 0.0, variance = 0.0;
    for (uint32_t p = 0; p < n; p++)
        mean += site[(size_t)p * m + k] / n;
    for (uint32_t p = 0; p < n; p++) {
        double off = site[(size_t)p * m + k] - mean;
        variance += off * off / n;
    }
    /* Below this the axis has no extent but rounding. */
    double scale = variance > 1e-24 ? sqrt(1.0 / 12.0 / variance) : 0.0;
    for (uint32_t p = 0; p < n; p++) {
        double *x = &site[(size_t)p * m + k];
        *x = fmin(fmax(0.5 + (*x - mean) * scale, 0.0), 1.0);
    }
}

void
lbm_sites_fit(double *site, uint32_t n, unsigned m)
{
    struct axis axes[LBM_DIMENSIONS_MAX]; /* on the stack, 192 KiB: a fit cannot fail */
    LBM_ASSERT(n >= 1 && n <= LBM_HOSTS_MAX && m >= 1 && m <= LBM_DIMENSIONS_MAX);
    for (unsigned k = 0; k < m; k++) {
        double largest = 0.0; /* dividing by it keeps squares in range, whatever the scale */
        for (uint32_t p = 0; p < n; p++)
            largest = fmax(largest, fabs(site[(size_t)p * m + k]));
        for (uint32_t p = 0; p < n && largest > 0.0; p++)
            site[(size_t)p * m + k] /= largest;
        axis_take(&axes[k], site, n, m, k);
    }
    if (!is_grid(axes, site, n, m)) {
        for (unsigned k = 0; k < m; k++)
            fit_variance(site, n, m, k);
        return;
    }
    for (unsigned k = 0; k < m; k++)
        for (uint32_t p = 0; p < n; p++) {
            double *x = &site[(size_t)p * m + k];
            *x = (axis_rank(&axes[k], *x) + 0.5) / axes[k].n;
        }
}
