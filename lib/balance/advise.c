/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which policy is the fastest on given hosts. Spectra say how fast the slowest part of a deviation shrinks,
 * not how large it is at the start: candidates within reach of the cheapest are tried on drawn loads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/internal.h"

enum {
    DRAWS = 12,       /* loads a candidate is tried on, the same for all */
    MEAN_UNITS = 128, /* of integer loads: XL95's Tables II and III */
};

static const double REACH = 4.0;    /* times the rounds of the cheapest: beyond, the spectrum decides */
static const double WORK_MAX = 2e8; /* steps times hosts and links in the trials of one candidate */
static const double MARGIN = 0.02;  /* so much a later one must be cheaper */
static const double BOUND = 0.01;   /* if none is asked for that could be tried without knowing the loads */

/* At equal cost the earlier wins: exchange takes from no host more than it has. */
static const enum lbm_policy order[] = {
    LBM_POLICY_DIMENSION_EXCHANGE, LBM_POLICY_GDE,          LBM_POLICY_RANDOM_LOAD,
    LBM_POLICY_DIFFUSION,          LBM_POLICY_SECOND_ORDER, LBM_POLICY_CHEBYSHEV,
};

static double
bound_of(const struct lbm_balance_options *o)
{
    return o->stop == LBM_STOP_LEVEL && o->bound > 0.0 ? o->bound : BOUND;
}

/* ---- from the spectrum --------------------------------------------------------------------------- */

/* Steps until the slowest part is below the bound. It begins with its share of the variance 1/3 of SAN's
 * loads. At the best factor of the second order, as at lambda_opt, its eigenvalue is double: it first grows,
 * like (1 + t growth) rate^t with a growth of about -log rate. */
static double
expected_steps(const struct lbm_network *net, const struct lbm_rule *rule, double bound)
{
    double rate = lbm_rule_rate(net, rule), sweep = rule->lambda > 0.0 ? net->colouring.n_colours : 1.0;
    if (rule->gamma < 1e-6 || net->h->n < 2)
        return net->h->n < 2 ? 0.0 : sweep;
    if (rate >= 1.0 - 1e-12)
        return HUGE_VAL;
    double start = fmin(1.0, 2.0 / sqrt(3.0 * net->h->n)), slope = -log(rate), steps = sweep;
    int is_double = rule->policy == LBM_POLICY_SECOND_ORDER || rule->policy == LBM_POLICY_GDE ||
                    rule->policy == LBM_POLICY_RANDOM_LOAD;
    for (int i = 0; i < 8; i++)
        steps = fmax(sweep, log(start * (1.0 + (is_double ? steps * slope : 0.0)) / bound) / slope);
    return steps;
}

/* ---- on drawn loads ------------------------------------------------------------------------------ */

static void
draw_loads(const struct lbm_network *net, const struct lbm_balance_options *o, uint64_t index, double *load)
{
    struct lbm_rng rng;
    lbm_rng_stream(&rng, o->seed, index);
    for (uint32_t p = 0; p < net->h->n; p++)
        load[p] = o->integer ? lbm_rng_below(&rng, 2 * MEAN_UNITS) : 2.0 * lbm_rng_unit(&rng);
}

/* Steps of one trial, at most limit. Integers: until a sweep moves nothing. */
static double
trial(struct lbm_balancer *b, const struct lbm_balance_options *o, double limit, double *load, double *flow)
{
    double steps = 0.0, moved = 0.0;
    uint32_t sweep = lbm_balancer_sweep(b);
    while (steps < limit) {
        if (!o->integer && lbm_balance_deviation(b->net, load) <= bound_of(o))
            break;
        moved += lbm_balancer_step(b, load, flow);
        steps += 1.0;
        if (o->integer && fmod(steps, sweep) == 0.0) {
            if (moved == 0.0)
                break;
            moved = 0.0;
        }
    }
    return steps;
}

/* Try a candidate for as long as there is work left; a draw that was not finished does not count. */
static enum lbm_err
try_candidate(const struct lbm_network *net, const struct lbm_balance_options *o,
              struct lbm_candidate *candidate)
{
    double *load = lbm_alloc(net->h->n, sizeof *load);
    double *flow = lbm_alloc(net->colouring.n_links, sizeof *flow), sum = 0.0;
    double left = floor(WORK_MAX / (net->colouring.n_links + net->h->n));
    enum lbm_err err = load && flow ? LBM_OK : LBM_E_NOMEM;
    int draws = 0;
    for (; err == LBM_OK && draws < DRAWS && candidate->steps < left; draws++) {
        struct lbm_balancer *b;
        err = lbm_balancer_make(net, &candidate->rule, o->integer, o->seed, &b);
        if (err != LBM_OK)
            break;
        draw_loads(net, o, (uint64_t)draws, load);
        double steps = trial(b, o, left, load, flow);
        lbm_balancer_free(b);
        if (steps >= left)
            break;
        left -= steps;
        sum += steps;
    }
    if (err == LBM_OK && draws > 0) {
        candidate->steps = sum / draws;
        candidate->tried = 1;
    }
    free(load);
    free(flow);
    return err;
}

/* ---- candidates ---------------------------------------------------------------------------------- */

/* What follows from the steps. */
static void
price(const struct lbm_network *net, enum lbm_ports ports, struct lbm_candidate *c)
{
    double colours = net->colouring.n_colours, links = net->colouring.n_links;
    int exchange = lbm_policies[c->rule.policy].exchange;
    c->rounds = c->steps * lbm_rounds_of_step(net, c->rule.policy, ports);
    c->sweeps = exchange && colours > 0 ? c->steps / colours : c->steps;
    c->messages = 2.0 * links * c->sweeps;
}

