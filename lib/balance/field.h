/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads on lines, rings, squares and cubes of up to 10^9 hosts: too many for a host graph.
 * Source: SAN sections 2 to 6: real loads, equal hosts, the maximum norm. The flow of a link is that of
 * lib/balance's policies, its two ends being equal.
 *
 * Owns: the loads of one field, and runs on fields too large to be held, a block at a time. */
#ifndef LBM_BALANCE_FIELD_H
#define LBM_BALANCE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LBM_FIELD_DIMENSIONS_MAX = 3 };

/* side^d hosts. Host (x, y, z) has the number x + side (y + side z). */
struct lbm_field {
    unsigned d;
    uint32_t side;
    int ring; /* d = 1, diffusion only: the ends are linked */
    size_t n;
    double *load; /* [n] */
    double *next; /* [n] */
};

/* Errors: LBM_E_NOMEM.  The caller closes it. */
enum lbm_err lbm_field_open(unsigned d, uint32_t side, int ring, struct lbm_field *out) LBM_MUST_CHECK;
void lbm_field_close(struct lbm_field *f);

/* Independent loads, uniform on [0, 2): what a host gets depends on seed and its number alone. */
void lbm_field_draw(struct lbm_field *f, uint64_t seed);
/* The slowest mode, 1 + cos along the first axis (SAN Theorem 4). */
void lbm_field_cosine(struct lbm_field *f);

/* Largest deviation from the mean, relative to it. */
double lbm_field_error(const struct lbm_field *f);

/* A step of diffusion (SAN eq. (1)); a sweep of generalized dimension exchange, axis by axis, links that
 * begin at even places before the others. */
void lbm_field_diffuse(struct lbm_field *f, double alpha);
void lbm_field_exchange(struct lbm_field *f, double lambda);

/* A run on drawn loads. lambda 0: diffusion with alpha, else sweeps of exchange. */
struct lbm_field_run {
    unsigned d;
    uint32_t side;
    int ring;
    double lambda, alpha;
    double bound; /* of the error, > 0 */
    uint64_t seed;
};

/* Steps or sweeps until the error is at most the bound (SAN Definition 1). A field of more than some 2^20
 * hosts is computed a block at a time, each with a border as wide as what may come in from outside.
 * Errors: LBM_E_NOMEM; LBM_E_LIMIT after LBM_FIELD_STEPS_MAX steps. */
enum { LBM_FIELD_STEPS_MAX = 1 << 24 };
enum lbm_err lbm_field_time(const struct lbm_field_run *run, uint32_t *steps) LBM_MUST_CHECK;

/* Load of one host after `steps` of diffusion with alpha 1/(2 d), in closed form: each unit walks at random,
 * and the field goes on beyond its border as its mirror image. start [side^d], d 1 (SAN Theorem 5) or 2
 * (Theorem 15). Cost: O(steps^d). */
double lbm_field_closed(const double *start, unsigned d, uint32_t side, uint32_t steps, size_t host);

#endif
