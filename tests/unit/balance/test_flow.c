/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Net flows and their minima; policies that are exact or bounded by a theorem. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance/whole.h"
#include "tests/unit/balance/field_fixture.h"

/* The i-th random network with loads; excess [n] is what is to leave each host. */
static void
open_random(struct field *f, int i, double *excess)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 500 + (uint64_t)i);
    uint32_t n = 2 + lbm_rng_below(&rng, 30);
    field_open(f, make_random_hosts(&rng, n, lbm_rng_below(&rng, n), i % 2));
    field_draw(f, (uint64_t)i, 0);
    double mean = field_total(f) / f->h.n;
    for (uint32_t p = 0; p < n; p++)
        excess[p] = f->load[p] - mean * f->net.share[p];
}

static void
assert_carries(const struct field *f, const double *flow, const double *excess)
{
    double left[FIELD_LOADS_MAX];
    memcpy(left, excess, f->h.n * sizeof *left);
    for (uint32_t i = 0; i < f->net.colouring.n_links; i++) {
        left[f->net.colouring.link[i].p] -= flow[i];
        left[f->net.colouring.link[i].q] += flow[i];
    }
    for (uint32_t p = 0; p < f->h.n; p++)
        assert_near(left[p], 0.0, 1e-9);
}

/* L x = excess by elimination, host 0 at potential 0. */
static void
solve_dense(const struct field *f, const double *excess, double *x)
{
    static double a[FIELD_LOADS_MAX][FIELD_LOADS_MAX + 1];
    uint32_t n = f->h.n;
    memset(a, 0, sizeof a);
    for (uint32_t i = 0; i < f->net.colouring.n_links; i++) {
        uint32_t p = f->net.colouring.link[i].p, q = f->net.colouring.link[i].q;
        a[p][p] += 1.0;
        a[q][q] += 1.0;
        a[p][q] -= 1.0;
        a[q][p] -= 1.0;
    }
    for (uint32_t p = 1; p < n; p++)
        a[p][n] = excess[p];
    for (uint32_t k = 1; k < n; k++) /* positive definite: no pivoting */
        for (uint32_t p = 1; p < n; p++)
            for (uint32_t q = n + 1; p != k && q-- > k;)
                a[p][q] -= a[p][k] / a[k][k] * a[k][q];
    x[0] = 0.0;
    for (uint32_t p = 1; p < n; p++)
        x[p] = a[p][n] / a[p][p];
}

static void
potentials_are_those_of_a_dense_solution(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct field f;
        double excess[FIELD_LOADS_MAX], x[FIELD_LOADS_MAX];
        open_random(&f, i, excess);
        solve_dense(&f, excess, x);
        assert_int_equal(lbm_flow_least_root(&f.net.colouring, excess, f.flow), LBM_OK);
        assert_carries(&f, f.flow, excess);
        for (uint32_t k = 0; k < f.net.colouring.n_links; k++)
            assert_near(f.flow[k], x[f.net.colouring.link[k].p] - x[f.net.colouring.link[k].q], 1e-9);
        field_close(&f);
    }
}

/* Each minimum is a flow with that excess, and no policy's flow is below it; of a tree there is one flow. */
static void
no_flow_is_below_the_least(void **state)
{
    (void)state;
    static const enum lbm_policy policies[] = {LBM_POLICY_GDE, LBM_POLICY_DIMENSION_EXCHANGE,
                                               LBM_POLICY_CHEBYSHEV, LBM_POLICY_POTENTIALS,
                                               LBM_POLICY_RANDOM_MATCHING};
    for (int i = 0; i < 40; i++) {
        struct field f;
        double excess[FIELD_LOADS_MAX];
        struct lbm_flow_size least, size;
        open_random(&f, i, excess);
        uint32_t links = f.net.colouring.n_links;
        assert_int_equal(lbm_flow_least(&f.net.colouring, excess, &least), LBM_OK);
        assert_int_equal(lbm_flow_least_sum(&f.net.colouring, excess, f.flow), LBM_OK);
        assert_carries(&f, f.flow, excess);
        lbm_flow_measure(f.flow, links, &size);
        assert_true(size.root >= least.root - 1e-9 && size.busiest >= least.busiest - 1e-9);
        assert_int_equal(lbm_flow_least_busiest(&f.net.colouring, excess, f.flow), LBM_OK);
        assert_carries(&f, f.flow, excess);
        lbm_flow_measure(f.flow, links, &size);
        assert_true(size.root >= least.root - 1e-9 && size.sum >= least.sum - 1e-9);
        for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
            struct lbm_balance_options o = field_usual(policies[k], 0);
            struct lbm_balance_result r;
            o.bound = 1e-9;
            field_draw(&f, (uint64_t)i, 0);
            assert_true(field_run(&f, &o, &r) && r.settled);
            assert_true(r.net.sum >= least.sum - 1e-6 && r.net.root >= least.root - 1e-6 &&
                        r.net.busiest >= least.busiest - 1e-6);
            if (policies[k] == LBM_POLICY_POTENTIALS)
                assert_near(r.net.root, least.root, 1e-6);
            if (links == f.h.n - 1)
                assert_near(r.net.sum, least.sum, 1e-6);
        }
        field_close(&f);
    }
}

/* On a ring the flow is known but for a circulation: the least sum is at a median, the least busiest midway.
 */
