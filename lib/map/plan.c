/* The plan: levels, starts, refinement upwards, V-cycles, and the geometry of the result. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    COARSE_PER_HOST = 30, /* vertices of the coarsest level */
    COARSE_MIN = 400,
    PIVOTS = 30,
    SWEEPS = 30,
    ROUNDS = 10, /* of refinement on a level */
    ROUNDS_FINAL = 20,
    PATIENCE = 100,
    VCYCLES = 4,
    VCYCLE_PER_HOST = 20,
    FINALISTS = 3, /* of the starts, refined in full on the coarsest level */
};

struct run {
    const struct lbm_graph *g;
    const struct lbm_hosts *h;
    const struct lbm_plan_options *options;
    uint64_t *limit;
    uint64_t *load; /* scratch */
    uint32_t *work; /* [n] scratch */
    struct lbm_levels levels;
    struct lbm_rng rng;
    struct lbm_plan *plan; /* part is scratch until the end; x holds the coarsest level's coordinates */
};

static void
tell(const struct run *run, const char *stage, double done)
{
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, stage, done);
}

static struct mapping
mapping_of(const struct run *run, const struct lbm_graph *g)
{
    return (struct mapping){
        .g = g, .h = run->h, .limit = run->limit, .part = run->plan->part, .options = run->options};
}

/* ---- starts: each makes a mapping of the guest in run->plan->part ------------------------------------- */

/* Regions of the coarsest level, the finalists refined in full, the best of them brought down. */
static enum lbm_err
start_regions(struct run *run, int *applies)
{
    const struct lbm_graph *top = &run->levels.graph[run->levels.n - 1];
    uint32_t *part = run->plan->part;
    struct pool pool = {0}, best = {0};
    struct mapping m = mapping_of(run, top);
    enum lbm_err err = pool_init(&pool, top->n, FINALISTS);
    if (err == LBM_OK)
        err = pool_init(&best, top->n, 1);
    if (err == LBM_OK)
        err = map_start_regions(&m, run->plan->x, &run->rng, &pool);
    for (uint32_t i = 0; i < pool.n && err == LBM_OK; i++) {
        memcpy(part, pool_part(&pool, i), top->n * sizeof *part);
        err = map_refine(&m, ROUNDS, PATIENCE, &run->rng);
        pool_offer(&best, part, mapping_merit(&m, run->load));
    }
    if (err == LBM_OK)
        memcpy(part, pool_part(&best, 0), top->n * sizeof *part);
    pool_free(&pool);
    pool_free(&best);
    for (uint32_t l = run->levels.n - 1; l-- > 0 && err == LBM_OK;) {
        m = mapping_of(run, &run->levels.graph[l]);
        map_prolong(run->levels.parent[l], m.g->n, part, run->work);
        memcpy(part, run->work, m.g->n * sizeof *part);
        err = map_refine(&m, ROUNDS, PATIENCE, &run->rng);
    }
    *applies = 1;
    return err;
}

static enum lbm_err
start_face(struct run *run, int *applies)
{
    struct mapping m = mapping_of(run, run->g);
    return map_start_face(&m, &run->rng, applies);
}

static enum lbm_err
start_halving(struct run *run, int *applies)
{
    struct mapping m = mapping_of(run, run->g);
    *applies = 1;
    return map_start_halving(&m, &run->rng);
}

static const struct start {
    const char *name;
    enum lbm_err (*make)(struct run *run, int *applies);
} starts[] = {
    {"regions", start_regions},
    {"outer face", start_face},
    {"halving", start_halving},
};

enum { STARTS = sizeof starts / sizeof *starts };

/* ---- the best of them --------------------------------------------------------------------------------- */

static enum lbm_err
polish(struct run *run)
{
    struct mapping m = mapping_of(run, run->g);
    enum lbm_err err = map_flow(&m, &run->rng);
    if (err == LBM_OK)
        err = map_swap(&m);
    if (err == LBM_OK)
        err = map_refine(&m, ROUNDS_FINAL, PATIENCE, &run->rng);
    int better = 1;
    for (int i = 0; i < VCYCLES && err == LBM_OK && !mapping_stopped(&m); i++)
        err = map_vcycle(&m, VCYCLE_PER_HOST * run->h->n, &run->rng, &better);
    if (err == LBM_OK)
        err = map_flow(&m, &run->rng);
    return err;
}

