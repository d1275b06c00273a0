/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEI97 section 9 says that a planar guest at the fixed point is evenly distributed, so that regions of equal
 * area have equal loads. It is not, and Fig. 9, which then levels the loads, pays with locality. Both are
 * measured with the method heirich of lib/map, against the method lbmap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/file.h"
#include "graph/generate.h"
#include "map/map.h"
#include "papers/papers.h"
#include "space/space.h"

static const char hosts_spec[] = "mesh:4x4";

struct measured {
    double imbalance; /* at the fixed point, %: the fullest region over the mean, less 1 */
    double ratio;     /* J after Fig. 9 over that of lbmap */
};

static double
imbalance(const struct lbm_graph *g, const struct lbm_hosts *h, const struct lbm_plan *plan, uint32_t *load)
{
    struct lbm_regions regions = {.n = h->n, .m = h->m, .site = h->site, .weight = plan->weight};
    uint32_t most = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t p = lbm_regions_find(&regions, &plan->x[(size_t)v * plan->m], NULL);
        most = ++load[p] > most ? load[p] : most;
    }
    return 100.0 * ((double)most * h->n / g->n - 1.0);
}

static enum lbm_err
measure(struct table_run *t, const struct lbm_graph *g, struct measured *out)
{
    struct lbm_hosts h;
    struct lbm_plan_options options;
    struct lbm_plan paper = {0}, ours = {0};
    uint32_t *load = NULL;
    lbm_plan_defaults(&options);
    options.seed = t->options->seed;
    enum lbm_err err = lbm_hosts_generate(hosts_spec, &h, &t->diag);
    if (err != LBM_OK)
        return err;
    err = lbm_plan_make(g, &h, &options, &ours, &t->diag);
    options.method = LBM_METHOD_HEIRICH;
    if (err == LBM_OK)
        err = lbm_plan_make(g, &h, &options, &paper, &t->diag);
    if (err == LBM_OK && (load = lbm_alloc(h.n, sizeof *load)) == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK) {
        out->imbalance = imbalance(g, &h, &paper, load);
        out->ratio =
            (double)lbm_map_hop_bytes(g, &h, paper.part) / (double)lbm_map_hop_bytes(g, &h, ours.part);
    }
    free(load);
    lbm_plan_free(&paper);
    lbm_plan_free(&ours);
    lbm_hosts_free(&h);
    return err;
}

/* imbalance, ratio: as measured first, by the same method. */
static const struct guest {
    const char *name; /* of the generator, or of a file in the folder of --graphs */
    double imbalance, slack, ratio, ratio_slack;
} generated[] = {{"tri:2000", 136, 6, 2.8, 0.5}, {"airfoil:2000", 79, 6, 2.1, 0.5}},
  files[] = {{"whitaker3", 43, 2, 2.1, 0.5}, {"3elt", 280, 6, 3.6, 0.7}, {"uk", 94, 4, 3.6, 0.7}};

static void
judge(struct table_run *t, const struct guest *guest, const struct lbm_graph *g)
{
    struct measured m;
    enum lbm_err err = measure(t, g, &m);
    if (err != LBM_OK) {
        table_fail(t, err);
        return;
    }
    struct cell *cell =
        table_cell(t, m.imbalance, "%s on %s: imbalance at the fixed point, %%", guest->name, hosts_spec);
    cell_computed(cell_paper(cell, 0.0, 0.0), guest->imbalance, guest->slack);
    cell_paper_errs(cell,
                    "section 9: evenly distributed. The mean of its neighbours is not where a vertex has "
                    "edges of equal length");
    cell = table_cell(t, m.ratio, "%s on %s: J after Fig. 9 over that of lbmap", guest->name, hosts_spec);
    cell_computed(cell, guest->ratio, guest->ratio_slack);
}

void
hei97_planar(struct table_run *t)
{
    for (size_t i = 0; i < sizeof generated / sizeof *generated && t->diag.code == LBM_OK; i++) {
        struct lbm_graph g;
        enum lbm_err err = lbm_graph_generate(generated[i].name, 1, &g, &t->diag);
        if (err != LBM_OK) {
            table_fail(t, err);
            return;
        }
        judge(t, &generated[i], &g);
        lbm_graph_free(&g);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files && t->diag.code == LBM_OK; i++) {
        struct lbm_graph g;
        char path[512];
        if (t->options->graphs == NULL) {
            table_skip(t, "whitaker3, 3elt and uk (their folder is an option: --graphs)");
            return;
        }
        snprintf(path, sizeof path, "%s/%s.graph.gz", t->options->graphs, files[i].name);
        enum lbm_err err = lbm_file_graph(path, LBM_FORMAT_COUNT, NULL, &g, &t->diag);
        if (err != LBM_OK) {
            table_fail(t, err);
            return;
        }
        judge(t, &files[i], &g);
        lbm_graph_free(&g);
    }
}
