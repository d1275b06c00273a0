/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of a policy on given hosts. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "balance/internal.h"
#include "base/check.h"

/* lambda as a fraction for integer loads: exchange of whole units does not feel more digits. */
enum { LAMBDA_PARTS = 1000000 };

/* ---- what fits ----------------------------------------------------------------------------------- */

enum lbm_err
lbm_rule_fits(const struct lbm_network *net, enum lbm_policy policy, int integer, struct lbm_diag *diag)
{
    const struct lbm_policy_row *row = &lbm_policies[policy];
    const char *name = lbm_policy_name(policy), *source = lbm_policy_source(policy);
    if (row->hypercube && (net->h->topology != LBM_TOPOLOGY_HYPERCUBE || !net->equal))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, name, 0,
                            "pairs hosts by the bits of their ids (%s): needs a hypercube of equal "
                            "capacities; gde fits any hosts",
                            source);
    if (policy == LBM_POLICY_RANDOM_LOAD && (net->h->topology > LBM_TOPOLOGY_TORUS || !net->equal))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, name, 0,
                            "SAN Conjecture 21 gives its lambda for chains, rings, meshes and tori of equal "
                            "capacities; gde finds one for any hosts");
    if (integer && !row->integer)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, name, 0,
                            "is defined for loads of any fraction (%s); dimension-exchange and gde move "
                            "whole units",
                            source);
    if (!integer && !row->real)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, name, 0, "moves whole units (%s): needs integer loads",
                            source);
    return LBM_OK;
}

/* ---- diffusion ----------------------------------------------------------------------------------- */

/* Which alpha: some policies leave no choice; whole units must not be taken where there are none. */
static enum lbm_alpha
alpha_rule(const struct lbm_balance_options *o)
{
    switch (o->policy) {
    case LBM_POLICY_METROPOLIS:
        return LBM_ALPHA_METROPOLIS;
    case LBM_POLICY_OPTIMIZED:
        return LBM_ALPHA_OPTIMIZED;
    case LBM_POLICY_WHOLE_DIFFUSION:
        return o->alpha_rule == LBM_ALPHA_OPTIMAL ? LBM_ALPHA_FEASIBLE : o->alpha_rule;
    default:
        return o->alpha_rule;
    }
}

/* The same alpha for all links. */
static double
uniform_alpha(const struct lbm_network *net, const struct lbm_balance_options *o)
{
    switch (alpha_rule(o)) {
    case LBM_ALPHA_SAFE:
        return lbm_alpha_safe(net->h);
    case LBM_ALPHA_GIVEN:
        return o->alpha;
    case LBM_ALPHA_FEASIBLE:
        return lbm_alpha_feasible(net);
    default:
        return lbm_alpha_optimal(&net->laplacian);
    }
}

/* Out: *alpha [n_links], NULL if all links have the same. */
static enum lbm_err
link_alpha(const struct lbm_network *net, const struct lbm_balance_options *o, const double **alpha,
           struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    *alpha = NULL;
    switch (alpha_rule(o)) {
    case LBM_ALPHA_METROPOLIS:
        err = lbm_known_metropolis(net);
        *alpha = net->known->metropolis;
        break;
    case LBM_ALPHA_OPTIMIZED:
        err = lbm_known_optimized(net);
        *alpha = net->known->optimized;
        break;
    case LBM_ALPHA_LINKS:
        *alpha = o->link_alpha;
        break;
    default:
        return LBM_OK;
    }
    if (err == LBM_E_LIMIT)
        return lbm_diag_set(diag, err, "optimized", 0,
                            "weights are optimized for at most %d hosts; metropolis has no limit",
                            LBM_OPTIMIZED_HOSTS_MAX);
    return err == LBM_OK ? err : lbm_diag_set(diag, err, "alpha", 0, "the weights could not be computed");
}

