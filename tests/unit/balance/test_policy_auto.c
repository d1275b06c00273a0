/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast load policies are, and that auto takes one that is nearly the fastest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance/policy.h"
#include "tests/unit/balance/field_fixture.h"

/* ---- how fast ------------------------------------------------------------------------------------ */

/* Steps to 1 % of the mean in the maximum norm, measured independently. Slow policies on meshes vary by a
 * quarter from one draw to the next, so that their numbers have an error of their own: two of it. */
static void
steps_agree_with_the_measured_table(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        enum lbm_policy policy;
        double steps, tolerance;
    } rows[] = {
        {"ring:64", LBM_POLICY_DIMENSION_EXCHANGE, 499, .05},
        {"ring:64", LBM_POLICY_GDE, 55.3, .05},
        {"ring:64", LBM_POLICY_DIFFUSION, 592, .05},
        {"ring:64", LBM_POLICY_SECOND_ORDER, 52.5, .05},
        {"ring:64", LBM_POLICY_CHEBYSHEV, 53.5, .05},
        {"mesh:16x16", LBM_POLICY_DIMENSION_EXCHANGE, 232, .10},
        {"mesh:16x16", LBM_POLICY_GDE, 49.5, .05},
        {"mesh:16x16", LBM_POLICY_DIFFUSION, 247, .10},
        {"mesh:16x16", LBM_POLICY_SECOND_ORDER, 36.8, .05},
        {"mesh:16x16", LBM_POLICY_CHEBYSHEV, 39.9, .05},
        {"torus:16x16", LBM_POLICY_DIMENSION_EXCHANGE, 67.8, .05},
        {"torus:16x16", LBM_POLICY_GDE, 25.9, .05},
        {"torus:16x16", LBM_POLICY_DIFFUSION, 74.5, .05},
        {"torus:16x16", LBM_POLICY_SECOND_ORDER, 19.1, .05},
        {"torus:16x16", LBM_POLICY_CHEBYSHEV, 20.4, .05},
        {"hypercube:8", LBM_POLICY_DIMENSION_EXCHANGE, 7.8, .05},
        {"hypercube:8", LBM_POLICY_GDE, 7.8, .05},
        {"hypercube:8", LBM_POLICY_DIFFUSION, 13.6, .05},
        {"hypercube:8", LBM_POLICY_SECOND_ORDER, 7.8, .05},
        {"hypercube:8", LBM_POLICY_CHEBYSHEV, 8.0, .05},
    };
    enum { RUNS = 200 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(rows[i].policy, 0);
        struct lbm_rule rule;
        struct lbm_diag diag;
        double steps = 0.0;
        field_open(&f, make_hosts(rows[i].spec));
        assert_int_equal(lbm_rule_make(&f.net, &o, &rule, &diag), LBM_OK);
        for (uint64_t k = 0; k < RUNS; k++) {
            struct lbm_balancer *b;
            assert_int_equal(lbm_balancer_make(&f.net, &rule, 0, 1, &b), LBM_OK);
            field_draw(&f, k, 0);
            for (; lbm_balance_deviation(&f.net, f.load) > 0.01; steps += 1.0)
                lbm_balancer_step(b, f.load, f.flow);
            lbm_balancer_free(b);
        }
        assert_near(steps / RUNS, rows[i].steps, rows[i].tolerance * rows[i].steps);
        field_close(&f);
    }
}

/* ---- auto ---------------------------------------------------------------------------------------- */

/* Policies that level as far as the others do: not edge-remap, which walks at random, nor whole-diffusion,
 * which ends where differences are below 1 / alpha. */
