/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the mapping there is to one that is balanced, at the least of J and a price for what moves.
 * Source: DESIGN 3.5; the price is Schloegel, Karypis, Kumar 2001's (ParMETIS itr), host distances included.
 *
 * What is over the limits goes where there is room, in several ways that compete: over links by shifts of the
 * borders, which moves something on every host on the way, or at once to hosts further off, which moves less
 * and leaves islands. Then refinement and annealing, for which a vertex away from home costs its price. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"

enum {
    SHIP_ROUNDS = 10, /* whole vertices: what was meant and what went differ */
    FINALISTS = 1,
    PATIENCE = 100,
    VCYCLE_PER_HOST = 10,
    ANNEAL_PER_HOST = 20,
    COARSE_PER_HOST = 30, /* of the embedding */
    COARSE_MIN = 400,
    PIVOTS = 30,
    SWEEPS = 30,
    HOSTS_JUMPS_MAX = 2048, /* with more, nothing jumps: each way costs a transport */
};

/* Temperatures. Nothing but a hot way finds other borders than those there are, where moves are nearly free;
 * where they are dear a warm one forgets less of where vertices are. */
static const double HOT = 2.5, WARM = 1, COLD = 0.2;

/* Parts of the usual price of a move, below which moves are nearly free. */
static const double NEARLY_FREE = 0.4;

/* Ways to balance, which compete. */
static const struct way {
    unsigned jump;     /* links from which on it is cheaper to jump; 0: nothing jumps */
    unsigned discount; /* moves cost so many times less at first: what J wants is found, then taken back */
    unsigned is_hot;   /* begins hot where moves are nearly free */
} ways[] = {{0, 1, 1}, {0, 4, 1}, {5, 1, 0}, {4, 1, 0}, {3, 1, 1}, {3, 4, 1}, {2, 1, 0}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* The budget of moves, in units of what equal loads ask for: vertices without a host, and loads over their
 * shares. */
static const double BUDGET = 1.4;

static const struct effort {
    int rounds;                       /* of refinement */
    int cycles_way;                   /* annealed V-cycles of each way */
    int cycles_final;                 /* of the finalists */
    uint32_t draws_vertex, draws_max; /* on each level, for a vertex; at most */
} efforts[LBM_EFFORT_COUNT] = {
    [LBM_EFFORT_FAST] = {3, 0, 0, 0, 0},
    [LBM_EFFORT_NORMAL] = {6, 1, 3, 200, 1000000},
    [LBM_EFFORT_BEST] = {20, 2, 8, 2000, 10000000},
};

struct remap {
    struct mapping m;
    const struct effort *effort;
    struct lbm_rng rng;
    double hot;      /* temperature that hot ways begin at */
    uint64_t *load;  /* [hosts] */
    uint64_t *limit; /* [hosts] */
    int64_t *stay;   /* [n] */
    int64_t budget;
    int64_t *cheap;   /* [n] stay at a discount */
    uint32_t *member; /* [n] */
    uint32_t *moved;  /* [n] */
    struct residents residents;
    struct lbm_pair_workspace *ws;
};

static void
tell(const struct remap *r, const char *stage, double done)
{
    if (r->m.options->progress != NULL)
        r->m.options->progress(r->m.options->arg, stage, done);
}

/* ---- vertices without a host --------------------------------------------------------------------------- */

/* The host among those of its neighbours where a vertex costs least; LBM_NONE: no neighbour has one. */
static uint32_t
best_host(const struct mapping *m, uint32_t v)
{
    const struct lbm_graph *g = m->g;
    uint32_t best = LBM_NONE;
    uint64_t least = UINT64_MAX;
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t p = m->part[g->target[e]];
        if (p == LBM_NONE || p == best)
            continue;
        const uint32_t *row = lbm_dist_row(m->h, p);
        uint64_t cost = 0;
        for (uint64_t f = g->offset[v]; f < g->offset[v + 1]; f++)
            if (m->part[g->target[f]] != LBM_NONE)
                cost += (uint64_t)lbm_graph_weight(g, f) * row[m->part[g->target[f]]];
        if (cost < least) {
            least = cost;
            best = p;
        }
    }
    return best;
}

static uint32_t
emptiest(const struct remap *r)
{
    uint32_t best = 0;
    for (uint32_t p = 1; p < r->m.h->n; p++)
        if ((double)r->load[p] * r->m.h->capacity[best] < (double)r->load[best] * r->m.h->capacity[p])
            best = p;
    return best;
}

