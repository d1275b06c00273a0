/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lib/balance share; not for other modules. */
#ifndef LBM_BALANCE_INTERNAL_H
#define LBM_BALANCE_INTERNAL_H

#include "balance/policy.h"
#include "base/mem.h"
#include "base/mutants.h"
#include "base/rng.h"

/* What rules of a network have computed, once. Owned by the network. */
struct lbm_known {
    double *pole; /* [n_poles] eigenvalues in the order of their steps; NULL: not yet */
    uint32_t n_poles, n_eigenvalues;
    double *metropolis, *optimized; /* [n_links] */
    double lambda;                  /* lambda_opt; 0: not yet */
    struct {
        double lambda, gamma; /* of a sweep; lambda 0: not yet */
    } sweep[4];
    unsigned n_sweeps;                       /* that were kept; the oldest goes first */
    double gamma_metropolis, gamma_matching; /* NAN: not yet */
};

struct lbm_balancer {
    const struct lbm_network *net;
    struct lbm_rule rule;
    int integer;
    uint64_t t;     /* steps done */
    uint32_t sweep; /* steps of a sweep */
    double *last;   /* [n_links] accelerations: the flow of the step before */
    double omega;   /* chebyshev: the factor of the step before */
    struct lbm_rng rng;
    uint64_t seed;
    uint32_t talks;                            /* links that were used in the last step */
    double *residual, *direction, *image, rho; /* [n] potentials */
    uint64_t *draw;                            /* [n_links] random-matching */
    uint32_t *least;                           /* [n] the link at a host that has drawn least */
};

/* What one link carries, > 0 from p to q. */
typedef double lbm_link_flow(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
                             const struct lbm_ends *ends);

lbm_link_flow lbm_flow_diffusion;                             /* diffusion.c */
lbm_link_flow lbm_flow_whole;                                 /* whole.c */
lbm_link_flow lbm_flow_exchange, lbm_flow_edge_remap;         /* exchange.c */
lbm_link_flow lbm_flow_oem, lbm_flow_dem, lbm_flow_dem_table; /* hypercube.c */

/* The flow of link i by the balancer's rule, last as given. */
double lbm_balancer_flow(const struct lbm_balancer *b, const struct lbm_pace *pace, uint32_t link,
                         const double *load, double last);

/* One step of a policy: fills flow, moves load. */
typedef void lbm_step(struct lbm_balancer *b, double *load, double *flow);

lbm_step lbm_step_diffusion;                     /* diffusion.c */
lbm_step lbm_step_exchange, lbm_step_edge_remap; /* exchange.c */
lbm_step lbm_step_cwa;                           /* hypercube.c */
lbm_step lbm_step_potentials;                    /* potentials.c */
lbm_step lbm_step_matching;                      /* matching.c */

/* Properties of a policy, next to its name. */
struct lbm_policy_row {
    lbm_step *step;
    lbm_link_flow *flow;            /* NULL: a link's flow depends on more than its ends */
    unsigned real : 1, integer : 1; /* loads it is defined for */
    unsigned hypercube : 1;         /* only there, one sweep, equal capacities */
    unsigned exchange : 1;          /* a step is a colour */
    unsigned advised : 1;           /* among what auto chooses from */
    unsigned overdraws : 1;         /* may take more from a host than it has */
    unsigned local : 1;             /* neighbours suffice: daemons can run it */
};

extern const struct lbm_policy_row lbm_policies[LBM_POLICY_COUNT];

/* XL95 (1) with shares: 2 lambda of what p would have to give q to level both. */
static inline double
lbm_exchange_flow(double lambda, double load_p, double share_p, double load_q, double share_q)
{
    return LBM_MUTANT(GDE_FLOW, 2.0, 1.9) * lambda * (load_p * share_q - load_q * share_p) /
           (share_p + share_q);
}

