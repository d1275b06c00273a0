/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange of whole parts between hosts: descent on the quadratic assignment problem of the quotient graph.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "map/internal.h"

enum {
    PASSES_MAX = 20,      /* each pass lowers J; few are ever needed */
    ALL_PAIRS_MAX = 256,  /* hosts up to which every pair is tried */
    LINKS_TRIED_MAX = 16, /* of a host, above that */
};

struct swapper {
    const struct mapping *m;
    struct quotient quotient; /* of the parts as they were */
    uint64_t *load;           /* [parts] */
    uint32_t *host;           /* [parts] host of each part now */
    uint32_t *part_on;        /* [hosts] its inverse */
    uint8_t *bound;           /* [parts] holds a pinned vertex */
};

/* Change of J over the edges of part i, but those to j, if it went to host q. */
static int64_t
change(const struct swapper *s, uint32_t i, uint32_t j, uint32_t q)
{
    const struct lbm_hosts *h = s->m->h;
    const struct quotient *quotient = &s->quotient;
    int64_t sum = 0;
    for (uint64_t e = quotient->offset[i]; e < quotient->offset[i + 1]; e++) {
        uint32_t k = quotient->target[e];
        if (k != j)
            sum += (int64_t)quotient->weight[e] *
                   ((int64_t)lbm_dist(h, q, s->host[k]) - (int64_t)lbm_dist(h, s->host[i], s->host[k]));
    }
    return sum;
}

/* Unequal capacities: neither part may come over a limit it does not exceed already. */
static int
may_swap(const struct swapper *s, uint32_t i, uint32_t j)
{
    const uint64_t *limit = s->m->limit;
    uint32_t p = s->host[i], q = s->host[j];
    return !s->bound[i] && !s->bound[j] && (s->load[i] <= limit[q] || limit[q] >= limit[p]) &&
           (s->load[j] <= limit[p] || limit[p] >= limit[q]);
}

/* Exchange two parts if J falls. Value: whether it did. */
static int
try_swap(struct swapper *s, uint32_t i, uint32_t j)
{
    uint32_t p = s->host[i], q = s->host[j];
    if (i == j || !may_swap(s, i, j) || change(s, i, j, q) + change(s, j, i, p) >= 0)
        return 0;
    s->host[i] = q;
    s->host[j] = p;
    s->part_on[q] = i;
    s->part_on[p] = j;
    return 1;
}

/* Exchanges of part i with parts next to those it talks to: where else would it want to be. */
static int
try_near(struct swapper *s, uint32_t i)
{
    const struct lbm_hosts *h = s->m->h;
    int any = 0;
    for (uint64_t e = s->quotient.offset[i]; e < s->quotient.offset[i + 1]; e++) {
        uint32_t neighbour = s->host[s->quotient.target[e]], first = h->offset[neighbour],
                 end = h->offset[neighbour + 1];
        for (uint32_t l = first; l < end && l < first + LINKS_TRIED_MAX; l++)
            any |= try_swap(s, i, s->part_on[h->target[l]]);
    }
    return any;
}

/* Value: whether anything was exchanged. */
static int
run_pass(struct swapper *s)
{
    int any = 0;
    for (uint32_t i = 0; i < s->m->h->n; i++)
        if (s->m->h->n > ALL_PAIRS_MAX)
            any |= try_near(s, i);
        else
            for (uint32_t j = 0; j < i; j++)
                any |= try_swap(s, i, j);
    return any;
}

enum lbm_err
map_swap(const struct mapping *m)
{
    uint32_t n_hosts = m->h->n;
    struct swapper s = {.m = m,
                        .load = lbm_alloc(n_hosts, sizeof *s.load),
                        .host = lbm_alloc(n_hosts, sizeof *s.host),
                        .part_on = lbm_alloc(n_hosts, sizeof *s.part_on),
                        .bound = lbm_alloc(n_hosts, 1)};
    enum lbm_err err =
        s.load == NULL || s.host == NULL || s.part_on == NULL || s.bound == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK)
        err = quotient_build(&s.quotient, m->g, n_hosts, m->part);
    if (err == LBM_OK) {
        lbm_map_loads(m->g, n_hosts, m->part, s.load);
        for (uint32_t p = 0; p < n_hosts; p++)
            s.host[p] = s.part_on[p] = p;
        for (uint32_t v = 0; v < m->g->n; v++)
            s.bound[m->part[v]] |= (uint8_t)mapping_pinned(m, v);
        for (int pass = 0; pass < PASSES_MAX && run_pass(&s); pass++)
            if (mapping_stopped(m))
                break;
        for (uint32_t v = 0; v < m->g->n; v++)
            m->part[v] = s.host[m->part[v]];
    }
    free(s.load);
    free(s.host);
    free(s.part_on);
    free(s.bound);
    quotient_free(&s.quotient);
    return err;
}
