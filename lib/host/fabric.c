/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links between hosts that switches join: who exchanges load with whom. */
#include <stdlib.h>
#include <string.h>

#include "host/network.h"

enum { PARTNERS_ALL = 16 /* up to this number all are taken; of more a logarithm */ };

struct fabric {
    const struct lbm_hosts *rows;
    uint32_t n; /* hosts; what has a larger number is a switch */
    const uint32_t *dist;
    struct lbm_link_vec *links;
    uint32_t *hops;  /* [rows->n] of the search from one switch, LBM_NONE: not reached */
    uint32_t *queue; /* [rows->n] */
    uint32_t *found; /* [rows->n] switches with hosts, as reached */
};

static enum lbm_err
add(struct fabric *f, uint32_t p, uint32_t q)
{
    struct lbm_link link = {p < q ? p : q, p < q ? q : p, f->dist[(size_t)p * f->n + q]};
    if (p == q)
        return LBM_OK;
    /* Pairs may come twice: from both ends, or through two switches. */
    if (f->links->n > 4 * (size_t)LBM_LINKS_MAX)
        return LBM_E_LIMIT;
    return lbm_vec_push(f->links, link);
}

/* Neighbours are sorted and hosts have the smaller numbers: the hosts of v come first. */
static uint32_t
hosts_of(const struct fabric *f, uint32_t v, const uint32_t **host)
{
    const struct lbm_hosts *rows = f->rows;
    uint32_t k = 0;
    *host = &rows->target[rows->offset[v]];
    while (rows->offset[v] + k < rows->offset[v + 1] && (*host)[k] < f->n)
        k++;
    return k;
}

/* ---- one switch ---------------------------------------------------------------------------------------- */

static enum lbm_err
link_hosts_of(struct fabric *f, uint32_t v)
{
    const uint32_t *host;
    uint32_t n = hosts_of(f, v, &host);
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; err == LBM_OK && j < n; j++)
            if (lbm_are_partners(n, i, j))
                err = add(f, host[i], host[j]);
    return err;
}

/* ---- switches with hosts ------------------------------------------------------------------------------- */

/* Search from switch v through switches, and no further where one has hosts. Out: found, by hops and within
 * them by number.  Returns how many. */
static uint32_t
search(struct fabric *f, uint32_t v)
{
    const struct lbm_hosts *rows = f->rows;
    const uint32_t *host;
    uint32_t reached = 1, n_found = 0;
    f->queue[0] = v;
    f->hops[v] = 0;
    for (uint32_t next = 0; next < reached; next++) {
        uint32_t u = f->queue[next];
        if (u != v && hosts_of(f, u, &host) > 0) {
            f->found[n_found++] = u;
            continue;
        }
        for (uint32_t i = rows->offset[u]; i < rows->offset[u + 1]; i++) {
            uint32_t w = rows->target[i];
            if (w < f->n || f->hops[w] != LBM_NONE)
                continue;
            f->hops[w] = f->hops[u] + 1;
            f->queue[reached++] = w;
        }
    }
    return n_found;
}

static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The i-th hosts of two switches. */
static enum lbm_err
link_switches(struct fabric *f, uint32_t v, uint32_t u)
{
    const uint32_t *of_v, *of_u;
    uint32_t n_v = hosts_of(f, v, &of_v), n_u = hosts_of(f, u, &of_u);
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < n_v && i < n_u; i++)
        err = add(f, of_v[i], of_u[i]);
    return err;
}

/* Link v with some of n switches that are equally far: all, or those 1, 2, 4, ... places after it. */
static enum lbm_err
link_equals(struct fabric *f, uint32_t v, uint32_t *equal, uint32_t n)
{
    uint32_t after = 0;
    qsort(equal, n, sizeof *equal, ascending);
    while (after < n && equal[after] < v)
        after++;
    enum lbm_err err = LBM_OK;
    for (uint32_t step = 1; err == LBM_OK && step <= n; step = n <= PARTNERS_ALL ? step + 1 : 2 * step)
        err = link_switches(f, v, equal[(after + step - 1) % n]);
    return err;
}

static enum lbm_err
link_around(struct fabric *f, uint32_t v)
{
    enum lbm_err err = LBM_OK;
    memset(f->hops, 0xff, f->rows->n * sizeof *f->hops);
    uint32_t n = search(f, v);
    for (uint32_t i = 0, end; err == LBM_OK && i < n; i = end) {
        for (end = i + 1; end < n && f->hops[f->found[end]] == f->hops[f->found[i]]; end++)
            ;
        err = link_equals(f, v, &f->found[i], end - i);
    }
    return err;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static int
by_ends(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    if (x->p != y->p)
        return (x->p > y->p) - (x->p < y->p);
    return (x->q > y->q) - (x->q < y->q);
}

/* Of links with the same ends the cheapest is first. */
static int
by_ends_and_cost(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    int order = by_ends(a, b);
    return order != 0 ? order : (x->cost > y->cost) - (x->cost < y->cost);
}

/* Links between hosts keep their own cost, which may be above the distance. */
static enum lbm_err
add_direct(struct fabric *f)
{
    const struct lbm_hosts *rows = f->rows;
    enum lbm_err err = LBM_OK;
    for (uint32_t p = 0; p < f->n; p++)
        for (uint32_t i = rows->offset[p]; err == LBM_OK && i < rows->offset[p + 1]; i++) {
            struct lbm_link link = {p, rows->target[i], rows->cost[i]};
            if (p < link.q && link.q < f->n)
                err = lbm_vec_push(f->links, link);
        }
    return err;
}

/* Each pair once. */
static void
unite(struct lbm_link_vec *links)
{
    size_t kept = 0;
    if (links->n != 0)
        qsort(links->at, links->n, sizeof *links->at, by_ends_and_cost);
    for (size_t i = 0; i < links->n; i++)
        if (kept == 0 || by_ends(&links->at[kept - 1], &links->at[i]) != 0)
            links->at[kept++] = links->at[i];
    links->n = kept;
}

enum lbm_err
lbm_fabric_links(const struct lbm_hosts *rows, uint32_t n, const uint32_t *dist, struct lbm_link_vec *links)
{
    struct fabric f = {rows,
                       n,
                       dist,
                       links,
                       lbm_alloc(rows->n, sizeof *f.hops),
                       lbm_alloc(rows->n, sizeof *f.queue),
                       lbm_alloc(rows->n, sizeof *f.found)};
    const uint32_t *host;
    enum lbm_err err = f.hops && f.queue && f.found ? add_direct(&f) : LBM_E_NOMEM;
    for (uint32_t v = n; err == LBM_OK && v < rows->n; v++) {
        if (hosts_of(&f, v, &host) == 0)
            continue;
        err = link_hosts_of(&f, v);
        if (err == LBM_OK)
            err = link_around(&f, v);
    }
    free(f.hops);
    free(f.queue);
    free(f.found);
    unite(links);
    return err == LBM_OK && links->n > LBM_LINKS_MAX ? LBM_E_LIMIT : err;
}
