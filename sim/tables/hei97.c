/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97: spectrum, scale invariance, and how fast the model problem settles. */
#include <math.h>

#include "sim/tables/lattice.h"
#include "sim/tables/papers.h"

enum { SIDE = 32 };

static const double pi = 3.14159265358979323846;

/* ---- eq. (6) to (9), (13) ------------------------------------------------------------------------------ */

static double
eigenvalue(double i, double j, double n)
{
    double sum = cos(pi * i / n) + cos(pi * j / n);
    return 0.25 * sum * sum;
}

void
hei97_spectrum(struct table_run *t)
{
    double least = eigenvalue(31, 0, SIDE), largest = eigenvalue(1, 0, SIDE), tenth = log(0.1);
    cell_paper(table_cell(t, least, "eq. (9): least eigenvalue, mode 31,0"), 5.79671e-6, 5e-12);
    cell_paper(table_cell(t, largest, "eq. (9): largest eigenvalue, mode 1,0"), 0.995191, 5e-7);
    cell_paper(table_cell(t, ceil(tenth / log(least)), "eq. (8): iterates to a tenth, best case"), 1, 0.0);
    cell_paper(table_cell(t, ceil(tenth / log(largest)), "eq. (8): iterates to a tenth, worst case"), 478,
               0.0);
}

/* u(nu) / u(0) of a single displaced vertex. */
static double
decay(uint32_t n, int nu)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            sum += pow(eigenvalue(i, j, n), nu);
    return sum / ((double)n * n);
}

void
hei97_fig_5(struct table_run *t)
{
    static const struct {
        uint32_t n;
        double nu;
    } rows[] = {{4, 5}, {8, 4}, {16, 3}, {32, 3}, {64, 3}, {128, 3}, {256, 3}, {512, 3}, {1024, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int nu = 1;
        while (decay(rows[i].n, nu) > 0.1)
            nu++;
        cell_paper(table_cell(t, nu, "right: iterates to a tenth, n = %u", rows[i].n), rows[i].nu, 0.0);
    }
}

/* ---- figs 6 to 8 --------------------------------------------------------------------------------------- */

static int
open_model(struct table_run *t, struct lattice *l)
{
    enum lbm_err err = lattice_open(SIDE, l);
    return err == LBM_OK || table_fail(t, err);
}

struct milestone {
    uint32_t sweeps;
    double error; /* cells */
};

void
hei97_fig_6(struct table_run *t)
{
    static const struct milestone rows[] = {{50, 7.26}, {100, 3.77}, {200, 1.03}, {400, 0.079}};
    struct lattice l;
    struct lbm_rng rng;
    uint32_t done = 0;
    if (!open_model(t, &l))
        return;
    lbm_rng_seed(&rng, t->options->seed);
    lbm_start_centre(l.graph.n, 2, l.pinned, l.x, &rng);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lattice_jacobi(&l, rows[i].sweeps - done);
        done = rows[i].sweeps;
        cell_computed(table_cell(t, lattice_error(&l), "largest error after %u iterates, cells", done),
                      rows[i].error, rows[i].error < 0.1 ? 0.0005 : 0.006);
    }
    lattice_close(&l);
}

void
hei97_fig_7(struct table_run *t)
{
    static const struct milestone rows[] = {{50, 8.07}, {250, 0.82}, {500, 0.116}, {1000, 0.008}};
    enum { ROWS = sizeof rows / sizeof *rows };
    double sum[ROWS] = {0};
    uint32_t runs = table_runs(t, 20, 200);
    struct lattice l;
    if (!open_model(t, &l))
        return;
    for (uint32_t run = 0; run < runs; run++) {
        struct lbm_rng rng;
        uint32_t done = 0;
        lbm_rng_stream(&rng, t->options->seed, run);
        lbm_start_random(l.graph.n, 2, l.pinned, l.x, &rng);
        for (size_t i = 0; i < ROWS; i++) {
            lattice_jacobi(&l, rows[i].sweeps - done);
            done = rows[i].sweeps;
            sum[i] += lattice_error(&l);
        }
    }
    for (size_t i = 0; i < ROWS; i++)
        cell_computed(table_cell(t, sum[i] / runs, "largest error after %u iterates, cells", rows[i].sweeps),
                      rows[i].error, (rows[i].sweeps < 100 ? 0.15 : 0.25) * rows[i].error);
    lattice_close(&l);
}

/* Jacobi multiplies each mode by (cos(pi i/31) + cos(pi j/31))/2: eq. (11), whose eigenvalues are those of
 * two sweeps on a lattice with 32 intervals. */
