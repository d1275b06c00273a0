/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions at random sites, and the cells of all of them. Included after cmocka.h. */
#ifndef LBM_TESTS_UNIT_SPACE_REGIONS_FIXTURE_H
#define LBM_TESTS_UNIT_SPACE_REGIONS_FIXTURE_H

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "space/space.h"

/* Random sites in the unit box; weights uniform in [0, spread). Free with free_regions. */
static inline struct lbm_regions
random_regions(struct lbm_rng *rng, uint32_t n, unsigned m, int wrap, double spread)
{
    double *site = lbm_alloc((size_t)n * m, sizeof *site), *weight = lbm_alloc(n, sizeof *weight);
    assert_true(site != NULL && weight != NULL);
    for (size_t i = 0; i < (size_t)n * m; i++)
        site[i] = lbm_rng_unit(rng);
    for (uint32_t p = 0; p < n; p++)
        weight[p] = spread * lbm_rng_unit(rng);
    return (struct lbm_regions){.n = n, .m = m, .wrap = wrap, .site = site, .weight = weight};
}

static inline void
free_regions(struct lbm_regions *r)
{
    free((void *)(uintptr_t)r->site);
    free((void *)(uintptr_t)r->weight);
}

static inline struct lbm_polygon *
all_cells(const struct lbm_regions *r)
{
    struct lbm_polygon *cells = lbm_alloc(r->n, sizeof *cells);
    assert_non_null(cells);
    for (uint32_t p = 0; p < r->n; p++) {
        enum lbm_err err =
            r->wrap ? lbm_regions_cell_torus(r, p, &cells[p]) : lbm_regions_cell(r, p, &cells[p]);
        assert_int_equal(err, LBM_OK);
        assert_true(cells[p].n == 0 || cells[p].n >= 3);
    }
    return cells;
}

static inline void
free_cells(struct lbm_polygon *cells, uint32_t n)
{
    for (uint32_t p = 0; p < n; p++)
        lbm_polygon_free(&cells[p]);
    free(cells);
}

#endif
