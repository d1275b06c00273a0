/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "balance/maxflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint32_t
head(const struct lbm_maxflow *m, uint32_t arc)
{
    const struct lbm_link *link = &m->c->link[arc / 2];
    return arc % 2 == 0 ? link->q : link->p;
}

static void
list_arcs(struct lbm_maxflow *m)
{
    const struct lbm_colouring *c = m->c;
    for (uint32_t i = 0; i < c->n_links; i++) {
        m->first[c->link[i].p + 1]++;
        m->first[c->link[i].q + 1]++;
    }
    for (uint32_t p = 0; p < c->n_hosts; p++) {
        m->first[p + 1] += m->first[p];
        m->cursor[p] = m->first[p];
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        m->arc[m->cursor[c->link[i].p]++] = 2 * i;
        m->arc[m->cursor[c->link[i].q]++] = 2 * i + 1;
    }
}

enum lbm_err
lbm_maxflow_make(const struct lbm_colouring *c, const double *excess, struct lbm_maxflow *out)
{
    double total = 0.0;
    uint32_t n = c->n_hosts;
    for (uint32_t p = 0; p < n; p++)
        total += fabs(excess[p]);
    struct lbm_maxflow m = {.c = c,
                            .rounding = 1e-13 * total,
                            .room = lbm_alloc(2 * (size_t)c->n_links, sizeof *m.room),
                            .left = lbm_copy(excess, n, sizeof *m.left),
                            .hops = lbm_alloc(n, sizeof *m.hops),
                            .first = lbm_alloc((size_t)n + 1, sizeof *m.first),
                            .arc = lbm_alloc(2 * (size_t)c->n_links, sizeof *m.arc),
                            .cursor = lbm_alloc(n, sizeof *m.cursor),
                            .queue = lbm_alloc(n, sizeof *m.queue),
                            .way = lbm_alloc(n, sizeof *m.way)};
    if (!m.room || !m.left || !m.hops || !m.first || !m.arc || !m.cursor || !m.queue || !m.way) {
        lbm_maxflow_free(&m);
        return LBM_E_NOMEM;
    }
    list_arcs(&m);
    *out = m;
    return LBM_OK;
}

void
lbm_maxflow_free(struct lbm_maxflow *m)
{
    free(m->room);
    free(m->left);
    free(m->hops);
    free(m->first);
    free(m->arc);
    free(m->cursor);
    free(m->queue);
    free(m->way);
    *m = (struct lbm_maxflow){0};
}

/* Breadth first from all that have too much. Nonzero if one that needs was reached. */
static int
set_hops(struct lbm_maxflow *m, const uint8_t *may_end)
{
    uint32_t n = 0;
    int reached = 0;
    for (uint32_t p = 0; p < m->c->n_hosts; p++) {
        m->hops[p] = LBM_NONE;
        m->cursor[p] = m->first[p];
        if (m->left[p] > m->rounding) {
            m->hops[p] = 0;
            m->queue[n++] = p;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t p = m->queue[k];
        reached |= m->left[p] < -m->rounding && (may_end == NULL || may_end[p]);
        for (uint32_t i = m->first[p]; i < m->first[p + 1]; i++) {
            uint32_t q = head(m, m->arc[i]);
            if (m->room[m->arc[i]] > m->rounding && m->hops[q] == LBM_NONE) {
                m->hops[q] = m->hops[p] + 1;
                m->queue[n++] = q;
            }
        }
    }
    return reached;
}

/* One way from source along rising hops, to a host that needs. Returns its length; way holds its arcs. */
static uint32_t
find_way(struct lbm_maxflow *m, uint32_t source, const uint8_t *may_end)
{
    uint32_t p = source, length = 0;
    while (!(m->left[p] < -m->rounding && (may_end == NULL || may_end[p]))) {
        uint32_t i = m->cursor[p];
        while (i < m->first[p + 1] &&
               !(m->room[m->arc[i]] > m->rounding && m->hops[head(m, m->arc[i])] == m->hops[p] + 1))
            i++;
        m->cursor[p] = i;
        if (i < m->first[p + 1]) {
            m->way[length++] = m->arc[i];
            p = head(m, m->arc[i]);
        } else if (length == 0) {
            return 0;
        } else { /* a dead end */
            uint32_t back = m->way[--length];
            p = head(m, back ^ 1);
            m->cursor[p]++;
        }
    }
    return length;
}

static void
send(struct lbm_maxflow *m, uint32_t source, uint32_t length)
{
    uint32_t end = head(m, m->way[length - 1]);
    double amount = fmin(m->left[source], -m->left[end]);
    for (uint32_t k = 0; k < length; k++)
        amount = fmin(amount, m->room[m->way[k]]);
    for (uint32_t k = 0; k < length; k++) {
        m->room[m->way[k]] -= amount;
        m->room[m->way[k] ^ 1] += amount;
    }
    m->left[source] -= amount;
    m->left[end] += amount;
}

void
lbm_maxflow_run(struct lbm_maxflow *m, const uint8_t *may_end)
{
    while (set_hops(m, may_end))
        for (uint32_t p = 0; p < m->c->n_hosts; p++)
            for (uint32_t length = 1; m->left[p] > m->rounding && length > 0;) {
                length = find_way(m, p, may_end);
                if (length > 0)
                    send(m, p, length);
            }
}
