/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/experiment/converge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/generate.h"
#include "node/core/timeouts.h"
#include "space/space.h"

enum {
    JOIN_US = 120 * 1000000,   /* for the last host to be active */
    GIVE_UP_US = 300 * 1000000 /* several times what the most sweeps of a job take */
};

static const int64_t sweep_us = MAPPING_TICK_US / MAPPING_SWEEPS;

/* One run. */
struct converge {
    const struct converge_options *options;
    struct lbm_hosts h;
    struct lbm_graph g;
    struct cluster *cluster;
    double *x; /* [2 g.n] */
};

/* Largest distance from the place in the lattice, in cells. A vertex that is on its way from host to host is
 * where it was last seen. */
static double
error_now(struct converge *c, uint64_t *sweeps)
{
    uint32_t side = c->options->side;
    double largest = 0.0;
    (void)cluster_positions(c->cluster, c->g.n, c->x, sweeps);
    for (uint32_t v = 0; v < c->g.n; v++) {
        double dx = c->x[2 * (size_t)v] * (side - 1) - v % side,
               dy = c->x[2 * (size_t)v + 1] * (side - 1) - v / side;
        largest = fmax(largest, hypot(dx, dy));
    }
    return largest;
}

/* Every vertex is with the host in whose region its place is. */
static enum lbm_err
pin_owners(struct converge *c)
{
    uint32_t side = c->options->side;
    double *equal = lbm_alloc(c->h.n, sizeof *equal);
    struct lbm_regions regions = {.n = c->h.n, .m = 2, .site = c->h.site, .weight = equal};
    c->g.pin = lbm_alloc(c->g.n, sizeof *c->g.pin);
    for (uint32_t v = 0; v < c->g.n && equal != NULL && c->g.pin != NULL; v++) {
        const double x[2] = {(double)(v % side) / (side - 1), (double)(v / side) / (side - 1)};
        c->g.pin[v] = lbm_regions_find(&regions, x, NULL);
    }
    enum lbm_err err = equal == NULL || c->g.pin == NULL ? LBM_E_NOMEM : LBM_OK;
    free(equal);
    return err;
}

static void
set_network(struct converge *c, double delay_sweeps, double loss)
{
    for (uint32_t p = 0; p < c->h.n; p++)
        for (uint32_t q = 0; q < c->h.n; q++)
            if (p != q)
                cluster_lag(c->cluster, p, q, (int64_t)(delay_sweeps * (double)sweep_us));
    cluster_soft_loss(c->cluster, loss, 0);
}

static void
follow(struct converge *c, struct converge_result *r)
{
    const char *text, *invariant = NULL;
    int64_t began = cluster_now(c->cluster);
    do {
        cluster_run(c->cluster, sweep_us, NULL, NULL);
        r->error = error_now(c, &r->sweeps);
        r->converged = r->error <= c->options->cells;
        invariant = cluster_violation(c->cluster, &text);
    } while (!r->converged && invariant == NULL && r->sweeps < MAPPING_SWEEPS_MAX &&
             cluster_now(c->cluster) - began < GIVE_UP_US);
    r->virtual_s = (double)(cluster_now(c->cluster) - began) / 1e6;
    if (invariant != NULL)
        snprintf(r->why, sizeof r->why, "%s: %.180s", invariant, text);
    else if (!r->converged)
        snprintf(r->why, sizeof r->why, "an error of %.3g cells is left", r->error);
}

static void
run(struct converge *c, double delay_sweeps, double loss, struct converge_result *r)
{
    if (!cluster_roll_out(c->cluster, NULL, JOIN_US)) {
        snprintf(r->why, sizeof r->why, "the hosts do not find together");
        return;
    }
    set_network(c, delay_sweeps, loss);
    enum lbm_err err = cluster_submit(c->cluster, 0, "converge", &c->g, LBM_START_CENTRE);
    if (err != LBM_OK)
        snprintf(r->why, sizeof r->why, "the job is not taken: %s", lbm_err_text(err));
    else
        follow(c, r);
}

enum lbm_err
converge_run(const struct converge_options *options, double delay_sweeps, double loss,
             struct converge_result *result, struct lbm_diag *diag)
{
    struct converge c = {.options = options};
    struct cluster_options cluster = {.seed = options->seed,
                                      .delay_least_us = 50,
                                      .delay_most_us = 150,
                                      .sync_us = 200,
                                      .limited_host = LBM_NONE,
                                      .engine = LBM_LOG_ENGINE_LOCAL,
                                      .log_compact_min = 4096,
                                      .unwatched = 1,
                                      .judged = 1};
    char spec[40];
    *result = (struct converge_result){0};
    enum lbm_err err = lbm_hosts_generate(options->hosts, &c.h, diag);
    if (err == LBM_OK && c.h.m != 2)
        err = lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--hosts", 0,
                           "%.60s has sites in space, not in the plane", options->hosts);
    if (err == LBM_OK && c.h.n < 2)
        err = lbm_diag_set(diag, LBM_E_RANGE, "--hosts", 0, "%.60s is one host alone", options->hosts);
    snprintf(spec, sizeof spec, "lattice:%ux%u", options->side, options->side);
    if (err == LBM_OK)
        err = lbm_graph_generate(spec, 1, &c.g, diag);
    if (err == LBM_OK && ((c.x = lbm_alloc(2 * (size_t)c.g.n, sizeof *c.x)) == NULL ||
                          (!options->follow && pin_owners(&c) != LBM_OK)))
        err = lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the lattice");
    for (size_t i = 0; err == LBM_OK && i < 2 * (size_t)c.g.n; i++)
        c.x[i] = 0.5;
    if (err == LBM_OK) {
        cluster.late = c.h.n - 1;
        c.cluster = cluster_new(&c.h, &cluster);
        run(&c, delay_sweeps, loss, result);
        cluster_free(c.cluster);
    }
    free(c.x);
    lbm_hosts_free(&c.h);
    lbm_graph_free(&c.g);
    return err;
}
