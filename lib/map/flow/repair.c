/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that flows left out of bounds: single vertices go, or two are exchanged, whatever helps at the least
 * cost. And descent by the same steps inside the bounds, for guests that are small. */
#include <stdlib.h>

#include "base/mem.h"
#include "map/internal.h"

/* Pairs of vertices that are looked at: for one step, and in all. */
static const uint64_t LOOKS_STEP_MAX = 200000, LOOKS_MAX = 20000000;

enum { DESCENT_VERTICES_MAX = 4096, DESCENT_PASSES = 8 };

/* A vertex that goes to another host, and what may come back. */
struct step {
    uint32_t give, take; /* take LBM_NONE: nothing */
    uint32_t from, to;
    uint64_t relief; /* decrease of the excess */
    int64_t cost;    /* increase of J, and of what moves cost; in LBM_PAIR_PRICE_PARTS with current */
};

struct repairer {
    const struct mapping *m;
    uint64_t *load; /* [hosts] */
    struct residents residents;
    int64_t *gain;        /* [n] scratch: of going to the host at hand */
    uint8_t *blocked; /* [hosts] nothing helps until it or a partner changes */
    uint64_t looks;
};

static uint64_t
excess_of(const struct repairer *r, uint32_t p, uint64_t load)
{
    const struct mapping *m = r->m;
    uint64_t over = load > m->limit[p] ? load - m->limit[p] : 0;
    return m->least != NULL && load < m->least[p] ? m->least[p] - load : over;
}

/* Decrease of what m is judged by if v goes to q. */
static int64_t
worth(const struct mapping *m, uint32_t v, uint32_t q)
{
    int64_t gain = lbm_map_gain(m->g, m->h, m->part, v, q);
    if (m->current == NULL)
        return gain;
    gain *= LBM_PAIR_PRICE_PARTS;
    if (m->current[v] == m->part[v])
        gain -= m->stay[v] / MAPPING_EASE;
    else if (m->current[v] == q)
        gain += m->stay[v] / MAPPING_EASE;
    return gain;
}

