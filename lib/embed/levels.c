/* Levels: heavy-edge matching by the rating w_e^2 / (w_u w_v), leaves of one neighbour matched two hops
 * apart, contraction. Deterministic from the random stream. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "embed/embed.h"

/* What may be matched: equal part, equal pin, not too heavy together. */
struct matching {
    const struct lbm_graph *g;
    const uint32_t *part;
    uint64_t max_work;
    uint32_t *order; /* [n] */
    uint32_t *mate;  /* [n] LBM_NONE: not matched yet */
};

static int
fits(const struct matching *m, uint32_t u, uint32_t v)
{
    if (m->part != NULL && m->part[u] != m->part[v])
        return 0;
    if (m->g->pin != NULL && m->g->pin[u] != m->g->pin[v])
        return 0;
    return (uint64_t)lbm_graph_work(m->g, u) + lbm_graph_work(m->g, v) <= m->max_work;
}

static void
match_edges(struct matching *m, struct lbm_rng *rng)
{
    const struct lbm_graph *g = m->g;
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t v = m->order[i], best = v;
        double most = -1;
        if (m->mate[v] != LBM_NONE)
            continue;
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
            uint32_t u = g->target[e];
            if (m->mate[u] != LBM_NONE || !fits(m, u, v))
                continue;
            double w = lbm_graph_weight(g, e);
            double rating = w * w / ((double)lbm_graph_work(g, u) * lbm_graph_work(g, v));
            rating *= 1 + 1e-3 * lbm_rng_unit(rng); /* ties by chance */
            if (rating > most) {
                most = rating;
                best = u;
            }
        }
        m->mate[v] = best;
        m->mate[best] = v;
    }
}

/* Vertices left alone are paired through their heaviest neighbour: stars and trees shrink too.
 * waiting [n] is scratch: the lone vertex that waits at a neighbour. */
static void
match_leaves(struct matching *m, uint32_t *waiting)
{
    const struct lbm_graph *g = m->g;
    memset(waiting, 0xff, g->n * sizeof *waiting);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t v = m->order[i], hub = LBM_NONE, most = 0;
        if (m->mate[v] != v)
            continue;
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            if (lbm_graph_weight(g, e) > most) {
                most = lbm_graph_weight(g, e);
                hub = g->target[e];
            }
        if (hub == LBM_NONE)
            continue;
        uint32_t u = waiting[hub];
        if (u != LBM_NONE && m->mate[u] == u && fits(m, u, v)) {
            m->mate[u] = v;
            m->mate[v] = u;
            waiting[hub] = LBM_NONE;
        } else {
            waiting[hub] = v;
        }
    }
}

/* ---- contraction -------------------------------------------------------------------------------------- */

/* Number coarse vertices in order of their first fine vertex. */
static uint32_t
number(const struct matching *m, uint32_t *parent)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->g->n; v++)
        parent[v] = m->mate[v] < v ? parent[m->mate[v]] : n++;
    return n;
}

static int
by_target(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sort one coarse row by target. Rows are short: insertion, and qsort for the rare long ones. */
static enum lbm_err
sort_row(uint32_t *target, uint32_t *weight, size_t n)
{
    if (n <= 48) {
        for (size_t i = 1; i < n; i++) {
            uint32_t t = target[i], w = weight[i];
            size_t k = i;
            for (; k > 0 && target[k - 1] > t; k--) {
                target[k] = target[k - 1];
                weight[k] = weight[k - 1];
            }
            target[k] = t;
            weight[k] = w;
        }
        return LBM_OK;
    }
    uint64_t *both = lbm_alloc(n, sizeof *both);
    if (both == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        both[i] = (uint64_t)target[i] << 32 | weight[i];
    qsort(both, n, sizeof *both, by_target);
    for (size_t i = 0; i < n; i++) {
        target[i] = (uint32_t)(both[i] >> 32);
        weight[i] = (uint32_t)both[i];
    }
    free(both);
    return LBM_OK;
}

/* Add the row of fine vertex v to the coarse row that starts at `start`. place[u] is where target u stands. */
static uint64_t
add_row(const struct lbm_graph *g, const uint32_t *parent, uint32_t v, uint64_t start, uint64_t at,
        struct lbm_graph *coarse, uint64_t *place)
{
    uint32_t self = parent[v];
    for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++) {
        uint32_t u = parent[g->target[e]];
        uint64_t w = lbm_graph_weight(g, e);
        if (u == self)
            continue;
        uint64_t known = place[u];
        if (known >= start && known < at && coarse->target[known] == u) {
            w += coarse->weight[known];
            coarse->weight[known] = w < LBM_WEIGHT_MAX ? (uint32_t)w : LBM_WEIGHT_MAX;
        } else {
            coarse->target[at] = u;
            coarse->weight[at] = (uint32_t)w;
            place[u] = at++;
        }
    }
    return at;
}

static enum lbm_err
contract(const struct matching *m, const uint32_t *parent, uint32_t n, struct lbm_graph *out)
{
    const struct lbm_graph *g = m->g;
    uint64_t directions = lbm_graph_directions(g);
    struct lbm_graph c = {.n = n,
                          .offset = lbm_alloc((size_t)n + 1, sizeof *c.offset),
                          .target = malloc((directions + 1) * sizeof *c.target),
                          .weight = malloc((directions + 1) * sizeof *c.weight),
                          .work = lbm_alloc(n, sizeof *c.work),
                          .pin = g->pin != NULL ? lbm_alloc(n, sizeof *c.pin) : NULL};
    uint64_t *place = lbm_alloc(n, sizeof *place), at = 0;
    enum lbm_err err = c.offset == NULL || c.target == NULL || c.weight == NULL || c.work == NULL ||
                               place == NULL || (g->pin != NULL && c.pin == NULL)
                           ? LBM_E_NOMEM
                           : LBM_OK;
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        if (m->mate[v] < v)
            continue; /* comes with its mate */
        uint32_t self = parent[v];
        uint64_t start = at;
        at = add_row(g, parent, v, start, at, &c, place);
        c.work[self] = lbm_graph_work(g, v);
        if (m->mate[v] != v) {
            at = add_row(g, parent, m->mate[v], start, at, &c, place);
            c.work[self] += lbm_graph_work(g, m->mate[v]);
        }
        if (c.pin != NULL)
            c.pin[self] = g->pin[v];
        c.offset[self + 1] = at;
        err = sort_row(&c.target[start], &c.weight[start], at - start);
    }
    free(place);
    if (err != LBM_OK) {
        lbm_graph_free(&c);
        return err;
    }
    uint32_t *target = realloc(c.target, (at + 1) * sizeof *target);
    uint32_t *weight = realloc(c.weight, (at + 1) * sizeof *weight);
    c.target = target != NULL ? target : c.target;
    c.weight = weight != NULL ? weight : c.weight;
    *out = c;
    return LBM_OK;
}

