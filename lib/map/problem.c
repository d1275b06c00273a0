/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A guest in units of its own, and the loads that its hosts may have: the bound asked where a packing keeps
 * it, else what the packing reaches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/packing.h"
#include "map/problem.h"

/* Work in units, and what follows from it. */
static enum lbm_err
open_work(struct problem *p, const struct lbm_graph *g, const struct lbm_hosts *h,
          const struct lbm_plan_options *options)
{
    *p = (struct problem){
        .h = h, .g = *g, .options = *options, .work_unit = 1, .weight_unit = 1, .fineness = 1};
    enum lbm_err err = units_scale(g->work, g->n, &p->work_unit, &p->work);
    if (err != LBM_OK)
        return err;
    if (p->work != NULL)
        p->g.work = p->work;
    p->price_work = p->g.work;
    p->options.load_most = options->load_most / p->work_unit;
    p->options.load_least = options->load_least / p->work_unit + (options->load_least % p->work_unit != 0);
    return problem_share(p);
}

enum lbm_err
problem_open(struct problem *p, const struct lbm_graph *g, const struct lbm_hosts *h,
             const struct lbm_plan_options *options)
{
    enum lbm_err err = open_work(p, g, h, options);
    if (err == LBM_OK)
        err = units_scale(g->weight, lbm_graph_directions(g), &p->weight_unit, &p->weight);
    if (err == LBM_OK && p->weight != NULL)
        p->g.weight = p->weight;
    /* Rounded, so that a factor of the guest's weights, which the usual cost follows, leaves no trace. */
    p->options.migration_cost = (double)(float)(options->migration_cost * p->work_unit / p->weight_unit);
    return err;
}

void
problem_close(struct problem *p)
{
    free(p->work);
    free(p->weight);
    free(p->uncut);
    free(p->limit);
    free(p->least);
    free(p->whole);
    free(p->packing);
}

enum lbm_err
lbm_map_limits(const struct lbm_graph *g, const struct lbm_hosts *h, double eps, uint64_t *limit)
{
    struct problem p;
    struct lbm_plan_options options;
    lbm_plan_defaults(&options);
    options.imbalance = eps;
    enum lbm_err err = open_work(&p, g, h, &options);
    for (uint32_t q = 0; err == LBM_OK && q < h->n; q++)
        limit[q] = p.whole[q] * p.work_unit;
    problem_close(&p);
    return err;
}

/* Out: load over share of longest first, and of what is least possible. */
static enum lbm_err
measure(const struct lbm_graph *g, const struct lbm_hosts *h, const struct packing *k,
        struct lbm_balance *out)
{
    double work = (double)lbm_graph_total_work(g), capacity = 0;
    double *share = lbm_alloc(h->n, sizeof *share);
    struct packing own = *k;
    if (share == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n; p++)
        capacity += h->capacity[p];
    for (uint32_t p = 0; p < h->n; p++)
        share[p] = work * h->capacity[p] / capacity;
    own.share = share;
    enum lbm_err err = packing_longest_first(&own);
    if (err == LBM_OK)
        err = packing_bound(&own, &out->least);
    if (err == LBM_OK) {
        out->longest_first = packing_level(&own) - 1;
        out->least = fmax(0, fmin(out->least - 1, out->longest_first));
    }
    free(share);
    return err;
}

enum lbm_err
lbm_map_balance(const struct lbm_graph *g, const struct lbm_hosts *h, struct lbm_balance *out)
{
    struct lbm_balance found = {0};
    uint32_t unit, *work = NULL, *part = lbm_alloc(g->n, sizeof *part);
    uint64_t *load = lbm_alloc(h->n, sizeof *load);
    enum lbm_err err = part == NULL || load == NULL ? LBM_E_NOMEM : units_scale(g->work, g->n, &unit, &work);
    if (err == LBM_OK) {
        struct lbm_graph own = *g;
        own.work = work != NULL ? work : g->work;
        struct packing k = {
            .n = g->n, .work = own.work, .pin = g->pin, .n_hosts = h->n, .part = part, .load = load};
        if (lbm_graph_total_work(&own) > 0)
            err = measure(&own, h, &k, &found);
    }
    free(work);
    free(part);
    free(load);
    if (err == LBM_OK)
        *out = found;
    return err;
}
