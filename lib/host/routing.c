/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routing distances and hop counts. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/internal.h"

uint32_t
lbm_hosts_hops(const struct lbm_hosts *h, uint32_t source, uint32_t *hops, uint32_t *order)
{
    for (uint32_t p = 0; p < h->n; p++)
        hops[p] = LBM_NONE;
    hops[source] = 0;
    order[0] = source;
    uint32_t reached = 1;
    /* The early end makes dense graphs cheap: one row of a complete graph reaches everybody. */
    for (uint32_t next = 0; next < reached && reached < h->n; next++) {
        uint32_t p = order[next];
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            uint32_t q = h->target[i];
            if (hops[q] == LBM_NONE) {
                hops[q] = hops[p] + 1;
                order[reached++] = q;
            }
        }
    }
    return reached;
}

/* ---- Dijkstra with a binary heap; a host may lie in the heap more than once, stale entries are skipped - */

struct entry {
    uint32_t dist, host;
};

struct heap {
    struct entry *at;
    size_t n;
};

static void
heap_push(struct heap *heap, struct entry e)
{
    size_t i = heap->n++;
    for (; i > 0 && heap->at[(i - 1) / 2].dist > e.dist; i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = e;
}

static struct entry
heap_pop(struct heap *heap)
{
    struct entry least = heap->at[0], last = heap->at[--heap->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
        if (child + 1 < heap->n && heap->at[child + 1].dist < heap->at[child].dist)
            child++;
        if (heap->at[child].dist >= last.dist)
            break;
        heap->at[i] = heap->at[child];
    }
    heap->at[i] = last;
    return least;
}

static void
dijkstra(const struct lbm_hosts *h, uint32_t source, struct heap *heap, uint32_t *dist)
{
    for (uint32_t p = 0; p < h->n; p++)
        dist[p] = LBM_NONE;
    dist[source] = 0;
    heap->n = 0;
    heap_push(heap, (struct entry){0, source});
    while (heap->n > 0) {
        struct entry e = heap_pop(heap);
        if (e.dist != dist[e.host])
            continue;
        for (uint32_t i = h->offset[e.host]; i < h->offset[e.host + 1]; i++) {
            uint32_t q = h->target[i], way = e.dist + h->cost[i];
            if (way < dist[q]) {
                dist[q] = way;
                heap_push(heap, (struct entry){way, q});
            }
        }
    }
}

static int
costs_differ(const struct lbm_hosts *h)
{
    for (uint32_t i = 1; i < h->offset[h->n]; i++)
        if (h->cost[i] != h->cost[0])
            return 1;
    return 0;
}

/* What a search needs besides its row. */
struct search {
    int costs_differ;
    struct heap heap;
    uint32_t *order;
};

static enum lbm_err
search_begin(const struct lbm_hosts *h, struct search *search)
{
    *search = (struct search){.costs_differ = costs_differ(h)};
    /* Each link direction is relaxed at most once a source, so this many pushes suffice. */
    if (search->costs_differ)
        search->heap.at = lbm_alloc((size_t)h->offset[h->n] + 1, sizeof *search->heap.at);
    else
        search->order = lbm_alloc(h->n, sizeof *search->order);
    return search->heap.at != NULL || search->order != NULL ? LBM_OK : LBM_E_NOMEM;
}

static void
search_end(struct search *search)
{
    free(search->heap.at);
    free(search->order);
}

static void
search_from(const struct lbm_hosts *h, struct search *search, uint32_t p, uint32_t *row)
{
    if (search->costs_differ) {
        dijkstra(h, p, &search->heap, row);
        return;
    }
    uint32_t cost = h->offset[h->n] != 0 ? h->cost[0] : 1;
    uint32_t reached = lbm_hosts_hops(h, p, row, search->order);
    LBM_ASSERT(reached == h->n);
    for (uint32_t q = 0; q < h->n; q++)
        row[q] *= cost;
}

enum lbm_err
lbm_hosts_fill_row(const struct lbm_hosts *h, uint32_t p, uint32_t *row)
{
    struct search search;
    enum lbm_err err = search_begin(h, &search);
    if (err == LBM_OK)
        search_from(h, &search, p, row);
    search_end(&search);
    return err;
}

enum lbm_err
lbm_hosts_route(struct lbm_hosts *h)
{
    _Static_assert((uint64_t)LBM_LINK_COST_MAX * (LBM_HOSTS_MAX - 1) < UINT32_MAX, "distances fit 32 bits");
    struct search search;
    enum lbm_err err = search_begin(h, &search);
    for (uint32_t p = 0; err == LBM_OK && p < h->n; p++)
        search_from(h, &search, p, &h->dist[(size_t)p * h->n]);
    search_end(&search);
    return err;
}

enum lbm_err
lbm_hosts_route_first(const struct lbm_hosts *rows, uint32_t n, uint32_t *dist)
{
    struct search search;
    uint32_t *row = lbm_alloc(rows->n, sizeof *row);
    enum lbm_err err = search_begin(rows, &search);
    if (row == NULL)
        err = LBM_E_NOMEM;
    for (uint32_t p = 0; err == LBM_OK && p < n; p++) {
        search_from(rows, &search, p, row);
        memcpy(&dist[(size_t)p * n], row, n * sizeof *row);
    }
    search_end(&search);
    free(row);
    return err;
}

enum lbm_err
lbm_hosts_route_from(struct lbm_hosts *h, uint32_t p)
{
    if (h->dist != NULL || h->row[p] != NULL)
        return LBM_OK;
    uint32_t *row = lbm_alloc(h->n, sizeof *row);
    enum lbm_err err = row != NULL ? lbm_hosts_fill_row(h, p, row) : LBM_E_NOMEM;
    if (err == LBM_OK)
        h->row[p] = row;
    else
        free(row);
    return err;
}

uint32_t
lbm_hosts_diameter_within(const struct lbm_hosts *h, uint32_t limit)
{
    uint32_t hops[LBM_HOSTS_MAX], order[LBM_HOSTS_MAX], diameter = 0;
    LBM_ASSERT(h->n <= LBM_HOSTS_MAX);
    for (uint32_t p = 0; p < h->n && diameter < limit; p++) {
        uint32_t reached = lbm_hosts_hops(h, p, hops, order);
        uint32_t farthest = hops[order[reached - 1]];
        diameter = farthest > diameter ? farthest : diameter;
    }
    return diameter < limit ? diameter : limit;
}

uint32_t
lbm_hosts_diameter_hops(const struct lbm_hosts *h)
{
    return lbm_hosts_diameter_within(h, UINT32_MAX);
}

static int
between(uint32_t n, const uint32_t *dist, uint32_t p, uint32_t q)
{
    const uint32_t *from_p = &dist[(size_t)p * n], *from_q = &dist[(size_t)q * n];
    for (uint32_t r = 0; r < n; r++)
        if (r != p && r != q && (uint64_t)from_p[r] + from_q[r] <= from_p[q])
            return 1;
    return 0;
}

enum lbm_err
lbm_links_of_distances(uint32_t n, const uint32_t *dist, struct lbm_link_vec *links)
{
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = p + 1; q < n; q++) {
            struct lbm_link link = {p, q, dist[(size_t)p * n + q]};
            if (!between(n, dist, p, q) && lbm_vec_push(links, link) != LBM_OK)
                return LBM_E_NOMEM;
        }
    return LBM_OK;
}
