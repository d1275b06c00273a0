/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Portfolio of starts: each makes a mapping of the portfolio level, which is balanced, refined, annealed a
 * little. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/run.h"

enum { FINALISTS = 3 /* of the regions, refined in full on the coarsest level */ };

/* ---- starts: each makes a mapping of the portfolio level in run->plan->part
 * ------------------------------------- */

/* Regions of the coarsest level, the finalists refined in full, the best of them brought down.
 * In: h with the sites to use; x coordinates of the coarsest level in as many dimensions. */
static enum lbm_err
start_on_sites(struct run *run, const struct lbm_hosts *h, double *x)
{
    uint32_t coarsest = run->levels.n - 1;
    struct mapping m = run_mapping(run, coarsest);
    struct pool pool = {0}, best = {0};
    enum lbm_err err = pool_init(&pool, m.g->n, FINALISTS);
    if (err == LBM_OK)
        err = pool_init(&best, m.g->n, 1);
    m.h = h;
    if (err == LBM_OK)
        err = map_start_regions(&m, x, &run->rng, &pool);
    for (uint32_t i = 0; i < pool.n && err == LBM_OK; i++) {
        memcpy(m.part, pool_part(&pool, i), m.g->n * sizeof *m.part);
        err = map_refine(&m, run->effort->rounds, STALL_LIMIT, &run->rng);
        pool_offer(&best, m.part, mapping_objective(&m, run->load));
    }
    if (err == LBM_OK)
        memcpy(m.part, pool_part(&best, 0), m.g->n * sizeof *m.part);
    pool_free(&pool);
    pool_free(&best);
    return err == LBM_OK ? run_uncoarsen(run, coarsest, run->portfolio_level) : err;
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
    struct mapping m = run_mapping(run, run->portfolio_level);
    m.h = &run->plane;
    *applies = 0;
    return run->plane.n != 0 ? map_start_face(&m, &run->rng, applies) : LBM_OK;
}

static enum lbm_err
start_bisection(struct run *run, int *applies)
{
    struct mapping m = run_mapping(run, run->portfolio_level);
    *applies = 1;
    return map_start_bisection(&m, &run->effort->staging, &run->rng);
}

static const struct start {
    const char *name;
    enum lbm_err (*make)(struct run *run, int *applies);
} starts[STARTS] = {
    [REGIONS] = {"regions", start_regions},
    [PLANE_REGIONS] = {"plane regions", start_plane},
    [OUTER_FACE] = {"outer face", start_face},
    [HALVING] = {"halving", start_bisection},
};

/* One start, carried out by itself. */
struct entry {
    const struct run *run;
    unsigned turn, start;
    uint32_t *part; /* [n of the portfolio level] */
    struct objective objective;
    int made;
    enum lbm_err err;
};

/* Coordinates of the coarsest level are the first turn's, or others. */
static enum lbm_err
embed_again(struct run *own)
{
    const struct lbm_graph *top = &own->levels.graph[own->levels.n - 1];
    return lbm_embed_pivots(top, own->h->m, PIVOTS, SWEEPS, &own->rng, own->plan->x);
}

static enum lbm_err
make_entry(struct run *own, struct entry *entry)
{
    struct mapping m = run_mapping(own, own->portfolio_level);
    int applies;
    enum lbm_err err = entry->turn > 0 && entry->start == REGIONS ? embed_again(own) : LBM_OK;
    if (err == LBM_OK)
        err = starts[entry->start].make(own, &applies);
    if (err != LBM_OK || !applies)
        return err;
    err = run_refine(own, own->portfolio_level, own->effort->vcycles_start);
    if (err == LBM_OK)
        err = run_anneal(own, own->portfolio_level, &own->effort->start);
    if (err != LBM_OK)
        return err;
    entry->part = lbm_copy(m.part, m.g->n, sizeof *m.part);
    entry->objective = mapping_objective(&m, own->load);
    entry->made = entry->part != NULL;
    return entry->made ? LBM_OK : LBM_E_NOMEM;
}

static void
run_entry(void *context)
{
    struct entry *entry = context;
    struct run own;
    struct mapping m = run_mapping(entry->run, entry->run->portfolio_level);
    unsigned index = entry->turn * STARTS + entry->start;
    if (index > 0 && mapping_stopped(&m))
        return;
    entry->err = run_fork(entry->run, entry->run->portfolio_level, index + 1, &own);
    if (entry->err == LBM_OK)
        entry->err = make_entry(&own, entry);
    run_close(&own);
}

enum lbm_err
run_portfolio(struct run *run, struct pool *pool)
{
    enum { ENTRIES_MAX = 32 };
    struct entry entry[ENTRIES_MAX] = {0};
    void *context[ENTRIES_MAX] = {0};
    unsigned n = 0;
    for (unsigned turn = 0; turn < (unsigned)run->effort->turns; turn++)
        for (unsigned start = 0; start < STARTS; start++)
            /* the drawing with an outer face is the same each time */
            if (!run->effort->skip[start] && !(turn > 0 && start == OUTER_FACE) && n < ENTRIES_MAX) {
                entry[n] = (struct entry){.run = run, .turn = turn, .start = start};
                context[n] = &entry[n];
                n++;
            }
    lbm_plan_parallel(run->options, run_entry, context, n);
    enum lbm_err err = LBM_OK;
    for (unsigned i = 0; i < n; i++) {
        err = err == LBM_OK ? entry[i].err : err;
        if (err == LBM_OK && entry[i].made)
            pool_offer(pool, entry[i].part, entry[i].objective);
        free(entry[i].part);
    }
    return err;
}
