/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts of a hierarchy: groups within groups, whose distances are given by the level they share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "host/internal.h"

enum { ALL_PARTNERS_MAX = 256 /* members of a group that are linked pairwise */ };

struct range {
    uint32_t first, n;
};

static uint32_t
children(const struct lbm_group *g)
{
    return g->n_children != 0 ? g->n_children : g->n_hosts;
}

/* Hosts of the i-th child of g: of a group, or one host. */
static struct range
child(const struct lbm_group *groups, const struct lbm_group *g, uint32_t i)
{
    if (g->n_children == 0)
        return (struct range){g->first_host + i, 1};
    const struct lbm_group *c = &groups[g->first_child + i];
    return (struct range){c->first_host, c->n_hosts};
}

/* ---- distances and links ------------------------------------------------------------------------- */

static void
fill_distances(struct lbm_hosts *h, const struct lbm_group *groups, const struct lbm_group *g,
               const uint32_t *host_depth)
{
    uint32_t end = g->first_host + g->n_hosts;
    for (uint32_t i = 0; i < children(g); i++) {
        struct range own = child(groups, g, i);
        for (uint32_t p = own.first; p < own.first + own.n; p++)
            for (uint32_t q = own.first + own.n; q < end; q++) {
                uint32_t d = (uint32_t)(((uint64_t)host_depth[p] + host_depth[q]) / 2) - g->depth;
                h->dist[(size_t)p * h->n + q] = h->dist[(size_t)q * h->n + p] = d;
            }
    }
}

int
lbm_are_partners(uint32_t n, uint32_t i, uint32_t j)
{
    uint32_t ahead = j - i, back = n - ahead;
    return n <= ALL_PARTNERS_MAX || (ahead & (ahead - 1)) == 0 || (back & (back - 1)) == 0;
}

static enum lbm_err
add_links(const struct lbm_group *groups, const struct lbm_group *g, const uint32_t *host_depth,
          struct lbm_link_vec *links)
{
    for (uint32_t i = 0; i < children(g); i++)
        for (uint32_t j = i + 1; j < children(g); j++) {
            struct range a = child(groups, g, i), b = child(groups, g, j);
            if (!lbm_are_partners(children(g), i, j))
                continue;
            for (uint32_t k = 0; k < a.n && k < b.n; k++) {
                uint32_t p = a.first + k, q = b.first + k;
                uint32_t d = (uint32_t)(((uint64_t)host_depth[p] + host_depth[q]) / 2) - g->depth;
                struct lbm_link link = {p, q, d};
                if (links->n == LBM_LINKS_MAX)
                    return LBM_E_LIMIT;
                if (lbm_vec_push(links, link) != LBM_OK)
                    return LBM_E_NOMEM;
            }
        }
    return LBM_OK;
}

/* ---- sites: boxes within boxes ------------------------------------------------------------------- */

struct box {
    double lo[2], hi[2];
};

/* Cut the box of children i .. j - 1 of g in two of about equally many hosts, across its longer side, until
 * one child is left. Depth: levels of groups times log2 of their children. */
static void
place(const struct lbm_group *groups, const struct lbm_group *g, uint32_t i, uint32_t j, struct box box,
      double *site)
{
    if (j - i == 1 && g->n_children != 0) {
        const struct lbm_group *c = &groups[g->first_child + i];
        place(groups, c, 0, children(c), box, site);
        return;
    }
    struct range first = child(groups, g, i), last = child(groups, g, j - 1);
    if (j - i == 1) {
        for (unsigned k = 0; k < 2; k++)
            site[2 * (size_t)first.first + k] = 0.5 * (box.lo[k] + box.hi[k]);
        return;
    }
    uint32_t all = last.first + last.n - first.first, mid = i + 1, below = first.n;
    while (mid + 1 < j && below + child(groups, g, mid).n <= all / 2)
        below += child(groups, g, mid++).n;
    unsigned axis = box.hi[1] - box.lo[1] > box.hi[0] - box.lo[0];
    struct box low = box, high = box;
    low.hi[axis] = high.lo[axis] = box.lo[axis] + (box.hi[axis] - box.lo[axis]) * below / all;
    place(groups, g, i, mid, low, site);
    place(groups, g, mid, j, high, site);
}

static const struct box unit = {{0.0, 0.0}, {1.0, 1.0}};

enum lbm_err
lbm_sites_boxes(struct lbm_hosts *h)
{
    struct lbm_group all = {.n_hosts = h->n};
    LBM_ASSERT(h->m == 2);
    place(&all, &all, 0, h->n, unit, h->site);
    return LBM_OK;
}

