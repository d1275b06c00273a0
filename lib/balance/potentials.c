/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hu and Blake 1999: potentials x with L x = load - balanced load; the flow of a link is the difference of
 * the potentials at its ends, and no flow that levels the loads has a smaller sum of squares. A step is one
 * of conjugate gradients: a product with L, for which neighbours suffice, and sums over all hosts. Its part
 * of the flow is carried at once, so that the loads of a step are the residual. */
#include <math.h>
#include <stdlib.h>

#include "balance/internal.h"

static void
begin(struct lbm_balancer *b, const double *load)
{
    uint32_t n = b->net->h->n;
    double sum = 0.0;
    for (uint32_t p = 0; p < n; p++)
        sum += load[p];
    b->rho = 0.0;
    for (uint32_t p = 0; p < n; p++) {
        b->residual[p] = load[p] - b->net->share[p] * sum / n;
        b->direction[p] = b->residual[p];
        b->rho += b->residual[p] * b->residual[p];
    }
}

void
lbm_step_potentials(struct lbm_balancer *b, double *load, double *flow)
{
    const struct lbm_colouring *c = &b->net->colouring;
    uint32_t n = b->net->h->n;
    double curvature = 0.0, last = b->rho;
    if (b->t == 0)
        begin(b, load);
    last = b->rho;
    b->talks = c->n_links + (n - 1); /* the tree tells every host both ways */
    for (uint32_t p = 0; p < n; p++)
        b->image[p] = 0.0;
    for (uint32_t i = 0; i < c->n_links; i++) {
        double difference = b->direction[c->link[i].p] - b->direction[c->link[i].q];
        curvature += difference * difference;
        b->image[c->link[i].p] += difference;
        b->image[c->link[i].q] -= difference;
    }
    if (!(curvature > 0.0))
        return;
    double length = b->rho / curvature;
    for (uint32_t i = 0; i < c->n_links; i++) {
        flow[i] = length * (b->direction[c->link[i].p] - b->direction[c->link[i].q]);
        lbm_carry(load, &c->link[i], flow[i]);
    }
    b->rho = 0.0;
    for (uint32_t p = 0; p < n; p++) {
        b->residual[p] -= length * b->image[p];
        b->rho += b->residual[p] * b->residual[p];
    }
    for (uint32_t p = 0; p < n; p++)
        b->direction[p] = b->residual[p] + b->rho / last * b->direction[p];
}

/* ---- sums over all hosts ------------------------------------------------------------------------- */

/* A tree of shortest ways. */
struct tree {
    const struct lbm_hosts *h;
    uint32_t *order, *parent, *hops; /* [n] as visited */
    uint32_t *rounds;                /* [n] to tell all below, one at a time */
    uint32_t *below;                 /* [n] of the children of one host */
};

static void
grow(struct tree *t, uint32_t root)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < t->h->n; p++)
        t->parent[p] = LBM_NONE;
    t->parent[root] = root;
    t->hops[root] = 0;
    t->order[n++] = root;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = t->h->offset[t->order[k]]; i < t->h->offset[t->order[k] + 1]; i++)
            if (t->parent[t->h->target[i]] == LBM_NONE) {
                t->parent[t->h->target[i]] = t->order[k];
                t->hops[t->h->target[i]] = t->hops[t->order[k]] + 1;
                t->order[n++] = t->h->target[i];
            }
}

static int
falling(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* One port: a host tells the child first that has most to do. */
static uint32_t
rounds_of_tree(struct tree *t)
{
    for (uint32_t k = t->h->n; k-- > 0;) {
        uint32_t p = t->order[k], children = 0;
        for (uint32_t i = t->h->offset[p]; i < t->h->offset[p + 1]; i++)
            if (t->parent[t->h->target[i]] == p && t->h->target[i] != p)
                t->below[children++] = t->rounds[t->h->target[i]];
        qsort(t->below, children, sizeof *t->below, falling);
        t->rounds[p] = 0;
        for (uint32_t i = 0; i < children; i++)
            t->rounds[p] = t->below[i] + i + 1 > t->rounds[p] ? t->below[i] + i + 1 : t->rounds[p];
    }
    return t->rounds[t->order[0]];
}

enum lbm_err
lbm_sum_rounds(const struct lbm_hosts *h, double rounds[2])
{
    struct tree t = {.h = h,
                     .order = lbm_alloc(h->n, sizeof(uint32_t)),
                     .parent = lbm_alloc(h->n, sizeof(uint32_t)),
                     .hops = lbm_alloc(h->n, sizeof(uint32_t)),
                     .rounds = lbm_alloc(h->n, sizeof(uint32_t)),
                     .below = lbm_alloc(h->n, sizeof(uint32_t))};
    enum lbm_err err = t.order && t.parent && t.hops && t.rounds && t.below ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK && h->n > 1) {
        uint32_t last = h->n - 1;
        grow(&t, 0);
        grow(&t, t.order[last]); /* from one end to the other, and back to the middle */
        uint32_t middle = t.order[last];
        for (uint32_t up = t.hops[middle] / 2; up > 0; up--)
            middle = t.parent[middle];
        grow(&t, middle);
        rounds[LBM_PORTS_ALL] = 2.0 * t.hops[t.order[last]];
        rounds[LBM_PORTS_ONE] = 2.0 * rounds_of_tree(&t);
    } else if (err == LBM_OK) {
        rounds[LBM_PORTS_ALL] = rounds[LBM_PORTS_ONE] = 0.0;
    }
    free(t.order);
    free(t.parent);
    free(t.hops);
    free(t.rounds);
    free(t.below);
    return err;
}
