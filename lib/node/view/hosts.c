/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the members: the ACTIVE ones as a host graph, its colours and diameter, and places for
 * those who join (HEI97 section 10). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/view/internal.h"

static int
by_ends_then_cost(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    if (x->q != y->q)
        return x->q < y->q ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

typedef LBM_VEC(struct lbm_link) link_list;

static uint32_t
root_of(uint32_t *parent, uint32_t p)
{
    while (parent[p] != p)
        p = parent[p] = parent[parent[p]];
    return p;
}

/* A member that stands between others in the network, although it has no region: not yet, or not any more. */
static int
is_relay(const struct lbm_member *member)
{
    return member->state != LBM_MEMBER_ACTIVE;
}

/* ---- ways through relays ------------------------------------------------------------------------------- */

/* A place that a search has reached, at that cost. */
struct stop {
    uint64_t cost;
    uint32_t at;
};

/* Declared links of all members, in both directions; members by their place. */
struct ways {
    uint32_t *offset; /* [n + 1] */
    struct residual_hop {
        uint32_t to, cost;
    } * way;        /* [offset[n]] */
    uint64_t *cost; /* [n] of the search at hand; UINT64_MAX: not reached */
    uint8_t *done;  /* [n] */
    LBM_VEC(uint32_t) reached;
    LBM_VEC(struct stop) next; /* a binary heap, the cheapest first; a place may be there more than once */
};

static void
ways_free(struct ways *ways)
{
    free(ways->offset);
    free(ways->way);
    free(ways->cost);
    free(ways->done);
    lbm_vec_free(&ways->reached);
    lbm_vec_free(&ways->next);
}

static uint32_t
place_of(const struct lbm_view *view, uint32_t host)
{
    return host < view->place.n ? view->place.at[host].member : LBM_NONE;
}

/* The link of two members, if both were there when the host graph became another one: LBM_NONE or the place
 * of its other end. */
static uint32_t
way_from(const struct lbm_view *view, const struct lbm_member *member, const struct lbm_link *link)
{
    uint32_t q = link->q != member->host ? place_of(view, link->q) : LBM_NONE;
    int there =
        q != LBM_NONE && member->since <= view->topology && view->members.at[q].since <= view->topology;
    return there ? q : LBM_NONE;
}

static enum lbm_err
ways_build(const struct lbm_view *view, struct ways *ways)
{
    size_t n = view->members.n, directions = 0;
    for (size_t i = 0; i < n; i++)
        directions += 2 * view->members.at[i].n_links;
    *ways = (struct ways){.offset = lbm_alloc(n + 2, sizeof *ways->offset),
                          .way = lbm_alloc(directions, sizeof *ways->way),
                          .cost = lbm_alloc(n, sizeof *ways->cost),
                          .done = lbm_alloc(n, 1)};
    if (ways->offset == NULL || ways->way == NULL || ways->cost == NULL || ways->done == NULL)
        return LBM_E_NOMEM;
    /* First count into the place after next, so that filling moves each offset to where it belongs. */
    for (int fill = 0; fill < 2; fill++) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < view->members.at[i].n_links; k++) {
                const struct lbm_link *link = &view->members.at[i].links[k];
                uint32_t q = way_from(view, &view->members.at[i], link), p = (uint32_t)i;
                if (q == LBM_NONE)
                    continue;
                if (!fill) {
                    ways->offset[p + 2]++;
                    ways->offset[q + 2]++;
                    continue;
                }
                ways->way[ways->offset[p + 1]++] = (struct residual_hop){q, link->cost};
                ways->way[ways->offset[q + 1]++] = (struct residual_hop){p, link->cost};
            }
        for (size_t i = 2; !fill && i < n + 2; i++)
            ways->offset[i] += ways->offset[i - 1];
    }
    for (size_t i = 0; i < n; i++)
        ways->cost[i] = UINT64_MAX;
    return LBM_OK;
}

static enum lbm_err
put_stop(struct ways *ways, struct stop stop)
{
    enum lbm_err err = lbm_vec_push(&ways->next, stop);
    if (err != LBM_OK)
        return err;
    size_t i = ways->next.n - 1;
    for (; i != 0 && stop.cost < ways->next.at[(i - 1) / 2].cost; i = (i - 1) / 2)
        ways->next.at[i] = ways->next.at[(i - 1) / 2];
    ways->next.at[i] = stop;
    return LBM_OK;
}

