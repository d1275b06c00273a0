/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method lbmap: levels, several starts that compete, the best annealed and refined up to the guest,
 * V-cycles, geometry. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "map/internal.h"

enum {
    COARSE_PER_HOST = 30, /* vertices of the coarsest level */
    COARSE_MIN = 400,
    PIVOTS = 30,
    SWEEPS = 30,
    FINALISTS = 3, /* of the regions, refined in full on the coarsest level */
    ROUNDS = 10,   /* of refinement on a level */
    ROUNDS_FINAL = 20,
    PATIENCE = 100,
    VCYCLE_PER_HOST = 10,
    ANNEAL_PER_HOST = 20, /* lighter vertices than those of plain V-cycles: nothing balances them there */
};

enum start_name { REGIONS, PLANE_REGIONS, OUTER_FACE, HALVING, STARTS };

/* Annealed V-cycles, one after the other; each keeps what it finds if that is not worse. */
struct annealing {
    int cycles;
    uint32_t draws_vertex; /* on each level, for a vertex of the guest */
    uint32_t draws_max;    /* on each level */
};

/* What an effort stands for. */
struct effort {
    uint32_t arena_max;     /* starts compete on the finest level of at most so many vertices */
    uint32_t ground_max;    /* the best one is annealed on the finest level of at most so many */
    int turns;              /* of all starts */
    uint8_t skip[STARTS];   /* starts that are left out */
    int quick;              /* starts try less */
    int rounds;             /* of refinement on a level */
    int rounds_final;       /* of refinement on the arena, the ground and the guest */
    int vcycles_start;      /* of each start, and of a guest larger than the ground */
    int vcycles_best;       /* of the best start */
    struct annealing start; /* of each start */
    struct annealing best;  /* of the best start */
};

static const struct effort efforts[LBM_EFFORT_COUNT] = {
    [LBM_EFFORT_FAST] = {.arena_max = 1 << 12,
                         .ground_max = 1 << 12,
                         .turns = 1,
                         .skip = {[PLANE_REGIONS] = 1, [OUTER_FACE] = 1},
                         .quick = 1,
                         .rounds = 2,
                         .rounds_final = 2,
                         .best = {1, 50, 200000}},
    [LBM_EFFORT_NORMAL] = {.arena_max = 1 << 12,
                           .ground_max = 1 << 16,
                           .turns = 1,
                           .quick = 1,
                           .rounds = 3,
                           .rounds_final = 3,
                           .start = {1, 100, 100000},
                           .best = {1, 200, 500000}},
    [LBM_EFFORT_BEST] = {.arena_max = 1 << 16,
                         .ground_max = 1 << 18,
                         .turns = 3,
                         .rounds = 10,
                         .rounds_final = 20,
                         .vcycles_start = 1,
                         .vcycles_best = 2,
                         .start = {1, 200, 500000},
                         .best = {4, 2000, 10000000}},
};

/* Temperatures of every annealing: below, nothing moves; above, the start is forgotten. */
static const double HOT = 3, COLD = 0.3;

struct run {
    const struct lbm_hosts *h;
    struct lbm_hosts plane; /* borrows h with sites in the plane; n is 0 if there are none */
    double *plane_site;     /* [2 * hosts] */
    const struct lbm_plan_options *options;
    const struct effort *effort;
    const uint64_t *limit;
    uint64_t *load; /* scratch */
    uint32_t *work; /* [n] scratch */
    struct lbm_levels levels;
    uint32_t arena, ground; /* levels */
    struct lbm_rng rng;
    struct lbm_plan *plan; /* part is that of the level at hand; x those of the coarsest level */
};

static void
tell(const struct run *run, const char *stage, double done)
{
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, stage, done);
}

static struct mapping
mapping_of(const struct run *run, uint32_t level)
{
    return (struct mapping){.g = &run->levels.graph[level],
                            .h = run->h,
                            .limit = run->limit,
                            .part = run->plan->part,
                            .options = run->options,
                            .quick = run->effort->quick};
}

/* Bring part from one level to a finer one, refining on each. */
static enum lbm_err
climb(struct run *run, uint32_t from, uint32_t to)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t l = from; l-- > to && err == LBM_OK;) {
        struct mapping m = mapping_of(run, l);
        map_prolong(run->levels.parent[l], m.g->n, m.part, run->work);
        memcpy(m.part, run->work, m.g->n * sizeof *m.part);
        err = map_refine(&m, run->effort->rounds, PATIENCE, &run->rng);
    }
    return err;
}

