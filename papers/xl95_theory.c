/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XL95: convergence factors, the best exchange parameters, Table I, the text at Fig. 6, termination. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/exchange.h"
#include "papers/net.h"
#include "papers/papers.h"

static const double pi = 3.14159265358979323846;

/* ---- gamma column of Table II -------------------------------------------------------------------------- */

static double
gamma_of(struct table_run *t, const struct net *net, double lambda)
{
    double gamma = nan("");
    enum lbm_err err = lbm_gamma_sweep(&net->hosts, &net->network.colouring, lambda, &gamma);
    if (err != LBM_OK)
        table_fail(t, err);
    return gamma;
}

static void
judge_column(struct table_run *t, const char *spec)
{
    static const double paper[] = {0.8536, 0.8206, 0.7777, 0.7170, 0.6112, 0.5, 0.6, 0.7, 0.8, 0.9};
    double best = 1.0 / (1.0 + sin(pi / 8));
    struct net net;
    if (!net_open(t, &net, "%s", spec))
        return;
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
        double lambda = 0.5 + 0.05 * (double)i;
        cell_paper(table_cell(t, gamma_of(t, &net, lambda), "%s, lambda %.2f: gamma", spec, lambda), paper[i],
                   6e-5);
    }
    cell_paper(table_cell(t, gamma_of(t, &net, best), "%s, lambda_opt .72323: gamma", spec), 0.4465, 6e-5);
    cell_paper_errs(
        cell_computed(
            cell_paper(table_cell(t, gamma_of(t, &net, 0.723), "%s, lambda .723: gamma", spec), 0.4465, 6e-5),
            0.4641, 6e-5),
        "the paper rounds lambda_opt = .72323; gamma is steep below the optimum");
    net_close(&net);
}

void
xl95_gamma(struct table_run *t)
{
    static const char *const specs[] = {"ring:16", "chain:8", "mesh:8x4", "torus:16x16"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs && t->diag.code == LBM_OK; i++)
        judge_column(t, specs[i]);
}

/* ---- lambda_opt ---------------------------------------------------------------------------------------- */

static const struct {
    const char *hosts;
    double sine; /* of lambda_opt = 1/(1 + sin(pi sine)) */
} optima[] = {
    {"ring:8", 2.0 / 8},    {"ring:16", 2.0 / 16}, {"ring:32", 2.0 / 32}, {"chain:8", 1.0 / 8},
    {"chain:16", 1.0 / 16}, {"chain:7", 1.0 / 7},  {"mesh:8x4", 1.0 / 8}, {"torus:8x8", 2.0 / 8},
};

/* lambda_opt by a scan of spectra that are computed numerically, whatever is known in closed form. */
static double
found(struct table_run *t, const struct net *net, double *gamma)
{
    double lambda = nan("");
    enum lbm_err err = lbm_lambda_numeric(&net->hosts, &net->network.colouring, &lambda, gamma);
    if (err != LBM_OK)
        table_fail(t, err);
    return lambda;
}

static double
numeric_gamma(struct table_run *t, const struct net *net, double lambda)
{
    double gamma = nan("");
    enum lbm_err err = lbm_gamma_sweep_numeric(&net->hosts, &net->network.colouring, lambda, &gamma);
    if (err != LBM_OK)
        table_fail(t, err);
    return gamma;
}

/* Odd rings have a third colour: the formula of the even ones is near the optimal lambda, but promises a
 * gamma that no lambda has. computed: power iteration by another program. */
