/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RJK03's event simulation (section 4) of a hypercube of queues that is balanced whenever a processor is
 * overloaded.
 *
 * The paper gives parameters, not the whole model. Taken here: service takes an exponential time of mean 1,
 * first come first served; processor p gets processes as a Poisson stream of a rate drawn uniformly, so that
 * all processors together are busy 55 % of the time. Every 10 time units each processor looks how much of
 * that time it was busy; if one was so for more than 55 %, the loads (all that wait or are served) are
 * balanced by DEM or OEM. Transfers take no time, since loads do not change during a balancing. */
#ifndef LBM_PAPERS_QUEUE_H
#define LBM_PAPERS_QUEUE_H

#include "papers/cube.h"

struct queue_result {
    double difference; /* mean of the largest difference after a balancing */
    double response;   /* mean time from arrival to departure, by Little's law; mean service times */
    double length;     /* mean queue */
    double busy;       /* mean utilization */
    double balancings;
};

/* One run, until a stream of mean rate has brought `processes`. Errors: LBM_E_NOMEM. */
enum lbm_err queue_simulate(struct cube *cube, enum lbm_policy policy, uint32_t processes,
                            struct lbm_rng *rng, struct queue_result *out) LBM_MUST_CHECK;

#endif
