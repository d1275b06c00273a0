/* SPDX-License-Identifier: GPL-3.0-or-later */
/* struct lbm_hosts: rows from links, validation, release, capacities. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/internal.h"

void
lbm_hosts_free(struct lbm_hosts *h)
{
    free(h->offset);
    free(h->target);
    free(h->cost);
    free(h->capacity);
    free(h->dist);
    if (h->row != NULL)
        for (uint32_t p = 0; p < h->n; p++)
            free(h->row[p]);
    free(h->row);
    free(h->site);
    for (uint32_t p = 0; p < h->n; p++) {
        if (h->name != NULL)
            free(h->name[p]);
        if (h->machine != NULL)
            free(h->machine[p]);
    }
    free(h->name);
    free(h->machine);
    free(h->slots);
    free(h->core);
    *h = (struct lbm_hosts){0};
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* Offsets of both directions; then rows sorted by target without comparing: the unsorted rows, read in
 * order of their source, append each source to its targets' rows. */
static enum lbm_err
fill_rows(struct lbm_hosts *h, const struct lbm_link *links, size_t n_links)
{
    size_t n_directions = 2 * n_links;
    uint32_t *at = lbm_alloc((size_t)h->n + 1, sizeof *at);
    uint32_t *target = lbm_alloc(n_directions, sizeof *target), *cost = lbm_alloc(n_directions, sizeof *cost);
    enum lbm_err err = at == NULL || target == NULL || cost == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err != LBM_OK)
        goto out;
    for (size_t i = 0; i < n_links; i++) {
        h->offset[links[i].p + 1]++;
        h->offset[links[i].q + 1]++;
    }
    for (uint32_t p = 0; p < h->n; p++)
        h->offset[p + 1] += h->offset[p];
    memcpy(at, h->offset, ((size_t)h->n + 1) * sizeof *at);
    for (size_t i = 0; i < n_links; i++) {
        uint32_t there = at[links[i].p]++, back = at[links[i].q]++;
        target[there] = links[i].q;
        target[back] = links[i].p;
        cost[there] = cost[back] = links[i].cost;
    }
    memcpy(at, h->offset, ((size_t)h->n + 1) * sizeof *at);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++) {
            uint32_t slot = at[target[i]]++;
            h->target[slot] = p;
            h->cost[slot] = cost[i];
        }
out:
    free(at);
    free(target);
    free(cost);
    return err;
}

/* is_routed: with room for all distances, else for rows of them. */
static enum lbm_err
link_hosts(uint32_t n, const struct lbm_link *links, size_t n_links, int is_routed, struct lbm_hosts *out)
{
    LBM_ASSERT(n >= 1 && n <= (is_routed ? LBM_HOSTS_MAX : LBM_NETWORK_MAX) && n_links <= LBM_LINKS_MAX);
    struct lbm_hosts h = {.n = n, .m = 2, .topology = LBM_TOPOLOGY_FILE};
    h.offset = lbm_alloc((size_t)n + 1, sizeof *h.offset);
    h.target = lbm_alloc(2 * n_links, sizeof *h.target);
    h.cost = lbm_alloc(2 * n_links, sizeof *h.cost);
    h.capacity = lbm_alloc(n, sizeof *h.capacity);
    h.dist = is_routed ? lbm_alloc((size_t)n * n, sizeof *h.dist) : NULL;
    h.row = is_routed ? NULL : lbm_alloc(n, sizeof *h.row);
    h.site = lbm_alloc((size_t)n * h.m, sizeof *h.site);
    int complete = h.offset != NULL && h.target != NULL && h.cost != NULL && h.capacity != NULL &&
                   (h.dist != NULL || h.row != NULL) && h.site != NULL;
    enum lbm_err err = complete ? fill_rows(&h, links, n_links) : LBM_E_NOMEM;
    if (err != LBM_OK) {
        lbm_hosts_free(&h);
        return err;
    }
    for (uint32_t p = 0; p < n; p++)
        h.capacity[p] = 1.0;
    *out = h;
    return LBM_OK;
}

enum lbm_err
lbm_hosts_link(uint32_t n, const struct lbm_link *links, size_t n_links, struct lbm_hosts *out)
{
    return link_hosts(n, links, n_links, 1, out);
}

enum lbm_err
lbm_hosts_link_rows(uint32_t n, const struct lbm_link *links, size_t n_links, struct lbm_hosts *out)
{
    return link_hosts(n, links, n_links, 0, out);
}

enum lbm_err
lbm_hosts_set_dimensions(struct lbm_hosts *h, unsigned m)
{
    LBM_ASSERT(m == 2 || m == 3);
    double *site = lbm_alloc((size_t)h->n * m, sizeof *site);
    if (site == NULL)
        return LBM_E_NOMEM;
    free(h->site);
    h->site = site;
    h->m = m;
    return LBM_OK;
}

/* ---- validation of what a caller or a file gives ------------------------------------------------- */

