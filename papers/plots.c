/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the papers that are curves, drawn from our data. */
#include "papers/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed/embed.h"
#include "papers/cube.h"
#include "papers/exchange.h"
#include "papers/queue.h"

static const double pi = 3.14159265358979323846;

static void
label(struct chart *chart, const char *title, const char *x, const char *y)
{
    snprintf(chart->title, sizeof chart->title, "%s", title);
    snprintf(chart->x_label, sizeof chart->x_label, "%s", x);
    snprintf(chart->y_label, sizeof chart->y_label, "%s", y);
}

/* ---- XL95 ---------------------------------------------------------------------------------------------- */

/* Mean sweeps of a chain of k, integer loads, the optimal parameter. */
static double
chain_sweeps(struct table_run *t, uint32_t k, uint32_t load_mean, uint32_t runs)
{
    struct exchange e;
    double sum = 0.0, lambda = 1.0 / (1.0 + sin(pi / k));
    if (!exchange_of_spec(t, &e, "chain:%u", k))
        return nan("");
    for (uint32_t run = 0; run < runs; run++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        exchange_loads(&e, &rng, load_mean);
        sum += exchange_sweeps(t, &e, (struct ratio){(uint32_t)lround(lambda * 1e5), 100000});
    }
    exchange_close(&e);
    return sum / runs;
}

static void
xl95_fig_6(struct table_run *t, struct chart *chart)
{
    static const uint32_t means[] = {10, 100, 128, 1000, 10000};
    label(chart, "XL95 Fig. 6: sweeps on chains, optimal parameter", "processors", "sweeps, mean of runs");
    chart->from_zero = 1;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct series *series = chart_series(chart, "mean load %u", means[i]);
        for (uint32_t k = 8; k <= 128 && t->diag.code == LBM_OK; k += 8)
            series_add(series, k, chain_sweeps(t, k, means[i], table_runs(t, 100, 1000)));
    }
}

/* ---- RJK03 --------------------------------------------------------------------------------------------- */

static const struct {
    enum lbm_policy policy;
    const char *name;
} rules[] = {{LBM_POLICY_DEM, "DEM"}, {LBM_POLICY_OEM, "OEM"}, {LBM_POLICY_CWA, "CWA"}};

enum { DEM, OEM, CWA, RULES, D_LEAST = 3, D_MOST = 6 };

static struct queue_result
simulate(struct table_run *t, int rule, uint32_t d, uint32_t processes, uint32_t runs)
{
    struct queue_result mean = {0}, result;
    struct cube cube;
    if (!cube_open(t, d, &cube))
        return mean;
    enum lbm_err err = LBM_OK;
    for (uint32_t run = 0; run < runs && err == LBM_OK; run++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        err = queue_simulate(&cube, rules[rule].policy, processes, &rng, &result);
        mean.difference += result.difference / runs;
        mean.response += result.response / runs;
    }
    cube_close(&cube);
    if (err != LBM_OK)
        table_fail(t, err);
    return mean;
}

static void
differences(struct table_run *t, struct chart *chart, uint32_t processes)
{
    chart->x_log = chart->x_binary = chart->from_zero = 1;
    for (int rule = DEM; rule <= OEM; rule++) {
        struct series *series = chart_series(chart, "%s", rules[rule].name);
        for (uint32_t d = D_LEAST; d <= D_MOST && t->diag.code == LBM_OK; d++)
            series_add(series, 1 << d, simulate(t, rule, d, processes, table_runs(t, 10, 50)).difference);
    }
}

static void
rjk03_fig_7(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 7: largest difference after a balancing, 1000 processes", "processors",
          "processes, mean");
    differences(t, chart, 1000);
}

static void
rjk03_fig_8(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 8: largest difference after a balancing, 5000 processes", "processors",
          "processes, mean");
    differences(t, chart, 5000);
}

static void
rjk03_fig_9(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 9: speed-up of OEM over DEM", "processors",
          "gain in mean response time, OEM for DEM, %");
    chart->x_log = chart->x_binary = chart->from_zero = 1;
    struct series *paper = chart_series(chart, "the paper's claim, about 30 %%");
    struct series *series = chart_series(chart, "event simulation, 5000 processes a stream");
    for (uint32_t d = D_LEAST; d <= D_MOST && t->diag.code == LBM_OK; d++) {
        uint32_t runs = table_runs(t, 10, 50);
        double dem = simulate(t, DEM, d, 5000, runs).response, oem = simulate(t, OEM, d, 5000, runs).response;
        series_add(paper, 1 << d, 30.0);
        series_add(series, 1 << d, 100.0 * (dem / oem - 1.0));
    }
}

/* Mean time of transfers, one schedule, loads drawn again for each run by `draw`. */
typedef void draw_loads(struct lbm_rng *rng, uint32_t n, double parameter, double *load);

static double
mean_time(struct table_run *t, struct cube *c, int rule, enum lbm_schedule schedule, draw_loads *draw,
          double parameter, uint32_t runs)
{
    double sum = 0.0, before[1 << D_MOST];
    for (uint32_t run = 0; run < runs && t->diag.code == LBM_OK; run++) {
        struct lbm_rng rng;
        lbm_rng_stream(&rng, t->options->seed, run);
        draw(&rng, c->n, parameter, c->load);
        memcpy(before, c->load, c->n * sizeof *before);
        enum lbm_err err = cube_balance(c, rules[rule].policy);
        if (err != LBM_OK)
            table_fail(t, err);
        sum += cube_time(t, c, schedule, before);
    }
    return sum / runs;
}

static void
draw_uniform(struct lbm_rng *rng, uint32_t n, double most, double *load)
{
    for (uint32_t p = 0; p < n; p++)
        load[p] = lbm_rng_below(rng, (uint32_t)most + 1);
}

