/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 sections 5 and 6: what the proof and the analysis say of the matrix M, and what it is. */
#include <math.h>

#include "papers/lattice.h"
#include "papers/papers.h"

enum { SIDE = 32 };

/* Largest distance between the positions of two lattices. */
static double
distance(const struct lattice *a, const struct lattice *b)
{
    double largest = 0.0;
    for (uint32_t i = 0; i < 2 * a->graph.n; i++)
        largest = fmax(largest, fabs(a->x[i] - b->x[i]));
    return largest;
}

/* Displace each vertex along the first axis by amplitude times mode (i, j) of the pinned lattice. */
static void
add_mode(struct lattice *l, uint32_t i, uint32_t j, double amplitude)
{
    for (uint32_t v = 0; v < l->graph.n; v++)
        l->x[2 * (size_t)v] += amplitude * sin(M_PI * i * (v % l->side) / (l->side - 1)) *
                               sin(M_PI * j * (v / l->side) / (l->side - 1));
}

/* Row sums of one: the constant vector stays, so that 1 is an eigenvalue, pinned or not. */
static enum lbm_err
judge_radius(struct table_run *t, struct lattice *l, struct lattice *other, struct lbm_rng *rng)
{
    enum lbm_err err = LBM_OK;
    for (int free = 0; free < 2 && err == LBM_OK; free++) {
        lbm_start_random(l->graph.n, 2, NULL, l->x, rng);
        for (uint32_t v = 0; v < l->graph.n; v++) {
            other->x[2 * (size_t)v] = l->x[2 * (size_t)v] + 1.0;
            other->x[2 * (size_t)v + 1] = l->x[2 * (size_t)v + 1];
            l->pinned[v] = other->pinned[v] = !free && l->pinned[v];
        }
        err = lattice_sweep(l, LBM_ORDER_JACOBI, 50, rng);
        if (err == LBM_OK)
            err = lattice_sweep(other, LBM_ORDER_JACOBI, 50, rng);
        struct cell *cell = table_cell(t, distance(l, other), "%s: factor of the constant vector, 50 sweeps",
                                       free ? "nothing pinned" : "perimeter pinned");
        cell_computed(cell_paper(cell, 1.0, 0.0), 1.0, 1e-12);
        cell_paper_errs(cell, "rows that sum to one give the eigenvalue 1: Gersgorin's circles reach 1, the "
                              "radius of M is 1, that of its free rows below 1");
    }
    return err;
}

/* A mode whose factor is 0 vanishes at once: two states have one successor. */
static enum lbm_err
judge_rank(struct table_run *t, struct lattice *l, struct lattice *other, struct lbm_rng *rng)
{
    uint32_t lost = 0;
    for (uint32_t i = 1; i + 1 < SIDE; i++)
        for (uint32_t j = 1; j + 1 < SIDE; j++)
            lost += fabs(lbm_lattice_factor(SIDE, 1, i, j)) < 1e-12;
    struct cell *cell =
        table_cell(t, (SIDE - 2.0) * (SIDE - 2.0) - lost, "rank of the free rows of M, of 900");
    cell_paper_errs(cell_computed(cell_paper(cell, 900, 0.0), 870, 0.0),
                    "M does not have full rank: the modes with i + j = 31 have the factor 0");
    lbm_start_centre(l->graph.n, 2, l->pinned, l->x, rng);
    lbm_start_centre(other->graph.n, 2, other->pinned, other->x, rng);
    add_mode(other, 10, 21, 0.01);
    double before = distance(l, other);
    enum lbm_err err = lattice_sweep(l, LBM_ORDER_JACOBI, 1, rng);
    if (err == LBM_OK)
        err = lattice_sweep(other, LBM_ORDER_JACOBI, 1, rng);
    cell = table_cell(t, distance(l, other) / before, "mode 10,21: what a sweep leaves of it");
    cell_computed(cell, 0.0, 1e-12);
    return err;
}

void
hei97_proof(struct table_run *t)
{
    struct lattice l = {0}, other = {0};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, t->options->seed);
    enum lbm_err err = lattice_open(SIDE, &l);
    if (err == LBM_OK)
        err = lattice_open(SIDE, &other);
    if (err == LBM_OK)
        err = judge_rank(t, &l, &other, &rng);
    if (err == LBM_OK)
        err = judge_radius(t, &l, &other, &rng);
    lattice_close(&l);
    lattice_close(&other);
    if (err != LBM_OK)
        table_fail(t, err);
}

/* (7), (12), (13): sum over x, y of the squares of a mode, and u(0) of one displaced vertex. */
void
hei97_normalization(struct table_run *t)
{
    static const uint32_t modes[][2] = {{1, 1}, {5, 3}, {4, 0}, {0, 0}};
    static const double right[] = {2.0 / SIDE, 2.0 / SIDE, 1.41421356237309515 / SIDE, 1.0 / SIDE};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        double sum = 0.0;
        for (uint32_t x = 0; x < SIDE; x++)
            for (uint32_t y = 0; y < SIDE; y++)
                sum += pow(cos(M_PI * modes[m][0] * (x + 0.5) / SIDE) *
                               cos(M_PI * modes[m][1] * (y + 0.5) / SIDE),
                           2.0);
        struct cell *cell = table_cell(t, 1.0 / sqrt(sum), "(7): k of mode %u,%u that makes its norm 1",
                                       modes[m][0], modes[m][1]);
        cell_computed(cell_paper(cell, 1.0 / SIDE, 1e-12), right[m], 1e-12);
        if (modes[m][0] + modes[m][1] > 0)
            cell_paper_errs(cell,
                            "the paper finds 1/n for all: sums of cos^2 are n/2, of mode 0 alone n; and "
                            "(7) lacks half a place");
    }
    struct cell *cell =
        table_cell(t, lbm_lattice_decay(SIDE, 0), "(13) at nu = 0: what is left at the start");
    cell_paper_errs(cell_computed(cell_paper(cell, SIDE, 0.0), 1.0, 1e-12),
                    "with 1/n for both factors (13) gives n at the start; 1/n^2 is right in the mean");
    /* What (13) is about, done: a vertex in the middle is displaced and the lattice diffuses. */
    struct lattice l;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, t->options->seed);
    enum lbm_err err = lattice_open(SIDE, &l);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    uint32_t v = SIDE / 2 * SIDE + SIDE / 2;
    for (uint32_t i = 0; i < l.graph.n; i++)
        for (unsigned k = 0; k < 2; k++)
            l.x[2 * (size_t)i + k] = 0.5;
    l.x[2 * (size_t)v] = 1.5;
    static const double walks[] = {1.0 / 4, 9.0 / 64, 25.0 / 256}; /* squares of central binomials */
    for (size_t nu = 0; nu < sizeof walks / sizeof *walks && err == LBM_OK; nu++) {
        err = lattice_sweep(&l, LBM_ORDER_JACOBI, 2, &rng);
        cell_computed(
            table_cell(t, l.x[2 * (size_t)v] - 0.5, "a vertex displaced by 1: after %zu iterates", nu + 1),
            walks[nu], 1e-12);
    }
    lattice_close(&l);
    if (err != LBM_OK)
        table_fail(t, err);
}
