/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last stage of every method: what is asked of a mapping holds, at whatever cost in J, if it can. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/internal.h"

enum { DESCENT_MAX = 1024 /* vertices */ };

/* The packing itself, whole hosts exchanged and single vertices after them: within the limits. */
static enum lbm_err
fall_back(const struct problem *problem, const struct mapping *m, uint64_t *load)
{
    struct mapping packed = *m;
    if (problem->packing == NULL)
        return LBM_OK;
    packed.part = lbm_copy(problem->packing, m->g->n, sizeof *packed.part);
    if (packed.part == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = map_swap(&packed);
    if (err == LBM_OK)
        err = map_descend(&packed);
    if (err == LBM_OK) {
        struct objective present = mapping_objective(m, load), other = mapping_objective(&packed, load);
        if (objective_less(&other, &present))
            memcpy(m->part, packed.part, m->g->n * sizeof *m->part);
    }
    free(packed.part);
    return err;
}

/* Rounds of two hosts exchange vertices one by one, which tight limits forbid; of small guests all pairs
 * are tried. */
static int
is_worth_a_descent(const struct mapping *m)
{
    return m->current == NULL && m->g->n <= DESCENT_MAX && lbm_graph_max_work(m->g) > 1 &&
           !mapping_stopped(m);
}

enum lbm_err
map_finish(const struct problem *problem, const struct mapping *m)
{
    uint64_t *load = lbm_alloc(m->h->n, sizeof *load);
    enum lbm_err err = load == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK && mapping_objective(m, load).excess != 0)
        err = map_repair(m);
    if (err == LBM_OK && mapping_objective(m, load).excess != 0)
        err = fall_back(problem, m, load);
    if (err == LBM_OK && is_worth_a_descent(m))
        err = map_descend(m);
    if (err == LBM_OK && problem->options.connected)
        err = map_connect(m);
    free(load);
    return err;
}
