/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two variants that HEI97 section 10 mentions in a sentence each; the formulas are ours.
 *
 * Circles: "if edge lengths are measured from the perimeter of these circles" an edge has its rest length
 * where the circles of its ends touch. With r = r_v + r_j the vertex goes to the mean of the points at the
 * distance r from each neighbour on the line to it. That minimizes, edge by edge, a bound of c (|x_v - x_j| -
 * r)^2, so the sum of these squares never rises when vertices move one after the other. Without radii it is
 * the mean of the neighbours.
 *
 * Angles: "averaging the angles of incident edges at each vertex": seen from a neighbour, the edge to v has
 * the mean of the angles of the edges on both sides of it. v goes to the mean of the places that its
 * neighbours so name, each at the distance that it has, or all at one distance. With the former nothing holds
 * the scale, and the iteration diverges; with the latter it converges (docs/papers.md). */
#include "embed/rules.h"

#include <math.h>

#include "base/check.h"

static const double pi = 3.14159265358979323846;

static double
weight_of(const struct lbm_graph *g, uint64_t e)
{
    return g->weight != NULL ? g->weight[e] : 1.0;
}

/* The point at the touching distance from neighbour j, towards x_v; of two that coincide, x_j. */
static void
touching(const struct lbm_diffusion *how, const double *x, uint32_t v, uint32_t j, double *to)
{
    const double *a = x + (size_t)v * how->m, *b = x + (size_t)j * how->m;
    double d2 = 0.0;
    for (unsigned k = 0; k < how->m; k++)
        d2 += (a[k] - b[k]) * (a[k] - b[k]);
    double stretch = d2 > 0.0 ? (how->radius[v] + how->radius[j]) / sqrt(d2) : 0.0;
    for (unsigned k = 0; k < how->m; k++)
        to[k] = b[k] + stretch * (a[k] - b[k]);
}

/* From 0 to below 2 pi. */
static double
turn(double angle)
{
    return angle < 0.0 ? angle + 2.0 * pi : angle;
}

static double
angle_to(const double *x, uint32_t from, uint32_t to)
{
    const double *a = x + 2 * (size_t)from, *b = x + 2 * (size_t)to;
    return atan2(b[1] - a[1], b[0] - a[0]);
}

/* Around j: how far the edge to v has to turn until it halves the angle between those next to it. With one
 * other edge it ends opposite to it, with none it stays. */
static double
missing_turn(const struct lbm_graph *g, const double *x, uint32_t j, uint32_t v)
{
    double here = angle_to(x, j, v), left = 2.0 * pi, right = 2.0 * pi;
    LBM_ASSERT(j < g->n);
    if (g->offset[j + 1] - g->offset[j] < 2)
        return 0.0;
    for (uint64_t e = g->offset[j]; e < g->offset[j + 1]; e++) {
        if (g->target[e] == v)
            continue;
        double there = angle_to(x, j, g->target[e]);
        left = fmin(left, turn(there - here));
        right = fmin(right, turn(here - there));
    }
    return 0.5 * (left - right);
}

/* Where neighbour j would have v. */
static void
turned(const struct lbm_diffusion *how, const struct lbm_graph *g, const double *x, uint32_t v, uint32_t j,
       double *to)
{
    const double *a = x + 2 * (size_t)v, *b = x + 2 * (size_t)j;
    double angle = angle_to(x, j, v) + missing_turn(g, x, j, v);
    double length = how->length > 0.0 ? how->length : hypot(a[0] - b[0], a[1] - b[1]);
    to[0] = b[0] + length * cos(angle);
    to[1] = b[1] + length * sin(angle);
}

int
lbm_rule_place(const struct lbm_diffusion *how, const struct lbm_graph *g, const double *x, uint32_t v,
               double *to)
{
    double sum[LBM_DIMENSIONS_MAX] = {0}, total = 0.0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        double place[LBM_DIMENSIONS_MAX], c = weight_of(g, e);
        if (how->rule == LBM_RULE_CIRCLES)
            touching(how, x, v, g->target[e], place);
        else
            turned(how, g, x, v, g->target[e], place);
        total += c;
        for (unsigned k = 0; k < how->m; k++)
            sum[k] += c * place[k];
    }
    for (unsigned k = 0; k < how->m && total > 0.0; k++)
        to[k] = sum[k] / total;
    return total > 0.0;
}

void
lbm_circle_radii(const struct lbm_graph *g, unsigned m, double share, double *radius)
{
    double volume = 0.0, ball = m == 2 ? pi : 4.0 / 3.0 * pi;
    for (uint32_t v = 0; v < g->n; v++) {
        radius[v] = lbm_graph_work(g, v);
        volume += ball * pow(radius[v], m);
    }
    double scale = volume > 0.0 ? pow(share / volume, 1.0 / m) : 0.0;
    for (uint32_t v = 0; v < g->n; v++)
        radius[v] *= scale;
}
