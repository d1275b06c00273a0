/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures of flows, and the flow of least squares. */
#include "balance/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Residuals below this part of the excess are rounding. */
static const double ROUNDING = 1e-14;

void
lbm_flow_measure(const double *flow, uint32_t n_links, struct lbm_flow_size *out)
{
    struct lbm_flow_size size = {0};
    double square = 0.0;
    for (uint32_t i = 0; i < n_links; i++) {
        size.sum += fabs(flow[i]);
        square += flow[i] * flow[i];
        size.busiest = fmax(size.busiest, fabs(flow[i]));
    }
    size.root = sqrt(square);
    *out = size;
}

/* ---- least squares ------------------------------------------------------------------------------- */

struct gradients {
    const struct lbm_colouring *c;
    double *residual, *direction, *image, *potential; /* [n_hosts] */
};

static double
dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < n; p++)
        sum += a[p] * b[p];
    return sum;
}

/* to = L from. */
static void
apply_laplacian(const struct lbm_colouring *c, const double *from, double *to)
{
    memset(to, 0, c->n_hosts * sizeof *to);
    for (uint32_t i = 0; i < c->n_links; i++) {
        double difference = from[c->link[i].p] - from[c->link[i].q];
        to[c->link[i].p] += difference;
        to[c->link[i].q] -= difference;
    }
}

/* L is singular, its null vector constant: the sum of the residual must stay 0. */
static void
take_mean_out(double *x, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < n; p++)
        sum += x[p];
    for (uint32_t p = 0; p < n; p++)
        x[p] -= sum / n;
}

static void
solve(struct gradients *g)
{
    uint32_t n = g->c->n_hosts;
    take_mean_out(g->residual, n);
    double rho = dot(g->residual, g->residual, n), enough = rho * ROUNDING * ROUNDING;
    memcpy(g->direction, g->residual, n * sizeof *g->direction);
    for (uint64_t t = 0; rho > enough && t < 4 * (uint64_t)n + 100; t++) {
        apply_laplacian(g->c, g->direction, g->image);
        double curvature = dot(g->direction, g->image, n);
        if (!(curvature > 0.0))
            return;
        double length = rho / curvature, last = rho;
        for (uint32_t p = 0; p < n; p++) {
            g->potential[p] += length * g->direction[p];
            g->residual[p] -= length * g->image[p];
        }
        take_mean_out(g->residual, n);
        rho = dot(g->residual, g->residual, n);
        for (uint32_t p = 0; p < n; p++)
            g->direction[p] = g->residual[p] + rho / last * g->direction[p];
    }
}

enum lbm_err
lbm_flow_least_root(const struct lbm_colouring *c, const double *excess, double *flow)
{
    struct gradients g = {.c = c,
                          .residual = lbm_copy(excess, c->n_hosts, sizeof *excess),
                          .direction = lbm_alloc(c->n_hosts, sizeof(double)),
                          .image = lbm_alloc(c->n_hosts, sizeof(double)),
                          .potential = lbm_alloc(c->n_hosts, sizeof(double))};
    enum lbm_err err = g.residual && g.direction && g.image && g.potential ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        solve(&g);
        for (uint32_t i = 0; i < c->n_links; i++)
            flow[i] = g.potential[c->link[i].p] - g.potential[c->link[i].q];
    }
    free(g.residual);
    free(g.direction);
    free(g.image);
    free(g.potential);
    return err;
}

enum lbm_err
lbm_flow_least(const struct lbm_colouring *c, const double *excess, struct lbm_flow_size *out)
{
    if (c->n_hosts > LBM_FLOW_HOSTS_MAX)
        return LBM_E_LIMIT;
    struct lbm_flow_size least = {0}, size;
    double *flow = lbm_alloc(c->n_links, sizeof *flow);
    enum lbm_err err = flow == NULL ? LBM_E_NOMEM : lbm_flow_least_root(c, excess, flow);
    if (err == LBM_OK) {
        lbm_flow_measure(flow, c->n_links, &size);
        least.root = size.root;
        err = lbm_flow_least_sum(c, excess, flow);
    }
    if (err == LBM_OK) {
        lbm_flow_measure(flow, c->n_links, &size);
        least.sum = size.sum;
        err = lbm_flow_least_busiest(c, excess, flow);
    }
    if (err == LBM_OK) {
        lbm_flow_measure(flow, c->n_links, &size);
        least.busiest = size.busiest;
        *out = least;
    }
    free(flow);
    return err;
}
