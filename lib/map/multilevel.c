/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method lbmap: levels, several starts that compete, the best refined up to the guest, V-cycles,
 * geometry. */
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
    ARENA_MAX = 1 << 16, /* starts compete on the finest level of at most so many vertices: what they differ
                            in shows there, and a larger guest takes one of them further, not all */
    FINALISTS = 3,       /* of the regions, refined in full on the coarsest level */
    ROUNDS = 10,         /* of refinement on a level */
    ROUNDS_FINAL = 20,
    PATIENCE = 100,
    VCYCLES_START = 1, /* of each start, and of a guest larger than the arena */
    VCYCLES_BEST = 10, /* of the best start */
    VCYCLE_PER_HOST = 10,
};

struct run {
    const struct lbm_hosts *h;
    struct lbm_hosts plane; /* borrows h with sites in the plane; n is 0 if there are none */
    double *plane_site;     /* [2 * hosts] */
    const struct lbm_plan_options *options;
    const uint64_t *limit;
    uint64_t *load; /* scratch */
    uint32_t *work; /* [n] scratch */
    struct lbm_levels levels;
    uint32_t arena; /* level */
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
                            .options = run->options};
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
        err = map_refine(&m, ROUNDS, PATIENCE, &run->rng);
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
        err = map_refine(&m, ROUNDS_FINAL, PATIENCE, &run->rng);
    for (int i = 0; i < vcycles && err == LBM_OK && !mapping_stopped(&m); i++)
        err = map_vcycle(&m, VCYCLE_PER_HOST * run->h->n, &run->rng);
    if (err == LBM_OK)
        err = map_flow(&m, &run->rng);
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
        err = map_refine(&m, ROUNDS, PATIENCE, &run->rng);
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
} starts[] = {
    {"regions", start_regions},
    {"plane regions", start_plane},
    {"outer face", start_face},
    {"halving", start_halving},
};

enum { STARTS = sizeof starts / sizeof *starts };

/* Run all starts; part is then the best mapping of the arena. Stopped early, at least the first has been
 * made. */
static enum lbm_err
compete(struct run *run)
{
    struct mapping m = mapping_of(run, run->arena);
    struct pool best = {0};
    enum lbm_err err = pool_init(&best, m.g->n, 1);
    for (unsigned i = 0; i < STARTS && err == LBM_OK && !(i > 0 && mapping_stopped(&m)); i++) {
        int applies;
        tell(run, starts[i].name, 0.1 + 0.5 * i / STARTS);
        lbm_rng_stream(&run->rng, run->options->seed, i + 1); /* no start depends on those before it */
        err = starts[i].make(run, &applies);
        if (err == LBM_OK && applies)
            err = polish(run, run->arena, VCYCLES_START);
        if (err == LBM_OK && applies)
            pool_offer(&best, m.part, mapping_merit(&m, run->load));
    }
    if (err == LBM_OK)
        memcpy(m.part, pool_part(&best, 0), m.g->n * sizeof *m.part);
    pool_free(&best);
    return err;
}

static enum lbm_err
build_levels(struct run *run, const struct lbm_graph *g)
{
    uint32_t target = COARSE_PER_HOST * run->h->n > COARSE_MIN ? COARSE_PER_HOST * run->h->n : COARSE_MIN;
    enum lbm_err err =
        lbm_levels_build(g, NULL, target, map_cluster_work(g, target), &run->rng, &run->levels);
    if (err != LBM_OK)
        return err;
    while (run->arena + 1 < run->levels.n && run->levels.graph[run->arena].n > ARENA_MAX)
        run->arena++;
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
    tell(run, "V-cycles", 0.6);
    if (err == LBM_OK)
        err = polish(run, run->arena, VCYCLES_BEST);
    tell(run, "refinement", 0.8);
    if (err == LBM_OK && run->arena > 0) {
        err = climb(run, run->arena, 0);
        if (err == LBM_OK)
            err = polish(run, 0, VCYCLES_START);
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
