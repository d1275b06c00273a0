/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RJK03: bounds, worked examples, schedules of transfers, random loads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/cube.h"
#include "papers/papers.h"

enum { N_MAX = 64 };

static const struct {
    enum lbm_policy policy;
    const char *name;
} rules[] = {{LBM_POLICY_DEM, "DEM"}, {LBM_POLICY_OEM, "OEM"}, {LBM_POLICY_CWA, "CWA"}};

enum { DEM, OEM, CWA, RULES };

/* ---- bounds -------------------------------------------------------------------------------------------- */

/* Largest difference that is left of given loads. */
static double
difference_of(struct table_run *t, struct cube *c, const double *load, enum lbm_policy policy)
{
    memcpy(c->load, load, c->n * sizeof *load);
    enum lbm_err err = cube_balance(c, policy);
    if (err != LBM_OK)
        table_fail(t, err);
    return cube_difference(c);
}

static void
random_loads(struct lbm_rng *rng, uint32_t bound, uint32_t n, double *load)
{
    for (uint32_t p = 0; p < n; p++)
        load[p] = lbm_rng_below(rng, bound);
}

static void
judge_bounds(struct table_run *t, uint32_t d)
{
    const double bounds[RULES] = {d, ceil(d / 2.0), 1.0};
    double most[RULES] = {0.0}, load[N_MAX];
    struct lbm_rng rng;
    struct cube c;
    uint32_t runs = table_runs(t, 2000, 100000);
    if (!cube_open(t, d, &c))
        return;
    lbm_rng_stream(&rng, t->options->seed, d);
    for (uint32_t run = 0; run < runs; run++) {
        random_loads(&rng, 2 + run % 60, c.n, load);
        for (int rule = 0; rule < RULES; rule++)
            most[rule] = fmax(most[rule], difference_of(t, &c, load, rules[rule].policy));
    }
    for (int rule = 0; rule < RULES; rule++)
        cell_bound(table_cell(t, most[rule], "%s, %u processors, %u random loads: difference",
                              rules[rule].name, c.n, runs),
                   AT_MOST, bounds[rule]);
    for (uint32_t p = 0; p < c.n; p++)
        load[p] = __builtin_popcount(p);
    cell_paper(table_cell(t, difference_of(t, &c, load, LBM_POLICY_DEM),
                          "DEM, worst case of Fig. 3, %u processors", c.n),
               d, 0.0);
    cube_close(&c);
}

void
rjk03_bounds(struct table_run *t)
{
    static const double worst[32] = {15, 4,  9, 2, 5,  10, 10, 1, 6, 8, 2,  14, 6,  11, 9,  14,
                                     8,  15, 3, 8, 12, 3,  15, 7, 7, 9, 13, 7,  15, 4,  12, 6};
    struct cube c;
    for (uint32_t d = 3; d <= 6 && t->diag.code == LBM_OK; d++)
        judge_bounds(t, d);
    if (!cube_open(t, 5, &c))
        return;
    cell_paper(
        table_cell(t, difference_of(t, &c, worst, LBM_POLICY_OEM), "OEM, a worst case of 32 processors"), 3,
        0.0);
    cube_close(&c);
}