/* What an exchange of u and v costs more than their gains say: each counts on the other to stay. */
static int64_t
parting(const struct mapping *m, uint32_t u, uint32_t v)
{
    const struct lbm_graph *g = m->g;
    uint64_t low = g->offset[u], high = g->offset[u + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (g->target[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->offset[u + 1] || g->target[low] != v)
        return 0;
    return 2 * (int64_t)lbm_graph_weight(g, low) * lbm_dist(m->h, m->part[u], m->part[v]) *
           (m->current != NULL ? LBM_PAIR_PRICE_PARTS : 1);
}

/* A step that relieves more for each unit of its cost; of steps that cost nothing the one that gains most. */
static int
is_better(const struct step *a, const struct step *b)
{
    if (b->relief == 0)
        return a->relief != 0;
    if (a->cost <= 0 || b->cost <= 0)
        return a->cost < b->cost || (a->cost == b->cost && a->relief > b->relief);
    return (double)a->cost * (double)b->relief < (double)b->cost * (double)a->relief;
}

/* Steps by which `from` gives more work than it takes from `to`. */
static void
try_pair(struct repairer *r, uint32_t from, uint32_t to, struct step *best)
{
    const struct mapping *m = r->m;
    const struct resident_list *givers = &r->residents.list[from], *takers = &r->residents.list[to];
    uint64_t before = excess_of(r, from, r->load[from]) + excess_of(r, to, r->load[to]);
    r->looks += (uint64_t)givers->n * (takers->n + 1);
    for (size_t j = 0; j < takers->n; j++)
        r->gain[takers->at[j]] = worth(m, takers->at[j], from);
    for (size_t i = 0; i < givers->n; i++) {
        uint32_t v = givers->at[i];
        uint64_t given = lbm_graph_work(m->g, v);
        int64_t gain = worth(m, v, to);
        for (size_t j = takers->n + 1; j-- > 0;) {
            uint32_t u = j < takers->n ? takers->at[j] : LBM_NONE;
            uint64_t taken = u != LBM_NONE ? lbm_graph_work(m->g, u) : 0;
            if (taken >= given)
                continue;
            uint64_t after = excess_of(r, from, r->load[from] - given + taken) +
                             excess_of(r, to, r->load[to] + given - taken);
            if (after >= before)
                continue;
            struct step step = {v, u, from, to, before - after, -gain};
            if (u != LBM_NONE)
                step.cost += parting(m, v, u) - r->gain[u];
            if (is_better(&step, best))
                *best = step;
        }
    }
}

static enum lbm_err
take(struct repairer *r, uint32_t v, uint32_t from, uint32_t to)
{
    r->m->part[v] = to;
    r->load[from] -= lbm_graph_work(r->m->g, v);
    r->load[to] += lbm_graph_work(r->m->g, v);
    return residents_move(&r->residents, v, from, to);
}

static enum lbm_err
carry_out(struct repairer *r, const struct step *step)
{
    enum lbm_err err = take(r, step->give, step->from, step->to);
    if (err == LBM_OK && step->take != LBM_NONE)
        err = take(r, step->take, step->to, step->from);
    return err;
}

/* The host that is most out of bounds of those that are not blocked; LBM_NONE: there is none. */
static uint32_t
worst(const struct repairer *r)
{
    uint32_t worst = LBM_NONE;
    uint64_t most = 0;
    for (uint32_t p = 0; p < r->m->h->n; p++) {
        uint64_t excess = r->blocked[p] ? 0 : excess_of(r, p, r->load[p]);
        if (excess > most) {
            most = excess;
            worst = p;
        }
    }
    return worst;
}

/* One step for host p. Value: whether there was one. */
static int
relieve(struct repairer *r, uint32_t p, enum lbm_err *err)
{
    const struct lbm_hosts *h = r->m->h;
    struct step best = {.relief = 0};
    uint64_t before = r->looks;
    int is_over = r->load[p] > r->m->limit[p];
    uint32_t first = p;
    for (uint32_t i = 1; i < h->n && r->looks - before < LOOKS_STEP_MAX; i++) {
        uint32_t q = (first + i) % h->n;
        try_pair(r, is_over ? p : q, is_over ? q : p, &best);
    }
    if (best.relief == 0)
        return 0;
    *err = carry_out(r, &best);
    return 1;
}

static enum lbm_err
relieve_all(struct repairer *r)
{
    enum lbm_err err = LBM_OK;
    uint32_t p;
    while (err == LBM_OK && r->looks < LOOKS_MAX && (p = worst(r)) != LBM_NONE) {
        if (!relieve(r, p, &err)) {
            r->blocked[p] = 1;
            continue;
        }
        for (uint32_t q = 0; q < r->m->h->n; q++)
            r->blocked[q] = 0;
    }
    return err;
}

static enum lbm_err
repairer_open(struct repairer *r, const struct mapping *m)
{
    *r = (struct repairer){.m = m,
                           .load = lbm_alloc(m->h->n, sizeof *r->load),
                           .gain = lbm_alloc(m->g->n, sizeof *r->gain),
                           .blocked = lbm_alloc(m->h->n, 1)};
    if (r->load == NULL || r->gain == NULL || r->blocked == NULL)
        return LBM_E_NOMEM;
    lbm_map_loads(m->g, m->h->n, m->part, r->load);
    return residents_init(&r->residents, m);
}

static void
repairer_close(struct repairer *r)
{
    free(r->load);
    free(r->gain);
    free(r->blocked);
    residents_free(&r->residents);
}

enum lbm_err
map_repair(const struct mapping *m)
{
    struct repairer r;
    enum lbm_err err = repairer_open(&r, m);
    if (err == LBM_OK && m->h->n > 1)
        err = relieve_all(&r);
    repairer_close(&r);
    return err;
}

/* ---- descent ------------------------------------------------------------------------------------------ */

/* Whether v may go to q, and u, if it is one, the other way. */
static int
is_allowed(const struct repairer *r, uint32_t v, uint32_t q, uint32_t u)
{
    const struct mapping *m = r->m;
    uint32_t p = m->part[v];
    uint64_t given = lbm_graph_work(m->g, v), taken = u != LBM_NONE ? lbm_graph_work(m->g, u) : 0;
    uint64_t before = excess_of(r, p, r->load[p]) + excess_of(r, q, r->load[q]);
    return excess_of(r, p, r->load[p] - given + taken) + excess_of(r, q, r->load[q] + given - taken) <=
           before;
}

/* The best step of v to q that loads allow. */
static void
try_exchanges(struct repairer *r, uint32_t v, uint32_t q, struct step *best)
{
    const struct mapping *m = r->m;
    const struct resident_list *list = &r->residents.list[q];
    uint32_t p = m->part[v];
    int64_t gain = worth(m, v, q);
    if (-gain < best->cost && is_allowed(r, v, q, LBM_NONE))
        *best = (struct step){v, LBM_NONE, p, q, 0, -gain};
    r->looks += list->n;
    for (size_t j = 0; j < list->n; j++) {
        uint32_t u = list->at[j];
        if (!is_allowed(r, v, q, u))
            continue;
        int64_t cost = parting(m, v, u) - gain - worth(m, u, p);
        if (cost < best->cost)
            *best = (struct step){v, u, p, q, 0, cost};
    }
}

enum lbm_err
map_descend(const struct mapping *m)
{
    struct repairer r;
    int any = m->g->n <= DESCENT_VERTICES_MAX;
    enum lbm_err err = repairer_open(&r, m);
    for (int pass = 0; pass < DESCENT_PASSES && any && err == LBM_OK; pass++) {
        any = 0;
        for (uint32_t v = 0; v < m->g->n && err == LBM_OK && r.looks < LOOKS_MAX; v++) {
            struct step best = {.cost = 0};
            for (uint32_t q = 0; q < m->h->n && !mapping_pinned(m, v); q++)
                if (q != m->part[v])
                    try_exchanges(&r, v, q, &best);
            if (best.cost < 0) {
                err = carry_out(&r, &best);
                any = 1;
            }
        }
    }
    repairer_close(&r);
    return err;
}
