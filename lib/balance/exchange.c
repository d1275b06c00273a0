/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies that act on one pair at a time: exchange by colours, and random links. */
#include "balance/balance.h"
#include "balance/internal.h"

/* XL95 (1) for real loads: p gives 2 lambda of what would level the two; at equal shares lambda (w_p - w_q).
 * XL95 (6) for whole units. */
double
lbm_flow_exchange(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
                  const struct lbm_ends *e)
{
    (void)pace;
    if (integer)
        return (double)lbm_gde_share((uint64_t)e->load_p, e->share_p, (uint64_t)e->load_q, e->share_q,
                                     rule->lambda_numerator, rule->lambda_denominator);
    return lbm_exchange_flow(rule->lambda, e->load_p, e->share_p, e->load_q, e->share_q);
}

void
lbm_step_exchange(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    uint32_t colour = (uint32_t)(b->t % c->n_colours);
    b->talks = c->first[colour + 1] - c->first[colour];
    for (uint32_t i = c->first[colour]; i < c->first[colour + 1]; i++) {
        flow[i] = lbm_balancer_flow(b, NULL, i, load, 0.0);
        lbm_carry(load, &c->link[i], flow[i]);
    }
}

/* HEI97 fig. 9 on loads alone: the guest's edges across a link are taken for equally many on every link, and
 * each vertex for one unit. Both branches move towards the smaller load (the paper's second one errs). */
double
lbm_flow_edge_remap(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
                    const struct lbm_ends *e)
{
    (void)rule;
    (void)integer;
    (void)pace;
    double excess = e->load_p * e->share_q - e->load_q * e->share_p;
    return excess > 0.0 ? 1.0 : excess < 0.0 ? LBM_MUTANT(EDGE_REMAP_BRANCH, -1.0, 1.0) : 0.0;
}

void
lbm_step_edge_remap(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    for (uint32_t k = 0; k < c->n_links; k++) {
        uint32_t i = lbm_rng_below(&b->rng, c->n_links);
        double unit = lbm_balancer_flow(b, NULL, i, load, 0.0);
        flow[i] += unit;
        lbm_carry(load, &c->link[i], unit);
    }
}