/* The pairs that sections 2 and 3 balance in words, and CWA's loads of Fig. 10. */
void
rjk03_pairs(struct table_run *t)
{
    static const struct {
        int rule;
        double load[8];
        uint32_t d, host;
        double after;
    } rows[] = {
        {DEM, {7, 14}, 1, 0, 10},
        {DEM, {14, 21}, 1, 1, 18},
        {DEM, {21, 14}, 1, 0, 18},
        {OEM, {4, 7}, 1, 0, 5},
        {OEM, {7, 4}, 1, 1, 6},
        {OEM, {4, 5}, 1, 0, 5},
        {CWA, {4, 7, 10, 8, 24, 22, 6, 5}, 3, 0, 10},
        {CWA, {4, 7, 10, 8, 24, 22, 6, 5}, 3, 7, 11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cube c;
        if (!cube_open(t, rows[i].d, &c))
            return;
        difference_of(t, &c, rows[i].load, rules[rows[i].rule].policy);
        struct cell *cell = table_cell(t, c.load[rows[i].host], "%s, loads %g, %g%s: what P%u has then",
                                       rules[rows[i].rule].name, rows[i].load[0], rows[i].load[1],
                                       rows[i].d > 1 ? " .. of Fig. 10" : "", rows[i].host);
        cell_paper(cell, rows[i].after, 0.0);
        cube_close(&c);
    }
}

/* ---- worked examples ----------------------------------------------------------------------------------- */

static const struct example {
    const char *figure;
    double load[8];
    int rule;
    double time[LBM_SCHEDULE_COUNT]; /* as the figures say; 0: they do not */
} examples[] = {
    {"Figs 18, 19", {15, 1, 1, 1, 1, 1, 1, 1}, DEM, {12, 10, 7}},
    {"Figs 20, 21", {15, 1, 1, 1, 1, 1, 1, 1}, CWA, {0, 13, 7}},
    {"Fig. 10", {4, 7, 10, 8, 24, 22, 6, 5}, CWA, {30, 0, 0}},
    {"Fig. 11", {4, 7, 10, 8, 24, 22, 6, 5}, OEM, {14, 0, 0}},
    {"Figs 14, 15", {10, 8, 6, 0, 1, 8, 10, 10}, DEM, {7, 3, 0}},
    {"Figs 16, 17", {10, 8, 6, 0, 1, 8, 10, 10}, CWA, {10, 5, 0}},
};

void
rjk03_schedules(struct table_run *t)
{
    static const char *const names[] = {"one dimension after the other", "overlapped", "pipelined"};
    struct cube c;
    if (!cube_open(t, 3, &c))
        return;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        difference_of(t, &c, e->load, rules[e->rule].policy);
        for (int schedule = 0; schedule < LBM_SCHEDULE_COUNT; schedule++)
            if (e->time[schedule] != 0)
                cell_paper(table_cell(t, cube_time(t, &c, (enum lbm_schedule)schedule, e->load), "%s: %s, %s",
                                      e->figure, rules[e->rule].name, names[schedule]),
                           e->time[schedule], 0.0);
    }
    cube_close(&c);
}

/* ---- random loads -------------------------------------------------------------------------------------- */

/* Mean largest difference; the 30 % of the paper's simulation do not follow from it. */
void
rjk03_random(struct table_run *t)
{
    static const double computed[][4] = {
        [DEM] = {1.166, 1.391, 1.565, 1.725}, [OEM] = {1.007, 1.189, 1.342, 1.476}};
    uint32_t runs = table_runs(t, 4000, 100000);
    for (uint32_t d = 3; d <= 6; d++) {
        double sum[2] = {0.0}, load[N_MAX];
        struct lbm_rng rng;
        struct cube c;
        if (!cube_open(t, d, &c))
            return;
        lbm_rng_stream(&rng, t->options->seed, d);
        for (uint32_t run = 0; run < runs; run++) {
            random_loads(&rng, 100, c.n, load);
            for (int rule = DEM; rule <= OEM; rule++)
                sum[rule] += difference_of(t, &c, load, rules[rule].policy);
        }
        for (int rule = DEM; rule <= OEM; rule++)
            cell_computed(table_cell(t, sum[rule] / runs, "%s, %u processors: mean largest difference",
                                     rules[rule].name, c.n),
                          computed[rule][d - 3], 0.02 + 2.5 / sqrt(runs));
        cell_computed(table_cell(t, sum[OEM] / sum[DEM], "OEM over DEM, %u processors", c.n),
                      computed[OEM][d - 3] / computed[DEM][d - 3], 0.03);
        cube_close(&c);
    }
}
