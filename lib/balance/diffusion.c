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

/* flow = keep * last + factor * (x_p - x_q), then carried out. */
static void
diffuse(struct lbm_balancer *b, double keep, double factor, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    const double *share = b->net->share;
    for (uint32_t i = 0; i < c->n_links; i++) {
        uint32_t p = c->link[i].p, q = c->link[i].q;
        flow[i] = factor * (load[p] / share[p] - load[q] / share[q]);
    }
    if (keep != 0.0)
        for (uint32_t i = 0; i < c->n_links; i++)
            flow[i] += keep * b->last[i];
    for (uint32_t i = 0; i < c->n_links; i++) {
        lbm_carry(load, &c->link[i], flow[i]);
        b->last[i] = flow[i];
    }
}

void
lbm_step_diffusion(struct lbm_balancer *b, double *load, double *flow)
{
    diffuse(b, 0.0, b->rule.alpha, load, flow);
}

static void
accelerate(struct lbm_balancer *b, double omega, double *load, double *flow)
{
    b->omega = omega;
    diffuse(b, omega - 1.0, omega * b->rule.alpha, load, flow);
}

void
lbm_step_second_order(struct lbm_balancer *b, double *load, double *flow)
{
    double gamma = b->rule.gamma;
    accelerate(b, b->t == 0 ? 1.0 : 2.0 / (1.0 + sqrt(1.0 - gamma * gamma)), load, flow);
}

void
lbm_step_chebyshev(struct lbm_balancer *b, double *load, double *flow)
{
    double gamma_2 = b->rule.gamma * b->rule.gamma;
    double omega = b->t == 0   ? 1.0
                   : b->t == 1 ? 1.0 / (1.0 - gamma_2 / 2.0)
                               : 1.0 / (1.0 - gamma_2 * b->omega / 4.0);
    accelerate(b, omega, load, flow);
}
