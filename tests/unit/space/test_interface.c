/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two regions of Omega share: a side in the plane, a face in three dimensions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space/space.h"
#include "tests/unit/space/regions_fixture.h"

static double
interface(const struct lbm_regions *r, uint32_t p, uint32_t q)
{
    double size = -1.0, back = -1.0;
    assert_int_equal(lbm_regions_interface(r, p, q, &size), LBM_OK);
    assert_int_equal(lbm_regions_interface(r, q, p, &back), LBM_OK);
    assert_true(fabs(size - back) < 1e-9);
    return size;
}

static void
squares_share_a_side_and_cubes_a_face_but_no_corner(void **state)
{
    (void)state;
    static const double weight[8];
    const double square[] = {0.25, 0.25, 0.75, 0.25, 0.25, 0.75, 0.75, 0.75};
    struct lbm_regions r = {4, 2, 0, square, weight};
    for (uint32_t p = 0; p < 4; p++)
        for (uint32_t q = 0; q < p; q++)
            assert_true(fabs(interface(&r, p, q) - ((p ^ q) == 3 ? 0.0 : 0.5)) < 1e-9);
    double cube[24];
    for (uint32_t i = 0; i < 24; i++)
        cube[i] = i / 3 >> i % 3 & 1 ? 0.75 : 0.25;
    r = (struct lbm_regions){8, 3, 0, cube, weight};
    for (uint32_t p = 0; p < 8; p++)
        for (uint32_t q = 0; q < p; q++) {
            int is_face = ((p ^ q) & ((p ^ q) - 1)) == 0;
            assert_true(fabs(interface(&r, p, q) - (is_face ? 0.25 : 0.0)) < 1e-9);
        }
    r.wrap = 1;
    double untouched = 7.0;
    assert_int_equal(lbm_regions_interface(&r, 0, 1, &untouched), LBM_E_UNSUPPORTED);
    assert_true(untouched == 7.0);
}

static void
a_region_that_is_empty_or_at_the_same_place_touches_none(void **state)
{
    (void)state;
    const double site[] = {0.2, 0.5, 0.5, 0.5, 0.8, 0.5, 0.2, 0.5}, weight[] = {0.0, -1.0, 0.0, -0.1};
    struct lbm_regions r = {4, 2, 0, site, weight};
    assert_true(interface(&r, 0, 1) == 0.0 && interface(&r, 1, 2) == 0.0 && interface(&r, 0, 3) == 0.0);
    assert_true(fabs(interface(&r, 0, 2) - 1.0) < 1e-9);
}

/* The sides of a cell that are not the box's add up to its interfaces. */
static void
interfaces_add_up_to_the_border_of_a_cell(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (int run = 0; run < 30; run++) {
        struct lbm_regions r = random_regions(&rng, 2 + (uint32_t)run, 2, 0, 0.02);
        struct lbm_polygon *cells = all_cells(&r);
        for (uint32_t p = 0; p < r.n; p++) {
            double inner = 0.0, sum = 0.0;
            for (uint32_t i = 0; i < cells[p].n; i++) {
                const double *a = cells[p].corner[i], *b = cells[p].corner[(i + 1) % cells[p].n];
                int of_box = 0;
                for (int k = 0; k < 2; k++)
                    of_box |= a[k] == b[k] && (a[k] == 0.0 || a[k] == 1.0);
                inner += of_box ? 0.0 : hypot(a[0] - b[0], a[1] - b[1]);
            }
            for (uint32_t q = 0; q < r.n; q++)
                sum += q == p ? 0.0 : interface(&r, p, q);
            if (fabs(sum - inner) > 1e-6)
                fail_msg("region %u of %u: interfaces %.9f, border %.9f", p, r.n, sum, inner);
        }
        free_cells(cells, r.n);
        free_regions(&r);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_share_a_side_and_cubes_a_face_but_no_corner),
        cmocka_unit_test(a_region_that_is_empty_or_at_the_same_place_touches_none),
        cmocka_unit_test(interfaces_add_up_to_the_border_of_a_cell),
    };
    return cmocka_run_group_tests_name("interface", tests, NULL, NULL);
}
