/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffusion and its accelerations, as flows: what a link carries depends on the loads before the step, so
 * that the order of the links does not matter and loads are conserved.
 *
 * With x = w / share, first order: f_pq = alpha (x_p - x_q) (CYB89 (2)).
 * Second order: f_pq(t) = (beta - 1) f_pq(t-1) + beta alpha (x_p - x_q), beta = 2 / (1 + sqrt(1 - gamma^2)),
 * which is w(t+1) = beta M w(t) + (1 - beta) w(t-1).  Chebyshev: beta is omega_t, with omega_1 = 1, omega_2 =
 * 1 / (1 - gamma^2 / 2), omega_{t+1} = 1 / (1 - gamma^2 omega_t / 4). The first step of both is of first
 * order. */
#include <math.h>

#include "balance/internal.h"

double
lbm_flow_diffusion(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
                   const struct lbm_ends *e)
{
    (void)rule;
    (void)integer;
    double flow = lbm_diffusion_flow(pace->factor * e->alpha, e->load_p / e->share_p, e->load_q / e->share_q);
    return pace->keep != 0.0 ? flow + pace->keep * e->last : flow;
}

void
lbm_step_diffusion(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    struct lbm_pace pace;
    lbm_pace_of(&b->rule, b->t, &b->omega, &pace);
    for (uint32_t i = 0; i < c->n_links; i++)
        flow[i] = lbm_balancer_flow(b, &pace, i, load, b->last[i]);
    for (uint32_t i = 0; i < c->n_links; i++) {
        lbm_carry(load, &c->link[i], flow[i]);
        b->last[i] = flow[i];
    }
}

void
lbm_pace_of(const struct lbm_rule *rule, uint64_t t, double *omega, struct lbm_pace *out)
{
    double gamma_2 = rule->gamma * rule->gamma;
    *out = (struct lbm_pace){.factor = 1.0};
    if (rule->policy == LBM_POLICY_SECOND_ORDER)
        *omega = t == 0 ? 1.0 : 2.0 / (1.0 + sqrt(1.0 - LBM_MUTANT(SECOND_ORDER_BETA, gamma_2, rule->gamma)));
    else if (rule->policy == LBM_POLICY_CHEBYSHEV)
        *omega = t == 0                                            ? 1.0
                 : t == LBM_MUTANT(CHEBYSHEV_FIRST, 1, UINT64_MAX) ? 1.0 / (1.0 - gamma_2 / 2.0)
                                                                   : 1.0 / (1.0 - gamma_2 * *omega / 4.0);
    else if (rule->policy == LBM_POLICY_OPS && rule->n_poles > 0)
        out->factor = 1.0 / rule->pole[t % rule->n_poles];
    if (rule->policy != LBM_POLICY_SECOND_ORDER && rule->policy != LBM_POLICY_CHEBYSHEV)
        return;
    out->keep = *omega - 1.0;
    out->factor = *omega;
}
