/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that drift in a cluster in virtual time: the load of a corner of the hosts doubles in steps, then
 * that of the next corner instead, and so on; then loads are constant, then reports are noisy.
 *
 * Owns: the course, and what is compared with it: fresh plans, and the least flow that balance asks for.
 * Never: decides what moves. */
#ifndef LBM_SIM_EXPERIMENT_DRIFT_H
#define LBM_SIM_EXPERIMENT_DRIFT_H

#include "base/err.h"
#include "host/host.h"

enum { DRIFT_STEPS_MAX = 400, DRIFT_FRESH_MAX = 99 };

struct drift_options {
    const char *hosts, *guest;
    uint32_t ramps, steps;   /* corners, one after the other; steps of each */
    double seconds;          /* of a step */
    uint32_t plans;          /* compare with fresh plans every that many steps; 0: never */
    uint32_t fresh;          /* that many, each drawn from another seed, of which the middle one counts */
    double noise;            /* of each report, at most, relative */
    double still_s, noisy_s; /* with constant loads, and with noise, in the end */
    double imbalance;        /* bound of the job */
    int remap;               /* no cluster: each step is planned again from the mapping there is */
    double cost;             /* its migration cost; 0: the usual one */
    uint64_t seed;
    const char *maps; /* write what there is after each ramp to this directory, or NULL */
    int json, quiet;
};

struct drift_step {
    double before, after;      /* imbalance when the step has begun, and when it is over */
    double back_s;             /* within 5 % from then on; < 0: never */
    double least, flow;        /* work over the limits; least work over links that leaves none there */
    double moved;              /* work that is elsewhere afterwards */
    uint64_t hop_bytes, fresh; /* afterwards; fresh, the median, 0: not compared */
    uint64_t luckiest;         /* least of the fresh plans */
    double most;               /* hop_bytes over fresh at any moment of it */
};

struct drift_rest {
    double seconds;
    uint64_t handed; /* vertices that were handed over */
    double a_minute; /* part of the vertices that is handed over a minute */
};

struct drift_result {
    uint32_t n_hosts, vertices;
    char why[200]; /* empty: all went well */
    uint32_t n;
    struct drift_step step[DRIFT_STEPS_MAX];
    double least, flow, moved; /* sums */
    double handed;             /* work that was handed over, with all stops on its way */
    double worst, worst_ever;  /* hop_bytes over that of a fresh plan: after steps, at any moment */
    double mean_ratio;
    double luckiest; /* after steps over the least of the fresh plans, at most */
    double slowest_s;
    uint32_t late; /* steps that were not back within 5 % in 5 s */
    struct drift_rest still, noisy;
    uint64_t messages, bytes; /* while loads drift */
    uint64_t hash;
};

/* Least work over links, counted on each, after which no host has more than limit [h->n] of load [h->n].
 * Errors: LBM_E_NOMEM. */
enum lbm_err drift_least_flow(const struct lbm_hosts *h, const double *load, const double *limit,
                              double *out) LBM_MUST_CHECK;

/* Errors: LBM_E_SYNTAX, LBM_E_RANGE, and of files; diag says which. */
enum lbm_err drift_run(const struct drift_options *options, struct drift_result *result,
                       struct lbm_diag *diag) LBM_MUST_CHECK;
void drift_print(const struct drift_options *options, const struct drift_result *result);

#endif
