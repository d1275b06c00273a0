/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels of a running job in a large cluster begin even: what is too much somewhere has a long way to where
 * room is, longer than annealing carries it. From the loads of all each host works out the same net flow over
 * links (Hu and Blake 1999), and labels of the vertices next to each neighbour as much as flows to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/flow.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"

/* ---- the flow ------------------------------------------------------------------------------------------ */

/* Links once each, uncoloured: a flow needs no order. Errors: LBM_E_NOMEM. *out owned by the caller. */
static enum lbm_err
list_links(const struct lbm_hosts *h, struct lbm_colouring *out)
{
    uint32_t n = 0;
    struct lbm_link *link = lbm_alloc(h->offset[h->n] / 2, sizeof *link);
    if (link == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (p < h->target[e])
                link[n++] = (struct lbm_link){.p = p, .q = h->target[e]};
    *out = (struct lbm_colouring){.n_hosts = h->n, .n_links = n, .link = link};
    return LBM_OK;
}

/* Loads of all, if all have told: limits are parts of that. In: told [hosts]. */
static void
add_up(struct job *job, uint32_t n_hosts, const double *told)
{
    double whole = 0;
    uint32_t n = 0;
    for (uint32_t p = 0; p < n_hosts; p++) {
        n += told[p] >= 1;
        whole += told[p] - 1;
    }
    if (n == n_hosts && whole > 0)
        job->whole = (uint64_t)whole;
}

/* What hosts have beyond their targets. Who has told nothing is as it should be. In: told [hosts]: 1 + load;
 * 0: nothing. Out: excess [hosts]. */
static void
find_excess(const struct lbm_node *node, const struct lbm_job_entry *entry, const double *told,
            double *excess)
{
    for (uint32_t p = 0; p < node->view.hosts.n; p++)
        excess[p] =
            told[p] > 0 ? told[p] - 1 - lbm_local_target(node, entry, lbm_view_host(&node->view, p)) : 0;
}

enum lbm_err
lbm_mapping_flow_find(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host);
    struct lbm_colouring links = {0};
    double *told = lbm_alloc(h->n, sizeof *told), *excess = lbm_alloc(h->n, sizeof *excess), *flow = NULL;
    enum lbm_err err = told == NULL || excess == NULL ? LBM_E_NOMEM : list_links(h, &links);
    free(d->gives);
    d->gives = lbm_alloc(h->n, sizeof *d->gives);
    d->n_gives = d->gives != NULL ? h->n : 0;
    if (err == LBM_OK)
        flow = lbm_alloc(links.n_links, sizeof *flow);
    if (flow == NULL || d->gives == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK) {
        lbm_mapping_sums_total(d, h->n, told);
        add_up(job, h->n, told);
        find_excess(node, entry, told, excess);
        err = lbm_flow_least_root(&links, excess, flow);
    }
    for (uint32_t i = 0; err == LBM_OK && i < links.n_links; i++) {
        if (links.link[i].p == self)
            d->gives[links.link[i].q] = fmax(flow[i], 0);
        if (links.link[i].q == self)
            d->gives[links.link[i].p] = fmax(-flow[i], 0);
    }
    free(links.link);
    free(told);
    free(excess);
    free(flow);
    return err;
}

/* ---- labels -------------------------------------------------------------------------------------------- */

/* Rows next to a neighbour, layer by layer. */
struct front {
    uint32_t host;           /* its number */
    double left, whole;      /* work that is to go there yet, and at first */
    LBM_VEC(uint32_t) queue; /* rows, from `head` on */
    size_t head;
};
typedef LBM_VEC(struct front) front_list;

static enum lbm_err
begin_fronts(const struct job *job, uint32_t self, const uint32_t *label, front_list *fronts)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_graph *g = &job->shard.patch.g;
    for (uint32_t q = 0; q < d->n_gives; q++) {
        struct front front = {.host = q, .left = d->gives[q], .whole = d->gives[q]};
        if (q == self || !(d->gives[q] >= 1))
            continue;
        for (uint32_t row = 0; row < g->n; row++) {
            uint64_t e = g->offset[row];
            while (e < g->offset[row + 1] && (g->target[e] < g->n || label[g->target[e]] != q))
                e++;
            if (e < g->offset[row + 1] && lbm_vec_push(&front.queue, row) != LBM_OK)
                return LBM_E_NOMEM;
        }
        if (lbm_vec_push(fronts, front) != LBM_OK) {
            lbm_vec_free(&front.queue);
            return LBM_E_NOMEM;
        }
    }
    return LBM_OK;
}

/* The front that most of its work is left of; NULL: all are done. */
static struct front *
next_front(front_list *fronts)
{
    struct front *next = NULL;
    for (size_t i = 0; i < fronts->n; i++) {
        struct front *front = &fronts->at[i];
        if (front->left > 0 && (next == NULL || front->left * next->whole > next->left * front->whole))
            next = front;
    }
    return next;
}

static int
may_go(const struct job *job, uint32_t row)
{
    const struct lbm_vertex *vertex = &job->shard.vertices.at[job->shard.patch.vertex[row]];
    return vertex->stage == LBM_STAGE_OWN && vertex->pin == LBM_NONE && vertex->move_to == LBM_NONE;
}

/* One more vertex for the neighbour; nothing is left if there is none. */
static enum lbm_err
advance(const struct job *job, uint32_t self, struct front *front, uint32_t *label)
{
    const struct lbm_graph *g = &job->shard.patch.g;
    while (front->head < front->queue.n) {
        uint32_t row = front->queue.at[front->head++];
        if (label[row] != self || !may_go(job, row))
            continue;
        double work = lbm_graph_work(g, row);
        if (front->left < work / 2)
            break;
        label[row] = front->host;
        front->left -= work;
        for (uint64_t e = g->offset[row]; e < g->offset[row + 1]; e++)
            if (g->target[e] < g->n && label[g->target[e]] == self &&
                lbm_vec_push(&front->queue, g->target[e]) != LBM_OK)
                return LBM_E_NOMEM;
        return LBM_OK;
    }
    front->left = 0;
    return LBM_OK;
}

enum lbm_err
lbm_mapping_flow_label(const struct lbm_node *node, const struct job *job, uint32_t *label)
{
    uint32_t self = lbm_view_number(&node->view, node->host);
    front_list fronts = {0};
    struct front *front;
    enum lbm_err err = begin_fronts(job, self, label, &fronts);
    while (err == LBM_OK && (front = next_front(&fronts)) != NULL)
        err = advance(job, self, front, label);
    for (size_t i = 0; i < fronts.n; i++)
        lbm_vec_free(&fronts.at[i].queue);
    lbm_vec_free(&fronts);
    return err;
}
