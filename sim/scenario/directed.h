/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known to be delicate, step by step. */
#ifndef LBM_SIM_EXPERIMENT_DIRECTED_SCENARIOS_H
#define LBM_SIM_EXPERIMENT_DIRECTED_SCENARIOS_H

#include "sim/faults/faults.h"

enum { STEPS_MAX = 9, DIRECTED_ANY_ENGINE = LBM_LOG_ENGINE_COUNT };

/* That many milliseconds, and up to that many more. */
struct span {
    uint32_t ms, spread_ms;
};

/* It is due `after` the step before has happened, waits a while for its trigger at a host, and `then` longer.
 */
struct step {
    enum fault_kind kind;
    enum role role, role_b; /* to whom it happens, see struct fault */
    enum held held;
    struct span after;
    enum trigger trigger;
    enum role at;
    struct span then, lasts;
    struct span late; /* how much, of a lag; {0, 0}: as drawn */
};

struct directed_scenario {
    struct step step[STEPS_MAX];
    uint32_t n;
    enum role limited; /* refuses what it is offered; ROLE_ANY: nobody */
    uint32_t room;     /* that many it takes at most; 0: some */
    uint32_t engine;   /* enum lbm_log_engine, or DIRECTED_ANY_ENGINE */
    uint32_t hosts;    /* at least; 0: as drawn */
    int empty;         /* nonzero: no job before it, a step submits one */
    int work;          /* nonzero: an application on each host, and it obeys */
    uint32_t more;     /* that many times more often than others: it seldom gets to its end */
};

extern const struct directed_scenario directed_scenarios[];
extern const uint32_t n_directed_scenarios;

#endif
