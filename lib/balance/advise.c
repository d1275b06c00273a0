/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which policy costs least on given hosts: rounds, and the time that the busiest link needs for its net flow.
 * Spectra say how fast the slowest part of a deviation shrinks, not how large it is at the start, and nothing
 * about flows: candidates that may be the cheapest are tried on drawn loads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/internal.h"

enum {
    SPECTRA_HOSTS_MAX =
        256,    /* beyond, links with weights of their own, whose spectrum takes seconds, are left out */
    DRAWS = 12, /* loads a candidate is tried on, the same for all */
    MEAN_UNITS = 128, /* of integer loads: XL95's Tables II and III */
};

static const double REACH = 4.0;    /* the spectrum's rounds are at most that many times those of a trial */
static const double WORK_MAX = 2e8; /* steps times hosts and links in the trials of one candidate */
static const double MARGIN = 0.02;  /* so much a later one must be cheaper */
static const double BOUND = 0.01;   /* if none is asked for that could be tried without knowing the loads */

/* At equal cost the earlier wins: exchange takes from no host more than it has. */
static const enum lbm_policy order[] = {
    LBM_POLICY_DIMENSION_EXCHANGE, LBM_POLICY_GDE,        LBM_POLICY_RANDOM_LOAD,
    LBM_POLICY_DIFFUSION,          LBM_POLICY_METROPOLIS, LBM_POLICY_SECOND_ORDER,
    LBM_POLICY_CHEBYSHEV,          LBM_POLICY_OPS,        LBM_POLICY_POTENTIALS,
    LBM_POLICY_RANDOM_MATCHING,
};

static double
bound_of(const struct lbm_balance_options *o)
{
    return o->stop == LBM_STOP_BALANCED && o->bound > 0.0 ? o->bound : BOUND;
}

/* ---- from the spectrum --------------------------------------------------------------------------- */

/* Steps until the slowest part is below the bound. It begins with its share of the variance 1/3 of SAN's
 * loads. At the best factor of the second order, as at lambda_opt, its eigenvalue is double: it first grows,
 * like (1 + t growth) rate^t with a growth of about -log rate. */
