/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fault comes while a job maps: how long it takes to settle on what is left, and how well. */
#ifndef LBM_SIM_EXPERIMENT_DISTURB_H
#define LBM_SIM_EXPERIMENT_DISTURB_H

#include "base/err.h"
#include "sim/model/cluster.h"

/* Rows: identifier, name, what it is. ABSENT is what STOPS and DIES are compared with. */
#define DISTURB_LIST(X)                                                                                      \
    X(NONE, "none", "nothing happens")                                                                       \
    X(ABSENT, "absent", "the host is not there from the start")                                              \
    X(STOPS, "stops", "the daemon of the host stands still")                                                 \
    X(DIES, "dies", "the daemon of the host is killed")                                                      \
    X(LAGS, "lags", "the link to a neighbour takes 500 ms each way, from the start")                         \
    X(LOSES, "loses", "10 % of ghosts and other messages that may be lost are")

enum disturbance {
#define DISTURB_ENUM(id, name, text) DISTURB_##id,
    DISTURB_LIST(DISTURB_ENUM)
#undef DISTURB_ENUM
};

struct disturb_options {
    const char *hosts, *guest; /* specs, as lbctl has them */
    uint32_t parts;            /* the first hosts read one each; 0: host 0 reads all */
    int is_shuffled;           /* ids of vertices are drawn: neighbours begin anywhere */
    uint32_t victim;
    double after_s; /* of phase MAPPING */
    uint64_t seed;
    enum lbm_start start;
    int traces; /* print what hosts note */
};

struct disturb_result {
    uint32_t vertices;
    double first_s;         /* from the submission until it is first said to have settled, */
    double first_imbalance; /* and what it was then */
    double virtual_s;       /* until it has settled for good */
    double imbalance, dilation;
    double moved; /* handoffs, in parts of vertices */
    int settled;
    char why[200]; /* if not */
};

/* Errors: LBM_E_SYNTAX, LBM_E_RANGE (an option, diag says which), LBM_E_NOMEM. */
enum lbm_err disturb_run(const struct disturb_options *options, enum disturbance disturbance,
                         struct disturb_result *result, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
