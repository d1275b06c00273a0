/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hosts over their limits give to those with room, at the least cost: successive shortest paths.
 * Source: Ahuja, Magnanti, Orlin 1993, section 9.7.
 *
 * Two layers of hosts: on the ground work goes over a link by a shift of the border, so that every host on
 * the way gives something else on; in the air it keeps together, is lifted once, and costs its way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"

struct arc {
    uint32_t to;
    uint64_t room; /* residual */
    double cost;
};

/* Nodes: ground of p is p, air n + p, then source and sink. The arc against arc i is i ^ 1. */
struct network {
    const struct lbm_hosts *h;
    uint32_t n_nodes, source, sink;
    struct arc *arc;
    uint32_t n_arcs;
    uint32_t *first, *next; /* arcs of a node: [nodes], [arcs] lists */
    double *distance;       /* [nodes] */
    uint32_t *by;           /* [nodes] arc that reached it */
    uint32_t *queue;        /* [nodes] circular */
    uint8_t *waits;         /* [nodes] in the queue */
};

static void
join(struct network *net, uint32_t from, uint32_t to, uint64_t room, double cost)
{
    const struct arc pair[2] = {{to, room, cost}, {from, 0, -cost}};
    const uint32_t tail[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        net->arc[net->n_arcs] = pair[i];
        net->next[net->n_arcs] = net->first[tail[i]];
        net->first[tail[i]] = net->n_arcs++;
    }
}

static enum lbm_err
network_open(struct network *net, const struct lbm_hosts *h)
{
    size_t links = h->offset[h->n], arcs = 2 * (2 * links + 4 * (size_t)h->n);
    *net = (struct network){.h = h, .n_nodes = 2 * h->n + 2, .source = 2 * h->n, .sink = 2 * h->n + 1};
    net->arc = lbm_alloc(arcs, sizeof *net->arc);
    net->next = lbm_alloc(arcs, sizeof *net->next);
    net->first = lbm_alloc(net->n_nodes, sizeof *net->first);
    net->distance = lbm_alloc(net->n_nodes, sizeof *net->distance);
    net->by = lbm_alloc(net->n_nodes, sizeof *net->by);
    net->queue = lbm_alloc(net->n_nodes, sizeof *net->queue);
    net->waits = lbm_alloc(net->n_nodes, 1);
    if (net->arc == NULL || net->next == NULL || net->first == NULL || net->distance == NULL ||
        net->by == NULL || net->queue == NULL || net->waits == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        net->first[i] = LBM_NONE;
    return LBM_OK;
}

static void
network_close(struct network *net)
{
    free(net->arc);
    free(net->next);
    free(net->first);
    free(net->distance);
    free(net->by);
    free(net->queue);
    free(net->waits);
}

/* The least cost of a link: the unit of distance. */
static double
nearest(const struct lbm_hosts *h)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t e = 0; e < h->offset[h->n]; e++)
        least = h->cost[e] < least ? h->cost[e] : least;
    return least;
}

static void
fill(struct network *net, const uint64_t *load, const uint64_t *limit, unsigned jump)
{
    const struct lbm_hosts *h = net->h;
    double unit = nearest(h), way = 0.5, lift = (jump - 0.5) * (1 - way);
    for (uint32_t p = 0; p < h->n; p++) {
        if (load[p] > limit[p])
            join(net, net->source, p, load[p] - limit[p], 0);
        else if (load[p] < limit[p])
            join(net, p, net->sink, limit[p] - load[p], 0);
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
            join(net, p, h->target[e], INT64_MAX, 1);
            if (jump != 0)
                join(net, h->n + p, h->n + h->target[e], INT64_MAX, way * h->cost[e] / unit);
        }
        if (jump != 0) {
            join(net, p, h->n + p, INT64_MAX, lift);
            join(net, h->n + p, p, INT64_MAX, 0);
        }
    }
}

/* Distances from the n nodes in the queue by Bellman and Ford: residual costs may be negative. Costs that are
 * equal but for rounding are equal. */
static void
search(struct network *net, uint32_t n)
{
    static const double rounding = 1e-9;
    uint32_t head = 0;
    while (n > 0) {
        uint32_t u = net->queue[head];
        head = head + 1 < net->n_nodes ? head + 1 : 0;
        n--;
        net->waits[u] = 0;
        for (uint32_t i = net->first[u]; i != LBM_NONE; i = net->next[i]) {
            const struct arc *a = &net->arc[i];
            double d = net->distance[u] + a->cost;
            if (a->room == 0 || d >= net->distance[a->to] - rounding)
                continue;
            net->distance[a->to] = d;
            net->by[a->to] = i;
            if (!net->waits[a->to]) {
                uint32_t end = head + n < net->n_nodes ? head + n : head + n - net->n_nodes;
                net->queue[end] = a->to;
                net->waits[a->to] = 1;
                n++;
            }
        }
    }
}

