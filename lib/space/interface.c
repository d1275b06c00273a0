/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two regions touch: the part of the border between their sites that no third region takes.
 *
 * The border of two power cells lies in a line (a plane in three dimensions); what the box of Omega and every
 * other site leave of it is an interval (a polygon). */
#include <math.h>

#include "base/check.h"
#include "space/polygon.h"

/* Below these an interface is the rounding of a point, or an edge, where regions meet. */
static const double length_min = 1e-9, area_min = 1e-12;

/* Longer than the diagonal of the box, so that no end of a border is missed. */
#define REACH 2.0

/* The half-space normal . z <= offset. */
struct half_space {
    double normal[LBM_DIMENSIONS_MAX], offset;
};

/* The border of two regions: centre + t * axis[0] (+ u * axis[1]). */
struct border {
    unsigned m;
    double centre[LBM_DIMENSIONS_MAX];
    double axis[2][LBM_DIMENSIONS_MAX];
};

static double
dot(const double *a, const double *b, unsigned m)
{
    double sum = 0.0;
    for (unsigned k = 0; k < m; k++)
        sum += a[k] * b[k];
    return sum;
}

/* The points with less power at p than at q. */
static struct half_space
half_space(const struct lbm_regions *r, uint32_t p, uint32_t q)
{
    const double *x = &r->site[(size_t)p * r->m], *y = &r->site[(size_t)q * r->m];
    struct half_space half = {{0}, dot(y, y, r->m) - r->weight[q] - (dot(x, x, r->m) - r->weight[p])};
    for (unsigned k = 0; k < r->m; k++)
        half.normal[k] = 2.0 * (y[k] - x[k]);
    return half;
}

/* Axes of the border: unit vectors at right angles to the normal and to each other. */
static void
fill_axes(const double *normal, double length, struct border *border)
{
    if (border->m == 2) {
        border->axis[0][0] = -normal[1] / length;
        border->axis[0][1] = normal[0] / length;
        return;
    }
    double n[3], least = HUGE_VAL;
    unsigned flat = 0;
    for (unsigned k = 0; k < 3; k++) {
        n[k] = normal[k] / length;
        if (fabs(n[k]) < least) {
            least = fabs(n[k]);
            flat = k;
        }
    }
    double *a = border->axis[0], *b = border->axis[1];
    for (unsigned k = 0; k < 3; k++)
        a[k] = (k == flat) - n[flat] * n[k];
    double scale = 1.0 / sqrt(dot(a, a, 3));
    for (unsigned k = 0; k < 3; k++)
        a[k] *= scale;
    b[0] = n[1] * a[2] - n[2] * a[1];
    b[1] = n[2] * a[0] - n[0] * a[2];
    b[2] = n[0] * a[1] - n[1] * a[0];
}

/* The foot of the middle of Omega on the border, and its axes. */
static struct border
border_of(const struct half_space *half, unsigned m)
{
    struct border border = {.m = m};
    double length2 = dot(half->normal, half->normal, m), middle = 0.0;
    for (unsigned k = 0; k < m; k++)
        middle += 0.5 * half->normal[k];
    for (unsigned k = 0; k < m; k++)
        border.centre[k] = 0.5 + half->normal[k] * (half->offset - middle) / length2;
    fill_axes(half->normal, sqrt(length2), &border);
    return border;
}

/* What a border loses, one cut after the other: the rest is an interval or a polygon. */
struct rest {
    const struct border *border;
    double low, high;           /* m == 2; high <= low: nothing is left */
    struct lbm_cutting polygon; /* m == 3 */
};

static int
is_gone(const struct rest *rest)
{
    return rest->border->m == 2 ? rest->high - rest->low <= length_min : rest->polygon.n == 0;
}

static enum lbm_err
cut(struct rest *rest, const struct half_space *half)
{
    const struct border *border = rest->border;
    double offset = half->offset - dot(half->normal, border->centre, border->m);
    double normal[2] = {dot(half->normal, border->axis[0], border->m),
                        border->m == 3 ? dot(half->normal, border->axis[1], border->m) : 0.0};
    if (border->m == 3)
        return lbm_cutting_cut(&rest->polygon, normal, offset);
    if (fabs(normal[0]) < length_min) {
        if (offset < -length_min)
            rest->high = rest->low;
    } else if (normal[0] > 0.0) {
        rest->high = fmin(rest->high, offset / normal[0]);
    } else {
        rest->low = fmax(rest->low, offset / normal[0]);
    }
    return LBM_OK;
}

static enum lbm_err
cut_by_box(struct rest *rest)
{
    enum lbm_err err = LBM_OK;
    for (unsigned k = 0; k < rest->border->m && err == LBM_OK; k++) {
        struct half_space below = {{0}, 1.0}, above = {{0}, 0.0};
        below.normal[k] = 1.0;
        above.normal[k] = -1.0;
        err = cut(rest, &below);
        if (err == LBM_OK)
            err = cut(rest, &above);
    }
    return err;
}

static double
extent(const struct rest *rest)
{
    if (is_gone(rest))
        return 0.0;
    if (rest->border->m == 2)
        return rest->high - rest->low;
    double area =
        lbm_polygon_area(&(struct lbm_polygon){.n = rest->polygon.n, .corner = rest->polygon.corner});
    return area > area_min ? area : 0.0;
}

enum lbm_err
lbm_regions_interface(const struct lbm_regions *r, uint32_t p, uint32_t q, double *size)
{
    static const double far[2][2] = {{-REACH, -REACH}, {REACH, REACH}};
    LBM_ASSERT(p < r->n && q < r->n && p != q && (r->m == 2 || r->m == 3));
    if (r->wrap)
        return LBM_E_UNSUPPORTED;
    struct half_space half = half_space(r, p, q);
    if (dot(half.normal, half.normal, r->m) == 0.0) { /* one of the two has all */
        *size = 0.0;
        return LBM_OK;
    }
    struct border border = border_of(&half, r->m);
    struct rest rest = {.border = &border, .low = -REACH, .high = REACH};
    enum lbm_err err = r->m == 3 ? lbm_cutting_begin(&rest.polygon, far[0], far[1]) : LBM_OK;
    if (err == LBM_OK)
        err = cut_by_box(&rest);
    for (uint32_t k = 0; k < r->n && err == LBM_OK && !is_gone(&rest); k++) {
        if (k == p || k == q)
            continue;
        half = half_space(r, p, k);
        err = cut(&rest, &half);
    }
    if (err == LBM_OK)
        *size = extent(&rest);
    lbm_cutting_free(&rest.polygon);
    return err;
}