static void
judge_odd_rings(struct table_run *t)
{
    static const struct {
        uint32_t k;
        double gamma, best, best_gamma;
    } rows[] = {{9, 0.3651, 0.623, 0.3544}, {15, 0.5273, 0.723, 0.5136}, {31, 0.7154, 0.838, 0.7051}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows && t->diag.code == LBM_OK; i++) {
        struct net net;
        double formula = 1.0 / (1.0 + sin(2.0 * pi / rows[i].k)), closed = nan(""), gamma;
        int exact = 1;
        if (!net_open(t, &net, "ring:%u", rows[i].k))
            return;
        if (!lbm_lambda_closed(&net.hosts, &closed, &exact) || exact)
            closed = nan("");
        cell_paper(
            table_cell(t, closed, "ring:%u: lambda by the even formula, said to be inexact", rows[i].k),
            formula, 1e-9);
        struct cell *cell =
            table_cell(t, gamma_of(t, &net, formula), "ring:%u: gamma at that lambda", rows[i].k);
        cell_computed(cell_paper(cell, 2.0 * formula - 1.0, 0.0), rows[i].gamma, 5e-4);
        cell_paper_errs(cell,
                        "2 lambda - 1 holds for even rings; the third colour of an odd ring costs more");
        cell_computed(
            table_cell(t, found(t, &net, &gamma), "ring:%u: lambda_opt, found numerically", rows[i].k),
            rows[i].best, 0.002);
        cell_computed(table_cell(t, gamma, "ring:%u: gamma at it", rows[i].k), rows[i].best_gamma, 5e-4);
        net_close(&net);
    }
}

void
xl95_lambda(struct table_run *t)
{
    for (size_t i = 0; i < sizeof optima / sizeof *optima && t->diag.code == LBM_OK; i++) {
        struct net net;
        double best = 1.0 / (1.0 + sin(pi * optima[i].sine)), closed = nan(""), gamma;
        int exact = 0;
        if (!net_open(t, &net, "%s", optima[i].hosts))
            return;
        if (!lbm_lambda_closed(&net.hosts, &closed, &exact) || !exact)
            closed = nan("");
        cell_paper(table_cell(t, closed, "%s: lambda_opt, closed form", optima[i].hosts), best, 1e-9);
        cell_paper(
            table_cell(t, found(t, &net, &gamma), "%s: lambda_opt, found numerically", optima[i].hosts), best,
            1e-4);
        cell_paper(table_cell(t, gamma_of(t, &net, best), "%s: gamma at lambda_opt", optima[i].hosts),
                   2.0 * best - 1.0, 1e-6);
        cell_paper(
            table_cell(t, numeric_gamma(t, &net, 0.9), "%s: gamma at 0.9, numerically", optima[i].hosts), 0.8,
            1e-6);
        net_close(&net);
    }
    judge_odd_rings(t);
}

/* Theorem 4.1: how many steps of diffusion at its best a sweep of GDE at its best is worth. */
void
xl95_theorem_4_1(struct table_run *t)
{
    static const uint32_t sides[] = {8, 16, 32, 64, 128};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct net net;
        double k = sides[i], s = sin(2.0 * pi / k), c = cos(2.0 * pi / k), lambda = nan("");
        int exact;
        if (!net_open(t, &net, "ring:%u", sides[i]))
            return;
        if (!lbm_lambda_closed(&net.hosts, &lambda, &exact))
            lambda = nan("");
        const struct lbm_laplacian *l = &net.network.laplacian;
        double diffusion = lbm_gamma_uniform(l, lbm_alpha_optimal(l));
        double paper = log((1.0 - s) / (1.0 + s)) / log(4.0 / (3.0 - c) - 1.0);
        struct cell *cell = table_cell(t, log(gamma_of(t, &net, lambda)) / log(diffusion) / k,
                                       "ring:%u: steps of diffusion for a sweep of GDE, over k", sides[i]);
        cell_note(cell_paper(cell, paper / k, 1e-6),
                  "it tends to 4/(2 pi): GDE takes k sweeps, diffusion k^2");
        net_close(&net);
    }
}