/* There is one. */
static struct stop
take_stop(struct ways *ways)
{
    struct stop *at = ways->next.at, first = at[0], last = at[--ways->next.n];
    size_t n = ways->next.n, i = 0;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && at[child + 1].cost < at[child].cost;
        if (at[child].cost >= last.cost)
            break;
        at[i] = at[child];
    }
    at[i] = last;
    return first;
}

static enum lbm_err
reach(struct ways *ways, uint32_t to, uint64_t cost)
{
    if (cost >= ways->cost[to])
        return LBM_OK;
    enum lbm_err err = ways->cost[to] == UINT64_MAX ? lbm_vec_push(&ways->reached, to) : LBM_OK;
    ways->cost[to] = cost;
    return err == LBM_OK ? put_stop(ways, (struct stop){cost, to}) : err;
}

/* Paths from the ACTIVE member at `from` through relays to other ACTIVE ones (Dijkstra). While a large
 * cluster begins, nearly all are relays. */
static enum lbm_err
paths_through_relays(const struct lbm_view *view, struct ways *ways, uint32_t from, link_list *paths)
{
    enum lbm_err err = reach(ways, from, 0);
    while (err == LBM_OK && ways->next.n != 0) {
        uint32_t at = take_stop(ways).at;
        int goes_on = at == from || is_relay(&view->members.at[at]);
        if (ways->done[at])
            continue;
        ways->done[at] = 1;
        for (uint32_t e = ways->offset[at]; goes_on && err == LBM_OK && e < ways->offset[at + 1]; e++)
            err = reach(ways, ways->way[e].to, ways->cost[at] + ways->way[e].cost);
        uint32_t p = lbm_view_number(view, view->members.at[from].host);
        uint32_t q = lbm_view_number(view, view->members.at[at].host);
        if (err == LBM_OK && at != from && q != LBM_NONE) {
            struct lbm_link path = {p < q ? p : q, p < q ? q : p, (uint32_t)ways->cost[at]};
            err = lbm_vec_push(paths, path);
        }
    }
    for (size_t i = 0; i < ways->reached.n; i++) {
        ways->cost[ways->reached.at[i]] = UINT64_MAX;
        ways->done[ways->reached.at[i]] = 0;
    }
    ways->reached.n = ways->next.n = 0;
    return err;
}

static int
by_cost_then_ends(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost ? -1 : 1) : by_ends_then_cost(a, b);
}

/* Root of the largest part: who is in it need not search, since every path that matters has another end. */
static enum lbm_err
largest_part(uint32_t *parent, uint32_t n, uint32_t *root)
{
    uint32_t *size = lbm_alloc(n, sizeof *size);
    if (size == NULL)
        return LBM_E_NOMEM;
    *root = LBM_NONE;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t r = root_of(parent, p);
        size[r]++;
        if (*root == LBM_NONE || size[r] > size[*root])
            *root = r;
    }
    free(size);
    return LBM_OK;
}

static enum lbm_err
paths_between_parts(const struct lbm_view *view, uint32_t *parent, link_list *paths)
{
    struct ways ways;
    uint32_t largest = LBM_NONE;
    enum lbm_err err = ways_build(view, &ways);
    if (err == LBM_OK)
        err = largest_part(parent, (uint32_t)view->active.n, &largest);
    for (uint32_t p = 0; err == LBM_OK && p < view->active.n; p++)
        if (root_of(parent, p) != largest)
            err = paths_through_relays(view, &ways, place_of(view, lbm_view_host(view, p)), paths);
    ways_free(&ways);
    if (err == LBM_OK && paths->n != 0)
        qsort(paths->at, paths->n, sizeof *paths->at, by_cost_then_ends);
    return err;
}

/* A host that goes must not cut the others apart: where its links held parts together, the cheapest paths
 * through it become links (a spanning forest, Kruskal). Nothing changes for hosts that are connected. */
