/* SPDX-License-Identifier: GPL-3.0-or-later */
/* V-cycles: coarsening inside hosts, so that whole clusters change sides, then refinement or annealing
 * upwards. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "embed/embed.h"
#include "map/internal.h"

enum {
    ROUNDS_COARSE = 10, /* of refinement on every level but the finest */
    ROUNDS_FINE = 6,
    ROUNDS_QUICK = 2,
    STALL_LIMIT = 100,
};

/* Temperature that a finer level begins with, to that of the coarsest. */
static const double COOLER = 0.5;

/* A V-cycle in progress. */
struct cycle {
    const struct mapping *m;   /* as it was */
    const struct cooling *how; /* NULL: do not anneal */
    struct lbm_levels levels;
    uint32_t *part;     /* [n] of the level at hand */
    uint32_t *work;     /* [n] scratch */
    uint32_t **current; /* [levels] of every level, if moves cost something; else NULL */
    int64_t **stay;
    struct lbm_rng *rng;
};

static enum lbm_err
refine_level(const struct cycle *c, const struct mapping *level, int finest, int coarsest)
{
    enum lbm_err err = coarsest && level->current == NULL ? map_swap(level) : LBM_OK;
    if (err == LBM_OK)
        err = map_refine(level, finest ? ROUNDS_FINE : ROUNDS_COARSE, STALL_LIMIT, c->rng);
    return err;
}

/* Refinement of a coarse level would pay for balance in heavy vertices; the finest one has it cheaper. */
static enum lbm_err
anneal_level(const struct cycle *c, const struct mapping *level, int finest, int coarsest)
{
    struct cooling how = *c->how;
    if (!coarsest)
        how.hot = how.hot * COOLER > how.cold ? how.hot * COOLER : how.cold;
    enum lbm_err err = map_anneal(level, &how, c->rng);
    if (err == LBM_OK && finest)
        err = map_refine(level, level->quick ? ROUNDS_QUICK : ROUNDS_FINE, STALL_LIMIT, c->rng);
    if (err == LBM_OK && finest)
        err = map_flow(level, c->rng);
    return err;
}

/* From the coarsest level up to the finest; part is that of the finest, before and after. */
static enum lbm_err
uncoarsen(const struct cycle *c)
{
    const struct lbm_levels *levels = &c->levels;
    uint32_t top = levels->n - 1;
    for (uint32_t l = 0; l < top; l++) {
        map_restrict(levels->parent[l], levels->graph[l].n, c->part, c->work);
        memcpy(c->part, c->work, levels->graph[l + 1].n * sizeof *c->part);
    }
    enum lbm_err err = LBM_OK;
    for (uint32_t l = levels->n; l-- > 0 && err == LBM_OK;) {
        struct mapping level = *c->m;
        level.g = &levels->graph[l];
        level.part = c->part;
        if (c->current != NULL && l > 0) {
            level.current = c->current[l];
            level.stay = c->stay[l];
        }
        if (l < top) {
            map_prolong(levels->parent[l], level.g->n, c->part, c->work);
            memcpy(c->part, c->work, level.g->n * sizeof *c->part);
        }
        err = (c->how != NULL ? anneal_level : refine_level)(c, &level, l == 0, l == top);
    }
    return err;
}

static void
free_current(struct cycle *c)
{
    for (uint32_t l = 0; c->current != NULL && l < c->levels.n; l++)
        free(c->current[l]);
    for (uint32_t l = 0; c->stay != NULL && l < c->levels.n; l++)
        free(c->stay[l]);
    free(c->current);
    free(c->stay);
}

