/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One large cluster: what its nodes cost, each and together, while hosts join, leave and are lost. */
#ifndef LBM_SIM_EXPERIMENT_SCALE_H
#define LBM_SIM_EXPERIMENT_SCALE_H

#include "base/err.h"
#include "sim/model/cluster.h"

struct scale_options {
    const char *hosts, *guest; /* specs, as lbctl has them */
    double churn;              /* share of the hosts that joins, and of those that leave */
    double minutes;            /* in which they do */
    double loss;               /* of messages that may be lost, ghosts among them */
    uint64_t seed;
    enum lbm_start start;
    uint32_t holders; /* hosts that submit a slice of the guest each; 1: host 0 has it all */
    uint32_t copies;  /* of each record */
    int is_formed;    /* hosts are members from the beginning */
    int is_scattered; /* vertices are numbered at random, so slices hold few neighbours */
    int json, quiet;
};

/* Stretches of time that are measured apart. */
#define SCALE_PHASE_LIST(X)                                                                                  \
    X(JOINING, "joining")        /* from the leader alone until all are active */                            \
    X(SETTLING, "settling")      /* from the job's submission until it has settled */                        \
    X(IDLE, "idle")              /* a minute in which nothing happens */                                     \
    X(CHURN, "churn")            /* hosts join, leave and are lost */                                        \
    X(RESTING, "coming to rest") /* from the last of these until the job has settled */

enum scale_phase {
#define SCALE_PHASE_ENUM(id, text) SCALE_##id,
    SCALE_PHASE_LIST(SCALE_PHASE_ENUM)
#undef SCALE_PHASE_ENUM
        SCALE_PHASE_COUNT
};

/* What one phase took of the hosts that were up at its end. */
struct scale_cost {
    double virtual_s, wall_s;
    uint32_t hosts;
    uint64_t entries; /* of the control log */
    struct scale_mean {
        double mean, most;
    } messages, bytes, steps, transactions, node_ms;
};

struct scale_result {
    uint32_t n_hosts;  /* in the graph of hosts */
    uint32_t n_active; /* at the end */
    uint32_t vertices;
    uint32_t joined, left, lost;
    int settled;      /* at the end, each vertex with one owner */
    char why[200];    /* if not */
    uint64_t moved;   /* handoffs, all hosts */
    uint64_t sweeps;  /* of diffusion, by the host that did most */
    uint64_t plans;   /* that hosts have asked for */
    double hop_bytes; /* J */
    double imbalance; /* largest load over its target, less one */
    double dilation;  /* mean hops of an edge, by bandwidth, if every vertex has an owner */
    uint64_t hash;
    long memory_kib; /* peak of the process */
    struct scale_cost cost[SCALE_PHASE_COUNT];
};

/* Errors: LBM_E_SYNTAX, LBM_E_RANGE (a spec, diag says which). */
enum lbm_err scale_run(const struct scale_options *options, struct scale_result *result,
                       struct lbm_diag *diag) LBM_MUST_CHECK;

void scale_print(const struct scale_options *options, const struct scale_result *result);

#endif
