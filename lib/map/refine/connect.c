/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts in one piece: what a host has of a component of the guest is connected.
 *
 * Pieces beyond the heaviest one go to hosts that they touch; each such step leaves one piece less. Then
 * loads are brought into their bounds, and J is lowered, by steps of single vertices that part no piece. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"

enum { PASSES = 6, STEPS_PER_VERTEX = 8 };

static const uint64_t WORK_MAX = 500000000; /* steps times edges: some seconds */

/* Vertices of one host and one component that are connected inside the host. */
struct piece {
    uint32_t host, component;
    uint32_t first, n; /* in order */
    uint64_t work;
    int is_pinned;  /* holds a pinned vertex */
    int is_touched; /* something has joined it in this round */
};

struct connector {
    const struct mapping *m;
    uint64_t *load;      /* [hosts] */
    uint32_t *component; /* [n] of the guest */
    uint32_t *label;     /* [n] piece of each vertex */
    uint32_t *order;     /* [n] vertices by piece; a queue between uses */
    uint32_t *mark;      /* [n] stamp of the last search that met the vertex */
    uint32_t stamp;
    uint32_t *hops; /* [hosts] scratch: from a host to the nearest with free capacity */
    LBM_VEC(struct piece) pieces;
};

static enum lbm_err
connector_open(struct connector *c, const struct mapping *m)
{
    uint32_t n = m->g->n;
    *c = (struct connector){.m = m,
                            .load = lbm_alloc(m->h->n, sizeof *c->load),
                            .component = lbm_alloc(n, sizeof *c->component),
                            .label = lbm_alloc(n, sizeof *c->label),
                            .order = lbm_alloc(n, sizeof *c->order),
                            .mark = lbm_alloc(n, sizeof *c->mark),
                            .hops = lbm_alloc(m->h->n, sizeof *c->hops)};
    if (c->load == NULL || c->component == NULL || c->label == NULL || c->order == NULL || c->mark == NULL ||
        c->hops == NULL || (n > 0 && lbm_graph_components(m->g, c->component) == 0))
        return LBM_E_NOMEM;
    lbm_map_loads(m->g, m->h->n, m->part, c->load);
    return LBM_OK;
}

static void
connector_close(struct connector *c)
{
    free(c->load);
    free(c->component);
    free(c->label);
    free(c->order);
    free(c->mark);
    free(c->hops);
    lbm_vec_free(&c->pieces);
}

/* ---- pieces ------------------------------------------------------------------------------------------- */

static void
fill_piece(struct connector *c, uint32_t v, struct piece *piece, uint32_t label)
{
    const struct lbm_graph *g = c->m->g;
    c->label[v] = label;
    c->order[piece->first] = v;
    for (piece->n = 1, v = 0; v < piece->n; v++) {
        uint32_t u = c->order[piece->first + v];
        piece->work += lbm_graph_work(g, u);
        piece->is_pinned |= mapping_pinned(c->m, u);
        for (uint64_t e = g->offset[u]; e < g->offset[u + 1]; e++) {
            uint32_t w = g->target[e];
            if (c->label[w] != LBM_NONE || c->m->part[w] != piece->host)
                continue;
            c->label[w] = label;
            c->order[piece->first + piece->n++] = w;
        }
    }
}

static enum lbm_err
find_pieces(struct connector *c)
{
    uint32_t done = 0;
    enum lbm_err err = LBM_OK;
    c->pieces.n = 0;
    for (uint32_t v = 0; v < c->m->g->n; v++)
        c->label[v] = LBM_NONE;
    for (uint32_t v = 0; v < c->m->g->n && err == LBM_OK; v++) {
        if (c->label[v] != LBM_NONE)
            continue;
        struct piece piece = {.host = c->m->part[v], .component = c->component[v], .first = done};
        fill_piece(c, v, &piece, (uint32_t)c->pieces.n);
        done += piece.n;
        err = lbm_vec_push(&c->pieces, piece);
    }
    return err;
}

