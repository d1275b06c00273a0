/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the mapping there is to one that is balanced, at the least of J and a price for what moves.
 * Source: the price is Schloegel, Karypis, Kumar 2001's (ParMETIS itr), host distances included.
 *
 * Several ways to balance compete (remap_ways.c). Then refinement and annealing, for which a vertex away from
 * current costs its price. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/remap/remap.h"

enum {
    VCYCLE_PER_HOST = 10,
    ANNEAL_PER_HOST = 20,
    COARSE_PER_HOST = 30, /* of the embedding */
    COARSE_MIN = 400,
    PIVOTS = 30,
    SWEEPS = 30,
};

static const double COLD = 0.2; /* every annealing ends there */

/* Parts of the usual price of a move, below which moves are nearly free. */
static const double NEARLY_FREE = 0.4;

/* The budget of moves, in units of what equal loads ask for: vertices without a host, and loads over their
 * shares. */
static const double BUDGET = 1.4;

static const struct remap_effort efforts[LBM_EFFORT_COUNT] = {
    [LBM_EFFORT_FAST] = {3, 0, 0, 0, 0},
    [LBM_EFFORT_NORMAL] = {6, 1, 3, 200, 1000000},
    [LBM_EFFORT_BEST] = {20, 2, 8, 2000, 10000000},
};

static void
tell(const struct remap *r, const char *stage, double done)
{
    if (r->m.options->progress != NULL)
        r->m.options->progress(r->m.options->arg, stage, done);
}

enum lbm_err
remap_anneal(const struct remap *r, const struct mapping *m, int cycles, double hot, struct lbm_rng *rng)
{
    struct cooling cooling = {.hot = hot, .cold = COLD, .draws = (uint64_t)r->effort->draws_vertex * m->g->n};
    enum lbm_err err = LBM_OK;
    if (cooling.draws > r->effort->draws_max)
        cooling.draws = r->effort->draws_max;
    for (int i = 0; i < cycles && err == LBM_OK && !mapping_stopped(m); i++)
        err = map_vcycle_annealed(m, ANNEAL_PER_HOST * m->h->n, &cooling, rng);
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
    struct pool pool = {0};
    enum lbm_err err = map_place_orphans(m);
    if (err == LBM_OK)
        err = pool_init(&pool, m->g->n, 1);
    tell(r, "balance", 0);
    if (err == LBM_OK && m->h->n > 1)
        err = remap_compete(r, &pool);
    tell(r, "annealing", 0.7);
    if (err == LBM_OK && pool.n != 0) {
        memcpy(m->part, pool_part(&pool, 0), m->g->n * sizeof *m->part);
        if (!mapping_stopped(m))
            err = map_vcycle(m, VCYCLE_PER_HOST * m->h->n, &r->rng);
        if (err == LBM_OK)
            err = remap_anneal(r, m, r->effort->cycles_final, REMAP_WARM, &r->rng);
    }
    pool_free(&pool);
    if (err == LBM_OK)
        err = map_finish(r->problem, m);
    tell(r, "geometry", 0.95);
    return err == LBM_OK ? draw_geometry(r, plan) : err;
}

/* Work that may leave current at ease. Vertices without a host cost nothing, but count; where nothing has to
 * move, nothing may. */
static double
budget_work(const struct remap *r, const uint32_t *current)
{
    const struct lbm_graph *g = r->m.g;
    const struct lbm_hosts *h = r->m.h;
    double displaced = 0, forced = 0, over = 0, capacity = 0, total = (double)lbm_graph_total_work(g);
    for (uint32_t p = 0; p < h->n; p++) {
        r->load[p] = 0;
        capacity += h->capacity[p];
    }
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t work = lbm_graph_work(g, v), is_pinned = mapping_pinned(&r->m, v) != 0;
        if (current[v] == LBM_NONE)
            displaced += work;
        else
            r->load[is_pinned ? g->pin[v] : current[v]] += work;
        if (is_pinned && current[v] != LBM_NONE && current[v] != g->pin[v])
            forced += work;
    }
    if (displaced + forced == 0 && mapping_excess(&r->m, r->load) == 0)
        return 0;
    for (uint32_t p = 0; p < h->n; p++)
        over += fmax(0, (double)r->load[p] - total * h->capacity[p] / capacity);
    return fmax(0, BUDGET * (displaced + forced + over) - displaced);
}

/* What leaving current costs, and whether J and all of that fit together.  Out: stay. */
static enum lbm_err
set_prices(struct remap *r, const struct problem *problem)
{
    const struct lbm_graph *g = r->m.g;
    const uint32_t *current = problem->options.current, *work = problem->price_work;
    const struct lbm_hosts *h = r->m.h;
    double weight = 0, farthest = 1, all = 0;
    double price = problem->options.migration_cost * LBM_PAIR_PRICE_PARTS;
    for (uint64_t e = 0; e < lbm_graph_directions(g); e++)
        weight += lbm_graph_weight(g, e);
    for (size_t i = 0; i < (size_t)h->n * h->n; i++)
        farthest = h->dist[i] > farthest ? h->dist[i] : farthest;
    for (uint32_t v = 0; v < g->n; v++)
        all += work != NULL ? work[v] : 1;
    if (2 * weight * farthest * LBM_PAIR_PRICE_PARTS + 2 * price * all > 0x1p62)
        return LBM_E_LIMIT;
    for (uint32_t v = 0; v < g->n; v++)
        r->stay[v] = (int64_t)llround(price * (work != NULL ? work[v] : 1));
    r->budget = r->m.budget = (int64_t)(price * budget_work(r, current) / problem->fineness);
    return LBM_OK;
}

enum lbm_err
map_plan_remap(const struct problem *problem, struct lbm_plan *plan)
{
    const struct lbm_graph *g = &problem->g;
    const struct lbm_hosts *h = problem->h;
    const struct lbm_plan_options *options = &problem->options;
    struct remap r = {.problem = problem,
                      .m = {.g = g,
                            .h = h,
                            .limit = problem->limit,
                            .least = problem->least,
                            .part = plan->part,
                            .options = options},
                      .effort = &efforts[options->effort],
                      .load = lbm_alloc(h->n, sizeof *r.load),
                      .stay = lbm_alloc(g->n, sizeof *r.stay)};
    enum lbm_err err = r.load != NULL && r.stay != NULL ? LBM_OK : LBM_E_NOMEM;
    lbm_rng_stream(&r.rng, options->seed, 0);
    if (err == LBM_OK && options->migration_cost > 0)
        err = set_prices(&r, problem);
    if (err == LBM_OK) {
        r.m.current = options->migration_cost > 0 ? options->current : NULL;
        r.m.stay = r.stay;
        r.hot =
            options->migration_cost < NEARLY_FREE * lbm_map_migration_cost(g, h->n) ? REMAP_HOT : REMAP_WARM;
        for (uint32_t v = 0; v < g->n; v++)
            plan->part[v] = mapping_pinned(&r.m, v) ? g->pin[v] : options->current[v];
        err = run(&r, plan);
    }
    free(r.load);
    free(r.stay);
    return err;
}
