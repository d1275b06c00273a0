/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of Omega: who holds a point, cells that tile it, weights that balance it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "space/near.h"
#include "space/space.h"
#include "tests/unit/space/regions_fixture.h"

static double
total_area(const struct lbm_polygon *cells, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < n; p++) {
        assert_true(lbm_polygon_area(&cells[p]) >= 0.0);
        sum += lbm_polygon_area(&cells[p]);
    }
    return sum;
}

/* Left of every side, by less than nothing. */
static int
inside(const struct lbm_polygon *cell, double x, double y)
{
    for (uint32_t i = 0; i < cell->n; i++) {
        const double *a = cell->corner[i], *b = cell->corner[(i + 1) % cell->n];
        if ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) < -1e-12)
            return 0;
    }
    return cell->n != 0;
}

static int
inside_some_image(const struct lbm_polygon *cell, const double *x)
{
    for (int image = 0; image < 9; image++)
        if (inside(cell, x[0] + image % 3 - 1, x[1] + image / 3 - 1))
            return 1;
    return 0;
}

/* Cells cover the unit area, and the cell of the region that holds a random point contains it. */
static void
check_cells(const struct lbm_regions *r, struct lbm_rng *rng)
{
    struct lbm_polygon *cells = all_cells(r);
    double area = total_area(cells, r->n);
    if (fabs(area - 1.0) > 1e-9)
        fail_msg("%u cells cover %.12f", r->n, area);
    for (int i = 0; i < 300; i++) {
        double x[2] = {lbm_rng_unit(rng), lbm_rng_unit(rng)};
        uint32_t p = lbm_regions_find(r, x, NULL);
        assert_true(r->wrap ? inside_some_image(&cells[p], x) : inside(&cells[p], x[0], x[1]));
    }
    free_cells(cells, r->n);
}

/* ---- who holds a point --------------------------------------------------------------------------- */

static void
a_point_belongs_to_the_least_power_and_the_margin_is_the_gap_to_the_next(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1);
    for (int run = 0; run < 60; run++) {
        unsigned m = 2 + (unsigned)run % 2;
        struct lbm_regions r = random_regions(&rng, 2 + (uint32_t)run, m, run / 2 % 2, 0.1);
        for (int i = 0; i < 50; i++) {
            double x[3], least = HUGE_VAL, second = HUGE_VAL, margin;
            uint32_t holder = 0;
            for (unsigned k = 0; k < m; k++)
                x[k] = lbm_rng_unit(&rng);
            for (uint32_t p = 0; p < r.n; p++) {
                double power = lbm_space_distance2(x, &r.site[p * m], m, r.wrap) - r.weight[p];
                if (power < least) {
                    second = least;
                    least = power;
                    holder = p;
                } else {
                    second = fmin(second, power);
                }
            }
            assert_int_equal(lbm_regions_find(&r, x, &margin), holder);
            assert_true(fabs(margin - (second - least)) < 1e-12);
        }
        free_regions(&r);
    }
}

static void
points_on_a_border_belong_to_the_lower_id(void **state)
{
    (void)state;
    const double site[] = {0.25, 0.25, 0.75, 0.25, 0.25, 0.75, 0.75, 0.75}, weight[4] = {0};
    const double centre[] = {0.5, 0.5}, right[] = {0.75, 0.5};
    struct lbm_regions r = {4, 2, 0, site, weight};
    double margin = -1.0;
    assert_int_equal(lbm_regions_find(&r, centre, &margin), 0);
    assert_true(margin == 0.0);
    assert_int_equal(lbm_regions_find(&r, right, NULL), 1);
}

static void
one_region_holds_everything(void **state)
{
    (void)state;
    const double site[] = {0.9, 0.1}, weight[] = {-3.0}, x[] = {0.0, 1.0};
    struct lbm_regions r = {1, 2, 0, site, weight};
    double margin;
    assert_int_equal(lbm_regions_find(&r, x, &margin), 0);
    assert_true(isinf(margin));
    assert_true(lbm_regions_least_distance(&r) == 1.0);
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 2);
    check_cells(&r, &rng);
    r.wrap = 1;
    check_cells(&r, &rng);
}

