/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites of hosts: of topologies, by stress, fitted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "host/host.h"
#include "tests/unit/host/hosts_fixture.h"

static void
sites_of_a_mesh_are_the_centres_of_its_squares(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("mesh:4x2");
    for (uint32_t p = 0; p < h.n; p++) {
        assert_true(fabs(h.site[2 * p] - (p % 4 + 0.5) / 4) < 1e-15);
        assert_true(fabs(h.site[2 * p + 1] - (p / 4 + 0.5) / 2) < 1e-15);
    }
    lbm_hosts_free(&h);
}

static void
neighbours_of_a_hypercubes_grid_are_linked_around_each_axis(void **state)
{
    (void)state;
    static const char *const cubes[] = {"hypercube:4", "hypercube:5", "hypercube:6", "hypercube:7"};
    for (size_t i = 0; i < sizeof cubes / sizeof *cubes; i++) {
        struct lbm_hosts h = make_hosts(cubes[i]);
        uint32_t adjacent = 0;
        for (uint32_t p = 0; p < h.n; p++)
            for (uint32_t q = 0; q < p; q++) {
                double step = 0.0;
                int axes = 0;
                for (unsigned k = 0; k < h.m; k++) {
                    uint32_t bits = h.dims[0] / h.m + (k < h.dims[0] % h.m);
                    double d = fabs(h.site[p * h.m + k] - h.site[q * h.m + k]) * (1u << bits);
                    axes += d > 0.0;
                    step = d > 0.0 ? fmin(d, (1u << bits) - d) : step;
                }
                if (axes != 1 || fabs(step - 1.0) > 1e-9)
                    continue;
                adjacent++;
                assert_true(hosts_are_linked(&h, p, q));
            }
        assert_true(adjacent >= h.n);
        lbm_hosts_free(&h);
    }
}

static void
sites_of_a_star_surround_its_centre(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("star:9");
    for (uint32_t p = 1; p < h.n; p++)
        for (uint32_t q = p + 1; q < h.n; q++)
            assert_true(fabs(site_distance(&h, 0, p) - site_distance(&h, 0, q)) < 1e-9);
    lbm_hosts_free(&h);
}

static void
hosts_of_one_group_are_nearer_than_those_of_others(void **state)
{
    (void)state;
    struct lbm_hosts h = make_hosts("hier:4:4:4/1:10:100");
    for (uint32_t g = 0; g < 4; g++) {
        double centre[2] = {0.0, 0.0};
        for (uint32_t p = 16 * g; p < 16 * g + 16; p++)
            for (unsigned k = 0; k < 2; k++)
                centre[k] += h.site[2 * p + k] / 16;
        for (uint32_t p = 16 * g; p < 16 * g + 16; p++)
            assert_true(hypot(h.site[2 * p] - centre[0], h.site[2 * p + 1] - centre[1]) < 0.25 * sqrt(2.0));
    }
    lbm_hosts_free(&h);
}

/* Correlation of the sites' distances with the routing distances. */
static double
correlation(const struct lbm_hosts *h)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t q = 0; q < p; q++) {
            double x = site_distance(h, p, q), y = lbm_dist(h, p, q);
            n++, sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
        }
    return (sxy - sx * sy / n) / sqrt((sxx - sx * sx / n) * (syy - sy * sy / n));
}

/* A grid with shuffled ids, so that nothing but its distances can tell how it lies. */
static struct lbm_hosts
shuffled_grid(uint32_t side)
{
    uint32_t n = side * side, *id = lbm_alloc(n, sizeof *id);
    struct lbm_link *links = lbm_alloc(2 * n, sizeof *links);
    assert_true(id != NULL && links != NULL);
    size_t n_links = 0;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    for (uint32_t p = 0; p < n; p++)
        id[p] = p;
    lbm_rng_shuffle(&rng, id, n);
    for (uint32_t p = 0; p < n; p++) {
        if (p % side + 1 < side)
            links[n_links++] = (struct lbm_link){id[p], id[p + 1], 3};
        if (p + side < n)
            links[n_links++] = (struct lbm_link){id[p], id[p + side], 3};
    }
    struct lbm_hosts h = make_linked_hosts(n, links, n_links);
    free(id);
    free(links);
    return h;
}

static void
stress_sites_follow_the_routing_distances(void **state)
{
    (void)state;
    static const uint32_t sides[] = {3, 8, 25}; /* the last takes landmarks */
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct lbm_hosts h = shuffled_grid(sides[i]);
        assert_sites_in_the_box(&h);
        assert_sites_differ(&h);
        if (correlation(&h) < 0.9)
            fail_msg("side %u: correlation %g", sides[i], correlation(&h));
        lbm_hosts_free(&h);
    }
}

