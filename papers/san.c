/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SAN: closed forms, and how long random and worst loads take in the maximum norm. n is the side of n^d
 * processors, as in the paper. */
#include <math.h>
#include <stdlib.h>

#include "balance/field.h"
#include "papers/field_times.h"
#include "papers/papers.h"

static const double pi = 3.14159265358979323846;

/* ---- theorems 5 and 15 --------------------------------------------------------------------------------- */

static void
judge_closed_form(struct table_run *t, uint32_t side, unsigned d, uint32_t steps)
{
    struct lbm_field f;
    double worst = 0.0;
    enum lbm_err err = lbm_field_open(d, side, 0, &f);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    lbm_field_draw(&f, t->options->seed);
    double *start = lbm_copy(f.load, f.n, sizeof *start);
    for (uint32_t s = 0; s < steps; s++)
        lbm_field_diffuse(&f, 1.0 / (2 * d));
    for (size_t i = 0; i < f.n && start != NULL; i++)
        worst = fmax(worst, fabs(lbm_field_closed(start, d, side, steps, i) - f.load[i]) / f.load[i]);
    if (start == NULL)
        table_fail(t, LBM_E_NOMEM);
    cell_paper(table_cell(t, worst, "theorem %d, %u %s, %u steps: largest relative error", d == 2 ? 15 : 5,
                          side, d == 2 ? "by as many processors" : "processors", steps),
               0.0, 1e-12);
    free(start);
    lbm_field_close(&f);
}

void
san_closed_forms(struct table_run *t)
{
    judge_closed_form(t, 9, 1, 5);
    judge_closed_form(t, 64, 1, 50);
    judge_closed_form(t, 33, 1, 100);
    judge_closed_form(t, 8, 2, 5);
    judge_closed_form(t, 15, 2, 25);
}

/* ---- times --------------------------------------------------------------------------------------------- */

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
        struct lbm_field_run run = {.d = 1, .side = rows[i].n, .ring = 1, .alpha = 0.5, .bound = 0.3};
        struct field_times times = field_times_measure(t, run, table_runs(t, rows[i].quick, rows[i].full));
        cell_computed(table_cell(t, times.mean, "ring of %u, epsilon 0.3: steps of diffusion", rows[i].n),
                      rows[i].steps,
                      (0.2 + 0.3 / sqrt(times.runs)) * rows[i].steps); /* single runs differ by a third */
    }
}

/* The cosine decays by cos(pi/n) a step on a line and by (1 + cos(pi/n))/2 on a mesh: T/n^2 tends to
 * 2 ln 4 / pi^2 and twice that. */
void
san_worst_case(struct table_run *t)
{
    for (unsigned d = 1; d <= 2; d++) {
        struct lbm_field f;
        uint32_t side = d == 2 ? 60 : 200, steps = 0;
        enum lbm_err err = lbm_field_open(d, side, 0, &f);
        if (err != LBM_OK) {
            table_fail(t, err);
            return;
        }
        lbm_field_cosine(&f);
        for (; lbm_field_error(&f) > 0.25; steps++)
            lbm_field_diffuse(&f, 1.0 / (2 * d));
        double theory = 2.0 * d * log(4.0) / (pi * pi);
        cell_computed(table_cell(t, steps / ((double)side * side), "cosine, epsilon 0.25, %u-D: T/n^2", d),
                      theory, 0.01 * theory);
        lbm_field_close(&f);
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
        struct lbm_field_run run = {.d = 1, .side = n, .lambda = 1.0 / (1.0 + sin(pi / n)), .bound = 0.25};
        struct field_times times = field_times_measure(t, run, table_runs(t, rows[i].quick, rows[i].full));
        cell_computed(table_cell(t, times.mean / n, "line of %u, lambda_opt, epsilon 0.25: T/n", n),
                      rows[i].ratio, 0.05 * rows[i].ratio);
    }
}
