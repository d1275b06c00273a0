/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CYB89: when diffusion converges, how fast, and what random arrivals leave. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/tables/net.h"
#include "sim/tables/papers.h"

static const double pi = 3.14159265358979323846;

enum { D_LEAST = 3, D_MOST = 10 };

/* ---- theorem 1, lemma 2 -------------------------------------------------------------------------------- */

/* gamma of the diffusion matrix with alpha on every link, and theorem 1's word. */
static int
find_gamma(struct table_run *t, const char *spec, double alpha, double *gamma, double ends[2], int *converges)
{
    struct net net;
    struct lbm_convergence theorem;
    if (!net_open(t, &net, "%s", spec))
        return 0;
    uint32_t directions = net.hosts.offset[net.hosts.n];
    double *by_link = lbm_alloc(directions, sizeof *by_link);
    enum lbm_err err = by_link == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t i = 0; i < directions && err == LBM_OK; i++)
        by_link[i] = alpha;
    if (err == LBM_OK)
        err = lbm_diffusion_ends(&net.hosts, by_link, &ends[0], &ends[1]);
    if (err == LBM_OK)
        err = lbm_convergence_check(&net.hosts, by_link, &theorem);
    free(by_link);
    net_close(&net);
    if (err != LBM_OK)
        return table_fail(t, err);
    *gamma = fmax(fabs(ends[0]), fabs(ends[1]));
    *converges = theorem.converges;
    return 1;
}

static void
judge_gamma(struct table_run *t, const char *spec, double alpha, double expected, int expected_converges)
{
    double gamma, ends[2];
    int converges;
    if (!find_gamma(t, spec, alpha, &gamma, ends, &converges))
        return;
    cell_paper(table_cell(t, gamma, "%s, alpha %g: gamma", spec, alpha), expected, 1e-9);
    cell_paper(table_cell(t, converges, "%s, alpha %g: converges by theorem 1", spec, alpha),
               expected_converges, 0.0);
}

