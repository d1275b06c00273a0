/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transport of what is too much to where there is room: cheapest paths one after the other, with flows that
 * may be taken back (successive shortest paths, Bellman and Ford's). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/experiment/drift.h"

struct transport {
    const struct lbm_hosts *h;
    double *over, *room; /* [h->n] */
    double *flow;        /* [h->offset[h->n]] over each direction of a link */
    double *far;         /* [h->n] links from the nearest host that has too much */
    uint32_t *back;      /* [h->n] direction by which it was reached; LBM_NONE: it has too much itself */
    uint32_t *reverse;   /* [h->offset[h->n]] the other direction of the same link */
    double little;
};

static uint32_t
source(const struct lbm_hosts *h, uint32_t e)
{
    uint32_t p = 0;
    while (h->offset[p + 1] <= e)
        p++;
    return p;
}

static void
find_ways(struct transport *t)
{
    const struct lbm_hosts *h = t->h;
    for (uint32_t p = 0; p < h->n; p++) {
        t->far[p] = t->over[p] > t->little ? 0 : HUGE_VAL;
        t->back[p] = LBM_NONE;
    }
    int changed = 1;
    for (uint32_t round = 0; round < h->n && changed; round++) {
        changed = 0;
        for (uint32_t p = 0; p < h->n; p++)
            for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++) {
                double far = t->far[p] + (t->flow[t->reverse[e]] > t->little ? -1 : 1);
                if (far >= t->far[h->target[e]] - 1e-9)
                    continue;
                t->far[h->target[e]] = far;
                t->back[h->target[e]] = e;
                changed = 1;
            }
    }
}

/* Send what fits along the way to a host with room. Returns the change of the work over links. */
static double
send(struct transport *t, uint32_t end)
{
    double most = t->room[end], cost = 0;
    uint32_t p = end;
    for (uint32_t e; (e = t->back[p]) != LBM_NONE; p = source(t->h, e))
        if (t->flow[t->reverse[e]] > t->little)
            most = fmin(most, t->flow[t->reverse[e]]);
    most = fmin(most, t->over[p]);
    t->over[p] -= most;
    t->room[end] -= most;
    for (uint32_t e, q = end; (e = t->back[q]) != LBM_NONE; q = source(t->h, e)) {
        int takes_back = t->flow[t->reverse[e]] > t->little;
        t->flow[takes_back ? t->reverse[e] : e] += takes_back ? -most : most;
        cost += takes_back ? -most : most;
    }
    return cost;
}

static double
run(struct transport *t)
{
    double cost = 0;
    for (;;) {
        uint32_t end = LBM_NONE;
        find_ways(t);
        for (uint32_t q = 0; q < t->h->n; q++)
            if (t->room[q] > t->little && t->far[q] < HUGE_VAL &&
                (end == LBM_NONE || t->far[q] < t->far[end]))
                end = q;
        if (end == LBM_NONE)
            return cost;
        cost += send(t, end);
    }
}

enum lbm_err
drift_least_flow(const struct lbm_hosts *h, const double *load, const double *limit, double *out)
{
    uint32_t n = h->n, links = h->offset[n];
    struct transport t = {.h = h,
                          .over = lbm_alloc(n, sizeof *t.over),
                          .room = lbm_alloc(n, sizeof *t.room),
                          .flow = lbm_alloc(links, sizeof *t.flow),
                          .far = lbm_alloc(n, sizeof *t.far),
                          .back = lbm_alloc(n, sizeof *t.back),
                          .reverse = lbm_alloc(links, sizeof *t.reverse)};
    int has_memory = t.over != NULL && t.room != NULL && t.flow != NULL && t.far != NULL && t.back != NULL &&
                     t.reverse != NULL;
    for (uint32_t p = 0; has_memory && p < n; p++) {
        t.over[p] = fmax(0, load[p] - limit[p]);
        t.room[p] = fmax(0, limit[p] - load[p]);
        t.little += 1e-9 * limit[p];
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            for (uint32_t f = h->offset[h->target[e]]; f < h->offset[h->target[e] + 1]; f++)
                if (h->target[f] == p)
                    t.reverse[e] = f;
    }
    if (has_memory)
        *out = run(&t);
    free(t.over);
    free(t.room);
    free(t.flow);
    free(t.far);
    free(t.back);
    free(t.reverse);
    return has_memory ? LBM_OK : LBM_E_NOMEM;
}
