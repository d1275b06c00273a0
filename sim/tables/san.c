/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SAN: closed forms, and how long random and worst loads take in the maximum norm. */
#include <math.h>
#include <stdlib.h>

#include "sim/tables/fields.h"
#include "sim/tables/papers.h"

static const double pi = 3.14159265358979323846;

/* ---- theorems 5 and 15 --------------------------------------------------------------------------------- */

/* Place of i in an array of n that is continued by its mirror image, again and again. */
static uint32_t
reflected(int64_t i, uint32_t n)
{
    int64_t place = ((i % (2 * (int64_t)n)) + 2 * (int64_t)n) % (2 * (int64_t)n);
    return (uint32_t)(place < n ? place : 2 * (int64_t)n - 1 - place);
}

/* 2^-t times the binomial coefficient of (t + k) / 2, 0 if t + k is odd or |k| > t. */
static double
path_share(int64_t t, int64_t k)
{
    if ((t + k) % 2 != 0 || k > t || k < -t)
        return 0.0;
    double chosen = (double)(t + k) / 2, all = (double)t;
    return exp(lgamma(all + 1) - lgamma(chosen + 1) - lgamma(all - chosen + 1) - all * log(2.0));
}

static double
closed_line(const double *start, uint32_t n, int64_t t, int64_t i)
{
    double sum = 0.0;
    for (int64_t j = i - t; j <= i + t; j++)
        sum += path_share(t, i - j) * start[reflected(j, n)];
    return sum;
}

/* omega of theorem 15 is the product of two one-dimensional walks along the diagonals. */
static double
closed_square(const double *start, uint32_t n, int64_t t, int64_t x, int64_t y)
{
    double sum = 0.0;
    for (int64_t dx = -t; dx <= t; dx++)
        for (int64_t dy = -t; dy <= t; dy++)
            sum += path_share(t, dx + dy) * path_share(t, dx - dy) *
                   start[(size_t)reflected(y - dy, n) * n + reflected(x - dx, n)];
    return sum;
}

static void
judge_closed_form(struct table_run *t, uint32_t side, int square, uint32_t steps)
{
    struct field f;
    struct lbm_rng rng;
    double worst = 0.0;
    enum lbm_err err = field_open(side, square, 0, &f);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    lbm_rng_seed(&rng, t->options->seed);
    field_random(&f, &rng);
    double *start = lbm_copy(f.load, f.n, sizeof *start);
    for (uint32_t s = 0; s < steps; s++)
        field_diffuse(&f);
    for (size_t i = 0; i < f.n && start != NULL; i++) {
        double closed = square ? closed_square(start, side, steps, (int64_t)(i % side), (int64_t)(i / side))
                               : closed_line(start, side, steps, (int64_t)i);
        worst = fmax(worst, fabs(closed - f.load[i]) / f.load[i]);
    }
    if (start == NULL)
        table_fail(t, LBM_E_NOMEM);
    cell_paper(table_cell(t, worst, "theorem %d, %u %s, %u steps: largest relative error", square ? 15 : 5,
                          side, square ? "by as many processors" : "processors", steps),
               0.0, 1e-12);
    free(start);
    field_close(&f);
}

void
san_closed_forms(struct table_run *t)
{
    judge_closed_form(t, 9, 0, 5);
    judge_closed_form(t, 64, 0, 50);
    judge_closed_form(t, 33, 0, 100);
    judge_closed_form(t, 8, 1, 5);
    judge_closed_form(t, 15, 1, 25);
}

/* ---- times --------------------------------------------------------------------------------------------- */

/* Steps or sweeps until the error is at most epsilon; lambda < 0: diffusion. */
static double
time_to_balance(struct field *f, double lambda, double epsilon)
{
    uint32_t steps = 0;
    for (; field_error(f) > epsilon; steps++)
        if (lambda < 0)
            field_diffuse(f);
        else
            field_exchange(f, lambda);
    return steps;
}

struct experiment {
    uint32_t side;
    int square, ring;
    double lambda, epsilon;
    uint32_t runs;
};

static double
mean_time(struct table_run *t, const struct experiment *e)
{
    struct field f;
    double sum = 0.0;
    enum lbm_err err = field_open(e->side, e->square, e->ring, &f);
    if (err != LBM_OK) {
        table_fail(t, err);
        return nan("");
    }
    for (uint32_t run = 0; run < e->runs; run++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        field_random(&f, &rng);
        sum += time_to_balance(&f, e->lambda, e->epsilon);
    }
    field_close(&f);
    return sum / e->runs;
}

