/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method heirich: HEI97 as printed, for comparison. Pins, diffusion to rest, regions of areas in
 * proportion to capacities, then fig. 9's balancing with its second branch corrected: Remap(v2, r2, r1).
 *
 * Fig. 9 keeps no bound on the imbalance: it never settles if the loads cannot be equal, and gives a region
 * that got no vertex none. What it leaves over the limits goes the way of the method lbmap's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "embed/embed.h"
#include "map/internal.h"
#include "space/space.h"

enum {
    SWEEPS_CHUNK = 10,          /* between looks at the displacement, and renormalizations */
    SWEEPS_MAX = 20000,         /* whatever the guest's size */
    SWEEPS_UNPINNED_MAX = 2000, /* renormalized coordinates may keep turning */
    AREA_POINTS = 64,           /* of Omega a host, along which areas are measured */
    AREA_ROUNDS = 150,
    REMAPS_PER_EDGE = 5, /* HEI97 section 9: enough on its model problem */
};

/* Part of Omega that the circles of all vertices cover together. They come to rest slowly: the last moves are
 * some ten-thousandths of an edge where the mean has none any more (docs/papers.md). */
static const double CIRCLES_SHARE = 0.75;

static const double UPDATES_MAX = 1e9; /* some seconds */

struct run {
    const struct lbm_graph *g;
    const struct lbm_hosts *h;
    const struct lbm_plan_options *options;
    struct lbm_plan *plan;
    struct lbm_rng rng;
    uint8_t *pinned; /* [n] */
    uint32_t n_pinned;
    double *radius; /* [n] of circles, else NULL */
};

static int
stopped(const struct run *run)
{
    return run->options->stop != NULL && run->options->stop(run->options->arg);
}

static void
tell(const struct run *run, const char *stage, double done)
{
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, stage, done);
}

/* The user's pins stay at the sites of their hosts; else a planar guest's outer face on the perimeter. */
static enum lbm_err
pin(struct run *run)
{
    const struct lbm_graph *g = run->g;
    unsigned m = run->h->m;
    for (uint32_t v = 0; v < g->n && g->pin != NULL; v++)
        if (g->pin[v] != LBM_NONE) {
            run->pinned[v] = 1;
            run->n_pinned++;
            memcpy(&run->plan->x[(size_t)v * m], &run->h->site[(size_t)g->pin[v] * m], m * sizeof(double));
        }
    if (run->n_pinned != 0 || m != 2)
        return LBM_OK;
    return lbm_pin_outer_face(g, run->pinned, run->plan->x, &run->n_pinned);
}

/* Displacement at which the slowest mode of a lattice of n vertices is within a twentieth of a cell. */
static double
rest_distance(const struct run *run)
{
    double n = run->g->n > 1 ? run->g->n : 2;
    return 0.25 * pow(n, -1.0 / run->h->m) / n;
}

/* Centre, decorrelate, scale; points of a hyperplane (two vertices, a lone chain) are left as they are. */
static void
renormalize(struct run *run)
{
    struct lbm_moments moments = {0};
    struct lbm_affine map;
    unsigned m = run->h->m;
    lbm_moments_take(&moments, run->g, m, run->plan->x);
    if (lbm_moments_whiten(&moments, m, &map) != LBM_OK)
        return;
    for (uint32_t v = 0; v < run->g->n; v++)
        lbm_affine_apply(&map, &run->plan->x[(size_t)v * m], &run->plan->x[(size_t)v * m]);
}

/* Largest change of a coordinate since `before`, which becomes the present. */
static double
displacement(const struct run *run, double *before)
{
    double largest = 0;
    size_t n = (size_t)run->g->n * run->h->m;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(run->plan->x[i] - before[i]));
    memcpy(before, run->plan->x, n * sizeof *before);
    return largest;
}

/* Sweep until nothing moves any more. */
static enum lbm_err
diffuse(struct run *run, enum lbm_diffusion_rule rule)
{
    struct lbm_diffusion how = {.m = run->h->m,
                                .order = run->options->order,
                                .pinned = run->pinned,
                                .rule = rule,
                                .radius = run->radius,
                                .length = pow(run->g->n, -1.0 / run->h->m)};
    int is_free = run->n_pinned == 0 && rule != LBM_RULE_ANGLES; /* angles hold their scale themselves */
    size_t n = (size_t)run->g->n * run->h->m;
    double *before = lbm_copy(run->plan->x, n, sizeof *before);
    double most = fmin(run->n_pinned != 0 ? SWEEPS_MAX : SWEEPS_UNPINNED_MAX, UPDATES_MAX / run->g->n);
    enum lbm_err err = before == NULL ? LBM_E_NOMEM : LBM_OK;
    for (double sweeps = 0; sweeps < most && err == LBM_OK && !stopped(run); sweeps += SWEEPS_CHUNK) {
        err = lbm_diffuse(run->g, &how, SWEEPS_CHUNK, run->plan->x, &run->rng, NULL, NULL);
        if (is_free)
            renormalize(run);
        tell(run, "diffusion", 0.8 * sweeps / most);
        if (displacement(run, before) < SWEEPS_CHUNK * rest_distance(run))
            break;
    }
    free(before);
    return err;
}

/* Averages of angles need no pins but those that the user wants; from anywhere else than a plane embedding
 * they fold the guest. */
static enum lbm_err
diffuse_angles(struct run *run)
{
    const struct lbm_graph *g = run->g;
    run->n_pinned = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        run->pinned[v] = g->pin != NULL && g->pin[v] != LBM_NONE;
        run->n_pinned += run->pinned[v];
    }
    enum lbm_err err = diffuse(run, LBM_RULE_ANGLES);
    if (run->n_pinned == 0)
        renormalize(run);
    return err;
}

