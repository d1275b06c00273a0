/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What labels cost, and the loads that they give: work by label, as all tell all; in a large cluster as the
 * hosts that are the labels tell those that have work for them. A label is not known before its host has
 * answered. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"

/* What costs more than any hop-bytes: that some host has too much, and nothing has to go over a link. */
static const double UNEVEN = 1e30;

/* ---- what labels cost ---------------------------------------------------------------------------------- */

/* What labels cost, as far as this host's edges go: each edge counts at both ends; and the loads they give.
 */
enum lbm_err
lbm_mapping_labels_weigh(struct lbm_node *node, const struct job *job, const uint32_t *labels,
                         double *hop_bytes, double *load)
{
    const struct lbm_graph *g = &job->shard.patch.g;
    struct lbm_hosts *h = &node->view.hosts;
    for (uint32_t v = 0; v < g->n; v++) {
        if (lbm_hosts_route_from(h, labels[v]) != LBM_OK)
            return LBM_E_NOMEM;
        load[labels[v]] += lbm_graph_work(g, v);
        for (uint64_t e = g->offset[v]; e < g->offset[v + 1]; e++)
            *hop_bytes += (double)lbm_graph_weight(g, e) * lbm_dist(h, labels[v], labels[g->target[e]]);
    }
    return LBM_OK;
}

double
lbm_mapping_labels_excess(const struct lbm_node *node, const struct lbm_job_entry *entry, const double *load)
{
    double excess = 0;
    for (uint32_t p = 0; p < node->view.hosts.n; p++) {
        double target = fmax(lbm_local_target(node, entry, lbm_view_host(&node->view, p)), 1);
        excess = fmax(excess, load[p] / target - 1 - entry->imbalance);
    }
    return excess;
}

double
lbm_mapping_labels_over(const struct lbm_node *node, const struct lbm_job_entry *entry, const double *load)
{
    double over = 0;
    for (uint32_t p = 0; p < node->view.hosts.n; p++) {
        double target = fmax(lbm_local_target(node, entry, lbm_view_host(&node->view, p)), 1);
        over += fmax(0, load[p] / target - 1 - entry->imbalance);
    }
    return over;
}

double
lbm_mapping_labels_cost(const struct lbm_node *node, const struct lbm_job_entry *entry, double hop_bytes,
                        const double *load)
{
    double excess = lbm_mapping_labels_excess(node, entry, load);
    return hop_bytes > 0 || excess <= 0 ? hop_bytes * (1 + excess) : excess * UNEVEN;
}

/* ---- loads --------------------------------------------------------------------------------------------- */

/* In a large cluster: of what is to go to this host itself. */
static void
add_up_asked(struct labels *l, uint32_t self)
{
    if (self >= l->n_hosts)
        return;
    l->others[self] = l->holders[self] = 0;
    l->is_known[self] = 1;
    for (size_t i = 0; i < l->asker.n; i++) {
        l->others[self] += l->asker.at[i].work;
        l->holders[self] += l->asker.at[i].work > 0;
    }
}

void
lbm_mapping_loads_add_up(const struct lbm_node *node, struct labels *l)
{
    uint32_t self = lbm_view_number(&node->view, node->host);
    if (l->heard == NULL) {
        add_up_asked(l, self);
        return;
    }
    memset(l->others, 0, l->n_hosts * sizeof *l->others);
    memset(l->holders, 0, l->n_hosts * sizeof *l->holders);
    for (uint32_t p = 0; p < l->n_hosts; p++)
        for (uint32_t q = 0; p != self && q < l->n_hosts; q++) {
            l->others[q] += l->heard[(size_t)p * l->n_hosts + q];
            l->holders[q] += l->heard[(size_t)p * l->n_hosts + q] > 0;
        }
}

/* What hosts may have. limit [n]. */
void
lbm_mapping_loads_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t n,
                        double *limit)
{
    for (uint32_t p = 0; p < n; p++)
        limit[p] = (1 + entry->imbalance) * lbm_local_target(node, entry, lbm_view_host(&node->view, p));
}