static enum lbm_err
check_alpha(const struct lbm_network *net, const struct lbm_balance_options *o, const struct lbm_rule *rule,
            struct lbm_diag *diag)
{
    double least = rule->alpha;
    for (uint32_t i = 0; rule->link_alpha != NULL && i < net->colouring.n_links; i++)
        least = fmin(least, isfinite(rule->link_alpha[i]) ? rule->link_alpha[i] : -HUGE_VAL);
    if (!isfinite(rule->alpha) || (least < 0.0 && alpha_rule(o) != LBM_ALPHA_OPTIMIZED))
        return lbm_diag_set(diag, LBM_E_RANGE, "alpha", 0, "%g is not a share of a difference, >= 0",
                            isfinite(rule->alpha) ? least : rule->alpha);
    if (lbm_policies[rule->policy].overdraws && rule->policy != LBM_POLICY_OPTIMIZED &&
        rule->gamma >= 1.0 - 1e-12)
        return lbm_diag_set(diag, LBM_E_RANGE, "alpha", 0,
                            "at %g the matrix of diffusion has gamma = %.6g: there is nothing to "
                            "accelerate (CYB89 Theorem 1)",
                            rule->alpha, rule->gamma);
    if (rule->policy != LBM_POLICY_WHOLE_DIFFUSION)
        return LBM_OK;
    for (uint32_t p = 0; p < net->h->n; p++) {
        double given = rule->alpha * (net->h->offset[p + 1] - net->h->offset[p]) / net->share[p];
        if (given > 1.0 + 1e-9)
            return lbm_diag_set(diag, LBM_E_RANGE, "alpha", 0,
                                "at %g host %" PRIu32
                                " might give more than it has (CYB89 constraint (b)): whole units need "
                                "at most %.7g here",
                                rule->alpha, p, rule->alpha / given);
    }
    return LBM_OK;
}

/* Those of Metropolis once a network. */
static enum lbm_err
gamma_of_links(const struct lbm_network *net, struct lbm_rule *rule)
{
    int is_known = rule->link_alpha == net->known->metropolis;
    if (is_known && !isnan(net->known->gamma_metropolis)) {
        rule->gamma = net->known->gamma_metropolis;
        return LBM_OK;
    }
    enum lbm_err err = lbm_gamma_links(net, rule->link_alpha, &rule->gamma);
    if (err == LBM_OK && is_known)
        net->known->gamma_metropolis = rule->gamma;
    return err;
}

static enum lbm_err
make_diffusion(const struct lbm_network *net, const struct lbm_balance_options *o, struct lbm_rule *rule,
               struct lbm_diag *diag)
{
    enum lbm_err err = link_alpha(net, o, &rule->link_alpha, diag);
    if (err != LBM_OK)
        return err;
    rule->alpha = uniform_alpha(net, o);
    rule->gamma = lbm_gamma_uniform(&net->laplacian, rule->alpha);
    if (rule->link_alpha != NULL) {
        rule->alpha = 0.0;
        for (uint32_t i = 0; i < net->colouring.n_links; i++)
            rule->alpha = fmax(rule->alpha, rule->link_alpha[i]);
        err = gamma_of_links(net, rule);
    }
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, "alpha", 0, "the spectrum of these weights could not be computed");
    return check_alpha(net, o, rule, diag);
}

/* After a step for each eigenvalue nothing is left: gamma is 0, of all of them together. */
static enum lbm_err
make_ops(const struct lbm_network *net, struct lbm_rule *rule, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_known_poles(net);
    if (err == LBM_E_LIMIT)
        return lbm_diag_set(diag, err, lbm_policy_name(rule->policy), 0,
                            "needs all eigenvalues, that are computed for at most %d hosts",
                            LBM_SPECTRUM_HOSTS_MAX);
    if (err == LBM_E_STATE)
        return lbm_diag_set(
            diag, LBM_E_UNSUPPORTED, lbm_policy_name(rule->policy), 0,
            "the eigenvalues of these hosts are not to be had, or rounding would outgrow its steps "
            "(Diekmann et al. 1999)");
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, lbm_policy_name(rule->policy), 0, "no memory for the spectrum");
    rule->pole = net->known->pole;
    rule->n_poles = net->known->n_poles;
    rule->alpha = 1.0;
    rule->gamma = 0.0;
    return LBM_OK;
}

/* Conjugate gradients are at least as fast as the Chebyshev method at the best alpha. */
static void
make_potentials(const struct lbm_network *net, struct lbm_rule *rule)
{
    rule->gamma = lbm_gamma_uniform(&net->laplacian, lbm_alpha_optimal(&net->laplacian));
}

static enum lbm_err
make_matching(const struct lbm_network *net, struct lbm_rule *rule, struct lbm_diag *diag)
{
    rule->lambda = 0.5;
    rule->lambda_numerator = 1;
    rule->lambda_denominator = 2;
    enum lbm_err err =
        isnan(net->known->gamma_matching) ? lbm_gamma_matching(net, &net->known->gamma_matching) : LBM_OK;
    rule->gamma = net->known->gamma_matching;
    return err == LBM_OK ? err
                         : lbm_diag_set(diag, err, lbm_policy_name(rule->policy), 0,
                                        "the spectrum of these hosts could not be computed");
}

