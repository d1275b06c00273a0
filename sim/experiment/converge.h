/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 section 7 asserts that diffusion converges in spite of delay and loss: how many sweeps it takes.
 * The model problem, a lattice with its perimeter pinned, is mapped by the nodes from the centre. */
#ifndef LBM_SIM_EXPERIMENT_CONVERGE_H
#define LBM_SIM_EXPERIMENT_CONVERGE_H

#include "base/err.h"
#include "sim/model/cluster.h"

struct converge_options {
    const char *hosts; /* spec; sites in the plane */
    uint32_t side;     /* of the lattice */
    double cells;      /* the largest error that is good enough */
    uint64_t seed;
    int follow; /* nonzero: records follow regions, as in a job; else each vertex is where it will lie in the
                   end */
};

struct converge_result {
    uint64_t sweeps; /* of the host with the most, when the error was small enough; or when it was given up */
    double error;    /* largest distance of a vertex from its place then, in cells */
    double virtual_s; /* since the job was submitted */
    int converged;
    char why[200]; /* if not */
};

/* In:     delay_sweeps: each message between hosts takes as long as that many sweeps; loss: of messages that
 * may be lost, ghosts among them, in [0, 1). Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_UNSUPPORTED (a spec,
 * diag says which), LBM_E_NOMEM. */
enum lbm_err converge_run(const struct converge_options *options, double delay_sweeps, double loss,
                          struct converge_result *result, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