static enum lbm_err
bridge(const struct lbm_view *view, uint32_t n_active, link_list *links)
{
    uint32_t *parent = lbm_alloc(n_active, sizeof *parent), parts = n_active;
    link_list paths = {0};
    if (parent == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < n_active; p++)
        parent[p] = p;
    for (size_t i = 0; i < links->n; i++) {
        uint32_t p = root_of(parent, links->at[i].p), q = root_of(parent, links->at[i].q);
        parts -= p != q;
        parent[p] = q;
    }
    enum lbm_err err = parts > 1 ? paths_between_parts(view, parent, &paths) : LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < paths.n; i++) {
        uint32_t p = root_of(parent, paths.at[i].p), q = root_of(parent, paths.at[i].q);
        if (p == q)
            continue;
        parent[p] = q;
        err = lbm_vec_push(links, paths.at[i]);
    }
    lbm_vec_free(&paths);
    free(parent);
    return err;
}

/* ---- the host graph ------------------------------------------------------------------------------------ */

/* Links between ACTIVE members by number; a link counts if either end declares it, the cheaper if both. */
static enum lbm_err
active_links(const struct lbm_view *view, struct lbm_link **links, size_t *n_links)
{
    link_list all = {0};
    for (uint32_t p = 0; p < view->active.n; p++) {
        const struct lbm_member *member = lbm_view_member(view, view->active.at[p]);
        for (size_t k = 0; k < member->n_links; k++) {
            uint32_t q = lbm_view_number(view, member->links[k].q);
            if (q == LBM_NONE || q == p)
                continue;
            struct lbm_link link = {p < q ? p : q, p < q ? q : p, member->links[k].cost};
            if (lbm_vec_push(&all, link) != LBM_OK) {
                lbm_vec_free(&all);
                return LBM_E_NOMEM;
            }
        }
    }
    if (all.n != 0)
        qsort(all.at, all.n, sizeof *all.at, by_ends_then_cost);
    size_t kept = 0;
    for (size_t i = 0; i < all.n; i++)
        if (kept == 0 || all.at[kept - 1].p != all.at[i].p || all.at[kept - 1].q != all.at[i].q)
            all.at[kept++] = all.at[i];
    all.n = kept;
    enum lbm_err err = bridge(view, (uint32_t)view->active.n, &all);
    if (err != LBM_OK) {
        lbm_vec_free(&all);
        return err;
    }
    *links = all.at;
    *n_links = all.n;
    return LBM_OK;
}

typedef enum lbm_err build_fn(uint32_t n, const struct lbm_link *links, size_t n_links,
                              const double *capacity, unsigned m, const double *site, struct lbm_hosts *out,
                              struct lbm_diag *diag);

/* The ACTIVE members as a host graph with these links. */
static enum lbm_err
build_linked(const struct lbm_view *view, build_fn *build, const struct lbm_link *links, size_t n_links,
             struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint32_t n = (uint32_t)view->active.n;
    if (n == 0)
        return lbm_diag_set(diag, LBM_E_STATE, "cluster", 0, "no host is active yet");
    double *capacity = lbm_alloc(n, sizeof *capacity);
    double *site = lbm_alloc((size_t)n * view->m, sizeof *site);
    enum lbm_err err = capacity == NULL || site == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t p = 0; err == LBM_OK && p < n; p++) {
        const struct lbm_member *member = lbm_view_member(view, view->active.at[p]);
        capacity[p] = member->capacity;
        memcpy(&site[(size_t)p * view->m], member->site, view->m * sizeof *site);
    }
    if (err == LBM_OK)
        err = build(n, links, n_links, capacity, view->m, site, out, diag);
    /* Sites stay as the log has them: a join must not move anybody else's. */
    if (err == LBM_OK)
        memcpy(out->site, site, (size_t)n * view->m * sizeof *site);
    free(capacity);
    free(site);
    return err;
}

