/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XL95 Tables II and III: sweeps until nothing moves, integer loads, mean 128. */
#include "papers/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/exchange.h"

enum { LOAD_MEAN = 128, PAPER_RUNS = 100 };

/* paper: mean of 100 runs as printed; mean and deviation: of one run, from 20,000 runs of another program. */
struct row {
    const char *hosts;
    uint32_t lambda; /* in 1/10000 */
    double paper, mean, deviation;
};

static const struct row table_2[] = {
    {"ring:16", 5000, 21.33, 20.996, 4.209},     {"ring:16", 5500, 20.30, 20.017, 3.959},
    {"ring:16", 6000, 16.79, 16.635, 3.150},     {"ring:16", 6500, 15.17, 15.133, 2.811},
    {"ring:16", 7000, 10.76, 10.706, 1.691},     {"ring:16", 7500, 8.55, 8.573, 0.629},
    {"ring:16", 8000, 9.68, 9.574, 0.626},       {"ring:16", 8500, 11.63, 11.641, 0.570},
    {"ring:16", 9000, 15.88, 15.933, 0.734},     {"ring:16", 9500, 25.42, 25.413, 1.318},
    {"ring:16", 7232, 9.82, 9.759, 1.353},       {"torus:16x16", 5000, 16.69, 16.518, 2.011},
    {"torus:16x16", 5500, 16.22, 16.090, 1.939}, {"torus:16x16", 6000, 13.91, 13.763, 1.533},
    {"torus:16x16", 6500, 12.95, 12.863, 1.437}, {"torus:16x16", 7000, 9.19, 9.114, 0.915},
    {"torus:16x16", 7500, 7.69, 7.666, 0.576},   {"torus:16x16", 8000, 7.73, 7.784, 0.426},
    {"torus:16x16", 8500, 9.14, 9.179, 0.491},   {"torus:16x16", 9000, 11.72, 11.826, 0.589},
    {"torus:16x16", 9500, 17.31, 17.408, 0.886}, {"torus:16x16", 7232, 8.58, 8.548, 0.855},
    {"chain:8", 5000, 19.97, 18.843, 6.134},     {"chain:8", 5500, 19.08, 17.928, 5.779},
    {"chain:8", 6000, 15.87, 14.892, 4.835},     {"chain:8", 6500, 14.28, 13.449, 4.227},
    {"chain:8", 7000, 10.22, 9.880, 2.307},      {"chain:8", 7500, 8.32, 8.260, 0.770},
    {"chain:8", 8000, 9.44, 9.390, 0.763},       {"chain:8", 8500, 11.54, 11.480, 0.742},
    {"chain:8", 9000, 15.86, 15.841, 1.046},     {"chain:8", 9500, 25.56, 25.532, 1.998},
    {"chain:8", 7232, 9.19, 9.091, 1.745},       {"mesh:8x4", 5000, 15.78, 15.260, 5.207},
    {"mesh:8x4", 5500, 15.05, 14.796, 5.091},    {"mesh:8x4", 6000, 12.61, 12.480, 4.384},
    {"mesh:8x4", 6500, 11.37, 11.329, 4.119},    {"mesh:8x4", 7000, 8.70, 8.717, 2.085},
    {"mesh:8x4", 7500, 7.67, 7.682, 0.835},      {"mesh:8x4", 8000, 8.27, 8.280, 0.584},
    {"mesh:8x4", 8500, 10.14, 10.167, 0.775},    {"mesh:8x4", 9000, 13.56, 13.568, 1.039},
    {"mesh:8x4", 9500, 20.80, 20.658, 1.780},    {"mesh:8x4", 7232, 8.25, 8.191, 1.688},
};

