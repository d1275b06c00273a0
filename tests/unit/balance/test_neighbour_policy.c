/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies on numbers between hosts that see their neighbours alone: in whatever order words arrive, and
 * however many are lost, what comes out is what the policy does on all loads at once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance/flow_computation.h"
#include "tests/unit/host/hosts_fixture.h"

enum { HOSTS_MAX = 64, LINKS_MAX = 512, TURNS_MAX = 20000000 };

struct in_flight {
    uint32_t to, link;
    struct lbm_flow_word word;
};

/* A network of flow computation hosts. */
struct fleet {
    struct lbm_hosts h;
    struct lbm_network net;
    struct lbm_rule rule;
    struct lbm_flow_computation host[HOSTS_MAX];
    uint32_t n_links[HOSTS_MAX];
    uint32_t at[LINKS_MAX][2];             /* place of a link at its lower and its upper end */
    uint32_t number[HOSTS_MAX][HOSTS_MAX]; /* of a host's i-th link */
    uint8_t dead[HOSTS_MAX];
    LBM_VEC(struct in_flight) words;
    struct lbm_rng rng;
    unsigned loss_percent;
};

static void
fleet_make(struct fleet *f, const char *spec, enum lbm_policy policy, uint64_t seed)
{
    struct lbm_balance_options options = {.policy = policy, .integer = lbm_policy_is_integer(policy)};
    struct lbm_rng rng;
    memset(f, 0, sizeof *f);
    lbm_rng_stream(&rng, seed, 1);
    f->h = spec != NULL ? make_hosts(spec)
                        : make_random_hosts(&rng, 2 + lbm_rng_below(&rng, 14), lbm_rng_below(&rng, 12),
                                            (int)lbm_rng_below(&rng, 2));
    assert_int_equal(lbm_network_make(&f->h, &f->net, NULL), LBM_OK);
    assert_int_equal(lbm_rule_make(&f->net, &options, &f->rule, NULL), LBM_OK);
    lbm_rng_seed(&f->rng, seed);
}

static uint32_t
degree(const struct fleet *f, uint32_t p)
{
    return f->h.offset[p + 1] - f->h.offset[p];
}

/* The other links at the ends of link i.  Returns how many. */
static uint32_t
list_rivals(const struct lbm_colouring *c, uint32_t i, uint32_t *rival)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n_links; k++)
        if (k != i && (c->link[k].p == c->link[i].p || c->link[k].q == c->link[i].p ||
                       c->link[k].p == c->link[i].q || c->link[k].q == c->link[i].q))
            rival[n++] = k;
    return n;
}

static void
fleet_start(struct fleet *f, const double *load, uint64_t sweeps_max)
{
    const struct lbm_colouring *c = &f->net.colouring;
    struct lbm_flow_link link[HOSTS_MAX][HOSTS_MAX];
    static uint32_t rival[HOSTS_MAX][HOSTS_MAX][2 * HOSTS_MAX];
    double sum = 0;
    memset(link, 0, sizeof link);
    for (uint32_t colour = 0; colour < c->n_colours; colour++)
        for (uint32_t i = c->first[colour]; i < c->first[colour + 1]; i++) {
            uint32_t end[2] = {c->link[i].p, c->link[i].q};
            for (int k = 0; k < 2; k++) {
                uint32_t p = end[k], slot = f->n_links[p]++;
                f->at[i][k] = slot;
                f->number[p][slot] = i;
                link[p][slot] = (struct lbm_flow_link){
                    .number = i, .colour = colour, .is_lower = k == 0, .share = f->net.share[end[!k]]};
                link[p][slot].alpha = lbm_rule_alpha(&f->rule, i, degree(f, end[0]), degree(f, end[1]),
                                                     f->net.share[end[0]], f->net.share[end[1]]);
                link[p][slot].rival = rival[p][slot];
                link[p][slot].n_rivals = list_rivals(c, i, rival[p][slot]);
            }
        }
    for (uint32_t p = 0; p < f->h.n; p++)
        sum += load[p];
    for (uint32_t p = 0; p < f->h.n; p++) {
        double target = sum / f->h.n * f->net.share[p];
        struct lbm_flow_config config = {.rule = &f->rule,
                                         .n_colours = c->n_colours,
                                         .n_all_links = c->n_links,
                                         .diameter = lbm_hosts_diameter_hops(&f->h),
                                         .share = f->net.share[p],
                                         .target = target,
                                         .limit = target * 1.03,
                                         .unit = fmax(1, floor(sum / f->h.n / 64)),
                                         .seed = 7,
                                         .sweeps_max = sweeps_max};
        assert_int_equal(lbm_flow_start(&f->host[p], &config, load[p], link[p], f->n_links[p]), LBM_OK);
    }
}