static void
least_flows_on_rings_are_those_of_all_circulations(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct field f;
        double excess[FIELD_LOADS_MAX], sum = HUGE_VAL, busiest = HUGE_VAL;
        struct lbm_flow_size least, size;
        field_open(&f, make_hosts(i % 2 ? "ring:9" : "ring:12"));
        field_draw(&f, (uint64_t)i, 0);
        double mean = field_total(&f) / f.h.n, way[16], low = 0.0, high = 0.0;
        for (uint32_t p = 0; p < f.h.n; p++) {
            excess[p] = f.load[p] - mean;
            way[p] = (p > 0 ? way[p - 1] : 0.0) + excess[p]; /* from p to p + 1 */
            low = p == 0 ? way[p] : fmin(low, way[p]);
            high = p == 0 ? way[p] : fmax(high, way[p]);
        }
        for (uint32_t k = 0; k < f.h.n; k++) {
            double total = 0.0;
            for (uint32_t p = 0; p < f.h.n; p++)
                total += fabs(way[p] - way[k]);
            sum = fmin(sum, total);
        }
        busiest = (high - low) / 2.0;
        assert_int_equal(lbm_flow_least(&f.net.colouring, excess, &least), LBM_OK);
        assert_near(least.sum, sum, 1e-9);
        assert_near(least.busiest, busiest, 1e-9);
        assert_int_equal(lbm_flow_least_root(&f.net.colouring, excess, f.flow), LBM_OK);
        lbm_flow_measure(f.flow, f.net.colouring.n_links, &size);
        assert_near(size.root, least.root, 1e-9);
        field_close(&f);
    }
}

static void
ops_is_exact_after_its_steps(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double steps;
    } rows[] = {{"complete:16", 1}, {"star:32", 2},    {"hypercube:8", 8}, {"ring:64", 32},
                {"chain:64", 63},   {"torus:8x8", 12}, {"ring:15", 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(LBM_POLICY_OPS, 0);
        struct lbm_balance_result r;
        o.bound = 1e-10;
        field_open(&f, make_hosts(rows[i].spec));
        field_draw(&f, i, 0);
        assert_true(field_run(&f, &o, &r) && r.settled);
        assert_true(r.steps == rows[i].steps);
        field_close(&f);
    }
    for (int i = 0; i < 60; i++) { /* capacities of their own; repeated steps included */
        struct field f;
        double excess[FIELD_LOADS_MAX];
        struct lbm_balance_options o = field_usual(LBM_POLICY_OPS, 0);
        struct lbm_balance_result r;
        o.bound = 1e-7;
        open_random(&f, i, excess);
        assert_true(field_run(&f, &o, &r) && r.settled);
        assert_true(r.steps <= r.rule.n_poles);
        field_close(&f);
    }
}

/* Optimized weights are as fast as the best uniform ones and as Metropolis'; a bound of Xiao and Boyd's:
 * chains of three hosts, where 1/2 at both links is best and gamma 1/2. */
static void
weights_of_links_shrink_deviations_as_their_gamma_says(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct field f;
        double excess[FIELD_LOADS_MAX], gamma[3];
        static const enum lbm_alpha rules[] = {LBM_ALPHA_OPTIMAL, LBM_ALPHA_METROPOLIS, LBM_ALPHA_OPTIMIZED};
        open_random(&f, i, excess);
        for (int k = 0; k < 3; k++) {
            struct lbm_balance_options o = field_usual(LBM_POLICY_DIFFUSION, 0);
            struct lbm_rule rule;
            struct lbm_diag diag;
            o.alpha_rule = rules[k];
            assert_int_equal(lbm_rule_make(&f.net, &o, &rule, &diag), LBM_OK);
            gamma[k] = rule.gamma;
        }
        assert_true(gamma[2] <= gamma[0] + 1e-9 && gamma[2] <= gamma[1] + 1e-9 && gamma[1] < 1.0);
        field_close(&f);
    }
}

static void
the_feasible_alpha_is_the_best_that_overdraws_nobody(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        struct field f;
        double excess[FIELD_LOADS_MAX], most = 0.0;
        open_random(&f, i, excess);
        for (uint32_t p = 0; p < f.h.n; p++)
            most = fmax(most, (f.h.offset[p + 1] - f.h.offset[p]) / f.net.share[p]);
        double alpha = lbm_alpha_feasible(&f.net);
        assert_true(alpha <= 1.0 / most + 1e-12);
        for (double other = 0.02; other <= 1.0; other += 0.02)
            assert_true(lbm_gamma_uniform(&f.net.laplacian, alpha) <=
                        lbm_gamma_uniform(&f.net.laplacian, other / most) + 1e-12);
        field_close(&f);
    }
}

static void
whole_units_depart_no_further_than_the_bound(void **state)
{
    (void)state;
    static const char *const specs[] = {"ring:16",  "torus:8x8", "hypercube:5",
                                        "mesh:6x5", "star:9",    "complete:8"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(LBM_POLICY_WHOLE_DIFFUSION, 1);
        struct lbm_rule rule;
        struct lbm_diag diag;
        double bound, departure;
        field_open(&f, make_hosts(specs[i]));
        assert_int_equal(lbm_rule_make(&f.net, &o, &rule, &diag), LBM_OK);
        assert_int_equal(lbm_whole_bound(&f.net, &rule, &bound), LBM_OK);
        for (uint64_t k = 0; k < 20; k++) {
            field_draw(&f, k, 1);
            assert_int_equal(lbm_whole_departure(&f.net, &rule, f.load, 200, &departure), LBM_OK);
            assert_true(departure > 0.0 && departure <= bound);
        }
        field_close(&f);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(potentials_are_those_of_a_dense_solution),
        cmocka_unit_test(no_flow_is_below_the_least),
        cmocka_unit_test(least_flows_on_rings_are_those_of_all_circulations),
        cmocka_unit_test(ops_is_exact_after_its_steps),
        cmocka_unit_test(weights_of_links_shrink_deviations_as_their_gamma_says),
        cmocka_unit_test(the_feasible_alpha_is_the_best_that_overdraws_nobody),
        cmocka_unit_test(whole_units_depart_no_further_than_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
