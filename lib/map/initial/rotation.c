/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Isometries of Omega about its centre: how the guest's coordinates are laid over the sites. */
#include <math.h>
#include <string.h>

#include "map/internal.h"

enum { SPACE_SWEEPS = 12 }; /* over the three planes, as Jacobi's for eigenvectors */

static const double PI = 3.14159265358979323846;

/* Angle by which two coordinates must turn so that their fourth moments are least: of a square, upright. */
static double
upright_angle(const struct lbm_graph *g, unsigned m, unsigned i, unsigned j, const double *x)
{
    double re = 0, im = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        double a = x[(size_t)v * m + i] - 0.5, b = x[(size_t)v * m + j] - 0.5, w = lbm_graph_work(g, v);
        double re2 = a * a - b * b, im2 = 2 * a * b; /* (a + ib)^2, then its square */
        re += w * (re2 * re2 - im2 * im2);
        im += w * 2 * re2 * im2;
    }
    return (PI - atan2(im, re)) / 4;
}

void
map_set_upright(const struct lbm_graph *g, unsigned m, double *x)
{
    for (int sweep = 0; sweep < (m == 2 ? 1 : SPACE_SWEEPS); sweep++)
        for (unsigned i = 0; i < m; i++)
            for (unsigned j = i + 1; j < m; j++) {
                double angle = upright_angle(g, m, i, j, x), c = cos(angle), s = sin(angle);
                for (uint32_t v = 0; v < g->n; v++) {
                    double *a = &x[(size_t)v * m + i], *b = &x[(size_t)v * m + j], old = *a - 0.5;
                    *a = 0.5 + c * old - s * (*b - 0.5);
                    *b = 0.5 + s * old + c * (*b - 0.5);
                }
            }
}

void
map_isometry_plane(double angle, int mirrored, double *matrix)
{
    double c = cos(angle), s = sin(angle), sign = mirrored ? -1 : 1;
    matrix[0] = c * sign;
    matrix[1] = -s;
    matrix[2] = s * sign;
    matrix[3] = c;
}

/* Gram-Schmidt of random axes: near enough to uniform over the rotations and reflections of space. */
void
map_isometry_space(struct lbm_rng *rng, double *matrix)
{
    for (int i = 0; i < 9; i++)
        matrix[i] = lbm_rng_unit(rng) + lbm_rng_unit(rng) + lbm_rng_unit(rng) - 1.5;
    for (int i = 0; i < 3; i++) {
        double *row = &matrix[3 * i], length = 0;
        for (int j = 0; j < i; j++) {
            const double *axis = &matrix[3 * j];
            double along = row[0] * axis[0] + row[1] * axis[1] + row[2] * axis[2];
            for (int k = 0; k < 3; k++)
                row[k] -= along * axis[k];
        }
        length = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        if (length < 1e-9) { /* parallel axes: as good as impossible, and then any basis will do */
            memset(matrix, 0, 9 * sizeof *matrix);
            matrix[0] = matrix[4] = matrix[8] = 1;
            return;
        }
        for (int k = 0; k < 3; k++)
            row[k] /= length;
    }
}

/* The six ways to name the axes. */
void
map_isometry_axes(unsigned order, double *matrix)
{
    static const uint8_t axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    memset(matrix, 0, 9 * sizeof *matrix);
    for (int r = 0; r < 3; r++)
        matrix[3 * r + axes[order % 6][r]] = 1;
}

void
map_isometry_apply(const double *matrix, unsigned m, uint32_t n, const double *x, double *out)
{
    for (uint32_t v = 0; v < n; v++)
        for (unsigned r = 0; r < m; r++) {
            double sum = 0.5;
            for (unsigned c = 0; c < m; c++)
                sum += matrix[r * m + c] * (x[(size_t)v * m + c] - 0.5);
            out[(size_t)v * m + r] = sum;
        }
}