/* Pieces of a host and a component side by side, the one that stays first: with pins, else the heaviest. */
static int
by_place(const void *a, const void *b)
{
    const struct piece *const *x = a, *const *y = b;
    const struct piece *p = *x, *q = *y;
    if (p->host != q->host)
        return p->host < q->host ? -1 : 1;
    if (p->component != q->component)
        return p->component < q->component ? -1 : 1;
    if (p->is_pinned != q->is_pinned)
        return p->is_pinned ? -1 : 1;
    if (p->work != q->work)
        return p->work > q->work ? -1 : 1;
    return (p->first > q->first) - (p->first < q->first);
}

/* Lists the pieces beyond the first of each host and component. Value: how many. */
static size_t
list_strays(const struct connector *c, struct piece **list)
{
    size_t n = c->pieces.n, strays = 0;
    for (size_t i = 0; i < n; i++)
        list[i] = &c->pieces.at[i];
    qsort(list, n, sizeof *list, by_place);
    const struct piece *last = NULL;
    for (size_t i = 0; i < n; i++) {
        struct piece *piece = list[i];
        if (last != NULL && last->host == piece->host && last->component == piece->component)
            list[strays++] = piece;
        last = piece;
    }
    return strays;
}

static uint64_t
excess_of(const struct connector *c, uint32_t p, uint64_t load)
{
    const struct mapping *m = c->m;
    uint64_t over = load > m->limit[p] ? load - m->limit[p] : 0;
    return m->least != NULL && load < m->least[p] ? m->least[p] - load : over;
}

/* Increase of J if a piece goes to host q. */
static int64_t
cost_of(const struct connector *c, const struct piece *piece, uint32_t q)
{
    const struct lbm_graph *g = c->m->g;
    int64_t cost = 0;
    for (uint32_t i = piece->first; i < piece->first + piece->n; i++)
        for (uint64_t e = g->offset[c->order[i]]; e < g->offset[c->order[i] + 1]; e++) {
            uint32_t r = c->m->part[g->target[e]];
            if (c->label[g->target[e]] != c->label[c->order[i]])
                cost += (int64_t)lbm_graph_weight(g, e) *
                        ((int64_t)lbm_dist(c->m->h, q, r) - (int64_t)lbm_dist(c->m->h, piece->host, r));
        }
    return cost;
}

/* The host that a piece touches where it does least harm; LBM_NONE: it touches none. */
static uint32_t
best_host(const struct connector *c, const struct piece *piece)
{
    const struct lbm_graph *g = c->m->g;
    uint32_t best = LBM_NONE;
    uint64_t least = 0;
    int64_t cheapest = 0;
    for (uint32_t i = piece->first; i < piece->first + piece->n; i++)
        for (uint64_t e = g->offset[c->order[i]]; e < g->offset[c->order[i] + 1]; e++) {
            uint32_t q = c->m->part[g->target[e]];
            if (q == piece->host || q == best)
                continue;
            uint64_t excess = excess_of(c, q, c->load[q] + piece->work);
            if (best != LBM_NONE && excess > least)
                continue;
            int64_t cost = cost_of(c, piece, q);
            if (best == LBM_NONE || excess < least || cost < cheapest) {
                best = q;
                least = excess;
                cheapest = cost;
            }
        }
    return best;
}

static void
move_piece(struct connector *c, const struct piece *piece, uint32_t q)
{
    const struct lbm_graph *g = c->m->g;
    for (uint32_t i = piece->first; i < piece->first + piece->n; i++) {
        uint32_t v = c->order[i];
        c->m->part[v] = q;
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (c->m->part[g->target[e]] == q)
                c->pieces.at[c->label[g->target[e]]].is_touched = 1;
    }
    c->load[piece->host] -= piece->work;
    c->load[q] += piece->work;
}