static const enum lbm_policy rivals[] = {
    LBM_POLICY_DIFFUSION,  LBM_POLICY_SECOND_ORDER,
    LBM_POLICY_CHEBYSHEV,  LBM_POLICY_DIMENSION_EXCHANGE,
    LBM_POLICY_GDE,        LBM_POLICY_RANDOM_LOAD,
    LBM_POLICY_OEM,        LBM_POLICY_DEM,
    LBM_POLICY_DEM_TABLE,  LBM_POLICY_CWA,
    LBM_POLICY_OPS,        LBM_POLICY_POTENTIALS,
    LBM_POLICY_METROPOLIS, LBM_POLICY_RANDOM_MATCHING,
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

/* Means over runs: rounds by model of communication, and the busiest link's net flow over the mean load.
 * Rounds HUGE_VAL: it does not fit. */
struct measured {
    double rounds[2], busiest;
};

static struct measured
measure(struct field *f, enum lbm_policy policy, int integer)
{
    enum { RUNS = 16 };
    struct lbm_balance_options o = field_usual(policy, integer);
    struct measured mean = {{0.0, 0.0}, 0.0};
    struct lbm_rule rule;
    struct lbm_diag diag;
    if (lbm_rule_make(&f->net, &o, &rule, &diag) != LBM_OK)
        return (struct measured){{HUGE_VAL, HUGE_VAL}, 0.0};
    o.rule = &rule;
    for (int run = 0; run < RUNS; run++)
        for (int ports = LBM_PORTS_ONE; ports <= LBM_PORTS_ALL; ports++) {
            struct lbm_balance_result r;
            o.ports = (enum lbm_ports)ports;
            o.seed = 1000 + (uint64_t)run;
            field_draw(f, 1000 + (uint64_t)run, integer);
            double load = field_total(f) / f->h.n;
            assert_true(field_run(f, &o, &r));
            mean.rounds[ports] += r.rounds / RUNS;
            if (lbm_policy_ends_in_a_sweep(policy)) /* all others look once more whether anything moves */
                mean.rounds[ports] += r.rounds / r.sweeps / RUNS;
            mean.busiest += r.net.busiest / load / RUNS / 2;
            assert_near(r.cost, lbm_balance_cost(r.rounds, LBM_TRANSFER_USUAL, r.net.busiest, load), 1e-9);
        }
    return mean;
}

static void
check_auto(struct field *f, const char *what, int integer, const double *transfer, size_t n)
{
    struct measured m[RIVALS];
    for (size_t i = 0; i < RIVALS; i++)
        m[i] = measure(f, rivals[i], integer);
    for (size_t k = 0; k < 2 * n; k++) {
        struct lbm_balance_options o = field_usual(LBM_POLICY_AUTO, integer);
        o.ports = k % 2 ? LBM_PORTS_ALL : LBM_PORTS_ONE;
        o.transfer = transfer[k / 2];
        struct lbm_advice advice;
        struct lbm_diag diag;
        assert_int_equal(lbm_advise(&f->net, &o, &advice, &diag), LBM_OK);
        enum lbm_policy taken = advice.candidate[0].rule.policy;
        double times = o.transfer < 0.0 ? 0.0 : o.transfer == 0.0 ? LBM_TRANSFER_USUAL : o.transfer;
        double best = HUGE_VAL, chosen = HUGE_VAL;
        enum lbm_policy winner = LBM_POLICY_AUTO;
        for (size_t i = 0; i < RIVALS; i++) {
            double cost = lbm_balance_cost(m[i].rounds[o.ports], times, m[i].busiest, 1.0);
            winner = cost < best ? rivals[i] : winner;
            best = fmin(best, cost);
            chosen = rivals[i] == taken ? cost : chosen;
        }
        if (!(chosen <= 1.1 * best))
            fail_msg("%s, %s, a mean load takes %g rounds: %s costs %g, %s %g; %s", what,
                     o.ports == LBM_PORTS_ONE ? "one port" : "all ports", times, lbm_policy_name(taken),
                     chosen, lbm_policy_name(winner), best, advice.why);
    }
}

/* Rounds alone; flow that counts for little; as usual; flow that counts for nearly all. */
static const double transfers[] = {-1.0, 16.0, 0.0, 4096.0};
enum { TRANSFERS = sizeof transfers / sizeof *transfers };

static void
auto_is_near_the_best_on_named_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIELD_HOSTS; i++) {
        struct field f;
        field_open(&f, field_hosts(i));
        for (int integer = 0; integer < 2; integer++)
            check_auto(&f, field_name(i), integer, transfers, TRANSFERS);
        field_close(&f);
    }
}

