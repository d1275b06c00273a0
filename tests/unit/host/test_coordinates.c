/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Network coordinates: known geometries are found again, noise is borne, a host that moves is followed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "host/coordinates.h"

enum { HOSTS = 32, SEEDS = 5 };

/* Hosts that measure one another. */
struct world {
    struct lbm_rng rng;
    double rtt[HOSTS][HOSTS]; /* microseconds */
    struct lbm_coordinate at[HOSTS];
    double noise; /* what a measurement has too much, at most, relative */
};

/* Places in a plane of that width, each behind a way of its own. */
static void
make_plane(struct world *w, uint64_t seed, double width_us, double access_us)
{
    double x[HOSTS][2], access[HOSTS];
    *w = (struct world){0};
    lbm_rng_seed(&w->rng, seed);
    for (int p = 0; p < HOSTS; p++) {
        w->at[p] = lbm_coordinate_start();
        access[p] = 100 + access_us * lbm_rng_unit(&w->rng);
        for (int k = 0; k < 2; k++)
            x[p][k] = width_us * lbm_rng_unit(&w->rng);
    }
    for (int p = 0; p < HOSTS; p++)
        for (int q = 0; q < HOSTS; q++)
            w->rtt[p][q] = hypot(x[p][0] - x[q][0], x[p][1] - x[q][1]) + access[p] + access[q];
}

static void
measure(struct world *w, int p, int q)
{
    double rtt = w->rtt[p][q] * (1 + w->noise * lbm_rng_unit(&w->rng));
    lbm_coordinate_observe(&w->at[p], &w->at[q], rtt, (unsigned)(p * HOSTS + q));
}

/* Each host measures some other one, so often. */
static void
run(struct world *w, int rounds)
{
    for (int i = 0; i < rounds; i++)
        for (int p = 0; p < HOSTS; p++) {
            int q = (int)lbm_rng_below(&w->rng, HOSTS - 1);
            measure(w, p, q + (q >= p));
        }
}

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of how wrong what is predicted is, relative; of one host with all others, or (-1) of all
 * pairs. */
static double
median_error(const struct world *w, int host)
{
    double wrong[HOSTS * HOSTS];
    size_t n = 0;
    for (int p = 0; p < HOSTS; p++)
        for (int q = 0; q < p; q++)
            if (host == -1 || p == host || q == host)
                wrong[n++] =
                    fabs(lbm_coordinate_distance(&w->at[p], &w->at[q]) - w->rtt[p][q]) / w->rtt[p][q];
    qsort(wrong, n, sizeof *wrong, ascending);
    return wrong[n / 2];
}

static void
a_plane_is_found_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w;
        make_plane(&w, seed, 20000, 3000);
        assert_true(median_error(&w, -1) > 0.9);
        run(&w, 400);
        print_message("plane, seed %d: median error %.3f\n", (int)seed, median_error(&w, -1));
        assert_true(median_error(&w, -1) < 0.05);
        for (int p = 0; p < HOSTS; p++)
            assert_true(w.at[p].height > 0 && w.at[p].error < 0.2);
    }
}

/* 1 ms inside a site, 20 ms between any two of four. */
static void
make_sites(struct world *w, int sites)
{
    make_plane(w, 7, 0, 0);
    for (int p = 0; p < HOSTS; p++)
        for (int q = 0; q < HOSTS; q++)
            w->rtt[p][q] = p % sites == q % sites ? 1000 : 20000;
}

static void
sites_are_told_apart(void **state)
{
    (void)state;
    static const int counts[] = {2, 4};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        make_sites(&w, counts[i]);
        run(&w, 400);
        for (int p = 0; p < HOSTS; p++)
            for (int q = 0; q < p; q++) {
                double predicted = lbm_coordinate_distance(&w.at[p], &w.at[q]);
                if (p % counts[i] == q % counts[i])
                    assert_true(predicted < 3000);
                else
                    assert_true(predicted > 15000 && predicted < 25000);
            }
    }
}

static void
noise_is_borne(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w;
        make_plane(&w, seed, 20000, 3000);
        w.noise = 0.2;
        run(&w, 800);
        print_message("noise, seed %d: median error %.3f\n", (int)seed, median_error(&w, -1));
        assert_true(median_error(&w, -1) < 0.15); /* a tenth is what measurements have too much */
    }
}

static void
a_host_that_moves_is_followed_and_others_stay(void **state)
{
    (void)state;
    struct world w;
    make_plane(&w, 3, 20000, 3000);
    run(&w, 400);
    for (int q = 1; q < HOSTS; q++)
        w.rtt[0][q] = w.rtt[q][0] = w.rtt[5][q] + 15000; /* next to host 5, behind a slow way */
    assert_true(median_error(&w, 0) > 0.3);
    run(&w, 200);
    print_message("moved: median error %.3f, of all %.3f\n", median_error(&w, 0), median_error(&w, -1));
    assert_true(median_error(&w, 0) < 0.1);
    assert_true(median_error(&w, -1) < 0.05);
}

static void
hosts_of_one_place_are_parted_the_same_way_each_time(void **state)
{
    (void)state;
    struct lbm_coordinate a = lbm_coordinate_start(), b = a, here = a;
    lbm_coordinate_observe(&a, &here, 1000, 6);
    lbm_coordinate_observe(&b, &here, 1000, 6);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(lbm_coordinate_distance(&a, &here) > lbm_coordinate_distance(&here, &here));
    /* What nobody should say is taken all the same, and stays finite. */
    for (int i = 0; i < 1000; i++)
        lbm_coordinate_observe(&a, &here, i % 2 != 0 ? 1 : 1e7, 6);
    assert_true(isfinite(a.x[0]) && isfinite(a.height) && a.height > 0 && a.error <= 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_is_found_again),
        cmocka_unit_test(sites_are_told_apart),
        cmocka_unit_test(noise_is_borne),
        cmocka_unit_test(a_host_that_moves_is_followed_and_others_stay),
        cmocka_unit_test(hosts_of_one_place_are_parted_the_same_way_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