static void
fleet_free(struct fleet *f)
{
    for (uint32_t p = 0; p < f->h.n; p++)
        lbm_flow_free(&f->host[p]);
    lbm_vec_free(&f->words);
    lbm_network_free(&f->net);
    lbm_hosts_free(&f->h);
}

static void
collect(struct fleet *f)
{
    for (uint32_t p = 0; p < f->h.n; p++) {
        struct lbm_flow_computation *level = &f->host[p];
        for (size_t k = 0; k < level->outbox.n && !f->dead[p]; k++) {
            uint32_t i = f->number[p][level->outbox.at[k].link];
            const struct lbm_link *l = &f->net.colouring.link[i];
            struct in_flight word = {
                .to = l->p == p ? l->q : l->p, .link = f->at[i][l->p == p], .word = level->outbox.at[k].word};
            if (lbm_rng_below(&f->rng, 100) >= f->loss_percent)
                assert_int_equal(lbm_vec_push(&f->words, word), LBM_OK);
        }
        level->outbox.n = 0;
    }
}

static int
is_running(const struct fleet *f)
{
    int any = 0;
    for (uint32_t p = 0; p < f->h.n; p++)
        any |= f->host[p].is_running && !f->dead[p];
    return any;
}

/* Deliver words in any order until nobody runs any more. */
static void
fleet_run(struct fleet *f)
{
    for (int turn = 0; is_running(f) && turn < TURNS_MAX; turn++) {
        collect(f);
        if (f->words.n == 0) {
            for (uint32_t p = 0; p < f->h.n; p++)
                assert_int_equal(lbm_flow_repeat(&f->host[p]), LBM_OK);
            continue;
        }
        uint32_t at = lbm_rng_below(&f->rng, (uint32_t)f->words.n);
        struct in_flight word = f->words.at[at];
        f->words.at[at] = f->words.at[--f->words.n];
        if (!f->dead[word.to])
            assert_int_equal(lbm_flow_hear(&f->host[word.to], word.link, &word.word), LBM_OK);
    }
    assert_false(is_running(f));
}

/* Both ends of every link agree; no load is lost. Out: load [n] in the end. */
static void
check_flows(const struct fleet *f, const double *start)
{
    const struct lbm_colouring *c = &f->net.colouring;
    for (uint32_t i = 0; i < c->n_links; i++) {
        uint32_t p = c->link[i].p, q = c->link[i].q;
        if (!f->dead[p] && !f->dead[q])
            assert_true(f->host[p].links.at[f->at[i][0]].out == -f->host[q].links.at[f->at[i][1]].out);
    }
    for (uint32_t p = 0; p < f->h.n; p++) {
        double left = start[p];
        for (uint32_t k = 0; k < f->n_links[p]; k++)
            left -= f->host[p].links.at[k].out;
        assert_true(f->dead[p] || fabs(left - f->host[p].load) < 1e-6 * (1 + start[p]));
    }
}

static void
draw(struct fleet *f, double *load)
{
    for (uint32_t p = 0; p < f->h.n; p++)
        load[p] = lbm_rng_below(&f->rng, 1000);
}

static const char *const networks[] = {"hypercube:3", "chain:7", "mesh:4x3",
                                       "ring:5",      "star:6",  "complete:5"};

static void
whole_units_end_as_on_all_loads_at_once(void **state)
{
    (void)state;
    static struct fleet f;
    for (unsigned seed = 0; seed < 60; seed++) {
        enum lbm_policy policies[] = {LBM_POLICY_DIMENSION_EXCHANGE, LBM_POLICY_GDE, LBM_POLICY_OEM,
                                      LBM_POLICY_DEM, LBM_POLICY_DEM_TABLE};
        enum lbm_policy policy = policies[seed % 5];
        const char *spec = policy >= LBM_POLICY_OEM ? "hypercube:4" : networks[seed % 6];
        double load[HOSTS_MAX], all[HOSTS_MAX], flow[LINKS_MAX];
        fleet_make(&f, spec, policy, seed);
        f.loss_percent = seed % 3 * 20;
        draw(&f, load);
        memcpy(all, load, sizeof all);
        fleet_start(&f, load, 0);
        fleet_run(&f);
        struct lbm_balance_options options = {
            .policy = policy, .rule = &f.rule, .integer = 1, .stop = LBM_STOP_QUIESCENT};
        struct lbm_balance_result result;
        assert_int_equal(lbm_balance_run(&f.net, &options, all, flow, &result, NULL), LBM_OK);
        check_flows(&f, load);
        for (uint32_t p = 0; p < f.h.n; p++)
            assert_true(f.host[p].load == all[p]);
        for (uint32_t i = 0; i < f.net.colouring.n_links; i++)
            assert_true(f.host[f.net.colouring.link[i].p].links.at[f.at[i][0]].out == flow[i]);
        fleet_free(&f);
    }
}