/* ---- building ------------------------------------------------------------------------------------ */

enum lbm_err
lbm_hosts_from_groups(const char *where, const struct lbm_group *groups, uint32_t n_groups,
                      const uint32_t *host_depth, struct lbm_hosts *out, struct lbm_diag *diag)
{
    LBM_ASSERT(n_groups >= 1 && groups[0].first_host == 0 && groups[0].n_hosts >= 1);
    struct lbm_link_vec links = {0};
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < n_groups; i++)
        err = add_links(groups, &groups[i], host_depth, &links);
    if (err == LBM_E_LIMIT)
        err = lbm_diag_set(diag, err, where, 0, "more than %d links; make the groups smaller", LBM_LINKS_MAX);
    struct lbm_hosts h = {0};
    if (err == LBM_OK)
        err = lbm_hosts_link(groups[0].n_hosts, links.at, links.n, &h);
    lbm_vec_free(&links);
    if (err != LBM_OK)
        return err;
    for (uint32_t i = 0; i < n_groups; i++)
        fill_distances(&h, groups, &groups[i], host_depth);
    place(groups, &groups[0], 0, children(&groups[0]), unit, h.site);
    *out = h;
    return LBM_OK;
}

static enum lbm_err
check_levels(const char *where, const uint32_t *size, const uint32_t *cost, uint32_t levels,
             struct lbm_diag *diag)
{
    uint64_t n = 1;
    for (uint32_t l = 0; l < levels; l++) {
        if (size[l] < 1)
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0, "a group of 0 members; the least is 1");
        if (cost[l] < 1 || cost[l] > LBM_LINK_COST_MAX)
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                                "a cost of %" PRIu32 "; allowed is 1 .. %" PRIu32, cost[l],
                                LBM_LINK_COST_MAX);
        if (l > 0 && cost[l] < cost[l - 1])
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0,
                                "an outer level costs %" PRIu32 ", the level inside it %" PRIu32
                                "; costs must not fall outwards (innermost level first)",
                                cost[l], cost[l - 1]);
        n *= size[l];
        if (n > LBM_HOSTS_MAX)
            return lbm_diag_set(diag, LBM_E_LIMIT, where, 0, "more than %d hosts", LBM_HOSTS_MAX);
    }
    return LBM_OK;
}

/* Groups level by level from the outermost, so that children are consecutive and after their parent. */
static uint32_t
uniform_groups(const uint32_t *size, const uint32_t *cost, uint32_t levels, uint32_t n,
               struct lbm_group *groups)
{
    uint32_t n_groups = 0, across = 1, hosts = n;
    for (uint32_t l = levels; l-- > 0;) {
        uint32_t first_child = n_groups + across;
        for (uint32_t i = 0; i < across; i++)
            groups[n_groups++] = (struct lbm_group){
                .first_host = i * hosts,
                .n_hosts = hosts,
                .first_child = first_child + i * size[l],
                .n_children = l > 0 ? size[l] : 0,
                .depth = cost[levels - 1] - cost[l],
            };
        across *= size[l];
        hosts /= size[l];
    }
    return n_groups;
}

enum lbm_err
lbm_hosts_hierarchy(const char *where, const uint32_t *size, const uint32_t *cost, uint32_t levels,
                    struct lbm_hosts *out, struct lbm_diag *diag)
{
    LBM_ASSERT(levels >= 1 && levels <= LBM_GROUP_LEVELS_MAX);
    enum lbm_err err = check_levels(where, size, cost, levels, diag);
    if (err != LBM_OK)
        return err;
    uint32_t n = 1;
    for (uint32_t l = 0; l < levels; l++)
        n *= size[l];
    /* No level has more groups than there are hosts. */
    struct lbm_group *groups = lbm_alloc((size_t)n * levels, sizeof *groups);
    uint32_t *host_depth = lbm_alloc(n, sizeof *host_depth);
    err = groups != NULL && host_depth != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        for (uint32_t p = 0; p < n; p++)
            host_depth[p] = cost[levels - 1];
        uint32_t n_groups = uniform_groups(size, cost, levels, n, groups);
        err = lbm_hosts_from_groups(where, groups, n_groups, host_depth, out, diag);
    }
    if (err == LBM_OK)
        out->topology = LBM_TOPOLOGY_HIER;
    free(groups);
    free(host_depth);
    return err;
}
