/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strips of rows, remapped by GDE. */
#include "papers/strips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
strips_open(struct table_run *t, const char *spec, uint32_t rows, const uint32_t *row, struct strips *out)
{
    *out = (struct strips){.rows = rows, .row = row};
    if (!net_open(t, &out->net, "%s", spec))
        return 0;
    out->n = out->net.hosts.n;
    out->first = lbm_alloc(out->n, sizeof *out->first);
    out->count = lbm_alloc(out->n, sizeof *out->count);
    out->load = lbm_alloc(out->n, sizeof *out->load);
    out->flow = lbm_alloc(out->net.network.colouring.n_links, sizeof *out->flow);
    if (out->first == NULL || out->count == NULL || out->load == NULL || out->flow == NULL) {
        strips_close(out);
        return table_fail(t, LBM_E_NOMEM);
    }
    for (uint32_t p = 0; p < out->n; p++) {
        out->first[p] = p * rows / out->n;
        out->count[p] = (p + 1) * rows / out->n - out->first[p];
    }
    return 1;
}

void
strips_close(struct strips *s)
{
    net_close(&s->net);
    free(s->first);
    free(s->count);
    free(s->load);
    free(s->flow);
    *s = (struct strips){0};
}

static double
strips_load(const struct strips *s, uint32_t p)
{
    double load = 0.0;
    for (uint32_t i = 0; i < s->count[p]; i++)
        load += s->row[(s->first[p] + i) % s->rows];
    return load;
}

double
strips_largest(const struct strips *s)
{
    double largest = 0.0;
    for (uint32_t p = 0; p < s->n; p++)
        largest = fmax(largest, strips_load(s, p));
    return largest;
}

/* One row from p to the next strip, or from the next strip to p, if that brings the link closer to its flow.
 * Value: its load, signed as the flow; 0 if none goes. */
static double
move_row(struct strips *s, uint32_t p, double flow)
{
    uint32_t next = (p + 1) % s->n, giver = flow > 0.0 ? p : next;
    uint32_t row = flow > 0.0 ? (s->first[p] + s->count[p] - 1) % s->rows : s->first[next];
    double load = s->row[row];
    if (s->count[giver] <= 1 || load >= 2.0 * fabs(flow))
        return 0.0;
    if (flow > 0.0) {
        s->count[p]--;
        s->count[next]++;
        s->first[next] = row;
    } else {
        s->count[next]--;
        s->count[p]++;
        s->first[next] = (row + 1) % s->rows;
    }
    return flow > 0.0 ? load : -load;
}

/* Rows cross the link between p and the next strip until its flow is met or the giver has one row left.
 * Value: the load that crossed. */
static double
fulfil(struct strips *s, uint32_t p, double *flow)
{
    double crossed = 0.0;
    for (double moved; *flow != 0.0 && (moved = move_row(s, p, *flow)) != 0.0;) {
        *flow -= moved;
        crossed += fabs(moved);
    }
    return crossed;
}

enum lbm_err
strips_remap(struct strips *s, double *carried, struct lbm_diag *diag)
{
    const struct lbm_colouring *c = &s->net.network.colouring;
    struct lbm_balance_options options = {.policy = LBM_POLICY_GDE, .integer = 1, .stop = LBM_STOP_QUIESCENT};
    struct lbm_balance_result result;
    for (uint32_t p = 0; p < s->n; p++)
        s->load[p] = strips_load(s, p);
    enum lbm_err err = lbm_balance_run(&s->net.network, &options, s->load, s->flow, &result, diag);
    *carried = 0.0;
    for (uint32_t pass = 0; pass < s->n && err == LBM_OK; pass++)
        for (uint32_t i = 0; i < c->n_links; i++) {
            int closing = c->link[i].q != c->link[i].p + 1; /* of the ring: from 0 to the last strip */
            double flow = closing ? -s->flow[i] : s->flow[i];
            *carried = fmax(*carried, fulfil(s, closing ? c->link[i].q : c->link[i].p, &flow));
            s->flow[i] = closing ? -flow : flow;
        }
    return err;
}