static enum lbm_err
embed(struct run *run)
{
    enum lbm_diffusion_rule rule = run->options->rule;
    if (rule == LBM_RULE_CIRCLES) {
        run->radius = lbm_alloc(run->g->n, sizeof *run->radius);
        if (run->radius == NULL)
            return LBM_E_NOMEM;
        lbm_circle_radii(run->g, run->h->m, CIRCLES_SHARE, run->radius);
    }
    enum lbm_err err = diffuse(run, rule == LBM_RULE_ANGLES ? LBM_RULE_MEAN : rule);
    return err == LBM_OK && rule == LBM_RULE_ANGLES ? diffuse_angles(run) : err;
}

/* Weights of regions whose areas are in proportion to the capacities: a regular lattice of points stands for
 * Omega. */
static enum lbm_err
divide_omega(struct run *run)
{
    const struct lbm_hosts *h = run->h;
    uint32_t side = (uint32_t)ceil(pow((double)AREA_POINTS * h->n, 1.0 / h->m)), n = 1;
    for (unsigned k = 0; k < h->m; k++)
        n *= side;
    double *point = lbm_alloc((size_t)n * h->m, sizeof *point);
    uint32_t *host = lbm_alloc(n, sizeof *host);
    enum lbm_err err = point == NULL || host == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t i = 0; i < n && err == LBM_OK; i++)
        for (uint32_t k = 0, rest = i; k < h->m; k++, rest /= side)
            point[(size_t)i * h->m + k] = (rest % side + 0.5) / side;
    if (err == LBM_OK && lbm_regions_balance(h->n, h->m, 0, h->site, h->capacity, n, point, NULL, 0.01,
                                             AREA_ROUNDS, run->plan->weight, host) < 0)
        err = LBM_E_NOMEM;
    free(point);
    free(host);
    return err;
}

static void
assign(struct run *run)
{
    const struct lbm_hosts *h = run->h;
    struct lbm_regions regions = {.n = h->n, .m = h->m, .site = h->site, .weight = run->plan->weight};
    for (uint32_t v = 0; v < run->g->n; v++) {
        int fixed = run->g->pin != NULL && run->g->pin[v] != LBM_NONE;
        run->plan->part[v] =
            fixed ? run->g->pin[v] : lbm_regions_find(&regions, &run->plan->x[(size_t)v * h->m], NULL);
    }
}

/* Begin with the present mapping; pinned vertices and those whose host is gone are where their regions have
 * them. */
static void
take_current(struct run *run)
{
    const uint32_t *current = run->options->current;
    for (uint32_t v = 0; current != NULL && v < run->g->n; v++)
        if (current[v] != LBM_NONE && (run->g->pin == NULL || run->g->pin[v] == LBM_NONE))
            run->plan->part[v] = current[v];
}

/* ---- fig. 9 ----------------------------------------------------------------------------------------- */

static enum lbm_err
balance(struct run *run)
{
    const struct lbm_hosts *h = run->h;
    uint64_t edges = lbm_graph_directions(run->g) / 2;
    double work = (double)lbm_graph_total_work(run->g), capacity = 0;
    uint64_t *load = lbm_alloc(h->n, sizeof *load);
    double *target = lbm_alloc(h->n, sizeof *target);
    if (load != NULL && target != NULL) {
        lbm_map_loads(run->g, h->n, run->plan->part, load);
        for (uint32_t p = 0; p < h->n; p++)
            capacity += h->capacity[p];
        for (uint32_t p = 0; p < h->n; p++)
            target[p] = work * h->capacity[p] / capacity;
        struct lbm_edge_remap r = {.g = run->g,
                                   .part = run->plan->part,
                                   .load = load,
                                   .target = target,
                                   .tolerance = ceil(work / run->g->n)};
        lbm_edge_remap_start(&r, h->n);
        for (uint64_t i = 0; i < REMAPS_PER_EDGE * edges && r.out != 0; i++)
            lbm_edge_remap_draw(&r, &run->rng);
    }
    int short_of_memory = load == NULL || target == NULL;
    free(load);
    free(target);
    return short_of_memory ? LBM_E_NOMEM : LBM_OK;
}

enum lbm_err
map_plan_heirich(const struct problem *problem, struct lbm_plan *plan)
{
    const struct lbm_graph *g = &problem->g;
    const struct lbm_hosts *h = problem->h;
    const struct lbm_plan_options *options = &problem->options;
    struct run run = {.g = g, .h = h, .options = options, .plan = plan, .pinned = lbm_alloc(g->n, 1)};
    plan->x = lbm_alloc((size_t)g->n * h->m, sizeof *plan->x);
    enum lbm_err err = run.pinned == NULL || plan->x == NULL ? LBM_E_NOMEM : pin(&run);
    lbm_rng_stream(&run.rng, options->seed, 0);
    if (err == LBM_OK) {
        lbm_start_centre(g->n, h->m, run.n_pinned != 0 ? run.pinned : NULL, plan->x, &run.rng);
        err = embed(&run);
    }
    tell(&run, "regions", 0.8);
    if (err == LBM_OK)
        err = divide_omega(&run);
    tell(&run, "balance", 0.9);
    if (err == LBM_OK) {
        assign(&run);
        take_current(&run);
        err = balance(&run);
    }
    struct mapping m = {.g = g, .h = h, .limit = problem->limit, .least = problem->least, .part = plan->part};
    if (err == LBM_OK)
        err = map_flow(&m, &run.rng);
    if (err == LBM_OK)
        err = map_finish(problem, &m);
    for (size_t i = 0; i < (size_t)g->n * h->m && err == LBM_OK; i++)
        plan->x[i] = fmin(fmax(plan->x[i], 0), 1); /* renormalized tails may reach beyond */
    free(run.pinned);
    free(run.radius);
    return err;
}
