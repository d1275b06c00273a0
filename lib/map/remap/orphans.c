/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices without a host: theirs is gone, or they are new. */
#include <stdlib.h>

#include "base/mem.h"
#include "map/internal.h"

/* What a vertex says to each host: bandwidths by host, and the hosts that there are. Zero between uses. */
struct talk {
    uint64_t *bandwidth;     /* [hosts] */
    uint32_t *host, n_hosts; /* [hosts] those with some */
};

/* The host among those of its neighbours where a vertex costs least; LBM_NONE: no neighbour has one. */
static uint32_t
best_host(const struct mapping *m, uint32_t v, struct talk *talk)
{
    const struct lbm_graph *g = m->g;
    uint32_t best = LBM_NONE;
    uint64_t least = UINT64_MAX;
    talk->n_hosts = 0;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t p = m->part[g->target[e]];
        if (p == LBM_NONE || lbm_graph_weight(g, e) == 0)
            continue;
        if (talk->bandwidth[p] == 0)
            talk->host[talk->n_hosts++] = p;
        talk->bandwidth[p] += lbm_graph_weight(g, e);
    }
    for (uint32_t i = 0; i < talk->n_hosts; i++) {
        const uint32_t *row = lbm_dist_row(m->h, talk->host[i]);
        uint64_t cost = 0;
        for (uint32_t k = 0; k < talk->n_hosts; k++)
            cost += talk->bandwidth[talk->host[k]] * row[talk->host[k]];
        if (cost < least) {
            least = cost;
            best = talk->host[i];
        }
    }
    for (uint32_t i = 0; i < talk->n_hosts; i++)
        talk->bandwidth[talk->host[i]] = 0;
    return best;
}

static uint32_t
emptiest(const struct lbm_hosts *h, const uint64_t *load)
{
    uint32_t best = 0;
    for (uint32_t p = 1; p < h->n; p++)
        if ((double)load[p] * h->capacity[best] < (double)load[best] * h->capacity[p])
            best = p;
    return best;
}

/* Vertices that have a host now, or a neighbour with one, in the order in which they came to be that. */
struct queue {
    uint8_t *listed; /* [n] */
    uint32_t *at;    /* [n] those that wait for a host */
    uint32_t n;
};

/* Put a vertex on a host; its neighbours without one are next. */
static void
settle(const struct mapping *m, uint32_t v, uint32_t host, uint64_t *load, struct queue *queue)
{
    const struct lbm_graph *g = m->g;
    m->part[v] = host;
    load[host] += lbm_graph_work(g, v);
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e];
        if (m->part[u] != LBM_NONE || queue->listed[u])
            continue;
        queue->listed[u] = 1;
        queue->at[queue->n++] = u;
    }
}

static void
settle_all(const struct mapping *m, uint64_t *load, struct queue *queue, struct talk *talk)
{
    uint32_t done = 0;
    for (uint32_t v = 0; v < m->g->n; v++)
        if (m->part[v] != LBM_NONE)
            settle(m, v, m->part[v], load, queue);
    for (uint32_t next = 0; next < m->g->n; next++) {
        if (done == queue->n && m->part[next] == LBM_NONE) {
            queue->listed[next] = 1;
            queue->at[queue->n++] = next;
        }
        for (; done < queue->n; done++) {
            uint32_t v = queue->at[done], host = best_host(m, v, talk);
            settle(m, v, host != LBM_NONE ? host : emptiest(m->h, load), load, queue);
        }
    }
}

enum lbm_err
map_place_orphans(const struct mapping *m)
{
    uint64_t *load = lbm_alloc(m->h->n, sizeof *load);
    struct queue queue = {.listed = lbm_alloc(m->g->n, 1), .at = lbm_alloc(m->g->n, sizeof *queue.at)};
    struct talk talk = {.bandwidth = lbm_alloc(m->h->n, sizeof *talk.bandwidth),
                        .host = lbm_alloc(m->h->n, sizeof *talk.host)};
    enum lbm_err err = load != NULL && queue.listed != NULL && queue.at != NULL && talk.bandwidth != NULL &&
                               talk.host != NULL
                           ? LBM_OK
                           : LBM_E_NOMEM;
    if (err == LBM_OK)
        settle_all(m, load, &queue, &talk);
    free(talk.bandwidth);
    free(talk.host);
    free(load);
    free(queue.listed);
    free(queue.at);
    return err;
}
