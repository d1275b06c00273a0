/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method lbmap: levels, several starts that compete, the best annealed and refined up to the guest,
 * V-cycles, geometry. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/run.h"

enum {
    COARSE_PER_HOST = 30, /* vertices of the coarsest level */
    COARSE_MIN = 400,
    VCYCLE_PER_HOST = 10,
    ANNEAL_PER_HOST = 20, /* lighter vertices than those of plain V-cycles: nothing balances them there */
};

static const struct effort efforts[LBM_EFFORT_COUNT] = {
    [LBM_EFFORT_FAST] = {.portfolio_max = 1 << 12,
                         .refine_max = 1 << 12,
                         .turns = 1,
                         .skip = {[PLANE_REGIONS] = 1, [OUTER_FACE] = 1},
                         .quick = 1,
                         .rounds = 2,
                         .rounds_final = 2,
                         .staging = {50, 1, 100000, 0, 0},
                         .best = {1, 50, 200000}},
    [LBM_EFFORT_NORMAL] = {.portfolio_max = 1 << 12,
                           .refine_max = 1 << 16,
                           .turns = 1,
                           .quick = 1,
                           .rounds = 3,
                           .rounds_final = 3,
                           .drawing = 1,
                           .staging = {100, 3, 500000, 1, 500000},
                           .start = {1, 100, 100000},
                           .best = {1, 200, 500000}},
    [LBM_EFFORT_BEST] = {.portfolio_max = 1 << 16,
                         .refine_max = 1 << 18,
                         .turns = 4,
                         .rounds = 10,
                         .rounds_final = 20,
                         .vcycles_start = 1,
                         .vcycles_best = 2,
                         .drawing = 1,
                         .staging = {200, 4, 1000000, 2, 4000000},
                         .start = {1, 200, 500000},
                         .best = {1, 500, 10000000},
                         .evolution = {4, 6, 4, 2}},
};

/* A guest so small is planned as by `best` also normally, in a second or less; up to so many pairs of a
 * vertex and a host. */
enum { SMALL_GUEST = 512, SMALL_PAIRS = 8192 };

static const struct effort *
effort_of(const struct problem *problem)
{
    uint64_t n = problem->g.n, pairs = n * problem->h->n;
    int is_small = n <= SMALL_GUEST && pairs <= SMALL_PAIRS;
    enum lbm_effort effort = problem->options.effort;
    return &efforts[is_small && effort == LBM_EFFORT_NORMAL ? LBM_EFFORT_BEST : effort];
}

/* Temperatures of every annealing: below, nothing moves; above, the start is forgotten. */
static const double HOT = 3, COLD = 0.3;

void
run_tell(const struct run *run, const char *stage, double done)
{
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, stage, done);
}

struct mapping
run_mapping(const struct run *run, uint32_t level)
{
    return (struct mapping){.g = &run->levels.graph[level],
                            .h = run->h,
                            .limit = run->limit,
                            .least = run->least,
                            .part = run->plan->part,
                            .options = run->options,
                            .quick = run->effort->quick};
}

enum lbm_err
run_uncoarsen(struct run *run, uint32_t from, uint32_t to)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t l = from; l-- > to && err == LBM_OK;) {
        struct mapping m = run_mapping(run, l);
        map_prolong(run->levels.parent[l], m.g->n, m.part, run->work);
        memcpy(m.part, run->work, m.g->n * sizeof *m.part);
        err = map_refine(&m, run->effort->rounds, STALL_LIMIT, &run->rng);
    }
    return err;
}

enum lbm_err
run_refine(struct run *run, uint32_t level, int vcycles)
{
    struct mapping m = run_mapping(run, level);
    enum lbm_err err = map_flow(&m, &run->rng);
    if (err == LBM_OK)
        err = map_swap(&m);
    if (err == LBM_OK)
        err = map_refine(&m, run->effort->rounds_final, STALL_LIMIT, &run->rng);
    for (int i = 0; i < vcycles && err == LBM_OK && !mapping_stopped(&m); i++)
        err = map_vcycle(&m, VCYCLE_PER_HOST * run->h->n, &run->rng);
    if (err == LBM_OK)
        err = map_flow(&m, &run->rng);
    return err;
}

enum lbm_err
run_anneal(struct run *run, uint32_t level, const struct annealing *how)
{
    struct mapping m = run_mapping(run, level);
    struct cooling cooling = {.hot = HOT, .cold = COLD, .draws = (uint64_t)how->draws_vertex * m.g->n};
    if (cooling.draws > how->draws_max)
        cooling.draws = how->draws_max;
    enum lbm_err err = LBM_OK;
    for (int i = 0; i < how->cycles && m.h->n > 1 && err == LBM_OK && !mapping_stopped(&m); i++)
        err = map_vcycle_annealed(&m, ANNEAL_PER_HOST * m.h->n, &cooling, &run->rng);
    return err;
}

