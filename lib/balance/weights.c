/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An alpha for each link (CYB89's alpha_ij): Metropolis-Hastings weights, and those with the smallest gamma.
 *
 * Source:  Xiao and Boyd 2004, section 4.2 (Metropolis-Hastings), section 5 (the subgradient method).
 * Hosts of unequal capacities: M = I - S^-1/2 L(alpha) S^-1/2, so that shares take the place of 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/internal.h"

enum { SUBGRADIENTS = 300 };

static uint32_t
degree(const struct lbm_network *net, uint32_t p)
{
    return net->h->offset[p + 1] - net->h->offset[p];
}

double
lbm_rule_alpha(const struct lbm_rule *rule, uint32_t i, uint32_t degree_p, uint32_t degree_q, double share_p,
               double share_q)
{
    if (rule->policy == LBM_POLICY_METROPOLIS)
        return fmin(share_p, share_q) / (1.0 + (degree_p > degree_q ? degree_p : degree_q));
    return rule->link_alpha != NULL ? rule->link_alpha[i] : rule->alpha;
}

double
lbm_alpha_feasible(const struct lbm_network *net)
{
    double most = 0.0; /* largest diagonal entry of S^-1 L: the least own share is 1 - alpha most */
    for (uint32_t p = 0; p < net->h->n; p++)
        most = fmax(most, degree(net, p) / net->share[p]);
    if (most == 0.0)
        return 0.0;
    /* CYB89 Lemma 2 on the matrix of alpha = 1 / most, whose least own share is 0. */
    const struct lbm_laplacian *l = &net->laplacian;
    double alpha = 1.0 / most;
    double kappa = lbm_modification(1.0 - alpha * l->lambda_2, 1.0 - alpha * l->lambda_max, 0.0);
    return alpha / (1.0 + kappa);
}

/* ---- by direction -------------------------------------------------------------------------------- */

static uint32_t
direction_to(const struct lbm_hosts *h, uint32_t p, uint32_t q)
{
    uint32_t low = h->offset[p], high = h->offset[p + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(h->target[middle] <= q ? &low : &high) = middle;
    }
    return low;
}

void
lbm_directions_of_links(const struct lbm_network *net, const double *link_alpha, double *alpha)
{
    const struct lbm_colouring *c = &net->colouring;
    for (uint32_t i = 0; i < c->n_links; i++) {
        alpha[direction_to(net->h, c->link[i].p, c->link[i].q)] = link_alpha[i];
        alpha[direction_to(net->h, c->link[i].q, c->link[i].p)] = link_alpha[i];
    }
}

static int
are_alike(const struct lbm_network *net, const double *link_alpha)
{
    for (uint32_t i = 1; i < net->colouring.n_links; i++)
        if (link_alpha[i] != link_alpha[0])
            return 0;
    return 1;
}

enum lbm_err
lbm_gamma_links(const struct lbm_network *net, const double *link_alpha, double *gamma)
{
    if (net->colouring.n_links > 0 && are_alike(net, link_alpha)) {
        *gamma = lbm_gamma_uniform(&net->laplacian, link_alpha[0]);
        return LBM_OK;
    }
    double lambda_2, lambda_n, *alpha = lbm_alloc(net->h->offset[net->h->n], sizeof *alpha);
    if (alpha == NULL)
        return LBM_E_NOMEM;
    lbm_directions_of_links(net, link_alpha, alpha);
    enum lbm_err err = lbm_diffusion_ends(net->h, alpha, &lambda_2, &lambda_n);
    free(alpha);
    if (err == LBM_OK)
        *gamma = fmax(fabs(lambda_2), fabs(lambda_n));
    return err;
}

/* ---- Metropolis ---------------------------------------------------------------------------------- */

enum lbm_err
lbm_known_metropolis(const struct lbm_network *net)
{
    const struct lbm_colouring *c = &net->colouring;
    const struct lbm_rule rule = {.policy = LBM_POLICY_METROPOLIS};
    if (net->known->metropolis != NULL)
        return LBM_OK;
    double *alpha = lbm_alloc(c->n_links, sizeof *alpha);
    if (alpha == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < c->n_links; i++) {
        uint32_t p = c->link[i].p, q = c->link[i].q;
        alpha[i] = lbm_rule_alpha(&rule, i, degree(net, p), degree(net, q), net->share[p], net->share[q]);
    }
    net->known->metropolis = alpha;
    return LBM_OK;
}

/* ---- the smallest gamma -------------------------------------------------------------------------- */

/* The second largest and the smallest eigenvalue of M, with their vectors. */
struct descent {
    const struct lbm_network *net;
    double *alpha, *best; /* [n_links] */
    double gamma;         /* of best */
    double *matrix, *value, *vector;
};

static void
fill_matrix(struct descent *d)
{
    const struct lbm_colouring *c = &d->net->colouring;
    uint32_t n = c->n_hosts;
    const double *s = d->net->share;
    memset(d->matrix, 0, (size_t)n * n * sizeof *d->matrix);
    for (uint32_t i = 0; i < c->n_links; i++) {
        size_t p = c->link[i].p, q = c->link[i].q;
        d->matrix[p * n + p] += d->alpha[i] / s[p];
        d->matrix[q * n + q] += d->alpha[i] / s[q];
        d->matrix[p * n + q] = d->matrix[q * n + p] = -d->alpha[i] / sqrt(s[p] * s[q]);
    }
    /* The null vector of L, the roots of the shares, is lifted to an eigenvalue 1: then M has 0 there. */
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q < n; q++)
            d->matrix[p * n + q] += sqrt(s[p] * s[q]) / n;
}

