/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97: spectrum, scale invariance, and how fast the model problem settles. */
#include <math.h>

#include "papers/lattice.h"
#include "papers/papers.h"

enum { SIDE = 32 };

static const double pi = 3.14159265358979323846;

/* ---- eq. (6) to (9), (13) ------------------------------------------------------------------------------ */

static double
square(double factor)
{
    return factor * factor;
}

/* Iterates of two sweeps that leave a tenth of a mode (8). */
static double
iterates(double factor)
{
    return ceil(log(0.1) / log(square(factor)));
}

void
hei97_spectrum(struct table_run *t)
{
    double least = lbm_lattice_factor(SIDE, 0, 31, 0), largest = lbm_lattice_factor(SIDE, 0, 1, 0);
    double pinned = lbm_lattice_factor(SIDE, 1, 1, 1);
    cell_paper(table_cell(t, square(least), "eq. (9): least eigenvalue, mode 31,0"), 5.79671e-6, 5e-12);
    cell_paper(table_cell(t, square(largest), "eq. (9): largest eigenvalue, mode 1,0"), 0.995191, 5e-7);
    cell_paper(table_cell(t, iterates(least), "eq. (8): iterates to a tenth, best case"), 1, 0.0);
    cell_note(
        cell_paper(table_cell(t, iterates(largest), "eq. (8): iterates to a tenth, worst case"), 478, 0.0),
        "of a lattice that is nowhere pinned");
    struct cell *cell = table_cell(t, square(pinned), "perimeter pinned: largest eigenvalue, mode 1,1");
    cell_paper_errs(cell_computed(cell_paper(cell, 0.995191, 0.0), square(cos(pi / 31)), 1e-12),
                    "(6) and (7) have cosines; a pinned perimeter has sines, 31 intervals, no mode 1,0");
    cell = table_cell(t, iterates(pinned), "perimeter pinned: iterates to a tenth, worst case");
    cell_paper_errs(cell_computed(cell_paper(cell, 478, 0.0), 224, 0.0),
                    "224 iterates of two sweeps, not 478");
}

void
hei97_fig_5(struct table_run *t)
{
    static const struct {
        uint32_t n;
        double nu;
    } rows[] = {{4, 5}, {8, 4}, {16, 3}, {32, 3}, {64, 3}, {128, 3}, {256, 3}, {512, 3}, {1024, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t nu = 1;
        while (nu < 100 && lbm_lattice_decay(rows[i].n, nu) > 0.1)
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

static void
jacobi(struct table_run *t, struct lattice *l, uint32_t sweeps)
{
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 1); /* not drawn from */
    enum lbm_err err = lattice_sweep(l, LBM_ORDER_JACOBI, sweeps, &rng);
    if (err != LBM_OK)
        table_fail(t, err);
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
        jacobi(t, &l, rows[i].sweeps - done);
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
            jacobi(t, &l, rows[i].sweeps - done);
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
    jacobi(t, &l, SWEEPS);
    for (size_t i = 0; i < MODES; i++) {
        double factor = lbm_lattice_factor(SIDE, 1, modes[i][0], modes[i][1]);
        double after = lattice_amplitude(&l, modes[i][0], modes[i][1], 0);
        cell_computed(table_cell(t, after / before[i], "mode %u,%u: amplitude left after %u iterates",
                                 modes[i][0], modes[i][1], SWEEPS),
                      pow(factor, SWEEPS), 1e-10);
    }
    lattice_close(&l);
}

/* ---- sweeps to a tenth of a cell ----------------------------------------------------------------------- */

enum { SWEEPS_MOST = 20000 }; /* more than any order takes */

static enum lbm_err
count_sweeps(struct lattice *l, enum lbm_order order, struct lbm_rng *rng, double *sum)
{
    enum lbm_err err = LBM_OK;
    lbm_start_centre(l->graph.n, 2, l->pinned, l->x, rng);
    for (uint32_t sweeps = 0; err == LBM_OK && lattice_error(l) > 0.1 && sweeps < SWEEPS_MOST; sweeps++) {
        err = lattice_sweep(l, order, 1, rng);
        *sum += 1;
    }
    return err;
}

void
hei97_sweeps(struct table_run *t)
{
    static const struct {
        enum lbm_order order;
        const char *name;
        double sweeps, tolerance;
        int random;
    } rows[] = {
        {LBM_ORDER_JACOBI, "all at once (Jacobi)", 382, 0.0, 0},
        {LBM_ORDER_REPLACEMENT, "random with replacement, as fig. 4 prints it", 391, 8.0, 1},
        {LBM_ORDER_PERMUTATION, "random permutation", 233, 5.0, 1},
        {LBM_ORDER_IDS, "in the order of the ids", 271, 0.0, 0},
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
            enum lbm_err err = count_sweeps(&l, rows[i].order, &rng, &sum);
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
    jacobi(t, &l, 20000);
    cell_note(cell_bound(table_cell(t, lattice_error(&l), "corners pinned: largest error at rest, cells"),
                         AT_LEAST, 11.0),
              "the paper says extremal vertices; the corners alone are not enough");
    lattice_close(&l);
}

/* Time does grow with the guest: sweeps in random permutations until all are within a tenth of a cell. */
void
hei97_scale(struct table_run *t)
{
    static const struct {
        uint32_t side, quick, full;
        double sweeps;
    } rows[] = {{16, 20, 200, 48}, {32, 10, 100, 235}, {64, 2, 20, 1104}, {128, 0, 1, 5024}};
    double sweeps[sizeof rows / sizeof *rows] = {0.0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows && t->diag.code == LBM_OK; i++) {
        uint32_t runs =
            rows[i].quick > 0 || t->options->full ? table_runs(t, rows[i].quick, rows[i].full) : 0;
        struct lattice l;
        if (runs == 0)
            continue;
        enum lbm_err err = lattice_open(rows[i].side, &l);
        for (uint32_t run = 0; err == LBM_OK && run < runs; run++) {
            struct lbm_rng rng;
            lbm_rng_stream(&rng, t->options->seed, run);
            err = count_sweeps(&l, LBM_ORDER_PERMUTATION, &rng, &sweeps[i]);
        }
        if (err != LBM_OK) {
            table_fail(t, err);
            return;
        }
        lattice_close(&l);
        sweeps[i] /= runs;
        cell_computed(table_cell(t, sweeps[i], "%u vertices: sweeps to 0.1 cell, from the centre",
                                 rows[i].side * rows[i].side),
                      rows[i].sweeps, 0.05 * rows[i].sweeps);
        if (i == 0)
            continue;
        struct cell *cell =
            table_cell(t, sweeps[i] / sweeps[i - 1], "four times the vertices: times the sweeps");
        cell_paper_errs(
            cell_computed(cell_paper(cell, 1.0, 0.0), 4.6, 0.4),
            "section 6: independent of scale. That holds for one displaced vertex alone (Fig. 5)");
    }
}