/* Sides of two hosts: a ring of two is a chain of two, and one half is the optimum. */
void
xl95_sides_of_two(struct table_run *t)
{
    static const char *const specs[] = {"chain:2", "mesh:2x2", "hypercube:3", "ring:4"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct net net;
        double lambda = nan("");
        int exact;
        if (!net_open(t, &net, "%s", specs[i]))
            return;
        if (!lbm_lambda_closed(&net.hosts, &lambda, &exact))
            lambda = nan("");
        cell_paper(table_cell(t, lambda, "%s: lambda_opt", specs[i]), 0.5, 1e-9);
        net_close(&net);
    }
}

/* gamma(lambda) may have several minima: here a coarse scan ends in one near .556, with gamma .150. */
static void
judge_two_minima(struct table_run *t)
{
    static const struct lbm_link links[] = {{0, 1, 1}, {1, 2, 1}, {0, 3, 1}, {1, 3, 1}, {2, 4, 1},
                                            {1, 4, 1}, {2, 5, 1}, {1, 5, 1}, {2, 6, 1}, {0, 6, 1}};
    struct net net;
    double gamma = nan("");
    if (!net_open_links(t, &net, 7, links, sizeof links / sizeof *links))
        return;
    double lambda = found(t, &net, &gamma);
    net_close(&net);
    cell_computed(table_cell(t, lambda, "seven hosts, ten links: lambda_opt, found numerically"), 0.5, 1e-4);
    cell_computed(table_cell(t, gamma, "seven hosts, ten links: gamma at it"), 0.125, 1e-4);
}

/* Open in the paper: arbitrary networks. The optimum may lie below one half. */
void
xl95_open(struct table_run *t)
{
    struct net net;
    double lambda, gamma;
    judge_two_minima(t);
    if (!net_open(t, &net, "star:16"))
        return;
    enum lbm_err err = lbm_lambda_numeric(&net.hosts, &net.network.colouring, &lambda, &gamma);
    net_close(&net);
    if (err != LBM_OK)
        table_fail(t, err);
    cell_computed(table_cell(t, lambda, "star:16: lambda_opt, found numerically"), 0.274, 0.001);
    static const char *const specs[] = {"mesh:8x8", "torus:16x16"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        int exact;
        if (!net_open(t, &net, "%s", specs[i]))
            return;
        double half = gamma_of(t, &net, 0.5), closed = nan("");
        if (lbm_lambda_closed(&net.hosts, &closed, &exact))
            cell_computed(
                table_cell(t, 1.0 / (1.0 + sqrt(1.0 - half)), "%s: 1/(1 + sqrt(1 - gamma(1/2)))", specs[i]),
                closed, 1e-6);
        net_close(&net);
    }
}

/* ---- Table I ------------------------------------------------------------------------------------------- */

static void
judge_torus(struct table_run *t, const char *spec, int n, int k)
{
    struct net net;
    if (!net_open(t, &net, "%s", spec))
        return;
    double lambda = 1.0 / (1.0 + sin(2.0 * pi / k)), printed = 1.0 / (2.0 * n + 1.0 - cos(2.0 * pi / k));
    double alpha = lbm_alpha_optimal(&net.network.laplacian);
    cell_paper(table_cell(t, gamma_of(t, &net, lambda), "%s: GDE, gamma", spec), 2.0 * lambda - 1.0, 1e-6);
    cell_paper(table_cell(t, alpha, "%s: diffusion, alpha_opt", spec), printed, 1e-9);
    cell_paper(table_cell(t, lbm_gamma_uniform(&net.network.laplacian, alpha), "%s: diffusion, gamma", spec),
               4.0 * n * printed - 1.0, 1e-9);
    net_close(&net);
}

/* Odd sides have no eigenvalue 4: 2 + 2 cos(pi/k) for each axis. */
static void
judge_odd_torus(struct table_run *t)
{
    struct net net;
    if (!net_open(t, &net, "torus:15x15"))
        return;
    double least = 2.0 - 2.0 * cos(2.0 * pi / 15), most = 4.0 + 4.0 * cos(pi / 15);
    cell_paper(table_cell(t, lbm_alpha_optimal(&net.network.laplacian), "torus:15x15: diffusion, alpha_opt"),
               2.0 / (least + most), 1e-9);
    net_close(&net);
}

