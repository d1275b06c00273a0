/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways from the mapping there is to one that is balanced, which compete. What is over the limits goes where
 * there is room: over links by shifts of the borders, which moves something on every host on the way, or at
 * once to hosts further off, which moves less and leaves islands. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/remap/remap.h"

enum {
    SHIP_ROUNDS = 10,       /* whole vertices: what was meant and what went differ */
    HOSTS_JUMPS_MAX = 2048, /* with more, nothing jumps: each way costs a transport */
};

static const struct way {
    unsigned jump;     /* links from which on it is cheaper to jump; 0: nothing jumps */
    unsigned discount; /* moves cost that many times less at first: what J wants is found, then taken back */
    unsigned is_hot;   /* begins hot where moves are nearly free */
} ways[] = {{0, 1, 1}, {0, 4, 1}, {2, 1, 0}, {3, 4, 1}, {3, 1, 1}, {4, 1, 0}, {5, 1, 0}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* One way, gone by itself. */
struct attempt {
    const struct remap *r;
    const struct way *way;
    struct mapping m; /* its part is the attempt's own, kept for the pool */
    struct objective objective;
    enum lbm_err err;
    /* Scratch, as long as it is in progress. */
    struct lbm_rng rng;
    uint64_t *load;   /* [hosts] */
    int64_t *cheap;   /* [n] stay at a discount */
    uint32_t *member; /* [n] */
    uint32_t *moved;  /* [n] */
    struct residents residents;
    struct lbm_pair_workspace *ws;
};

static enum lbm_err
carry(struct attempt *a, const struct shipment *s)
{
    const struct resident_list *list = &a->residents.list[s->from];
    if (list->n == 0)
        return LBM_OK;
    memcpy(a->member, list->at, list->n * sizeof *list->at);
    struct lbm_pair pair = {.g = a->m.g,
                            .h = a->m.h,
                            .part = a->m.part,
                            .a = s->from,
                            .b = s->to,
                            .member = a->member,
                            .n_members = (uint32_t)list->n,
                            .load = {a->load[s->from], a->load[s->to]},
                            .limit = {UINT64_MAX, UINT64_MAX},
                            .shift = s->work,
                            .current = a->m.current,
                            .stay = a->m.stay,
                            .workspace = a->ws};
    int64_t gain;
    uint32_t n_moved;
    enum lbm_err err = lbm_pair_refine(&pair, &a->rng, &gain, a->moved, &n_moved);
    a->load[s->from] = pair.load[0];
    a->load[s->to] = pair.load[1];
    for (uint32_t i = 0; err == LBM_OK && i < n_moved; i++)
        err = residents_move(&a->residents, a->moved[i], s->from, s->to);
    return err;
}

static enum lbm_err
ship(struct attempt *a, unsigned jump)
{
    struct shipments list = {0};
    enum lbm_err err = map_transport(a->m.h, a->load, a->m.limit, jump, &list);
    for (size_t i = 0; i < list.n && err == LBM_OK; i++)
        err = carry(a, &list.at[i]);
    lbm_vec_free(&list);
    return err;
}

/* Bring all loads under their limits, by transports as long as they help. */
static enum lbm_err
balance(struct attempt *a, unsigned jump)
{
    const struct mapping *m = &a->m;
    lbm_map_loads(m->g, m->h->n, m->part, a->load);
    uint64_t excess = mapping_excess(m, a->load), before = UINT64_MAX;
    enum lbm_err err = residents_init(&a->residents, m);
    for (int i = 0; err == LBM_OK && i < SHIP_ROUNDS && excess != 0 && excess < before; i++) {
        err = ship(a, jump);
        before = excess;
        excess = mapping_excess(m, a->load);
    }
    residents_free(&a->residents);
    if (err == LBM_OK)
        err = map_flow(m, &a->rng); /* does nothing if all is well */
    return err;
}

static enum lbm_err
go(struct attempt *a)
{
    const struct remap *r = a->r;
    struct mapping *m = &a->m;
    for (uint32_t v = 0; v < m->g->n; v++)
        a->cheap[v] = r->stay[v] / a->way->discount;
    m->stay = a->cheap;
    m->budget = r->budget / a->way->discount;
    enum lbm_err err = balance(a, a->way->jump);
    if (err == LBM_OK)
        err = map_refine(m, r->effort->rounds, REMAP_STALL_LIMIT, &a->rng);
    if (err == LBM_OK)
        err = remap_anneal(r, m, r->effort->cycles_way, a->way->is_hot ? r->hot : REMAP_WARM, &a->rng);
    m->stay = r->stay;
    m->budget = r->budget;
    if (err == LBM_OK && a->way->discount != 1)
        err = map_refine(m, r->effort->rounds, REMAP_STALL_LIMIT, &a->rng);
    if (err == LBM_OK)
        a->objective = mapping_objective(m, a->load);
    return err;
}

/* Out: m.part; NULL where the attempt was not made. */
static void
run_attempt(void *context)
{
    struct attempt *a = context;
    uint64_t index = (uint64_t)(a->way - ways);
    if (index > 0 && mapping_stopped(&a->r->m))
        return;
    size_t n = a->m.g->n;
    a->m.part = lbm_copy(a->r->m.part, n, sizeof *a->m.part);
    a->load = lbm_alloc(a->m.h->n, sizeof *a->load);
    a->cheap = lbm_alloc(n, sizeof *a->cheap);
    a->member = lbm_alloc(n, sizeof *a->member);
    a->moved = lbm_alloc(n, sizeof *a->moved);
    a->ws = lbm_pair_workspace_new(a->m.g->n);
    int has_memory = a->m.part != NULL && a->load != NULL && a->cheap != NULL && a->member != NULL &&
                     a->moved != NULL && a->ws != NULL;
    lbm_rng_stream(&a->rng, a->m.options->seed, index + 1); /* none depends on those before it */
    a->err = has_memory ? go(a) : LBM_E_NOMEM;
    free(a->load);
    free(a->cheap);
    free(a->member);
    free(a->moved);
    lbm_pair_workspace_free(a->ws);
}

enum lbm_err
remap_compete(const struct remap *r, struct pool *pool)
{
    const struct mapping *m = &r->m;
    struct attempt attempt[WAYS];
    void *context[WAYS];
    lbm_map_loads(m->g, m->h->n, m->part, r->load);
    int is_even = mapping_excess(m, r->load) == 0;
    unsigned n = is_even ? 2 : WAYS;
    if (m->current == NULL || m->h->n > HOSTS_JUMPS_MAX)
        n = 1;
    if (is_even)
        pool_offer(pool, m->part, mapping_objective(m, r->load));
    for (unsigned i = 0; i < n; i++) {
        attempt[i] = (struct attempt){.r = r, .way = &ways[i], .m = *m};
        attempt[i].m.part = NULL;
        context[i] = &attempt[i];
    }
    lbm_plan_parallel(m->options, run_attempt, context, n);
    enum lbm_err err = LBM_OK;
    for (unsigned i = 0; i < n; i++) {
        err = err == LBM_OK ? attempt[i].err : err;
        if (err == LBM_OK && attempt[i].m.part != NULL)
            pool_offer(pool, attempt[i].m.part, attempt[i].objective);
        free(attempt[i].m.part);
    }
    return err;
}
