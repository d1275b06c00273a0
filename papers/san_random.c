/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SAN Theorem 18 and Conjecture 21: how the time on random loads grows with the network, and what lambda and
 * which constant it takes. n is the side of n^d processors. */
#include <math.h>

#include "balance/field.h"
#include "balance/policy.h"
#include "papers/field_times.h"
#include "papers/papers.h"

/* mean and deviation (of a single run): of another program, and its runs. quick 0: in full alone. */
struct row {
    unsigned d;
    uint32_t side;
    double bound;
    uint32_t quick, full;
    double mean, deviation, runs;
};

static double
allowed(const struct row *row, const struct field_times *times)
{
    return 4.0 * row->deviation * sqrt(1.0 / row->runs + 1.0 / times->runs);
}

/* Value: 0 if the row is not for this run. */
static int
measure_row(struct table_run *t, const struct row *row, struct lbm_field_run run, struct field_times *out)
{
    uint32_t runs = row->quick == 0 && !t->options->full ? 0 : table_runs(t, row->quick, row->full);
    if (runs == 0)
        return 0;
    run.d = row->d;
    run.side = row->side;
    run.bound = row->bound;
    *out = field_times_measure(t, run, runs);
    return 1;
}

/* ---- theorem 18 ---------------------------------------------------------------------------------------- */

static const struct row diffusion[] = {
    {1, 100, 0.25, 400, 4000, 119.39, 82.3, 2000}, {1, 1000, 0.25, 100, 1000, 475.7, 295.8, 2000},
    {1, 10000, 0.25, 20, 200, 1071.8, 484.3, 100}, {1, 100000, 0.25, 3, 30, 1988.1, 570.3, 10},
    {2, 32, 0.10, 200, 2000, 63.58, 23.0, 400},    {2, 128, 0.10, 40, 400, 113.7, 26.6, 400},
    {2, 512, 0.10, 4, 40, 176.7, 37.2, 30},        {2, 1024, 0.10, 0, 10, 198.2, 37.2, 6},
    {3, 16, 0.05, 100, 1000, 55.20, 19.4, 60},     {3, 32, 0.05, 30, 300, 66.63, 16.6, 60},
    {3, 64, 0.05, 6, 60, 73.53, 13.4, 60},         {3, 128, 0.05, 0, 6, 80.17, 13.4, 6},
};

/* (ln n)^(2/d): over it the time must not go on growing as n^2 does. What is judged besides the means is that
 * between the least and the largest network of a dimension it grows by less than the third power would. */
void
san_theorem_18(struct table_run *t)
{
    double first = 0.0, last = 0.0;
    for (size_t i = 0; i < sizeof diffusion / sizeof *diffusion && t->diag.code == LBM_OK; i++) {
        const struct row *row = &diffusion[i];
        struct field_times times;
        struct lbm_field_run run = {.alpha = 1.0 / (2 * row->d)};
        if (!measure_row(t, row, run, &times))
            continue;
        double unit = pow(log(row->side), 2.0 / row->d), ratio = times.mean / unit;
        struct cell *cell =
            table_cell(t, times.mean, "%u-D, n = %u, epsilon %g: steps of diffusion, alpha 1/%u", row->d,
                       row->side, row->bound, 2 * row->d);
        field_times_note(cell_computed(cell, row->mean, allowed(row, &times)), &times, 1.0);
        cell = table_cell(t, ratio, "%u-D, n = %u: T/(ln n)^(2/%u)", row->d, row->side, row->d);
        field_times_note(cell_computed(cell, row->mean / unit, allowed(row, &times) / unit), &times, unit);
        if (i == 0 || diffusion[i - 1].d != row->d)
            first = ratio;
        last = ratio;
        if (i + 1 == sizeof diffusion / sizeof *diffusion || diffusion[i + 1].d != row->d)
            cell_bound(table_cell(t, last / first, "%u-D: growth of T/(ln n)^(2/%u), largest n over least",
                                  row->d, row->d),
                       AT_MOST, row->d == 1 ? 4.0 : 2.0);
    }
}

/* ---- conjecture 21 ------------------------------------------------------------------------------------- */

/* A constant for each form of lambda, so that both have the same lambda on a network of middle size. */
static const struct form {
    const char *name;
    double constant[3];
    int root; /* lambda = 1 - c/(ln n)^(1/d), not 1 - c/ln n */
} forms[] = {{"1 - c/ln n", {0.75, 0.65, 0.85}, 0}, {"1 - c/(ln n)^(1/d)", {0.75, 0.30, 0.37}, 1}};

static const struct row exchanges[][2][4] = {
    {{{1, 100, .25, 2000, 20000, 8.757, 4.73, 4000},
      {1, 1000, .25, 400, 4000, 14.884, 5.60, 4000},
      {1, 10000, .25, 100, 1000, 21.47, 4.63, 400},
      {1, 100000, .25, 20, 200, 29.42, 5.28, 60}}},
    {{{2, 32, .05, 400, 4000, 11.056, 3.44, 375},
      {2, 128, .05, 100, 1000, 15.452, 3.69, 93},
      {2, 512, .05, 10, 100, 17.739, 2.45, 23}},
     {{2, 32, .05, 400, 4000, 10.717, 2.49, 375},
      {2, 128, .05, 100, 1000, 15.538, 3.78, 93},
      {2, 512, .05, 10, 100, 18.217, 3.45, 23}}},
    {{{3, 16, .05, 100, 1000, 5.233, 1.05, 150},
      {3, 32, .05, 40, 400, 5.347, 0.51, 75},
      {3, 64, .05, 10, 100, 5.757, 0.55, 37}},
     {{3, 16, .05, 100, 1000, 5.047, 0.80, 150},
      {3, 32, .05, 40, 400, 5.347, 0.51, 75},
      {3, 64, .05, 10, 100, 5.568, 0.56, 37}}},
};