/* Put a vertex on a host; its neighbours without one are next. */
static void
settle(struct remap *r, uint32_t v, uint32_t host, uint8_t *listed, uint32_t *n)
{
    const struct lbm_graph *g = r->m.g;
    r->m.part[v] = host;
    r->load[host] += lbm_graph_work(g, v);
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = g->target[e];
        if (r->m.part[u] != LBM_NONE || listed[u])
            continue;
        listed[u] = 1;
        r->member[(*n)++] = u;
    }
}

/* Orphans go to the hosts of their neighbours, layer by layer; a part of the guest that is on no host to the
 * emptiest. Out: part, load. */
static enum lbm_err
place_orphans(struct remap *r)
{
    struct mapping *m = &r->m;
    uint32_t n = 0, done = 0;
    uint8_t *listed = lbm_alloc(m->g->n, 1);
    if (listed == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < m->h->n; p++)
        r->load[p] = 0;
    for (uint32_t v = 0; v < m->g->n; v++)
        if (m->part[v] != LBM_NONE)
            settle(r, v, m->part[v], listed, &n);
    for (uint32_t next = 0; next < m->g->n; next++) {
        if (done == n && m->part[next] == LBM_NONE) {
            listed[next] = 1;
            r->member[n++] = next;
        }
        for (; done < n; done++) {
            uint32_t v = r->member[done], host = best_host(m, v);
            settle(r, v, host != LBM_NONE ? host : emptiest(r), listed, &n);
        }
    }
    free(listed);
    return LBM_OK;
}

/* ---- balance ------------------------------------------------------------------------------------------- */

static enum lbm_err
carry(struct remap *r, const struct shipment *s)
{
    const struct resident_list *list = &r->residents.list[s->from];
    if (list->n == 0)
        return LBM_OK;
    memcpy(r->member, list->at, list->n * sizeof *list->at);
    struct lbm_pair pair = {.g = r->m.g,
                            .h = r->m.h,
                            .part = r->m.part,
                            .a = s->from,
                            .b = s->to,
                            .member = r->member,
                            .n_members = (uint32_t)list->n,
                            .load = {r->load[s->from], r->load[s->to]},
                            .limit = {UINT64_MAX, UINT64_MAX},
                            .shift = s->work,
                            .home = r->m.home,
                            .stay = r->m.stay,
                            .workspace = r->ws};
    int64_t gain;
    uint32_t n_moved;
    enum lbm_err err = lbm_pair_refine(&pair, &r->rng, &gain, r->moved, &n_moved);
    r->load[s->from] = pair.load[0];
    r->load[s->to] = pair.load[1];
    for (uint32_t i = 0; err == LBM_OK && i < n_moved; i++)
        err = residents_move(&r->residents, r->moved[i], s->from, s->to);
    return err;
}

static enum lbm_err
ship(struct remap *r, unsigned jump)
{
    struct shipments list = {0};
    enum lbm_err err = map_transport(r->m.h, r->load, r->m.limit, jump, &list);
    for (size_t i = 0; i < list.n && err == LBM_OK; i++)
        err = carry(r, &list.at[i]);
    lbm_vec_free(&list);
    return err;
}