void
hei97_fig_8(struct table_run *t)
{
    static const uint32_t modes[][2] = {{1, 1}, {2, 1}, {3, 5}, {8, 8}, {12, 3}, {15, 15}};
    enum { MODES = sizeof modes / sizeof *modes, SWEEPS = 50 };
    double before[MODES];
    struct lattice l;
    struct lbm_rng rng;
    if (!open_model(t, &l))
        return;
    lbm_rng_seed(&rng, t->options->seed);
    lbm_start_random(l.graph.n, 2, l.pinned, l.x, &rng);
    for (size_t i = 0; i < MODES; i++)
        before[i] = lattice_amplitude(&l, modes[i][0], modes[i][1], 0);
    lattice_jacobi(&l, SWEEPS);
    for (size_t i = 0; i < MODES; i++) {
        double factor = 0.5 * (cos(pi * modes[i][0] / (SIDE - 1)) + cos(pi * modes[i][1] / (SIDE - 1)));
        double after = lattice_amplitude(&l, modes[i][0], modes[i][1], 0);
        cell_computed(table_cell(t, after / before[i], "mode %u,%u: amplitude left after %u iterates",
                                 modes[i][0], modes[i][1], SWEEPS),
                      pow(factor, SWEEPS), 1e-10);
    }
    lattice_close(&l);
}

/* ---- sweeps to a tenth of a cell ----------------------------------------------------------------------- */

enum sweep_kind { JACOBI, REPLACEMENT, PERMUTATION, LEXICOGRAPHIC };

static enum lbm_err
sweep_once(struct lattice *l, enum sweep_kind kind, struct lbm_rng *rng)
{
    struct lbm_diffusion how = {.m = 2, .pinned = l->pinned};
    how.order = kind == REPLACEMENT ? LBM_ORDER_REPLACEMENT : LBM_ORDER_PERMUTATION;
    if (kind == JACOBI)
        lattice_jacobi(l, 1);
    else if (kind == LEXICOGRAPHIC)
        lattice_ordered_sweep(l);
    else
        return lbm_diffuse(&l->graph, &how, 1, l->x, rng, NULL, NULL);
    return LBM_OK;
}

static enum lbm_err
count_sweeps(struct lattice *l, enum sweep_kind kind, struct lbm_rng *rng, double *sum)
{
    enum lbm_err err = LBM_OK;
    lbm_start_centre(l->graph.n, 2, l->pinned, l->x, rng);
    while (err == LBM_OK && lattice_error(l) > 0.1) {
        err = sweep_once(l, kind, rng);
        *sum += 1;
    }
    return err;
}

void
hei97_sweeps(struct table_run *t)
{
    static const struct {
        enum sweep_kind kind;
        const char *name;
        double sweeps, tolerance;
        int random;
    } rows[] = {
        {JACOBI, "all at once (Jacobi)", 382, 0.0, 0},
        {REPLACEMENT, "random with replacement, as fig. 4 prints it", 391, 8.0, 1},
        {PERMUTATION, "random permutation", 233, 5.0, 1},
        {LEXICOGRAPHIC, "in the order of the ids", 271, 0.0, 0},
    };
    uint32_t runs = table_runs(t, 20, 200);
    struct lattice l;
    if (!open_model(t, &l))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = rows[i].random ? runs : 1;
        double sum = 0.0;
        for (uint32_t run = 0; run < n; run++) {
            struct lbm_rng rng;
            lbm_rng_stream(&rng, t->options->seed, run);
            enum lbm_err err = count_sweeps(&l, rows[i].kind, &rng, &sum);
            if (err != LBM_OK)
                table_fail(t, err);
        }
        cell_computed(table_cell(t, sum / n, "sweeps to 0.1 cell: %s", rows[i].name), rows[i].sweeps,
                      rows[i].tolerance);
    }
    lattice_close(&l);
}

/* Pins of the corners alone: the solution is another one. */
void
hei97_corners(struct table_run *t)
{
    struct lattice l;
    struct lbm_rng rng;
    if (!open_model(t, &l))
        return;
    lattice_pin_corners(&l);
    lbm_rng_seed(&rng, t->options->seed);
    lbm_start_centre(l.graph.n, 2, l.pinned, l.x, &rng);
    lattice_jacobi(&l, 20000);
    cell_note(cell_bound(table_cell(t, lattice_error(&l), "corners pinned: largest error at rest, cells"),
                         AT_LEAST, 11.0),
              "the paper says extremal vertices; the corners alone are not enough");
    lattice_close(&l);
}