void
san_ring(struct table_run *t)
{
    static const struct {
        uint32_t n, quick, full;
        double steps;
    } rows[] = {
        {101, 400, 4000, 78},  {1001, 200, 2000, 263}, {10001, 60, 400, 554},
        {100001, 10, 60, 964}, {1000001, 2, 10, 1444},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct experiment e = {rows[i].n, 0, 1, -1.0, 0.3, table_runs(t, rows[i].quick, rows[i].full)};
        cell_computed(
            table_cell(t, mean_time(t, &e), "ring of %u, epsilon 0.3: steps of diffusion", rows[i].n),
            rows[i].steps, (0.2 + 0.3 / sqrt(e.runs)) * rows[i].steps); /* single runs differ by a third */
    }
}

/* The cosine decays by cos(pi/n) a step on a line and by (1 + cos(pi/n))/2 on a mesh: T/n^2 tends to
 * 2 ln 4 / pi^2 and twice that. */
void
san_worst_case(struct table_run *t)
{
    for (int square = 0; square < 2; square++) {
        struct field f;
        uint32_t side = square ? 60 : 200;
        enum lbm_err err = field_open(side, square, 0, &f);
        if (err != LBM_OK) {
            table_fail(t, err);
            return;
        }
        field_cosine(&f);
        double steps = time_to_balance(&f, -1.0, 0.25), theory = (square ? 4.0 : 2.0) * log(4.0) / (pi * pi);
        cell_computed(
            table_cell(t, steps / ((double)side * side), "cosine, epsilon 0.25, %d-D: T/n^2", 1 + square),
            theory, 0.01 * theory);
        field_close(&f);
    }
}

void
san_theorem_20(struct table_run *t)
{
    static const struct {
        uint32_t n, quick, full;
        double ratio;
    } rows[] = {{100, 400, 4000, 0.252}, {1000, 100, 1000, 0.234}, {10000, 4, 40, 0.225}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = rows[i].n;
        struct experiment e = {
            n, 0, 0, 1.0 / (1.0 + sin(pi / n)), 0.25, table_runs(t, rows[i].quick, rows[i].full)};
        cell_computed(table_cell(t, mean_time(t, &e) / n, "line of %u, lambda_opt, epsilon 0.25: T/n", n),
                      rows[i].ratio, 0.05 * rows[i].ratio);
    }
}

void
san_conjecture_21(struct table_run *t)
{
    static const struct {
        uint32_t side, quick, full;
        int square;
        double ratio;
    } rows[] = {
        {100, 2000, 20000, 0, 1.81}, {1000, 400, 4000, 0, 2.17}, {10000, 100, 1000, 0, 2.26},
        {100000, 20, 200, 0, 2.53},  {128, 100, 1000, 1, 7.35},  {256, 40, 400, 1, 7.35},
        {512, 10, 100, 1, 7.35},     {1024, 3, 30, 1, 7.35},     {2048, 1, 8, 1, 7.35},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double ln_side = log(rows[i].side), ln_all = rows[i].square ? 2.0 * ln_side : ln_side;
        double lambda = rows[i].square ? 1.0 - 0.3 / sqrt(ln_all) : 1.0 - 0.75 / ln_all;
        struct experiment e = {rows[i].side,
                               rows[i].square,
                               0,
                               lambda,
                               rows[i].square ? 0.05 : 0.25,
                               table_runs(t, rows[i].quick, rows[i].full)};
        double steps = mean_time(t, &e);
        struct cell *cell =
            rows[i].square
                ? table_cell(t, steps / sqrt(ln_side), "mesh of side %u, c 0.3, epsilon 0.05: T/sqrt(ln n)",
                             rows[i].side)
                : table_cell(t, steps / ln_side, "line of %u, c 0.75, epsilon 0.25: T/ln n", rows[i].side);
        cell_computed(cell, rows[i].ratio, 0.15 * rows[i].ratio);
        if (rows[i].square && rows[i].side == 128)
            cell_note(cell, "lambda = 1 - c/(ln N)^(1/d) with N = n^d processors, not 1 - c/ln N");
    }
}