static void
distances_on_the_torus_take_the_shorter_way(void **state)
{
    (void)state;
    const double a[] = {0.05, 0.5, 0.9}, b[] = {0.95, 0.5, 0.2};
    assert_true(fabs(lbm_space_distance2(a, b, 2, 0) - 0.81) < 1e-12);
    assert_true(fabs(lbm_space_distance2(a, b, 2, 1) - 0.01) < 1e-12);
    assert_true(fabs(lbm_space_distance2(a, b, 3, 1) - 0.10) < 1e-12);
}

static void
the_least_distance_leaves_out_sites_at_one_place(void **state)
{
    (void)state;
    const double site[] = {0.1, 0.1, 0.1, 0.1, 0.4, 0.5, 0.1, 0.9}, weight[4] = {0};
    struct lbm_regions r = {4, 2, 0, site, weight};
    assert_true(fabs(lbm_regions_least_distance(&r) - 0.5) < 1e-12);
    r.wrap = 1; /* 0.1 and 0.9 are 0.2 apart */
    assert_true(fabs(lbm_regions_least_distance(&r) - 0.2) < 1e-12);
    r.n = 2;
    assert_true(lbm_regions_least_distance(&r) == 1.0);
}

/* ---- cells --------------------------------------------------------------------------------------- */

static void
cells_tile_omega_and_agree_with_the_regions(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 5, 17, 64, 300, 1500};
    static const double spreads[] = {0.0, 0.001, 0.1, 3.0}; /* the last leaves most cells empty */
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof spreads / sizeof *spreads; j++) {
            struct lbm_regions r = random_regions(&rng, sizes[i], 2, 0, spreads[j]);
            check_cells(&r, &rng);
            free_regions(&r);
        }
}

static void
cells_tile_the_torus_and_agree_with_the_regions(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 5, 17, 64, 200};
    static const double spreads[] = {0.0, 0.01, 0.3};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof spreads / sizeof *spreads; j++) {
            struct lbm_regions r = random_regions(&rng, sizes[i], 2, 1, spreads[j]);
            check_cells(&r, &rng);
            free_regions(&r);
        }
}

static void
grid_sites_of_equal_weight_have_equal_squares(void **state)
{
    (void)state;
    double site[32], weight[16];
    for (int p = 0; p < 16; p++) {
        site[2 * p] = (p % 4 + 0.5) / 4;
        site[2 * p + 1] = (p / 4 + 0.5) / 4;
        weight[p] = 0.7;
    }
    struct lbm_regions r = {16, 2, 0, site, weight};
    for (int wrap = 0; wrap < 2; wrap++) {
        r.wrap = wrap;
        struct lbm_polygon *cells = all_cells(&r);
        for (int p = 0; p < 16; p++)
            assert_true(fabs(lbm_polygon_area(&cells[p]) - 1.0 / 16) < 1e-12);
        free_cells(cells, 16);
    }
}

static void
of_sites_at_one_place_the_heavier_has_the_cell_of_equals_the_lower_id(void **state)
{
    (void)state;
    const double site[] = {0.3, 0.5, 0.3, 0.5, 0.3, 0.5, 0.7, 0.5};
    const double equal[] = {0.0, 0.0, 0.0, 0.0}, heavier[] = {0.0, 0.0, 0.01, 0.0};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (int wrap = 0; wrap < 2; wrap++) {
        struct lbm_regions r = {4, 2, wrap, site, equal};
        check_cells(&r, &rng);
        struct lbm_polygon *cells = all_cells(&r);
        assert_true(fabs(lbm_polygon_area(&cells[0]) - 0.5) < 1e-9);
        assert_true(cells[1].n == 0 && cells[2].n == 0);
        free_cells(cells, 4);
        r.weight = heavier;
        check_cells(&r, &rng);
        cells = all_cells(&r);
        assert_true(cells[0].n == 0 && cells[1].n == 0 && lbm_polygon_area(&cells[2]) > 0.5);
        free_cells(cells, 4);
    }
}

static void
sites_almost_at_one_place_and_on_one_line_still_tile(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 6);
    double site[80], weight[40];
    for (int p = 0; p < 40; p++) {
        site[2 * p] = p < 20 ? 0.5 + 1e-13 * p : 0.025 * p;
        site[2 * p + 1] = p < 20 ? 0.5 : 0.25;
        weight[p] = p % 3 == 0 ? 1e-15 * p : 0.0;
    }
    struct lbm_regions r = {40, 2, 0, site, weight};
    struct lbm_polygon *cells = all_cells(&r);
    assert_true(fabs(total_area(cells, 40) - 1.0) < 1e-9);
    free_cells(cells, 40);
}