/* Move every stray piece that nothing has joined. Value: whether there was one. */
static int
join_strays(struct connector *c, struct piece **list)
{
    size_t n = list_strays(c, list);
    int any = 0;
    for (size_t i = n; i-- > 0;) {
        struct piece *piece = list[i];
        uint32_t q = piece->is_pinned || piece->is_touched ? LBM_NONE : best_host(c, piece);
        if (q == LBM_NONE)
            continue;
        move_piece(c, piece, q);
        any = 1;
    }
    return any;
}

static enum lbm_err
join_all(struct connector *c)
{
    int any = 1;
    enum lbm_err err = LBM_OK;
    while (any && err == LBM_OK && (err = find_pieces(c)) == LBM_OK) {
        struct piece **list = lbm_alloc(c->pieces.n, sizeof(*list));
        if (list == NULL)
            return LBM_E_NOMEM;
        any = join_strays(c, list);
        free(list);
    }
    return err;
}

/* ---- steps that part nothing --------------------------------------------------------------------------- */

/* Whether the neighbours of v on its host are connected there without v. */
static int
may_leave(struct connector *c, uint32_t v)
{
    const struct lbm_graph *g = c->m->g;
    const uint32_t *part = c->m->part, p = part[v];
    uint32_t missing = 0, n = 0;
    if (mapping_pinned(c->m, v))
        return 0;
    c->stamp += 2;
    c->mark[v] = c->stamp; /* met; the neighbours that are looked for have the stamp before */
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e];
        if (part[u] != p)
            continue;
        if (missing++ == 0) {
            c->mark[u] = c->stamp;
            c->order[n++] = u;
        } else {
            c->mark[u] = c->stamp - 1;
        }
    }
    if (missing <= 1)
        return 1;
    missing--;
    for (uint32_t i = 0; i < n && missing != 0; i++)
        for (uint64_t e = g->offset[c->order[i]]; e < g->offset[c->order[i] + 1]; e++) {
            uint32_t u = g->target[e];
            if (part[u] != p || c->mark[u] == c->stamp)
                continue;
            missing -= c->mark[u] == c->stamp - 1;
            c->mark[u] = c->stamp;
            c->order[n++] = u;
        }
    return missing == 0;
}

static void
move_vertex(struct connector *c, uint32_t v, uint32_t q)
{
    uint64_t work = lbm_graph_work(c->m->g, v);
    c->load[c->m->part[v]] -= work;
    c->load[q] += work;
    c->m->part[v] = q;
}

static uint64_t
excess_after(const struct connector *c, uint32_t v, uint32_t q)
{
    uint64_t work = lbm_graph_work(c->m->g, v);
    uint32_t p = c->m->part[v];
    return excess_of(c, p, c->load[p] - work) + excess_of(c, q, c->load[q] + work);
}

/* Vertices of the boundary go where J falls and the excess does not rise, or, for balance, where it falls.
 * Value: whether one went. */
static int
pass(struct connector *c, int for_balance)
{
    const struct lbm_graph *g = c->m->g;
    int any = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t p = c->m->part[v], best = LBM_NONE;
        int64_t most = 0;
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t q = c->m->part[g->target[e]];
            if (q == p || q == best)
                continue;
            uint64_t before = excess_of(c, p, c->load[p]) + excess_of(c, q, c->load[q]),
                     after = excess_after(c, v, q);
            int64_t gain = lbm_map_gain(g, c->m->h, c->m->part, v, q);
            if (for_balance ? after < before && (best == LBM_NONE || gain > most)
                            : after <= before && gain > most) {
                best = q;
                most = gain;
            }
        }
        if (best == LBM_NONE || !may_leave(c, v))
            continue;
        move_vertex(c, v, best);
        any = 1;
    }
    return any;
}