/* ---- exchange ------------------------------------------------------------------------------------ */

/* Best constants, measured on fields of 10^5 hosts with bounds from 1 to 50 % (docs/papers.md): the closer
 * the bound, the larger the subcubes within which loads must be balanced. */
static const struct {
    double at_a_quarter, power; /* c = at_a_quarter (4 bound)^power */
} constants[] = {{0.80, 1.5}, {0.75, 0.65}, {0.55, 0.33}};

static const double BOUND_UNSAID = 0.05;

double
lbm_random_load_lambda(unsigned d, double side, double bound, double constant)
{
    LBM_ASSERT(d >= 1 && d <= 3);
    if (side <= 2.0)
        return 0.5;
    double c =
        constant > 0.0 ? constant : constants[d - 1].at_a_quarter * pow(4.0 * bound, constants[d - 1].power);
    c *= d == 1 ? LBM_MUTANT(RANDOM_LOAD_LINE, 1.0, 1.6) : LBM_MUTANT(RANDOM_LOAD_PLANE, 1.0, 1.6);
    double scale = pow(log(side), 1.0 / LBM_MUTANT(RANDOM_LOAD_FORM, d, 1));
    return fmin(fmax(0.5, 1.0 - c / scale), 1.0 / (1.0 + sin(M_PI / side)));
}

/* Of a mesh with unequal sides the longest counts. */
static double
random_load_lambda(const struct lbm_network *net, const struct lbm_balance_options *o)
{
    const uint32_t *dims = net->h->dims;
    uint32_t longest = 1;
    unsigned d = 0;
    for (unsigned k = 0; k < 3; k++) {
        d += dims[k] > 1;
        longest = dims[k] > longest ? dims[k] : longest;
    }
    double bound = o->stop == LBM_STOP_BALANCED && o->bound > 0.0 ? o->bound : BOUND_UNSAID;
    return d == 0 ? 0.5 : lbm_random_load_lambda(d, longest, bound, o->constant);
}

static enum lbm_err
best_lambda(const struct lbm_network *net, double *lambda)
{
    int exact;
    double gamma;
    if (net->equal && lbm_lambda_closed(net->h, lambda, &exact) && exact)
        return LBM_OK;
    *lambda = net->known->lambda > 0.0 ? net->known->lambda : 0.5;
    if (net->h->n < 2 || net->known->lambda > 0.0)
        return LBM_OK;
    enum lbm_err err = lbm_lambda_numeric(net->h, &net->colouring, lambda, &gamma);
    if (err == LBM_OK)
        net->known->lambda = *lambda;
    return err;
}

static enum lbm_err
make_exchange(const struct lbm_network *net, const struct lbm_balance_options *o, struct lbm_rule *rule,
              struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    rule->lambda = 0.5;
    rule->lambda_numerator = 0;
    if (rule->policy == LBM_POLICY_RANDOM_LOAD)
        rule->lambda = random_load_lambda(net, o);
    else if (rule->policy == LBM_POLICY_GDE && o->lambda_denominator > 0) {
        rule->lambda_numerator = o->lambda_numerator;
        rule->lambda_denominator = o->lambda_denominator;
        rule->lambda = (double)o->lambda_numerator / o->lambda_denominator;
        if (o->lambda_numerator == 0 || o->lambda_numerator > o->lambda_denominator)
            return lbm_diag_set(diag, LBM_E_RANGE, "lambda", 0, "%g is not in (0, 1]", rule->lambda);
    } else if (rule->policy == LBM_POLICY_GDE) {
        err = best_lambda(net, &rule->lambda);
        if (o->integer) /* below 1/2 whole units stall: XL95 section 3 */
            rule->lambda = fmax(rule->lambda, 0.5);
    }
    if (rule->lambda_numerator == 0) {
        rule->lambda_numerator = (uint32_t)lround(rule->lambda * LAMBDA_PARTS);
        rule->lambda_denominator = LAMBDA_PARTS;
    }
    return err == LBM_OK ? err
                         : lbm_diag_set(diag, err, "lambda", 0, "the spectrum of a sweep is not to be had");
}

