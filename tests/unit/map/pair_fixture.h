/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of one pair of hosts, for the tests of refinement and of cuts. */
#ifndef LBM_TESTS_UNIT_MAP_PAIR_FIXTURE_H
#define LBM_TESTS_UNIT_MAP_PAIR_FIXTURE_H

#include "base/rng.h"
#include "graph/graph.h"
#include "map/map.h"

/* A round and what it starts from. */
struct trial {
    struct lbm_hosts h;
    struct lbm_graph g;
    uint32_t *part, *before;
    uint32_t *member, *moved;
    uint8_t *fixed;
    struct lbm_pair pair;
};

/* A random guest, two random hosts, and nine in ten of their vertices as members, a tenth of them fixed. */
void trial_open(struct trial *t, unsigned i, uint32_t n, struct lbm_rng *rng);
void trial_close(struct trial *t);

/* Nonzero if the id is one of n. */
int trial_lists(const uint32_t *ids, uint32_t n, uint32_t id);

/* What holds after every round. */
void trial_expect(const struct trial *t, int64_t gain, uint32_t n_moved);

#endif
