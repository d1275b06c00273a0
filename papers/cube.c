/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantized loads on a hypercube. */
#include "papers/cube.h"

#include <math.h>
#include <stdlib.h>

int
cube_open(struct table_run *t, uint32_t d, struct cube *out)
{
    *out = (struct cube){.d = d, .n = 1u << d};
    if (!net_open(t, &out->net, "hypercube:%u", d))
        return 0;
    uint32_t links = out->net.network.colouring.n_links;
    out->flow = lbm_alloc(links, sizeof *out->flow);
    out->load = lbm_alloc(out->n, sizeof *out->load);
    out->transfer = lbm_alloc(links, sizeof *out->transfer);
    if (out->flow != NULL && out->load != NULL && out->transfer != NULL)
        return 1;
    cube_close(out);
    return table_fail(t, LBM_E_NOMEM);
}

void
cube_close(struct cube *c)
{
    net_close(&c->net);
    free(c->flow);
    free(c->load);
    free(c->transfer);
    *c = (struct cube){0};
}

static void
keep_transfers(struct cube *c, uint32_t round)
{
    const struct lbm_colouring *colouring = &c->net.network.colouring;
    for (uint32_t i = 0; i < colouring->n_links; i++) {
        const struct lbm_link *link = &colouring->link[i];
        double units = c->flow[i];
        if (units == 0.0)
            continue;
        c->transfer[c->n_transfers++] = (struct lbm_transfer){.from = units > 0.0 ? link->p : link->q,
                                                              .to = units > 0.0 ? link->q : link->p,
                                                              .round = round,
                                                              .units = (uint64_t)fabs(units)};
    }
}

enum lbm_err
cube_balance(struct cube *c, enum lbm_policy policy)
{
    struct lbm_rule rule = {
        .policy = policy, .lambda = 0.5, .lambda_numerator = 1, .lambda_denominator = 2, .low = c->low};
    struct lbm_balancer *balancer;
    enum lbm_err err = lbm_balancer_make(&c->net.network, &rule, 1, 1, &balancer);
    if (err != LBM_OK)
        return err;
    c->n_transfers = 0;
    for (uint32_t round = 0; round < c->d; round++) {
        lbm_balancer_step(balancer, c->load, c->flow);
        keep_transfers(c, round);
    }
    lbm_balancer_free(balancer);
    return LBM_OK;
}

double
cube_difference(const struct cube *c)
{
    double least = c->load[0], largest = c->load[0];
    for (uint32_t p = 1; p < c->n; p++) {
        least = fmin(least, c->load[p]);
        largest = fmax(largest, c->load[p]);
    }
    return largest - least;
}

double
cube_time(struct table_run *t, const struct cube *c, enum lbm_schedule schedule, const double *before)
{
    struct lbm_schedule_result result = {0};
    uint64_t *load = lbm_alloc(c->n, sizeof *load);
    enum lbm_err err = load == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t p = 0; p < c->n && err == LBM_OK; p++)
        load[p] = (uint64_t)before[p];
    if (err == LBM_OK)
        err = lbm_schedule_predict(schedule, c->n, load, c->transfer, c->n_transfers, &result);
    free(load);
    if (err == LBM_OK)
        return (double)result.time;
    table_fail(t, err);
    return nan("");
}