/* ---- both ---------------------------------------------------------------------------------------- */

static enum lbm_err
add_gamma(const struct lbm_network *net, struct lbm_rule *rule, struct lbm_diag *diag)
{
    if (rule->lambda == 0.0 || rule->policy == LBM_POLICY_RANDOM_MATCHING)
        return LBM_OK;
    struct lbm_known *known = net->known;
    unsigned kept = sizeof known->sweep / sizeof *known->sweep;
    for (unsigned i = 0; i < kept; i++)
        if (known->sweep[i].lambda == rule->lambda) {
            rule->gamma = known->sweep[i].gamma;
            return LBM_OK;
        }
    enum lbm_err err = lbm_gamma_sweep(net->h, &net->colouring, rule->lambda, &rule->gamma);
    if (err == LBM_OK) {
        known->sweep[known->n_sweeps % kept].lambda = rule->lambda;
        known->sweep[known->n_sweeps++ % kept].gamma = rule->gamma;
    }
    if (err == LBM_E_STATE)
        return lbm_diag_set(diag, err, "lambda", 0, "the spectrum of a sweep is not to be had");
    return err == LBM_OK ? err
                         : lbm_diag_set(diag, err, "lambda", 0, "no memory for the spectrum of a sweep");
}

double
lbm_rule_rate(const struct lbm_network *net, const struct lbm_rule *rule)
{
    double gamma = rule->gamma;
    if (rule->policy == LBM_POLICY_RANDOM_MATCHING)
        return gamma;
    if (rule->lambda > 0.0)
        return net->colouring.n_colours == 0 ? 0.0 : pow(gamma, 1.0 / net->colouring.n_colours);
    if (rule->policy == LBM_POLICY_SECOND_ORDER || rule->policy == LBM_POLICY_CHEBYSHEV ||
        rule->policy == LBM_POLICY_POTENTIALS)
        return gamma / (1.0 + sqrt(1.0 - gamma * gamma)); /* sqrt(beta - 1) */
    return gamma;
}

static enum lbm_err
make_by_kind(const struct lbm_network *net, const struct lbm_balance_options *options, struct lbm_rule *rule,
             struct lbm_diag *diag)
{
    const struct lbm_policy_row *row = &lbm_policies[rule->policy];
    if (rule->policy == LBM_POLICY_OPS)
        return make_ops(net, rule, diag);
    if (rule->policy == LBM_POLICY_RANDOM_MATCHING)
        return make_matching(net, rule, diag);
    if (row->flow == lbm_flow_exchange)
        return make_exchange(net, options, rule, diag);
    if (row->step == lbm_step_diffusion)
        return make_diffusion(net, options, rule, diag);
    if (rule->policy == LBM_POLICY_POTENTIALS)
        make_potentials(net, rule);
    return LBM_OK;
}

enum lbm_err
lbm_rule_make(const struct lbm_network *net, const struct lbm_balance_options *options, struct lbm_rule *out,
              struct lbm_diag *diag)
{
    struct lbm_rule rule = {.policy = options->policy, .gamma = (double)NAN};
    if (options->policy == LBM_POLICY_AUTO) {
        struct lbm_advice *advice = lbm_alloc(1, sizeof *advice);
        enum lbm_err err = advice == NULL ? lbm_diag_set(diag, LBM_E_NOMEM, "auto", 0, "no memory for advice")
                                          : lbm_advise(net, options, advice, diag);
        if (err == LBM_OK)
            *out = advice->candidate[0].rule;
        free(advice);
        return err;
    }
    enum lbm_err err = lbm_rule_fits(net, options->policy, options->integer, diag);
    if (err == LBM_OK)
        err = make_by_kind(net, options, &rule, diag);
    if (err == LBM_OK && options->policy == LBM_POLICY_CWA) {
        rule.low = options->low;
        if (rule.low > net->colouring.n_colours)
            err = lbm_diag_set(diag, LBM_E_RANGE, "low", 0, "%u dimensions of %u", rule.low,
                               net->colouring.n_colours);
    } else if (err == LBM_OK && options->low > 0) {
        err = lbm_diag_set(diag, LBM_E_UNSUPPORTED, "low", 0, "only cwa leaves dimensions to OEM");
    }
    if (err == LBM_OK)
        err = add_gamma(net, &rule, diag);
    if (err == LBM_OK)
        *out = rule;
    return err;
}
