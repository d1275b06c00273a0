/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best of several plans. One plan is a draw: for the same guest J differs by several parts of a hundred
 * from seed to seed, and what is found from a mapping later seldom gets out of the valley it lies in. */
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"

/* Seeds of tries are so far apart that none is a try of the next job's seed. */
static const uint64_t SEED_STEP = UINT64_C(1) << 32;

struct trial {
    const struct lbm_graph *g;
    const struct lbm_hosts *h;
    struct lbm_plan_options options;
    struct lbm_plan plan; /* if err is LBM_OK */
    struct merit merit;
    enum lbm_err err;
    struct lbm_diag diag;
};

static enum lbm_err
judge(struct trial *t)
{
    uint64_t *limit = lbm_alloc(t->h->n, sizeof *limit), *load = lbm_alloc(t->h->n, sizeof *load);
    enum lbm_err err = limit != NULL && load != NULL ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        struct mapping m = {.g = t->g, .h = t->h, .limit = limit, .part = t->plan.part};
        lbm_map_limits(t->g, t->h, t->options.imbalance, limit);
        t->merit = mapping_merit(&m, load);
    }
    free(limit);
    free(load);
    return err;
}

static void
run_trial(void *context)
{
    struct trial *t = context;
    t->err = lbm_plan_make(t->g, t->h, &t->options, &t->plan, &t->diag);
    if (t->err != LBM_OK)
        return;
    t->err = judge(t);
    if (t->err != LBM_OK) {
        (void)lbm_diag_set(&t->diag, t->err, NULL, 0, "planning: %s", lbm_err_text(t->err));
        lbm_plan_free(&t->plan);
    }
}

/* The first of the best; NULL: none was made. */
static struct trial *
best_of(struct trial *trial, unsigned n)
{
    struct trial *best = NULL;
    for (unsigned i = 0; i < n; i++)
        if (trial[i].err == LBM_OK && (best == NULL || merit_less(&trial[i].merit, &best->merit)))
            best = &trial[i];
    return best;
}

/* Out: *out the plan of the best, all others freed.  Errors: those of the first if none was made. */
static enum lbm_err
take_best(struct trial *trial, unsigned n, struct lbm_plan *out, struct lbm_diag *diag)
{
    struct trial *best = best_of(trial, n);
    for (unsigned i = 0; i < n; i++)
        if (&trial[i] != best && trial[i].err == LBM_OK)
            lbm_plan_free(&trial[i].plan);
    if (best == NULL && diag != NULL)
        *diag = trial[0].diag;
    if (best == NULL)
        return trial[0].err;
    *out = best->plan;
    return LBM_OK;
}

enum lbm_err
lbm_plan_make_best(const struct lbm_graph *g, const struct lbm_hosts *h,
                   const struct lbm_plan_options *options, unsigned tries, struct lbm_plan *out,
                   struct lbm_diag *diag)
{
    LBM_ASSERT(tries > 0);
    enum lbm_err err;
    struct trial *trial = lbm_alloc(tries, sizeof *trial);
    void **context = lbm_alloc(tries, sizeof *context);
    if (trial == NULL || context == NULL) {
        err = lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "planning: %s", lbm_err_text(LBM_E_NOMEM));
    } else {
        for (unsigned i = 0; i < tries; i++) {
            trial[i] = (struct trial){.g = g, .h = h, .options = *options};
            trial[i].options.seed += i * SEED_STEP;
            trial[i].options.parallel = NULL;
            trial[i].options.progress = NULL;
            context[i] = &trial[i];
        }
        lbm_plan_parallel(options, run_trial, context, tries);
        err = take_best(trial, tries, out, diag);
    }
    free(trial);
    free(context);
    return err;
}