void
cyb89_theorem_1(struct table_run *t)
{
    judge_gamma(t, "ring:8", 0.5, 1.0, 0);
    judge_gamma(t, "ring:8", 0.49, 0.96, 1);
    judge_gamma(t, "ring:9", 0.5, cos(pi / 9), 1);
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

void
cyb89_lemma_2(struct table_run *t)
{
    for (int d = D_LEAST; d <= D_MOST; d++) {
        char spec[24];
        double gamma, ends[2];
        int converges;
        (void)snprintf(spec, sizeof spec, "hypercube:%d", d);
        if (!find_gamma(t, spec, 1.0 / d, &gamma, ends, &converges))
            return;
        double kappa = lbm_modification(ends[0], ends[1], 0.0);
        struct cell *cell = cell_paper(table_cell(t, kappa, "hypercube:%d: kappa", d), 1.0 / d, 1e-9);
        if (d == D_LEAST)
            cell_note(cell, "after theorem 3 the paper calls kappa gamma, and gamma kappa");
        if (!find_gamma(t, spec, 1.0 / d / (1.0 + kappa), &gamma, ends, &converges))
            return;
        cell_paper(table_cell(t, gamma, "hypercube:%d: gamma at alpha = 1/(d+1)", d), 1.0 - 2.0 / (d + 1),
                   1e-9);
    }
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

/* Level pairs by colour, the colours in a random order; the rest of the deviation. */
static double
sweep_in_any_order(const struct net *net, struct lbm_rng *rng, double *load)
{
    const struct lbm_colouring *c = &net->network.colouring;
    uint32_t order[D_MOST];
    for (uint32_t i = 0; i < c->n_colours && i < D_MOST; i++)
        order[i] = i;
    lbm_rng_shuffle(rng, order, c->n_colours);
    for (uint32_t i = 0; i < c->n_colours; i++)
        for (uint32_t k = c->first[order[i]]; k < c->first[order[i] + 1]; k++) {
            double mean = 0.5 * (load[c->link[k].p] + load[c->link[k].q]);
            load[c->link[k].p] = load[c->link[k].q] = mean;
        }
    return lbm_balance_deviation(&net->network, load);
}

void
cyb89_theorem_4(struct table_run *t)
{
    enum { ORDERS = 50 };
    for (int d = D_LEAST; d <= D_MOST; d += 1) {
        double load[1 << D_MOST], worst = 0.0;
        struct lbm_rng rng;
        struct net net;
        if (!net_open(t, &net, "hypercube:%d", d))
            return;
        lbm_rng_stream(&rng, t->options->seed, (uint64_t)d);
        for (int order = 0; order < ORDERS; order++) {
            for (uint32_t p = 0; p < net.hosts.n; p++)
                load[p] = lbm_rng_unit(&rng);
            worst = fmax(worst, sweep_in_any_order(&net, &rng, load));
        }
        cell_paper(table_cell(t, worst, "hypercube:%d: deviation after a sweep, %d orders", d, ORDERS), 0.0,
                   1e-12);
        net_close(&net);
    }
}

/* ---- theorems 2 and 5, table II ------------------------------------------------------------------------ */

/* Steady variance over sigma^2, simulated. A sample of s steps of n hosts has a relative error of about
 * sqrt(memory/(s n)), which the number of steps keeps below half a percent. */
static int
simulate(struct table_run *t, const struct net *net, enum lbm_policy policy,
         struct lbm_service_result *result)
{
    enum { SAMPLES = 1000000, WARM_UP = 1000 };
    struct lbm_balance_options options = {
        .policy = policy, .alpha_rule = LBM_ALPHA_SAFE, .bound = 0.01, .seed = t->options->seed};
    struct lbm_arrivals arrivals = {.mean = 10.0, .deviation = 1.0, .service = 10.0};
    uint64_t steps = (t->options->full ? 8 : 1) * (uint64_t)SAMPLES / net->hosts.n;
    enum lbm_err err =
        lbm_balance_serve(&net->network, &options, &arrivals, WARM_UP, steps, result, &t->diag);
    return err == LBM_OK || table_fail(t, err);
}

/* sum over i >= 2 of 1/(1 - lambda_i^2), the exact limit of diffusion with alpha = 1/(d+1): the eigenvalue
 * 1 - 2k/(d+1) has multiplicity d over k. */
static double
diffusion_limit(int d)
{
    double sum = 0.0, multiplicity = 1.0;
    for (int k = 1; k <= d; k++) {
        double lambda = 1.0 - 2.0 * k / (d + 1);
        multiplicity *= (double)(d - k + 1) / k;
        sum += multiplicity / (1.0 - lambda * lambda);
    }
    return sum;
}

void
cyb89_theorem_2(struct table_run *t)
{
    static const struct {
        int d;
        double limit;
    } rows[] = {{3, 8.333}, {4, 18.229}, {5, 37.675}, {6, 75.746}, {10, 1156.04}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int d = rows[i].d;
        struct net net;
        struct lbm_service_result result;
        if (!net_open(t, &net, "hypercube:%d", d))
            return;
        int simulated = simulate(t, &net, LBM_POLICY_DIFFUSION, &result);
        net_close(&net);
        if (!simulated)
            return;
        double n = pow(2.0, d), gamma = 1.0 - 2.0 / (d + 1), bound = (n - 1) / (1 - gamma * gamma);
        cell_computed(table_cell(t, diffusion_limit(d), "d = %d: exact limit of the variance / sigma^2", d),
                      rows[i].limit, 0.005);
        cell_computed(table_cell(t, result.variance, "d = %d: variance / sigma^2, simulated", d),
                      rows[i].limit, 0.02 * rows[i].limit);
        struct cell *cell = table_cell(t, result.variance, "d = %d: within the theorem's bound", d);
        cell_note(cell_bound(cell, AT_MOST, bound), "the theorem prints sigma where it must be sigma^2");
    }
}

static void
judge_exchange(struct table_run *t, int d)
{
    struct net net;
    struct lbm_service_result result;
    double n = pow(2.0, d), right = 2.0 * n - d - 2;
    if (!net_open(t, &net, "hypercube:%d", d))
        return;
    int simulated = simulate(t, &net, LBM_POLICY_DIMENSION_EXCHANGE, &result);
    net_close(&net);
    if (!simulated)
        return;
    struct cell *cell =
        table_cell(t, result.variance, "d = %d, a dimension an arrival: variance / sigma^2", d);
    cell_computed(cell_paper(cell, n, 0.0), right, 0.02 * right);
    cell_paper_errs(cell,
                    "the theorem prints n sigma^2, its proof ends with 2n; exact: (2n - d - 2) sigma^2");
}

/* A full sweep levels everything, so what is left is the last arrival: (n - 1) sigma^2. */
static void
judge_sweep(struct table_run *t, int d)
{
    uint32_t n = 1u << d, arrivals = (t->options->full ? 8u : 1u) * 400000u / n;
    double sum = 0.0;
    struct lbm_rng rng;
    lbm_rng_stream(&rng, t->options->seed, (uint64_t)d);
    for (uint32_t i = 0; i < arrivals; i++) {
        double first = 0.0, second = 0.0;
        for (uint32_t p = 0; p < n; p++) {
            double work = sqrt(12.0) * lbm_rng_unit(&rng);
            first += work;
            second += work * work;
        }
        sum += second - first * first / n;
    }
    cell_paper(table_cell(t, sum / arrivals, "d = %d, a sweep an arrival: variance / sigma^2", d), n - 1.0,
               0.02 * (n - 1.0));
}

void
cyb89_theorem_5(struct table_run *t)
{
    for (int d = D_LEAST; d <= D_MOST && t->diag.code == LBM_OK; d++)
        judge_exchange(t, d);
    for (int d = D_LEAST; d <= D_MOST; d++)
        judge_sweep(t, d);
}

/* The paper compares bounds; the true variances stand the other way round under model B. */
void
cyb89_table_2(struct table_run *t)
{
    double n = pow(2.0, D_MOST), diffusion = diffusion_limit(D_MOST), exchange = 2.0 * n - D_MOST - 2;
    cell_paper_errs(
        cell_computed(cell_paper(table_cell(t, diffusion / n, "d = 10: diffusion, variance / (n sigma^2)"),
                                 D_MOST / 4.0, 0.0),
                      1.1289, 0.0001),
        "the paper prints the bound n log n / 4; the exact variance is less than half of it");
    cell_computed(
        cell_paper(table_cell(t, exchange / n, "d = 10, model B: dimension exchange, variance / (n sigma^2)"),
                   2.0, 0.02),
        1.98828125, 1e-9);
    cell_note(
        cell_bound(table_cell(t, diffusion / exchange, "d = 10, model B: diffusion over dimension exchange"),
                   AT_MOST, 1.0),
        "the paper finds dimension exchange better from the bounds; under model B it is not");
    cell_note(
        cell_bound(table_cell(t, diffusion / (n - 1.0), "d = 10, model A: diffusion over dimension exchange"),
                   AT_LEAST, 1.0),
        "under model A dimension exchange is better, as the paper says");
}
