/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffusion of whole units: every link carries what diffusion has it carry, rounded down (Rabani, Sinclair
 * and Wanka 1998). With an alpha that takes from no host more than it has, loads stay at or above 0. Links
 * carry nothing once no difference is 1 / alpha units or more. */
#include "balance/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/internal.h"

static const double WORK_MAX = 4e9;    /* links times times times hosts */
static const double NEGLIGIBLE = 1e-9; /* of the sum: what later times add */

double
lbm_flow_whole(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
               const struct lbm_ends *e)
{
    double flow = lbm_flow_diffusion(rule, integer, pace, e);
    return trunc(flow + (flow > 0.0 ? 1e-9 : -1e-9)); /* an integer but for rounding is that integer */
}

/* ---- the bound ----------------------------------------------------------------------------------- */

static int
hosts_are_alike(const struct lbm_hosts *h)
{
    return h->topology == LBM_TOPOLOGY_RING || h->topology == LBM_TOPOLOGY_TORUS ||
           h->topology == LBM_TOPOLOGY_HYPERCUBE || h->topology == LBM_TOPOLOGY_COMPLETE;
}

/* Differences over all links of the row M^t(w, .), t = 0, 1, ...; the row is x, the next one made in place.
 */
static double
divergence_of(const struct lbm_network *net, double alpha, uint64_t times, uint32_t w, double *x,
              double *next)
{
    const struct lbm_colouring *c = &net->colouring;
    double total = 0.0;
    memset(x, 0, c->n_hosts * sizeof *x);
    x[w] = 1.0;
    for (uint64_t t = 0; t < times; t++) {
        double sum = 0.0;
        memcpy(next, x, c->n_hosts * sizeof *x);
        for (uint32_t i = 0; i < c->n_links; i++) {
            double difference = x[c->link[i].p] - x[c->link[i].q];
            sum += fabs(difference);
            next[c->link[i].p] -= alpha * difference;
            next[c->link[i].q] += alpha * difference;
        }
        total += sum;
        memcpy(x, next, c->n_hosts * sizeof *x);
        if (sum <= NEGLIGIBLE * total)
            break;
    }
    return total;
}

enum lbm_err
lbm_whole_bound(const struct lbm_network *net, const struct lbm_rule *rule, double *bound)
{
    const struct lbm_colouring *c = &net->colouring;
    uint32_t n = c->n_hosts, starts = hosts_are_alike(net->h) ? 1 : n;
    if (!net->equal || !(rule->gamma < 1.0 - 1e-12))
        return LBM_E_UNSUPPORTED;
    double times = rule->gamma > 0.0 ? ceil(log(NEGLIGIBLE * 1e-3) / log(rule->gamma)) + n : 2.0;
    if (times * c->n_links * starts > WORK_MAX)
        return LBM_E_LIMIT;
    double *x = lbm_alloc(n, sizeof *x), *next = lbm_alloc(n, sizeof *next), worst = 0.0;
    enum lbm_err err = x == NULL || next == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t w = 0; err == LBM_OK && w < starts; w++)
        worst = fmax(worst, divergence_of(net, rule->alpha, (uint64_t)times, w, x, next));
    free(x);
    free(next);
    if (err == LBM_OK)
        *bound = worst;
    return err;
}

/* ---- what it is ---------------------------------------------------------------------------------- */

enum lbm_err
lbm_whole_departure(const struct lbm_network *net, const struct lbm_rule *rule, const double *load,
                    uint64_t steps, double *departure)
{
    struct lbm_balancer *b[2] = {NULL, NULL};
    struct lbm_rule real = *rule;
    double *x[2] = {lbm_copy(load, net->h->n, sizeof *load), lbm_copy(load, net->h->n, sizeof *load)};
    double *flow = lbm_alloc(net->colouring.n_links, sizeof *flow), largest = 0.0;
    real.policy = LBM_POLICY_DIFFUSION;
    enum lbm_err err = x[0] && x[1] && flow ? lbm_balancer_make(net, rule, 1, 0, &b[0]) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_balancer_make(net, &real, 0, 0, &b[1]);
    for (uint64_t t = 0; err == LBM_OK && t < steps; t++) {
        for (int k = 0; k < 2; k++)
            lbm_balancer_step(b[k], x[k], flow);
        for (uint32_t p = 0; p < net->h->n; p++)
            largest = fmax(largest, fabs(x[0][p] - x[1][p]));
    }
    lbm_balancer_free(b[0]);
    lbm_balancer_free(b[1]);
    free(x[0]);
    free(x[1]);
    free(flow);
    if (err == LBM_OK)
        *departure = largest;
    return err;
}
