/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map/flow/flow_network.h"

#include <stdlib.h>

#include "base/mem.h"

enum lbm_err
flow_network_make(struct flow_network *net, uint32_t n)
{
    *net = (struct flow_network){.n = n,
                                 .offset = lbm_alloc((size_t)n + 1, sizeof *net->offset),
                                 .terminal = lbm_alloc(n, sizeof *net->terminal),
                                 .to_sink = lbm_alloc(n, sizeof *net->to_sink),
                                 .queue = lbm_alloc(n, sizeof *net->queue),
                                 .next = lbm_alloc(n, sizeof *net->next),
                                 .path = lbm_alloc(n, sizeof *net->path)};
    return net->offset == NULL || net->terminal == NULL || net->to_sink == NULL || net->queue == NULL ||
                   net->next == NULL || net->path == NULL
               ? LBM_E_NOMEM
               : LBM_OK;
}

enum lbm_err
flow_network_room(struct flow_network *net)
{
    for (uint32_t i = 0; i < net->n; i++) {
        net->next[i] = net->offset[i];
        net->offset[i + 1] += net->offset[i];
    }
    uint32_t arcs = net->offset[net->n];
    net->target = lbm_alloc(arcs, sizeof *net->target);
    net->reverse = lbm_alloc(arcs, sizeof *net->reverse);
    net->left = lbm_alloc(arcs, sizeof *net->left);
    return net->target == NULL || net->reverse == NULL || net->left == NULL ? LBM_E_NOMEM : LBM_OK;
}

void
flow_network_join(struct flow_network *net, uint32_t i, uint32_t k, int64_t left)
{
    uint32_t there = net->next[i]++, back = net->next[k]++;
    net->target[there] = k;
    net->target[back] = i;
    net->reverse[there] = back;
    net->reverse[back] = there;
    net->left[there] = net->left[back] = left;
}

void
flow_network_free(struct flow_network *net)
{
    free(net->offset);
    free(net->target);
    free(net->reverse);
    free(net->left);
    free(net->terminal);
    free(net->to_sink);
    free(net->queue);
    free(net->next);
    free(net->path);
}

/* Breadth first from the sink. Nonzero if something can still go there from the source. */
static int
find_levels(struct flow_network *net)
{
    uint32_t n = 0;
    int any = 0;
    for (uint32_t i = 0; i < net->n; i++) {
        net->to_sink[i] = net->terminal[i] < 0 ? 0 : LBM_NONE;
        net->next[i] = net->offset[i];
        if (net->terminal[i] < 0)
            net->queue[n++] = i;
    }
    for (uint32_t q = 0; q < n; q++) {
        uint32_t i = net->queue[q];
        for (uint32_t e = net->offset[i]; e < net->offset[i + 1]; e++) {
            uint32_t k = net->target[e];
            if (net->to_sink[k] != LBM_NONE || net->left[net->reverse[e]] <= 0)
                continue;
            net->to_sink[k] = net->to_sink[i] + 1;
            any |= net->terminal[k] > 0;
            net->queue[n++] = k;
        }
    }
    return any;
}

/* The node at the end of a path of that many arcs. */
static uint32_t
path_end(const struct flow_network *net, uint32_t from, uint32_t depth)
{
    return depth == 0 ? from : net->target[net->path[depth - 1]];
}

/* Send along the path what fits. Returns how many of its arcs still let something through, from the first. */
static uint32_t
send(struct flow_network *net, uint32_t from, uint32_t depth)
{
    uint32_t end = path_end(net, from, depth), open = depth;
    int64_t most = net->terminal[from] < -net->terminal[end] ? net->terminal[from] : -net->terminal[end];
    for (uint32_t k = 0; k < depth; k++)
        most = net->left[net->path[k]] < most ? net->left[net->path[k]] : most;
    for (uint32_t k = depth; k-- > 0;) {
        net->left[net->path[k]] -= most;
        net->left[net->reverse[net->path[k]]] += most;
        open = net->left[net->path[k]] == 0 ? k : open;
    }
    net->terminal[from] -= most;
    net->terminal[end] += most;
    return open;
}

/* An arc one step nearer to the sink, LBM_NONE: there is none left. */
static uint32_t
step_nearer(struct flow_network *net, uint32_t i)
{
    for (; net->next[i] < net->offset[i + 1]; net->next[i]++) {
        uint32_t e = net->next[i], k = net->target[e];
        if (net->left[e] > 0 && net->to_sink[k] != LBM_NONE && net->to_sink[k] + 1 == net->to_sink[i])
            return e;
    }
    return LBM_NONE;
}

/* Send from a node all that goes by shortest ways, depth first. */
static void
send_from(struct flow_network *net, uint32_t from)
{
    uint32_t depth = 0;
    while (net->terminal[from] > 0) {
        uint32_t i = path_end(net, from, depth), e;
        if (net->terminal[i] < 0) {
            uint32_t open = send(net, from, depth);
            depth = open < depth || depth == 0 ? open : depth - 1; /* else the end is full */
        } else if ((e = step_nearer(net, i)) != LBM_NONE) {
            net->path[depth++] = e;
        } else if (depth != 0) {
            net->to_sink[i] = LBM_NONE;
            depth--;
        } else {
            return;
        }
    }
}

void
flow_network_flow(struct flow_network *net)
{
    while (find_levels(net))
        for (uint32_t i = 0; i < net->n; i++)
            if (net->terminal[i] > 0 && net->to_sink[i] != LBM_NONE)
                send_from(net, i);
}
