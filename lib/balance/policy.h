/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load policies: which host gives how much to which neighbour, step by step, until loads are level.
 *
 * Owns: the table of policies, their parameters, runs of one policy on loads, and the choice among them.
 * Never: moves vertices. What comes out are flows on links, that somebody else fulfils (XL95's first phase).
 *
 * Loads are numbers of work units, one a host. Hosts may differ in capacity: level then means load in
 * proportion to capacity. Integer loads are whole numbers below 2^53 in a double, exactly conserved. */
#ifndef LBM_BALANCE_POLICY_H
#define LBM_BALANCE_POLICY_H

#include <stdint.h>

#include "balance/flow.h"
#include "base/err.h"
#include "base/numbers.h"
#include "host/colouring.h"
#include "host/spectrum.h"

#define LBM_POLICY_LIST(X)                                                                                   \
    X(DIFFUSION, 0, "diffusion", "CYB89 (1)-(4)", "alpha of each difference, to all neighbours at once")     \
    X(SECOND_ORDER, 1, "second-order", "Muthukrishnan et al. 1998",                                          \
      "diffusion that keeps some of its last flow")                                                          \
    X(CHEBYSHEV, 2, "chebyshev", "Diekmann et al. 1999", "the same, with the best factor for each step")     \
    X(DIMENSION_EXCHANGE, 3, "dimension-exchange", "CYB89 section 4", "pairs by colour, each levels")        \
    X(GDE, 4, "gde", "XL95 (1), (6)", "pairs by colour, each gives lambda of the difference")                \
    X(RANDOM_LOAD, 5, "random-load", "SAN section 6", "gde with lambda = 1 - c / (ln n)^(1/d)")              \
    X(OEM, 6, "oem", "RJK03 section 3", "whole units: the odd one goes where it meets others of its kind")   \
    X(DEM, 7, "dem", "RJK03 section 2", "whole units: the larger keeps the odd one, as printed")             \
    X(DEM_TABLE, 8, "dem-table", "RJK03 table 1",                                                            \
      "whole units: the larger gives it, as counted in the table")                                           \
    X(CWA, 9, "cwa", "RJK03 section 5", "whole units, by halves of the cube, all loads known to all")        \
    X(EDGE_REMAP, 10, "edge-remap", "HEI97 fig. 9", "random links, one unit from the larger to the smaller") \
    X(AUTO, 11, "auto", "the advice", "the one whose rounds and net flow are predicted to cost least")       \
    X(OPS, 12, "ops", "Diekmann et al. 1999",                                                                \
      "diffusion that takes out one eigenvalue a step: exact at the end")                                    \
    X(POTENTIALS, 13, "potentials", "Hu and Blake 1999",                                                     \
      "least squares of the flow, by conjugate gradients")                                                   \
    X(METROPOLIS, 14, "metropolis", "Xiao and Boyd 2004",                                                    \
      "diffusion, each link with an alpha of its two degrees")                                               \
    X(OPTIMIZED, 15, "optimized", "Xiao and Boyd 2004",                                                      \
      "diffusion, each link with the alpha that is best for all")                                            \
    X(RANDOM_MATCHING, 16, "random-matching", "Ghosh and Muthukrishnan 1996",                                \
      "pairs drawn at random, each levels")                                                                  \
    X(WHOLE_DIFFUSION, 17, "whole-diffusion", "Rabani et al. 1998", "diffusion of whole units, rounded down")

enum lbm_policy {
#define LBM_POLICY_ENUM(id, number, name, source, text) LBM_POLICY_##id = number,
    LBM_POLICY_LIST(LBM_POLICY_ENUM)
#undef LBM_POLICY_ENUM
        LBM_POLICY_COUNT = 0 LBM_POLICY_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_POLICY_LIST, LBM_POLICY_COUNT);

const char *lbm_policy_name(enum lbm_policy policy);
const char *lbm_policy_source(enum lbm_policy policy);

/* ---- the network --------------------------------------------------------------------------------- */

/* H as policies see it. Calls ARPACK: one thread at a time. */
struct lbm_network {
    const struct lbm_hosts *h; /* borrowed */
    struct lbm_colouring colouring;
    struct lbm_laplacian laplacian;
    double *share;        /* [n] capacities scaled to a mean of 1 */
    int equal;            /* all shares are 1 */
    double sum_rounds[2]; /* by enum lbm_ports: to add up a number of each host and tell all, along a tree */
    struct lbm_known *known; /* what rules have computed: they borrow it */
};

/* Errors: LBM_E_NOMEM; LBM_E_STATE if the spectrum is not to be had. */
enum lbm_err lbm_network_make(const struct lbm_hosts *h, struct lbm_network *out,
                              struct lbm_diag *diag) LBM_MUST_CHECK;
void lbm_network_free(struct lbm_network *net);

/* CYB89 Lemma 2: the best alpha for all links alike that takes from no host more than it has; 0 without
 * links. */
double lbm_alpha_feasible(const struct lbm_network *net);

/* ---- rules: a policy with its parameters --------------------------------------------------------- */

/* What a step costs. One port: a host talks to one neighbour at a time, so that a step of diffusion takes as
 * many rounds as there are colours. All ports: to all at once. A step of exchange is one round in both. */
enum lbm_ports { LBM_PORTS_ONE, LBM_PORTS_ALL };

enum lbm_alpha {
    LBM_ALPHA_OPTIMAL,    /* the best for all links alike: 2 / (lambda_2 + lambda_max) */
    LBM_ALPHA_SAFE,       /* 1 / (largest degree + 1) */
    LBM_ALPHA_GIVEN,      /* a number */
    LBM_ALPHA_FEASIBLE,   /* CYB89 Lemma 2: the best that takes from no host more than it has */
    LBM_ALPHA_METROPOLIS, /* of each link: 1 / (1 + the larger degree) */
    LBM_ALPHA_OPTIMIZED,  /* of each link: the smallest gamma (Xiao and Boyd 2004) */
    LBM_ALPHA_LINKS,      /* of each link, given: CYB89's alpha_ij */
};

enum lbm_stop {
    LBM_STOP_BALANCED,   /* SAN: no host further from its balanced load than bound times the mean load */
    LBM_STOP_NEIGHBOURS, /* XL95 section 5: no two linked hosts differ by more than bound */
    LBM_STOP_QUIESCENT,  /* XL95: a sweep in which nothing moves; that sweep counts */
};

/* A step that was done. */
struct lbm_balance_step {
    uint64_t step; /* from 1 */
    double deviation, moved;
    const double *load, *flow; /* [n], [n_links] */
};

struct lbm_rule;

struct lbm_balance_options {
    enum lbm_policy policy;
    const struct lbm_rule *rule; /* made before by lbm_rule_make, for many runs; or NULL */
    enum lbm_ports ports;        /* for auto, and for the cost that is told */
    int integer;
    int nonnegative; /* auto leaves out what may take more from a host than it has */
    enum lbm_alpha alpha_rule;
    double alpha;                                  /* LBM_ALPHA_GIVEN */
    const double *link_alpha;                      /* [n_links] LBM_ALPHA_LINKS; borrowed */
    uint32_t lambda_numerator, lambda_denominator; /* of gde; 0: lambda_opt */
    uint32_t low;                                  /* of cwa: dimensions by OEM before it; 0: none */
    double constant;                               /* c of random-load; 0: the best for the bound */
    double transfer; /* rounds that the mean load takes over a link; 0: usual, < 0: none */
    int daemons; /* auto: of what daemons can run, loads of any fraction too; what they carry is rounded */
    enum lbm_stop stop;
    double bound;       /* see enum lbm_stop; > 0 for real loads */
    uint64_t steps_max; /* 0: as many as the spectrum lets expect, and some more */
    uint64_t seed;      /* edge-remap's links; auto's trials */
    void (*trace)(void *arg, const struct lbm_balance_step *step); /* told of every step, or NULL */
    void *trace_arg;
};

struct lbm_rule {
    enum lbm_policy policy;   /* not auto */
    double alpha;             /* of diffusion and its accelerations: of every link, or the largest */
    const double *link_alpha; /* [n_links] of each link, or NULL; of the network or the options */
    const double *pole;       /* [n_poles] ops: eigenvalues as they are taken out; of the network */
    uint32_t n_poles;         /* as many as there are, or more: some are repeated against rounding */
    double lambda;            /* of exchange */
    uint32_t lambda_numerator, lambda_denominator; /* the same for integers */
    uint32_t low; /* of cwa: dimensions, from the lowest on, that OEM takes before (RJK03 section 5.5) */
    double gamma; /* what a step of diffusion, a sweep of exchange leaves of the slowest deviation; or NAN */
};

/* Fill in the parameters that options leave to the policy; for auto choose it (lbm_advise).
 * Errors: LBM_E_UNSUPPORTED (why a policy does not fit these hosts or loads), LBM_E_RANGE, LBM_E_STATE,
 *         LBM_E_NOMEM. */
enum lbm_err lbm_rule_make(const struct lbm_network *net, const struct lbm_balance_options *options,
                           struct lbm_rule *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* lambda = 1 - c/(ln side)^(1/d) of random-load (SAN Conjecture 21; n is the side of n^d hosts, as in the
 * paper). In: d 1 to 3; bound > 0; constant c, 0: the best that was measured for the bound.
 * Returns 1/2 or more, and no more than is optimal for the slowest mode of a mesh (XL95). */
double lbm_random_load_lambda(unsigned d, double side, double bound, double constant);

/* ---- one link: what a host can do that sees its neighbours alone -------------------------------- */

/* Which links have their turn in a step. */
enum lbm_turns {
    LBM_TURNS_ALL,     /* diffusion: all at once */
    LBM_TURNS_COLOURS, /* exchange: those of one colour; hypercube rules: of one dimension */
    LBM_TURNS_DRAWN,   /* edge-remap: one, drawn at random */
    LBM_TURNS_GLOBAL,  /* cwa, potentials: a link's flow depends on all loads */
    LBM_TURNS_MATCHED, /* random-matching: those whose number drawn is the least at both ends */
};
enum lbm_turns lbm_policy_turns(enum lbm_policy policy);
int lbm_policy_is_integer(enum lbm_policy policy);      /* defined for whole units */
int lbm_policy_ends_in_a_sweep(enum lbm_policy policy); /* hypercube rules */
/* Nonzero if hosts can run it that know their neighbours' loads, the host graph and a number or two. */
int lbm_policy_is_local(enum lbm_policy policy);

/* What the step t has in common for all links, of diffusion and its accelerations. */
struct lbm_pace {
    double keep, factor; /* of the last flow; of alpha times the difference */
};
/* In/out: *omega of the step before. */
void lbm_pace_of(const struct lbm_rule *rule, uint64_t t, double *omega, struct lbm_pace *out);

/* The ends of a link before a step, p < q; what it carried in the step before. */
struct lbm_ends {
    double load_p, load_q, share_p, share_q, last;
    double alpha; /* of the link: lbm_rule_alpha */
};
/* alpha of a link whose ends have that many links and such shares; i its number in rule->link_alpha, if it
 * has that. */
double lbm_rule_alpha(const struct lbm_rule *rule, uint32_t i, uint32_t degree_p, uint32_t degree_q,
                      double share_p, double share_q);
/* What a link draws in a step of random-matching: the same at every host. The link is in the matching if no
 * other link at either end has drawn less, or the same with a smaller number. */
uint64_t lbm_matching_draw(uint64_t seed, uint64_t step, uint32_t link);

/* What the link carries in the step, > 0 from p to q: that of lbm_balancer_step, on one link. pace may be
 * NULL but for LBM_TURNS_ALL. Not for LBM_TURNS_GLOBAL. */
double lbm_rule_flow(const struct lbm_rule *rule, int integer, const struct lbm_pace *pace,
                     const struct lbm_ends *ends);

/* ---- stepping ------------------------------------------------------------------------------------ */

struct lbm_balancer;

/* Errors: LBM_E_NOMEM. net is borrowed. Owned by the caller: lbm_balancer_free. */
enum lbm_err lbm_balancer_make(const struct lbm_network *net, const struct lbm_rule *rule, int integer,
                               uint64_t seed, struct lbm_balancer **out) LBM_MUST_CHECK;
void lbm_balancer_free(struct lbm_balancer *b);

/* One step: an iteration of diffusion; a colour of an exchange; a dimension of a hypercube rule; as many
 * draws of edge-remap as there are links. In/out:  load [n].  Out: flow [n_links of the colouring] what each
 * link carried, > 0 from its p to its q. Returns  the work that was moved, the sum of |flow|. */
double lbm_balancer_step(struct lbm_balancer *b, double *load, double *flow);

/* Steps of a sweep: after that many each link had its turn. */
uint32_t lbm_balancer_sweep(const struct lbm_balancer *b);

/* ---- runs ---------------------------------------------------------------------------------------- */

struct lbm_balance_result {
    struct lbm_rule rule;
    uint64_t steps;
    double sweeps;
    double rounds;            /* in the model of communication of the options */
    uint64_t messages;        /* each link in use tells both ends, once a step */
    double moved;             /* work units times links, of all steps */
    struct lbm_flow_size net; /* what is left when opposite flows of different steps cancel */
    double cost;              /* rounds, and those that the busiest link takes for its net flow */
    uint64_t moves;           /* links that carried anything, over all steps */
    double deviation;         /* SAN's: largest |w_p / share_p - mean| over the mean; 0 if there is no load */
    double difference;        /* largest of two linked hosts, work units at equal shares */
    double spread;            /* largest load less the least, at equal shares */
    double collection;        /* rounds to collect all loads before the first step, counted in rounds: cwa */
    double largest_negative;  /* the most a load fell below 0 on the way, work units */
    uint64_t
        detected; /* exchange until quiescent: the sweep after which every host knows (XL95); 0: not asked */
    int settled;
    char why[1024]; /* how it ended, or why it does not settle, naming the theorem; why auto chose */
};

/* Run until the loads are level.
 * In/out:  load [n] >= 0.  Out: flow [n_links] of all steps together, or NULL; *result.
 * Errors:  as lbm_rule_make; LBM_E_RANGE (negative or fractional loads, a bound of 0 for real loads). */
enum lbm_err lbm_balance_run(const struct lbm_network *net, const struct lbm_balance_options *options,
                             double *load, double *flow, struct lbm_balance_result *result,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

enum { LBM_TRANSFER_USUAL = 128 };

/* Time, in rounds, of a flow computation and of the transfers that it asks for: rounds + transfer busiest /
 * mean, since links carry at once and the busiest is the last. Source: RJK03 section 6 for transfers in time.
 */
double lbm_balance_cost(double rounds, double transfer, double busiest, double mean);

/* How far from level, as in the result: over the mean. */
double lbm_balance_deviation(const struct lbm_network *net, const double *load);

/* CYB89 (12): between two steps every host gets new work and does some. */
struct lbm_arrivals {
    double mean, deviation; /* of what arrives at a host, uniform, >= 0: deviation at most mean / sqrt(3) */
    double service;         /* what a host does; loads may go below 0, as in the paper */
    uint32_t every;         /* steps of the policy between two arrivals; 0: 1 */
};

struct lbm_service_result {
    double variance; /* mean of ||w - balanced||^2 over the steps that were measured */
    double bound;    /* CYB89 Theorem 2, (n - 1) sigma^2 / (1 - gamma^2); NAN where it does not hold */
};

/* Run warm_up + steps steps from no load.  Errors: as lbm_rule_make; LBM_E_RANGE. */
enum lbm_err lbm_balance_serve(const struct lbm_network *net, const struct lbm_balance_options *options,
                               const struct lbm_arrivals *arrivals, uint64_t warm_up, uint64_t steps,
                               struct lbm_service_result *result, struct lbm_diag *diag) LBM_MUST_CHECK;

/* The same in closed form, over sigma^2. bound: CYB89 Theorem 2 after `steps` steps from level loads,
 * INFINITY in the end. On a hypercube of 2^d hosts what is exact: of diffusion with alpha after `steps`; of
 * dimension exchange in the end, `every` dimensions an arrival (Theorem 5). */
double lbm_variance_bound(double n, double gamma, double steps);
double lbm_variance_diffusion(unsigned d, double alpha, double steps);
double lbm_variance_exchange(unsigned d, unsigned every);

/* ---- advice -------------------------------------------------------------------------------------- */

struct lbm_candidate {
    struct lbm_rule rule;
    double steps; /* expected, to the bound of the options; loads drawn as SAN does */
    double sweeps;
    double rounds; /* in the model of communication asked for */
    double messages;
    struct lbm_flow_size net; /* net flow, over the mean load; NAN if not tried */
    double cost;              /* in rounds; if not tried, no more than a lower bound */
    int tried;                /* on drawn loads; else from the spectrum alone */
};

struct lbm_advice {
    struct lbm_candidate candidate[LBM_POLICY_COUNT]; /* cheapest first */
    unsigned n;
    struct lbm_flow_size least; /* that any flow has which levels the same loads, over the mean load */
    double transfer;            /* of the options, or usual */
    char why[640];              /* why the first is the first */
};

/* Predict every policy that fits: rounds from the spectrum; rounds and net flow, of those that may be the
 * cheapest, on loads drawn as SAN does, uniform between 0 and twice the mean.
 * Errors: LBM_E_NOMEM, LBM_E_STATE. */
enum lbm_err lbm_advise(const struct lbm_network *net, const struct lbm_balance_options *options,
                        struct lbm_advice *out, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
