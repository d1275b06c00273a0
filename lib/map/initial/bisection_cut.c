/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map/initial/bisection_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    TRIES = 6, /* alternately by diffusion and by hops; each both ways around */
    TRIES_QUICK = 2,
    SMOOTHINGS = 200,     /* of the first diffusion */
    SMOOTHINGS_MORE = 60, /* of the others: less smooth is more varied */
    REFINEMENTS = 3,
    STALL_LIMIT = 100,
};

/* The group at hand. */
struct group {
    const uint32_t *member;
    uint32_t n;
    uint32_t p, q;
    const uint64_t *fixed;
    double work; /* of the members */
};

struct outcome {
    struct objective objective; /* excess of the two halves, twice the hop-bytes of the members' edges */
    int any;
};

enum lbm_err
bisector_open(struct bisector *b, const struct mapping *m, struct lbm_rng *rng)
{
    uint32_t n = m->g->n;
    *b = (struct bisector){.m = m,
                           .rng = rng,
                           .ws = lbm_pair_workspace_new(n),
                           .local = lbm_alloc(n, sizeof *b->local),
                           .order = lbm_alloc(n, sizeof *b->order),
                           .hops = lbm_alloc(2 * (size_t)n, sizeof *b->hops),
                           .queue = lbm_alloc(n, sizeof *b->queue),
                           .moved = lbm_alloc(n, sizeof *b->moved),
                           .best = lbm_alloc(n, sizeof *b->best),
                           .value = lbm_alloc(n, sizeof *b->value)};
    if (b->ws == NULL || b->local == NULL || b->order == NULL || b->hops == NULL || b->queue == NULL ||
        b->moved == NULL || b->best == NULL || b->value == NULL) {
        bisector_close(b);
        return LBM_E_NOMEM;
    }
    for (uint32_t v = 0; v < n; v++)
        b->local[v] = LBM_NONE;
    return LBM_OK;
}

void
bisector_close(struct bisector *b)
{
    lbm_pair_workspace_free(b->ws);
    free(b->local);
    free(b->order);
    free(b->hops);
    free(b->queue);
    free(b->moved);
    free(b->best);
    free(b->value);
    *b = (struct bisector){0};
}

/* ---- orders ----------------------------------------------------------------------------------------- */

/* Centre by work and scale to variance 1: the constant mode would swallow all others. */
static void
normalize(struct bisector *b, const struct group *group)
{
    double mean = 0, square = 0;
    for (uint32_t k = 0; k < group->n; k++)
        mean += lbm_graph_work(b->m->g, group->member[k]) * b->value[k];
    mean /= group->work;
    for (uint32_t k = 0; k < group->n; k++) {
        b->value[k] -= mean;
        square += b->value[k] * b->value[k];
    }
    double scale = 1 / (sqrt(square / group->n) + 1e-30);
    for (uint32_t k = 0; k < group->n; k++)
        b->value[k] *= scale;
}

/* Random values, each moved halfway to the mean of its neighbours in the group, again and again. */
static void
smooth(struct bisector *b, const struct group *group, int rounds)
{
    const struct lbm_graph *g = b->m->g;
    for (uint32_t k = 0; k < group->n; k++)
        b->value[k] = lbm_rng_unit(b->rng) - 0.5;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t k = 0; k < group->n; k++) {
            uint32_t v = group->member[k];
            double weight = 0, sum = 0;
            for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
                uint32_t u = b->local[g->target[e]];
                if (u == LBM_NONE)
                    continue;
                weight += lbm_graph_weight(g, e);
                sum += lbm_graph_weight(g, e) * b->value[u];
            }
            if (weight > 0)
                b->value[k] = 0.5 * (b->value[k] + sum / weight);
        }
        normalize(b, group);
    }
}

/* Hop distances inside the group; members out of reach get the largest distance plus one.
 * Value: a farthest member that is reached. */
static uint32_t
find_hops(struct bisector *b, const struct group *group, uint32_t source, uint32_t *hops)
{
    const struct lbm_graph *g = b->m->g;
    uint32_t head = 0, tail = 0;
    for (uint32_t k = 0; k < group->n; k++)
        hops[k] = LBM_NONE;
    hops[source] = 0;
    b->queue[tail++] = source;
    while (head < tail) {
        uint32_t k = b->queue[head++], v = group->member[k];
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t u = b->local[g->target[e]];
            if (u != LBM_NONE && hops[u] == LBM_NONE) {
                hops[u] = hops[k] + 1;
                b->queue[tail++] = u;
            }
        }
    }
    uint32_t last = b->queue[tail - 1];
    for (uint32_t k = 0; k < group->n; k++)
        hops[k] = hops[k] == LBM_NONE ? hops[last] + 1 : hops[k];
    return last;
}

static void
order_by_hops(struct bisector *b, const struct group *group)
{
    uint32_t *from = b->hops, *to = b->hops + group->n;
    uint32_t a = find_hops(b, group, lbm_rng_below(b->rng, group->n), from);
    uint32_t z = find_hops(b, group, a, from);
    find_hops(b, group, z, to);
    for (uint32_t k = 0; k < group->n; k++)
        b->value[k] = (double)from[k] - (double)to[k] + 1e-3 * lbm_rng_unit(b->rng);
}

