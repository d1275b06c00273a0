/* SPDX-License-Identifier: GPL-3.0-or-later */
/* V-cycles: coarsening inside hosts, so that whole clusters change sides, then refinement upwards. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "embed/embed.h"
#include "map/internal.h"

enum {
    ROUNDS_COARSE = 10, /* of refinement on every level but the finest */
    ROUNDS_FINE = 6,
    PATIENCE = 100,
};

/* Refine upwards; part is that of the finest level, work [n] scratch. Out: part. */
static enum lbm_err
climb(const struct mapping *m, const struct lbm_levels *levels, uint32_t *part, uint32_t *work,
      struct lbm_rng *rng)
{
    uint32_t top = levels->n - 1;
    for (uint32_t l = 0; l < top; l++) {
        map_restrict(levels->parent[l], levels->graph[l].n, part, work);
        memcpy(part, work, levels->graph[l + 1].n * sizeof *part);
    }
    enum lbm_err err = LBM_OK;
    for (uint32_t l = levels->n; l-- > 0 && err == LBM_OK;) {
        struct mapping level = *m;
        level.g = &levels->graph[l];
        level.part = part;
        if (l < top) {
            map_prolong(levels->parent[l], level.g->n, part, work);
            memcpy(part, work, level.g->n * sizeof *part);
        } else {
            err = map_swap(&level);
        }
        if (err == LBM_OK)
            err = map_refine(&level, l == 0 ? ROUNDS_FINE : ROUNDS_COARSE, PATIENCE, rng);
    }
    return err;
}

/* Keep `part` if it is not worse. */
static void
keep_best(const struct mapping *m, uint32_t *part, uint64_t *load)
{
    struct mapping candidate = *m;
    candidate.part = part;
    struct merit old = mapping_merit(m, load), new = mapping_merit(&candidate, load);
    if (!merit_less(&old, &new))
        memcpy(m->part, part, m->g->n * sizeof *part);
}

enum lbm_err
map_vcycle(const struct mapping *m, uint32_t target, struct lbm_rng *rng)
{
    LBM_ASSERT(target > 0 && m->g->n > 0);
    struct lbm_levels levels = {0};
    uint32_t *part = lbm_copy(m->part, m->g->n, sizeof *part), *work = lbm_alloc(m->g->n, sizeof *work);
    uint64_t *load = lbm_alloc(m->h->n, sizeof *load);
    enum lbm_err err = part == NULL || work == NULL || load == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK)
        err = lbm_levels_build(m->g, m->part, target, map_cluster_work(m->g, target), rng, &levels);
    if (err == LBM_OK)
        err = climb(m, &levels, part, work, rng);
    if (err == LBM_OK)
        keep_best(m, part, load);
    lbm_levels_free(&levels);
    free(part);
    free(work);
    free(load);
    return err;
}
