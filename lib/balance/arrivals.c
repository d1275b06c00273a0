/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that arrives and is done while loads are balanced (CYB89 (12), (17)). */
#include <math.h>
#include <stdlib.h>

#include "balance/internal.h"

struct service {
    const struct lbm_network *net;
    const struct lbm_arrivals *arrivals;
    struct lbm_balancer *balancer;
    struct lbm_rng rng;
    double *load, *flow;
};

/* Uniform with the mean and the deviation asked for. */
static double
draw(struct service *s)
{
    const struct lbm_arrivals *a = s->arrivals;
    return a->mean + a->deviation * sqrt(3.0) * (2.0 * lbm_rng_unit(&s->rng) - 1.0);
}

/* w = M w - c + eta.  Returns ||w - balanced||^2. */
static double
serve(struct service *s)
{
    const struct lbm_network *net = s->net;
    double sum = 0.0, square = 0.0;
    for (uint32_t i = 0; i < (s->arrivals->every > 0 ? s->arrivals->every : 1); i++)
        lbm_balancer_step(s->balancer, s->load, s->flow);
    for (uint32_t p = 0; p < net->h->n; p++) {
        s->load[p] += draw(s) - s->arrivals->service;
        sum += s->load[p];
    }
    for (uint32_t p = 0; p < net->h->n; p++) {
        double e = s->load[p] - net->share[p] * sum / net->h->n;
        square += e * e;
    }
    return square;
}

static enum lbm_err
check(const struct lbm_arrivals *a, const struct lbm_balance_options *o, struct lbm_diag *diag)
{
    if (!(a->deviation >= 0.0) || !(a->mean >= a->deviation * sqrt(3.0)) || !isfinite(a->mean))
        return lbm_diag_set(
            diag, LBM_E_RANGE, "arrivals", 0,
            "a mean of %g with a deviation of %g would need work below 0; the deviation is at "
            "most the mean / sqrt(3)",
            a->mean, a->deviation);
    if (o->integer)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "arrivals", 0,
                            "CYB89 (12) is for loads of any fraction");
    return LBM_OK;
}

enum lbm_err
lbm_balance_serve(const struct lbm_network *net, const struct lbm_balance_options *options,
                  const struct lbm_arrivals *arrivals, uint64_t warm_up, uint64_t steps,
                  struct lbm_service_result *result, struct lbm_diag *diag)
{
    struct service s = {.net = net, .arrivals = arrivals};
    struct lbm_rule rule;
    enum lbm_err err = check(arrivals, options, diag);
    if (err == LBM_OK)
        err = lbm_rule_make(net, options, &rule, diag);
    if (err != LBM_OK)
        return err;
    s.load = lbm_alloc(net->h->n, sizeof *s.load);
    s.flow = lbm_alloc(net->colouring.n_links, sizeof *s.flow);
    err = s.load && s.flow ? lbm_balancer_make(net, &rule, 0, options->seed, &s.balancer) : LBM_E_NOMEM;
    lbm_rng_stream(&s.rng, options->seed, 1);
    double sum = 0.0;
    for (uint64_t t = 0; err == LBM_OK && t < warm_up + steps; t++) {
        double square = serve(&s);
        sum += t < warm_up ? 0.0 : square;
    }
    if (err == LBM_OK) {
        double sigma_2 = arrivals->deviation * arrivals->deviation, gamma = rule.gamma;
        int holds = rule.policy == LBM_POLICY_DIFFUSION && net->equal && gamma < 1.0;
        result->variance = steps > 0 ? sum / (double)steps : (double)NAN;
        result->bound = holds ? sigma_2 * lbm_variance_bound(net->h->n, gamma, HUGE_VAL) : (double)NAN;
    }
    lbm_balancer_free(s.balancer);
    free(s.load);
    free(s.flow);
    return err == LBM_OK ? err : lbm_diag_set(diag, err, "balance", 0, "no memory for a run");
}