static void
judge_mesh(struct table_run *t, const char *spec, int n, int k, double right_alpha, double right_gamma)
{
    struct net net;
    if (!net_open(t, &net, "%s", spec))
        return;
    double lambda = 1.0 / (1.0 + sin(pi / k)), alpha = lbm_alpha_optimal(&net.network.laplacian);
    const char *why = "1/(2n) is optimal for n = 1 alone; the optimum is 2/(lambda_2 + lambda_max)";
    struct cell *cell;
    cell_paper(table_cell(t, gamma_of(t, &net, lambda), "%s: GDE, gamma", spec), 2.0 * lambda - 1.0, 1e-6);
    cell = table_cell(t, alpha, "%s: diffusion, alpha_opt", spec);
    cell_computed(cell_paper(cell, 1.0 / (2.0 * n), 1e-9), right_alpha, 5e-6);
    if (n > 1)
        cell_paper_errs(cell, why);
    cell = table_cell(t, lbm_gamma_uniform(&net.network.laplacian, alpha), "%s: diffusion, gamma", spec);
    cell_computed(cell_paper(cell, 1.0 - 1.0 / n + cos(pi / k) / n, 1e-9), right_gamma, 5e-6);
    if (n > 1)
        cell_paper_errs(cell, why);
    cell_paper(table_cell(t, lbm_gamma_uniform(&net.network.laplacian, 1.0 / (2.0 * n)),
                          "%s: gamma at alpha 1/(2n)", spec),
               1.0 - 1.0 / n + cos(pi / k) / n, 1e-9);
    net_close(&net);
}

void
xl95_table_1(struct table_run *t)
{
    judge_torus(t, "ring:16", 1, 16);
    judge_torus(t, "torus:8x8", 2, 8);
    judge_torus(t, "torus:16x16", 2, 16);
    judge_torus(t, "torus:8x8x8", 3, 8);
    judge_odd_torus(t);
    judge_mesh(t, "chain:8", 1, 8, 0.5, cos(pi / 8));
    judge_mesh(t, "mesh:4x4", 2, 4, 0.26975, 0.84198);
    judge_mesh(t, "mesh:8x8", 2, 8, 0.25485, 0.96120);
}

/* ---- the text at Fig. 6 -------------------------------------------------------------------------------- */

/* computed: of another program. The rule that the text states, whole units until nothing moves, gives other
 * numbers: whole. */
static const struct {
    uint32_t k, n;
    double paper, tolerance, computed, whole;
} cubes[] = {
    {64, 2, 35, 5, 32.7, 25}, {16, 3, 8, 0.6, 8.1, 10}, {8, 4, 4, 0.6, 4.0, 6.6}, {2, 12, 1, 0, 1, 0}};

static void
judge_cube(struct table_run *t, size_t i, struct exchange *e)
{
    uint32_t runs = table_runs(t, 20, 100), k = cubes[i].k, n = cubes[i].n;
    double lambda = k == 2 ? 0.5 : 1.0 / (1.0 + sin(2.0 * pi / k)), real = 0.0, whole = 0.0;
    for (uint32_t run = 0; run < runs; run++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        for (uint32_t p = 0; p < e->n; p++)
            e->load[p] = 2000.0 * lbm_rng_unit(&rng);
        real += exchange_sweeps_real(t, e, lambda);
        exchange_loads(e, &rng, 1000);
        whole += exchange_sweeps(t, e, (struct ratio){(uint32_t)lround(lambda * 1e5), 100000});
    }
    real /= runs;
    whole /= runs;
    struct cell *cell =
        table_cell(t, real, "%u-ary %u-cube: sweeps of real loads, neighbours within 1", k, n);
    cell_computed(cell_paper(cell, cubes[i].paper, cubes[i].tolerance), cubes[i].computed,
                  0.05 * cubes[i].computed);
    if (k == 2)
        return;
    cell = table_cell(t, whole, "%u-ary %u-cube: sweeps of whole units, until nothing moves", k, n);
    cell_computed(cell_paper(cell, cubes[i].paper, 0.0), cubes[i].whole, 0.04 * cubes[i].whole);
    cell_not_reproduced(cell, "the rule as section 5 states it; the paper's numbers are those of real loads");
}

