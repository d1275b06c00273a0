/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The door to planning: checks, the table of methods, the plan's memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "map/internal.h"
#include "map/packing.h"

typedef enum lbm_err plan_method(const struct problem *problem, struct lbm_plan *plan);

static plan_method *const methods[LBM_METHOD_COUNT] = {
    [LBM_METHOD_LBMAP] = map_plan_multilevel,
    [LBM_METHOD_HEIRICH] = map_plan_heirich,
};

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

static enum lbm_err
check_current(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *current,
              struct lbm_diag *diag)
{
    for (uint32_t v = 0; v < g->n && current != NULL; v++)
        if (current[v] != LBM_NONE && current[v] >= h->n)
            return lbm_diag_set(diag, LBM_E_RANGE, NULL, 0,
                                "vertex %" PRIu32 " is on host %" PRIu32 "; hosts are 0 to %" PRIu32, v,
                                current[v], h->n - 1);
    return LBM_OK;
}

/* Vertices of at least the smallest load serve one host each, all others together the rest. */
static int
is_too_much(const struct lbm_graph *g, const struct lbm_hosts *h, uint64_t least)
{
    uint64_t served = 0, light = 0;
    for (uint32_t v = 0; v < g->n; v++)
        if (lbm_graph_work(g, v) >= least)
            served++;
        else
            light += lbm_graph_work(g, v);
    uint64_t left = served < h->n ? h->n - served : 0;
    return left != 0 && light / left < least;
}

/* Whether whole vertices do not fit on the hosts at so much each. */
static enum lbm_err
is_too_little(const struct lbm_graph *g, const struct lbm_hosts *h, uint64_t most, int *is)
{
    double level, *share = lbm_alloc(h->n, sizeof *share);
    struct packing k = {.n = g->n, .work = g->work, .pin = g->pin, .n_hosts = h->n, .share = share};
    for (uint32_t p = 0; share != NULL && p < h->n; p++)
        share[p] = (double)most;
    enum lbm_err err = share != NULL ? packing_bound(&k, &level) : LBM_E_NOMEM;
    if (err == LBM_OK)
        *is = level > 1 + 1e-9;
    free(share);
    return err;
}

/* Loads asked for that no mapping has. */
static enum lbm_err
check_loads(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan_options *options,
            struct lbm_diag *diag)
{
    uint64_t least = options->load_least, most = options->load_most, all = lbm_graph_total_work(g);
    uint32_t heaviest = lbm_graph_max_work(g);
    int is = 0;
    if (most != 0 && least > most)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--least", 0,
                            "%" PRIu64 " is more than --most, %" PRIu64, least, most);
    if (least != 0 && is_too_much(g, h, least))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--least", 0,
                            "%" PRIu32 " vertices of weight %" PRIu64 " in all cannot give each of %" PRIu32
                            " hosts %" PRIu64,
                            g->n, all, h->n, least);
    if (most != 0 && heaviest > most)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--most", 0,
                            "a vertex weighs %" PRIu32 ", more than %" PRIu64, heaviest, most);
    enum lbm_err err = most != 0 ? is_too_little(g, h, most, &is) : LBM_OK;
    if (err == LBM_OK && is)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--most", 0,
                            "the vertices, of weight %" PRIu64 " in all, do not fit on %" PRIu32
                            " hosts with %" PRIu64 " each",
                            all, h->n, most);
    return err == LBM_OK ? err : lbm_diag_set(diag, err, NULL, 0, "planning: %s", lbm_err_text(err));
}

/* Loads asked for that the plan has not. */
static enum lbm_err
judge_loads(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan_options *options,
            const struct lbm_plan *plan, struct lbm_diag *diag)
{
    uint64_t least = options->load_least, most = options->load_most;
    uint64_t *load = least != 0 || most != 0 ? lbm_alloc(h->n, sizeof *load) : NULL;
    if (least == 0 && most == 0)
        return LBM_OK;
    if (load == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "planning: %s", lbm_err_text(LBM_E_NOMEM));
    enum lbm_err err = LBM_OK;
    lbm_map_loads(g, h->n, plan->part, load);
    for (uint32_t p = 0; p < h->n && err == LBM_OK; p++)
        if (load[p] < least || (most != 0 && load[p] > most))
            err = lbm_diag_set(diag, LBM_E_UNSUPPORTED, load[p] < least ? "--least" : "--most", 0,
                               "no mapping with such loads was found; in the nearest one host %" PRIu32
                               " has %" PRIu64,
                               p, load[p]);
    free(load);
    return err;
}

/* Plan in the problem's own units. */
static enum lbm_err
plan_problem(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan_options *options,
             struct lbm_plan *plan)
{
    struct problem problem;
    enum lbm_err err = problem_open(&problem, g, h, options);
    if (err == LBM_OK)
        err = (options->current != NULL && options->method == LBM_METHOD_LBMAP
                   ? map_plan_remap
                   : methods[options->method])(&problem, plan);
    problem_close(&problem);
    return err;
}

enum lbm_err
lbm_plan_make(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan_options *options,
              struct lbm_plan *out, struct lbm_diag *diag)
{
    LBM_ASSERT(h->n > 0 && options->method < LBM_METHOD_COUNT && options->effort < LBM_EFFORT_COUNT &&
               options->imbalance >= 0 && options->migration_cost >= 0);
    enum lbm_err err = check_pins(g, h, diag);
    if (err == LBM_OK)
        err = check_current(g, h, options->current, diag);
    if (err == LBM_OK)
        err = lbm_map_check_sums(g, h, diag);
    if (err == LBM_OK)
        err = check_loads(g, h, options, diag);
    if (err != LBM_OK)
        return err;
    struct lbm_plan plan = {.n = g->n,
                            .part = lbm_alloc(g->n, sizeof *plan.part),
                            .m = h->m,
                            .weight = lbm_alloc(h->n, sizeof *plan.weight)};
    if (plan.part == NULL || plan.weight == NULL)
        err = LBM_E_NOMEM;
    else if (g->n == 0)
        err = (plan.x = lbm_alloc(0, sizeof *plan.x)) == NULL ? LBM_E_NOMEM : LBM_OK;
    else
        err = plan_problem(g, h, options, &plan);
    if (err != LBM_OK) {
        lbm_plan_free(&plan);
        if (err == LBM_E_LIMIT && options->current != NULL)
            return lbm_diag_set(
                diag, err, NULL, 0,
                "weights times distances, or the migration cost times the work, exceed 62 bits: "
                "scale them down, or give a smaller migration cost");
        return lbm_diag_set(diag, err, NULL, 0, "planning: %s", lbm_err_text(err));
    }
    err = judge_loads(g, h, options, &plan, diag);
    if (err != LBM_OK) {
        lbm_plan_free(&plan);
        return err;
    }
    if (options->progress != NULL)
        options->progress(options->arg, "planned", 1);
    *out = plan;
    return LBM_OK;
}
