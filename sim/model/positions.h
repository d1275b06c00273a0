/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks into a node, for what it tells nobody. Apart from the other files of the model, whose names meet the
 * node's. */
#ifndef LBM_SIM_MODEL_POSITIONS_H
#define LBM_SIM_MODEL_POSITIONS_H

#include "node/node.h"

/* Where a node has the vertices below n that it owns, in Omega.
 * In/out: x [n * dimensions of the sites]; *sweeps: at least those of its jobs. Returns how many it has read.
 */
uint32_t node_positions(struct lbm_node *node, uint32_t n, double *x, uint64_t *sweeps);

#endif