/* Spectrum at alpha; keeps the best.  Out: *k, the eigenvalue of L(alpha) that decides gamma. */
static enum lbm_err
look(struct descent *d, uint32_t *k)
{
    uint32_t n = d->net->h->n;
    fill_matrix(d);
    enum lbm_err err = lbm_eigen_all(d->matrix, n, d->value, d->vector);
    if (err != LBM_OK)
        return err;
    double least = fabs(1.0 - d->value[0]), largest = fabs(1.0 - d->value[n - 1]);
    *k = least >= largest ? 0 : n - 1;
    if (fmax(least, largest) < d->gamma) {
        d->gamma = fmax(least, largest);
        memcpy(d->best, d->alpha, d->net->colouring.n_links * sizeof *d->alpha);
    }
    return LBM_OK;
}

/* One subgradient: the derivative of eigenvalue k of L(alpha) by alpha_i is (u_p / root s_p - u_q / root
 * s_q)^2. */
static void
descend(struct descent *d, uint32_t k, double length)
{
    const struct lbm_colouring *c = &d->net->colouring;
    uint32_t n = c->n_hosts;
    const double *u = &d->vector[(size_t)k * n], *s = d->net->share;
    double sign = d->value[k] < 1.0 ? 1.0 : -1.0, norm = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < c->n_links; i++) {
            uint32_t p = c->link[i].p, q = c->link[i].q;
            double difference = u[p] / sqrt(s[p]) - u[q] / sqrt(s[q]), slope = difference * difference;
            if (pass == 0)
                norm += slope * slope;
            else
                d->alpha[i] += sign * length * slope / sqrt(norm);
        }
}

static enum lbm_err
minimize(struct descent *d)
{
    const struct lbm_colouring *c = &d->net->colouring;
    uint32_t k;
    double start = lbm_alpha_optimal(&d->net->laplacian);
    memcpy(d->alpha, d->net->known->metropolis, c->n_links * sizeof *d->alpha);
    enum lbm_err err = look(d, &k);
    double metropolis = d->gamma;
    for (uint32_t i = 0; i < c->n_links; i++)
        d->alpha[i] = start;
    if (err == LBM_OK)
        err = look(d, &k);
    if (err == LBM_OK && metropolis <= d->gamma) { /* begin at the better one */
        memcpy(d->alpha, d->net->known->metropolis, c->n_links * sizeof *d->alpha);
        err = look(d, &k);
    }
    double scale = start * sqrt(c->n_links);
    for (int t = 0; err == LBM_OK && t < SUBGRADIENTS; t++) {
        descend(d, k, 0.3 * scale / (t + 2));
        err = look(d, &k);
    }
    return err;
}

enum lbm_err
lbm_known_optimized(const struct lbm_network *net)
{
    uint32_t n = net->h->n, links = net->colouring.n_links;
    if (net->known->optimized != NULL)
        return LBM_OK;
    if (n > LBM_OPTIMIZED_HOSTS_MAX)
        return LBM_E_LIMIT;
    enum lbm_err err = lbm_known_metropolis(net);
    if (err != LBM_OK)
        return err;
    struct descent d = {.net = net,
                        .gamma = HUGE_VAL,
                        .alpha = lbm_alloc(links, sizeof(double)),
                        .best = lbm_alloc(links, sizeof(double)),
                        .matrix = lbm_alloc((size_t)n * n, sizeof(double)),
                        .value = lbm_alloc(n, sizeof(double)),
                        .vector = lbm_alloc((size_t)n * n, sizeof(double))};
    err = d.alpha && d.best && d.matrix && d.value && d.vector ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK && links > 0)
        err = minimize(&d);
    free(d.alpha);
    free(d.matrix);
    free(d.value);
    free(d.vector);
    if (err != LBM_OK) {
        free(d.best);
        return err;
    }
    net->known->optimized = d.best;
    return LBM_OK;
}

void
lbm_known_free(struct lbm_known *known)
{
    if (known == NULL)
        return;
    free(known->pole);
    free(known->metropolis);
    free(known->optimized);
    free(known);
}
