/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load policies: what they conserve, when they end, schedules of transfers, arrivals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance/policy.h"
#include "balance/schedule.h"
#include "base/mem.h"
#include "tests/unit/balance/field_fixture.h"

/* ---- every policy -------------------------------------------------------------------------------- */

/* Loads are conserved, the flows say where they went, and they are level, or it is said why not. */
static unsigned
check_policies(struct field *f, int integer)
{
    unsigned fitted = 0;
    for (unsigned policy = 0; policy < LBM_POLICY_COUNT; policy++) {
        struct lbm_balance_options o = field_usual((enum lbm_policy)policy, integer);
        struct lbm_balance_result r;
        double before[FIELD_LOADS_MAX];
        if (policy == LBM_POLICY_OPTIMIZED && f->h.n > 64) /* takes seconds, and is refused above a limit */
            continue;
        field_draw(f, policy, integer);
        memcpy(before, f->load, sizeof before);
        double sum = field_total(f);
        if (!field_run(f, &o, &r))
            continue;
        fitted++;
        assert_near(field_total(f), sum, integer ? 0.0 : 1e-9 * sum);
        for (uint32_t i = 0; i < f->net.colouring.n_links; i++) {
            before[f->net.colouring.link[i].p] -= f->flow[i];
            before[f->net.colouring.link[i].q] += f->flow[i];
        }
        for (uint32_t p = 0; p < f->h.n; p++)
            assert_near(f->load[p], before[p], integer ? 0.0 : 1e-9);
        if (!r.settled)
            fail_msg("%s: %s", lbm_policy_name((enum lbm_policy)policy), r.why);
        assert_true(r.why[0] != '\0');
        if (!integer)
            assert_true(lbm_balance_deviation(&f->net, f->load) <= 0.01);
        else if (r.rule.lambda >= 0.5 && f->net.equal)
            assert_true(r.difference <= 1.0);
    }
    return fitted;
}

static void
every_policy_conserves_and_levels_on_named_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIELD_HOSTS; i++) {
        struct field f;
        field_open(&f, field_hosts(i));
        assert_true(check_policies(&f, 0) >= 10);
        assert_true(check_policies(&f, 1) >= (strncmp(field_name(i), "hyper", 5) == 0 ? 10 : 6));
        field_close(&f);
    }
}

static void
every_policy_conserves_and_levels_on_random_hosts(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 21);
    for (int i = 0; i < 20; i++) {
        struct field f;
        uint32_t n = 2 + lbm_rng_below(&rng, 30);
        field_open(&f, make_random_hosts(&rng, n, n / 2, i % 2));
        assert_int_equal(check_policies(&f, 0), 11);
        assert_int_equal(check_policies(&f, 1), 6);
        field_close(&f);
    }
}

static void
loads_of_unequal_hosts_end_in_proportion_to_capacity(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 22);
    for (int i = 0; i < 10; i++) {
        struct field f;
        struct lbm_balance_result r;
        struct lbm_balance_options o = field_usual(i % 2 ? LBM_POLICY_GDE : LBM_POLICY_SECOND_ORDER, 0);
        o.bound = 1e-6;
        field_open(&f, make_random_hosts(&rng, 20, 12, 1));
        field_draw(&f, (uint64_t)i, 0);
        double mean = field_total(&f) / f.h.n;
        assert_true(field_run(&f, &o, &r) && r.settled);
        for (uint32_t p = 0; p < f.h.n; p++)
            assert_near(f.load[p], mean * f.net.share[p], 1e-5);
        field_close(&f);
    }
}

static void
one_host_and_no_load_are_level(void **state)
{
    (void)state;
    struct field f;
    struct lbm_balance_result r;
    for (unsigned policy = 0; policy < LBM_POLICY_COUNT; policy++)
        for (int integer = 0; integer < 2; integer++) {
            struct lbm_balance_options o = field_usual((enum lbm_policy)policy, integer);
            field_open(&f, make_hosts("hypercube:0"));
            f.load[0] = 5.0;
            if (field_run(&f, &o, &r))
                assert_true(r.settled && f.load[0] == 5.0);
            field_close(&f);
            field_open(&f, make_hosts("hypercube:3"));
            memset(f.load, 0, sizeof f.load);
            if (field_run(&f, &o, &r))
                assert_true(r.settled && field_total(&f) == 0.0 && r.deviation == 0.0);
            field_close(&f);
        }
}