static double
form_lambda(const struct form *form, unsigned d, double side)
{
    double c = form->constant[d - 1];
    if (form->root || d == 1)
        return lbm_random_load_lambda(d, side, 0.25, c);
    return lbm_random_load_lambda(1, side, 0.25, c); /* the form of a line */
}

static void
judge_form(struct table_run *t, const struct form *form, const struct row *row)
{
    struct field_times times;
    struct lbm_field_run run = {.lambda = form_lambda(form, row->d, row->side)};
    if (!measure_row(t, row, run, &times))
        return;
    double unit = pow(log(row->side), 1.0 / row->d);
    struct cell *cell = table_cell(t, times.mean / unit, "%u-D, n = %u, lambda = %s: T/(ln n)^(1/%u)", row->d,
                                   row->side, form->name, row->d);
    field_times_note(cell_computed(cell, row->mean / unit, allowed(row, &times) / unit), &times, unit);
}

/* Networks of 10^8 processors, a block at a time; the time of the bound that the smaller ones have. Growth
 * from 10^5 (1-D), 512^2 and 64^3 on must be that of (ln n)^(1/d), within a fifth. */
static void
judge_large(struct table_run *t)
{
    static const struct row rows[] = {
        {1, 1000000, .25, 3, 30, 2.6, 0, 0},  {1, 10000000, .25, 1, 4, 2.6, 0, 0},
        {1, 100000000, .25, 0, 1, 2.6, 0, 0}, {2, 2048, .05, 1, 4, 7.1, 0, 0},
        {2, 10000, .05, 0, 1, 7.1, 0, 0},     {3, 200, .05, 1, 4, 3.5, 0, 0},
        {3, 464, .05, 0, 1, 3.5, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && t->diag.code == LBM_OK; i++) {
        struct field_times times;
        struct lbm_field_run run = {.lambda = form_lambda(&forms[1], rows[i].d, rows[i].side)};
        if (!measure_row(t, &rows[i], run, &times))
            continue;
        double unit = pow(log(rows[i].side), 1.0 / rows[i].d);
        struct cell *cell = table_cell(t, times.mean / unit, "%u-D, n = %u, lambda = %s: T/(ln n)^(1/%u)",
                                       rows[i].d, rows[i].side, forms[1].name, rows[i].d);
        field_times_note(cell_computed(cell, rows[i].mean, 0.2 * rows[i].mean), &times, unit);
    }
}

void
san_conjecture_21(struct table_run *t)
{
    for (unsigned d = 1; d <= 3; d++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            for (size_t i = 0; i < 4 && t->diag.code == LBM_OK; i++)
                if (exchanges[d - 1][f][i].d != 0)
                    judge_form(t, &forms[f], &exchanges[d - 1][f][i]);
    judge_large(t);
}

/* ---- the constant -------------------------------------------------------------------------------------- */

/* What the policy random-load takes for a bound, against other constants and plain dimension exchange. */
void
san_constant(struct table_run *t)
{
    static const struct {
        unsigned d;
        uint32_t side, runs;
        double bound, c, old; /* c: the best that was measured; old: 0.75 and 0.3, whatever the bound */
    } rows[] = {
        {1, 4096, 100, .25, .80, .75}, {1, 4096, 20, .10, .20, .75}, {2, 128, 40, .25, .75, .30},
        {2, 128, 40, .10, .43, .30},   {2, 128, 40, .05, .27, .30},  {2, 128, 20, .01, .09, .30},
        {3, 32, 40, .25, .55, .30},    {3, 32, 40, .05, .35, .30},   {3, 32, 40, .01, .19, .30},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && t->diag.code == LBM_OK; i++) {
        unsigned d = rows[i].d;
        double side = rows[i].side, bound = rows[i].bound, root = pow(log(side), 1.0 / d);
        double lambda = lbm_random_load_lambda(d, side, bound, 0.0);
        double old = lbm_random_load_lambda(d, side, bound, rows[i].old);
        struct lbm_field_run run = {.d = d, .side = rows[i].side, .bound = bound, .lambda = lambda};
        uint32_t runs = table_runs(t, rows[i].runs, 10 * rows[i].runs);
        cell_computed(
            table_cell(t, (1.0 - lambda) * root, "%u-D, bound %g: constant of random-load", d, bound),
            rows[i].c, 0.12 * rows[i].c);
        double best = field_times_measure(t, run, runs).mean;
        run.lambda = old;
        double before = field_times_measure(t, run, runs).mean;
        run.lambda = 0.5;
        double plain = field_times_measure(t, run, rows[i].bound < 0.2 && d == 1 ? 2 : runs).mean;
        cell_note(cell_bound(table_cell(t, best / fmin(before, plain),
                                        "%u-D, bound %g: sweeps, over the least of two others", d, bound),
                             AT_MOST, 1.1),
                  "random-load %.3g, with the constant %g %.3g, dimension exchange %.3g", best, rows[i].old,
                  before, plain);
    }
}
