/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Measured communication: what vertices say to each other becomes the weights of their edges, by changes of
 * the guest as a program makes them itself. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "api/call.h"
#include "api/serve.h"
#include "api/sketch.h"
#include "base/mem.h"
#include "lbmap.h"

enum {
    EDGES_AT_ONCE = 256,
    REFUSALS_MAX = 64, /* of one call: what moves just now can wait for the next */
};

/* An edge whose weight is to change. */
struct novelty {
    struct lbm_counter *counter;
    uint64_t token; /* of the counter's vertex */
    uint32_t weight;
};

struct news {
    struct lbmap *map;
    LBM_VEC(struct novelty) list;
    unsigned refusals;
};

enum lbmap_error
lbmap_count(struct lbmap *map, uint32_t vertex, uint32_t other, double amount)
{
    if (map->service == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (!isfinite(amount) || amount < 0)
        return (enum lbmap_error)lbm_api_fail(
            map, LBM_E_RANGE, "vertices %u and %u: an amount is not negative, and finite", vertex, other);
    if (vertex >= other) /* the other end counts, or nobody: a vertex has no edge to itself */
        return LBMAP_OK;
    if (map->talk == NULL && (map->talk = lbm_alloc(1, sizeof *map->talk)) == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_NOMEM, "no memory for counters");
    lbm_sketch_add(map->talk, vertex, other, amount, lbm_api_now_ms());
    return LBMAP_OK;
}

static int
compare_novelties(const void *a, const void *b)
{
    const struct lbm_counter *x = ((const struct novelty *)a)->counter,
                             *y = ((const struct novelty *)b)->counter;
    if (x->vertex != y->vertex)
        return x->vertex < y->vertex ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* Counters of vertices that have left are of no use here any more: who has them now counts. */
static enum lbm_err
find_news(struct news *news, double unit)
{
    struct lbm_sketch *sketch = news->map->talk;
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < LBM_SKETCH_COUNTERS && err == LBM_OK; i++) {
        struct lbm_counter *counter = &sketch->counter[i];
        if (counter->vertex == counter->other)
            continue;
        struct novelty novelty = {counter, lbm_api_serve_token(news->map, counter->vertex),
                                  lbm_sketch_weight(counter, unit)};
        if (novelty.token == 0)
            lbm_sketch_clear(counter);
        else if (novelty.weight != counter->told)
            err = lbm_vec_push(&news->list, novelty);
    }
    if (err == LBM_OK && news->list.n > 1)
        qsort(news->list.at, news->list.n, sizeof *news->list.at, compare_novelties);
    return err;
}

static enum lbmap_error
change(struct lbmap *map, const struct novelty *list, size_t n)
{
    struct lbmap_vertex_change vertex[EDGES_AT_ONCE];
    struct lbmap_edge_change edge[EDGES_AT_ONCE];
    size_t n_vertices = 0;
    for (size_t i = 0; i < n; i++) {
        const struct lbm_counter *counter = list[i].counter;
        if (i == 0 || counter->vertex != list[i - 1].counter->vertex)
            vertex[n_vertices++] =
                (struct lbmap_vertex_change){.vertex = counter->vertex, .token = list[i].token};
        edge[i] = (struct lbmap_edge_change){counter->vertex, counter->other, list[i].weight};
    }
    return lbmap_change(map, vertex, n_vertices, edge, n);
}

/* Tell all of these, or find out by halves which cannot be told: a vertex that moves or has just changed is
 * told of the next time; one that is not held any more, or an end that does not exist, is forgotten. */
static enum lbmap_error
tell(struct news *news, const struct novelty *list, size_t n)
{
    enum lbmap_error err = change(news->map, list, n);
    if (err == LBMAP_OK) {
        for (size_t i = 0; i < n; i++)
            list[i].counter->told = list[i].weight;
        return LBMAP_OK;
    }
    if (err != LBMAP_E_BUSY && err != LBMAP_E_STATE && err != LBMAP_E_RANGE && err != LBMAP_E_LIMIT)
        return err;
    if (++news->refusals >= REFUSALS_MAX)
        return LBMAP_OK;
    if (n == 1) {
        if (err != LBMAP_E_BUSY)
            lbm_sketch_clear(list->counter);
        return LBMAP_OK;
    }
    err = tell(news, list, n / 2);
    return err == LBMAP_OK ? tell(news, list + n / 2, n - n / 2) : err;
}

enum lbmap_error
lbmap_follow_counts(struct lbmap *map, double unit)
{
    struct news news = {.map = map};
    if (map->service == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    if (!isfinite(unit) || unit <= 0)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_RANGE, "a unit is more than 0, and finite");
    if (map->talk == NULL || map->fd < 0)
        return LBMAP_OK; /* nothing was counted, or the daemon is away: the next call tells */
    lbm_sketch_measure(map->talk, lbm_api_now_ms());
    enum lbm_err found = find_news(&news, unit);
    enum lbmap_error err = LBMAP_OK;
    if (found != LBM_OK)
        err = (enum lbmap_error)lbm_api_fail(map, found, "no memory for %zu edges", news.list.n);
    for (size_t at = 0, n; at < news.list.n && err == LBMAP_OK && news.refusals < REFUSALS_MAX; at += n) {
        n = news.list.n - at < EDGES_AT_ONCE ? news.list.n - at : EDGES_AT_ONCE;
        err = tell(&news, &news.list.at[at], n);
    }
    lbm_vec_free(&news.list);
    return err;
}