static enum lbm_err
check_links(uint32_t n, const struct lbm_link *links, size_t n_links, struct lbm_diag *diag)
{
    for (size_t i = 0; i < n_links; i++) {
        struct lbm_link l = links[i];
        if (l.p >= n || l.q >= n)
            return lbm_diag_set(diag, LBM_E_RANGE, "hosts", 0,
                                "link %" PRIu32 "-%" PRIu32 " names a host outside 0 .. %" PRIu32, l.p, l.q,
                                n - 1);
        if (l.p == l.q)
            return lbm_diag_set(diag, LBM_E_RANGE, "hosts", 0,
                                "host %" PRIu32 " is linked to itself; remove that link", l.p);
        if (l.cost < 1 || l.cost > LBM_LINK_COST_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, "hosts", 0,
                                "link %" PRIu32 "-%" PRIu32 " costs %" PRIu32 ", allowed is 1 .. %" PRIu32,
                                l.p, l.q, l.cost, LBM_LINK_COST_MAX);
    }
    return LBM_OK;
}

int
lbm_is_capacity(double number)
{
    return number >= LBM_CAPACITY_MIN && number <= LBM_CAPACITY_MAX;
}

static enum lbm_err
check_numbers(uint32_t n, const double *capacity, unsigned m, const double *site, struct lbm_diag *diag)
{
    for (uint32_t p = 0; capacity != NULL && p < n; p++)
        if (!lbm_is_capacity(capacity[p]))
            return lbm_diag_set(diag, LBM_E_RANGE, "hosts", 0,
                                "capacity of host %" PRIu32 " is %g; it must be a number from %g to %g", p,
                                capacity[p], LBM_CAPACITY_MIN, LBM_CAPACITY_MAX);
    for (size_t i = 0; site != NULL && i < (size_t)n * m; i++)
        if (!isfinite(site[i]))
            return lbm_diag_set(diag, LBM_E_RANGE, "hosts", 0, "site of host %zu is not finite", i / m);
    return LBM_OK;
}

static enum lbm_err
check_rows(const struct lbm_hosts *h, struct lbm_diag *diag)
{
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i + 1 < h->offset[p + 1]; i++)
            if (h->target[i] == h->target[i + 1])
                return lbm_diag_set(diag, LBM_E_SYNTAX, "hosts", 0,
                                    "link %" PRIu32 "-%" PRIu32 " is given twice; keep one", p, h->target[i]);
    uint32_t *hops = lbm_alloc(h->n, sizeof *hops), *order = lbm_alloc(h->n, sizeof *order);
    uint32_t reached = hops != NULL && order != NULL ? lbm_hosts_hops(h, 0, hops, order) : 0;
    uint32_t lost = 0;
    while (reached != 0 && lost < h->n && hops[lost] != LBM_NONE)
        lost++;
    free(hops);
    free(order);
    if (reached == 0)
        return LBM_E_NOMEM;
    if (reached < h->n)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "hosts", 0,
                            "no way leads from host 0 to host %" PRIu32 "; add the links that connect them",
                            lost);
    return LBM_OK;
}

/* A host graph that was checked, with links and capacities. */
static enum lbm_err
build_rows(uint32_t n, const struct lbm_link *links, size_t n_links, int is_routed, const double *capacity,
           unsigned m, const double *site, struct lbm_hosts *out, struct lbm_diag *diag)
{
    if (n < 1 || n > LBM_HOSTS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, "hosts", 0, "%" PRIu32 " hosts; 1 .. %d are possible", n,
                            LBM_HOSTS_MAX);
    if (n_links > LBM_LINKS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, "hosts", 0, "%zu links; at most %d are possible", n_links,
                            LBM_LINKS_MAX);
    LBM_ASSERT(m == 2 || m == 3);
    enum lbm_err err = check_links(n, links, n_links, diag);
    if (err == LBM_OK)
        err = check_numbers(n, capacity, m, site, diag);
    struct lbm_hosts h = {0};
    if (err == LBM_OK)
        err = link_hosts(n, links, n_links, is_routed, &h);
    if (err != LBM_OK)
        return err;
    if (capacity != NULL)
        memcpy(h.capacity, capacity, n * sizeof *capacity);
    err = check_rows(&h, diag);
    if (err == LBM_OK)
        err = lbm_hosts_set_dimensions(&h, m);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}

enum lbm_err
lbm_hosts_build(uint32_t n, const struct lbm_link *links, size_t n_links, const double *capacity, unsigned m,
                const double *site, struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_hosts h;
    enum lbm_err err = build_rows(n, links, n_links, 1, capacity, m, site, &h, diag);
    if (err != LBM_OK)
        return err;
    err = lbm_hosts_route(&h);
    if (err == LBM_OK && site != NULL) {
        memcpy(h.site, site, (size_t)n * m * sizeof *site);
        lbm_sites_fit(h.site, n, m);
    } else if (err == LBM_OK) {
        err = lbm_sites_stress(&h);
    }
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}

enum lbm_err
lbm_hosts_build_unrouted(uint32_t n, const struct lbm_link *links, size_t n_links, const double *capacity,
                         unsigned m, const double *site, struct lbm_hosts *out, struct lbm_diag *diag)
{
    enum lbm_err err = build_rows(n, links, n_links, 0, capacity, m, site, out, diag);
    if (err == LBM_OK)
        memcpy(out->site, site, (size_t)n * m * sizeof *site);
    return err;
}