static double
expected_steps(const struct lbm_network *net, const struct lbm_rule *rule, double bound)
{
    double rate = lbm_rule_rate(net, rule), sweep = rule->lambda > 0.0 ? net->colouring.n_colours : 1.0;
    if (rule->n_poles > 0) { /* all of them, or as many as take the Chebyshev method to the bound */
        struct lbm_rule other = {.policy = LBM_POLICY_CHEBYSHEV};
        other.gamma = lbm_gamma_uniform(&net->laplacian, lbm_alpha_optimal(&net->laplacian));
        return fmin(rule->n_poles, expected_steps(net, &other, bound));
    }
    if (rule->policy == LBM_POLICY_RANDOM_MATCHING)
        sweep = 1.0;
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

/* What trials work in. */
struct trials {
    const struct lbm_network *net;
    const struct lbm_balance_options *o;
    double *load, *flow, *total; /* [n], [n_links] of a step, of all */
    struct lbm_flow_size least;  /* mean over the draws, over the mean load */
};

/* Whole units, if the candidate has to do with them. */
static int
is_whole(const struct lbm_balance_options *o, enum lbm_policy policy)
{
    return o->daemons ? lbm_policy_is_integer(policy) : o->integer;
}

/* Returns the mean. */
static double
draw_loads(const struct trials *t, int whole, uint64_t index)
{
    struct lbm_rng rng;
    double sum = 0.0;
    lbm_rng_stream(&rng, t->o->seed, index);
    for (uint32_t p = 0; p < t->net->h->n; p++) {
        t->load[p] = whole ? lbm_rng_below(&rng, 2 * MEAN_UNITS) : 2.0 * lbm_rng_unit(&rng);
        sum += t->load[p];
    }
    return sum / t->net->h->n;
}

static void
add_size(struct lbm_flow_size *sum, const struct lbm_flow_size *size, double scale)
{
    sum->sum += scale * size->sum;
    sum->root += scale * size->root;
    sum->busiest += scale * size->busiest;
}

/* Nonzero if whole units have come to rest: nothing moved in a sweep, or, of random pairs, no link is left
 * whose ends differ by more than they may. */
static int
is_quiescent(const struct lbm_balancer *b, const struct trials *t, double moved)
{
    if (b->rule.policy != LBM_POLICY_RANDOM_MATCHING)
        return moved == 0.0;
    for (uint32_t i = 0; i < t->net->colouring.n_links; i++)
        if (lbm_balancer_flow(b, NULL, i, t->load, 0.0) != 0.0)
            return 0;
    return 1;
}

/* Steps of one trial, at most limit. Integers: until a sweep moves nothing. Out: total. */
static double
trial(struct lbm_balancer *b, const struct trials *t, double limit)
{
    double steps = 0.0, moved = 0.0;
    uint32_t sweep = lbm_balancer_sweep(b), links = t->net->colouring.n_links;
    memset(t->total, 0, links * sizeof *t->total);
    while (steps < limit) {
        if (!b->integer && lbm_balance_deviation(b->net, t->load) <= bound_of(t->o))
            break;
        moved += lbm_balancer_step(b, t->load, t->flow);
        for (uint32_t i = 0; i < links; i++)
            t->total[i] += t->flow[i];
        steps += 1.0;
        if (b->integer && fmod(steps, sweep) == 0.0) {
            if (is_quiescent(b, t, moved))
                break;
            moved = 0.0;
        }
    }
    return steps;
}

/* Try a candidate for as long as there is work left; a draw that was not finished does not count. */
static enum lbm_err
try_candidate(struct trials *t, struct lbm_candidate *candidate)
{
    const struct lbm_network *net = t->net;
    double sum = 0.0, left = floor(WORK_MAX / (net->colouring.n_links + net->h->n));
    int whole = is_whole(t->o, candidate->rule.policy), draws = 0;
    struct lbm_flow_size net_flow = {0}, size;
    enum lbm_err err = LBM_OK;
    for (; err == LBM_OK && draws < DRAWS && candidate->steps < left; draws++) {
        struct lbm_balancer *b;
        err = lbm_balancer_make(net, &candidate->rule, whole, t->o->seed + (uint64_t)draws, &b);
        if (err != LBM_OK)
            break;
        double mean = draw_loads(t, whole, (uint64_t)draws);
        double steps = trial(b, t, left);
        lbm_balancer_free(b);
        if (steps >= left)
            break;
        left -= steps;
        sum += steps;
        lbm_flow_measure(t->total, net->colouring.n_links, &size);
        add_size(&net_flow, &size, mean > 0.0 ? 1.0 / mean : 0.0);
    }
    if (err == LBM_OK && draws > 0) {
        candidate->steps = sum / draws;
        candidate->net = (struct lbm_flow_size){0};
        add_size(&candidate->net, &net_flow, 1.0 / draws);
        candidate->tried = 1;
    }
    return err;
}

/* The least of all flows that level the loads drawn; of large networks nothing is known. */
static enum lbm_err
find_least(struct trials *t, int whole)
{
    const struct lbm_network *net = t->net;
    for (uint64_t index = 0; index < DRAWS; index++) {
        struct lbm_flow_size size;
        double mean = draw_loads(t, whole, index);
        for (uint32_t p = 0; p < net->h->n; p++)
            t->load[p] -= mean * net->share[p];
        enum lbm_err err = lbm_flow_least(&net->colouring, t->load, &size);
        if (err == LBM_E_LIMIT) {
            t->least = (struct lbm_flow_size){(double)NAN, (double)NAN, (double)NAN};
            return LBM_OK;
        }
        if (err != LBM_OK)
            return err;
        add_size(&t->least, &size, mean > 0.0 ? 1.0 / mean / DRAWS : 0.0);
    }
    return LBM_OK;
}

static void
free_trials(struct trials *t)
{
    free(t->load);
    free(t->flow);
    free(t->total);
}

static enum lbm_err
make_trials(const struct lbm_network *net, const struct lbm_balance_options *o, struct trials *out)
{
    struct trials t = {.net = net,
                       .o = o,
                       .load = lbm_alloc(net->h->n, sizeof *t.load),
                       .flow = lbm_alloc(net->colouring.n_links, sizeof *t.flow),
                       .total = lbm_alloc(net->colouring.n_links, sizeof *t.total)};
    enum lbm_err err = t.load && t.flow && t.total ? find_least(&t, o->integer) : LBM_E_NOMEM;
    if (err != LBM_OK) {
        free_trials(&t);
        return err;
    }
    *out = t;
    return LBM_OK;
}

/* ---- candidates ---------------------------------------------------------------------------------- */

/* Links that are matched in a step, on average. */
static double
links_matched(const struct lbm_network *net)
{
    const struct lbm_hosts *h = net->h;
    double sum = 0.0;
    for (uint32_t i = 0; i < net->colouring.n_links; i++) {
        uint32_t p = net->colouring.link[i].p, q = net->colouring.link[i].q;
        sum += 1.0 / (h->offset[p + 1] - h->offset[p] + h->offset[q + 1] - h->offset[q] - 1.0);
    }
    return sum;
}

/* What follows from the steps. A flow that is not known is at best the least. */
static void
price(const struct lbm_network *net, const struct lbm_balance_options *o, const struct lbm_flow_size *least,
      struct lbm_candidate *c)
{
    double colours = net->colouring.n_colours, links = net->colouring.n_links;
    enum lbm_policy policy = c->rule.policy;
    int exchange = lbm_policies[policy].exchange;
    c->rounds = c->steps * lbm_rounds_of_step(net, policy, o->ports);
    if (c->steps > 0.0)
        c->rounds += lbm_rounds_before(net, policy, o->ports);
    c->sweeps = exchange && colours > 0 ? c->steps / colours : c->steps;
    c->messages = 2.0 * links * c->sweeps;
    if (policy == LBM_POLICY_POTENTIALS)
        c->messages += 2.0 * (net->h->n - 1.0) * c->steps;
    if (policy == LBM_POLICY_RANDOM_MATCHING)
        c->messages = 2.0 * c->steps * links_matched(net);
    double busiest = c->tried ? c->net.busiest : isnan(least->busiest) ? 0.0 : least->busiest;
    c->cost = lbm_balance_cost(c->rounds, lbm_transfer_of(o), busiest, 1.0);
}

static int
may_be_taken(const struct lbm_network *net, const struct lbm_balance_options *o, enum lbm_policy policy)
{
    const struct lbm_policy_row *row = &lbm_policies[policy];
    if (net->h->n > SPECTRA_HOSTS_MAX &&
        (policy == LBM_POLICY_METROPOLIS || policy == LBM_POLICY_RANDOM_MATCHING))
        return 0;
    return lbm_rule_fits(net, policy, is_whole(o, policy), NULL) == LBM_OK && row->advised &&
           !(o->nonnegative && row->overdraws) && !(o->daemons && !row->local);
}

static enum lbm_err
add_candidate(const struct trials *t, enum lbm_policy policy, struct lbm_advice *advice,
              struct lbm_diag *diag)
{
    struct lbm_balance_options own = *t->o;
    struct lbm_candidate *c = &advice->candidate[advice->n];
    if (!may_be_taken(t->net, t->o, policy))
        return LBM_OK;
    own.policy = policy;
    own.integer = is_whole(t->o, policy);
    own.alpha_rule = own.nonnegative ? LBM_ALPHA_FEASIBLE : LBM_ALPHA_OPTIMAL;
    own.lambda_denominator = 0;
    enum lbm_err err = lbm_rule_make(t->net, &own, &c->rule, NULL);
    if (err == LBM_E_RANGE || err == LBM_E_LIMIT ||
        err == LBM_E_UNSUPPORTED) /* one host; too many eigenvalues */
        return LBM_OK;
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, lbm_policy_name(policy), 0, "cannot be predicted on these hosts: %s",
                            lbm_err_text(err));
    c->tried = 0;
    c->net = (struct lbm_flow_size){(double)NAN, (double)NAN, (double)NAN};
    c->steps = expected_steps(t->net, &c->rule, bound_of(t->o));
    price(t->net, t->o, &t->least, c);
    advice->n++;
    return LBM_OK;
}