/* Balance, and refine on all levels inside hosts. */
static enum lbm_err
polish(struct run *run, uint32_t level, int vcycles)
{
    struct mapping m = mapping_of(run, level);
    enum lbm_err err = map_flow(&m, &run->rng);
    if (err == LBM_OK)
        err = map_swap(&m);
    if (err == LBM_OK)
        err = map_refine(&m, run->effort->rounds_final, PATIENCE, &run->rng);
    for (int i = 0; i < vcycles && err == LBM_OK && !mapping_stopped(&m); i++)
        err = map_vcycle(&m, VCYCLE_PER_HOST * run->h->n, &run->rng);
    if (err == LBM_OK)
        err = map_flow(&m, &run->rng);
    return err;
}

static enum lbm_err
anneal(struct run *run, uint32_t level, const struct annealing *how)
{
    struct mapping m = mapping_of(run, level);
    struct cooling cooling = {.hot = HOT, .cold = COLD, .draws = (uint64_t)how->draws_vertex * m.g->n};
    if (cooling.draws > how->draws_max)
        cooling.draws = how->draws_max;
    enum lbm_err err = LBM_OK;
    for (int i = 0; i < how->cycles && m.h->n > 1 && err == LBM_OK && !mapping_stopped(&m); i++)
        err = map_vcycle_annealed(&m, ANNEAL_PER_HOST * m.h->n, &cooling, &run->rng);
    return err;
}

/* ---- starts: each makes a mapping of the arena in run->plan->part ------------------------------------- */

/* Regions of the coarsest level, the finalists refined in full, the best of them brought down.
 * In: h with the sites to use; x coordinates of the coarsest level in as many dimensions. */
static enum lbm_err
start_on_sites(struct run *run, const struct lbm_hosts *h, double *x)
{
    uint32_t coarsest = run->levels.n - 1;
    struct mapping m = mapping_of(run, coarsest);
    struct pool pool = {0}, best = {0};
    enum lbm_err err = pool_init(&pool, m.g->n, FINALISTS);
    if (err == LBM_OK)
        err = pool_init(&best, m.g->n, 1);
    m.h = h;
    if (err == LBM_OK)
        err = map_start_regions(&m, x, &run->rng, &pool);
    for (uint32_t i = 0; i < pool.n && err == LBM_OK; i++) {
        memcpy(m.part, pool_part(&pool, i), m.g->n * sizeof *m.part);
        err = map_refine(&m, run->effort->rounds, PATIENCE, &run->rng);
        pool_offer(&best, m.part, mapping_merit(&m, run->load));
    }
    if (err == LBM_OK)
        memcpy(m.part, pool_part(&best, 0), m.g->n * sizeof *m.part);
    pool_free(&pool);
    pool_free(&best);
    return err == LBM_OK ? climb(run, coarsest, run->arena) : err;
}

static enum lbm_err
start_regions(struct run *run, int *applies)
{
    *applies = 1;
    return start_on_sites(run, run->h, run->plan->x);
}

/* The same in the plane, for hosts whose sites are in space: many guests are flat. */
static enum lbm_err
start_plane(struct run *run, int *applies)
{
    const struct lbm_graph *top = &run->levels.graph[run->levels.n - 1];
    *applies = run->h->m == 3 && run->plane.n != 0;
    if (!*applies)
        return LBM_OK;
    double *x = lbm_alloc(2 * (size_t)top->n, sizeof *x);
    enum lbm_err err = x == NULL ? LBM_E_NOMEM : lbm_embed_pivots(top, 2, PIVOTS, SWEEPS, &run->rng, x);
    if (err == LBM_OK)
        err = start_on_sites(run, &run->plane, x);
    free(x);
    return err;
}

static enum lbm_err
start_face(struct run *run, int *applies)
{
    struct mapping m = mapping_of(run, run->arena);
    m.h = &run->plane;
    *applies = 0;
    return run->plane.n != 0 ? map_start_face(&m, &run->rng, applies) : LBM_OK;
}

static enum lbm_err
start_halving(struct run *run, int *applies)
{
    struct mapping m = mapping_of(run, run->arena);
    *applies = 1;
    return map_start_halving(&m, &run->rng);
}

