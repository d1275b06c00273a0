/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random points of the unit square, numbered cell by cell of a grid. */
#include <stdlib.h>

#include "base/check.h"
#include "graph/generators.h"

uint32_t
lbm_points_cell(const struct lbm_point_grid *grid, double x, double y)
{
    uint32_t column = (uint32_t)(x * grid->side), row = (uint32_t)(y * grid->side);
    return row * grid->side + column;
}

void
lbm_points_free(struct lbm_point_grid *grid)
{
    free(grid->first);
    free(grid->position);
    *grid = (struct lbm_point_grid){0};
}

enum lbm_err
lbm_points_draw(uint32_t n, uint32_t side, struct lbm_rng *rng, struct lbm_point_grid *out)
{
    LBM_ASSERT(side > 0 && side <= 1u << 15);
    uint32_t cells = side * side;
    struct lbm_point_grid grid = {.side = side};
    double *drawn = lbm_alloc(2 * (size_t)n, sizeof *drawn);
    grid.position = lbm_alloc(2 * (size_t)n, sizeof *grid.position);
    grid.first = lbm_alloc((size_t)cells + 1, sizeof *grid.first);
    if (drawn == NULL || grid.position == NULL || grid.first == NULL) {
        free(drawn);
        lbm_points_free(&grid);
        return LBM_E_NOMEM;
    }
    for (size_t i = 0; i < 2 * (size_t)n; i++)
        drawn[i] = lbm_rng_unit(rng);
    for (size_t i = 0; i < n; i++)
        grid.first[lbm_points_cell(&grid, drawn[2 * i], drawn[2 * i + 1])]++;
    for (uint32_t c = 0, sum = 0; c <= cells; c++) { /* first[c] becomes the end of cell c */
        sum += grid.first[c];
        grid.first[c] = sum;
    }
    for (size_t i = n; i-- > 0;) { /* and then, filled from behind, its start */
        uint32_t at = --grid.first[lbm_points_cell(&grid, drawn[2 * i], drawn[2 * i + 1])];
        grid.position[2 * (size_t)at] = drawn[2 * i];
        grid.position[2 * (size_t)at + 1] = drawn[2 * i + 1];
    }
    free(drawn);
    *out = grid;
    return LBM_OK;
}
