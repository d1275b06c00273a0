/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps of generalized dimension exchange on a network. */
#include "papers/exchange.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SWEEPS_MAX = 1000000
}; /* of whole units, which may stall; the longest of the papers takes some 10^4 */

static int
finish(struct table_run *t, struct exchange *out)
{
    out->n = out->net.hosts.n;
    out->load = lbm_alloc(out->n, sizeof *out->load);
    out->flow = lbm_alloc(out->net.network.colouring.n_links, sizeof *out->flow);
    if (out->load != NULL && out->flow != NULL)
        return 1;
    exchange_close(out);
    return table_fail(t, LBM_E_NOMEM);
}

void
exchange_close(struct exchange *e)
{
    net_close(&e->net);
    free(e->load);
    free(e->flow);
    *e = (struct exchange){0};
}

int
exchange_of_spec(struct table_run *t, struct exchange *out, const char *fmt, ...)
{
    char spec[64];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(spec, sizeof spec, fmt, ap);
    va_end(ap);
    *out = (struct exchange){0};
    return net_open(t, &out->net, "%s", spec) && finish(t, out);
}

/* Links of dimension d, then those of the next, even places before odd ones: the colours of a sweep. */
static void
link_cube(struct lbm_colouring *c, uint32_t n, uint32_t k, uint32_t dimensions)
{
    uint32_t at = 0;
    for (uint32_t d = 0, step = 1; d < dimensions; d++, step *= k)
        for (uint32_t parity = 0; parity < 2; parity++) {
            c->first[2 * d + parity] = at;
            for (uint32_t p = 0; p < n; p++) {
                uint32_t x = p / step % k, q = x + 1 < k ? p + step : p - x * step;
                if (x % 2 == parity)
                    c->link[at++] = (struct lbm_link){p < q ? p : q, p < q ? q : p, 1};
            }
        }
    c->first[2 * dimensions] = at;
}

int
exchange_of_cube(struct table_run *t, struct exchange *out, uint32_t k, uint32_t dimensions)
{
    uint32_t n = 1;
    for (uint32_t d = 0; d < dimensions; d++)
        n *= k;
    *out = (struct exchange){0};
    struct lbm_colouring *c = &out->net.network.colouring;
    *c = (struct lbm_colouring){
        .n_hosts = n, .n_links = n * dimensions, .n_colours = 2 * dimensions, .degree = 2 * dimensions};
    c->link = lbm_alloc(c->n_links, sizeof *c->link);
    c->first = lbm_alloc((size_t)c->n_colours + 1, sizeof *c->first);
    out->net.network.share = lbm_alloc(n, sizeof(double));
    double *site = lbm_alloc(2 * (size_t)n, sizeof *site); /* not looked at */
    enum lbm_err err = c->link && c->first && out->net.network.share && site ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        link_cube(c, n, k, dimensions);
        for (uint32_t p = 0; p < n; p++)
            out->net.network.share[p] = 1.0;
        out->net.network.equal = 1;
        out->net.network.h = &out->net.hosts;
        err = lbm_hosts_build_unrouted(n, c->link, c->n_links, NULL, 2, site, &out->net.hosts, &t->diag);
    }
    free(site);
    if (err == LBM_OK)
        return finish(t, out);
    exchange_close(out);
    return table_fail(t, err);
}

double
exchange_sweeps(struct table_run *t, struct exchange *e, struct ratio lambda)
{
    const struct lbm_rule rule = {.policy = LBM_POLICY_GDE,
                                  .lambda = (double)lambda.numerator / lambda.denominator,
                                  .lambda_numerator = lambda.numerator,
                                  .lambda_denominator = lambda.denominator};
    struct lbm_balancer *balancer;
    double sweeps = 0.0, moved;
    if (lbm_balancer_make(&e->net.network, &rule, 1, 1, &balancer) != LBM_OK) {
        table_fail(t, LBM_E_NOMEM);
        return nan("");
    }
    do {
        moved = 0.0;
        for (uint32_t i = 0; i < lbm_balancer_sweep(balancer); i++)
            moved += lbm_balancer_step(balancer, e->load, e->flow);
        sweeps += 1.0;
    } while (moved != 0.0 && sweeps < SWEEPS_MAX);
    lbm_balancer_free(balancer);
    return sweeps;
}

double
exchange_sweeps_real(struct table_run *t, struct exchange *e, double lambda)
{
    const struct lbm_rule rule = {.policy = LBM_POLICY_GDE,
                                  .lambda = lambda,
                                  .lambda_numerator = 1,
                                  .lambda_denominator = 2,
                                  .gamma = 2.0 * lambda - 1.0};
    const struct lbm_balance_options options = {
        .policy = LBM_POLICY_GDE, .rule = &rule, .stop = LBM_STOP_NEIGHBOURS, .bound = 1.0};
    struct lbm_balance_result result;
    enum lbm_err err = lbm_balance_run(&e->net.network, &options, e->load, NULL, &result, &t->diag);
    if (err == LBM_OK && result.settled)
        return ceil(result.sweeps); /* a sweep that was begun counts */
    table_fail(t, err == LBM_OK ? LBM_E_STATE : err);
    return nan("");
}

void
exchange_loads(struct exchange *e, struct lbm_rng *rng, uint32_t mean)
{
    for (uint32_t p = 0; p < e->n; p++)
        e->load[p] = lbm_rng_below(rng, 2 * mean);
}