static void
bad_loads_and_bounds_are_refused(void **state)
{
    (void)state;
    static const struct {
        double load, bound;
        int integer;
    } rows[] = {{-1.0, 0.01, 0},   {(double)NAN, 0.01, 0}, {HUGE_VAL, 0.01, 0}, {1.5, 0.01, 1},
                {9.1e15, 0.01, 1}, {1.0, 0.0, 0},          {1.0, -1.0, 0},      {1.0, (double)NAN, 0}};
    struct field f;
    field_open(&f, make_hosts("ring:5"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lbm_balance_options o = field_usual(LBM_POLICY_GDE, rows[i].integer);
        struct lbm_balance_result r;
        struct lbm_diag diag;
        o.bound = rows[i].bound;
        for (uint32_t p = 0; p < 5; p++)
            f.load[p] = rows[i].load;
        assert_int_equal(lbm_balance_run(&f.net, &o, f.load, f.flow, &r, &diag), LBM_E_RANGE);
        assert_true(diag.text[0] != '\0');
    }
    field_close(&f);
}

static void
what_does_not_fit_is_refused_with_its_source(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *word;
        enum lbm_policy policy;
        int integer;
    } rows[] = {
        {"ring:8", "RJK03", LBM_POLICY_OEM, 1},       {"star:8", "SAN", LBM_POLICY_RANDOM_LOAD, 0},
        {"ring:8", "CYB89", LBM_POLICY_DIFFUSION, 1}, {"ring:8", "HEI97", LBM_POLICY_EDGE_REMAP, 0},
        {"hypercube:3", "RJK03", LBM_POLICY_CWA, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(rows[i].policy, rows[i].integer);
        struct lbm_rule rule;
        struct lbm_diag diag;
        field_open(&f, make_hosts(rows[i].spec));
        assert_int_equal(lbm_rule_make(&f.net, &o, &rule, &diag), LBM_E_UNSUPPORTED);
        assert_non_null(strstr(diag.text, rows[i].word));
        field_close(&f);
    }
}

/* ---- what never settles ---------------------------------------------------------------------------- */

static void
what_theorem_1_forbids_does_not_settle_and_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double alpha;
    } rows[] = {{"ring:8", 0.5}, {"torus:4x4", 0.25}};
    for (size_t i = 0; i < 2; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(LBM_POLICY_DIFFUSION, 0);
        struct lbm_balance_result r;
        o.alpha_rule = LBM_ALPHA_GIVEN;
        o.alpha = rows[i].alpha;
        field_open(&f, make_hosts(rows[i].spec));
        field_draw(&f, 1, 0);
        assert_true(field_run(&f, &o, &r));
        assert_false(r.settled);
        assert_non_null(strstr(r.why, "CYB89 Theorem 1"));
        field_close(&f);
    }
}

static void
at_lambda_one_pairs_swap_for_ever(void **state)
{
    (void)state;
    struct field f;
    struct lbm_balance_options o = field_usual(LBM_POLICY_GDE, 0);
    struct lbm_balance_result r;
    o.lambda_numerator = o.lambda_denominator = 1;
    field_open(&f, make_hosts("ring:8"));
    field_draw(&f, 1, 0);
    assert_true(field_run(&f, &o, &r));
    assert_false(r.settled);
    assert_non_null(strstr(r.why, "XL95"));
    field_close(&f);
}

/* ---- whole units --------------------------------------------------------------------------------- */

static void
counters_tell_the_end_never_early_and_at_most_a_diameter_late(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIELD_HOSTS; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(LBM_POLICY_GDE, 1);
        struct lbm_balance_result r;
        field_open(&f, field_hosts(i));
        field_draw(&f, i, 1);
        assert_true(field_run(&f, &o, &r) && r.settled);
        uint64_t quiet = (uint64_t)r.sweeps, diameter = lbm_hosts_diameter_hops(&f.h);
        assert_true(r.detected >= quiet);
        assert_true(r.detected <= quiet + diameter);
        field_close(&f);
    }
}

static double
spread(const struct field *f)
{
    double least = f->load[0], largest = f->load[0];
    for (uint32_t p = 1; p < f->h.n; p++) {
        least = fmin(least, f->load[p]);
        largest = fmax(largest, f->load[p]);
    }
    return largest - least;
}

static void
hypercube_rules_keep_their_bounds(void **state)
{
    (void)state;
    for (uint32_t d = 1; d <= 6; d++) {
        char spec[] = "hypercube:0";
        struct field f;
        struct lbm_balance_result r;
        spec[sizeof spec - 2] = (char)('0' + d);
        field_open(&f, make_hosts(spec));
        for (uint64_t k = 0; k < 300; k++) {
            static const enum lbm_policy rules[] = {LBM_POLICY_OEM, LBM_POLICY_DEM, LBM_POLICY_CWA};
            const double bounds[] = {(d + 1) / 2, d, 1};
            for (int i = 0; i < 3; i++) {
                struct lbm_balance_options o = field_usual(rules[i], 1);
                field_draw(&f, k, 1);
                assert_true(field_run(&f, &o, &r) && r.settled && r.steps == d);
                assert_true(spread(&f) <= bounds[i]);
            }
        }
        field_close(&f);
    }
}

