/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The start of a planar guest: its outer face pinned to the perimeter of Omega, everything else where the
 * diffusion comes to rest (HEI97 sections 5 and 6). On lattices this is exact, where the renormalized
 * embedding only comes close. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"

static const double PI = 3.14159265358979323846;

/* Coordinates of a planar guest. Out: *planar zero if it is not, or has no face to pin. */
static enum lbm_err
draw(const struct mapping *m, double *x, int *planar)
{
    uint32_t n = m->g->n, n_pinned = 0;
    uint8_t *pinned = lbm_alloc(n, 1);
    enum lbm_err err = pinned == NULL ? LBM_E_NOMEM : LBM_OK;
    for (size_t i = 0; i < 2 * (size_t)n; i++)
        x[i] = 0.5;
    if (err == LBM_OK)
        err = lbm_pin_outer_face(m->g, pinned, x, &n_pinned);
    *planar = n_pinned != 0;
    if (err == LBM_OK && *planar)
        err = map_harmonic(m, pinned, 2, x);
    free(pinned);
    return err;
}

/* Cut the drawing into balanced regions, laid over the sites in four ways; the cheapest of them. */
static enum lbm_err
cut(const struct mapping *m, const double *x, uint32_t *best)
{
    const struct lbm_hosts *h = m->h;
    uint32_t n = m->g->n;
    double *y = lbm_alloc(2 * (size_t)n, sizeof *y), *weight = lbm_alloc(h->n, sizeof *weight);
    enum lbm_err err = y == NULL || weight == NULL ? LBM_E_NOMEM : LBM_OK;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 4 && err == LBM_OK; i++) {
        double matrix[4];
        map_isometry_plane(i / 2 * PI / 2, i % 2, matrix);
        map_isometry_apply(matrix, 2, n, x, y);
        err = map_cut_regions(m, y, weight);
        uint64_t bytes = err == LBM_OK ? lbm_map_hop_bytes(m->g, h, m->part) : least;
        if (bytes < least) {
            least = bytes;
            memcpy(best, m->part, n * sizeof *best);
        }
    }
    free(y);
    free(weight);
    return err;
}

enum lbm_err
map_start_face(const struct mapping *m, struct lbm_rng *rng, int *applies)
{
    uint32_t n = m->g->n;
    *applies = 0;
    double *x = lbm_alloc(2 * (size_t)n, sizeof *x);
    uint32_t *best = lbm_alloc(n, sizeof *best);
    enum lbm_err err = x == NULL || best == NULL ? LBM_E_NOMEM : draw(m, x, applies);
    if (err == LBM_OK && *applies) {
        err = cut(m, x, best);
        if (err == LBM_OK) {
            memcpy(m->part, best, n * sizeof *best);
            err = map_flow(m, rng);
        }
    }
    free(x);
    free(best);
    return err;
}