static void
a_cell_of_the_most_hosts_is_cut_by_all(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 7);
    struct lbm_regions r = random_regions(&rng, LBM_HOSTS_MAX, 2, 0, 1e-5);
    for (int i = 0; i < 50; i++) {
        double x[2] = {lbm_rng_unit(&rng), lbm_rng_unit(&rng)};
        uint32_t p = lbm_regions_find(&r, x, NULL);
        struct lbm_polygon cell;
        assert_int_equal(lbm_regions_cell(&r, p, &cell), LBM_OK);
        assert_true(inside(&cell, x[0], x[1]) && lbm_polygon_area(&cell) < 0.01);
        lbm_polygon_free(&cell);
    }
    free_regions(&r);
}

/* Sites on a circle around one in the middle: its cell has as many corners. */
static void
a_cell_may_have_many_corners(void **state)
{
    (void)state;
    enum { AROUND = 500 };
    double site[2 * AROUND + 2] = {0.5, 0.5}, weight[AROUND + 1] = {0};
    for (int i = 0; i < AROUND; i++) {
        site[2 * i + 2] = 0.5 + 0.4 * cos(6.283185307179586 * i / AROUND);
        site[2 * i + 3] = 0.5 + 0.4 * sin(6.283185307179586 * i / AROUND);
    }
    struct lbm_regions r = {AROUND + 1, 2, 0, site, weight};
    struct lbm_polygon cell;
    assert_int_equal(lbm_regions_cell(&r, 0, &cell), LBM_OK);
    assert_int_equal(cell.n, AROUND);
    assert_true(fabs(lbm_polygon_area(&cell) - 3.14159265 * 0.04) < 1e-4);
    lbm_polygon_free(&cell);
}

static void
cells_exist_in_two_dimensions_only(void **state)
{
    (void)state;
    const double site[] = {0.5, 0.5, 0.5}, weight[] = {0.0};
    struct lbm_regions r = {1, 3, 0, site, weight};
    struct lbm_polygon cell;
    assert_int_equal(lbm_regions_cell(&r, 0, &cell), LBM_E_UNSUPPORTED);
    assert_int_equal(lbm_regions_cell_torus(&r, 0, &cell), LBM_E_UNSUPPORTED);
    r.m = 2;
    r.wrap = 1;
    assert_int_equal(lbm_regions_cell(&r, 0, &cell), LBM_E_UNSUPPORTED);
}

/* ---- adapting ------------------------------------------------------------------------------------ */

static void
a_weight_rises_with_the_lack_of_load_and_falls_with_its_excess(void **state)
{
    (void)state;
    double gain = 1.0, previous = 0.0;
    assert_true(fabs(lbm_regions_adapt(5.0, 10.0, 0.1, &gain, &previous) - 0.5 * 1.15 * 0.01 * 0.5) < 1e-15);
    assert_true(fabs(gain - 1.15) < 1e-15);
    assert_true(fabs(lbm_regions_adapt(12.0, 10.0, 0.1, &gain, &previous) + 0.5 * 1.15 * 0.6 * 0.01 * 0.2) <
                1e-15);
    gain = 1.9;
    assert_true(fabs(lbm_regions_adapt(1000.0, 10.0, 0.1, &gain, &previous) + 0.01) <
                1e-15); /* gain 2, clamped */
    assert_true(gain == 2.0);
    assert_true(lbm_regions_adapt(10.0, 10.0, 0.1, &gain, &previous) == 0.0);
}

static void
a_region_without_a_target_shrinks_while_it_has_load(void **state)
{
    (void)state;
    double gain = 1.0, previous = 0.0;
    assert_true(lbm_regions_adapt(5.0, 0.0, 0.1, &gain, &previous) < 0.0);
    assert_true(lbm_regions_adapt(0.0, 0.0, 0.1, &gain, &previous) == 0.0);
}

/* ---- balancing ----------------------------------------------------------------------------------- */

struct points {
    uint32_t n;
    double *x;
    uint32_t *work;
};