/* Hosts on the way from each to the nearest that may take more, over edges of the guest: hops. */
static void
find_free(struct connector *c)
{
    const struct mapping *m = c->m;
    const struct lbm_graph *g = m->g;
    int any = 1;
    for (uint32_t p = 0; p < m->h->n; p++)
        c->hops[p] = c->load[p] < m->limit[p] ? 0 : LBM_NONE - 1;
    while (any) {
        any = 0;
        for (uint32_t v = 0; v < g->n; v++)
            for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
                uint32_t p = m->part[v], q = m->part[g->target[e]];
                if (c->hops[q] + 1 < c->hops[p]) {
                    c->hops[p] = c->hops[q] + 1;
                    any = 1;
                }
            }
    }
}

/* One vertex of each host over its limit, and of those on the way, goes to a host nearer to free capacity:
 * the one that costs least. Value: whether one went. */
static int
push(struct connector *c)
{
    const struct mapping *m = c->m;
    const struct lbm_graph *g = m->g;
    uint32_t from = LBM_NONE, best = LBM_NONE, to = LBM_NONE;
    uint64_t most = 0;
    int64_t gain = INT64_MIN;
    for (uint32_t p = 0; p < m->h->n; p++)
        if (c->load[p] > m->limit[p] && c->load[p] - m->limit[p] > most) {
            most = c->load[p] - m->limit[p];
            from = p;
        }
    for (uint32_t v = 0; from != LBM_NONE && v < g->n; v++) {
        if (m->part[v] != from)
            continue;
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t q = m->part[g->target[e]];
            if (q == from || c->hops[q] >= c->hops[from])
                continue;
            int64_t worth = lbm_map_gain(g, m->h, m->part, v, q);
            if (worth > gain && may_leave(c, v)) {
                gain = worth;
                best = v;
                to = q;
            }
        }
    }
    if (best == LBM_NONE)
        return 0;
    move_vertex(c, best, to);
    return 1;
}

/* Loads into their bounds, as far as that goes; the best mapping met is kept. */
static enum lbm_err
balance(struct connector *c)
{
    const struct mapping *m = c->m;
    uint32_t n = m->g->n, *best = lbm_copy(m->part, n, sizeof *best);
    if (best == NULL)
        return LBM_E_NOMEM;
    uint64_t least = UINT64_MAX, steps = (uint64_t)STEPS_PER_VERTEX * n;
    uint64_t most = WORK_MAX / (lbm_graph_directions(m->g) + 1) + 1;
    steps = steps < most ? steps : most;
    for (uint64_t i = 0; i < steps; i++) {
        while (pass(c, 1))
            ;
        uint64_t excess = mapping_excess(m, c->load);
        if (excess < least) {
            least = excess;
            memcpy(best, m->part, n * sizeof *best);
        }
        if (excess == 0 || (i % 64 == 0 && mapping_stopped(m)))
            break;
        find_free(c);
        if (!push(c))
            break;
    }
    memcpy(m->part, best, n * sizeof *best);
    lbm_map_loads(m->g, m->h->n, m->part, c->load);
    free(best);
    return LBM_OK;
}

enum lbm_err
map_connect(const struct mapping *m)
{
    struct connector c;
    enum lbm_err err = connector_open(&c, m);
    if (err == LBM_OK)
        err = join_all(&c);
    if (err == LBM_OK && mapping_excess(m, c.load) != 0)
        err = balance(&c);
    for (int i = 0; i < PASSES && err == LBM_OK && pass(&c, 0); i++)
        ;
    connector_close(&c);
    return err;
}

enum lbm_err
lbm_map_pieces(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part, uint32_t *extra)
{
    uint32_t *own = lbm_copy(part, g->n, sizeof *own);
    struct mapping m = {.g = g, .h = h, .part = own};
    struct connector c = {0};
    enum lbm_err err = own == NULL ? LBM_E_NOMEM : connector_open(&c, &m);
    if (err == LBM_OK)
        err = find_pieces(&c);
    struct piece **list = err == LBM_OK ? lbm_alloc(c.pieces.n, sizeof(*list)) : NULL;
    if (err == LBM_OK && list == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        *extra = (uint32_t)list_strays(&c, list);
    free(list);
    free(own);
    connector_close(&c);
    return err;
}
