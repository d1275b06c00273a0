/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balancing on lines, rings and square meshes of up to millions of processors, as arrays: too many for a host
 * graph with its routing. Source: SAN sections 2 to 6; real loads, stop criterion in the maximum norm. */
#ifndef LBM_SIM_TABLES_FIELDS_H
#define LBM_SIM_TABLES_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"

/* side (x side if square) loads; ring: the ends are linked. */
struct field {
    uint32_t side;
    int square, ring;
    size_t n;
    double *load; /* [n] */
    double *next; /* [n] */
};

enum lbm_err field_open(uint32_t side, int square, int ring, struct field *out) LBM_MUST_CHECK;
void field_close(struct field *f);

void field_random(struct field *f, struct lbm_rng *rng); /* uniform on [0, 2] */
void field_cosine(struct field *f);                      /* the slowest mode, 1 + cos along the first axis */

/* Largest deviation from the mean, relative to it. */
double field_error(const struct field *f);

/* One step of diffusion, alpha 1/2 on lines and rings, 1/4 on meshes (SAN eq. (1)). */
void field_diffuse(struct field *f);

/* One sweep of generalized dimension exchange, axis by axis; lines and meshes without wrap. */
void field_exchange(struct field *f, double lambda);

#endif