/* Clustered: half of the points lie around three places. */
static struct points
random_points(struct lbm_rng *rng, uint32_t n, unsigned m, int clustered)
{
    struct points points = {n, lbm_alloc((size_t)n * m, sizeof(double)), lbm_alloc(n, sizeof(uint32_t))};
    assert_true(points.x != NULL && points.work != NULL);
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < m; k++) {
            double u = lbm_rng_unit(rng), v = lbm_rng_unit(rng), centre = 0.2 + 0.3 * ((i / 2 + k) % 3);
            points.x[(size_t)i * m + k] = clustered && i % 2 == 0 ? centre + 0.15 * (u + v - 1.0) : u;
        }
        points.work[i] = 1 + lbm_rng_below(rng, 5);
    }
    return points;
}

static void
free_points(struct points *points)
{
    free(points->x);
    free(points->work);
}

/* What balancing says must be so: hosts are those of the weights, the imbalance is theirs. Returns it. */
static double
check_balance(uint32_t n, unsigned m, int wrap, const double *site, const double *capacity,
              const struct points *points, int rounds)
{
    double *weight = lbm_alloc(n, sizeof *weight), *load = lbm_alloc(n, sizeof *load);
    uint32_t *host = lbm_alloc(points->n, sizeof *host);
    assert_true(weight != NULL && load != NULL && host != NULL);
    double reached = lbm_regions_balance(n, m, wrap, site, capacity, points->n, points->x, points->work, 0.03,
                                         rounds, weight, host);
    struct lbm_regions r = {n, m, wrap, site, weight};
    double total = 0.0, capacities = 0.0, most = 0.0;
    for (uint32_t i = 0; i < points->n; i++) {
        double margin;
        uint32_t found = lbm_regions_find(&r, &points->x[(size_t)i * m], &margin);
        assert_true(found == host[i] || margin < 1e-11);
        load[host[i]] += points->work[i];
        total += points->work[i];
    }
    for (uint32_t p = 0; p < n; p++)
        capacities += capacity[p];
    for (uint32_t p = 0; p < n; p++)
        most = fmax(most, load[p] / (total * capacity[p] / capacities));
    assert_true(fabs(most - 1.0 - reached) < 1e-9);
    free(weight);
    free(load);
    free(host);
    return reached;
}

static void
balance_reaches_its_tolerance_on_grid_sites(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 8);
    for (int i = 0; i < 8; i++) {
        int clustered = i & 1, unequal = i & 2, wrap = (i & 4) != 0;
        double site[50], capacity[25];
        for (int p = 0; p < 25; p++) {
            site[2 * p] = (p % 5 + 0.5) / 5;
            site[2 * p + 1] = (p / 5 + 0.5) / 5;
            capacity[p] = unequal ? 1.0 + lbm_rng_unit(&rng) : 1.0;
        }
        struct points points = random_points(&rng, 20000, 2, clustered);
        double reached = check_balance(25, 2, wrap, site, capacity, &points, 150);
        if (reached > 0.03)
            fail_msg("clustered %d, unequal %d, wrap %d: %g", clustered, unequal != 0, wrap, reached);
        free_points(&points);
    }
}

static void
balance_reaches_its_tolerance_on_random_sites_in_both_dimensions(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 9);
    for (unsigned m = 2; m <= 3; m++) {
        struct lbm_regions r = random_regions(&rng, 20, m, 0, 1.0);
        double capacity[20];
        for (int p = 0; p < 20; p++)
            capacity[p] = 1.0 + lbm_rng_unit(&rng);
        struct points points = random_points(&rng, 20000, m, 0);
        assert_true(check_balance(20, m, 0, r.site, capacity, &points, 300) <= 0.03);
        free_points(&points);
        free_regions(&r);
    }
}

static void
balance_of_many_regions_finds_what_a_scan_of_all_finds(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 10);
    for (int i = 0; i < 8; i++) {
        unsigned m = 2 + (unsigned)(i & 1);
        struct lbm_regions r = random_regions(&rng, 400, m, (i & 2) != 0, 1.0);
        double capacity[400];
        for (int p = 0; p < 400; p++)
            capacity[p] = 0.5 + lbm_rng_unit(&rng);
        struct points points = random_points(&rng, 4000, m, i & 4);
        check_balance(400, m, r.wrap, r.site, capacity, &points, 25);
        free_points(&points);
        free_regions(&r);
    }
}

