/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels of a running job in a large cluster begin even: what is too much somewhere has a long way to where
 * room is, longer than annealing carries it. From the loads of all each host works out the same net flow over
 * links (Hu and Blake 1999), and labels of the vertices next to each neighbour as much as flows to it.
 *
 * More may have to flow through a host than it has. So work is thought of as moving evenly in a unit of time:
 * what is nearest to a neighbour leaves first, and what comes to a host leaves it after all that was there
 * before. Each host follows its own vertices on, from the same flow as all others, until the time is over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/flow.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"

enum { HOPS_MAX = 64 /* that a vertex goes: it is a bound for the loop, not for flows */ };

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

void
lbm_mapping_flow_free(struct label_flow *flow)
{
    free(flow->gives);
    free(flow->load);
    free(flow->in);
    free(flow->out);
    *flow = (struct label_flow){0};
}

/* In: told as above. Out: out->load, and room for the rest. */
static enum lbm_err
flow_new(const struct lbm_node *node, const struct lbm_job_entry *entry, const double *told,
         struct label_flow *out)
{
    const struct lbm_hosts *h = &node->view.hosts;
    *out = (struct label_flow){.n = h->n,
                               .topology = node->view.topology,
                               .gives = lbm_alloc(h->offset[h->n], sizeof *out->gives),
                               .load = lbm_alloc(h->n, sizeof *out->load),
                               .in = lbm_alloc(h->n, sizeof *out->in),
                               .out = lbm_alloc(h->n, sizeof *out->out)};
    if (out->gives == NULL || out->load == NULL || out->in == NULL || out->out == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n; p++)
        out->load[p] =
            told[p] > 0 ? told[p] - 1 : lbm_local_target(node, entry, lbm_view_host(&node->view, p));
    return LBM_OK;
}

static void
give(const struct lbm_hosts *h, struct label_flow *flow, uint32_t p, uint32_t q, double work)
{
    uint32_t e = h->offset[p];
    while (h->target[e] != q)
        e++;
    flow->gives[e] = work;
    flow->out[p] += work;
    flow->in[q] += work;
}