static void
auto_is_near_the_best_on_fifty_random_hosts(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 31);
    for (int i = 0; i < 50; i++) {
        struct field f;
        uint32_t n = 4 + lbm_rng_below(&rng, 60);
        field_open(&f, make_random_hosts(&rng, n, lbm_rng_below(&rng, 2 * n), i % 5 == 4));
        check_auto(&f, "random hosts", 0, &transfers[i % TRANSFERS], 1);
        check_auto(&f, "random hosts", 1, &transfers[i / 2 % TRANSFERS], 1);
        field_close(&f);
    }
}

static void
auto_takes_what_is_known_to_be_best(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        enum lbm_ports ports;
        enum lbm_policy policy;
    } rows[] = {
        {"hypercube:6", LBM_PORTS_ONE, LBM_POLICY_DIMENSION_EXCHANGE},
        {"hypercube:8", LBM_PORTS_ALL, LBM_POLICY_DIMENSION_EXCHANGE},
        {"ring:64", LBM_PORTS_ONE, LBM_POLICY_GDE},
        {"mesh:16x16", LBM_PORTS_ONE, LBM_POLICY_GDE},
        {"mesh:16x16", LBM_PORTS_ALL, LBM_POLICY_SECOND_ORDER},
        {"torus:16x16", LBM_PORTS_ALL, LBM_POLICY_SECOND_ORDER},
        {"tree:2,6", LBM_PORTS_ONE, LBM_POLICY_OPS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(LBM_POLICY_AUTO, 0);
        struct lbm_advice advice;
        struct lbm_diag diag;
        o.ports = rows[i].ports;
        o.transfer = -1.0; /* rounds alone */
        field_open(&f, make_hosts(rows[i].spec));
        assert_int_equal(lbm_advise(&f.net, &o, &advice, &diag), LBM_OK);
        if (advice.candidate[0].rule.policy != rows[i].policy)
            fail_msg("%s: %s", rows[i].spec, advice.why);
        assert_non_null(strstr(advice.why, lbm_policy_name(rows[i].policy)));
        field_close(&f);
    }
}

static void
auto_takes_from_no_host_more_than_it_has_if_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIELD_HOSTS; i++) {
        struct field f;
        struct lbm_balance_options o = field_usual(LBM_POLICY_AUTO, 0);
        struct lbm_balance_result r;
        o.ports = LBM_PORTS_ALL;
        o.nonnegative = 1;
        field_open(&f, field_hosts(i));
        memset(f.load, 0, sizeof f.load);
        f.load[f.h.n - 1] = 1000.0;
        assert_true(field_run(&f, &o, &r) && r.settled);
        assert_near(r.largest_negative, 0.0, 1e-12);
        field_close(&f);
    }
}
/* A network of 24 hosts in a file, where the tree's companion folder is present. */
static void
auto_is_near_the_best_on_an_irregular_network(void **state)
{
    (void)state;
    const char *top = getenv("top_srcdir");
    char path[4096], text[1 << 12];
    snprintf(path, sizeof path, "%s/../shared/hosts/irr24.graph", top != NULL ? top : "..");
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(len < sizeof text);
    struct lbm_hosts h;
    struct lbm_diag diag;
    struct field f;
    if (lbm_hosts_parse(path, text, len, NULL, &h, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
    field_open(&f, h);
    for (int integer = 0; integer < 2; integer++)
        check_auto(&f, "irr24", integer, transfers, TRANSFERS);
    field_close(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_agree_with_the_measured_table),
        cmocka_unit_test(auto_is_near_the_best_on_named_hosts),
        cmocka_unit_test(auto_is_near_the_best_on_fifty_random_hosts),
        cmocka_unit_test(auto_is_near_the_best_on_an_irregular_network),
        cmocka_unit_test(auto_takes_what_is_known_to_be_best),
        cmocka_unit_test(auto_takes_from_no_host_more_than_it_has_if_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
