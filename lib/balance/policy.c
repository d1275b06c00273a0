/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of policies, the network they act on, and stepping. */
#include "balance/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/internal.h"
#include "base/check.h"

static const struct {
    const char *name, *source;
} words[LBM_POLICY_COUNT] = {
#define POLICY_WORDS(id, number, name, source, text) [LBM_POLICY_##id] = {name, source},
    LBM_POLICY_LIST(POLICY_WORDS)
#undef POLICY_WORDS
};

const struct lbm_policy_row lbm_policies[LBM_POLICY_COUNT] = {
    [LBM_POLICY_DIFFUSION] = {lbm_step_diffusion, lbm_flow_diffusion, .real = 1, .advised = 1, .local = 1},
    [LBM_POLICY_SECOND_ORDER] = {lbm_step_diffusion, lbm_flow_diffusion, .real = 1, .advised = 1,
                                 .overdraws = 1, .local = 1},
    [LBM_POLICY_CHEBYSHEV] = {lbm_step_diffusion, lbm_flow_diffusion, .real = 1, .advised = 1, .overdraws = 1,
                              .local = 1},
    [LBM_POLICY_DIMENSION_EXCHANGE] = {lbm_step_exchange, lbm_flow_exchange, .real = 1, .integer = 1,
                                       .exchange = 1, .advised = 1, .local = 1},
    [LBM_POLICY_GDE] = {lbm_step_exchange, lbm_flow_exchange, .real = 1, .integer = 1, .exchange = 1,
                        .advised = 1, .local = 1},
    [LBM_POLICY_RANDOM_LOAD] = {lbm_step_exchange, lbm_flow_exchange, .real = 1, .integer = 1, .exchange = 1,
                                .advised = 1, .local = 1},
    [LBM_POLICY_OEM] = {lbm_step_exchange, lbm_flow_oem, .integer = 1, .hypercube = 1, .exchange = 1,
                        .local = 1},
    [LBM_POLICY_DEM] = {lbm_step_exchange, lbm_flow_dem, .integer = 1, .hypercube = 1, .exchange = 1,
                        .local = 1},
    [LBM_POLICY_DEM_TABLE] = {lbm_step_exchange, lbm_flow_dem_table, .integer = 1, .hypercube = 1,
                              .exchange = 1, .local = 1},
    [LBM_POLICY_CWA] = {lbm_step_cwa, NULL, .integer = 1, .hypercube = 1, .exchange = 1},
    [LBM_POLICY_EDGE_REMAP] = {lbm_step_edge_remap, lbm_flow_edge_remap, .integer = 1, .local = 1},
    [LBM_POLICY_OPS] = {lbm_step_diffusion, lbm_flow_diffusion, .real = 1, .advised = 1, .overdraws = 1},
    [LBM_POLICY_POTENTIALS] = {lbm_step_potentials, NULL, .real = 1, .advised = 1, .overdraws = 1},
    [LBM_POLICY_METROPOLIS] = {lbm_step_diffusion, lbm_flow_diffusion, .real = 1, .advised = 1, .local = 1},
    [LBM_POLICY_OPTIMIZED] = {lbm_step_diffusion, lbm_flow_diffusion, .real = 1, .overdraws = 1},
    [LBM_POLICY_RANDOM_MATCHING] = {lbm_step_matching, lbm_flow_exchange, .real = 1, .integer = 1,
                                    .advised = 1, .local = 1},
    [LBM_POLICY_WHOLE_DIFFUSION] = {lbm_step_diffusion, lbm_flow_whole, .integer = 1, .local = 1},
};

const char *
lbm_policy_name(enum lbm_policy policy)
{
    return words[policy].name;
}

const char *
lbm_policy_source(enum lbm_policy policy)
{
    return words[policy].source;
}

enum lbm_turns
lbm_policy_turns(enum lbm_policy policy)
{
    LBM_ASSERT(policy < LBM_POLICY_COUNT && policy != LBM_POLICY_AUTO);
    const struct lbm_policy_row *row = &lbm_policies[policy];
    return row->flow == NULL                  ? LBM_TURNS_GLOBAL
           : row->step == lbm_step_edge_remap ? LBM_TURNS_DRAWN
           : row->step == lbm_step_matching   ? LBM_TURNS_MATCHED
           : row->exchange                    ? LBM_TURNS_COLOURS
                                              : LBM_TURNS_ALL;
}

int
lbm_policy_is_integer(enum lbm_policy policy)
{
    return lbm_policies[policy].integer;
}

int
lbm_policy_ends_in_a_sweep(enum lbm_policy policy)
{
    return lbm_policies[policy].hypercube;
}

int
lbm_policy_is_local(enum lbm_policy policy)
{
    return lbm_policies[policy].local;
}

double
lbm_rule_flow(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
              const struct lbm_ends *ends)
{
    LBM_ASSERT(lbm_policies[rule->policy].flow != NULL);
    return lbm_policies[rule->policy].flow(rule, integer, pace, ends);
}

double
lbm_balancer_flow(const struct lbm_balancer *b, const struct lbm_pace *pace, uint32_t link,
                  const double *load, double last)
{
    const struct lbm_link *l = &b->net->colouring.link[link];
    struct lbm_ends ends = {.load_p = load[l->p],
                            .load_q = load[l->q],
                            .share_p = b->net->share[l->p],
                            .share_q = b->net->share[l->q],
                            .last = last,
                            .alpha = b->rule.link_alpha != NULL ? b->rule.link_alpha[link] : b->rule.alpha};
    return lbm_rule_flow(&b->rule, b->integer, pace, &ends);
}