static void
odd_even_reaches_its_bound_on_32_hosts(void **state)
{
    (void)state;
    static const double worst[] = {15, 4,  9, 2, 5,  10, 10, 1, 6, 8, 2,  14, 6,  11, 9,  14,
                                   8,  15, 3, 8, 12, 3,  15, 7, 7, 9, 13, 7,  15, 4,  12, 6};
    struct field f;
    struct lbm_balance_options o = field_usual(LBM_POLICY_OEM, 1);
    struct lbm_balance_result r;
    field_open(&f, make_hosts("hypercube:5"));
    memcpy(f.load, worst, sizeof worst);
    assert_true(field_run(&f, &o, &r));
    assert_near(spread(&f), 3.0, 0.0);
    field_close(&f);
}

/* ---- schedules ----------------------------------------------------------------------------------- */

struct tape {
    struct field *f;
    LBM_VEC(struct lbm_transfer) transfers;
};

static void
tape_step(void *arg, const struct lbm_balance_step *step)
{
    struct tape *tape = arg;
    const struct lbm_colouring *c = &tape->f->net.colouring;
    for (uint32_t i = 0; i < c->n_links; i++)
        if (step->flow[i] != 0.0) {
            int forth = step->flow[i] > 0.0;
            struct lbm_transfer t = {.from = forth ? c->link[i].p : c->link[i].q,
                                     .to = forth ? c->link[i].q : c->link[i].p,
                                     .round = (uint32_t)step->step,
                                     .units = (uint64_t)fabs(step->flow[i])};
            assert_int_equal(lbm_vec_push(&tape->transfers, t), LBM_OK);
        }
}