enum lbm_err
lbm_mapping_flow_find(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_hosts *h = &node->view.hosts;
    struct lbm_colouring links = {0};
    double *told = lbm_alloc(h->n, sizeof *told), *excess = lbm_alloc(h->n, sizeof *excess), *flow = NULL;
    enum lbm_err err = told == NULL || excess == NULL ? LBM_E_NOMEM : list_links(h, &links);
    lbm_mapping_flow_free(&d->flow);
    if (err == LBM_OK && (flow = lbm_alloc(links.n_links, sizeof *flow)) == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK) {
        lbm_mapping_sums_total(d, h->n, told);
        add_up(job, h->n, told);
        find_excess(node, entry, told, excess);
        err = flow_new(node, entry, told, &d->flow);
    }
    if (err == LBM_OK)
        err = lbm_flow_least_root(&links, excess, flow);
    for (uint32_t i = 0; err == LBM_OK && i < links.n_links; i++) {
        const struct lbm_link *link = &links.link[i];
        if (flow[i] > 0)
            give(h, &d->flow, link->p, link->q, flow[i]);
        else if (flow[i] < 0)
            give(h, &d->flow, link->q, link->p, -flow[i]);
    }
    if (err != LBM_OK)
        lbm_mapping_flow_free(&d->flow);
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
begin_fronts(const struct lbm_hosts *h, const struct job *job, uint32_t self, const uint32_t *label,
             front_list *fronts)
{
    const struct label_flow *flow = &job->diffuse.flow;
    const struct lbm_graph *g = &job->shard.patch.g;
    for (uint32_t k = h->offset[self]; k < h->offset[self + 1]; k++) {
        uint32_t q = h->target[k];
        struct front front = {.host = q, .left = flow->gives[k], .whole = flow->gives[k]};
        if (!(flow->gives[k] >= 1))
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

/* Of what is still here, a row with a neighbour at a host as near to the front's as there is, or any;
 * LBM_NONE: nothing is here any more. Regions of linked hosts may not touch. */
static enum lbm_err
find_seed(struct lbm_hosts *h, const struct job *job, uint32_t self, const struct front *front,
          const uint32_t *label, uint32_t *seed)
{
    const struct lbm_graph *g = &job->shard.patch.g;
    uint32_t least = UINT32_MAX;
    *seed = LBM_NONE;
    if (lbm_hosts_route_from(h, front->host) != LBM_OK)
        return LBM_E_NOMEM;
    const uint32_t *distance = lbm_dist_row(h, front->host);
    for (uint32_t row = 0; row < g->n; row++) {
        uint32_t nearest = UINT32_MAX - 1;
        if (label[row] != self || !may_go(job, row))
            continue;
        for (uint64_t e = g->offset[row]; e < g->offset[row + 1]; e++)
            if (label[g->target[e]] != self && distance[label[g->target[e]]] < nearest)
                nearest = distance[label[g->target[e]]];
        if (nearest < least) {
            least = nearest;
            *seed = row;
        }
    }
    return LBM_OK;
}

/* One more vertex for the neighbour; nothing is left if there is none. Out: *row: of it, or LBM_NONE. */
static enum lbm_err
advance(struct lbm_hosts *h, const struct job *job, uint32_t self, struct front *front, uint32_t *label,
        uint32_t *row)
{
    const struct lbm_graph *g = &job->shard.patch.g;
    for (;;) {
        enum lbm_err err = LBM_OK;
        if (front->head < front->queue.n)
            *row = front->queue.at[front->head++];
        else
            err = find_seed(h, job, self, front, label, row);
        if (err != LBM_OK)
            return err;
        if (*row == LBM_NONE || (label[*row] == self && front->left < lbm_graph_work(g, *row) / 2.0))
            break;
        if (label[*row] != self || !may_go(job, *row))
            continue;
        label[*row] = front->host;
        front->left -= lbm_graph_work(g, *row);
        for (uint64_t e = g->offset[*row]; e < g->offset[*row + 1]; e++)
            if (g->target[e] < g->n && label[g->target[e]] == self &&
                lbm_vec_push(&front->queue, g->target[e]) != LBM_OK)
                return LBM_E_NOMEM;
        return LBM_OK;
    }
    *row = LBM_NONE;
    front->left = 0;
    return LBM_OK;
}

/* ---- farther ------------------------------------------------------------------------------------------- */

/* A row on its way to the host of its label, where it is then. */
struct mover {
    uint32_t row, host;
    double when; /* from 0 to 1 */
    double side; /* how far to one side it is */
};
typedef LBM_VEC(struct mover) mover_list;

static int
by_host_then_row(const void *a, const void *b)
{
    const struct mover *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int
by_side(const void *a, const void *b)
{
    const struct mover *x = a, *y = b;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* A host that work goes on to. */
struct way {
    uint32_t host;
    double work, side;
};
typedef LBM_VEC(struct way) way_list;

static double
along(const double *x, const double *axis, unsigned m)
{
    double sum = 0;
    for (unsigned k = 0; k < m; k++)
        sum += x[k] * axis[k];
    return sum;
}

/* From one side to the other: between the two hosts that are farthest apart. Out: axis [m]. */
static enum lbm_err
find_ways(const struct lbm_hosts *h, const struct label_flow *flow, uint32_t from, way_list *ways,
          double *axis)
{
    double most = -1;
    ways->n = 0;
    for (uint32_t e = h->offset[from]; e < h->offset[from + 1]; e++) {
        struct way way = {.host = h->target[e], .work = flow->gives[e]};
        if (way.work > 0 && lbm_vec_push(ways, way) != LBM_OK)
            return LBM_E_NOMEM;
    }
    memset(axis, 0, LBM_DIMENSIONS_MAX * sizeof *axis);
    for (size_t i = 0; i < ways->n; i++)
        for (size_t j = i + 1; j < ways->n; j++) {
            const double *x = &h->site[(size_t)ways->at[i].host * h->m],
                         *y = &h->site[(size_t)ways->at[j].host * h->m];
            double to[LBM_DIMENSIONS_MAX] = {0};
            for (unsigned k = 0; k < h->m; k++)
                to[k] = y[k] - x[k];
            if (along(to, to, h->m) <= most)
                continue;
            most = along(to, to, h->m);
            memcpy(axis, to, sizeof to);
        }
    for (size_t i = 0; i < ways->n; i++)
        ways->at[i].side = along(&h->site[(size_t)ways->at[i].host * h->m], axis, h->m);
    for (size_t i = 1; i < ways->n; i++) /* there are few */
        for (size_t k = i; k != 0 && ways->at[k].side < ways->at[k - 1].side; k--) {
            struct way way = ways->at[k];
            ways->at[k] = ways->at[k - 1];
            ways->at[k - 1] = way;
        }
    return LBM_OK;
}

/* What leaves a host before the time is over goes on from there, side by side. In/out: mover [n], at one
 * host: those that stay get no host. */
static enum lbm_err
pass_through(const struct lbm_hosts *h, const struct job *job, struct mover *mover, size_t n, way_list *ways)
{
    const struct label_flow *flow = &job->diffuse.flow;
    const struct lbm_patch *patch = &job->shard.patch;
    uint32_t from = mover->host;
    double axis[LBM_DIMENSIONS_MAX], whole = 0, passed = 0, out = flow->out[from];
    enum lbm_err err = find_ways(h, flow, from, ways, axis);
    if (err != LBM_OK)
        return err;
    for (size_t i = 0; i < n; i++) {
        double place[LBM_DIMENSIONS_MAX] = {0};
        mover[i].when = out > 0 ? (flow->load[from] + flow->in[from] * mover[i].when) / out : 1;
        lbm_affine_apply(&job->normalization, job->shard.vertices.at[patch->vertex[mover[i].row]].x, place);
        mover[i].side = along(place, axis, h->m);
        mover[i].host = mover[i].when < 1 && ways->n != 0 ? from : LBM_NONE;
        whole += mover[i].host != LBM_NONE ? lbm_graph_work(&patch->g, mover[i].row) : 0;
    }
    qsort(mover, n, sizeof *mover, by_side);
    size_t at = 0;
    double until = ways->n != 0 ? ways->at[0].work / out * whole : 0;
    for (size_t i = 0; i < n; i++) {
        double work = lbm_graph_work(&patch->g, mover[i].row);
        if (mover[i].host == LBM_NONE)
            continue;
        while (passed + work / 2 > until && at + 1 < ways->n)
            until += ways->at[++at].work / out * whole;
        mover[i].host = ways->at[at].host;
        passed += work;
    }
    return LBM_OK;
}

/* In/out: movers: none are left. label: where they come to rest. */
static enum lbm_err
go_on(const struct lbm_hosts *h, const struct job *job, mover_list *movers, uint32_t *label)
{
    way_list ways = {0};
    enum lbm_err err = LBM_OK;
    for (int hop = 0; hop < HOPS_MAX && movers->n != 0 && err == LBM_OK; hop++) {
        size_t kept = 0;
        qsort(movers->at, movers->n, sizeof *movers->at, by_host_then_row);
        for (size_t i = 0, n; i < movers->n && err == LBM_OK; i += n) {
            for (n = 1; i + n < movers->n && movers->at[i + n].host == movers->at[i].host;)
                n++;
            err = pass_through(h, job, &movers->at[i], n, &ways);
        }
        for (size_t i = 0; i < movers->n; i++)
            if (movers->at[i].host != LBM_NONE) {
                label[movers->at[i].row] = movers->at[i].host;
                movers->at[kept++] = movers->at[i];
            }
        movers->n = kept;
    }
    lbm_vec_free(&ways);
    return err;
}

enum lbm_err
lbm_mapping_flow_label(struct lbm_node *node, const struct job *job, uint32_t *label)
{
    struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host), row;
    double gone = 0;
    front_list fronts = {0};
    mover_list movers = {0};
    struct front *front;
    enum lbm_err err = begin_fronts(h, job, self, label, &fronts);
    while (err == LBM_OK && (front = next_front(&fronts)) != NULL) {
        err = advance(h, job, self, front, label, &row);
        if (err != LBM_OK || row == LBM_NONE)
            continue;
        gone += lbm_graph_work(&job->shard.patch.g, row);
        err =
            lbm_vec_push(&movers, ((struct mover){row, front->host, gone / job->diffuse.flow.out[self], 0}));
    }
    if (err == LBM_OK)
        err = go_on(h, job, &movers, label);
    for (size_t i = 0; i < fronts.n; i++)
        lbm_vec_free(&fronts.at[i].queue);
    lbm_vec_free(&fronts);
    lbm_vec_free(&movers);
    return err;
}