static const struct row table_3[] = {
    {"ring:15", 5000, 20.20, 19.522, 3.879},    {"ring:15", 5500, 19.24, 18.623, 3.583},
    {"ring:15", 6000, 15.74, 15.410, 2.838},    {"ring:15", 6500, 14.23, 13.797, 2.472},
    {"ring:15", 7000, 10.05, 9.866, 1.415},     {"ring:15", 7500, 8.26, 8.337, 0.582},
    {"ring:15", 8000, 9.88, 9.862, 0.693},      {"ring:15", 8500, 11.76, 11.867, 0.705},
    {"ring:15", 9000, 16.16, 16.213, 0.891},    {"ring:15", 9500, 25.50, 25.714, 1.481},
    {"ring:15", 7109, 9.75, 9.607, 1.327},      {"torus:16x5", 5000, 16.11, 16.170, 3.889},
    {"torus:16x5", 5500, 15.68, 15.634, 3.760}, {"torus:16x5", 6000, 13.28, 13.259, 3.192},
    {"torus:16x5", 6500, 12.37, 12.237, 3.113}, {"torus:16x5", 7000, 9.21, 9.055, 1.593},
    {"torus:16x5", 7500, 7.95, 7.851, 0.730},   {"torus:16x5", 8000, 8.23, 8.209, 0.474},
    {"torus:16x5", 8500, 10.11, 10.040, 0.656}, {"torus:16x5", 9000, 13.31, 13.202, 0.853},
    {"torus:16x5", 9500, 19.75, 19.771, 1.428}, {"torus:16x5", 7232, 8.70, 8.524, 1.347},
    {"chain:7", 5000, 15.91, 15.699, 4.830},    {"chain:7", 5500, 14.98, 14.839, 4.512},
    {"chain:7", 6000, 12.24, 12.200, 3.641},    {"chain:7", 6500, 10.96, 10.926, 3.015},
    {"chain:7", 7000, 8.10, 8.150, 1.448},      {"chain:7", 7500, 7.45, 7.500, 0.577},
    {"chain:7", 8000, 9.29, 9.282, 0.715},      {"chain:7", 8500, 11.43, 11.401, 0.856},
    {"chain:7", 9000, 15.79, 15.732, 1.174},    {"chain:7", 9500, 25.36, 25.322, 2.225},
    {"chain:7", 6974, 8.23, 8.351, 1.567},      {"mesh:8x5", 5000, 15.45, 15.245, 4.592},
    {"mesh:8x5", 5500, 14.83, 14.720, 4.470},   {"mesh:8x5", 6000, 12.63, 12.424, 3.830},
    {"mesh:8x5", 6500, 11.42, 11.276, 3.688},   {"mesh:8x5", 7000, 8.60, 8.478, 2.038},
    {"mesh:8x5", 7500, 7.54, 7.600, 0.801},     {"mesh:8x5", 8000, 8.10, 8.158, 0.535},
    {"mesh:8x5", 8500, 10.01, 10.001, 0.738},   {"mesh:8x5", 9000, 13.29, 13.278, 0.974},
    {"mesh:8x5", 9500, 20.11, 20.135, 1.651},   {"mesh:8x5", 7232, 8.05, 8.028, 1.635},
};

static double
mean_sweeps(struct table_run *t, struct exchange *e, const struct row *row, uint32_t runs,
            struct lbm_rng *rng)
{
    double sum = 0.0;
    for (uint32_t run = 0; run < runs; run++) {
        exchange_loads(e, rng, LOAD_MEAN);
        sum += exchange_sweeps(t, e, (struct ratio){row->lambda, 10000});
    }
    return sum / runs;
}

/* Two means of random runs are compared: three standard deviations of their difference. */
static void
judge(struct table_run *t, const struct row *row, double ours, uint32_t runs)
{
    struct cell *cell = table_cell(t, ours, "%s, lambda %.4f", row->hosts, row->lambda / 10000.0);
    cell_paper(cell, row->paper, 3.0 * row->deviation * sqrt(1.0 / PAPER_RUNS + 1.0 / runs));
    cell_computed(cell, row->mean, 4.0 * row->deviation / sqrt(runs));
}

static void
run_rows(struct table_run *t, const struct row *rows, size_t n)
{
    uint32_t runs = table_runs(t, 400, 4000);
    struct exchange e = {0};
    for (size_t i = 0; i < n && t->diag.code == LBM_OK; i++) {
        if (i == 0 || strcmp(rows[i].hosts, rows[i - 1].hosts) != 0) {
            exchange_close(&e);
            if (!exchange_of_spec(t, &e, "%s", rows[i].hosts))
                return;
        }
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, i);
        judge(t, &rows[i], mean_sweeps(t, &e, &rows[i], runs, &rng), runs);
    }
    exchange_close(&e);
}

void
xl95_table_2(struct table_run *t)
{
    run_rows(t, table_2, sizeof table_2 / sizeof *table_2);
}

void
xl95_table_3(struct table_run *t)
{
    run_rows(t, table_3, sizeof table_3 / sizeof *table_3);
}
