/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Guests, hosts and mappings for the tests of lib/map. */
#ifndef LBM_TESTS_UNIT_MAP_MAP_FIXTURE_H
#define LBM_TESTS_UNIT_MAP_MAP_FIXTURE_H

#include "graph/graph.h"
#include "map/map.h"

/* A random guest: n vertices, at most m edges of weight 1 to `heaviest`, work of 1 to `hardest`. */
struct lbm_graph map_guest(uint32_t n, uint32_t m, uint32_t heaviest, uint32_t hardest, struct lbm_rng *rng);

/* A guest by a generator's spec. */
struct lbm_graph map_guest_by_spec(const char *spec);

/* Hosts by a spec; the i-th of some that differ in kind, of at most 24 hosts. */
struct lbm_hosts map_hosts(const char *spec);
struct lbm_hosts map_hosts_some(unsigned i);
enum { MAP_HOSTS_SOME = 10 };

/* Each vertex on a random host. */
uint32_t *map_chunk(const struct lbm_graph *g, uint32_t n_hosts, struct lbm_rng *rng);

/* Pin each vertex with probability 1 in `rarity`, where it is. */
void map_pin_some(struct lbm_graph *g, const uint32_t *part, uint32_t rarity, struct lbm_rng *rng);

uint64_t map_excess_of(const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part,
                       const uint64_t *limit);

#endif
