/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the members: the ACTIVE ones as a host graph, its colours and diameter, and places for
 * those who join (HEI97 section 10). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/view_internal.h"

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

static int
declares(const struct lbm_member *member, uint32_t host, uint32_t *cost)
{
    int found = 0;
    for (size_t k = 0; k < member->n_links; k++)
        if (member->links[k].q == host && (!found || member->links[k].cost < *cost)) {
            *cost = member->links[k].cost;
            found = 1;
        }
    return found;
}

/* Cost of the link of two members, or 0 if there is none. */
static uint32_t
link_cost(const struct lbm_member *a, const struct lbm_member *b)
{
    uint32_t one = 0, other = 0;
    int from_a = declares(a, b->host, &one), from_b = declares(b, a->host, &other);
    return from_a && from_b ? (one < other ? one : other) : from_a ? one : from_b ? other : 0;
}

/* Paths from the ACTIVE member at `from` through relays to other ACTIVE ones (Dijkstra; relays are few). */
static enum lbm_err
paths_through_relays(const struct lbm_view *view, size_t from, link_list *paths)
{
    size_t n = view->members.n;
    uint32_t *cost = lbm_alloc(n, sizeof *cost);
    uint8_t *done = lbm_alloc(n, 1);
    enum lbm_err err = cost == NULL || done == NULL ? LBM_E_NOMEM : LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < n; i++)
        cost[i] = LBM_NONE;
    size_t at = from;
    if (err == LBM_OK)
        cost[from] = 0;
    while (err == LBM_OK && at < n) {
        done[at] = 1;
        for (size_t i = 0; i < n && (at == from || is_relay(&view->members.at[at])); i++) {
            uint32_t step = done[i] ? 0 : link_cost(&view->members.at[at], &view->members.at[i]);
            if (step != 0 && cost[at] + step < cost[i])
                cost[i] = cost[at] + step;
        }
        if (at != from && view->members.at[at].state == LBM_MEMBER_ACTIVE) {
            struct lbm_link path = {lbm_view_number(view, view->members.at[from].host),
                                    lbm_view_number(view, view->members.at[at].host), cost[at]};
            err = path.p < path.q ? lbm_vec_push(paths, path) : LBM_OK;
        }
        at = n;
        for (size_t i = 0; i < n; i++)
            if (!done[i] && cost[i] != LBM_NONE && (at == n || cost[i] < cost[at]))
                at = i;
    }
    free(cost);
    free(done);
    return err;
}

static int
by_cost_then_ends(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost ? -1 : 1) : by_ends_then_cost(a, b);
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
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; parts > 1 && err == LBM_OK && i < view->members.n; i++)
        if (view->members.at[i].state == LBM_MEMBER_ACTIVE)
            err = paths_through_relays(view, i, &paths);
    if (err == LBM_OK && paths.n != 0)
        qsort(paths.at, paths.n, sizeof *paths.at, by_cost_then_ends);
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

/* Links between ACTIVE members by number; a link counts if either end declares it, the cheaper if both. */
static enum lbm_err
active_links(const struct lbm_view *view, struct lbm_link **links, size_t *n_links)
{
    link_list all = {0};
    uint32_t p = 0;
    for (size_t i = 0; i < view->members.n; i++) {
        const struct lbm_member *member = &view->members.at[i];
        if (member->state != LBM_MEMBER_ACTIVE)
            continue;
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
        p++;
    }
    if (all.n != 0)
        qsort(all.at, all.n, sizeof *all.at, by_ends_then_cost);
    size_t kept = 0;
    for (size_t i = 0; i < all.n; i++)
        if (kept == 0 || all.at[kept - 1].p != all.at[i].p || all.at[kept - 1].q != all.at[i].q)
            all.at[kept++] = all.at[i];
    all.n = kept;
    enum lbm_err err = bridge(view, p, &all);
    if (err != LBM_OK) {
        lbm_vec_free(&all);
        return err;
    }
    *links = all.at;
    *n_links = all.n;
    return LBM_OK;
}

/* The ACTIVE members as a host graph with these links. */
static enum lbm_err
build_linked(const struct lbm_view *view, const struct lbm_link *links, size_t n_links, struct lbm_hosts *out,
             struct lbm_diag *diag)
{
    uint32_t n = 0, number = 0;
    for (size_t i = 0; i < view->members.n; i++)
        n += view->members.at[i].state == LBM_MEMBER_ACTIVE;
    if (n == 0)
        return lbm_diag_set(diag, LBM_E_STATE, "cluster", 0, "no host is active yet");
    double *capacity = lbm_alloc(n, sizeof *capacity);
    double *site = lbm_alloc((size_t)n * view->m, sizeof *site);
    enum lbm_err err = capacity == NULL || site == NULL ? LBM_E_NOMEM : LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < view->members.n; i++) {
        const struct lbm_member *member = &view->members.at[i];
        if (member->state != LBM_MEMBER_ACTIVE)
            continue;
        capacity[number] = member->capacity;
        memcpy(&site[(size_t)number * view->m], member->site, view->m * sizeof *site);
        number++;
    }
    if (err == LBM_OK)
        err = lbm_hosts_build(n, links, n_links, capacity, view->m, site, out, diag);
    /* Sites stay as the log has them: a join must not move anybody else's. */
    if (err == LBM_OK)
        memcpy(out->site, site, (size_t)n * view->m * sizeof *site);
    free(capacity);
    free(site);
    return err;
}

enum lbm_err
lbm_view_build_hosts(const struct lbm_view *view, struct lbm_hosts *out, struct lbm_diag *diag)
{
    if (!view->routable)
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
    enum lbm_err err = build_linked(view, links, n_links, out, diag);
    free(links);
    return err;
}

static enum lbm_err
number_members(struct lbm_view *view)
{
    view->active.n = 0;
    for (size_t i = 0; i < view->members.n; i++) {
        struct lbm_member *member = &view->members.at[i];
        if (member->state != LBM_MEMBER_ACTIVE)
            continue;
        member->number = (uint32_t)view->active.n;
        if (lbm_vec_push(&view->active, member->host) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
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
    enum lbm_err err = build_linked(view, links, n_links, &view->hosts, &diag);
    if (err == LBM_E_NOMEM)
        return err;
    if (err != LBM_OK) {
        view->hosts = (struct lbm_hosts){0};
        snprintf(view->unroutable, sizeof view->unroutable, "%s", diag.text);
        return LBM_OK;
    }
    size_t directions = view->hosts.offset[view->hosts.n];
    view->colour = lbm_alloc(directions, sizeof *view->colour);
    if (view->colour == NULL)
        return LBM_E_NOMEM;
    view->n_colours = directions == 0 ? 0 : lbm_hosts_colour(&view->hosts, view->colour);
    if (view->n_colours == 0 && directions != 0)
        return LBM_E_NOMEM;
    view->diameter = lbm_hosts_diameter_hops(&view->hosts);
    view->routable = 1;
    return LBM_OK;
}

enum lbm_err
lbm_view_derive(struct lbm_view *view)
{
    struct lbm_link *links = NULL;
    size_t n_links = 0;
    view->topology = view->index + 1;
    enum lbm_err err = number_members(view);
    if (err == LBM_OK)
        err = active_links(view, &links, &n_links);
    if (err == LBM_OK)
        err = derive_linked(view, links, n_links);
    free(links);
    return err;
}

enum lbm_err
lbm_view_restore_hosts(struct lbm_view *view, const struct lbm_link *links, size_t n_links)
{
    enum lbm_err err = number_members(view);
    return err == LBM_OK ? derive_linked(view, links, n_links) : err;
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
