/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balance: flows along the links of H, carried out by moves of best gain; then what no flow could carry. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"

enum {
    ROUNDS_MAX = 30,    /* flows are recomputed after each: moves are whole vertices */
    ROUNDS_WITHOUT = 3, /* rounds that do not lessen the excess before flows are given up */
};

/* A host and what it is ordered by. */
struct ranked {
    double key;
    uint32_t host;
};

struct balancer {
    const struct mapping *m;
    struct lbm_rng *rng;
    struct residents residents;
    struct lbm_pair_workspace *ws;
    uint64_t *load;       /* [hosts] */
    double *surplus;      /* [hosts] load - target */
    double *phi;          /* [hosts] */
    struct ranked *order; /* [hosts] */
    uint32_t *member;     /* [n] */
    uint32_t *moved;      /* [n] */
};

static int
by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return (x->key > y->key) - (x->key < y->key);
    return (x->host > y->host) - (x->host < y->host);
}

/* Move about `amount` of work from p to q by best gain, in vertices of at most `heaviest`: the shift of a
 * round. What is moved comes to at most twice the amount. */
static enum lbm_err
carry(struct balancer *b, uint32_t p, uint32_t q, uint64_t amount, uint64_t heaviest)
{
    const struct resident_list *list = &b->residents.list[p];
    uint32_t n_members = 0;
    for (size_t i = 0; i < list->n; i++)
        if (lbm_graph_work(b->m->g, list->at[i]) <= heaviest)
            b->member[n_members++] = list->at[i];
    struct lbm_pair pair = {.g = b->m->g,
                            .h = b->m->h,
                            .part = b->m->part,
                            .a = p,
                            .b = q,
                            .member = b->member,
                            .n_members = n_members,
                            .load = {b->load[p], b->load[q]},
                            .limit = {UINT64_MAX, UINT64_MAX},
                            .shift = amount,
                            .workspace = b->ws};
    int64_t gain;
    uint32_t n_moved;
    enum lbm_err err = lbm_pair_refine(&pair, b->rng, &gain, b->moved, &n_moved);
    if (err != LBM_OK)
        return err;
    b->load[p] = pair.load[0];
    b->load[q] = pair.load[1];
    for (uint32_t i = 0; i < n_moved && err == LBM_OK; i++)
        err = residents_move(&b->residents, b->moved[i], p, q);
    return err;
}

static void
find_surplus(struct balancer *b)
{
    const struct lbm_hosts *h = b->m->h;
    double work = 0, capacity = 0;
    for (uint32_t p = 0; p < h->n; p++) {
        work += (double)b->load[p];
        capacity += h->capacity[p];
    }
    for (uint32_t p = 0; p < h->n; p++)
        b->surplus[p] = (double)b->load[p] - work * h->capacity[p] / capacity;
}

/* One round: the flows of the present loads. Hosts of high potential give first, so that what passes through
 * a host has arrived before it is passed on; a partner takes whatever comes. */
static enum lbm_err
run_flows(struct balancer *b)
{
    const struct lbm_hosts *h = b->m->h;
    find_surplus(b);
    enum lbm_err err = map_potential(h, b->surplus, b->phi);
    for (uint32_t p = 0; p < h->n; p++)
        b->order[p] = (struct ranked){-b->phi[p], p};
    qsort(b->order, h->n, sizeof *b->order, by_key);
    for (uint32_t i = 0; i < h->n && err == LBM_OK; i++) {
        uint32_t p = b->order[i].host;
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1] && err == LBM_OK; e++) {
            double flow = (b->phi[p] - b->phi[h->target[e]]) / h->cost[e];
            if (flow >= 0.5)
                err = carry(b, p, h->target[e], (uint64_t)(flow + 0.5), UINT64_MAX);
        }
    }
    return err;
}

static uint64_t
lightest(const struct balancer *b, uint32_t p)
{
    const struct resident_list *list = &b->residents.list[p];
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < list->n; i++) {
        uint64_t work = lbm_graph_work(b->m->g, list->at[i]);
        least = work < least ? work : least;
    }
    return list->n != 0 ? least : 0;
}

/* Bring p towards its limit by giving to hosts with room, the nearest first; none of them comes over its own:
 * half of the room is aimed at, so that at most the room is moved.
 */
