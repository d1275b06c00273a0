/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cell of one region: the box of Omega, cut by the half-plane of every other site.
 *
 * The line between two regions is the same from both sides, its numbers negated exactly, so that cells tile
 * Omega. A line that misses the cell costs two products for each of about six corners, so all sites are
 * tried: one cell among 8,192 hosts takes less than building any index of them. */
#include "base/check.h"
#include "space/polygon.h"

/* The half-plane of points with less power at x than at y: normal . z <= offset. */
static void
half_plane(const double x[2], double weight_x, const double y[2], double weight_y, double normal[2],
           double *offset)
{
    normal[0] = 2.0 * (y[0] - x[0]);
    normal[1] = 2.0 * (y[1] - x[1]);
    *offset = (y[0] * y[0] + y[1] * y[1] - weight_y) - (x[0] * x[0] + x[1] * x[1] - weight_x);
}

/* Take from the cell of p what belongs to q, whose site is displaced by shift. */
static enum lbm_err
cut_by(struct lbm_cutting *cell, const struct lbm_regions *r, uint32_t p, uint32_t q, const double shift[2])
{
    const double *x = &r->site[2 * (size_t)p];
    const double y[2] = {r->site[2 * (size_t)q] + shift[0], r->site[2 * (size_t)q + 1] + shift[1]};
    double normal[2], offset;
    if (x[0] == y[0] && x[1] == y[1]) { /* the heavier has all, of equals the lower id */
        if (r->weight[q] > r->weight[p] || (r->weight[q] == r->weight[p] && q < p))
            lbm_cutting_empty(cell);
        return LBM_OK;
    }
    half_plane(x, r->weight[p], y, r->weight[q], normal, &offset);
    return lbm_cutting_cut(cell, normal, offset);
}

enum lbm_err
lbm_regions_cell(const struct lbm_regions *r, uint32_t p, struct lbm_polygon *out)
{
    static const double lo[2] = {0.0, 0.0}, hi[2] = {1.0, 1.0}, here[2] = {0.0, 0.0};
    LBM_ASSERT(p < r->n);
    if (r->m != 2 || r->wrap)
        return LBM_E_UNSUPPORTED;
    struct lbm_cutting cell;
    enum lbm_err err = lbm_cutting_begin(&cell, lo, hi);
    for (uint32_t q = 0; err == LBM_OK && cell.n != 0 && q < r->n; q++)
        if (q != p)
            err = cut_by(&cell, r, p, q, here);
    if (err == LBM_OK)
        lbm_cutting_finish(&cell, out);
    else
        lbm_cutting_free(&cell);
    return err;
}

/* Nearer to the site than half the torus in each axis, its own images begin; another site's images matter
 * if they are at most 1 away, so one step to each side covers them. */
enum lbm_err
lbm_regions_cell_torus(const struct lbm_regions *r, uint32_t p, struct lbm_polygon *out)
{
    LBM_ASSERT(p < r->n);
    if (r->m != 2)
        return LBM_E_UNSUPPORTED;
    const double *x = &r->site[2 * (size_t)p];
    const double lo[2] = {x[0] - 0.5, x[1] - 0.5}, hi[2] = {x[0] + 0.5, x[1] + 0.5};
    struct lbm_cutting cell;
    enum lbm_err err = lbm_cutting_begin(&cell, lo, hi);
    for (uint32_t q = 0; err == LBM_OK && cell.n != 0 && q < r->n; q++)
        for (int image = 0; err == LBM_OK && q != p && image < 9; image++) {
            const double shift[2] = {image % 3 - 1, image / 3 - 1};
            err = cut_by(&cell, r, p, q, shift);
        }
    if (err == LBM_OK)
        lbm_cutting_finish(&cell, out);
    else
        lbm_cutting_free(&cell);
    return err;
}
