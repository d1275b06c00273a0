/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random matchings: in each step pairs of linked hosts, no host in two, level their loads.
 *
 * Source:    Ghosh and Muthukrishnan 1996; Boyd, Ghosh, Prabhakar and Shah 2006.
 * Deviation: every link draws a number that all hosts can compute, and the least at both of its ends wins
 * (Luby's rule), so that no host asks another one whether it is free. A link wins in one of d_p + d_q - 1
 * steps. */
#include <math.h>
#include <stdlib.h>

#include "balance/internal.h"

uint64_t
lbm_matching_draw(uint64_t seed, uint64_t step, uint32_t link)
{
    /* splitmix64's mix of the three: any two links, and any two steps, are independent enough. */
    uint64_t x =
        seed ^ (step * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)link * UINT64_C(0xd1b54a32d192ed03));
    for (int k = 0; k < 2; k++) {
        x += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return x;
}

/* least[p]: the link at p that has drawn least. */
static void
find_least(struct lbm_balancer *b, uint32_t *least)
{
    const struct lbm_colouring *c = &b->net->colouring;
    for (uint32_t p = 0; p < c->n_hosts; p++)
        least[p] = LBM_NONE;
    for (uint32_t i = 0; i < c->n_links; i++) {
        const uint32_t ends[2] = {c->link[i].p, c->link[i].q};
        b->draw[i] = lbm_matching_draw(b->seed, b->t, i);
        for (int k = 0; k < 2; k++)
            if (least[ends[k]] == LBM_NONE || b->draw[i] < b->draw[least[ends[k]]])
                least[ends[k]] = i;
    }
}

void
lbm_step_matching(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    find_least(b, b->least);
    b->talks = 0;
    for (uint32_t i = 0; i < c->n_links; i++)
        if (b->least[c->link[i].p] == i && b->least[c->link[i].q] == i) {
            flow[i] = lbm_balancer_flow(b, NULL, i, load, 0.0);
            lbm_carry(load, &c->link[i], flow[i]);
            b->talks++;
        }
}

/* A pair that levels takes the difference x_p - x_q out of the deviation, a projection: on average the
 * variance shrinks by 1 - lambda_2 of the Laplacian with the links' chances times s_p s_q / (s_p + s_q). */
enum lbm_err
lbm_gamma_matching(const struct lbm_network *net, double *gamma)
{
    const struct lbm_hosts *h = net->h;
    const struct lbm_colouring *c = &net->colouring;
    double *weight = lbm_alloc(c->n_links, sizeof *weight), left;
    if (weight == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < c->n_links; i++) {
        uint32_t p = c->link[i].p, q = c->link[i].q;
        double links = (h->offset[p + 1] - h->offset[p]) + (h->offset[q + 1] - h->offset[q]) - 1.0;
        weight[i] = net->share[p] * net->share[q] / (net->share[p] + net->share[q]) / links;
    }
    enum lbm_err err = lbm_gamma_links(net, weight, &left);
    if (err == LBM_OK)
        *gamma = sqrt(fmax(left, 0.0));
    free(weight);
    return err;
}