enum lbm_err
lbm_view_build_hosts(struct lbm_view *view, struct lbm_hosts *out, struct lbm_diag *diag)
{
    int routable;
    if (lbm_view_graph(view, &routable) != LBM_OK)
        return LBM_E_NOMEM;
    if (!routable)
        return lbm_diag_set(diag, LBM_E_STATE, "cluster", 0, "%s",
                            view->unroutable[0] != '\0' ? view->unroutable : "no host is active yet");
    /* The links that hold now: who stood between others may have changed since without a word about it. */
    const struct lbm_hosts *h = &view->hosts;
    struct lbm_link *links = lbm_alloc(h->offset[h->n], sizeof *links);
    size_t n_links = 0;
    if (links == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (p < h->target[e])
                links[n_links++] = (struct lbm_link){p, h->target[e], h->cost[e]};
    enum lbm_err err = build_linked(view, lbm_hosts_build, links, n_links, out, diag);
    free(links);
    return err;
}

/* In a large cluster a change must not disturb hosts that are far from it. */
static uint32_t
colour_links(struct lbm_view *view)
{
    int is_large = view->hosts.n > LBM_VIEW_SMALL && view->hosts.topology == LBM_TOPOLOGY_FILE;
    return is_large ? lbm_hosts_colour_stable(&view->hosts, view->active.at, view->colour)
                    : lbm_hosts_colour(&view->hosts, view->colour);
}

static enum lbm_err
derive_linked(struct lbm_view *view, const struct lbm_link *links, size_t n_links)
{
    lbm_hosts_free(&view->hosts);
    view->hosts = (struct lbm_hosts){0};
    free(view->colour);
    view->colour = NULL;
    view->n_colours = 0;
    view->routable = 0;
    struct lbm_diag diag = {0};
    enum lbm_err err = build_linked(view, lbm_hosts_build_unrouted, links, n_links, &view->hosts, &diag);
    if (err == LBM_E_NOMEM)
        return err;
    view->is_stale = 0;
    if (err != LBM_OK) {
        view->hosts = (struct lbm_hosts){0};
        snprintf(view->unroutable, sizeof view->unroutable, "%s", diag.text);
        return LBM_OK;
    }
    size_t directions = view->hosts.offset[view->hosts.n];
    view->colour = lbm_alloc(directions, sizeof *view->colour);
    if (view->colour == NULL)
        return LBM_E_NOMEM;
    view->n_colours = directions == 0 ? 0 : colour_links(view);
    if (view->n_colours == 0 && directions != 0)
        return LBM_E_NOMEM;
    view->diameter = lbm_hosts_diameter_within(&view->hosts, LBM_VIEW_HORIZON);
    view->routable = 1;
    return LBM_OK;
}

enum lbm_err
lbm_view_graph(struct lbm_view *view, int *routable)
{
    struct lbm_link *links = NULL;
    size_t n_links = 0;
    enum lbm_err err = view->is_stale ? active_links(view, &links, &n_links) : LBM_OK;
    if (err == LBM_OK && view->is_stale)
        err = derive_linked(view, links, n_links);
    free(links);
    *routable = view->routable;
    return err;
}

void
lbm_view_derive(struct lbm_view *view)
{
    view->topology = view->index + 1;
    view->is_stale = 1;
}

enum lbm_err
lbm_view_restore_hosts(struct lbm_view *view, const struct lbm_link *links, size_t n_links)
{
    return derive_linked(view, links, n_links);
}

void
lbm_view_site_near(const struct lbm_view *view, uint32_t host, double site[LBM_DIMENSIONS_MAX])
{
    double sum[LBM_DIMENSIONS_MAX] = {0}, least = 1;
    uint32_t linked = 0;
    for (size_t i = 0; i < view->members.n; i++) {
        const struct lbm_member *a = &view->members.at[i];
        if (a->state != LBM_MEMBER_ACTIVE || a->host == host)
            continue;
        int is_linked = 0;
        for (size_t k = 0; k < a->n_links; k++)
            is_linked |= a->links[k].q == host;
        const struct lbm_member *self = lbm_view_member(view, host);
        for (size_t k = 0; self != NULL && k < self->n_links; k++)
            is_linked |= self->links[k].q == a->host;
        for (unsigned k = 0; is_linked && k < view->m; k++)
            sum[k] += a->site[k];
        linked += (uint32_t)is_linked;
        for (size_t j = 0; j < i; j++) {
            const struct lbm_member *b = &view->members.at[j];
            double d2 = 0;
            for (unsigned k = 0; k < view->m; k++)
                d2 += (a->site[k] - b->site[k]) * (a->site[k] - b->site[k]);
            if (b->state == LBM_MEMBER_ACTIVE && d2 > 0 && sqrt(d2) < least)
                least = sqrt(d2);
        }
    }
    /* Aside in a direction that differs from host to host (golden angle). */
    double angle = 2.399963229728653 * host;
    double aside[LBM_DIMENSIONS_MAX] = {cos(angle), sin(angle), 0};
    for (unsigned k = 0; k < view->m; k++) {
        double x = linked != 0 ? sum[k] / linked + 0.5 * least * aside[k] : 0.5;
        site[k] = x < 0 ? 0 : x > 1 ? 1 : x;
    }
}