static void
the_same_links_give_the_same_sites(void **state)
{
    (void)state;
    struct lbm_hosts a = shuffled_grid(8), b = shuffled_grid(8);
    assert_memory_equal(a.site, b.site, (size_t)a.n * a.m * sizeof *a.site);
    lbm_hosts_free(&a);
    lbm_hosts_free(&b);
}

static void
fitting_centres_a_grid_in_its_squares_and_leaves_it_there(void **state)
{
    (void)state;
    double site[] = {-5, 7, 100, 7, -5, 7.5, 100, 7.5, -5, 1e6, 100, 1e6};
    for (int again = 0; again < 2; again++) {
        lbm_sites_fit(site, 6, 2);
        for (int p = 0; p < 6; p++) {
            assert_true(fabs(site[2 * p] - (p % 2 + 0.5) / 2) < 1e-15);
            assert_true(fabs(site[2 * p + 1] - (p / 2 + 0.5) / 3) < 1e-15);
        }
    }
}

static void
fitting_gives_each_axis_the_mean_and_variance_of_the_unit_box(void **state)
{
    (void)state;
    static const double scales[] = {1e-300, 1.0, 1e300};
    for (size_t s = 0; s < 3; s++) {
        double site[60], mean = 0.0, variance = 0.0;
        struct lbm_rng rng;
        lbm_rng_seed(&rng, 1);
        for (int i = 0; i < 60; i++)
            site[i] = scales[s] * (lbm_rng_unit(&rng) - 0.25);
        lbm_sites_fit(site, 20, 3);
        for (int p = 0; p < 20; p++)
            mean += site[3 * p] / 20;
        for (int p = 0; p < 20; p++)
            variance += pow(site[3 * p] - mean, 2.0) / 20;
        assert_true(fabs(mean - 0.5) < 0.02 && fabs(variance - 1.0 / 12) < 0.01);
        for (int i = 0; i < 60; i++)
            assert_true(site[i] >= 0.0 && site[i] <= 1.0);
    }
}

static void
fitting_stands_one_site_equal_sites_and_flat_axes(void **state)
{
    (void)state;
    double one[] = {42.0, -1e300}, equal[] = {3, 3, 3, 3, 3, 3}, flat[] = {0, 9, 1, 9, 5, 9};
    lbm_sites_fit(one, 1, 2);
    assert_true(one[0] == 0.5 && one[1] == 0.5);
    lbm_sites_fit(equal, 3, 2);
    for (int i = 0; i < 6; i++)
        assert_true(equal[i] == 0.5);
    lbm_sites_fit(flat, 3, 2);
    assert_true(flat[1] == 0.5 && fabs(flat[0] - 1.0 / 6) < 1e-15 && fabs(flat[4] - 5.0 / 6) < 1e-15);
}

static void
given_sites_are_fitted_and_given_capacities_kept(void **state)
{
    (void)state;
    struct lbm_link links[] = {{0, 1, 1}, {1, 2, 1}};
    double capacity[] = {1, 2.5, 4}, site[] = {10, 0, 0, 20, 0, 0, 30, 0, 0};
    struct lbm_hosts h;
    assert_int_equal(lbm_hosts_build(3, links, 2, capacity, 3, site, &h, NULL), LBM_OK);
    assert_int_equal(h.m, 3);
    assert_memory_equal(h.capacity, capacity, sizeof capacity);
    for (uint32_t p = 0; p < 3; p++) {
        assert_true(fabs(h.site[3 * p] - (p + 0.5) / 3) < 1e-15);
        assert_true(h.site[3 * p + 1] == 0.5 && h.site[3 * p + 2] == 0.5);
    }
    lbm_hosts_free(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_of_a_mesh_are_the_centres_of_its_squares),
        cmocka_unit_test(neighbours_of_a_hypercubes_grid_are_linked_around_each_axis),
        cmocka_unit_test(sites_of_a_star_surround_its_centre),
        cmocka_unit_test(hosts_of_one_group_are_nearer_than_those_of_others),
        cmocka_unit_test(stress_sites_follow_the_routing_distances),
        cmocka_unit_test(the_same_links_give_the_same_sites),
        cmocka_unit_test(fitting_centres_a_grid_in_its_squares_and_leaves_it_there),
        cmocka_unit_test(fitting_gives_each_axis_the_mean_and_variance_of_the_unit_box),
        cmocka_unit_test(fitting_stands_one_site_equal_sites_and_flat_axes),
        cmocka_unit_test(given_sites_are_fitted_and_given_capacities_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
