/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies that act on one pair at a time: exchange by colours, and random links. */
#include "balance/balance.h"
#include "balance/internal.h"

/* XL95 (1) for real loads: p gives 2 lambda of what would level the two; at equal shares lambda (w_p - w_q).
 */
static double
give_real(const struct lbm_balancer *b, const struct lbm_link *l, const double *load)
{
    double s_p = b->net->share[l->p], s_q = b->net->share[l->q];
    return 2.0 * b->rule.lambda * (load[l->p] * s_q - load[l->q] * s_p) / (s_p + s_q);
}

/* XL95 (6). */
static double
give_integer(const struct lbm_balancer *b, const struct lbm_link *l, const double *load)
{
    const double *share = b->net->share;
    return (double)lbm_gde_share((uint64_t)load[l->p], share[l->p], (uint64_t)load[l->q], share[l->q],
                                 b->rule.lambda_numerator, b->rule.lambda_denominator);
}

void
lbm_step_exchange(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    uint32_t colour = (uint32_t)(b->t % c->n_colours);
    for (uint32_t i = c->first[colour]; i < c->first[colour + 1]; i++) {
        const struct lbm_link *l = &c->link[i];
        flow[i] = b->integer ? give_integer(b, l, load) : give_real(b, l, load);
        lbm_carry(load, l, flow[i]);
    }
}

/* HEI97 fig. 9 on loads alone: the guest's edges across a link are taken for equally many on every link, and
 * each vertex for one unit. Both branches move towards the smaller load (the paper's second one errs). */
void
lbm_step_edge_remap(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    const double *share = b->net->share;
    for (uint32_t k = 0; k < c->n_links; k++) {
        uint32_t i = lbm_rng_below(&b->rng, c->n_links);
        const struct lbm_link *l = &c->link[i];
        double excess = load[l->p] * share[l->q] - load[l->q] * share[l->p];
        double unit = excess > 0.0 ? 1.0 : excess < 0.0 ? -1.0 : 0.0;
        flow[i] += unit;
        lbm_carry(load, l, unit);
    }
}
