/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursive bisection: the hosts are halved again and again, and each group's vertices with them. What lies
 * outside a group pulls at its boundary from where it is, so that halves come to lie the right way around. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "map/initial/bisection_cut.h"
#include "map/initial/host_tree.h"
#include "map/internal.h"

enum {
    COARSE_PER_GROUP = 60,
    UNITS_MAX = 12, /* of a group distance to one of H: means of few hosts are exact */
    ROUNDS = 6,
    STALL_LIMIT = 100,
    STAGE_FARTHER = 2,
    STAGE_PER_GROUP = 20, /* vertices of the coarsest level of an annealed V-cycle */
};

static const double STAGE_HOT = 3, STAGE_COLD = 0.15;

/* From one depth of the tree to the next. */
struct bisection {
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
collect(const struct bisection *s, const struct mapping *top, struct members *out)
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
divide_groups(const struct bisection *s, const struct mapping *top)
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
divide(struct bisection *s)
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
        level.least = NULL;
        if (l == top) {
            err = divide_groups(s, &level);
        } else {
            map_prolong(s->levels.parent[l], level.g->n, part, s->work);
            memcpy(part, s->work, level.g->n * sizeof *part);
        }
        if (err == LBM_OK)
            err = map_refine(&level, ROUNDS, STALL_LIMIT, s->rng);
    }
    return err;
}

static enum lbm_err
descend(const struct mapping *m, const struct host_groups *from, const struct host_groups *to, uint32_t *work,
        struct lbm_rng *rng)
{
    uint32_t target = COARSE_PER_GROUP * to->hosts.n;
    struct bisection s = {.m = m,
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

/* ---- stages -------------------------------------------------------------------------------------------- */

/* Nonzero if groups of more than one host are all at least STAGE_FARTHER times as far from each other as the
 * hosts inside are. */
static int
is_stage(const struct lbm_hosts *h, const struct host_groups *groups)
{
    uint32_t inside = 0, outside = UINT32_MAX;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t q = 0; q < p; q++) {
            uint32_t d = lbm_dist(h, p, q);
            if (groups->group_of[p] != groups->group_of[q])
                outside = d < outside ? d : outside;
            else
                inside = d > inside ? d : inside;
        }
    return inside != 0 && outside != UINT32_MAX && outside / STAGE_FARTHER >= inside;
}

/* A stage in progress: the depths of the tree from one on, up to the one where it ends. */
struct stage {
    const struct mapping *m;
    const struct host_tree *tree;
    uint32_t from, to;
    uint32_t *work; /* [n] scratch */
    struct lbm_rng *rng;
};

static enum lbm_err
go_down(const struct stage *s)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t d = s->from; d < s->to && err == LBM_OK; d++)
        err = descend(s->m, &s->tree->at[d], &s->tree->at[d + 1], s->work, s->rng);
    return err;
}

/* What annealing at the end of a stage needs. */
struct yard {
    struct mapping m; /* groups are its hosts */
    uint64_t *limit, *load;
    uint32_t *before; /* part when the stage began */
    struct pool best;
};

static enum lbm_err
yard_open(const struct stage *s, struct yard *yard)
{
    const struct host_groups *groups = &s->tree->at[s->to];
    *yard = (struct yard){.m = *s->m,
                          .limit = lbm_alloc(groups->hosts.n, sizeof *yard->limit),
                          .load = lbm_alloc(groups->hosts.n, sizeof *yard->load),
                          .before = lbm_copy(s->m->part, s->m->g->n, sizeof *yard->before)};
    if (yard->limit == NULL || yard->load == NULL || yard->before == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < s->m->h->n; p++)
        yard->limit[groups->group_of[p]] += s->m->limit[p];
    yard->m.h = &groups->hosts;
    yard->m.limit = yard->limit;
    yard->m.least = NULL;
    return pool_init(&yard->best, s->m->g->n, 1);
}

static void
yard_close(struct yard *yard)
{
    pool_free(&yard->best);
    free(yard->limit);
    free(yard->load);
    free(yard->before);
}

static enum lbm_err
anneal_stage(const struct yard *yard, const struct staging *how, uint32_t draws_most, struct lbm_rng *rng)
{
    struct cooling cooling = {STAGE_HOT, STAGE_COLD, (uint64_t)how->draws_vertex * yard->m.g->n};
    cooling.draws = cooling.draws < draws_most ? cooling.draws : draws_most;
    return map_vcycle_annealed(&yard->m, STAGE_PER_GROUP * yard->m.h->n, &cooling, rng);
}

/* Go down several times, keep the best, and anneal it. In and out: m->part, in groups. */
static enum lbm_err
try_stage(const struct stage *s, const struct staging *how)
{
    struct yard yard;
    enum lbm_err err = yard_open(s, &yard);
    struct mapping *m = &yard.m;
    for (int i = 0; i < how->tries && err == LBM_OK && !(i > 0 && mapping_stopped(m)); i++) {
        memcpy(m->part, yard.before, m->g->n * sizeof *m->part);
        err = go_down(s);
        if (err == LBM_OK)
            err = anneal_stage(&yard, how, how->draws_try, s->rng);
        if (err == LBM_OK)
            pool_offer(&yard.best, m->part, mapping_objective(m, yard.load));
    }
    if (err == LBM_OK)
        memcpy(m->part, pool_part(&yard.best, 0), m->g->n * sizeof *m->part);
    for (int i = 0; i < how->cycles && err == LBM_OK && !mapping_stopped(m); i++)
        err = anneal_stage(&yard, how, how->draws_cycle, s->rng);
    yard_close(&yard);
    return err;
}

/* All depths of the tree, stage by stage. */
static enum lbm_err
halve_all(const struct mapping *m, const struct host_tree *tree, const struct staging *how, uint32_t *work,
          struct lbm_rng *rng)
{
    struct stage stage = {.m = m, .tree = tree, .work = work, .rng = rng};
    enum lbm_err err = LBM_OK;
    for (uint32_t d = 1; d < tree->depths && err == LBM_OK; d++) {
        stage.to = d;
        if (!is_stage(m->h, &tree->at[d]))
            continue;
        err = try_stage(&stage, how);
        stage.from = d;
    }
    return err == LBM_OK ? go_down(&stage) : err;
}

enum lbm_err
map_start_bisection(const struct mapping *m, const struct staging *how, struct lbm_rng *rng)
{
    struct host_tree tree = {0};
    uint32_t *work = lbm_alloc(m->g->n, sizeof *work), *host = lbm_alloc(m->h->n, sizeof *host);
    enum lbm_err err =
        work == NULL || host == NULL ? LBM_E_NOMEM : host_tree_build(m->h, distance_unit(m->g, m->h), &tree);
    for (uint32_t v = 0; v < m->g->n && err == LBM_OK; v++)
        m->part[v] = 0;
    if (err == LBM_OK)
        err = halve_all(m, &tree, how, work, rng);
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

enum lbm_err
map_is_staged(const struct lbm_hosts *h, int *staged)
{
    struct host_tree tree;
    enum lbm_err err = host_tree_build(h, 1, &tree);
    *staged = 0;
    if (err != LBM_OK)
        return err;
    for (uint32_t d = 1; d < tree.depths; d++)
        *staged |= is_stage(h, &tree.at[d]);
    host_tree_free(&tree);
    return LBM_OK;
}
