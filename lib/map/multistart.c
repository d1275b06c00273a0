/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best of several plans. One plan is a draw: for the same guest J differs by several parts of a hundred
 * from seed to seed, and what is found from a mapping later seldom gets out of the valley it lies in. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"

/* Seeds of starts are so far apart that none is a try of the next job's seed. */
static const uint64_t SEED_STEP = UINT64_C(1) << 32;

/* The best plan so far: of equal ones the first, whichever was made first. */
struct best {
    atomic_flag is_held; /* by a trial that looks at it */
    uint32_t number;     /* of the trial; LBM_NONE: there is none yet */
    struct objective objective;
    struct lbm_plan plan;
};

struct trial {
    const struct lbm_graph *g;
    const struct lbm_hosts *h;
    struct lbm_plan_options options;
    struct best *best;
    uint32_t number;
    enum lbm_err err;
    struct lbm_diag diag;
};

/* What goes between hosts that no link joins counts twice. Such hosts meet nobody who could shorten it, and
 * what has to go over a link that no edge uses takes a detour: of starts with about the same J those without
 * move less when loads drift (ADR 18). */
static enum lbm_err
judge(const struct trial *t, struct lbm_plan *plan, struct objective *objective)
{
    uint64_t *limit = lbm_alloc(t->h->n, sizeof *limit), *load = lbm_alloc(t->h->n, sizeof *load);
    enum lbm_err err = limit != NULL && load != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        struct mapping m = {.g = t->g, .h = t->h, .limit = limit, .part = plan->part};
        err = lbm_map_limits(t->g, t->h, t->options.imbalance, limit);
        *objective = mapping_objective(&m, load);
        objective->hop_bytes += lbm_map_unlinked_hop_bytes(t->g, t->h, plan->part);
    }
    free(limit);
    free(load);
    return err;
}

/* The better one of the two stays, so that there are never more plans than trials in progress and one. Takes
 * plan. */
static void
keep_better(struct best *best, uint32_t number, const struct objective *objective, struct lbm_plan *plan)
{
    while (atomic_flag_test_and_set(&best->is_held))
        ; /* no longer than it takes to compare them */
    int is_better = best->number == LBM_NONE || objective_less(objective, &best->objective) ||
                    (!objective_less(&best->objective, objective) && number < best->number);
    if (is_better) {
        struct lbm_plan worse = best->plan;
        best->number = number;
        best->objective = *objective;
        best->plan = *plan;
        *plan = worse;
    }
    atomic_flag_clear(&best->is_held);
    lbm_plan_free(plan);
}

static void
run_trial(void *context)
{
    struct trial *t = context;
    struct lbm_plan plan;
    struct objective objective;
    t->err = lbm_plan_make(t->g, t->h, &t->options, &plan, &t->diag);
    if (t->err != LBM_OK)
        return;
    t->err = judge(t, &plan, &objective);
    if (t->err == LBM_OK) {
        keep_better(t->best, t->number, &objective, &plan);
    } else {
        (void)lbm_diag_set(&t->diag, t->err, NULL, 0, "planning: %s", lbm_err_text(t->err));
        lbm_plan_free(&plan);
    }
}

/* Errors: those of the first trial if no plan was made. */
static enum lbm_err
take_best(const struct trial *trial, const struct best *best, struct lbm_plan *out, struct lbm_diag *diag)
{
    if (best->number != LBM_NONE) {
        *out = best->plan;
        return LBM_OK;
    }
    if (diag != NULL)
        *diag = trial[0].diag;
    return trial[0].err;
}

enum lbm_err
lbm_plan_make_best(const struct lbm_graph *g, const struct lbm_hosts *h,
                   const struct lbm_plan_options *options, unsigned starts, struct lbm_plan *out,
                   struct lbm_diag *diag)
{
    LBM_ASSERT(starts > 0);
    enum lbm_err err;
    struct best best = {.is_held = ATOMIC_FLAG_INIT, .number = LBM_NONE};
    struct trial *trial = lbm_alloc(starts, sizeof *trial);
    void **context = lbm_alloc(starts, sizeof *context);
    if (trial == NULL || context == NULL) {
        err = lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "planning: %s", lbm_err_text(LBM_E_NOMEM));
    } else {
        for (unsigned i = 0; i < starts; i++) {
            trial[i] = (struct trial){.g = g, .h = h, .options = *options, .best = &best, .number = i};
            trial[i].options.seed += i * SEED_STEP;
            trial[i].options.parallel = NULL;
            trial[i].options.progress = NULL;
            context[i] = &trial[i];
        }
        lbm_plan_parallel(options, run_trial, context, starts);
        err = take_best(trial, &best, out, diag);
    }
    free(trial);
    free(context);
    return err;
}