/* 4096 processors as k-ary n-cubes; mean load 1000. */
void
xl95_fig_6(struct table_run *t)
{
    for (size_t i = 0; i < sizeof cubes / sizeof *cubes && t->diag.code == LBM_OK; i++) {
        struct exchange e;
        int is_open = cubes[i].k == 2 ? exchange_of_spec(t, &e, "hypercube:%u", cubes[i].n)
                                      : exchange_of_cube(t, &e, cubes[i].k, cubes[i].n);
        if (!is_open)
            return;
        judge_cube(t, i, &e);
        exchange_close(&e);
    }
}

/* ---- termination --------------------------------------------------------------------------------------- */

/* Level loads: the first sweep is quiet, and the counters need one more for each link of the diameter. */
static void
judge_level_start(struct table_run *t, const struct net *net, uint32_t diameter, const char *spec,
                  double *load)
{
    struct lbm_balance_options options = {.policy = LBM_POLICY_GDE, .integer = 1, .stop = LBM_STOP_QUIESCENT};
    struct lbm_balance_result result;
    for (uint32_t p = 0; p < net->hosts.n; p++)
        load[p] = 7.0;
    enum lbm_err err = lbm_balance_run(&net->network, &options, load, NULL, &result, &t->diag);
    if (err == LBM_OK)
        cell_computed(table_cell(t, (double)result.detected - result.sweeps,
                                 "%s, level loads: sweeps from the end to the detection", spec),
                      diameter, 0.0);
    else
        table_fail(t, err);
}

static void
judge_termination(struct table_run *t, const char *spec, uint32_t runs)
{
    struct net net;
    double least = HUGE_VAL, most = -HUGE_VAL;
    struct lbm_balance_options options = {.policy = LBM_POLICY_GDE, .integer = 1, .stop = LBM_STOP_QUIESCENT};
    if (!net_open(t, &net, "%s", spec))
        return;
    double *load = lbm_alloc(net.hosts.n, sizeof *load);
    enum lbm_err err = load == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t run = 0; run < runs && err == LBM_OK; run++) {
        struct lbm_balance_result result;
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        for (uint32_t p = 0; p < net.hosts.n; p++)
            load[p] = lbm_rng_below(&rng, 256);
        err = lbm_balance_run(&net.network, &options, load, NULL, &result, &t->diag);
        double late = (double)result.detected - result.sweeps;
        least = err == LBM_OK ? fmin(least, late) : least;
        most = err == LBM_OK ? fmax(most, late) : most;
    }
    uint32_t diameter = lbm_hosts_diameter_hops(&net.hosts);
    if (err == LBM_OK)
        judge_level_start(t, &net, diameter, spec, load);
    free(load);
    net_close(&net);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    cell_bound(table_cell(t, least, "%s: sweeps from the end to the first detection", spec), AT_LEAST, 0.0);
    cell_bound(table_cell(t, most, "%s: sweeps from the end to the last detection", spec), AT_MOST,
               diameter + 1.0);
}

void
xl95_termination(struct table_run *t)
{
    static const char *const specs[] = {"ring:16",    "ring:15",     "chain:8", "mesh:8x4",
                                        "torus:16x5", "hypercube:6", "star:16"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs && t->diag.code == LBM_OK; i++)
        judge_termination(t, specs[i], table_runs(t, 20, 1000));
}