/* Where the clusters of each level come from, which all their vertices share, and what their moves cost. */
static enum lbm_err
restrict_current(struct cycle *c)
{
    const struct lbm_levels *levels = &c->levels;
    c->current = lbm_alloc(levels->n, sizeof *c->current);
    c->stay = lbm_alloc(levels->n, sizeof *c->stay);
    if (c->current == NULL || c->stay == NULL)
        return LBM_E_NOMEM;
    for (uint32_t l = 1; l < levels->n; l++) {
        const uint32_t *current = l > 1 ? c->current[l - 1] : c->m->current;
        const int64_t *stay = l > 1 ? c->stay[l - 1] : c->m->stay;
        c->current[l] = lbm_alloc(levels->graph[l].n, sizeof **c->current);
        c->stay[l] = lbm_alloc(levels->graph[l].n, sizeof **c->stay);
        if (c->current[l] == NULL || c->stay[l] == NULL)
            return LBM_E_NOMEM;
        map_restrict(levels->parent[l - 1], levels->graph[l - 1].n, current, c->current[l]);
        for (uint32_t v = 0; v < levels->graph[l - 1].n; v++)
            c->stay[l][levels->parent[l - 1][v]] += stay[v];
    }
    return LBM_OK;
}

/* Levels of clusters of equal label, whose vertices come from one host if moves cost something. */
static enum lbm_err
build_levels(struct cycle *c, const uint32_t *label, uint32_t target)
{
    const struct mapping *m = c->m;
    for (uint32_t v = 0; m->current != NULL && v < m->g->n; v++)
        c->work[v] = m->part[v] * (m->h->n + 1) + (m->current[v] != LBM_NONE ? m->current[v] : m->h->n);
    enum lbm_err err = lbm_levels_build(m->g, m->current != NULL ? c->work : label, target,
                                        map_cluster_work(m->g, target), c->rng, &c->levels);
    return err == LBM_OK && m->current != NULL ? restrict_current(c) : err;
}

/* Keep `part` if it is not worse. */
static void
keep_best(const struct mapping *m, uint32_t *part, uint64_t *load)
{
    struct mapping candidate = *m;
    candidate.part = part;
    struct objective old = mapping_objective(m, load), new = mapping_objective(&candidate, load);
    if (!objective_less(&old, &new))
        memcpy(m->part, part, m->g->n * sizeof *part);
}

/* Coarsening keeps to vertices of equal label, which are on one host. */
static enum lbm_err
run(const struct mapping *m, const uint32_t *label, uint32_t target, const struct cooling *how,
    struct lbm_rng *rng)
{
    LBM_ASSERT(target > 0 && m->g->n > 0 && (m->current == NULL || label == m->part));
    struct cycle c = {.m = m,
                      .how = how,
                      .part = lbm_copy(m->part, m->g->n, sizeof *c.part),
                      .work = lbm_alloc(m->g->n, sizeof *c.work),
                      .rng = rng};
    uint64_t *load = lbm_alloc(m->h->n, sizeof *load);
    enum lbm_err err = c.part == NULL || c.work == NULL || load == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK)
        err = build_levels(&c, label, target);
    if (err == LBM_OK)
        err = uncoarsen(&c);
    if (err == LBM_OK)
        keep_best(m, c.part, load);
    free_current(&c);
    lbm_levels_free(&c.levels);
    free(c.part);
    free(c.work);
    free(load);
    return err;
}

enum lbm_err
map_vcycle(const struct mapping *m, uint32_t target, struct lbm_rng *rng)
{
    return run(m, m->part, target, NULL, rng);
}

enum lbm_err
map_vcycle_annealed(const struct mapping *m, uint32_t target, const struct cooling *how, struct lbm_rng *rng)
{
    return run(m, m->part, target, how, rng);
}

enum lbm_err
map_combine(const struct mapping *m, const uint32_t *other, uint32_t target, const struct cooling *how,
            struct lbm_rng *rng)
{
    uint32_t n_hosts = m->h->n, *label = lbm_alloc(m->g->n, sizeof *label);
    LBM_ASSERT((uint64_t)n_hosts * n_hosts <= UINT32_MAX);
    if (label == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < m->g->n; v++)
        label[v] = m->part[v] * n_hosts + other[v];
    enum lbm_err err = run(m, label, target, how, rng);
    free(label);
    return err;
}
