/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generalized dimension exchange over all links of a network, sweep after sweep.
 * Source: XL95 section 2. The pairs come from lib/host's colouring, the exchange of a pair from lib/balance.
 */
#ifndef LBM_SIM_TABLES_EXCHANGE_H
#define LBM_SIM_TABLES_EXCHANGE_H

#include "base/rng.h"
#include "host/host.h"

/* Links by colour: those of colour c are pair[first[c] .. first[c + 1]). */
struct exchange {
    uint32_t n, colours;
    uint32_t *first;
    uint32_t (*pair)[2];
};

/* A rational exchange parameter: doubles round differently at .6 .7 .85 .95. */
struct ratio {
    uint32_t numerator, denominator;
};

enum lbm_err exchange_of_spec(const char *spec, struct exchange *out) LBM_MUST_CHECK;

/* A k-ary n-cube of any dimension, dimension by dimension (XL95 section 3); k even. */
enum lbm_err exchange_of_cube(uint32_t k, uint32_t dimensions, struct exchange *out) LBM_MUST_CHECK;

void exchange_free(struct exchange *e);

/* Sweeps until nothing moves, the last one, in which nothing moved, included; integer loads. */
uint32_t exchange_sweeps(const struct exchange *e, struct ratio lambda, uint64_t *load);

/* Sweeps until the loads of all neighbours differ by at most 1; real loads. */
uint32_t exchange_sweeps_real(const struct exchange *e, double lambda, double *load);

/* Integer loads uniform on [0, 2 mean - 1]. */
void exchange_loads(struct lbm_rng *rng, uint32_t mean, uint32_t n, uint64_t *load);

#endif
