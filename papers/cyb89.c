/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CYB89: when diffusion converges, and how fast. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "papers/net.h"
#include "papers/papers.h"

static const double pi = 3.14159265358979323846;

enum { D_LEAST = 3, D_MOST = 10 };

/* ---- theorem 1, lemma 2 -------------------------------------------------------------------------------- */

/* An alpha for each link of a network. */
typedef double link_alpha(const struct lbm_hosts *h, uint32_t p, uint32_t q, double alpha);

static double
uniform(const struct lbm_hosts *h, uint32_t p, uint32_t q, double alpha)
{
    (void)h;
    (void)p;
    (void)q;
    return alpha;
}

/* The links between 0 and 1 and between n/2 - 1 and n/2 carry nothing: a ring falls into two parts. */
static double
two_parts(const struct lbm_hosts *h, uint32_t p, uint32_t q, double alpha)
{
    uint32_t low = p < q ? p : q, high = p < q ? q : p;
    return (low == 0 && high == 1) || (low + 1 == h->n / 2 && high == h->n / 2) ? 0.0 : alpha;
}

/* One link carries nothing: a ring is a chain. */
static double
one_cut(const struct lbm_hosts *h, uint32_t p, uint32_t q, double alpha)
{
    (void)h;
    return (p < q ? p : q) == 0 && (p < q ? q : p) == 1 ? 0.0 : alpha;
}

/* By the degrees of both ends. */
static double
by_degree(const struct lbm_hosts *h, uint32_t p, uint32_t q, double alpha)
{
    uint32_t at_p = h->offset[p + 1] - h->offset[p], at_q = h->offset[q + 1] - h->offset[q];
    (void)alpha;
    return 1.0 / (1.0 + (at_p > at_q ? at_p : at_q));
}

struct matrix {
    double ends[2]; /* second largest and least eigenvalue */
    double gamma;
    double own_least; /* least share that a host keeps */
    int converges;    /* by theorem 1 */
};

/* The diffusion matrix with an alpha for each link, by lib/host. Value: 0 if that failed. */
static int
find_matrix(struct table_run *t, const char *spec, link_alpha *of_link, double alpha, struct matrix *out)
{
    struct net net;
    struct lbm_convergence theorem;
    if (!net_open(t, &net, "%s", spec))
        return 0;
    const struct lbm_hosts *h = &net.hosts;
    double *by_link = lbm_alloc(h->offset[h->n], sizeof *by_link);
    enum lbm_err err = by_link == NULL ? LBM_E_NOMEM : LBM_OK;
    out->own_least = 1.0;
    for (uint32_t p = 0; p < h->n && err == LBM_OK; p++) {
        double own = 1.0;
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            own -= by_link[i] = of_link(h, p, h->target[i], alpha);
        out->own_least = fmin(out->own_least, own);
    }
    if (err == LBM_OK)
        err = lbm_diffusion_ends(h, by_link, &out->ends[0], &out->ends[1]);
    if (err == LBM_OK)
        err = lbm_convergence_check(h, by_link, &theorem);
    free(by_link);
    net_close(&net);
    if (err != LBM_OK)
        return table_fail(t, err);
    out->gamma = fmax(fabs(out->ends[0]), fabs(out->ends[1]));
    out->converges = theorem.converges;
    return 1;
}

static void
judge_gamma(struct table_run *t, const char *spec, double alpha, double expected, int expected_converges)
{
    struct matrix m;
    if (!find_matrix(t, spec, uniform, alpha, &m))
        return;
    cell_paper(table_cell(t, m.gamma, "%s, alpha %g: gamma", spec, alpha), expected, 1e-9);
    cell_paper(table_cell(t, m.converges, "%s, alpha %g: converges by theorem 1", spec, alpha),
               expected_converges, 0.0);
}

/* An alpha for each link, as (1) has it. Metropolis: 1/(1 + the larger degree). computed: power iteration by
 * another program. */
