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
    uint64_t *load;
    struct lbm_levels levels;
    struct lbm_rng rng;
    struct lbm_plan *plan;
};

static void
tell(const struct run *run, const char *stage, double done)
{
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, stage, done);
}

static struct mapping
mapping_of(const struct run *run, const struct lbm_graph *g, uint32_t *part)
{
    return (struct mapping){.g = g, .h = run->h, .limit = run->limit, .part = part, .options = run->options};
}

static enum lbm_err
start(struct run *run, uint32_t *part, const double *x)
{
    const struct lbm_graph *top = &run->levels.graph[run->levels.n - 1];
    struct pool pool = {0}, finalists = {0};
    enum lbm_err err = pool_init(&pool, top->n, FINALISTS);
    if (err == LBM_OK)
        err = pool_init(&finalists, top->n, 1);
    struct mapping m = mapping_of(run, top, part);
    if (err == LBM_OK)
        err = map_start_regions(&m, x, &run->rng, &pool);
    for (uint32_t i = 0; i < pool.n && err == LBM_OK; i++) {
        memcpy(part, pool_part(&pool, i), top->n * sizeof *part);
        err = map_refine(&m, ROUNDS, PATIENCE, &run->rng);
        pool_offer(&finalists, part, mapping_merit(&m, run->load));
    }
    if (err == LBM_OK)
        memcpy(part, pool_part(&finalists, 0), top->n * sizeof *part);
    pool_free(&pool);
    pool_free(&finalists);
    return err;
}

static enum lbm_err
climb(struct run *run, uint32_t *part, uint32_t *work)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t l = run->levels.n - 1; l-- > 0 && err == LBM_OK;) {
        struct mapping m = mapping_of(run, &run->levels.graph[l], part);
        map_prolong(run->levels.parent[l], m.g->n, part, work);
        memcpy(part, work, m.g->n * sizeof *part);
        err = map_refine(&m, ROUNDS, PATIENCE, &run->rng);
    }
    return err;
}

static enum lbm_err
polish(struct run *run, uint32_t *part)
{
    struct mapping m = mapping_of(run, run->g, part);
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

void
lbm_plan_defaults(struct lbm_plan_options *options)
{
    *options = (struct lbm_plan_options){.method = LBM_METHOD_LBMAP, .imbalance = 0.03, .seed = 1};
}

/* Everything but the empty guest. */
static enum lbm_err
make(struct run *run)
{
    uint32_t target = COARSE_PER_HOST * run->h->n > COARSE_MIN ? COARSE_PER_HOST * run->h->n : COARSE_MIN;
    uint64_t cluster = lbm_graph_total_work(run->g) / target * 3 / 2;
    uint32_t *part = run->plan->part, *work = lbm_alloc(run->g->n, sizeof *work);
    double *x = run->plan->x;
    enum lbm_err err = work == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK)
        err = lbm_levels_build(run->g, NULL, target, cluster > 2 ? cluster : 2, &run->rng, &run->levels);
    if (err == LBM_OK)
        err =
            lbm_embed_pivots(&run->levels.graph[run->levels.n - 1], run->h->m, PIVOTS, SWEEPS, &run->rng, x);
    tell(run, "start", 0.1);
    if (err == LBM_OK)
        err = start(run, part, x);
    tell(run, "levels", 0.4);
    if (err == LBM_OK)
        err = climb(run, part, work);
    tell(run, "V-cycles", 0.6);
    if (err == LBM_OK)
        err = polish(run, part);
    tell(run, "regions", 0.9);
    if (err == LBM_OK) {
        struct mapping m = mapping_of(run, run->g, part);
        err = map_geometry(&m, &run->levels, &run->rng, x, run->plan->weight);
    }
    tell(run, "regions", 1.0);
    free(work);
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
                      .plan = &plan};
    if (plan.part == NULL || plan.x == NULL || plan.weight == NULL || run.limit == NULL || run.load == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK && g->n != 0) {
        lbm_rng_seed(&run.rng, options->seed);
        lbm_map_limits(g, h, options->imbalance, run.limit);
        err = make(&run);
    }
    lbm_levels_free(&run.levels);
    free(run.limit);
    free(run.load);
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