static enum lbm_err
add_candidate(const struct lbm_network *net, const struct lbm_balance_options *options,
              enum lbm_policy policy, struct lbm_advice *advice, struct lbm_diag *diag)
{
    struct lbm_balance_options own = *options;
    struct lbm_candidate *c = &advice->candidate[advice->n];
    if (lbm_rule_fits(net, policy, own.integer, NULL) != LBM_OK ||
        (own.nonnegative && (policy == LBM_POLICY_SECOND_ORDER || policy == LBM_POLICY_CHEBYSHEV)))
        return LBM_OK;
    own.policy = policy;
    own.alpha_rule = own.nonnegative ? LBM_ALPHA_SAFE : LBM_ALPHA_OPTIMAL;
    own.lambda_denominator = 0;
    enum lbm_err err = lbm_rule_make(net, &own, &c->rule, NULL);
    if (err == LBM_E_RANGE) /* one host: nothing to accelerate */
        return LBM_OK;
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, lbm_policy_name(policy), 0, "cannot be predicted on these hosts: %s",
                            lbm_err_text(err));
    c->tried = 0;
    c->steps = expected_steps(net, &c->rule, bound_of(options));
    price(net, options->ports, c);
    advice->n++;
    return LBM_OK;
}

static double
least_rounds(const struct lbm_advice *advice)
{
    double least = HUGE_VAL;
    for (unsigned i = 0; i < advice->n; i++)
        least = fmin(least, advice->candidate[i].rounds);
    return least;
}

/* By insertion: stable, and the order above decides between those that trials hardly tell apart. */
static void
sort_candidates(struct lbm_advice *advice)
{
    for (unsigned i = 1; i < advice->n; i++) {
        struct lbm_candidate c = advice->candidate[i];
        unsigned k = i;
        for (; k > 0 && c.rounds < advice->candidate[k - 1].rounds * (1.0 - MARGIN); k--)
            advice->candidate[k] = advice->candidate[k - 1];
        advice->candidate[k] = c;
    }
}

/* ---- in words ------------------------------------------------------------------------------------ */

static const char *
reason(const struct lbm_network *net, const struct lbm_balance_options *o, const struct lbm_rule *rule)
{
    if (rule->lambda > 0.0 && rule->gamma < 1e-6)
        return "a sweep levels everything (CYB89 Theorem 4)";
    if (o->integer)
        return "whole units: exchange alone moves them, and keeps linked hosts within one";
    if (rule->lambda > 0.0 && o->ports == LBM_PORTS_ONE)
        return "a round of exchange is one talk a host; a step of diffusion is one with every neighbour";
    if (rule->lambda > 0.0)
        return "exchange uses at once what the colours before have levelled";
    if (rule->policy == LBM_POLICY_DIFFUSION)
        return o->nonnegative ? "it takes from no host more than it has"
                              : "all neighbours at once, and the "
                                "spectrum is narrow";
    return net->colouring.n_colours > 0 ? "steps grow with the root of 1 / (1 - gamma), not with it" : "";
}

static void
explain(const struct lbm_network *net, const struct lbm_balance_options *o, struct lbm_advice *advice)
{
    const struct lbm_candidate *first = &advice->candidate[0], *next = &advice->candidate[1];
    char parameter[48], rival[128] = "";
    if (first->rule.lambda > 0.0)
        snprintf(parameter, sizeof parameter, "lambda = %.5g", first->rule.lambda);
    else
        snprintf(parameter, sizeof parameter, "alpha = %.5g", first->rule.alpha);
    if (advice->n > 1)
        snprintf(rival, sizeof rival, ", %s %.3g", lbm_policy_name(next->rule.policy), next->rounds);
    snprintf(advice->why, sizeof advice->why, "auto: %s, %s: %.3g rounds expected (%s)%s, %s; %s",
             lbm_policy_name(first->rule.policy), parameter, first->rounds,
             o->ports == LBM_PORTS_ONE ? "one port" : "all ports", rival,
             first->tried ? "tried on random loads" : "by the spectrum", reason(net, o, &first->rule));
}

static enum lbm_err
try_and_price(const struct lbm_network *net, const struct lbm_balance_options *o,
              struct lbm_candidate *candidate, struct lbm_diag *diag)
{
    if (net->h->n < 2)
        return LBM_OK;
    if (try_candidate(net, o, candidate) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_NOMEM, "auto", 0, "no memory for a trial");
    price(net, o->ports, candidate);
    return LBM_OK;
}

enum lbm_err
lbm_advise(const struct lbm_network *net, const struct lbm_balance_options *options, struct lbm_advice *out,
           struct lbm_diag *diag)
{
    struct lbm_advice advice = {0};
    enum lbm_err err = LBM_OK;
    for (unsigned i = 0; err == LBM_OK && i < sizeof order / sizeof *order; i++)
        err = add_candidate(net, options, order[i], &advice, diag);
    if (err != LBM_OK)
        return err;
    double reach = REACH * least_rounds(&advice);
    for (unsigned i = 0; err == LBM_OK && i < advice.n; i++)
        if (advice.candidate[i].rounds <= reach)
            err = try_and_price(net, options, &advice.candidate[i], diag);
    sort_candidates(&advice);
    for (unsigned i = 0; err == LBM_OK && i < advice.n && !advice.candidate[0].tried; i++) {
        err = try_and_price(net, options, &advice.candidate[0],
                            diag); /* the others took longer than predicted */
        sort_candidates(&advice);
    }
    if (err != LBM_OK)
        return err;
    explain(net, options, &advice);
    *out = advice;
    return LBM_OK;
}
