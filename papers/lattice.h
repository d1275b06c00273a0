/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97's model problem (section 4): a lattice of side x side vertices diffuses in the unit square, its
 * perimeter or its corners pinned. Graph, pins, starts and sweeps are those of lib/graph and lib/embed;
 * errors are measured here. */
#ifndef LBM_PAPERS_LATTICE_H
#define LBM_PAPERS_LATTICE_H

#include "embed/embed.h"

struct lattice {
    uint32_t side;
    struct lbm_graph graph;
    uint8_t *pinned; /* [n] */
    double *x;       /* [2n] */
};

enum lbm_err lattice_open(uint32_t side, struct lattice *out) LBM_MUST_CHECK;
void lattice_close(struct lattice *l);

/* Release all pins but those of the corners. */
void lattice_pin_corners(struct lattice *l);

/* `sweeps` in an order of lib/embed; LBM_ORDER_JACOBI is the iteration that the paper analyses.
 * Errors: LBM_E_NOMEM. */
enum lbm_err lattice_sweep(struct lattice *l, enum lbm_order order, uint32_t sweeps,
                           struct lbm_rng *rng) LBM_MUST_CHECK;

/* Largest distance of a vertex from its place in the solution, in cells (distances of lattice neighbours). */
double lattice_error(const struct lattice *l);

/* Amplitude of the error's mode sin(pi i u) sin(pi j v), 1 <= i, j <= side - 2, along axis 0 or 1. */
double lattice_amplitude(const struct lattice *l, uint32_t i, uint32_t j, unsigned axis);

#endif
