/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 section 10 names two variants and measures neither: vertices as circles, so that processes have
 * weights, and averages of the angles of edges, so that nothing need be pinned. What they do is measured
 * here; the formulas are those of lib/embed/rules.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed/embed.h"
#include "graph/generate.h"
#include "papers/papers.h"

enum { REGIONS_SIDE = 4, MEAN_SWEEPS = 2000, HEAVY = 9 };

enum origin { FROM_SOLUTION, FROM_CENTRE, FROM_RANDOM };

struct trial {
    struct lbm_graph g;
    uint8_t *pinned;
    double *x, *radius;
    struct lbm_rng rng;
};

static void
close_trial(struct trial *r)
{
    lbm_graph_free(&r->g);
    free(r->pinned);
    free(r->x);
    free(r->radius);
    *r = (struct trial){0};
}

static enum lbm_err
sweep(struct trial *r, enum lbm_diffusion_rule rule, enum lbm_order order, double length, int sweeps,
      double *largest)
{
    struct lbm_diffusion how = {
        .m = 2, .order = order, .pinned = r->pinned, .rule = rule, .radius = r->radius, .length = length};
    return lbm_diffuse(&r->g, &how, sweeps, r->x, &r->rng, NULL, largest);
}

/* A guest whose outer face is pinned; its vertices at random, at the centre, or at the fixed point of the
 * mean. */