/* ---- tasks -------------------------------------------------------------------------------------------- */

enum lbm_err
run_fork(const struct run *run, uint32_t level, uint64_t index, struct run *own)
{
    size_t n = run->levels.graph[level].n;
    const struct lbm_graph *top = &run->levels.graph[run->levels.n - 1];
    *own = *run;
    own->plan = lbm_alloc(1, sizeof *own->plan);
    own->load = lbm_alloc(run->h->n, sizeof *own->load);
    own->work = lbm_alloc(n, sizeof *own->work);
    if (own->plan == NULL || own->load == NULL || own->work == NULL)
        return LBM_E_NOMEM;
    own->plan->part = lbm_alloc(n, sizeof *own->plan->part);
    own->plan->x = lbm_copy(run->plan->x, (size_t)top->n * run->h->m, sizeof *own->plan->x);
    lbm_rng_stream(&own->rng, run->options->seed, index); /* none depends on those before it */
    return own->plan->part == NULL || own->plan->x == NULL ? LBM_E_NOMEM : LBM_OK;
}

void
run_close(struct run *own)
{
    if (own->plan != NULL)
        lbm_plan_free(own->plan);
    free(own->plan);
    free(own->load);
    free(own->work);
}

/* ---- the plan ----------------------------------------------------------------------------------------- */

/* The finest level of at most that many vertices, or the coarsest. */
static uint32_t
level_of(const struct run *run, uint32_t vertices)
{
    uint32_t level = 0;
    while (level + 1 < run->levels.n && run->levels.graph[level].n > vertices)
        level++;
    return level;
}

static enum lbm_err
build_levels(struct run *run, const struct lbm_graph *g)
{
    uint32_t target = COARSE_PER_HOST * run->h->n > COARSE_MIN ? COARSE_PER_HOST * run->h->n : COARSE_MIN;
    enum lbm_err err =
        lbm_levels_build(g, NULL, target, map_cluster_work(g, target), &run->rng, &run->levels);
    if (err != LBM_OK)
        return err;
    run->refine_level = level_of(run, run->effort->refine_max);
    run->portfolio_level = level_of(run, run->effort->portfolio_max);
    return LBM_OK;
}

/* The hosts as a plane sees them. */
static enum lbm_err
find_plane(struct run *run)
{
    run->plane_site = lbm_alloc(2 * (size_t)run->h->n, sizeof *run->plane_site);
    if (run->plane_site == NULL)
        return LBM_E_NOMEM;
    if (run->h->m == 2) {
        run->plane = *run->h;
    } else if (map_plane_sites(run->h, run->plane_site)) {
        run->plane = *run->h;
        run->plane.m = 2;
        run->plane.site = run->plane_site;
    }
    return LBM_OK;
}

/* Draw a guest larger than the portfolio level and cut the drawing; the cheaper mapping is kept. */
static enum lbm_err
try_drawing(struct run *run)
{
    struct mapping m = run_mapping(run, 0);
    if (!run->effort->drawing || run->portfolio_level == 0 || run->h->n == 1 || mapping_stopped(&m))
        return LBM_OK;
    struct objective present = mapping_objective(&m, run->load);
    uint32_t *part = m.part;
    m.part = lbm_alloc(m.g->n, sizeof *m.part);
    enum lbm_err err = m.part == NULL ? LBM_E_NOMEM : map_start_drawing(&m, &run->levels, &run->rng);
    if (err != LBM_OK || mapping_stopped(&m)) { /* half a drawing is none */
        free(m.part);
        return err;
    }
    err = map_flow(&m, &run->rng);
    if (err == LBM_OK)
        err = map_refine(&m, run->effort->rounds_final, STALL_LIMIT, &run->rng);
    struct objective drawn = err == LBM_OK ? mapping_objective(&m, run->load) : present;
    if (objective_less(&drawn, &present))
        memcpy(part, m.part, m.g->n * sizeof *part);
    free(m.part);
    return err;
}

/* From the best of the starts to a good mapping of the refine level. */
static enum lbm_err
work_refine_level(struct run *run, struct pool *pool)
{
    struct mapping start = run_mapping(run, run->portfolio_level);
    int staged = 0, evolves = run->effort->evolution.members != 0;
    memcpy(start.part, pool_part(pool, 0), start.g->n * sizeof *start.part);
    enum lbm_err err = evolves ? map_is_staged(run->h, &staged) : LBM_OK;
    evolves = evolves && !staged; /* the start has annealed where it can help */
    if (err == LBM_OK && evolves)
        err = run_memetic(run, run->portfolio_level, pool);
    if (err != LBM_OK || (evolves && run->portfolio_level == run->refine_level))
        return err;
    run_tell(run, "V-cycles", 0.7);
    err = run_uncoarsen(run, run->portfolio_level, run->refine_level);
    if (err == LBM_OK)
        err = run_refine(run, run->refine_level, run->effort->vcycles_best);
    if (err == LBM_OK && run->refine_level == 0)
        err = try_drawing(run);
    run_tell(run, "annealing", 0.75);
    if (err == LBM_OK)
        err = run_anneal(run, run->refine_level, &run->effort->best);
    return err;
}

