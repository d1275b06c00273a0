/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs for tests. */
#ifndef LBM_TESTS_UNIT_GRAPH_GRAPH_FIXTURE_H
#define LBM_TESTS_UNIT_GRAPH_GRAPH_FIXTURE_H

#include "base/rng.h"
#include "graph/graph.h"

/* A random graph of n vertices and at most m edges, often disconnected; with weights, positions and pins if
 * `dressed`. Fails the test if memory is short. */
struct lbm_graph graph_random(uint32_t n, uint32_t m, int dressed, struct lbm_rng *rng);

/* Fails the test unless both have the same vertices and edges with the same weights. */
void assert_graph_equal(const struct lbm_graph *a, const struct lbm_graph *b);

/* Nonzero if v lists u. */
int graph_lists(const struct lbm_graph *g, uint32_t v, uint32_t u);

#endif