/* Bring all loads under their limits, by transports as long as they help. */
static enum lbm_err
balance(struct remap *r, unsigned jump)
{
    const struct mapping *m = &r->m;
    lbm_map_loads(m->g, m->h->n, m->part, r->load);
    uint64_t excess = lbm_map_excess(m->h->n, r->load, m->limit), before = UINT64_MAX;
    enum lbm_err err = residents_init(&r->residents, m);
    for (int i = 0; err == LBM_OK && i < SHIP_ROUNDS && excess != 0 && excess < before; i++) {
        err = ship(r, jump);
        before = excess;
        excess = lbm_map_excess(m->h->n, r->load, m->limit);
    }
    residents_free(&r->residents);
    if (err == LBM_OK)
        err = map_flow(m, &r->rng); /* does nothing if all is well */
    return err;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static enum lbm_err
anneal(struct remap *r, int cycles, double hot)
{
    struct mapping *m = &r->m;
    struct cooling cooling = {.hot = hot, .cold = COLD, .draws = (uint64_t)r->effort->draws_vertex * m->g->n};
    enum lbm_err err = LBM_OK;
    uint32_t given = m->options->draws_max, most = r->effort->draws_max;
    most = given != 0 && given < most ? given : most;
    if (cooling.draws > most)
        cooling.draws = most;
    for (int i = 0; i < cycles && err == LBM_OK && !mapping_stopped(m); i++)
        err = map_vcycle_annealed(m, ANNEAL_PER_HOST * m->h->n, &cooling, &r->rng);
    return err;
}

static enum lbm_err
try_way(struct remap *r, const struct way *way, struct pool *pool)
{
    struct mapping *m = &r->m;
    for (uint32_t v = 0; v < m->g->n; v++)
        r->cheap[v] = r->stay[v] / way->discount;
    m->stay = r->cheap;
    m->budget = r->budget / way->discount;
    enum lbm_err err = balance(r, way->jump);
    if (err == LBM_OK)
        err = map_refine(m, r->effort->rounds, PATIENCE, &r->rng);
    if (err == LBM_OK)
        err = anneal(r, r->effort->cycles_way, way->is_hot ? r->hot : WARM);
    m->stay = r->stay;
    m->budget = r->budget;
    if (err == LBM_OK && way->discount != 1)
        err = map_refine(m, r->effort->rounds, PATIENCE, &r->rng);
    if (err == LBM_OK)
        pool_offer(pool, m->part, mapping_merit(m, r->load));
    return err;
}

/* Part is then scratch; the best few of what the ways make are in the pool. */
static enum lbm_err
compete(struct remap *r, struct pool *pool)
{
    struct mapping *m = &r->m;
    uint32_t n = m->g->n;
    uint32_t *start = lbm_copy(m->part, n, sizeof *start);
    enum lbm_err err = start == NULL ? LBM_E_NOMEM : LBM_OK;
    int is_even = lbm_map_excess(m->h->n, r->load, m->limit) == 0;
    int n_ways = m->home == NULL || m->h->n > HOSTS_JUMPS_MAX ? 1 : is_even ? 2 : WAYS;
    if (err == LBM_OK && is_even)
        pool_offer(pool, m->part, mapping_merit(m, r->load));
    for (int i = 0; i < n_ways && err == LBM_OK && !(i > 0 && mapping_stopped(m)); i++) {
        tell(r, "balance", 0.7 * i / n_ways);
        memcpy(m->part, start, n * sizeof *start);
        err = try_way(r, &ways[i], pool);
    }
    free(start);
    return err;
}

/* Coordinates and regions that suit the mapping, as of a plan. */
static enum lbm_err
draw_geometry(struct remap *r, struct lbm_plan *plan)
{
    const struct mapping *m = &r->m;
    uint32_t target = COARSE_PER_HOST * m->h->n > COARSE_MIN ? COARSE_PER_HOST * m->h->n : COARSE_MIN;
    struct lbm_levels levels = {0};
    enum lbm_err err = lbm_levels_build(m->g, NULL, target, map_cluster_work(m->g, target), &r->rng, &levels);
    if (err == LBM_OK && (plan->x = lbm_alloc((size_t)m->g->n * m->h->m, sizeof *plan->x)) == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_embed_pivots(&levels.graph[levels.n - 1], m->h->m, PIVOTS, SWEEPS, &r->rng, plan->x);
    for (uint32_t l = levels.n; l-- > 1 && err == LBM_OK;)
        err = map_interpolate(&levels, l - 1, m->h->m, &r->rng, plan->x);
    if (err == LBM_OK)
        err = map_geometry(m, &r->rng, plan->x, plan->weight);
    lbm_levels_free(&levels);
    return err;
}

static enum lbm_err
run(struct remap *r, struct lbm_plan *plan)
{
    struct mapping *m = &r->m;
    struct pool pool = {0}, best = {0};
    enum lbm_err err = place_orphans(r);
    if (err == LBM_OK)
        err = pool_init(&pool, m->g->n, FINALISTS);
    if (err == LBM_OK)
        err = pool_init(&best, m->g->n, 1);
    if (err == LBM_OK && m->h->n > 1)
        err = compete(r, &pool);
    for (uint32_t i = 0; i < pool.n && err == LBM_OK; i++) {
        memcpy(m->part, pool_part(&pool, i), m->g->n * sizeof *m->part);
        tell(r, "annealing", 0.7 + 0.25 * i / pool.n);
        if (!mapping_stopped(m))
            err = map_vcycle(m, VCYCLE_PER_HOST * m->h->n, &r->rng);
        if (err == LBM_OK)
            err = anneal(r, r->effort->cycles_final, WARM);
        pool_offer(&best, m->part, mapping_merit(m, r->load));
    }
    if (err == LBM_OK && best.n != 0)
        memcpy(m->part, pool_part(&best, 0), m->g->n * sizeof *m->part);
    pool_free(&pool);
    pool_free(&best);
    tell(r, "geometry", 0.95);
    return err == LBM_OK ? draw_geometry(r, plan) : err;
}

/* Work that may leave home at ease. Vertices without a host cost nothing, but count; where nothing has to
 * move, nothing may. */
static double
budget_work(const struct remap *r, const uint32_t *current)
{
    const struct lbm_graph *g = r->m.g;
    const struct lbm_hosts *h = r->m.h;
    double homeless = 0, forced = 0, over = 0, capacity = 0, total = (double)lbm_graph_total_work(g);
    for (uint32_t p = 0; p < h->n; p++) {
        r->load[p] = 0;
        capacity += h->capacity[p];
    }
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t work = lbm_graph_work(g, v), is_pinned = mapping_pinned(&r->m, v) != 0;
        if (current[v] == LBM_NONE)
            homeless += work;
        else
            r->load[is_pinned ? g->pin[v] : current[v]] += work;
        if (is_pinned && current[v] != LBM_NONE && current[v] != g->pin[v])
            forced += work;
    }
    if (homeless + forced == 0 && lbm_map_excess(h->n, r->load, r->limit) == 0)
        return 0;
    for (uint32_t p = 0; p < h->n; p++)
        over += fmax(0, (double)r->load[p] - total * h->capacity[p] / capacity);
    return fmax(0, BUDGET * (homeless + forced + over) - homeless);
}

/* What leaving home costs, and whether J and all of that fit together.  Out: stay. */
static enum lbm_err
set_prices(struct remap *r, const uint32_t *current, double cost)
{
    const struct lbm_graph *g = r->m.g;
    const struct lbm_hosts *h = r->m.h;
    double weight = 0, farthest = 1, price = cost * LBM_PAIR_PRICE_PARTS;
    for (uint64_t e = 0; e < lbm_graph_directions(g); e++)
        weight += lbm_graph_weight(g, e);
    for (size_t i = 0; i < (size_t)h->n * h->n; i++)
        farthest = h->dist[i] > farthest ? h->dist[i] : farthest;
    if (2 * weight * farthest * LBM_PAIR_PRICE_PARTS + 2 * price * (double)lbm_graph_total_work(g) > 0x1p62)
        return LBM_E_LIMIT;
    for (uint32_t v = 0; v < g->n; v++)
        r->stay[v] = (int64_t)llround(price * lbm_graph_work(g, v));
    r->budget = r->m.budget = (int64_t)(price * budget_work(r, current));
    return LBM_OK;
}

enum lbm_err
map_plan_remap(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan_options *options,
               struct lbm_plan *plan)
{
    struct remap r = {.m = {.g = g, .h = h, .part = plan->part, .options = options},
                      .effort = &efforts[options->effort],
                      .load = lbm_alloc(h->n, sizeof *r.load),
                      .limit = lbm_alloc(h->n, sizeof *r.limit),
                      .stay = lbm_alloc(g->n, sizeof *r.stay),
                      .cheap = lbm_alloc(g->n, sizeof *r.cheap),
                      .member = lbm_alloc(g->n, sizeof *r.member),
                      .moved = lbm_alloc(g->n, sizeof *r.moved),
                      .ws = lbm_pair_workspace_new(g->n)};
    enum lbm_err err = r.load != NULL && r.limit != NULL && r.stay != NULL && r.cheap != NULL &&
                               r.member != NULL && r.moved != NULL && r.ws != NULL
                           ? LBM_OK
                           : LBM_E_NOMEM;
    lbm_rng_stream(&r.rng, options->seed, 0);
    if (err == LBM_OK)
        lbm_map_limits(g, h, options->imbalance, r.limit);
    if (err == LBM_OK && options->migration_cost > 0)
        err = set_prices(&r, options->current, options->migration_cost);
    if (err == LBM_OK) {
        r.m.limit = r.limit;
        r.m.home = options->migration_cost > 0 ? options->current : NULL;
        r.m.stay = r.stay;
        r.hot = options->migration_cost < NEARLY_FREE * lbm_map_migration_cost(g, h->n) ? HOT : WARM;
        for (uint32_t v = 0; v < g->n; v++)
            plan->part[v] = mapping_pinned(&r.m, v) ? g->pin[v] : options->current[v];
        err = run(&r, plan);
    }
    free(r.load);
    free(r.limit);
    free(r.stay);
    free(r.cheap);
    free(r.member);
    free(r.moved);
    lbm_pair_workspace_free(r.ws);
    return err;
}
