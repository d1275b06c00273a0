/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Guests and points for the tests of lib/embed. Everything fails the test if it cannot be made. */
#ifndef LBM_TESTS_UNIT_EMBED_EMBED_FIXTURE_H
#define LBM_TESTS_UNIT_EMBED_EMBED_FIXTURE_H

#include "base/rng.h"
#include "graph/graph.h"

/* The guest of a generator's spec, seed 1. */
struct lbm_graph embed_generate(const char *spec);

struct lbm_graph embed_build(uint32_t n, const struct lbm_edge *edges, size_t n_edges);

/* n points of m coordinates, uniform in the unit box. */
double *embed_points(size_t n, unsigned m, struct lbm_rng *rng);

/* Fails the test unless n values differ by at most `tolerance`. */
void assert_close(const double *a, const double *b, size_t n, double tolerance);

#endif