/* A path from the source. Value: whether there is one. */
static int
reach_sink(struct network *net)
{
    for (uint32_t i = 0; i < net->n_nodes; i++)
        net->distance[i] = HUGE_VAL;
    net->distance[net->source] = 0;
    net->queue[0] = net->source;
    net->waits[net->source] = 1;
    search(net, 1);
    return net->distance[net->sink] < HUGE_VAL;
}

/* Distances that grow along every arc with flow. */
static void
find_levels(struct network *net)
{
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        net->distance[i] = 0;
        net->queue[i] = i;
        net->waits[i] = 1;
    }
    search(net, net->n_nodes);
}

/* As much as fits along the path that was found. */
static void
augment(struct network *net)
{
    uint64_t amount = UINT64_MAX;
    for (uint32_t v = net->sink; v != net->source; v = net->arc[net->by[v] ^ 1].to)
        amount = net->arc[net->by[v]].room < amount ? net->arc[net->by[v]].room : amount;
    for (uint32_t v = net->sink; v != net->source; v = net->arc[net->by[v] ^ 1].to) {
        net->arc[net->by[v]].room -= amount;
        net->arc[net->by[v] ^ 1].room += amount;
    }
}

/* ---- the flow as shipments ----------------------------------------------------------------------------- */

/* Flow of an arc that goes forwards. */
static uint64_t
flow(const struct network *net, uint32_t i)
{
    return i % 2 == 0 ? net->arc[i ^ 1].room : 0;
}

static void
consume(struct network *net, uint32_t i, uint64_t amount)
{
    net->arc[i ^ 1].room -= amount;
    net->arc[i].room += amount;
}

/* An arc with flow from a node to one of [from, to); LBM_NONE: none. */
static uint32_t
flowing(const struct network *net, uint32_t node, uint32_t from, uint32_t to)
{
    for (uint32_t i = net->first[node]; i != LBM_NONE; i = net->next[i])
        if (flow(net, i) != 0 && net->arc[i].to >= from && net->arc[i].to < to)
            return i;
    return LBM_NONE;
}

/* Take what is lifted at p apart by where it lands. */
static enum lbm_err
list_jumps(struct network *net, uint32_t p, struct shipments *list)
{
    uint32_t n = net->h->n, lift;
    while ((lift = flowing(net, p, n + p, n + p + 1)) != LBM_NONE) {
        uint32_t path[LBM_HOSTS_MAX], length = 0, node = n + p, down = LBM_NONE;
        uint64_t amount = flow(net, lift);
        while (length < n && (down = flowing(net, node, 0, n)) == LBM_NONE) {
            uint32_t i = flowing(net, node, n, 2 * n);
            LBM_ASSERT(i != LBM_NONE);
            amount = flow(net, i) < amount ? flow(net, i) : amount;
            path[length++] = i;
            node = net->arc[i].to;
        }
        amount = down != LBM_NONE && flow(net, down) < amount ? flow(net, down) : amount;
        consume(net, lift, amount);
        for (uint32_t k = 0; k < length; k++)
            consume(net, path[k], amount);
        if (down == LBM_NONE)
            break; /* a circle: it costs, so there is none */
        consume(net, down, amount);
        struct shipment jump = {p, node - n, amount};
        if (jump.from != jump.to && lbm_vec_push(list, jump) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

static int
by_distance(const void *a, const void *b)
{
    const double *x = *(const double *const *)a, *y = *(const double *const *)b;
    return *x != *y ? (*x > *y) - (*x < *y) : (x > y) - (x < y);
}

/* By the levels of the hosts that give. */
static enum lbm_err
list_shipments(struct network *net, struct shipments *list)
{
    uint32_t n = net->h->n;
    const double **order = lbm_alloc(n, sizeof *order);
    if (order == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < n; p++)
        order[p] = &net->distance[p];
    qsort(order, n, sizeof *order, by_distance);
    enum lbm_err err = LBM_OK;
    for (uint32_t k = 0; k < n && err == LBM_OK; k++) {
        uint32_t p = (uint32_t)(order[k] - net->distance);
        err = list_jumps(net, p, list);
        for (uint32_t i = net->first[p]; i != LBM_NONE && err == LBM_OK; i = net->next[i])
            if (flow(net, i) != 0 && net->arc[i].to < n) {
                struct shipment shift = {p, net->arc[i].to, flow(net, i)};
                err = lbm_vec_push(list, shift);
            }
    }
    free(order);
    return err;
}

enum lbm_err
map_transport(const struct lbm_hosts *h, const uint64_t *load, const uint64_t *limit, unsigned jump,
              struct shipments *list)
{
    struct network net;
    enum lbm_err err = network_open(&net, h);
    if (err == LBM_OK) {
        fill(&net, load, limit, jump);
        while (reach_sink(&net))
            augment(&net);
        find_levels(&net);
        err = list_shipments(&net, list);
    }
    network_close(&net);
    return err;
}