/* Nonzero if a goes before b. What was not tried cannot cost less than the cheapest that was: its flow is
 * taken for the least, and so it goes behind. */
static int
is_cheaper(const struct lbm_candidate *a, const struct lbm_candidate *b)
{
    return a->tried != b->tried ? a->tried : a->cost < b->cost * (1.0 - MARGIN);
}

/* By insertion: stable, and the order above decides between those that trials hardly tell apart. */
static void
sort_candidates(struct lbm_advice *advice)
{
    for (unsigned i = 1; i < advice->n; i++) {
        struct lbm_candidate c = advice->candidate[i];
        unsigned k = i;
        for (; k > 0 && is_cheaper(&c, &advice->candidate[k - 1]); k--)
            advice->candidate[k] = advice->candidate[k - 1];
        advice->candidate[k] = c;
    }
}

/* Nonzero if a candidate that was not tried may cost less than `cost`: the rounds as few as the spectrum
 * lets, the flow the least. */
static int
may_cost_less(const struct lbm_candidate *c, double cost)
{
    return !c->tried && c->cost - c->rounds * (1.0 - 1.0 / REACH) < cost;
}

/* ---- in words ------------------------------------------------------------------------------------ */

static const char *
reason(const struct lbm_network *net, const struct lbm_balance_options *o, const struct lbm_rule *rule)
{
    if (rule->policy == LBM_POLICY_OPS)
        return "one step for each eigenvalue, and the flow of least squares";
    if (rule->policy == LBM_POLICY_POTENTIALS)
        return "the flow of least squares, in few steps where sums over all hosts are cheap";
    if (rule->policy == LBM_POLICY_METROPOLIS)
        return "each link has the alpha of its degrees";
    if (rule->policy == LBM_POLICY_RANDOM_MATCHING)
        return "pairs that are drawn need no colours";
    if (rule->lambda > 0.0 && rule->gamma < 1e-6)
        return "a sweep levels everything (CYB89 Theorem 4)";
    if (rule->lambda > 0.0 && o->integer)
        return "whole units: exchange keeps linked hosts within one";
    if (o->daemons && rule->lambda == 0.0)
        return "the flow of least squares, and numbers are levelled before vertices move";
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
    char parameter[48] = "", rival[128] = "", flow[128] = "";
    if (first->rule.n_poles > 0)
        snprintf(parameter, sizeof parameter, ", %" PRIu32 " steps", first->rule.n_poles);
    else if (first->rule.lambda > 0.0)
        snprintf(parameter, sizeof parameter, ", lambda = %.5g", first->rule.lambda);
    else if (first->rule.alpha > 0.0)
        snprintf(parameter, sizeof parameter, ", alpha %s %.5g",
                 first->rule.link_alpha != NULL ? "up to" : "=", first->rule.alpha);
    if (advice->n > 1)
        snprintf(rival, sizeof rival, "; next %s, cost %.4g", lbm_policy_name(next->rule.policy), next->cost);
    if (first->tried && advice->transfer > 0.0)
        snprintf(flow, sizeof flow, " + %.3g mean loads over the busiest link at %.4g rounds each",
                 first->net.busiest, advice->transfer);
    snprintf(advice->why, sizeof advice->why, "auto: %s%s: cost %.4g = %.3g rounds (%s)%s, %s%s; %s",
             lbm_policy_name(first->rule.policy), parameter, first->cost, first->rounds,
             o->ports == LBM_PORTS_ONE ? "one port" : "all ports", flow,
             first->tried ? "tried on random loads" : "by the spectrum", rival, reason(net, o, &first->rule));
}