static void
diffusion_goes_the_same_steps(void **state)
{
    (void)state;
    static struct fleet f;
    for (unsigned seed = 0; seed < 36; seed++) {
        enum lbm_policy policies[] = {LBM_POLICY_DIFFUSION, LBM_POLICY_SECOND_ORDER, LBM_POLICY_CHEBYSHEV};
        double load[HOSTS_MAX], all[HOSTS_MAX];
        fleet_make(&f, networks[seed % 6], policies[seed % 3], seed);
        f.loss_percent = seed % 2 * 30;
        draw(&f, load);
        memcpy(all, load, sizeof all);
        fleet_start(&f, load, 11);
        fleet_run(&f);
        struct lbm_balance_options options = {
            .policy = policies[seed % 3], .rule = &f.rule, .bound = 1e-15, .steps_max = f.host[0].sweep};
        struct lbm_balance_result result;
        assert_int_equal(lbm_balance_run(&f.net, &options, all, NULL, &result, NULL), LBM_OK);
        check_flows(&f, load);
        for (uint32_t p = 0; p < f.h.n; p++) {
            assert_int_equal(f.host[p].sweep, f.host[0].sweep);
            assert_true(fabs(f.host[p].load - all[p]) < 1e-9 * (1 + all[p]));
        }
        fleet_free(&f);
    }
}

static void
every_policy_of_neighbours_levels_a_pile(void **state)
{
    (void)state;
    static struct fleet f;
    for (int policy = 0; policy < LBM_POLICY_COUNT; policy++) {
        double load[HOSTS_MAX] = {1600};
        if (policy == LBM_POLICY_AUTO || !lbm_policy_is_local((enum lbm_policy)policy))
            continue;
        fleet_make(&f, policy == LBM_POLICY_RANDOM_LOAD ? "mesh:4x4" : "hypercube:4", (enum lbm_policy)policy,
                   (uint64_t)policy);
        fleet_start(&f, load, 0);
        fleet_run(&f);
        check_flows(&f, load);
        for (uint32_t p = 0; p < f.h.n; p++)
            if (policy == LBM_POLICY_WHOLE_DIFFUSION) /* less than 1 / alpha a link, four links at most */
                assert_true(f.host[p].load <= 100 + 4 / f.rule.alpha);
            else
                assert_true(f.host[p].load <= 103 + 4);
        fleet_free(&f);
    }
}

/* Any connected network, any capacities, words late and lost: it ends, both ends of each link agree, no load
 * is lost, and who was far above its share is not any more. */
static void
random_networks_come_to_rest(void **state)
{
    (void)state;
    static struct fleet f;
    for (unsigned seed = 0; seed < 150; seed++) {
        enum lbm_policy policies[] = {LBM_POLICY_GDE,
                                      LBM_POLICY_DIFFUSION,
                                      LBM_POLICY_CHEBYSHEV,
                                      LBM_POLICY_DIMENSION_EXCHANGE,
                                      LBM_POLICY_EDGE_REMAP,
                                      LBM_POLICY_METROPOLIS,
                                      LBM_POLICY_RANDOM_MATCHING};
        double load[HOSTS_MAX];
        fleet_make(&f, NULL, policies[seed % 7], seed);
        f.loss_percent = seed % 4 * 10;
        draw(&f, load);
        fleet_start(&f, load, 0);
        fleet_run(&f);
        check_flows(&f, load);
        for (uint32_t p = 0; p < f.h.n; p++)
            if (f.host[p].load > 1.05 * f.host[p].config.target + 20 + 2 * f.h.n)
                fail_msg("seed %u, policy %d: %g of %g after %d sweeps", seed, (int)f.rule.policy,
                         f.host[p].load, f.host[p].config.target, (int)f.host[p].sweep);
        fleet_free(&f);
    }
}

