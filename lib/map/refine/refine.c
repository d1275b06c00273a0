/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of pair rounds over the whole guest. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"

enum { LINKS_MET_MAX = 32 }; /* a host of more links meets only those it shares edges of G with */

/* Part of the hop-bytes that a round must gain, or be the last. The quality is the same, and time is saved
 * where every host shares edges with every other. */
static const double LEAST_GAIN = 1e-3;

struct host_pair {
    uint32_t a, b;
};

struct refiner {
    const struct mapping *m;
    struct lbm_rng *rng;
    uint32_t stall_limit;
    struct border border;
    uint8_t *fixed;  /* [n] pinned; NULL: none is */
    int64_t *eased;  /* [n] stay within the budget; NULL: the mapping's is right */
    uint32_t *count; /* [hosts] vertices, as many as may move at most */
    struct lbm_pair_workspace *ws;
    uint64_t *load;   /* [hosts] */
    uint8_t *active;  /* [hosts] changed in the last round */
    uint8_t *changed; /* [hosts] in this round */
    uint32_t *member; /* [n] */
    uint32_t *moved;  /* [n] */
    uint32_t *listed; /* [hosts] host + 1 whose pair with this one is listed */
    LBM_VEC(struct host_pair) pairs;
    int64_t gain; /* of this round */
    int relieved; /* some excess has gone in this round */
};

static enum lbm_err
list_pair(struct refiner *r, uint32_t p, uint32_t q)
{
    if (q <= p || r->listed[q] == p + 1 || !(r->active[p] || r->active[q]))
        return LBM_OK;
    r->listed[q] = p + 1;
    return lbm_vec_push(&r->pairs, ((struct host_pair){p, q}));
}

/* Pairs of this round: a link of H or edges of G join them, and one of them changed. */
static enum lbm_err
list_pairs(struct refiner *r)
{
    const struct lbm_hosts *h = r->m->h;
    const struct lbm_graph *g = r->m->g;
    enum lbm_err err = LBM_OK;
    r->pairs.n = 0;
    memset(r->listed, 0, h->n * sizeof *r->listed);
    for (uint32_t p = 0; p < h->n && err == LBM_OK; p++) {
        uint32_t links = h->offset[p + 1] - h->offset[p];
        for (uint32_t e = 0; e < links && links <= LINKS_MET_MAX && err == LBM_OK; e++)
            err = list_pair(r, p, h->target[h->offset[p] + e]);
        const struct resident_list *list = &r->border.list[p];
        for (size_t i = 0; i < list->n; i++)
            for (uint64_t e = g->offset[list->at[i]]; e < g->offset[list->at[i] + 1] && err == LBM_OK; e++)
                err = list_pair(r, p, r->m->part[g->target[e]]);
    }
    for (size_t i = r->pairs.n; i > 1; i--) {
        size_t j = lbm_rng_below(r->rng, (uint32_t)i);
        struct host_pair pair = r->pairs.at[i - 1];
        r->pairs.at[i - 1] = r->pairs.at[j];
        r->pairs.at[j] = pair;
    }
    return err;
}

/* One round. */
static enum lbm_err
settle(struct refiner *r, struct host_pair hosts)
{
    const struct mapping *m = r->m;
    const struct resident_list *a = &r->border.list[hosts.a], *b = &r->border.list[hosts.b];
    if (a->n != 0)
        memcpy(r->member, a->at, a->n * sizeof *a->at);
    if (b->n != 0)
        memcpy(r->member + a->n, b->at, b->n * sizeof *b->at);
    const uint64_t least[2] = {m->least != NULL ? m->least[hosts.a] : 0,
                               m->least != NULL ? m->least[hosts.b] : 0};
    struct lbm_pair pair = {.g = m->g,
                            .h = m->h,
                            .part = m->part,
                            .fixed = r->fixed,
                            .a = hosts.a,
                            .b = hosts.b,
                            .member = r->member,
                            .n_members = (uint32_t)(a->n + b->n),
                            .room = r->count[hosts.a] + r->count[hosts.b],
                            .load = {r->load[hosts.a], r->load[hosts.b]},
                            .limit = {m->limit[hosts.a], m->limit[hosts.b]},
                            .least = m->least != NULL ? least : NULL,
                            .stall_limit = r->stall_limit,
                            .current = m->current,
                            .stay = r->eased != NULL ? r->eased : m->stay,
                            .workspace = r->ws};
    uint64_t before = lbm_map_excess(2, pair.load, pair.limit);
    int64_t gain;
    uint32_t n_moved;
    enum lbm_err err = lbm_pair_refine(&pair, r->rng, &gain, r->moved, &n_moved);
    if (err != LBM_OK)
        return err;
    r->load[hosts.a] = pair.load[0];
    r->load[hosts.b] = pair.load[1];
    int relieved = lbm_map_excess(2, pair.load, pair.limit) < before;
    if (gain != 0 || relieved)
        r->changed[hosts.a] = r->changed[hosts.b] = 1;
    r->gain += gain;
    r->relieved |= relieved;
    for (uint32_t i = 0; i < n_moved; i++) {
        int to_a = m->part[r->moved[i]] == hosts.a;
        r->count[hosts.a] += to_a ? 1 : -1;
        r->count[hosts.b] += to_a ? -1 : 1;
    }
    return border_moved(&r->border, m, r->moved, n_moved, hosts.a, hosts.b);
}

