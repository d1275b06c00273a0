/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/scene.h"

#include <stdlib.h>
#include <string.h>

/* Where the third axis of Omega goes on paper (a cabinet projection, half scale). */
static const double depth_x = 0.40, depth_y = 0.28;

/* Points of m dimensions on paper, [2 n]. NULL: no memory. */
static double *
project(const double *point, uint32_t n, unsigned m)
{
    double *flat = lbm_alloc(n, 2 * sizeof *flat);
    for (size_t v = 0; flat != NULL && v < n; v++) {
        const double *p = point + m * v;
        flat[2 * v] = p[0] + (m == 3 ? depth_x * p[2] : 0.0);
        flat[2 * v + 1] = p[1] + (m == 3 ? depth_y * p[2] : 0.0);
    }
    return flat;
}

/* Each pair of neighbours of a symmetric structure once. NULL: no memory. */
static uint32_t *
pairs(uint32_t n, const uint64_t *offset, const uint32_t *offset32, const uint32_t *target, size_t *n_pairs)
{
    uint64_t directions = offset != NULL ? offset[n] : offset32[n];
    uint32_t *pair = lbm_alloc(directions, sizeof *pair);
    *n_pairs = 0;
    for (uint32_t u = 0; pair != NULL && u < n; u++) {
        uint64_t end = offset != NULL ? offset[u + 1] : offset32[u + 1];
        for (uint64_t d = offset != NULL ? offset[u] : offset32[u]; d < end; d++) {
            if (target[d] <= u)
                continue;
            pair[2 * *n_pairs] = u;
            pair[2 * *n_pairs + 1] = target[d];
            ++*n_pairs;
        }
    }
    return pair;
}

/* A host that is gone, which has no capacity, has no links either. */
static void
drop_links_of_gone(const struct lbm_hosts *h, uint32_t *link, size_t *n_links)
{
    size_t kept = 0;
    for (size_t i = 0; i < *n_links; i++) {
        if (!(h->capacity[link[2 * i]] > 0 && h->capacity[link[2 * i + 1]] > 0))
            continue;
        link[2 * kept] = link[2 * i];
        link[2 * kept + 1] = link[2 * i + 1];
        kept++;
    }
    *n_links = kept;
}

static void
fill_targets(const struct lbm_graph *g, const struct lbm_hosts *h, double *target)
{
    double capacity = 0.0, work = (double)lbm_graph_total_work(g);
    for (uint32_t p = 0; p < h->n; p++)
        capacity += h->capacity[p];
    for (uint32_t p = 0; p < h->n; p++)
        target[p] = work * h->capacity[p] / capacity;
}

enum lbm_err
lbm_plan_scene_make(const char *title, const struct lbm_graph *g, const struct lbm_hosts *h,
                    const struct lbm_plan *plan, const struct lbm_quality *quality, const double *position,
                    struct lbm_plan_scene *out)
{
    struct lbm_plan_scene made = {.scene = {.title = title,
                                            .n = g->n,
                                            .part = plan->part,
                                            .n_hosts = h->n,
                                            .name = h->name,
                                            .imbalance = quality->imbalance,
                                            .hop_bytes = quality->hop_bytes,
                                            .cut = quality->cut}};
    struct lbm_scene *scene = &made.scene;
    made.x = position != NULL ? project(position, g->n, 2) : project(plan->x, g->n, plan->m);
    made.site = project(h->site, h->n, h->m);
    made.edge = pairs(g->n, g->offset, NULL, g->target, &scene->n_edges);
    made.link = pairs(h->n, NULL, h->offset, h->target, &scene->n_links);
    made.load = lbm_alloc(h->n, sizeof *made.load);
    made.target = lbm_alloc(h->n, sizeof *made.target);
    if (made.x == NULL || made.site == NULL || made.edge == NULL || made.link == NULL || made.load == NULL ||
        made.target == NULL) {
        lbm_plan_scene_free(&made);
        return LBM_E_NOMEM;
    }
    drop_links_of_gone(h, made.link, &scene->n_links);
    lbm_map_loads(g, h->n, plan->part, made.load);
    fill_targets(g, h, made.target);
    scene->x = made.x;
    scene->edge = made.edge;
    scene->load = made.load;
    scene->target = made.target;
    if (position == NULL) {
        scene->site = made.site;
        scene->link = made.link;
        scene->weight = plan->m == 2 ? plan->weight : NULL;
    }
    *out = made;
    return LBM_OK;
}

void
lbm_plan_scene_free(struct lbm_plan_scene *made)
{
    free(made->x);
    free(made->site);
    free(made->target);
    free(made->edge);
    free(made->link);
    free(made->load);
    memset(made, 0, sizeof *made);
}