static void
loads_within_the_limit_stay(void **state)
{
    (void)state;
    static struct fleet f;
    double load[HOSTS_MAX];
    for (int policy = LBM_POLICY_DIFFUSION; policy <= LBM_POLICY_GDE; policy++) {
        fleet_make(&f, "mesh:4x3", (enum lbm_policy)policy, 1);
        for (uint32_t p = 0; p < f.h.n; p++)
            load[p] = 1000 + p % 5;
        fleet_start(&f, load, 0);
        fleet_run(&f);
        for (uint32_t p = 0; p < f.h.n; p++) {
            assert_true(f.host[p].sweep <= lbm_hosts_diameter_hops(&f.h) + 2);
            for (uint32_t i = 0; i < f.n_links[p]; i++)
                assert_int_equal(lbm_flow_result(&f.host[p], i), 0);
        }
        fleet_free(&f);
    }
}

/* A host dies in the middle, its neighbours pass it over at moments of their own. */
static void
the_dead_are_passed_over(void **state)
{
    (void)state;
    static struct fleet f;
    for (unsigned seed = 0; seed < 200; seed++) {
        enum lbm_policy policies[] = {LBM_POLICY_GDE, LBM_POLICY_DIFFUSION, LBM_POLICY_EDGE_REMAP};
        double load[HOSTS_MAX];
        fleet_make(&f, networks[seed % 6], policies[seed % 3], seed);
        f.loss_percent = seed % 2 * 20;
        draw(&f, load);
        fleet_start(&f, load, 300);
        uint32_t victim = lbm_rng_below(&f.rng, f.h.n), until = lbm_rng_below(&f.rng, 60);
        for (uint32_t turn = 0; turn < until && is_running(&f); turn++) {
            collect(&f);
            if (f.words.n == 0)
                break;
            struct in_flight word = f.words.at[--f.words.n];
            assert_int_equal(lbm_flow_hear(&f.host[word.to], word.link, &word.word), LBM_OK);
        }
        f.dead[victim] = 1;
        for (uint32_t k = 0; k < f.n_links[victim]; k++) {
            uint32_t i = f.number[victim][k];
            const struct lbm_link *l = &f.net.colouring.link[i];
            uint32_t other = l->p == victim ? l->q : l->p;
            assert_int_equal(lbm_flow_close(&f.host[other], f.at[i][l->p == victim]), LBM_OK);
        }
        fleet_run(&f);
        check_flows(&f, load);
        fleet_free(&f);
    }
}

/* A link is closed by one end while the other is well: what only one has counted is undone. */
static void
a_closed_link_leaves_no_difference(void **state)
{
    (void)state;
    static struct fleet f;
    for (unsigned seed = 0; seed < 300; seed++) {
        enum lbm_policy policies[] = {LBM_POLICY_GDE, LBM_POLICY_DIFFUSION, LBM_POLICY_DIMENSION_EXCHANGE};
        double load[HOSTS_MAX];
        fleet_make(&f, networks[seed % 6], policies[seed % 3], seed);
        draw(&f, load);
        fleet_start(&f, load, 100);
        uint32_t until = lbm_rng_below(&f.rng, 60);
        for (uint32_t turn = 0; turn < until && is_running(&f); turn++) {
            collect(&f);
            if (f.words.n == 0)
                break;
            uint32_t at = lbm_rng_below(&f.rng, (uint32_t)f.words.n);
            struct in_flight word = f.words.at[at];
            f.words.at[at] = f.words.at[--f.words.n];
            assert_int_equal(lbm_flow_hear(&f.host[word.to], word.link, &word.word), LBM_OK);
        }
        uint32_t closer = lbm_rng_below(&f.rng, f.h.n);
        assert_int_equal(lbm_flow_close(&f.host[closer], 0), LBM_OK);
        fleet_run(&f);
        collect(&f);
        while (f.words.n != 0) { /* what is still on its way */
            struct in_flight word = f.words.at[--f.words.n];
            assert_int_equal(lbm_flow_hear(&f.host[word.to], word.link, &word.word), LBM_OK);
            for (uint32_t p = 0; p < f.h.n; p++)
                f.host[p].outbox.n = 0;
        }
        check_flows(&f, load);
        fleet_free(&f);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_units_end_as_on_all_loads_at_once),
        cmocka_unit_test(diffusion_goes_the_same_steps),
        cmocka_unit_test(every_policy_of_neighbours_levels_a_pile),
        cmocka_unit_test(random_networks_come_to_rest),
        cmocka_unit_test(loads_within_the_limit_stay),
        cmocka_unit_test(the_dead_are_passed_over),
        cmocka_unit_test(a_closed_link_leaves_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
