/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flows with the least sum, and with the least on the busiest link. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/flow.h"
#include "balance/maxflow.h"
#include "base/mem.h"

enum { CUTS_MAX = 200 }; /* Newton's method needs fewer than ten; ends it if rounding does not */

/* ---- the least sum ------------------------------------------------------------------------------- */

/* Lengths of shortest ways from the hosts with too much, where a link costs 1 a unit, and -1 against what it
 * carries (that is taken back). No circle is negative while the flow has the least sum for what was sent. */
struct ways {
    struct lbm_maxflow m;
    double *flow;    /* [n_links] */
    int64_t *length; /* [n_hosts] */
    uint8_t *waiting;
    uint32_t *queue; /* a ring [n_hosts] */
    uint8_t *ends;   /* [n_hosts] the nearest that need */
};

static int64_t
cost_of(const struct ways *w, uint32_t arc)
{
    double against = arc % 2 == 0 ? -w->flow[arc / 2] : w->flow[arc / 2];
    return against > w->m.rounding ? -1 : 1;
}

static void
find_lengths(struct ways *w)
{
    const struct lbm_maxflow *m = &w->m;
    uint32_t n = m->c->n_hosts, at = 0, waiting = 0;
    for (uint32_t p = 0; p < n; p++) {
        w->waiting[p] = m->left[p] > m->rounding;
        w->length[p] = w->waiting[p] ? 0 : INT64_MAX;
        if (w->waiting[p])
            w->queue[waiting++] = p;
    }
    while (waiting > 0) {
        uint32_t p = w->queue[at];
        at = (at + 1) % n;
        waiting--;
        w->waiting[p] = 0;
        for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++) {
            const struct lbm_link *link = &m->c->link[m->arc[i] / 2];
            uint32_t q = m->arc[i] % 2 == 0 ? link->q : link->p;
            int64_t length = w->length[p] + cost_of(w, m->arc[i]);
            if (length >= w->length[q])
                continue;
            w->length[q] = length;
            if (!w->waiting[q]) {
                w->queue[(at + waiting++) % n] = q;
                w->waiting[q] = 1;
            }
        }
    }
}

/* The hosts that need and are nearest.  Returns how many. */
static uint32_t
find_ends(struct ways *w)
{
    uint32_t n = 0;
    int64_t nearest = INT64_MAX;
    for (uint32_t p = 0; p < w->m.c->n_hosts; p++)
        if (w->m.left[p] < -w->m.rounding && w->length[p] < nearest)
            nearest = w->length[p];
    for (uint32_t p = 0; p < w->m.c->n_hosts; p++) {
        w->ends[p] = w->m.left[p] < -w->m.rounding && w->length[p] == nearest && nearest < INT64_MAX;
        n += w->ends[p];
    }
    return n;
}

/* Room along shortest ways alone: without bound forward, back what was sent. */
static void
open_links(struct ways *w)
{
    const struct lbm_colouring *c = w->m.c;
    for (uint32_t i = 0; i < c->n_links; i++) {
        int64_t rise = w->length[c->link[i].q] - w->length[c->link[i].p];
        w->m.room[2 * i] = w->m.room[2 * i + 1] = 0.0;
        if (rise == 1) {
            w->m.room[2 * i] = HUGE_VAL;
            w->m.room[2 * i + 1] = fmax(w->flow[i], 0.0);
        } else if (rise == -1) {
            w->m.room[2 * i + 1] = HUGE_VAL;
            w->m.room[2 * i] = fmax(-w->flow[i], 0.0);
        }
    }
}

static void
take_flow(struct ways *w)
{
    for (uint32_t i = 0; i < w->m.c->n_links; i++)
        if (isinf(w->m.room[2 * i]))
            w->flow[i] = w->m.room[2 * i + 1];
        else if (isinf(w->m.room[2 * i + 1]))
            w->flow[i] = -w->m.room[2 * i];
}

enum lbm_err
lbm_flow_least_sum(const struct lbm_colouring *c, const double *excess, double *flow)
{
    struct ways w = {.flow = flow,
                     .length = lbm_alloc(c->n_hosts, sizeof *w.length),
                     .waiting = lbm_alloc(c->n_hosts, 1),
                     .queue = lbm_alloc(c->n_hosts, sizeof *w.queue),
                     .ends = lbm_alloc(c->n_hosts, 1)};
    enum lbm_err err =
        w.length && w.waiting && w.queue && w.ends ? lbm_maxflow_make(c, excess, &w.m) : LBM_E_NOMEM;
    if (err == LBM_OK) {
        memset(flow, 0, c->n_links * sizeof *flow);
        for (find_lengths(&w); find_ends(&w) > 0; find_lengths(&w)) {
            open_links(&w);
            lbm_maxflow_run(&w.m, w.ends);
            take_flow(&w);
        }
    }
    lbm_maxflow_free(&w.m);
    free(w.length);
    free(w.waiting);
    free(w.queue);
    free(w.ends);
    return err;
}

/* ---- the least on the busiest link --------------------------------------------------------------- */

/* The load that a set of hosts must send out, over the links that it has for that. */
static double
demand_of_cut(const struct lbm_maxflow *m, const double *excess)
{
    const struct lbm_colouring *c = m->c;
    double sum = 0.0, links = 0.0;
    for (uint32_t p = 0; p < c->n_hosts; p++)
        if (m->hops[p] != LBM_NONE)
            sum += excess[p];
    for (uint32_t i = 0; i < c->n_links; i++)
        links += (m->hops[c->link[i].p] != LBM_NONE) != (m->hops[c->link[i].q] != LBM_NONE);
    return links > 0.0 ? sum / links : 0.0;
}

static double
demand_of_hosts(const struct lbm_maxflow *m, const double *excess)
{
    double most = 0.0;
    for (uint32_t p = 0; p < m->c->n_hosts; p++)
        if (m->first[p + 1] > m->first[p])
            most = fmax(most, fabs(excess[p]) / (m->first[p + 1] - m->first[p]));
    return most;
}

enum lbm_err
lbm_flow_least_busiest(const struct lbm_colouring *c, const double *excess, double *flow)
{
    struct lbm_maxflow m;
    enum lbm_err err = lbm_maxflow_make(c, excess, &m);
    if (err != LBM_OK)
        return err;
    double busiest = demand_of_hosts(&m, excess);
    for (int cut = 0; cut < CUTS_MAX; cut++) {
        memcpy(m.left, excess, c->n_hosts * sizeof *m.left);
        for (uint32_t i = 0; i < 2 * c->n_links; i++)
            m.room[i] = busiest;
        lbm_maxflow_run(&m, NULL);
        double demand = demand_of_cut(&m, excess);
        if (!(demand > busiest * (1.0 + 1e-12)))
            break;
        busiest = demand;
    }
    for (uint32_t i = 0; i < c->n_links; i++)
        flow[i] = (m.room[2 * i + 1] - m.room[2 * i]) / 2.0;
    lbm_maxflow_free(&m);
    return err;
}