static enum lbm_err
run_round(struct refiner *r)
{
    uint32_t n = r->m->h->n;
    enum lbm_err err = list_pairs(r);
    memset(r->changed, 0, n);
    r->gain = r->relieved = 0;
    for (size_t i = 0; i < r->pairs.n && err == LBM_OK; i++)
        err = settle(r, r->pairs.at[i]);
    memcpy(r->active, r->changed, n);
    return err;
}

/* Rounds count with one price for all moves: that of the next one, as things stand now. */
static enum lbm_err
set_price(struct refiner *r, const struct mapping *m)
{
    if (m->current == NULL || mapping_away(m) >= m->budget)
        return LBM_OK;
    if ((r->eased = lbm_alloc(m->g->n, sizeof *r->eased)) == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < m->g->n; v++)
        r->eased[v] = m->stay[v] / MAPPING_EASE;
    return LBM_OK;
}

static enum lbm_err
refiner_open(struct refiner *r, const struct mapping *m)
{
    uint32_t n = m->h->n;
    r->ws = lbm_pair_workspace_new(m->g->n);
    r->count = lbm_alloc(n, sizeof *r->count);
    r->fixed = m->g->pin != NULL ? lbm_alloc(m->g->n, 1) : NULL;
    r->load = lbm_alloc(n, sizeof *r->load);
    r->active = lbm_alloc(n, 1);
    r->changed = lbm_alloc(n, 1);
    r->listed = lbm_alloc(n, sizeof *r->listed);
    r->member = lbm_alloc(m->g->n, sizeof *r->member);
    r->moved = lbm_alloc(m->g->n, sizeof *r->moved);
    if (r->ws == NULL || r->count == NULL || (m->g->pin != NULL && r->fixed == NULL) || r->load == NULL ||
        r->active == NULL || r->changed == NULL || r->listed == NULL || r->member == NULL || r->moved == NULL)
        return LBM_E_NOMEM;
    memset(r->active, 1, n);
    lbm_map_loads(m->g, n, m->part, r->load);
    for (uint32_t v = 0; v < m->g->n; v++) {
        r->count[m->part[v]]++;
        if (r->fixed != NULL)
            r->fixed[v] = mapping_pinned(m, v) != 0;
    }
    enum lbm_err err = set_price(r, m);
    return err == LBM_OK ? border_init(&r->border, m) : err;
}

static void
refiner_close(struct refiner *r)
{
    lbm_pair_workspace_free(r->ws);
    border_free(&r->border);
    free(r->count);
    free(r->fixed);
    free(r->eased);
    free(r->load);
    free(r->active);
    free(r->changed);
    free(r->listed);
    free(r->member);
    free(r->moved);
    lbm_vec_free(&r->pairs);
}

enum lbm_err
map_refine(const struct mapping *m, int rounds, uint32_t stall_limit, struct lbm_rng *rng)
{
    struct refiner r = {.m = m, .rng = rng, .stall_limit = stall_limit};
    enum lbm_err err = refiner_open(&r, m);
    int64_t hop_bytes =
        (int64_t)lbm_map_hop_bytes(m->g, m->h, m->part) * (m->current != NULL ? LBM_PAIR_PRICE_PARTS : 1);
    int worthwhile = m->h->n > 1;
    for (int round = 0; round < rounds && worthwhile && err == LBM_OK && !mapping_stopped(m); round++) {
        err = run_round(&r);
        hop_bytes -= r.gain;
        worthwhile = r.relieved || (double)r.gain > LEAST_GAIN * (double)hop_bytes;
    }
    refiner_close(&r);
    return err;
}
