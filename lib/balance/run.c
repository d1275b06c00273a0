/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy on loads, from the first step until they are level. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "balance/internal.h"

/* Whatever is asked for: a run ends. At a million links this is a day of work, at a thousand some minutes. */
static const double STEPS_MOST = 1e8;

/* Integers stay exact in a double, their sum too. */
static const double UNITS_MOST = 9007199254740992.0;

/* ---- how level ----------------------------------------------------------------------------------- */

static double
mean_load(const struct lbm_network *net, const double *load)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < net->h->n; p++)
        sum += load[p];
    return net->h->n > 0 ? sum / net->h->n : 0.0;
}

static double
largest_error(const struct lbm_network *net, const double *load, double mean)
{
    double largest = 0.0;
    for (uint32_t p = 0; p < net->h->n; p++)
        largest = fmax(largest, fabs(load[p] / net->share[p] - mean));
    return largest;
}

double
lbm_balance_deviation(const struct lbm_network *net, const double *load)
{
    double mean = mean_load(net, load);
    return mean > 0.0 ? largest_error(net, load, mean) / mean : 0.0;
}

static double
largest_difference(const struct lbm_network *net, const double *load)
{
    const struct lbm_colouring *c = &net->colouring;
    double largest = 0.0;
    for (uint32_t i = 0; i < c->n_links; i++) {
        uint32_t p = c->link[i].p, q = c->link[i].q;
        largest = fmax(largest, fabs(load[p] / net->share[p] - load[q] / net->share[q]));
    }
    return largest;
}

/* ---- a run --------------------------------------------------------------------------------------- */

struct run {
    const struct lbm_network *net;
    const struct lbm_balance_options *options;
    struct lbm_balance_result *result;
    struct lbm_balancer *balancer;
    double *load;
    double *step_flow;  /* [n_links] */
    double *total_flow; /* [n_links] */
    double mean;
    double moved_in_sweep;
    struct lbm_termination *counter; /* [n] while quiescence is waited for, else NULL */
    uint32_t *heard;                 /* [n] counters as the sweep began */
    uint32_t diameter;
    uint64_t quiescent; /* the sweep in which nothing moved, steps; 0: not yet */
};

static void
tell_counters(struct run *run)
{
    const struct lbm_colouring *c = &run->net->colouring;
    for (uint32_t p = 0; p < run->net->h->n; p++)
        run->heard[p] = run->counter[p].counter;
    for (uint32_t i = 0; i < c->n_links; i++) {
        lbm_termination_hear(&run->counter[c->link[i].p], run->heard[c->link[i].q]);
        lbm_termination_hear(&run->counter[c->link[i].q], run->heard[c->link[i].p]);
    }
}

/* XL95's counters at the end of a sweep. Nonzero once every host knows that all are stable. */
static int
all_know(struct run *run)
{
    int know = 1;
    tell_counters(run);
    for (uint32_t p = 0; p < run->net->h->n; p++) {
        lbm_termination_sweep(&run->counter[p]);
        know = know && lbm_termination_done(&run->counter[p], run->diameter);
    }
    return know;
}

static void
disturb(struct run *run)
{
    const struct lbm_colouring *c = &run->net->colouring;
    for (uint32_t i = 0; run->counter != NULL && i < c->n_links; i++)
        if (run->step_flow[i] != 0.0) {
            lbm_termination_disturb(&run->counter[c->link[i].p]);
            lbm_termination_disturb(&run->counter[c->link[i].q]);
        }
}

static void
account(struct run *run, double moved)
{
    struct lbm_balance_result *r = run->result;
    const struct lbm_colouring *c = &run->net->colouring;
    enum lbm_policy policy = r->rule.policy;
    r->moved += moved;
    r->messages += 2 * (uint64_t)run->balancer->talks;
    r->rounds += lbm_rounds_of_step(run->net, policy, run->options->ports);
    for (uint32_t i = 0; i < c->n_links; i++) {
        r->moves += run->step_flow[i] != 0.0;
        run->total_flow[i] += run->step_flow[i];
    }
    for (uint32_t p = 0; p < run->net->h->n; p++)
        r->largest_negative = fmax(r->largest_negative, -run->load[p]);
}

static void
step(struct run *run)
{
    struct lbm_balance_result *r = run->result;
    double moved = lbm_balancer_step(run->balancer, run->load, run->step_flow);
    r->steps++;
    run->moved_in_sweep += moved;
    account(run, moved);
    disturb(run);
    if (run->options->trace != NULL) {
        struct lbm_balance_step told = {.step = r->steps,
                                        .deviation = lbm_balance_deviation(run->net, run->load),
                                        .moved = moved,
                                        .load = run->load,
                                        .flow = run->step_flow};
        run->options->trace(run->options->trace_arg, &told);
    }
}