static enum lbm_err
plan_levels(struct run *run)
{
    struct pool pool = {0};
    uint32_t members = run->effort->evolution.members;
    enum lbm_err err =
        pool_init(&pool, run->levels.graph[run->portfolio_level].n, members != 0 ? RUN_MEMBERS_MAX : 1);
    run_tell(run, "starts", 0.1);
    if (err == LBM_OK)
        err = run_portfolio(run, &pool);
    if (err == LBM_OK)
        err = work_refine_level(run, &pool);
    pool_free(&pool);
    return err;
}

/* The coordinates go down to a finer level, and the coarser ones are given back. */
static enum lbm_err
follow(struct run *run, uint32_t from, uint32_t to)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t l = from; l-- > to && err == LBM_OK;) {
        size_t n = (size_t)run->levels.graph[l].n * run->h->m;
        double *x = reallocarray(run->plan->x, n, sizeof *x);
        if (x == NULL)
            return LBM_E_NOMEM;
        run->plan->x = x;
        err = map_interpolate(&run->levels, l, run->h->m, &run->rng, run->plan->x);
        lbm_graph_free(&run->levels.graph[l + 1]);
        free(run->levels.parent[l]);
        run->levels.parent[l] = NULL;
    }
    return err;
}

/* From the refine level to a guest that is larger. */
static enum lbm_err
leave_refine_level(struct run *run)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t l = run->refine_level; l-- > 0 && err == LBM_OK;) {
        err = run_uncoarsen(run, l + 1, l);
        if (err == LBM_OK && !run->effort->drawing)
            err = follow(run, l + 1, l);
    }
    if (err == LBM_OK)
        err = run_refine(run, 0, run->effort->vcycles_start);
    return err == LBM_OK ? try_drawing(run) : err;
}

/* Coordinates of the coarsest level; those of the others come when they are needed, or they would be the
 * largest array of all. */
static enum lbm_err
embed_coarsest(struct run *run)
{
    const struct lbm_graph *top = &run->levels.graph[run->levels.n - 1];
    run->plan->x = lbm_alloc((size_t)top->n * run->h->m, sizeof *run->plan->x);
    if (run->plan->x == NULL)
        return LBM_E_NOMEM;
    return lbm_embed_pivots(top, run->h->m, PIVOTS, SWEEPS, &run->rng, run->plan->x);
}

static enum lbm_err
make(struct run *run, const struct lbm_graph *g)
{
    lbm_rng_stream(&run->rng, run->options->seed, 0);
    run_tell(run, "levels", 0);
    enum lbm_err err = find_plane(run);
    if (err == LBM_OK)
        err = build_levels(run, g);
    if (err == LBM_OK)
        err = embed_coarsest(run);
    if (err == LBM_OK)
        err = plan_levels(run);
    run_tell(run, "refinement", 0.85);
    uint32_t top = run->levels.n - 1, level = run->refine_level;
    if (err == LBM_OK && !run->effort->drawing)
        err = follow(run, top, level);
    if (err == LBM_OK && level > 0)
        err = leave_refine_level(run);
    if (err == LBM_OK && run->effort->drawing)
        err = follow(run, top, 0);
    struct mapping m = run_mapping(run, 0);
    if (err == LBM_OK)
        err = map_finish(run->problem, &m);
    run_tell(run, "geometry", 0.95);
    if (err == LBM_OK)
        err = map_geometry(&m, &run->rng, run->plan->x, run->plan->weight);
    return err;
}

enum lbm_err
map_plan_multilevel(const struct problem *problem, struct lbm_plan *plan)
{
    const struct lbm_graph *g = &problem->g;
    const struct lbm_hosts *h = problem->h;
    struct run run = {.problem = problem,
                      .h = h,
                      .options = &problem->options,
                      .effort = effort_of(problem),
                      .limit = problem->limit,
                      .least = problem->least,
                      .load = lbm_alloc(h->n, sizeof *run.load),
                      .work = lbm_alloc(g->n, sizeof *run.work),
                      .plan = plan};
    enum lbm_err err = LBM_E_NOMEM;
    if (run.load != NULL && run.work != NULL)
        err = make(&run, g);
    lbm_levels_free(&run.levels);
    free(run.load);
    free(run.work);
    free(run.plane_site);
    return err;
}