/* Try the one that looks cheapest, until one that was tried is. */
static enum lbm_err
try_candidates(struct trials *t, struct lbm_advice *advice)
{
    double best = HUGE_VAL;
    uint8_t asked[LBM_POLICY_COUNT] = {0};
    for (;;) {
        struct lbm_candidate *next = NULL;
        for (unsigned i = 0; i < advice->n; i++) {
            struct lbm_candidate *c = &advice->candidate[i];
            if (!asked[i] && may_cost_less(c, best) && (next == NULL || c->cost < next->cost))
                next = c;
        }
        if (next == NULL || t->net->h->n < 2)
            return LBM_OK;
        enum lbm_err err = try_candidate(t, next);
        if (err != LBM_OK)
            return err;
        asked[next - advice->candidate] = 1; /* too much work for a trial: its lower bound must do */
        price(t->net, t->o, &t->least, next);
        best = next->tried ? fmin(best, next->cost) : best;
    }
}

enum lbm_err
lbm_advise(const struct lbm_network *net, const struct lbm_balance_options *options, struct lbm_advice *out,
           struct lbm_diag *diag)
{
    struct lbm_advice advice = {.transfer = lbm_transfer_of(options)};
    struct trials t;
    enum lbm_err err = make_trials(net, options, &t);
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, "auto", 0, "no memory for trials");
    advice.least = t.least;
    for (unsigned i = 0; err == LBM_OK && i < sizeof order / sizeof *order; i++)
        err = add_candidate(&t, order[i], &advice, diag);
    if (err == LBM_OK && try_candidates(&t, &advice) != LBM_OK)
        err = lbm_diag_set(diag, LBM_E_NOMEM, "auto", 0, "no memory for a trial");
    free_trials(&t);
    if (err != LBM_OK)
        return err;
    sort_candidates(&advice);
    explain(net, options, &advice);
    *out = advice;
    return LBM_OK;
}