static enum lbm_err
open_trial(const struct table_run *t, const char *spec, enum origin origin, struct trial *out)
{
    struct trial r = {0};
    uint32_t n_pinned;
    lbm_rng_seed(&r.rng, t->options->seed);
    enum lbm_err err = lbm_graph_generate(spec, 1, &r.g, NULL);
    if (err != LBM_OK)
        return err;
    r.pinned = lbm_alloc(r.g.n, sizeof *r.pinned);
    r.x = lbm_alloc(2 * (size_t)r.g.n, sizeof *r.x);
    r.radius = lbm_alloc(r.g.n, sizeof *r.radius);
    if (r.pinned == NULL || r.x == NULL || r.radius == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_pin_outer_face(&r.g, r.pinned, r.x, &n_pinned);
    if (err == LBM_OK && origin == FROM_RANDOM)
        lbm_start_random(r.g.n, 2, NULL, r.x, &r.rng);
    if (err == LBM_OK && origin != FROM_RANDOM)
        lbm_start_centre(r.g.n, 2, r.pinned, r.x, &r.rng);
    if (err == LBM_OK && origin == FROM_SOLUTION)
        err = sweep(&r, LBM_RULE_MEAN, LBM_ORDER_PERMUTATION, 0.0, MEAN_SWEEPS, NULL);
    if (err == LBM_OK)
        *out = r;
    else
        close_trial(&r);
    return err;
}

struct edges {
    double least, mean, most;
};

static struct edges
measure_edges(const struct trial *r)
{
    struct edges e = {HUGE_VAL, 0.0, 0.0};
    for (uint32_t v = 0; v < r->g.n; v++)
        for (uint64_t k = r->g.offset[v]; k < r->g.offset[v + 1]; k++) {
            const double *a = &r->x[2 * (size_t)v], *b = &r->x[2 * (size_t)r->g.target[k]];
            double length = hypot(a[0] - b[0], a[1] - b[1]);
            e.least = fmin(e.least, length);
            e.most = fmax(e.most, length);
            e.mean += length / (double)lbm_graph_directions(&r->g);
        }
    return e;
}

/* Most work in one of 4 x 4 squares over the mean, less 1, in %; without pins after renormalization. */
static double
imbalance(const struct trial *r, int renormalized)
{
    struct lbm_moments moments = {0};
    struct lbm_affine map;
    double load[REGIONS_SIDE * REGIONS_SIDE] = {0}, most = 0.0;
    lbm_affine_identity(&map, 2);
    if (renormalized) {
        lbm_moments_take(&moments, &r->g, 2, r->x);
        if (lbm_moments_whiten(&moments, 2, &map) != LBM_OK)
            return (double)NAN;
    }
    for (uint32_t v = 0; v < r->g.n; v++) {
        double x[2];
        int cell[2];
        lbm_affine_apply(&map, &r->x[2 * (size_t)v], x);
        for (int k = 0; k < 2; k++)
            cell[k] = (int)fmin(fmax(x[k] * REGIONS_SIDE, 0.0), REGIONS_SIDE - 1);
        load[cell[0] + REGIONS_SIDE * cell[1]] += lbm_graph_work(&r->g, v);
        most = fmax(most, load[cell[0] + REGIONS_SIDE * cell[1]]);
    }
    return 100.0 * (most * REGIONS_SIDE * REGIONS_SIDE / (double)lbm_graph_total_work(&r->g) - 1.0);
}

/* ---- angles -------------------------------------------------------------------------------------------- */

/* Every edge keeps its length while its direction is averaged: what a sweep makes of the scale. */
static enum lbm_err
own_lengths(struct table_run *t, int is_pinned)
{
    enum { SWEEPS = 300 };
    const double blur = 1e-4; /* cells are 0.067 wide */
    struct trial r;
    double largest;
    enum lbm_err err = open_trial(t, "lattice:16x16", FROM_SOLUTION, &r);
    if (err != LBM_OK)
        return err;
    if (!is_pinned)
        memset(r.pinned, 0, r.g.n);
    for (size_t i = 0; i < 2 * (size_t)r.g.n; i++)
        r.x[i] += r.pinned[i / 2] ? 0.0 : blur * (lbm_rng_unit(&r.rng) - 0.5);
    double before = measure_edges(&r).mean;
    err = sweep(&r, LBM_RULE_ANGLES, LBM_ORDER_PERMUTATION, 0.0, SWEEPS, &largest);
    double decades = log10(measure_edges(&r).mean / before);
    cell_note(
        cell_computed(table_cell(t, decades, "angles at own lengths, lattice:16x16%s: edges grow, decades",
                                 is_pinned ? " pinned" : ""),
                      is_pinned ? 15.0 : 34.0, is_pinned ? 12.0 : 10.0),
        "in 300 sweeps from the solution, a thousandth of a cell off: an unstable fixed point");
    close_trial(&r);
    return err;
}

struct expected {
    const char *spec;
    enum origin origin;
    enum lbm_order order;
    int sweeps;
    double moved, moved_slack; /* longest displacement of the last sweep, in mean edges */
    double least, least_slack; /* shortest edge over the mean */
    double imbalance, imbalance_slack;
};

static enum lbm_err
equal_lengths(struct table_run *t, const struct expected *e)
{
    struct trial r;
    double largest;
    const char *from = e->origin == FROM_SOLUTION ? "the solution" : "random places";
    const char *order = e->order == LBM_ORDER_JACOBI ? ", all at once" : "";
    enum lbm_err err = open_trial(t, e->spec, e->origin, &r);
    if (err != LBM_OK)
        return err;
    memset(r.pinned, 0, r.g.n);
    err = sweep(&r, LBM_RULE_ANGLES, e->order, 1.0 / sqrt(r.g.n), e->sweeps, &largest);
    struct edges edges = measure_edges(&r);
    cell_computed(table_cell(t, largest / edges.mean, "angles, %s from %s%s: a sweep still moves, edges",
                             e->spec, from, order),
                  e->moved, e->moved_slack);
    cell_computed(table_cell(t, edges.least / edges.mean, "angles, %s from %s%s: shortest edge over the mean",
                             e->spec, from, order),
                  e->least, e->least_slack);
    cell_computed(
        table_cell(t, imbalance(&r, 1), "angles, %s from %s%s: imbalance, %%", e->spec, from, order),
        e->imbalance, e->imbalance_slack);
    close_trial(&r);
    return err;
}

static const struct expected angles[] = {
    {"lattice:16x16", FROM_SOLUTION, LBM_ORDER_PERMUTATION, 2000, 0.0, 1e-9, 0.80, 0.01, 0.0, 0.5},
    {"lattice:16x16", FROM_SOLUTION, LBM_ORDER_JACOBI, 1000, 2.0, 1.5, 0.05, 0.1, 100.0, 100.0},
    {"lattice:16x16", FROM_RANDOM, LBM_ORDER_PERMUTATION, 2000, 0.06, 0.055, 0.2, 0.15, 110.0, 80.0},
    {"tri:300", FROM_SOLUTION, LBM_ORDER_PERMUTATION, 2000, 0.005, 0.005, 0.38, 0.03, 36.0, 8.0},
    {"tri:300", FROM_RANDOM, LBM_ORDER_PERMUTATION, 2000, 0.02, 0.019, 0.2, 0.15, 60.0, 50.0},
};

/* ---- circles ------------------------------------------------------------------------------------------- */

/* A quarter of the lattice in each direction is nine times as heavy as the rest. */
static enum lbm_err
make_corner_heavy(struct lbm_graph *g, uint32_t side)
{
    g->work = lbm_alloc(g->n, sizeof *g->work);
    if (g->work == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < g->n; v++)
        g->work[v] = v % side < side / 4 && v / side < side / 4 ? HEAVY : 1;
    return LBM_OK;
}

enum { CIRCLE_SWEEPS = 2000 };

struct covering {
    const char *spec;
    uint32_t heavy_side; /* 0: all vertices weigh the same */
    enum origin origin;
    double share, imbalance, slack;
};

static enum lbm_err
circles(struct table_run *t, const struct covering *c)
{
    struct trial r;
    double largest;
    enum lbm_err err = open_trial(t, c->spec, c->origin, &r);
    if (err != LBM_OK)
        return err;
    if (c->heavy_side != 0)
        err = make_corner_heavy(&r.g, c->heavy_side);
    if (err == LBM_OK) {
        lbm_circle_radii(&r.g, 2, c->share, r.radius);
        err = sweep(&r, LBM_RULE_CIRCLES, LBM_ORDER_PERMUTATION, 0.0, CIRCLE_SWEEPS, &largest);
    }
    if (err == LBM_OK)
        cell_note(
            cell_computed(table_cell(t, imbalance(&r, 0), "circles cover %.2f, %s%s from %s: imbalance, %%",
                                     c->share, c->spec, c->heavy_side != 0 ? ", heavy corner," : "",
                                     c->origin == FROM_CENTRE ? "the centre" : "the solution"),
                          c->imbalance, c->slack),
            "after %d sweeps; the last moves %.1e of a mean edge", CIRCLE_SWEEPS,
            largest / measure_edges(&r).mean);
    close_trial(&r);
    return err;
}

static const struct covering coverings[] = {
    {"lattice:32x32", 32, FROM_CENTRE, 0.0, 500.0, 1.0},
    {"lattice:32x32", 32, FROM_CENTRE, 0.25, 290.0, 40.0},
    {"lattice:32x32", 32, FROM_CENTRE, 0.75, 190.0, 40.0},
    {"lattice:32x32", 32, FROM_CENTRE, 1.5, 240.0, 50.0},
    {"lattice:32x32", 32, FROM_SOLUTION, 0.75, 310.0, 40.0},
    {"tri:1000", 0, FROM_CENTRE, 0.0, 68.0, 1.0},
    {"tri:1000", 0, FROM_CENTRE, 0.25, 43.0, 10.0},
    {"tri:1000", 0, FROM_CENTRE, 0.75, 52.0, 12.0},
};

void
hei97_variants(struct table_run *t)
{
    enum lbm_err err = own_lengths(t, 1);
    if (err == LBM_OK)
        err = own_lengths(t, 0);
    for (size_t i = 0; i < sizeof angles / sizeof *angles && err == LBM_OK; i++)
        err = equal_lengths(t, &angles[i]);
    for (size_t i = 0; i < sizeof coverings / sizeof *coverings && err == LBM_OK; i++)
        err = circles(t, &coverings[i]);
    if (err != LBM_OK)
        table_fail(t, err);
}
