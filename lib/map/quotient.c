/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "map/internal.h"

#include <stdlib.h>
#include <string.h>

/* Rows under construction, and per host what the present row has gathered. */
struct builder {
    LBM_VEC(uint32_t) target;
    LBM_VEC(uint64_t) weight;
    uint32_t *first;   /* [hosts + 1] into order */
    uint32_t *order;   /* [n] vertices by host */
    uint64_t *sum;     /* [hosts] */
    uint32_t *touched; /* [hosts] */
};

static int
by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sort the vertices by host. */
static void
order_by_host(struct builder *b, const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part)
{
    for (uint32_t v = 0; v < g->n; v++)
        b->first[part[v] + 1]++;
    for (uint32_t p = 0; p < n_hosts; p++)
        b->first[p + 1] += b->first[p];
    /* touched serves as the cursors until the rows are made */
    memcpy(b->touched, b->first, n_hosts * sizeof *b->touched);
    for (uint32_t v = 0; v < g->n; v++)
        b->order[b->touched[part[v]]++] = v;
}

static enum lbm_err
add_row(struct builder *b, const struct lbm_graph *g, const uint32_t *part, uint32_t p)
{
    uint32_t n = 0;
    enum lbm_err err = LBM_OK;
    for (uint32_t i = b->first[p]; i < b->first[p + 1]; i++)
        for (uint64_t e = g->offset[b->order[i]]; e < g->offset[b->order[i] + 1]; e++) {
            uint32_t q = part[g->target[e]];
            if (q == p)
                continue;
            if (b->sum[q] == 0)
                b->touched[n++] = q;
            b->sum[q] += lbm_graph_weight(g, e);
        }
    qsort(b->touched, n, sizeof *b->touched, by_id);
    for (uint32_t i = 0; i < n && err == LBM_OK; i++) {
        err = lbm_vec_push(&b->target, b->touched[i]);
        if (err == LBM_OK)
            err = lbm_vec_push(&b->weight, b->sum[b->touched[i]]);
        b->sum[b->touched[i]] = 0;
    }
    return err;
}

enum lbm_err
quotient_build(struct quotient *q, const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part)
{
    enum lbm_err err = LBM_OK;
    struct builder b = {.first = lbm_alloc((size_t)n_hosts + 1, sizeof *b.first),
                        .order = lbm_alloc(g->n, sizeof *b.order),
                        .sum = lbm_alloc(n_hosts, sizeof *b.sum),
                        .touched = lbm_alloc(n_hosts, sizeof *b.touched)};
    *q = (struct quotient){.n = n_hosts, .offset = lbm_alloc((size_t)n_hosts + 1, sizeof *q->offset)};
    if (b.first == NULL || b.order == NULL || b.sum == NULL || b.touched == NULL || q->offset == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        order_by_host(&b, g, n_hosts, part);
    for (uint32_t p = 0; p < n_hosts && err == LBM_OK; p++) {
        err = add_row(&b, g, part, p);
        q->offset[p + 1] = b.target.n;
    }
    q->target = b.target.at;
    q->weight = b.weight.at;
    if (err != LBM_OK)
        quotient_free(q);
    free(b.first);
    free(b.order);
    free(b.sum);
    free(b.touched);
    return err;
}

void
quotient_free(struct quotient *q)
{
    free(q->offset);
    free(q->target);
    free(q->weight);
    *q = (struct quotient){0};
}