/* ---- the network --------------------------------------------------------------------------------- */

static void
scale_shares(struct lbm_network *net)
{
    double sum = 0.0;
    net->equal = 1;
    for (uint32_t p = 0; p < net->h->n; p++) {
        sum += net->h->capacity[p];
        net->equal = net->equal && net->h->capacity[p] == net->h->capacity[0];
    }
    for (uint32_t p = 0; p < net->h->n; p++)
        net->share[p] = net->equal ? 1.0 : net->h->capacity[p] * net->h->n / sum;
}

enum lbm_err
lbm_network_make(const struct lbm_hosts *h, struct lbm_network *out, struct lbm_diag *diag)
{
    struct lbm_network net = {
        .h = h, .share = lbm_alloc(h->n, sizeof(double)), .known = lbm_alloc(1, sizeof(struct lbm_known))};
    enum lbm_err err =
        net.share == NULL || net.known == NULL ? LBM_E_NOMEM : lbm_colouring_make(h, &net.colouring);
    if (err == LBM_OK) {
        net.known->gamma_metropolis = net.known->gamma_matching = (double)NAN;
        scale_shares(&net);
        err = lbm_sum_rounds(h, net.sum_rounds);
    }
    if (err == LBM_OK)
        err = lbm_laplacian_of(h, &net.laplacian);
    if (err == LBM_OK) {
        *out = net;
        return LBM_OK;
    }
    lbm_network_free(&net);
    return lbm_diag_set(diag, err, "hosts", 0,
                        err == LBM_E_NOMEM ? "no memory for the network"
                                           : "the spectrum of these hosts could not be computed");
}

void
lbm_network_free(struct lbm_network *net)
{
    lbm_colouring_free(&net->colouring);
    free(net->share);
    lbm_known_free(net->known);
    *net = (struct lbm_network){0};
}

double
lbm_rounds_of_step(const struct lbm_network *net, enum lbm_policy policy, enum lbm_ports ports)
{
    if (lbm_policies[policy].exchange || policy == LBM_POLICY_RANDOM_MATCHING)
        return 1.0;
    double all = ports == LBM_PORTS_ALL ? 1.0 : net->colouring.n_colours;
    return policy == LBM_POLICY_POTENTIALS ? all + net->sum_rounds[ports] : all;
}

double
lbm_rounds_before(const struct lbm_network *net, enum lbm_policy policy, enum lbm_ports ports)
{
    return policy == LBM_POLICY_POTENTIALS ? net->sum_rounds[ports] : 0.0;
}

double
lbm_balance_cost(double rounds, double transfer, double busiest, double mean)
{
    return rounds + (mean > 0.0 ? transfer * busiest / mean : 0.0);
}

/* ---- stepping ------------------------------------------------------------------------------------ */

/* Arrays that the policy works in. */
static enum lbm_err
make_arrays(struct lbm_balancer *b)
{
    uint32_t n = b->net->h->n, links = b->net->colouring.n_links;
    int ok = (b->last = lbm_alloc(links, sizeof *b->last)) != NULL;
    if (b->rule.policy == LBM_POLICY_POTENTIALS)
        ok = ok && (b->residual = lbm_alloc(n, sizeof *b->residual)) != NULL &&
             (b->direction = lbm_alloc(n, sizeof *b->direction)) != NULL &&
             (b->image = lbm_alloc(n, sizeof *b->image)) != NULL;
    if (b->rule.policy == LBM_POLICY_RANDOM_MATCHING)
        ok = ok && (b->draw = lbm_alloc(links, sizeof *b->draw)) != NULL &&
             (b->least = lbm_alloc(n, sizeof *b->least)) != NULL;
    return ok ? LBM_OK : LBM_E_NOMEM;
}

enum lbm_err
lbm_balancer_make(const struct lbm_network *net, const struct lbm_rule *rule, int integer, uint64_t seed,
                  struct lbm_balancer **out)
{
    LBM_ASSERT(rule->policy < LBM_POLICY_COUNT && rule->policy != LBM_POLICY_AUTO);
    struct lbm_balancer *b = lbm_alloc(1, sizeof *b);
    if (b == NULL)
        return LBM_E_NOMEM;
    b->net = net;
    b->rule = *rule;
    b->integer = integer;
    b->seed = seed;
    b->sweep =
        lbm_policies[rule->policy].exchange && net->colouring.n_colours > 0 ? net->colouring.n_colours : 1;
    lbm_rng_seed(&b->rng, seed);
    if (make_arrays(b) != LBM_OK) {
        lbm_balancer_free(b);
        return LBM_E_NOMEM;
    }
    *out = b;
    return LBM_OK;
}

void
lbm_balancer_free(struct lbm_balancer *b)
{
    if (b == NULL)
        return;
    free(b->last);
    free(b->residual);
    free(b->direction);
    free(b->image);
    free(b->draw);
    free(b->least);
    free(b);
}

double
lbm_balancer_step(struct lbm_balancer *b, double *load, double *flow)
{
    double moved = 0.0;
    memset(flow, 0, b->net->colouring.n_links * sizeof *flow);
    b->talks = b->net->colouring.n_links;
    if (b->net->colouring.n_links > 0)
        lbm_policies[b->rule.policy].step(b, load, flow);
    b->t++;
    for (uint32_t i = 0; i < b->net->colouring.n_links; i++)
        moved += flow[i] < 0.0 ? -flow[i] : flow[i];
    return moved;
}

uint32_t
lbm_balancer_sweep(const struct lbm_balancer *b)
{
    return b->sweep;
}