/* A sweep has ended. Nonzero if it was quiescent, and every host knows it where that is asked. */
static int
sweep_is_last(struct run *run)
{
    int quiescent = run->moved_in_sweep == 0.0;
    run->moved_in_sweep = 0.0;
    if (quiescent && run->quiescent == 0)
        run->quiescent = run->result->steps;
    if (run->counter == NULL)
        return quiescent;
    int know = all_know(run);
    if (know)
        run->result->detected = run->result->steps / lbm_balancer_sweep(run->balancer);
    return know;
}

static int
within_one_unit(const struct run *run)
{
    for (uint32_t p = 0; p < run->net->h->n; p++)
        if (fabs(run->load[p] - run->net->share[p] * run->mean) > 1.0)
            return 0;
    return 1;
}

/* Random matchings: a step in which nothing moves says little about links that were not drawn. */
static int
no_link_would_carry(const struct run *run)
{
    for (uint32_t i = 0; i < run->net->colouring.n_links; i++)
        if (lbm_balancer_flow(run->balancer, NULL, i, run->load, 0.0) != 0.0)
            return 0;
    return 1;
}

static int
is_settled(struct run *run)
{
    const struct lbm_balance_options *o = run->options;
    uint64_t steps = run->result->steps;
    uint32_t sweep = lbm_balancer_sweep(run->balancer);
    if (lbm_policies[run->result->rule.policy].hypercube)
        return steps >= sweep;
    if (run->result->rule.policy == LBM_POLICY_EDGE_REMAP && o->stop == LBM_STOP_QUIESCENT)
        return within_one_unit(run);
    if (run->result->rule.policy == LBM_POLICY_RANDOM_MATCHING && o->stop == LBM_STOP_QUIESCENT)
        return no_link_would_carry(run);
    switch (o->stop) {
    case LBM_STOP_BALANCED:
        return largest_error(run->net, run->load, run->mean) <=
               LBM_MUTANT(STOP_LEVEL, 1.0, 2.0) * o->bound * run->mean;
    case LBM_STOP_NEIGHBOURS:
        return largest_difference(run->net, run->load) <= LBM_MUTANT(STOP_NEIGHBOURS, 1.0, 2.0) * o->bound;
    default:
        return steps > 0 && steps % sweep == 0 && sweep_is_last(run);
    }
}

static double
spread(const struct lbm_network *net, const double *load)
{
    double least = HUGE_VAL, largest = -HUGE_VAL;
    for (uint32_t p = 0; p < net->h->n; p++) {
        least = fmin(least, load[p] / net->share[p]);
        largest = fmax(largest, load[p] / net->share[p]);
    }
    return net->h->n > 0 ? largest - least : 0.0;
}

/* ---- the end ------------------------------------------------------------------------------------- */

static void
finish(struct run *run)
{
    struct lbm_balance_result *r = run->result;
    size_t used = strlen(r->why); /* auto has said why it chose */
    uint32_t sweep = lbm_balancer_sweep(run->balancer);
    if (run->counter != NULL && run->quiescent != 0) {
        r->rounds -= (double)(r->steps - run->quiescent); /* what the counters took is told apart */
        r->messages -= 2 * run->net->colouring.n_links * ((r->steps - run->quiescent) / sweep);
        r->steps = run->quiescent;
    }
    r->sweeps = (double)r->steps / sweep;
    if (r->steps > 0)
        r->rounds += lbm_rounds_before(run->net, r->rule.policy, run->options->ports);
    lbm_flow_measure(run->total_flow, run->net->colouring.n_links, &r->net);
    r->deviation = lbm_balance_deviation(run->net, run->load);
    r->difference = largest_difference(run->net, run->load);
    r->spread = spread(run->net, run->load);
    r->collection = lbm_collection_rounds(run->net, &r->rule);
    if (r->collection > 0.0) { /* along a tree of each subcube, to its root and back */
        r->rounds += r->collection;
        r->messages += 2 * (uint64_t)(run->net->h->n - (UINT32_C(1) << r->rule.low));
    }
    r->cost = lbm_balance_cost(r->rounds, lbm_transfer_of(run->options), r->net.busiest, run->mean);
    lbm_balance_explain(run->net, run->options, r, r->why + used, sizeof r->why - used);
}

/* ---- limits -------------------------------------------------------------------------------------- */

/* Five times what the slowest part of the deviation takes, and a thousand sweeps; edge-remap walks at random.
 */
static uint64_t
steps_allowed(const struct run *run)
{
    const struct lbm_balance_options *o = run->options;
    const struct lbm_rule *rule = &run->result->rule;
    double n = run->net->h->n;
    if (o->steps_max > 0)
        return o->steps_max;
    double expected = 1000.0 * lbm_balancer_sweep(run->balancer) + 4.0 * rule->n_poles;
    if (rule->policy == LBM_POLICY_EDGE_REMAP)
        expected += 1000.0 * n + run->mean * n;
    else if (rule->gamma < 1.0 - 1e-12)
        expected += 5.0 * log(1e9 + run->mean) / -log(fmax(lbm_rule_rate(run->net, rule), 1e-3));
    return (uint64_t)fmin(expected, STEPS_MOST);
}