/* CYB89 (2): alpha of the difference of relative loads. */
static inline double
lbm_diffusion_flow(double alpha, double x_p, double x_q)
{
    return LBM_MUTANT(DIFFUSION_FLOW, 1.0, 0.95) * alpha * (x_p - x_q);
}

/* Give amount from p to q of link i. */
static inline void
lbm_carry(double *load, const struct lbm_link *link, double amount)
{
    load[link->p] -= amount;
    load[link->q] += amount;
}

/* What a step leaves of the slowest deviation, on average: 0 if a sweep levels everything. */
double lbm_rule_rate(const struct lbm_network *net, const struct lbm_rule *rule);

/* Whether the policy fits the hosts and the loads.  Errors: LBM_E_UNSUPPORTED with why. */
enum lbm_err lbm_rule_fits(const struct lbm_network *net, enum lbm_policy policy, int integer,
                           struct lbm_diag *diag) LBM_MUST_CHECK;

/* Why a run settled, or did not. Out: text of at most size bytes. */
void lbm_balance_explain(const struct lbm_network *net, const struct lbm_balance_options *options,
                         const struct lbm_balance_result *result, char *out, size_t size);

/* What comes before the first step of CWA: the loads of each subcube are collected and told, 2 log of its
 * size (RJK03 section 5.3). 0 of other policies. */
uint32_t lbm_collection_rounds(const struct lbm_network *net, const struct lbm_rule *rule);

/* By how much loads may differ after CWA, or after the hybrid: ceil(low/2) within a subcube by OEM, so that
 * the totals that CWA shares out differ by no more, and 1 by CWA. */
uint32_t lbm_cwa_difference(const struct lbm_network *net, const struct lbm_rule *rule);

/* ---- what rules compute beforehand: each fills net->known once ----------------------------------- */

/* Eigenvalues in an order that keeps rounding small.  Errors: LBM_E_NOMEM, LBM_E_STATE, LBM_E_LIMIT. */
enum lbm_err lbm_known_poles(const struct lbm_network *net) LBM_MUST_CHECK; /* ops.c */
/* weights.c.  Errors: LBM_E_NOMEM; optimized also LBM_E_STATE and LBM_E_LIMIT, too many hosts. */
enum { LBM_OPTIMIZED_HOSTS_MAX = 128 }; /* some hundred spectra: a second */
enum lbm_err lbm_known_metropolis(const struct lbm_network *net) LBM_MUST_CHECK;
enum lbm_err lbm_known_optimized(const struct lbm_network *net) LBM_MUST_CHECK;
void lbm_known_free(struct lbm_known *known);

/* gamma of diffusion with an alpha for each link.  Errors: LBM_E_NOMEM, LBM_E_STATE. */
enum lbm_err lbm_gamma_links(const struct lbm_network *net, const double *link_alpha,
                             double *gamma) LBM_MUST_CHECK;
/* The same alphas by link direction, as lbm_hosts has them. Out: alpha [offset[n]]. */
void lbm_directions_of_links(const struct lbm_network *net, const double *link_alpha, double *alpha);

/* What a step of random-matching leaves of the variance, on average.  Errors: as above. */
enum lbm_err lbm_gamma_matching(const struct lbm_network *net, double *gamma) LBM_MUST_CHECK;

/* Rounds to add up a number of each host along a tree of links, and to tell all. */
enum lbm_err lbm_sum_rounds(const struct lbm_hosts *h, double rounds[2]) LBM_MUST_CHECK; /* potentials.c */

/* Rounds that the mean load takes over a link. */
double lbm_transfer_of(const struct lbm_balance_options *options);

/* Rounds that a step takes in a model of communication. */
double lbm_rounds_of_step(const struct lbm_network *net, enum lbm_policy policy, enum lbm_ports ports);
/* And before the first: potentials need the balanced load. */
double lbm_rounds_before(const struct lbm_network *net, enum lbm_policy policy, enum lbm_ports ports);

#endif
