/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flows from a source to a sink through a network whose arcs let as much through one way as the other. */
#ifndef LBM_MAP_FLOW_FLOW_NETWORK_H
#define LBM_MAP_FLOW_FLOW_NETWORK_H

#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

/* A node has at most one of source and sink: its terminal is what the source may still give it, or less than
 * 0 if it may still give so much to the sink. Arcs come in pairs, one for each way, by node. */
struct flow_network {
    uint32_t n;
    uint32_t *offset;  /* [n + 1] */
    uint32_t *target;  /* [offset[n]] */
    uint32_t *reverse; /* [offset[n]] the other arc of the pair */
    int64_t *left;     /* [offset[n]] what the arc lets through besides the present flow */
    int64_t *terminal; /* [n] */
    uint32_t *to_sink; /* [n] arcs to the sink that let something through; LBM_NONE: it cannot be reached */
    uint32_t *queue, *next, *path; /* [n] scratch */
};

/* Room for that many nodes and arcs; offset is all 0. Errors: LBM_E_NOMEM; flow_network_free in any case. */
enum lbm_err flow_network_make(struct flow_network *net, uint32_t n) LBM_MUST_CHECK;
/* Once offset counts the arcs of each node, in its place + 1: room for them. Errors: LBM_E_NOMEM. */
enum lbm_err flow_network_room(struct flow_network *net) LBM_MUST_CHECK;
/* The next pair of arcs; left is that of each. */
void flow_network_join(struct flow_network *net, uint32_t i, uint32_t k, int64_t left);
void flow_network_free(struct flow_network *net);

/* From the present flow to a maximal one. Nodes that cannot reach the sink then (to_sink) are the source's
 * side of a least cut. Source: Dinic 1970.  Cost: O(n^2 m) at worst, a few times m where ways are short. */
void flow_network_flow(struct flow_network *net);

#endif