/* One level up. Out: coarse, parent [n] and, if part is not NULL, *coarse_part, all owned by the caller.
 * A level that shrinks by less than 5 % is not kept: *out_n is 0. */
static enum lbm_err
coarsen(const struct lbm_graph *g, const uint32_t *part, uint64_t max_work, struct lbm_rng *rng,
        struct lbm_graph *coarse, uint32_t **parent_out, uint32_t **coarse_part, int *shrunk)
{
    struct matching m = {.g = g, .part = part, .max_work = max_work < LBM_WEIGHT_MAX ? max_work : LBM_WEIGHT_MAX};
    uint32_t *parent = lbm_alloc(g->n, sizeof *parent), *scratch = lbm_alloc(g->n, sizeof *scratch);
    m.order = lbm_alloc(g->n, sizeof *m.order);
    m.mate = lbm_alloc(g->n, sizeof *m.mate);
    enum lbm_err err = parent == NULL || scratch == NULL || m.order == NULL || m.mate == NULL ? LBM_E_NOMEM : LBM_OK;
    *shrunk = 0;
    if (err == LBM_OK) {
        for (uint32_t v = 0; v < g->n; v++)
            m.order[v] = v;
        lbm_rng_shuffle(rng, m.order, g->n);
        memset(m.mate, 0xff, g->n * sizeof *m.mate);
        match_edges(&m, rng);
        match_leaves(&m, scratch);
        uint32_t n = number(&m, parent);
        *shrunk = n <= 0.95 * g->n;
        if (*shrunk)
            err = contract(&m, parent, n, coarse);
        if (err == LBM_OK && *shrunk && part != NULL) {
            *coarse_part = lbm_alloc(n, sizeof **coarse_part);
            for (uint32_t v = 0; *coarse_part != NULL && v < g->n; v++)
                (*coarse_part)[parent[v]] = part[v];
            if (*coarse_part == NULL) {
                lbm_graph_free(coarse);
                err = LBM_E_NOMEM;
            }
        }
    }
    free(scratch);
    free(m.order);
    free(m.mate);
    if (err == LBM_OK && *shrunk)
        *parent_out = parent;
    else
        free(parent);
    return err;
}

void
lbm_levels_free(struct lbm_levels *levels)
{
    for (uint32_t l = 1; l < levels->n; l++) {
        lbm_graph_free(&levels->graph[l]);
        free(levels->parent[l - 1]);
    }
    free(levels->graph);
    free(levels->parent);
    *levels = (struct lbm_levels){0};
}

enum lbm_err
lbm_levels_build(const struct lbm_graph *g, const uint32_t *part, uint32_t target, uint64_t max_work,
                 struct lbm_rng *rng, struct lbm_levels *out)
{
    enum { LEVELS_MAX = 512 }; /* 0.95^512 of 10^9 is less than one vertex */
    struct lbm_levels levels = {.n = 1,
                                .graph = lbm_alloc(LEVELS_MAX, sizeof *levels.graph),
                                .parent = lbm_alloc(LEVELS_MAX, sizeof *levels.parent)};
    uint32_t *own_part = NULL;
    if (levels.graph == NULL || levels.parent == NULL) {
        free(levels.graph);
        free(levels.parent);
        return LBM_E_NOMEM;
    }
    levels.graph[0] = *g;
    enum lbm_err err = LBM_OK;
    int shrunk = 1;
    while (err == LBM_OK && shrunk && levels.graph[levels.n - 1].n > target && levels.n < LEVELS_MAX) {
        uint32_t *next = NULL;
        err = coarsen(&levels.graph[levels.n - 1], part, max_work, rng, &levels.graph[levels.n],
                      &levels.parent[levels.n - 1], &next, &shrunk);
        if (err != LBM_OK || !shrunk)
            break;
        levels.n++;
        if (part != NULL) {
            free(own_part);
            part = own_part = next;
        }
    }
    free(own_part);
    if (err != LBM_OK) {
        lbm_levels_free(&levels);
        return err;
    }
    *out = levels;
    return LBM_OK;
}