struct ranked {
    double value;
    uint32_t place;
};

static int
by_value(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->value != b->value)
        return (a->value > b->value) - (a->value < b->value);
    return (a->place > b->place) - (a->place < b->place);
}

static enum lbm_err
sort_by_value(struct bisector *b, const struct group *group)
{
    struct ranked *ranked = lbm_alloc(group->n, sizeof *ranked);
    if (ranked == NULL)
        return LBM_E_NOMEM;
    for (uint32_t k = 0; k < group->n; k++)
        ranked[k] = (struct ranked){b->value[k], k};
    qsort(ranked, group->n, sizeof *ranked, by_value);
    for (uint32_t k = 0; k < group->n; k++)
        b->order[k] = ranked[k].place;
    free(ranked);
    return LBM_OK;
}

/* ---- divisions -------------------------------------------------------------------------------------- */

/* The first of the order go to p, until it has its share of the work; from the other end if reversed. */
static void
fill(struct bisector *b, const struct group *group, int reversed)
{
    const struct lbm_hosts *h = b->m->h;
    double share = h->capacity[group->p] / (h->capacity[group->p] + h->capacity[group->q]);
    double all = group->work + (double)group->fixed[0] + (double)group->fixed[1];
    double room = share * all - (double)group->fixed[0], used = 0;
    for (uint32_t i = 0; i < group->n; i++) {
        uint32_t v = group->member[b->order[reversed ? group->n - 1 - i : i]];
        double work = lbm_graph_work(b->m->g, v);
        b->m->part[v] = used + work / 2 < room ? group->p : group->q;
        used += work;
    }
}

static void
count_loads(const struct bisector *b, const struct group *group, uint64_t *load)
{
    load[0] = group->fixed[0];
    load[1] = group->fixed[1];
    for (uint32_t k = 0; k < group->n; k++)
        load[b->m->part[group->member[k]] == group->q] += lbm_graph_work(b->m->g, group->member[k]);
}

static enum lbm_err
refine(struct bisector *b, const struct group *group, struct objective *objective)
{
    const struct mapping *m = b->m;
    const struct lbm_graph *g = m->g;
    struct lbm_pair pair = {.g = g,
                            .h = m->h,
                            .part = m->part,
                            .a = group->p,
                            .b = group->q,
                            .member = group->member,
                            .n_members = group->n,
                            .limit = {m->limit[group->p], m->limit[group->q]},
                            .stall_limit = STALL_LIMIT,
                            .workspace = b->ws};
    count_loads(b, group, pair.load);
    enum lbm_err err = LBM_OK;
    int64_t gain = 1;
    for (int i = 0; i < REFINEMENTS && gain != 0 && err == LBM_OK; i++) {
        uint32_t n_moved;
        err = lbm_pair_refine(&pair, b->rng, &gain, b->moved, &n_moved);
    }
    *objective = (struct objective){.excess = lbm_map_excess(2, pair.load, pair.limit)};
    for (uint32_t k = 0; k < group->n; k++) {
        uint32_t v = group->member[k];
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t u = g->target[e];
            uint64_t bytes = (uint64_t)lbm_graph_weight(g, e) * lbm_dist(m->h, m->part[v], m->part[u]);
            /* edges inside the group are met twice */
            objective->hop_bytes += b->local[u] != LBM_NONE ? bytes : 2 * bytes;
        }
    }
    return err;
}

static enum lbm_err
attempt(struct bisector *b, const struct group *group, int reversed, struct outcome *best)
{
    struct objective objective;
    fill(b, group, reversed);
    enum lbm_err err = refine(b, group, &objective);
    if (err == LBM_OK && (!best->any || objective_less(&objective, &best->objective))) {
        *best = (struct outcome){objective, 1};
        for (uint32_t k = 0; k < group->n; k++)
            b->best[k] = b->m->part[group->member[k]];
    }
    return err;
}

enum lbm_err
bisector_divide(struct bisector *b, const uint32_t *member, uint32_t n_members, uint32_t p, uint32_t q,
                const uint64_t *fixed)
{
    struct group group = {.member = member, .n = n_members, .p = p, .q = q, .fixed = fixed};
    struct outcome best = {0};
    enum lbm_err err = LBM_OK;
    if (n_members == 0)
        return LBM_OK;
    for (uint32_t k = 0; k < n_members; k++) {
        b->local[member[k]] = k;
        group.work += lbm_graph_work(b->m->g, member[k]);
    }
    int tries = b->m->quick ? TRIES_QUICK : TRIES;
    for (int i = 0; i < tries && err == LBM_OK && !(i > 0 && mapping_stopped(b->m)); i++) {
        if (i % 2 == 0)
            smooth(b, &group, i == 0 && !b->m->quick ? SMOOTHINGS : SMOOTHINGS_MORE);
        else
            order_by_hops(b, &group);
        err = sort_by_value(b, &group);
        for (int reversed = 0; reversed < 2 && err == LBM_OK; reversed++)
            err = attempt(b, &group, reversed, &best);
    }
    for (uint32_t k = 0; k < n_members; k++) {
        b->local[member[k]] = LBM_NONE;
        if (err == LBM_OK)
            b->m->part[member[k]] = b->best[k];
    }
    return err;
}