static void
judge_links(struct table_run *t)
{
    static const struct {
        const char *spec, *name;
        link_alpha *of_link;
        double alpha, gamma;
        int converges;
    } rows[] = {
        {"ring:8", "two links without", two_parts, 0.4, 1.0, 0},
        {"ring:8", "one link without", one_cut, 0.5, 0.92387953251128674, 1},
        {"ring:12", "two links without", two_parts, 0.3, 1.0, 0},
        {"mesh:8x8", "by the degrees", by_degree, 0, 0.9677046, 1},
        {"chain:8", "by the degrees", by_degree, 0, 0.9492530, 1},
        {"mesh:4x4x4", "by the degrees", by_degree, 0, 0.9013640, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && t->diag.code == LBM_OK; i++) {
        struct matrix m;
        if (!find_matrix(t, rows[i].spec, rows[i].of_link, rows[i].alpha, &m))
            return;
        cell_computed(table_cell(t, m.gamma, "%s, alpha by link, %s: gamma", rows[i].spec, rows[i].name),
                      rows[i].gamma, 1e-6);
        cell_paper(table_cell(t, m.converges, "%s, alpha by link, %s: converges by theorem 1", rows[i].spec,
                              rows[i].name),
                   rows[i].converges, 0.0);
    }
}

void
cyb89_theorem_1(struct table_run *t)
{
    judge_gamma(t, "ring:8", 0.5, 1.0, 0);
    judge_gamma(t, "ring:8", 0.49, 0.96, 1);
    judge_gamma(t, "ring:9", 0.5, cos(pi / 9), 1);
    judge_links(t);
}

/* SAN section 5: alpha = 1/(2d) on tori is bipartite without a share of one's own if the sides are even. */
void
san_even_tori(struct table_run *t)
{
    judge_gamma(t, "ring:16", 0.5, 1.0, 0);
    judge_gamma(t, "torus:16x16", 0.25, 1.0, 0);
    judge_gamma(t, "torus:4x4x4", 1.0 / 6, 1.0, 0);
    judge_gamma(t, "torus:15x15", 0.25, cos(pi / 15), 1);
}

/* Lemma 2 applied to alpha on every link of any hosts: kappa, and gamma at alpha/(1 + kappa). */
static void
judge_modification(struct table_run *t, const char *spec, double alpha, double kappa, double gamma)
{
    struct matrix m, modified;
    if (!find_matrix(t, spec, uniform, alpha, &m))
        return;
    double found = lbm_modification(m.ends[0], m.ends[1], m.own_least);
    if (!find_matrix(t, spec, uniform, alpha / (1.0 + found), &modified))
        return;
    struct cell *cell = cell_paper(table_cell(t, found, "%s, alpha %.4g: kappa", spec, alpha), kappa, 1e-9);
    if (found < 0.0 && found == -m.own_least)
        cell_note(cell, "the best, %.4g, would take more from a host than it has",
                  -(m.ends[0] + m.ends[1]) / 2.0);
    cell_paper(table_cell(t, modified.gamma, "%s: gamma at alpha %.4g, that was %.4g", spec,
                          alpha / (1.0 + found), m.gamma),
               gamma, 1e-9);
}

void
cyb89_lemma_2(struct table_run *t)
{
    for (int d = D_LEAST; d <= D_MOST && t->diag.code == LBM_OK; d++) {
        char spec[24];
        (void)snprintf(spec, sizeof spec, "hypercube:%d", d);
        judge_modification(t, spec, 1.0 / d, 1.0 / d, 1.0 - 2.0 / (d + 1));
        if (d == D_LEAST && t->cells.n > 0)
            cell_note(&t->cells.at[0], "after theorem 3 the paper calls kappa gamma, and gamma kappa");
    }
    /* Any hosts: alpha lambda are the eigenvalues of L that the closed forms give. */
    double a = 1.0 - cos(2.0 * pi / 16), b = 1.0 - cos(pi / 8);
    judge_modification(t, "ring:16", 0.5, a / 2.0, (1.0 - a / 2.0) / (1.0 + a / 2.0));
    judge_modification(t, "chain:8", 0.5, 0.0, 1.0 - b);
    judge_modification(t, "star:16", 1.0 / 32, -17.0 / 32, (1.0 - 1.0 / 32 - 17.0 / 32) / (1.0 - 17.0 / 32));
    judge_modification(t, "complete:6", 0.1, -0.4, 0.0);
    judge_modification(t, "mesh:4x4", 0.1, -0.6, 1.0 - (2.0 - sqrt(2.0)) * 0.25);
}

/* ---- tables I and II ----------------------------------------------------------------------------------- */

void
cyb89_table_1(struct table_run *t)
{
    static const double computed[] = {0.1250, 0.1296, 0.1317, 0.1328, 0.1335, 0.1339, 0.1342, 0.1344};
    for (int d = D_LEAST; d <= D_MOST; d++) {
        struct net net;
        if (!net_open(t, &net, "hypercube:%d", d))
            return;
        double gamma = lbm_gamma_uniform(&net.network.laplacian, lbm_alpha_safe(&net.hosts));
        cell_paper(table_cell(t, gamma, "model A, d = %d: one iteration of diffusion", d),
                   1.0 - 2.0 / (d + 1), 1e-9);
        struct cell *cell = table_cell(t, pow(gamma, d), "model B, d = %d: d iterations of diffusion", d);
        cell_computed(cell, computed[d - D_LEAST], 0.00005);
        cell_note(cell_paper(cell, exp(-2.0), 0.012), "the paper prints the limit, e^-2");
        net_close(&net);
    }
}

/* ---- theorem 4 ----------------------------------------------------------------------------------------- */

/* The same colouring, its colours in a random order. Value: 0 if memory was short. */
static int
shuffle_colours(struct table_run *t, const struct lbm_colouring *c, struct lbm_rng *rng,
                struct lbm_colouring *out)
{
    uint32_t order[D_MOST], at = 0;
    for (uint32_t i = 0; i < c->n_colours; i++)
        order[i] = i;
    lbm_rng_shuffle(rng, order, c->n_colours);
    *out = *c;
    out->link = lbm_copy(c->link, c->n_links, sizeof *c->link);
    out->first = lbm_copy(c->first, (size_t)c->n_colours + 1, sizeof *c->first);
    if (out->link == NULL || out->first == NULL) {
        lbm_colouring_free(out);
        return table_fail(t, LBM_E_NOMEM);
    }
    for (uint32_t i = 0; i < c->n_colours; i++) {
        out->first[i] = at;
        for (uint32_t k = c->first[order[i]]; k < c->first[order[i] + 1]; k++)
            out->link[at++] = c->link[k];
    }
    return 1;
}

/* A sweep of dimension exchange with the dimensions in a random order; the rest of the deviation. */
static double
sweep_in_any_order(struct table_run *t, const struct net *net, struct lbm_rng *rng, double *load,
                   double *flow)
{
    const struct lbm_rule rule = {.policy = LBM_POLICY_DIMENSION_EXCHANGE, .lambda = 0.5};
    struct lbm_network network = net->network;
    struct lbm_balancer *balancer;
    if (!shuffle_colours(t, &net->network.colouring, rng, &network.colouring))
        return nan("");
    if (lbm_balancer_make(&network, &rule, 0, 1, &balancer) == LBM_OK) {
        for (uint32_t i = 0; i < lbm_balancer_sweep(balancer); i++)
            lbm_balancer_step(balancer, load, flow);
        lbm_balancer_free(balancer);
    } else {
        table_fail(t, LBM_E_NOMEM);
    }
    lbm_colouring_free(&network.colouring);
    return lbm_balance_deviation(&net->network, load);
}

void
cyb89_theorem_4(struct table_run *t)
{
    enum { ORDERS = 50 };
    for (int d = D_LEAST; d <= D_MOST; d++) {
        double load[1 << D_MOST], flow[D_MOST << (D_MOST - 1)], worst = 0.0;
        struct lbm_rng rng;
        struct net net;
        if (!net_open(t, &net, "hypercube:%d", d))
            return;
        lbm_rng_stream(&rng, t->options->seed, (uint64_t)d);
        for (int order = 0; order < ORDERS; order++) {
            for (uint32_t p = 0; p < net.hosts.n; p++)
                load[p] = lbm_rng_unit(&rng);
            worst = fmax(worst, sweep_in_any_order(t, &net, &rng, load, flow));
        }
        cell_paper(table_cell(t, worst, "hypercube:%d: deviation after a sweep, %d orders", d, ORDERS), 0.0,
                   1e-12);
        net_close(&net);
    }
}