static enum lbm_err
spill(struct balancer *b, uint32_t p)
{
    const struct lbm_hosts *h = b->m->h;
    const uint64_t *limit = b->m->limit;
    enum lbm_err err = LBM_OK;
    for (uint32_t q = 0; q < h->n; q++)
        b->order[q] = (struct ranked){lbm_dist(h, p, q), q};
    qsort(b->order, h->n, sizeof *b->order, by_key);
    for (uint32_t i = 0; i < h->n && b->load[p] > limit[p] && err == LBM_OK; i++) {
        uint32_t q = b->order[i].host;
        if (q == p || b->load[q] >= limit[q])
            continue;
        uint64_t room = limit[q] - b->load[q], over = b->load[p] - limit[p], half = (lightest(b, p) + 1) / 2;
        uint64_t amount = over > half ? over : half; /* the lightest may go, even for a unit too much */
        err = carry(b, p, q, amount < (room + 1) / 2 ? amount : (room + 1) / 2, room);
    }
    return err;
}

static enum lbm_err
run_spills(struct balancer *b)
{
    const struct mapping *m = b->m;
    uint64_t before, excess = mapping_excess(m, b->load);
    enum lbm_err err = LBM_OK;
    do {
        before = excess;
        for (uint32_t p = 0; p < m->h->n && err == LBM_OK; p++)
            if (b->load[p] > m->limit[p])
                err = spill(b, p);
        excess = mapping_excess(m, b->load);
    } while (err == LBM_OK && excess < before);
    return err;
}

static enum lbm_err
balancer_open(struct balancer *b)
{
    uint32_t n_hosts = b->m->h->n, n = b->m->g->n;
    b->ws = lbm_pair_workspace_new(n);
    b->surplus = lbm_alloc(n_hosts, sizeof *b->surplus);
    b->phi = lbm_alloc(n_hosts, sizeof *b->phi);
    b->order = lbm_alloc(n_hosts, sizeof *b->order);
    b->member = lbm_alloc(n, sizeof *b->member);
    b->moved = lbm_alloc(n, sizeof *b->moved);
    if (b->ws == NULL || b->surplus == NULL || b->phi == NULL || b->order == NULL || b->member == NULL ||
        b->moved == NULL)
        return LBM_E_NOMEM;
    return residents_init(&b->residents, b->m);
}

static void
balancer_close(struct balancer *b)
{
    lbm_pair_workspace_free(b->ws);
    residents_free(&b->residents);
    free(b->surplus);
    free(b->phi);
    free(b->order);
    free(b->member);
    free(b->moved);
}

/* Rounds of flows until nobody is over; then part and loads are those of the least excess met. */
static enum lbm_err
run_rounds(struct balancer *b, uint64_t excess)
{
    const struct mapping *m = b->m;
    uint32_t n = m->g->n;
    uint32_t *best = lbm_copy(m->part, n, sizeof *best);
    enum lbm_err err = best == NULL ? LBM_E_NOMEM : LBM_OK;
    uint64_t least = excess;
    for (int round = 0, without = 0;
         err == LBM_OK && excess != 0 && round < ROUNDS_MAX && without < ROUNDS_WITHOUT; round++) {
        err = run_flows(b);
        excess = mapping_excess(m, b->load);
        without = excess < least ? 0 : without + 1;
        if (excess < least) {
            least = excess;
            memcpy(best, m->part, n * sizeof *best);
        }
    }
    if (err == LBM_OK && excess > least) {
        memcpy(m->part, best, n * sizeof *best);
        lbm_map_loads(m->g, m->h->n, m->part, b->load);
        residents_free(&b->residents);
        err = residents_init(&b->residents, m);
    }
    free(best);
    return err;
}

static enum lbm_err
balance(struct balancer *b, uint64_t excess)
{
    enum lbm_err err = balancer_open(b);
    if (err == LBM_OK)
        err = run_rounds(b, excess);
    if (err == LBM_OK)
        err = run_spills(b);
    balancer_close(b);
    return err;
}

enum lbm_err
map_flow(const struct mapping *m, struct lbm_rng *rng)
{
    struct balancer b = {.m = m, .rng = rng, .load = lbm_alloc(m->h->n, sizeof *b.load)};
    if (b.load == NULL)
        return LBM_E_NOMEM;
    lbm_map_loads(m->g, m->h->n, m->part, b.load);
    uint64_t excess = mapping_excess(m, b.load);
    enum lbm_err err = excess != 0 && m->h->n > 1 ? balance(&b, excess) : LBM_OK;
    if (err == LBM_OK && excess != 0 && mapping_excess(m, b.load) != 0)
        err = map_repair(m);
    free(b.load);
    return err;
}
