/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which policy converges fastest: steps, or sweeps of exchange, until no load is further than 1 % from the
 * mean. */
#include <math.h>
#include <stdlib.h>

#include "papers/net.h"
#include "papers/papers.h"

static const enum lbm_policy columns[] = {LBM_POLICY_DIMENSION_EXCHANGE, LBM_POLICY_GDE, LBM_POLICY_DIFFUSION,
                                          LBM_POLICY_SECOND_ORDER, LBM_POLICY_CHEBYSHEV};

enum { COLUMNS = sizeof columns / sizeof *columns, SECOND_ORDER = 3 };

/* Means measured with another program, of runs whose number is not known. slack: of a mean of many runs of
 * ours. The slow policies differ by a quarter from run to run on meshes: a third program has 216 +- 3 steps
 * of dimension exchange there. rounds: of the second order method if a host talks to one neighbour at a time.
 */
static const struct row {
    const char *hosts;
    double steps[COLUMNS], slack[COLUMNS], rounds;
} rows[] = {
    {"ring:64", {499, 55.3, 592, 52.5, 53.5}, {.05, .05, .05, .05, .05}, 105},
    {"mesh:16x16", {232, 49.5, 247, 36.8, 39.9}, {.10, .05, .10, .05, .05}, 147},
    {"torus:16x16", {67.8, 25.9, 74.5, 19.1, 20.4}, {.05, .05, .05, .05, .05}, 77},
    {"hypercube:8", {7.8, 7.8, 13.6, 7.8, 8.0}, {.05, .05, .05, .05, .05}, 62},
};

struct mean {
    double steps, rounds;
};

static struct mean
measure(struct table_run *t, const struct net *net, enum lbm_policy policy, uint32_t runs)
{
    struct mean mean = {0.0, 0.0};
    struct lbm_balance_options options = {.policy = policy, .stop = LBM_STOP_BALANCED, .bound = 0.01};
    double *load = lbm_alloc(net->hosts.n, sizeof *load);
    enum lbm_err err = load == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t run = 0; run < runs && err == LBM_OK; run++) {
        struct lbm_balance_result result = {0};
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        for (uint32_t p = 0; p < net->hosts.n; p++)
            load[p] = 2.0 * lbm_rng_unit(&rng);
        err = lbm_balance_run(&net->network, &options, load, NULL, &result, &t->diag);
        mean.steps += (double)result.steps / runs;
        mean.rounds += result.rounds / runs;
    }
    free(load);
    if (err != LBM_OK)
        table_fail(t, err);
    return mean;
}

void
policies_steps(struct table_run *t)
{
    uint32_t runs = table_runs(t, 20, 400);
    double chance = 0.25 / sqrt(runs); /* single runs differ by a quarter */
    for (size_t i = 0; i < sizeof rows / sizeof *rows && t->diag.code == LBM_OK; i++) {
        struct net net;
        if (!net_open(t, &net, "%s", rows[i].hosts))
            return;
        for (size_t k = 0; k < COLUMNS && t->diag.code == LBM_OK; k++) {
            struct mean mean = measure(t, &net, columns[k], runs);
            cell_computed(table_cell(t, mean.steps, "%s, %s: steps to 1 %%", rows[i].hosts,
                                     lbm_policy_name(columns[k])),
                          rows[i].steps[k], (rows[i].slack[k] + chance) * rows[i].steps[k]);
            if (k == SECOND_ORDER)
                cell_computed(table_cell(t, mean.rounds, "%s, %s: one-port rounds", rows[i].hosts,
                                         lbm_policy_name(columns[k])),
                              rows[i].rounds, (rows[i].slack[k] + chance) * rows[i].rounds);
        }
        net_close(&net);
    }
}

/* What is left of the slowest mode of a ring after some steps, in closed form. mu is its eigenvalue in the
 * matrix of diffusion, gamma the largest; alpha is optimal, so that mu = gamma. */
static double
mode_left(enum lbm_policy policy, double gamma, uint32_t steps)
{
    double k = steps, root = sqrt(1.0 - gamma * gamma), r = gamma / (1.0 + root);
    switch (policy) {
    case LBM_POLICY_DIFFUSION:
        return pow(gamma, k);
    case LBM_POLICY_SECOND_ORDER: /* a double eigenvalue r; the first step is of first order */
        return pow(r, k) * (1.0 + k * (gamma / r - 1.0));
    default: /* T_k(1) / T_k(1/gamma) */
        return 1.0 / cosh(k * acosh(1.0 / gamma));
    }
}

static void
judge_mode(struct table_run *t, const struct net *net, enum lbm_policy policy, uint32_t steps)
{
    struct lbm_balance_options options = {
        .policy = policy, .stop = LBM_STOP_BALANCED, .bound = 1e-12, .steps_max = steps};
    struct lbm_balance_result result;
    double load[16];
    for (uint32_t p = 0; p < 16; p++)
        load[p] = 1.0 + 0.5 * cos(acos(-1.0) * p / 8.0);
    enum lbm_err err = lbm_balance_run(&net->network, &options, load, NULL, &result, &t->diag);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    double gamma = lbm_gamma_uniform(&net->network.laplacian, lbm_alpha_optimal(&net->network.laplacian));
    cell_paper(table_cell(t, result.deviation / 0.5, "ring:16, %s: left of the slowest mode after %u steps",
                          lbm_policy_name(policy), steps),
               mode_left(policy, gamma, steps), 1e-9);
}

void
policies_modes(struct table_run *t)
{
    static const enum lbm_policy policies[] = {LBM_POLICY_DIFFUSION, LBM_POLICY_SECOND_ORDER,
                                               LBM_POLICY_CHEBYSHEV};
    struct net net;
    if (!net_open(t, &net, "ring:16"))
        return;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        for (uint32_t steps = 1; steps <= 16; steps *= 2)
            judge_mode(t, &net, policies[i], steps);
    net_close(&net);
}

/* A planar graph of 200 hosts; the measured one is not known, so that ratios alone can be compared. Its
 * colours are nine where that one had seven. */
void
policies_planar(struct table_run *t)
{
    static const struct {
        enum lbm_policy policy, other;
        double ratio;
    } ratios[] = {
        {LBM_POLICY_GDE, LBM_POLICY_DIMENSION_EXCHANGE, 343.0 / 502.0},
        {LBM_POLICY_DIFFUSION, LBM_POLICY_DIMENSION_EXCHANGE, 370.0 / 502.0},
        {LBM_POLICY_SECOND_ORDER, LBM_POLICY_DIFFUSION, 40.7 / 370.0},
        {LBM_POLICY_CHEBYSHEV, LBM_POLICY_SECOND_ORDER, 39.6 / 40.7},
    };
    uint32_t runs = table_runs(t, 60, 400);
    double steps[LBM_POLICY_COUNT] = {0.0};
    struct net net;
    if (!net_open_guest(t, &net, "tri:200"))
        return;
    for (size_t k = 0; k < COLUMNS && t->diag.code == LBM_OK; k++)
        steps[columns[k]] = measure(t, &net, columns[k], runs).steps;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        cell_computed(table_cell(t, steps[ratios[i].policy] / steps[ratios[i].other],
                                 "tri:200: steps of %s over those of %s", lbm_policy_name(ratios[i].policy),
                                 lbm_policy_name(ratios[i].other)),
                      ratios[i].ratio, 0.1);
    net_close(&net);
}
