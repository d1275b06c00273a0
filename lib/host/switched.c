/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named networks of switches: fat trees and dragonflies.
 *
 * Sources: Al-Fares, Loukissas, Vahdat 2008 (fat tree of k-port switches); Kim, Dally, Scott, Abts 2008
 * (dragonfly with g = a h + 1 groups), its global links in the absolute arrangement. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/network.h"

/* k pods of k/2 edge switches of k/2 hosts. Every shortest way climbs to the first common layer, so the
 * distances are those of a hierarchy. */
enum lbm_err
lbm_hosts_fattree(const char *where, const uint32_t *number, struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint32_t k = number[0];
    if (k < 2 || k % 2 != 0)
        return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                            "%" PRIu32 " ports; a switch has an even number of them, 2 at least; the form is "
                            "fattree:K",
                            k);
    const uint32_t size[3] = {k / 2, k / 2, k}, cost[3] = {2, 4, 6};
    return lbm_hosts_hierarchy(where, size, cost, 3, out, diag);
}

/* ---- dragonfly ----------------------------------------------------------------------------------------- */

struct dragonfly {
    uint32_t a, h, p; /* routers of a group, global links and hosts of a router */
    uint32_t groups, hosts;
};

/* Vertices: hosts, then routers, both group by group. */
static uint32_t
router(const struct dragonfly *d, uint32_t group, uint32_t r)
{
    return d->hosts + group * d->a + r;
}

static enum lbm_err
add(struct lbm_link_vec *links, uint32_t p, uint32_t q)
{
    struct lbm_link link = {p, q, 1};
    return lbm_vec_push(links, link);
}

/* Global link j of a group leads to the j-th of the other groups, at router j / h. */
static enum lbm_err
link_group(const struct dragonfly *d, uint32_t i, struct lbm_link_vec *links)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t r = 0; r < d->a; r++) {
        for (uint32_t k = 0; k < d->p && err == LBM_OK; k++)
            err = add(links, (i * d->a + r) * d->p + k, router(d, i, r));
        for (uint32_t s = 0; s < r && err == LBM_OK; s++)
            err = add(links, router(d, i, s), router(d, i, r));
    }
    for (uint32_t to = i + 1; to < d->groups && err == LBM_OK; to++)
        err = add(links, router(d, i, (to - 1) / d->h), router(d, to, i / d->h));
    return err;
}

/* Boxes within boxes: hosts of a router, routers of a group, groups. */
static enum lbm_err
place(const char *where, const struct dragonfly *d, struct lbm_hosts *h)
{
    const uint32_t size[3] = {d->p, d->a, d->groups}, cost[3] = {2, 3, 5};
    struct lbm_hosts boxes;
    enum lbm_err err = lbm_hosts_hierarchy(where, size, cost, 3, &boxes, NULL);
    if (err != LBM_OK)
        return err;
    memcpy(h->site, boxes.site, 2 * (size_t)h->n * sizeof *h->site);
    lbm_hosts_free(&boxes);
    return LBM_OK;
}

static enum lbm_err
build(const char *where, const struct dragonfly *d, struct lbm_hosts *h, struct lbm_diag *diag)
{
    uint32_t n = d->hosts + d->groups * d->a;
    struct lbm_link_vec links = {0};
    double *capacity = lbm_alloc(n, sizeof *capacity), *site = lbm_alloc(2 * (size_t)n, sizeof *site);
    enum lbm_err err = capacity != NULL && site != NULL ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t i = 0; err == LBM_OK && i < d->groups; i++)
        err = link_group(d, i, &links);
    for (uint32_t v = 0; err == LBM_OK && v < d->hosts; v++)
        capacity[v] = 1.0;
    struct lbm_network net = {n, links.at, links.n, capacity, 2, site, NULL};
    if (err == LBM_OK)
        err = lbm_hosts_from_network(where, &net, h, diag);
    if (err == LBM_OK)
        err = place(where, d, h);
    lbm_vec_free(&links);
    free(capacity);
    free(site);
    return err;
}

enum lbm_err
lbm_hosts_dragonfly(const char *where, const uint32_t *number, struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint64_t a = number[0], h = number[1], p = number[2], groups = a * h + 1;
    if (a < 1 || h < 1 || p < 1)
        return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                            "a number is 0, the least is 1; the form is dragonfly:A,H,P");
    if (a > LBM_HOSTS_MAX || h > LBM_HOSTS_MAX || p > LBM_HOSTS_MAX || groups * a > LBM_HOSTS_MAX ||
        groups * a * p > LBM_HOSTS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, where, 0,
                            "more than %d hosts, (A H + 1) A P; the form is dragonfly:A,H,P", LBM_HOSTS_MAX);
    struct dragonfly d = {number[0], number[1], number[2], (uint32_t)groups, (uint32_t)(groups * a * p)};
    struct lbm_hosts hosts = {0};
    enum lbm_err err = build(where, &d, &hosts, diag);
    if (err == LBM_OK)
        *out = hosts;
    else
        lbm_hosts_free(&hosts);
    return err;
}