static const struct start {
    const char *name;
    enum lbm_err (*make)(struct run *run, int *applies);
} starts[STARTS] = {
    [REGIONS] = {"regions", start_regions},
    [PLANE_REGIONS] = {"plane regions", start_plane},
    [OUTER_FACE] = {"outer face", start_face},
    [HALVING] = {"halving", start_halving},
};

/* One start, and what it becomes. */
static enum lbm_err
try_start(struct run *run, unsigned turn, unsigned i, struct pool *best)
{
    struct mapping m = mapping_of(run, run->arena);
    int applies;
    lbm_rng_stream(&run->rng, run->options->seed,
                   turn * STARTS + i + 1); /* none depends on those before it */
    enum lbm_err err = starts[i].make(run, &applies);
    if (err != LBM_OK || !applies)
        return err;
    err = polish(run, run->arena, run->effort->vcycles_start);
    if (err == LBM_OK)
        err = anneal(run, run->arena, &run->effort->start);
    if (err == LBM_OK)
        pool_offer(best, m.part, mapping_merit(&m, run->load));
    return err;
}

/* Run the starts; part is then the best mapping of the arena. Stopped early, at least the first has been
 * made. */
static enum lbm_err
compete(struct run *run)
{
    struct mapping m = mapping_of(run, run->arena);
    struct pool best = {0};
    enum lbm_err err = pool_init(&best, m.g->n, 1);
    unsigned all = (unsigned)run->effort->turns * STARTS;
    for (unsigned i = 0; i < all && err == LBM_OK && !(i > 0 && mapping_stopped(&m)); i++) {
        if (run->effort->skip[i % STARTS])
            continue;
        tell(run, starts[i % STARTS].name, 0.1 + 0.4 * i / all);
        err = try_start(run, i / STARTS, i % STARTS, &best);
    }
    if (err == LBM_OK)
        memcpy(m.part, pool_part(&best, 0), m.g->n * sizeof *m.part);
    pool_free(&best);
    return err;
}

/* The finest level of at most so many vertices, or the coarsest. */
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
    run->ground = level_of(run, run->effort->ground_max);
    run->arena = level_of(run, run->effort->arena_max);
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

static enum lbm_err
make(struct run *run, const struct lbm_graph *g)
{
    lbm_rng_stream(&run->rng, run->options->seed, 0);
    tell(run, "levels", 0);
    enum lbm_err err = find_plane(run);
    if (err == LBM_OK)
        err = build_levels(run, g);
    if (err == LBM_OK)
        err = lbm_embed_pivots(&run->levels.graph[run->levels.n - 1], run->h->m, PIVOTS, SWEEPS, &run->rng,
                               run->plan->x);
    if (err == LBM_OK)
        err = compete(run);
    tell(run, "V-cycles", 0.5);
    if (err == LBM_OK)
        err = climb(run, run->arena, run->ground);
    if (err == LBM_OK)
        err = polish(run, run->ground, run->effort->vcycles_best);
    tell(run, "annealing", 0.6);
    if (err == LBM_OK)
        err = anneal(run, run->ground, &run->effort->best);
    tell(run, "refinement", 0.8);
    if (err == LBM_OK && run->ground > 0) {
        err = climb(run, run->ground, 0);
        if (err == LBM_OK)
            err = polish(run, 0, run->effort->vcycles_start);
    }
    tell(run, "geometry", 0.95);
    if (err == LBM_OK) {
        struct mapping m = mapping_of(run, 0);
        err = map_geometry(&m, &run->levels, &run->rng, run->plan->x, run->plan->weight);
    }
    return err;
}

enum lbm_err
map_plan_multilevel(const struct lbm_graph *g, const struct lbm_hosts *h,
                    const struct lbm_plan_options *options, struct lbm_plan *plan)
{
    uint64_t *limit = lbm_alloc(h->n, sizeof *limit);
    struct run run = {.h = h,
                      .options = options,
                      .effort = &efforts[options->effort],
                      .limit = limit,
                      .load = lbm_alloc(h->n, sizeof *run.load),
                      .work = lbm_alloc(g->n, sizeof *run.work),
                      .plan = plan};
    enum lbm_err err = LBM_E_NOMEM;
    if (limit != NULL && run.load != NULL && run.work != NULL) {
        lbm_map_limits(g, h, options->imbalance, limit);
        err = make(&run, g);
    }
    lbm_levels_free(&run.levels);
    free(limit);
    free(run.load);
    free(run.work);
    free(run.plane_site);
    return err;
}
