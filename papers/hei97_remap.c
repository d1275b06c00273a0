/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 Fig. 9: random edges across regions move a vertex from the region with more to the one with fewer, by
 * lib/map. What is measured is here. */
#include <math.h>
#include <stdlib.h>

#include "host/host.h"
#include "map/map.h"
#include "papers/lattice.h"
#include "papers/papers.h"
#include "space/space.h"

enum { SIDE = 32, REGIONS = 16, EDGES = 2 * SIDE * (SIDE - 1), VERTICES = SIDE * SIDE };

struct trial {
    struct lattice lattice;
    uint32_t region[VERTICES];
    uint64_t load[REGIONS];
    double target[REGIONS];
    struct lbm_edge_remap remap;
};

/* Regions are the squares of the hosts. */
static enum lbm_err
find_regions(struct trial *r)
{
    static const double equal[REGIONS];
    struct lbm_hosts h;
    enum lbm_err err = lbm_hosts_generate("mesh:4x4", &h, NULL);
    if (err != LBM_OK)
        return err;
    struct lbm_regions regions = {.n = REGIONS, .m = 2, .site = h.site, .weight = equal};
    for (uint32_t p = 0; p < REGIONS; p++) {
        r->load[p] = 0;
        r->target[p] = (double)VERTICES / REGIONS;
    }
    for (uint32_t v = 0; v < VERTICES; v++) {
        r->region[v] = lbm_regions_find(&regions, &r->lattice.x[2 * (size_t)v], NULL);
        r->load[r->region[v]]++;
    }
    lbm_hosts_free(&h);
    r->remap = (struct lbm_edge_remap){
        .g = &r->lattice.graph, .part = r->region, .load = r->load, .target = r->target};
    lbm_edge_remap_start(&r->remap, REGIONS);
    return LBM_OK;
}

static double
deviation(const struct trial *r)
{
    double largest = 0.0;
    for (uint32_t p = 0; p < REGIONS; p++)
        largest = fmax(largest, fabs((double)r->load[p] - r->target[p]));
    return largest;
}

/* Connected parts of regions. */
static uint32_t
fragments(const struct trial *r)
{
    const struct lbm_graph *g = &r->lattice.graph;
    uint32_t label[VERTICES], n = VERTICES;
    int changed = 1;
    for (uint32_t v = 0; v < VERTICES; v++)
        label[v] = v;
    while (changed) {
        changed = 0;
        for (uint32_t u = 0; u < VERTICES; u++)
            for (uint64_t e = g->offset[u]; e < g->offset[u + 1]; e++) {
                uint32_t v = g->target[e];
                if (r->region[u] != r->region[v] || label[u] <= label[v])
                    continue;
                label[u] = label[v];
                changed = 1;
            }
    }
    for (uint32_t v = 0; v < VERTICES; v++)
        n -= label[v] != v;
    return n;
}

struct outcome {
    double within_one, within_one_most, equal_most, fragments; /* draws over |E| */
};

static const double DRAWS_MOST = 50.0; /* over |E|: ten times what the paper takes */

static enum lbm_err
run_once(struct trial *r, struct lbm_rng *rng, uint32_t runs, struct outcome *out)
{
    double draws = 0.0, within_one = -1.0;
    enum lbm_err err = find_regions(r);
    if (err != LBM_OK)
        return err;
    for (; r->remap.out != 0 && draws < DRAWS_MOST; draws += 1.0 / EDGES) {
        if (within_one < 0.0 && deviation(r) <= 1.0)
            within_one = draws;
        lbm_edge_remap_draw(&r->remap, rng);
    }
    within_one = within_one < 0.0 ? draws : within_one;
    out->within_one += within_one / runs;
    out->within_one_most = fmax(out->within_one_most, within_one);
    out->equal_most = fmax(out->equal_most, draws);
    out->fragments += (double)fragments(r) / runs;
    return LBM_OK;
}

static enum lbm_err
judge(struct table_run *t, struct trial *r)
{
    struct outcome out = {0};
    uint32_t runs = table_runs(t, 50, 1000);
    struct lbm_rng rng;
    lbm_rng_seed(&rng, t->options->seed);
    lbm_start_centre(VERTICES, 2, r->lattice.pinned, r->lattice.x, &rng);
    enum lbm_err err = lattice_sweep(&r->lattice, LBM_ORDER_JACOBI, 100, &rng);
    if (err == LBM_OK)
        err = find_regions(r);
    cell_computed(table_cell(t, deviation(r), "after 100 iterates: largest deviation of a region, vertices"),
                  42, 0.0);
    for (uint32_t run = 0; run < runs && err == LBM_OK; run++) {
        lbm_rng_stream(&rng, t->options->seed, run);
        err = run_once(r, &rng, runs, &out);
    }
    cell_computed(table_cell(t, out.within_one, "draws over |E| until loads are within one unit, mean"), 1.5,
                  0.2);
    cell_bound(table_cell(t, out.within_one_most, "draws over |E| until loads are within one unit, most"),
               AT_MOST, 5.0);
    cell_note(
        cell_bound(table_cell(t, out.equal_most, "draws over |E| until loads are equal, most"), AT_MOST, 5.0),
        "the second branch of Fig. 9 must read Remap(v2, r2, r1)");
    cell_computed(table_cell(t, out.fragments, "connected parts of the 16 regions then, mean"), 28, 4);
    if (err == LBM_OK)
        err = lattice_sweep(&r->lattice, LBM_ORDER_JACOBI, 300, &rng);
    if (err == LBM_OK)
        err = find_regions(r);
    cell_note(cell_computed(
                  table_cell(t, deviation(r), "after 400 iterates: largest deviation of a region, vertices"),
                  0, 0.0),
              "the paper applies Fig. 9 here, where there is nothing left to do");
    return err;
}

void
hei97_fig_9(struct table_run *t)
{
    struct trial *r = lbm_alloc(1, sizeof *r);
    enum lbm_err err = r == NULL ? LBM_E_NOMEM : lattice_open(SIDE, &r->lattice);
    if (err == LBM_OK) {
        err = judge(t, r);
        lattice_close(&r->lattice);
    }
    if (err != LBM_OK)
        table_fail(t, err);
    free(r);
}