/* RJK03's figures: time plain, overlapped, pipelined; 0 where the paper has none. */
static void
schedules_take_as_long_as_in_the_figures(void **state)
{
    (void)state;
    static const struct {
        enum lbm_policy policy;
        double load[8];
        uint64_t time[LBM_SCHEDULE_COUNT];
    } rows[] = {
        {LBM_POLICY_DEM, {15, 1, 1, 1, 1, 1, 1, 1}, {12, 10, 7}},  /* figs 18, 19 */
        {LBM_POLICY_CWA, {15, 1, 1, 1, 1, 1, 1, 1}, {0, 13, 7}},   /* figs 20, 21 */
        {LBM_POLICY_DEM, {10, 8, 6, 0, 1, 8, 10, 10}, {7, 3, 0}},  /* figs 14, 15 */
        {LBM_POLICY_CWA, {10, 8, 6, 0, 1, 8, 10, 10}, {10, 5, 0}}, /* figs 16, 17 */
        {LBM_POLICY_CWA, {4, 7, 10, 8, 24, 22, 6, 5}, {30, 0, 0}}, /* fig. 10 */
        {LBM_POLICY_OEM, {4, 7, 10, 8, 24, 22, 6, 5}, {14, 0, 0}}, /* fig. 11 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field f;
        struct tape tape = {.f = &f};
        struct lbm_balance_options o = field_usual(rows[i].policy, 1);
        struct lbm_balance_result r;
        uint64_t start[8];
        o.trace = tape_step;
        o.trace_arg = &tape;
        field_open(&f, make_hosts("hypercube:3"));
        memcpy(f.load, rows[i].load, sizeof rows[i].load);
        for (int p = 0; p < 8; p++)
            start[p] = (uint64_t)f.load[p];
        assert_true(field_run(&f, &o, &r));
        for (unsigned k = 0; k < LBM_SCHEDULE_COUNT; k++) {
            struct lbm_schedule_result result;
            assert_int_equal(lbm_schedule_predict((enum lbm_schedule)k, 8, start, tape.transfers.at,
                                                  tape.transfers.n, &result),
                             LBM_OK);
            assert_near((double)result.task_hops, r.moved, 0.0);
            if (rows[i].time[k] > 0)
                assert_int_equal(result.time, rows[i].time[k]);
        }
        lbm_vec_free(&tape.transfers);
        field_close(&f);
    }
}

static void
overlapping_and_pipelining_never_take_longer(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 41);
    for (uint64_t i = 0; i < 60; i++) {
        struct field f;
        struct tape tape = {.f = &f};
        struct lbm_balance_options o = field_usual(LBM_POLICY_DIMENSION_EXCHANGE, 1);
        struct lbm_balance_result r;
        struct lbm_schedule_result result[LBM_SCHEDULE_COUNT];
        uint64_t start[FIELD_LOADS_MAX];
        o.trace = tape_step;
        o.trace_arg = &tape;
        field_open(&f, make_hosts(i % 2 ? "hypercube:4" : "mesh:4x4"));
        field_draw(&f, i, 1);
        for (uint32_t p = 0; p < f.h.n; p++)
            start[p] = (uint64_t)f.load[p];
        assert_true(field_run(&f, &o, &r));
        for (unsigned k = 0; k < LBM_SCHEDULE_COUNT; k++)
            assert_int_equal(lbm_schedule_predict((enum lbm_schedule)k, f.h.n, start, tape.transfers.at,
                                                  tape.transfers.n, &result[k]),
                             LBM_OK);
        assert_true(result[LBM_SCHEDULE_OVERLAPPED].time <= result[LBM_SCHEDULE_PLAIN].time);
        assert_true(result[LBM_SCHEDULE_PIPELINED].time <= result[LBM_SCHEDULE_PLAIN].time);
        lbm_vec_free(&tape.transfers);
        field_close(&f);
    }
}

static void
transfers_of_what_is_not_there_are_refused(void **state)
{
    (void)state;
    static const uint64_t load[] = {1, 0};
    static const struct lbm_transfer transfer[] = {{.from = 0, .to = 1, .round = 1, .units = 2}};
    struct lbm_schedule_result result;
    for (unsigned k = 0; k < LBM_SCHEDULE_COUNT; k++) {
        assert_int_equal(lbm_schedule_predict((enum lbm_schedule)k, 2, load, transfer, 1, &result),
                         LBM_E_STATE);
        assert_int_equal(lbm_schedule_predict((enum lbm_schedule)k, 2, load, transfer, 0, &result), LBM_OK);
        assert_int_equal(result.time, 0);
    }
}

/* ---- arrivals ------------------------------------------------------------------------------------ */

static void
arrivals_keep_the_variance_that_theory_gives(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        enum lbm_policy policy;
        double variance; /* over sigma^2 */
    } rows[] = {
        {"hypercube:3", LBM_POLICY_DIFFUSION, 8.333},
        {"hypercube:4", LBM_POLICY_DIFFUSION, 18.229},
        {"hypercube:3", LBM_POLICY_DIMENSION_EXCHANGE, 11.0},
        {"hypercube:4", LBM_POLICY_DIMENSION_EXCHANGE, 26.0},
    };
    const struct lbm_arrivals arrivals = {.mean = 4.0, .deviation = 2.0, .service = 4.0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(rows[i].policy, 0);
        struct lbm_service_result r;
        struct lbm_diag diag;
        field_open(&f, make_hosts(rows[i].spec));
        assert_int_equal(lbm_balance_serve(&f.net, &o, &arrivals, 200, 60000, &r, &diag), LBM_OK);
        assert_near(r.variance / 4.0, rows[i].variance, 0.02 * rows[i].variance);
        if (rows[i].policy == LBM_POLICY_DIFFUSION)
            assert_true(r.variance <= r.bound);
        field_close(&f);
    }
}

static void
arrivals_below_zero_are_refused(void **state)
{
    (void)state;
    const struct lbm_arrivals arrivals = {.mean = 1.0, .deviation = 1.0, .service = 1.0};
    struct field f;
    struct lbm_balance_options o = field_usual(LBM_POLICY_DIFFUSION, 0);
    struct lbm_service_result r;
    struct lbm_diag diag;
    field_open(&f, make_hosts("ring:5"));
    assert_int_equal(lbm_balance_serve(&f.net, &o, &arrivals, 1, 1, &r, &diag), LBM_E_RANGE);
    field_close(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_conserves_and_levels_on_named_hosts),
        cmocka_unit_test(every_policy_conserves_and_levels_on_random_hosts),
        cmocka_unit_test(loads_of_unequal_hosts_end_in_proportion_to_capacity),
        cmocka_unit_test(one_host_and_no_load_are_level),
        cmocka_unit_test(bad_loads_and_bounds_are_refused),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_source),
        cmocka_unit_test(what_theorem_1_forbids_does_not_settle_and_says_so),
        cmocka_unit_test(at_lambda_one_pairs_swap_for_ever),
        cmocka_unit_test(counters_tell_the_end_never_early_and_at_most_a_diameter_late),
        cmocka_unit_test(hypercube_rules_keep_their_bounds),
        cmocka_unit_test(odd_even_reaches_its_bound_on_32_hosts),
        cmocka_unit_test(schedules_take_as_long_as_in_the_figures),
        cmocka_unit_test(overlapping_and_pipelining_never_take_longer),
        cmocka_unit_test(transfers_of_what_is_not_there_are_refused),
        cmocka_unit_test(arrivals_keep_the_variance_that_theory_gives),
        cmocka_unit_test(arrivals_below_zero_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