static enum lbm_err
check_loads(const struct run *run, struct lbm_diag *diag)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < run->net->h->n; p++) {
        double w = run->load[p];
        if (!isfinite(w) || w < 0.0)
            return lbm_diag_set(diag, LBM_E_RANGE, "loads", 0,
                                "that of host %" PRIu32 " is %g; loads are >= 0", p, w);
        if (run->options->integer && w != floor(w))
            return lbm_diag_set(diag, LBM_E_RANGE, "loads", 0, "that of host %" PRIu32 ", %g, is no integer",
                                p, w);
        sum += w;
    }
    if (run->options->integer && sum >= UNITS_MOST)
        return lbm_diag_set(diag, LBM_E_RANGE, "loads", 0, "together 2^53 units or more");
    const struct lbm_balance_options *o = run->options;
    if (!(o->bound >= 0.0) || (o->bound == 0.0 && !o->integer) ||
        (o->stop == LBM_STOP_QUIESCENT && !o->integer))
        return lbm_diag_set(
            diag, LBM_E_RANGE, "bound", 0,
            "loads of any fraction need a bound above 0 to stop at, of the deviation or of the "
            "difference of neighbours");
    return LBM_OK;
}

static enum lbm_err
make_counters(struct run *run)
{
    const struct lbm_hosts *h = run->net->h;
    const struct lbm_rule *rule = &run->result->rule;
    if (run->options->stop != LBM_STOP_QUIESCENT || rule->lambda == 0.0 ||
        rule->policy == LBM_POLICY_RANDOM_MATCHING || h->n < 2)
        return LBM_OK;
    run->counter = lbm_alloc(h->n, sizeof *run->counter);
    run->heard = lbm_alloc(h->n, sizeof *run->heard);
    if (run->counter == NULL || run->heard == NULL)
        return LBM_E_NOMEM;
    run->diameter = lbm_hosts_diameter_hops(h);
    for (uint32_t p = 0; p < h->n; p++)
        run->counter[p] = (struct lbm_termination){.least = UINT32_MAX};
    return LBM_OK;
}

/* ---- the door ------------------------------------------------------------------------------------ */

/* The rule; if auto chose it, why is in the result. */
static enum lbm_err
choose(struct run *run, struct lbm_diag *diag)
{
    struct lbm_balance_result *r = run->result;
    if (run->options->rule != NULL) {
        r->rule = *run->options->rule;
        return LBM_OK;
    }
    if (run->options->policy != LBM_POLICY_AUTO)
        return lbm_rule_make(run->net, run->options, &r->rule, diag);
    struct lbm_advice *advice = lbm_alloc(1, sizeof *advice);
    if (advice == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, "auto", 0, "no memory for advice");
    enum lbm_err err = lbm_advise(run->net, run->options, advice, diag);
    if (err == LBM_OK) {
        r->rule = advice->candidate[0].rule;
        snprintf(r->why, sizeof r->why, "%s; ", advice->why);
    }
    free(advice);
    return err;
}

static enum lbm_err
prepare(struct run *run, struct lbm_diag *diag)
{
    enum lbm_err err = check_loads(run, diag);
    if (err == LBM_OK)
        err = choose(run, diag);
    if (err != LBM_OK)
        return err;
    run->step_flow = lbm_alloc(run->net->colouring.n_links, sizeof *run->step_flow);
    err = run->step_flow == NULL ? LBM_E_NOMEM : make_counters(run);
    if (err == LBM_OK)
        err = lbm_balancer_make(run->net, &run->result->rule, run->options->integer, run->options->seed,
                                &run->balancer);
    return err == LBM_OK ? err : lbm_diag_set(diag, err, "balance", 0, "no memory for a run");
}

double
lbm_transfer_of(const struct lbm_balance_options *options)
{
    return options->transfer == 0.0 ? LBM_TRANSFER_USUAL : fmax(options->transfer, 0.0);
}

enum lbm_err
lbm_balance_run(const struct lbm_network *net, const struct lbm_balance_options *options, double *load,
                double *flow, struct lbm_balance_result *result, struct lbm_diag *diag)
{
    struct lbm_balance_result r = {0};
    struct run run = {.net = net,
                      .options = options,
                      .result = &r,
                      .load = load,
                      .total_flow = flow != NULL ? flow : lbm_alloc(net->colouring.n_links, sizeof *flow),
                      .mean = mean_load(net, load)};
    enum lbm_err err = run.total_flow != NULL
                           ? prepare(&run, diag)
                           : lbm_diag_set(diag, LBM_E_NOMEM, "balance", 0, "no memory for a run");
    if (err == LBM_OK) {
        memset(run.total_flow, 0, net->colouring.n_links * sizeof *flow);
        uint64_t most = steps_allowed(&run);
        while (!(r.settled = is_settled(&run)) && r.steps < most)
            step(&run);
        finish(&run);
        *result = r;
    }
    lbm_balancer_free(run.balancer);
    if (run.total_flow != flow)
        free(run.total_flow);
    free(run.step_flow);
    free(run.counter);
    free(run.heard);
    return err;
}
