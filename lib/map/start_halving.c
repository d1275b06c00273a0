/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The halving start: the hosts are halved again and again, and each group's vertices with them. What lies
 * outside a group pulls at its boundary from where it is, so that halves come to lie the right way around. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/bisection.h"
#include "map/host_tree.h"
#include "map/internal.h"

enum {
    COARSE_PER_GROUP = 60,
    UNITS_MAX = 12, /* of a group distance to one of H: means of few hosts are exact */
    ROUNDS = 6,
    PATIENCE = 100,
};

/* From one depth of the tree to the next. */
struct halving {
    const struct mapping *m; /* real hosts; part is in groups of the present depth */
    const struct host_groups *from, *to;
    uint64_t *limit; /* [to->hosts.n] */
    uint32_t *work;  /* [n] scratch */
    struct lbm_rng *rng;
    struct lbm_levels levels;
};

/* Members of the groups of the coarsest level that are free, sorted by group. */
struct members {
    uint32_t *first;  /* [groups + 1] */
    uint32_t *vertex; /* [n] */
    uint64_t *fixed;  /* [2 * groups] pinned work on the halves */
};

static enum lbm_err
collect(const struct halving *s, const struct mapping *top, struct members *out)
{
    const struct lbm_graph *g = top->g;
    uint32_t n = s->from->hosts.n;
    out->first = lbm_alloc((size_t)n + 1, sizeof *out->first);
    out->vertex = lbm_alloc(g->n, sizeof *out->vertex);
    out->fixed = lbm_alloc(2 * (size_t)n, sizeof *out->fixed);
    uint32_t *cursor = lbm_alloc(n, sizeof *cursor);
    if (out->first == NULL || out->vertex == NULL || out->fixed == NULL || cursor == NULL) {
        free(cursor);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < g->n; v++)
        if (!mapping_pinned(top, v))
            out->first[top->part[v] + 1]++;
    for (uint32_t a = 0; a < n; a++)
        out->first[a + 1] += out->first[a];
    memcpy(cursor, out->first, n * sizeof *cursor);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t a = top->part[v];
        if (mapping_pinned(top, v))
            out->fixed[2 * a + (s->to->group_of[g->pin[v]] != s->from->first_half[a])] +=
                lbm_graph_work(g, v);
        else
            out->vertex[cursor[a]++] = v;
    }
    free(cursor);
    return LBM_OK;
}

/* Divide every group on the coarsest level. In: top->part by old group. Out: by new group. */
static enum lbm_err
divide_groups(const struct halving *s, const struct mapping *top)
{
    const struct lbm_graph *g = top->g;
    uint32_t n = s->from->hosts.n;
    struct members members = {0};
    struct bisector bisector = {0};
    enum lbm_err err = collect(s, top, &members);
    if (err == LBM_OK)
        err = bisector_open(&bisector, top, s->rng);
    for (uint32_t v = 0; v < g->n && err == LBM_OK; v++)
        top->part[v] =
            mapping_pinned(top, v) ? s->to->group_of[g->pin[v]] : s->from->first_half[top->part[v]];
    for (uint32_t a = 0; a < n && err == LBM_OK; a++) {
        uint32_t p = s->from->first_half[a], end = a + 1 < n ? s->from->first_half[a + 1] : s->to->hosts.n;
        if (end - p == 2)
            err = bisector_divide(&bisector, &members.vertex[members.first[a]],
                                  members.first[a + 1] - members.first[a], p, p + 1, &members.fixed[2 * a]);
    }
    bisector_close(&bisector);
    free(members.first);
    free(members.vertex);
    free(members.fixed);
    return err;
}

/* Divide on the coarsest level, refine upwards. */
static enum lbm_err
divide(struct halving *s)
{
    uint32_t *part = s->m->part, top = s->levels.n - 1;
    for (uint32_t l = 0; l < top; l++) {
        map_restrict(s->levels.parent[l], s->levels.graph[l].n, part, s->work);
        memcpy(part, s->work, s->levels.graph[l + 1].n * sizeof *part);
    }
    enum lbm_err err = LBM_OK;
    for (uint32_t l = s->levels.n; l-- > 0 && err == LBM_OK;) {
        struct mapping level = *s->m;
        level.g = &s->levels.graph[l];
        level.h = &s->to->hosts;
        level.limit = s->limit;
        if (l == top) {
            err = divide_groups(s, &level);
        } else {
            map_prolong(s->levels.parent[l], level.g->n, part, s->work);
            memcpy(part, s->work, level.g->n * sizeof *part);
        }
        if (err == LBM_OK)
            err = map_refine(&level, ROUNDS, PATIENCE, s->rng);
    }
    return err;
}

static enum lbm_err
descend(const struct mapping *m, const struct host_groups *from, const struct host_groups *to, uint32_t *work,
        struct lbm_rng *rng)
{
    uint32_t target = COARSE_PER_GROUP * to->hosts.n;
    struct halving s = {.m = m,
                        .from = from,
                        .to = to,
                        .limit = lbm_alloc(to->hosts.n, sizeof *s.limit),
                        .work = work,
                        .rng = rng};
    enum lbm_err err = s.limit == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK)
        err = lbm_levels_build(m->g, m->part, target, map_cluster_work(m->g, target), rng, &s.levels);
    if (err == LBM_OK) {
        for (uint32_t p = 0; p < m->h->n; p++)
            s.limit[to->group_of[p]] += m->limit[p];
        err = divide(&s);
    }
    lbm_levels_free(&s.levels);
    free(s.limit);
    return err;
}

/* As many units as leave group distances 32 bits and sums over the guest's edges 63. */
static uint32_t
distance_unit(const struct lbm_graph *g, const struct lbm_hosts *h)
{
    uint64_t weight = 1, farthest = 1, directions = lbm_graph_directions(g);
    for (uint64_t e = 0; e < directions; e++)
        weight += lbm_graph_weight(g, e);
    for (size_t i = 0; i < (size_t)h->n * h->n; i++)
        farthest = h->dist[i] > farthest ? h->dist[i] : farthest;
    double most =
        fmin((double)UINT32_MAX / 2 / (double)farthest, 0x1p61 / ((double)weight * (double)farthest));
    return most < 1 ? 1 : most < UNITS_MAX ? (uint32_t)most : UNITS_MAX;
}

enum lbm_err
map_start_halving(const struct mapping *m, struct lbm_rng *rng)
{
    struct host_tree tree = {0};
    uint32_t *work = lbm_alloc(m->g->n, sizeof *work), *host = lbm_alloc(m->h->n, sizeof *host);
    enum lbm_err err =
        work == NULL || host == NULL ? LBM_E_NOMEM : host_tree_build(m->h, distance_unit(m->g, m->h), &tree);
    for (uint32_t v = 0; v < m->g->n && err == LBM_OK; v++)
        m->part[v] = 0;
    for (uint32_t d = 0; d + 1 < tree.depths && err == LBM_OK; d++)
        err = descend(m, &tree.at[d], &tree.at[d + 1], work, rng);
    if (err == LBM_OK) {
        for (uint32_t p = 0; p < m->h->n; p++)
            host[tree.at[tree.depths - 1].group_of[p]] = p;
        for (uint32_t v = 0; v < m->g->n; v++)
            m->part[v] = host[m->part[v]];
    }
    host_tree_free(&tree);
    free(work);
    free(host);
    return err;
}