/* Every corner of a grid's squares is a tie of four regions. */
static void
a_search_among_neighbours_breaks_ties_as_a_scan_does(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    double site[2 * SIDE * SIDE], weight[SIDE * SIDE] = {0};
    for (int p = 0; p < SIDE * SIDE; p++) {
        site[2 * p] = (p % SIDE + 0.5) / SIDE;
        site[2 * p + 1] = (floor(p / (double)SIDE) + 0.5) / SIDE;
    }
    struct lbm_regions r = {SIDE * SIDE, 2, 0, site, weight};
    struct lbm_near near;
    assert_int_equal(lbm_near_build(&r, &near), LBM_OK);
    assert_true(near.listed > 0);
    for (int corner = 0; corner <= SIDE * (SIDE + 2); corner++) {
        double x[2] = {corner % (SIDE + 1) / (double)SIDE, corner / (SIDE + 1) / (double)SIDE};
        uint32_t holder = lbm_regions_find(&r, x, NULL);
        for (uint32_t p = 0; p < r.n; p += 5) {
            struct lbm_winner winner = lbm_near_find(&near, &r, x, p, 0.0);
            assert_int_equal(winner.region, holder);
        }
    }
    lbm_near_free(&near);
}

static void
balance_never_makes_an_assignment_worse(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 11);
    for (int i = 0; i < 20; i++) {
        struct lbm_regions r = random_regions(&rng, 1 + (uint32_t)i, 2, 0, 1.0);
        double capacity[20];
        for (int p = 0; p < 20; p++)
            capacity[p] = 0.1 + lbm_rng_unit(&rng);
        struct points points = random_points(&rng, 7 * (uint32_t)i + 1, 2, i % 2);
        double start = check_balance(r.n, 2, 0, r.site, capacity, &points, 0);
        assert_true(check_balance(r.n, 2, 0, r.site, capacity, &points, 40) <= start);
        free_points(&points);
        free_regions(&r);
    }
}

static void
balance_stands_no_points_one_region_and_sites_at_one_place(void **state)
{
    (void)state;
    const double site[] = {0.5, 0.5, 0.5, 0.5}, capacity[] = {1.0, 1.0}, x[] = {0.1, 0.1, 0.9, 0.9};
    double weight[2] = {7.0, 7.0};
    uint32_t host[2] = {9, 9};
    assert_true(lbm_regions_balance(2, 2, 0, site, capacity, 0, NULL, NULL, 0.03, 50, weight, host) == 0.0);
    assert_true(weight[0] == 0.0 && weight[1] == 0.0 && host[0] == 9);
    assert_true(lbm_regions_balance(1, 2, 0, site, capacity, 2, x, NULL, 0.03, 50, weight, host) == 0.0);
    assert_true(host[0] == 0 && host[1] == 0);
    /* One of the two always has both points. */
    assert_true(lbm_regions_balance(2, 2, 0, site, capacity, 2, x, NULL, 0.03, 50, weight, host) == 1.0);
    assert_true(host[0] == host[1]);
}

/* Every region holds the points it is due, and what a point is found in is where it was counted. */
static void
cuts_give_each_region_what_is_due(void **state)
{
    enum { POINTS = 20000, REGIONS_MOST = 100 };
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 7);
    static const uint32_t n[] = {1, 2, 3, 10, 64, 97, REGIONS_MOST};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (unsigned m = 2; m <= 3; m++) {
            struct lbm_regions r = random_regions(&rng, n[i], m, 0, 1);
            struct lbm_cuts cuts;
            double *x = calloc((size_t)POINTS * m, sizeof *x), due[REGIONS_MOST], load[REGIONS_MOST] = {0};
            double at[REGIONS_MOST], whole = 0;
            uint32_t *work = calloc(POINTS, sizeof *work);
            for (uint32_t k = 0; k < POINTS * m; k++)
                x[k] = lbm_rng_unit(&rng) * lbm_rng_unit(&rng);
            for (uint32_t k = 0; k < POINTS; k++)
                work[k] = 1 + lbm_rng_below(&rng, 3);
            for (uint32_t p = 0; p < n[i]; p++)
                whole += due[p] = 1 + lbm_rng_below(&rng, 4);
            assert_int_equal(lbm_cuts_plan(n[i], m, r.site, &cuts), LBM_OK);
            assert_int_equal(lbm_cuts_place(&cuts, due, POINTS, x, work, at), LBM_OK);
            double all = 0;
            for (uint32_t k = 0; k < POINTS; k++) {
                load[lbm_cuts_find(&cuts, at, &x[k * m])] += work[k];
                all += work[k];
            }
            for (uint32_t p = 0; p < n[i]; p++) /* a point more or less at each of a few cuts */
                assert_true(fabs(load[p] - all * due[p] / whole) <= 3 * 20);
            lbm_cuts_free(&cuts);
            free(x);
            free(work);
            free_regions(&r);
        }
}