/* In a large cluster: nothing is known of what others have. */
enum lbm_err
lbm_mapping_loads_begin(const struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct labels *l = &job->diffuse.labels;
    uint32_t n = l->n_hosts;
    l->limit = lbm_alloc(n, sizeof *l->limit);
    l->asked = lbm_alloc(n, sizeof *l->asked);
    l->is_known = lbm_alloc(n, 1);
    l->is_wanted = lbm_alloc(n, 1);
    if (l->limit == NULL || l->asked == NULL || l->is_known == NULL || l->is_wanted == NULL)
        return LBM_E_NOMEM;
    lbm_mapping_loads_limit(node, entry, n, l->limit);
    for (uint32_t q = 0; job->shard.patch.n_ghosts == 0 && q < n; q++)
        l->is_known[q] = 1; /* nobody has what neighbours this host: what it has is not disputed */
    return LBM_OK;
}

/* ---- a large cluster ----------------------------------------------------------------------------------- */

/* What a message to that host says of work that goes to it, or to this one. */
void
lbm_mapping_loads_tell(const struct lbm_node *node, struct labels *l, uint32_t to, uint64_t *work,
                       Lbm__Labels *labels)
{
    uint32_t q = lbm_view_number(&node->view, to), self = lbm_view_number(&node->view, node->host);
    labels->n_host = labels->n_work = 0;
    labels->answers = labels->others = labels->holders = 0;
    if (q >= l->n_hosts || self >= l->n_hosts)
        return;
    if (l->is_wanted[q]) {
        *labels->host = to;
        *work = (uint64_t)l->own[q];
        labels->n_host = labels->n_work = 1;
        l->asked[q] = l->own[q];
    }
    for (size_t i = 0; i < l->asker.n; i++)
        if (l->asker.at[i].host == q) {
            double here = l->own[self];
            labels->answers = 1;
            labels->others = (uint64_t)(l->others[self] - l->asker.at[i].work + here);
            labels->holders = (uint32_t)l->holders[self] - (l->asker.at[i].work > 0) + (here > 0);
        }
}

/* Hosts that are to be asked, or answered. */
enum lbm_err
lbm_mapping_loads_due(const struct lbm_node *node, struct labels *l, int all, label_batches *batches)
{
    uint32_t self = lbm_view_number(&node->view, node->host);
    int is_news = l->is_news || (self < l->n_hosts && l->own[self] != l->before[self]);
    l->is_news = 0;
    for (uint32_t q = 0; q < l->n_hosts; q++) {
        l->is_wanted[q] |= l->own[q] > 0 && q != self;
        if (l->is_wanted[q] && (all || !l->is_known[q] || l->own[q] != l->asked[q]) &&
            lbm_mapping_labels_batch(batches, lbm_view_host(&node->view, q)) == NULL)
            return LBM_E_NOMEM;
    }
    for (size_t i = 0; (all || is_news) && i < l->asker.n; i++)
        if (lbm_mapping_labels_batch(batches, lbm_view_host(&node->view, l->asker.at[i].host)) == NULL)
            return LBM_E_NOMEM;
    return LBM_OK;
}

void
lbm_mapping_loads_heard(const struct lbm_node *node, struct labels *l, uint32_t src,
                        const Lbm__Labels *labels)
{
    if (labels->answers) {
        l->others[src] = (double)labels->others;
        l->holders[src] = labels->holders;
        l->is_known[src] = 1;
    }
    if (labels->n_host != 1 || labels->host[0] != node->host)
        return;
    size_t i = 0;
    while (i < l->asker.n && l->asker.at[i].host != src)
        i++;
    const struct label_asker fresh = {.host = src, .work = -1};
    if (i == l->asker.n && lbm_vec_push(&l->asker, fresh) != LBM_OK)
        return; /* it asks again */
    l->is_news |= l->asker.at[i].work != (double)labels->work[0];
    l->asker.at[i].work = (double)labels->work[0];
}