/* Run all starts. Out: run->plan->part. Stopped early, at least the first has been made. */
static enum lbm_err
choose(struct run *run)
{
    struct mapping m = mapping_of(run, run->g);
    struct pool best = {0};
    enum lbm_err err = pool_init(&best, run->g->n, 1);
    for (unsigned i = 0; i < STARTS && err == LBM_OK && !(best.n > 0 && mapping_stopped(&m)); i++) {
        int applies;
        lbm_rng_stream(&run->rng, run->options->seed, i + 1); /* no start depends on those before it */
        tell(run, starts[i].name, 0.1 + 0.8 * i / STARTS);
        err = starts[i].make(run, &applies);
        if (err == LBM_OK && applies)
            err = polish(run);
        if (err == LBM_OK && applies)
            pool_offer(&best, run->plan->part, mapping_merit(&m, run->load));
    }
    if (err == LBM_OK)
        memcpy(run->plan->part, pool_part(&best, 0), run->g->n * sizeof *run->plan->part);
    pool_free(&best);
    return err;
}

void
lbm_plan_defaults(struct lbm_plan_options *options)
{
    *options = (struct lbm_plan_options){.method = LBM_METHOD_LBMAP, .imbalance = 0.03, .seed = 1};
}

/* Everything but the empty guest. */
static enum lbm_err
make(struct run *run)
{
    const struct lbm_graph *g = run->g;
    uint32_t target = COARSE_PER_HOST * run->h->n > COARSE_MIN ? COARSE_PER_HOST * run->h->n : COARSE_MIN;
    tell(run, "levels", 0);
    enum lbm_err err =
        lbm_levels_build(g, NULL, target, map_cluster_work(g, target), &run->rng, &run->levels);
    if (err == LBM_OK)
        err = lbm_embed_pivots(&run->levels.graph[run->levels.n - 1], run->h->m, PIVOTS, SWEEPS, &run->rng,
                               run->plan->x);
    if (err == LBM_OK)
        err = choose(run);
    tell(run, "geometry", 0.9);
    if (err == LBM_OK) {
        struct mapping m = mapping_of(run, g);
        err = map_geometry(&m, &run->levels, &run->rng, run->plan->x, run->plan->weight);
    }
    tell(run, "geometry", 1);
    return err;
}

static enum lbm_err
check_pins(const struct lbm_graph *g, const struct lbm_hosts *h, struct lbm_diag *diag)
{
    for (uint32_t v = 0; v < g->n && g->pin != NULL; v++)
        if (g->pin[v] != LBM_NONE && g->pin[v] >= h->n)
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "vertex %" PRIu32 " is pinned to host %" PRIu32 "; hosts are 0 to %" PRIu32,
                                v, g->pin[v], h->n - 1);
    return LBM_OK;
}

enum lbm_err
lbm_plan_make(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan_options *options,
              struct lbm_plan *out, struct lbm_diag *diag)
{
    enum lbm_err err = check_pins(g, h, diag);
    if (err == LBM_OK)
        err = lbm_map_check_sums(g, h, diag);
    if (err != LBM_OK)
        return err;
    struct lbm_plan plan = {.n = g->n,
                            .part = lbm_alloc(g->n, sizeof *plan.part),
                            .m = h->m,
                            .x = lbm_alloc((size_t)g->n * h->m, sizeof *plan.x),
                            .weight = lbm_alloc(h->n, sizeof *plan.weight)};
    struct run run = {.g = g,
                      .h = h,
                      .options = options,
                      .limit = lbm_alloc(h->n, sizeof *run.limit),
                      .load = lbm_alloc(h->n, sizeof *run.load),
                      .work = lbm_alloc(g->n, sizeof *run.work),
                      .plan = &plan};
    if (plan.part == NULL || plan.x == NULL || plan.weight == NULL || run.limit == NULL || run.load == NULL ||
        run.work == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK && g->n != 0) {
        lbm_rng_stream(&run.rng, options->seed, 0);
        lbm_map_limits(g, h, options->imbalance, run.limit);
        err = make(&run);
    }
    lbm_levels_free(&run.levels);
    free(run.limit);
    free(run.load);
    free(run.work);
    if (err != LBM_OK) {
        lbm_plan_free(&plan);
        return lbm_diag_set(diag, err, NULL, 0, "planning: %s", lbm_err_text(err));
    }
    *out = plan;
    return LBM_OK;
}

void
lbm_plan_free(struct lbm_plan *plan)
{
    free(plan->part);
    free(plan->x);
    free(plan->weight);
    *plan = (struct lbm_plan){0};
}