/* Sites of a grid are cut between its lines, so that regions lie as their sites do. */
static void
cuts_lie_between_lines_of_a_grid(void **state)
{
    (void)state;
    enum { SIDE = 12 };
    double site[SIDE * SIDE * 2], due[SIDE * SIDE], at[SIDE * SIDE];
    struct lbm_cuts cuts;
    for (uint32_t p = 0; p < SIDE * SIDE; p++) {
        site[2 * p] = (p % SIDE + 0.5) / SIDE;
        site[2 * p + 1] = (floor(p / (double)SIDE) + 0.5) / SIDE;
        due[p] = 1;
    }
    assert_int_equal(lbm_cuts_plan(SIDE * SIDE, 2, site, &cuts), LBM_OK);
    assert_int_equal(lbm_cuts_place(&cuts, due, SIDE * SIDE, site, NULL, at), LBM_OK);
    for (uint32_t p = 0; p < SIDE * SIDE; p++)
        assert_int_equal(lbm_cuts_find(&cuts, at, &site[2 * p]), p);
    lbm_cuts_free(&cuts);
}

static void
cuts_stand_no_points_and_sites_at_one_place(void **state)
{
    (void)state;
    const double site[10] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, due[5] = {1, 1, 1, 1, 1};
    double at[4];
    struct lbm_cuts cuts;
    assert_int_equal(lbm_cuts_plan(5, 2, site, &cuts), LBM_OK);
    assert_int_equal(lbm_cuts_place(&cuts, due, 0, NULL, NULL, at), LBM_OK);
    assert_in_range(lbm_cuts_find(&cuts, at, site), 0, 4);
    assert_int_equal(lbm_cuts_place(&cuts, due, 5, site, NULL, at), LBM_OK);
    assert_in_range(lbm_cuts_find(&cuts, at, site), 0, 4);
    lbm_cuts_free(&cuts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_belongs_to_the_least_power_and_the_margin_is_the_gap_to_the_next),
        cmocka_unit_test(points_on_a_border_belong_to_the_lower_id),
        cmocka_unit_test(one_region_holds_everything),
        cmocka_unit_test(distances_on_the_torus_take_the_shorter_way),
        cmocka_unit_test(the_least_distance_leaves_out_sites_at_one_place),
        cmocka_unit_test(cells_tile_omega_and_agree_with_the_regions),
        cmocka_unit_test(cells_tile_the_torus_and_agree_with_the_regions),
        cmocka_unit_test(grid_sites_of_equal_weight_have_equal_squares),
        cmocka_unit_test(of_sites_at_one_place_the_heavier_has_the_cell_of_equals_the_lower_id),
        cmocka_unit_test(sites_almost_at_one_place_and_on_one_line_still_tile),
        cmocka_unit_test(a_cell_of_the_most_hosts_is_cut_by_all),
        cmocka_unit_test(a_cell_may_have_many_corners),
        cmocka_unit_test(cells_exist_in_two_dimensions_only),
        cmocka_unit_test(a_weight_rises_with_the_lack_of_load_and_falls_with_its_excess),
        cmocka_unit_test(a_region_without_a_target_shrinks_while_it_has_load),
        cmocka_unit_test(balance_reaches_its_tolerance_on_grid_sites),
        cmocka_unit_test(balance_reaches_its_tolerance_on_random_sites_in_both_dimensions),
        cmocka_unit_test(balance_of_many_regions_finds_what_a_scan_of_all_finds),
        cmocka_unit_test(a_search_among_neighbours_breaks_ties_as_a_scan_does),
        cmocka_unit_test(balance_never_makes_an_assignment_worse),
        cmocka_unit_test(cuts_give_each_region_what_is_due),
        cmocka_unit_test(cuts_lie_between_lines_of_a_grid),
        cmocka_unit_test(cuts_stand_no_points_and_sites_at_one_place),
        cmocka_unit_test(balance_stands_no_points_one_region_and_sites_at_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
