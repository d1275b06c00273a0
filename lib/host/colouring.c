/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The links in the order of a sweep. */
#include "host/colouring.h"

#include <stdlib.h>

#include "host/internal.h"

/* Pairs of links that meet, above which the line graph is not built: some 100 MB of it. */
static const uint64_t LINE_GRAPH_EDGES_MAX = 2000000;

static const char *const method_texts[] = {
#define METHOD_TEXT(id, text) [LBM_COLOURING_##id] = text,
    LBM_COLOURING_LIST(METHOD_TEXT)
#undef METHOD_TEXT
};

const char *
lbm_colouring_method_text(enum lbm_colouring_method method)
{
    return method_texts[method];
}

/* ---- what h is ----------------------------------------------------------------------------------- */

static uint32_t
largest_degree(const struct lbm_hosts *h)
{
    uint32_t largest = 0;
    for (uint32_t p = 0; p < h->n; p++)
        if (h->offset[p + 1] - h->offset[p] > largest)
            largest = h->offset[p + 1] - h->offset[p];
    return largest;
}

static uint64_t
line_graph_edges(const struct lbm_hosts *h)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < h->n; p++) {
        uint64_t own = h->offset[p + 1] - h->offset[p];
        sum += own == 0 ? 0 : own * (own - 1) / 2;
    }
    return sum;
}

/* Whether the hosts fall into two sides with every link between them.  Errors: LBM_E_NOMEM. */
static enum lbm_err
find_sides(const struct lbm_hosts *h, int *bipartite)
{
    uint32_t *hops = lbm_alloc(h->n, sizeof *hops), *order = lbm_alloc(h->n, sizeof *order);
    if (hops == NULL || order == NULL) {
        free(hops);
        free(order);
        return LBM_E_NOMEM;
    }
    if (h->n > 0)
        lbm_hosts_hops(h, 0, hops, order);
    *bipartite = 1;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            if (hops[p] % 2 == hops[h->target[i]] % 2)
                *bipartite = 0;
    free(hops);
    free(order);
    return LBM_OK;
}

static int
has_closed_form(const struct lbm_hosts *h)
{
    return h->topology != LBM_TOPOLOGY_FILE && h->topology != LBM_TOPOLOGY_HIER;
}

/* ---- making -------------------------------------------------------------------------------------- */

/* Each link once, in the order of the rows, and its colour of lbm_hosts_colour. */
static void
list_links(const struct lbm_hosts *h, const uint32_t *by_direction, struct lbm_link *link, uint32_t *colour)
{
    uint32_t k = 0;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t i = h->offset[p]; i < h->offset[p + 1]; i++)
            if (p < h->target[i]) {
                link[k] = (struct lbm_link){p, h->target[i], h->cost[i]};
                colour[k++] = by_direction[i];
            }
}

/* A counting sort: stable, so that links stay ordered by p within a colour. */
static void
sort_links(struct lbm_colouring *c, const struct lbm_link *link, const uint32_t *colour)
{
    for (uint32_t i = 0; i < c->n_links; i++)
        c->first[colour[i] + 1]++;
    for (uint32_t i = 0; i < c->n_colours; i++)
        c->first[i + 1] += c->first[i];
    for (uint32_t i = 0; i < c->n_links; i++)
        c->link[c->first[colour[i]]++] = link[i];
    for (uint32_t i = c->n_colours; i > 0; i--)
        c->first[i] = c->first[i - 1];
    c->first[0] = 0;
}

/* Replace the colours by igraph's if these are fewer. */
static void
try_greedy(struct lbm_colouring *c, const struct lbm_link *link, uint32_t *colour)
{
    uint32_t *other = lbm_alloc(c->n_links, sizeof *other), used = 0;
    if (other == NULL || lbm_colour_greedy(c->n_hosts, link, c->n_links, other) != LBM_OK) {
        free(other);
        return;
    }
    for (uint32_t i = 0; i < c->n_links; i++)
        used = other[i] >= used ? other[i] + 1 : used;
    for (uint32_t i = 0; i < c->n_links && used < c->n_colours; i++)
        colour[i] = other[i];
    if (used < c->n_colours) {
        c->n_colours = used;
        c->method = LBM_COLOURING_GREEDY;
    }
    free(other);
}

static enum lbm_err
choose(const struct lbm_hosts *h, struct lbm_colouring *c, const uint32_t *by_direction,
       struct lbm_link *link, uint32_t *colour)
{
    int bipartite = 0;
    if (find_sides(h, &bipartite) != LBM_OK)
        return LBM_E_NOMEM;
    c->method = has_closed_form(h) ? LBM_COLOURING_CLOSED
                : bipartite        ? LBM_COLOURING_KOENIG
                                   : LBM_COLOURING_MISRA_GRIES;
    list_links(h, by_direction, link, colour);
    if (c->method == LBM_COLOURING_MISRA_GRIES && c->n_colours > c->degree &&
        line_graph_edges(h) <= LINE_GRAPH_EDGES_MAX)
        try_greedy(c, link, colour);
    return LBM_OK;
}

enum lbm_err
lbm_colouring_make(const struct lbm_hosts *h, struct lbm_colouring *out)
{
    uint32_t directions = h->offset[h->n], n_links = directions / 2;
    struct lbm_colouring c = {.n_hosts = h->n, .n_links = n_links, .degree = largest_degree(h)};
    uint32_t *by_direction = lbm_alloc(directions, sizeof *by_direction);
    uint32_t *colour = lbm_alloc(n_links, sizeof *colour);
    struct lbm_link *link = lbm_alloc(n_links, sizeof *link);
    enum lbm_err err = by_direction && colour && link ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK && n_links > 0) {
        c.n_colours = lbm_hosts_colour(h, by_direction);
        err = c.n_colours == 0 ? LBM_E_NOMEM : choose(h, &c, by_direction, link, colour);
    }
    c.link = lbm_alloc(n_links, sizeof *c.link);
    c.first = lbm_alloc((size_t)c.n_colours + 1, sizeof *c.first);
    if (c.link == NULL || c.first == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK) {
        sort_links(&c, link, colour);
        *out = c;
    } else {
        lbm_colouring_free(&c);
    }
    free(by_direction);
    free(colour);
    free(link);
    return err;
}

void
lbm_colouring_free(struct lbm_colouring *c)
{
    free(c->link);
    free(c->first);
    *c = (struct lbm_colouring){0};
}

int
lbm_colouring_is_proper(const struct lbm_colouring *c)
{
    uint32_t *busy = lbm_alloc(c->n_hosts, sizeof *busy); /* 1 + the last colour seen at a host */
    int proper = busy != NULL && c->first[c->n_colours] == c->n_links;
    for (uint32_t k = 0; proper && k < c->n_colours; k++) {
        proper = c->first[k] < c->first[k + 1];
        for (uint32_t i = c->first[k]; i < c->first[k + 1]; i++) {
            const struct lbm_link *l = &c->link[i];
            if (busy[l->p] == k + 1 || busy[l->q] == k + 1)
                proper = 0;
            busy[l->p] = busy[l->q] = k + 1;
        }
    }
    free(busy);
    return proper;
}
