/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hosts split by halves until each group is one host, and the group graph of every depth. Hosts near each
 * other stay together, so halves of clustered hosts are only about as large as each other. */
#ifndef LBM_MAP_INITIAL_HOST_TREE_H
#define LBM_MAP_INITIAL_HOST_TREE_H

#include "host/host.h"

/* One depth: groups of hosts, and the graph in which each group is a host. A group of depth d has its one or
 * two halves at first_half[group] of depth d + 1, the second next to the first. */
struct host_groups {
    uint32_t *first_half;   /* [hosts.n] unused at the last depth */
    uint32_t *group_of;     /* [real hosts] */
    struct lbm_hosts hosts; /* links where a link joins members; no sites. dist is in units of the tree */
};

struct host_tree {
    uint32_t depths; /* >= 1; depth 0 is one group, the last one host a group */
    struct host_groups *at;
};

/* Halve along the pair of hosts whose halves share the fewest links, and of these lie closest together.
 * In:     unit: how many units of a group distance make one of H; these are means and kept as whole numbers.
 *         The largest distance times unit fits 32 bits.
 * Errors: LBM_E_NOMEM. */
enum lbm_err host_tree_build(const struct lbm_hosts *h, uint32_t unit, struct host_tree *out) LBM_MUST_CHECK;
void host_tree_free(struct host_tree *tree);

#endif