static void
overheads(struct table_run *t, struct chart *chart, uint32_t d)
{
    struct cube c;
    chart->from_zero = 1;
    if (!cube_open(t, d, &c))
        return;
    for (int rule = OEM; rule <= CWA; rule++) {
        struct series *series = chart_series(chart, "%s", rules[rule].name);
        for (double most = 10; most <= 100; most += 10)
            series_add(
                series, most,
                mean_time(t, &c, rule, LBM_SCHEDULE_PLAIN, draw_uniform, most, table_runs(t, 1000, 20000)));
    }
    cube_close(&c);
}

static void
rjk03_fig_12(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 12: time of transfers, 8 processors",
          "largest load b, units; loads uniform on 0 to b", "units of load, mean");
    overheads(t, chart, 3);
}

static void
rjk03_fig_13(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 13: time of transfers, 16 processors",
          "largest load b, units; loads uniform on 0 to b", "units of load, mean");
    overheads(t, chart, 4);
}

/* "Imbalance": of that many percent of the processors each has k times the load of the others, k one of
 * seven.
 */
static void
draw_imbalance(struct lbm_rng *rng, uint32_t n, double percent, double *load)
{
    static const uint32_t times[] = {30, 50, 70, 100, 400, 700, 1000};
    uint32_t k = times[lbm_rng_below(rng, sizeof times / sizeof *times)], id[1 << D_MOST];
    for (uint32_t p = 0; p < n; p++) {
        id[p] = p;
        load[p] = 1;
    }
    lbm_rng_shuffle(rng, id, n);
    for (uint32_t i = 0; i < fmax(1.0, floor(n * percent / 100.0 + 0.5)) && i < n; i++)
        load[id[i]] = k;
}

static void
hiding(struct table_run *t, struct chart *chart, uint32_t d)
{
    struct cube c;
    chart->from_zero = 1;
    if (!cube_open(t, d, &c))
        return;
    for (int rule = DEM; rule <= CWA; rule++)
        for (int schedule = LBM_SCHEDULE_OVERLAPPED; schedule <= LBM_SCHEDULE_PIPELINED; schedule++) {
            struct series *series =
                chart_series(chart, "%s, %s", rules[rule].name,
                             schedule == LBM_SCHEDULE_PIPELINED ? "pipelined" : "overlapped");
            for (double percent = 10; percent <= 90; percent += 10) {
                uint32_t runs = table_runs(t, 60, 600);
                double plain = mean_time(t, &c, rule, LBM_SCHEDULE_PLAIN, draw_imbalance, percent, runs);
                double hidden =
                    mean_time(t, &c, rule, (enum lbm_schedule)schedule, draw_imbalance, percent, runs);
                series_add(series, percent, hidden / plain);
            }
        }
    cube_close(&c);
}

static void
rjk03_fig_22(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 22: hidden overheads, 8 processors", "processors with k times the load, %",
          "time over that of one dimension after the other");
    hiding(t, chart, 3);
}

static void
rjk03_fig_23(struct table_run *t, struct chart *chart)
{
    label(chart, "RJK03 Fig. 23: hidden overheads, 16 processors", "processors with k times the load, %",
          "time over that of one dimension after the other");
    hiding(t, chart, 4);
}

/* ---- HEI97 --------------------------------------------------------------------------------------------- */

static void
hei97_fig_5_left(struct table_run *t, struct chart *chart)
{
    (void)t;
    label(chart, "HEI97 Fig. 5, left: decay of one displaced vertex, eq. (13)", "iterates",
          "displacement over that at the start");
    chart->y_log = 1;
    for (uint32_t n = 8; n <= 128; n *= 4) {
        struct series *series = chart_series(chart, "lattice of %u x %u", n, n);
        for (int nu = 0; nu <= 30; nu++)
            series_add(series, nu, lbm_lattice_decay(n, (uint32_t)nu));
    }
}

static void
hei97_fig_5_right(struct table_run *t, struct chart *chart)
{
    (void)t;
    label(chart, "HEI97 Fig. 5, right: independent of scale", "side of the lattice", "iterates to a tenth");
    chart->x_log = chart->x_binary = chart->from_zero = 1;
    struct series *series = chart_series(chart, "eq. (13)");
    for (uint32_t n = 4; n <= 1024; n *= 2) {
        uint32_t nu = 1;
        while (lbm_lattice_decay(n, nu) > 0.1)
            nu++;
        series_add(series, n, nu);
    }
}

const struct plot plots[] = {
    {"xl95-fig-6", "XL95 Fig. 6", "sweeps on chains by size", xl95_fig_6},
    {"rjk03-fig-7", "RJK03 Fig. 7", "largest difference, event simulation", rjk03_fig_7},
    {"rjk03-fig-8", "RJK03 Fig. 8", "the same, longer streams", rjk03_fig_8},
    {"rjk03-fig-9", "RJK03 Fig. 9", "speed-up of OEM over DEM", rjk03_fig_9},
    {"rjk03-fig-12", "RJK03 Fig. 12", "time of transfers, OEM and CWA, 8 processors", rjk03_fig_12},
    {"rjk03-fig-13", "RJK03 Fig. 13", "the same, 16 processors", rjk03_fig_13},
    {"rjk03-fig-22", "RJK03 Fig. 22", "overlapping and pipelining, 8 processors", rjk03_fig_22},
    {"rjk03-fig-23", "RJK03 Fig. 23", "the same, 16 processors", rjk03_fig_23},
    {"hei97-fig-5-left", "HEI97 Fig. 5", "decay of one displaced vertex", hei97_fig_5_left},
    {"hei97-fig-5-right", "HEI97 Fig. 5", "iterates to a tenth by scale", hei97_fig_5_right},
    {NULL, NULL, NULL, NULL},
};
