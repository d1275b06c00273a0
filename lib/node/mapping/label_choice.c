/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which labels are annealed, and which are taken: those of regions, or where vertices are; on a host that
 * holds all, the halves too, several times. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/records/records.h"

/* Tries of annealing, by a host that waits for nobody; in a large cluster fewer, the larger the guest and the
 * more hosts there are: it does alone what all would do together. */
enum { TRIES = 8, TRIES_LEAST = 2, TRIES_SIZE = 1 << 22, TRIES_HOSTS = 2048 };

void
lbm_mapping_choice_forget(struct diffuse *d)
{
    free(d->origin);
    free(d->best);
    d->origin = d->best = NULL;
    d->tries = 0;
}

/* ---- halves -------------------------------------------------------------------------------------------- */

/* A host that holds the whole guest halves it, hosts and vertices, again and again: what no drawing shows
 * (trees, circuits). Elsewhere, since it takes a while. */
void
lbm_mapping_choice_halve(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct lbm_diag diag;
    if (job->planning || job->diffuse.halved_hosts == job->diffuse.hosts || entry->vertices < 2 ||
        !lbm_shard_is_whole(&job->shard, entry->vertices))
        return;
    lbm_local_free_guest(job);
    job->guest = lbm_alloc(1, sizeof *job->guest);
    enum lbm_err err =
        job->guest == NULL ? LBM_E_NOMEM : lbm_shard_whole(&job->shard, entry->vertices, job->guest);
    if (err == LBM_OK)
        err = lbm_view_build_hosts(&node->view, &job->plan_hosts, &diag);
    for (uint32_t p = 0; err == LBM_OK && p < job->plan_hosts.n; p++)
        err = lbm_vec_push(&job->plan_ids, lbm_view_host(&node->view, p));
    if (err != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    job->diffuse.is_halving = 1;
    job->diffuse.halved_hosts = job->diffuse.hosts;
    node->raise->job_plan_ask(node, job, entry, LBM_START_DIFFUSE);
}

void
lbm_mapping_diffuse_halved(struct lbm_node *node, struct job *job, enum lbm_err err,
                           const struct lbm_plan *plan)
{
    struct diffuse *d = &job->diffuse;
    d->is_halving = 0;
    free(d->halved);
    d->halved = err == LBM_OK && plan != NULL ? lbm_alloc(plan->n, sizeof *d->halved) : NULL;
    d->n_halved = d->halved != NULL ? plan->n : 0;
    for (uint32_t v = 0; v < d->n_halved; v++)
        d->halved[v] = job->plan_ids.at[plan->part[v]];
    lbm_local_free_guest(job);
    if (err == LBM_E_NOMEM)
        lbm_core_fail(node, err);
}

/* The halves as labels; pinned vertices as they are. In/out: label [rows], numbers. */
static void
take_halves(const struct lbm_node *node, const struct job *job, uint32_t *label)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        uint32_t to =
            vertex->id < d->n_halved ? lbm_view_number(&node->view, d->halved[vertex->id]) : LBM_NONE;
        label[row] = vertex->pin == LBM_NONE && to < node->view.hosts.n ? to : label[row];
    }
}

/* ---- labels -------------------------------------------------------------------------------------------- */

/* Numbers of the hosts that rows and ghosts are to go to as it stands: the kept labels, or where they are. */
enum lbm_err
lbm_mapping_choice_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    size_t n = (size_t)patch->g.n + patch->n_ghosts;
    uint32_t *label = lbm_alloc(n, sizeof *label), self = lbm_view_number(&node->view, node->host);
    int is_kept = d->label != NULL && d->label_version == job->shard.built && (d->is_placed || !d->has_moved);
    if (label == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i < patch->g.n ? node->host : job->shard.ghosts.at[patch->ghost[i - patch->g.n]].host;
        label[i] = is_kept && i >= patch->g.n ? d->label[i]
                                              : lbm_view_number(&node->view, is_kept ? d->label[i] : at);
        uint32_t pin = i < patch->g.n ? job->shard.vertices.at[patch->vertex[i]].pin : LBM_NONE;
        if (pin != LBM_NONE)
            label[i] = lbm_view_number(&node->view, pin);
        if (label[i] >= node->view.hosts.n) /* a host that is no member any more, or this one is not active */
            label[i] = self < node->view.hosts.n ? self : 0;
    }
    lbm_mapping_choice_forget(&job->diffuse);
    uint32_t *first = lbm_copy(label, n, sizeof *first);
    enum lbm_err err = first == NULL ? LBM_E_NOMEM : LBM_OK;
    if (err == LBM_OK && d->flow.n == node->view.hosts.n && d->flow.topology == node->view.topology)
        err = lbm_mapping_flow_label(node, job, label);
    if (err == LBM_OK)
        err = lbm_mapping_labels_begin(node, job, entry, label);
    if (err == LBM_OK && d->flow.n != 0)
        memcpy(job->diffuse.labels.first, first, n * sizeof *first);
    free(first);
    free(label);
    return err;
}

static uint32_t
tries_of(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_graph *g = &job->shard.patch.g;
    uint64_t tries = TRIES;
    if (job->diffuse.is_tree) {
        uint64_t by_size = TRIES_SIZE / (g->n + lbm_graph_directions(g)),
                 by_hosts = TRIES_HOSTS / node->view.hosts.n;
        tries = by_size < by_hosts ? by_size : by_hosts;
    }
    return tries > TRIES ? TRIES : tries < TRIES_LEAST ? TRIES_LEAST : (uint32_t)tries;
}

/* A host whose neighbours are all here waits for nobody: it anneals several times, from the labels to begin
 * with, from the best so far, from the halves, from the best again, and keeps the best. Which start leads
 * further cannot be told by what it costs. Returns nonzero if it begins again, or fails. */
int
lbm_mapping_choice_again(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    if (patch->n_ghosts != 0 || patch->g.n == 0)
        return 0;
    double *load = lbm_alloc(node->view.hosts.n, sizeof *load), bytes = 0;
    size_t n = patch->g.n;
    enum lbm_err err =
        load == NULL ? LBM_E_NOMEM : lbm_mapping_labels_weigh(node, job, d->labels.label, &bytes, load);
    double own = err == LBM_OK ? lbm_mapping_labels_cost(node, entry, bytes, load) : 0;
    free(load);
    if (err == LBM_OK && d->origin == NULL) {
        d->origin = lbm_copy(d->labels.first, n, sizeof *d->origin);
        d->best = lbm_alloc(n, sizeof *d->best);
        err = d->origin == NULL || d->best == NULL ? LBM_E_NOMEM : LBM_OK;
    }
    if (err == LBM_OK && (d->tries == 0 || own < d->best_cost)) {
        memcpy(d->best, d->labels.label, n * sizeof *d->best);
        d->best_cost = own;
    }
    int is_again = ++d->tries < tries_of(node, job);
    uint32_t *from =
        err == LBM_OK ? lbm_copy(is_again && d->tries % 2 == 0 ? d->origin : d->best, n, sizeof *from) : NULL;
    if (err == LBM_OK && from == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK && is_again && d->tries % 4 == 2 && !d->has_moved)
        take_halves(node, job, from);
    if (err == LBM_OK)
        err = lbm_mapping_labels_begin(node, job, entry, from);
    free(from);
    if (err == LBM_OK && !is_again) /* that is over: what was found, next to what there was */
        err = lbm_mapping_labels_end(job, d->origin);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
    return is_again || err != LBM_OK;
}

/* What a host adds in KIND_LABELS: hop-bytes of the labels to begin with, of those now; whether others hold
 * neighbours; how many vertices it has; loads of both. */
enum { LABELS_SHARED = 2, LABELS_COUNT, LABELS_LOADS };
/* In a large cluster what goes to all are, instead of loads, the cost of both and what all hosts have beyond
 * their bounds: one of a thousand that has more than any before is a matter of rounds. */
enum { LABELS_COST = LABELS_LOADS, LABELS_OVER = LABELS_COST + 2, LABELS_TOLD = LABELS_OVER + 2 };

void
lbm_mapping_choice_tell(struct lbm_node *node, struct job *job)
{
    const struct labels *l = &job->diffuse.labels;
    size_t n = LABELS_LOADS + 2 * (size_t)l->n_hosts;
    double *value = lbm_alloc(n, sizeof *value);
    enum lbm_err err = value == NULL
                           ? LBM_E_NOMEM
                           : lbm_mapping_labels_weigh(node, job, l->first, &value[0], &value[LABELS_LOADS]);
    if (err == LBM_OK)
        err = lbm_mapping_labels_weigh(node, job, l->label, &value[1], &value[LABELS_LOADS + l->n_hosts]);
    if (err == LBM_OK) {
        value[LABELS_SHARED] = job->shard.patch.n_ghosts != 0;
        value[LABELS_COUNT] = job->shard.patch.g.n;
        lbm_mapping_sums_tell(node, job, n, value, 0, NULL, NULL);
    } else {
        lbm_core_fail(node, err);
    }
    free(value);
}

enum lbm_err
lbm_mapping_choice_total(struct lbm_node *node, const struct lbm_job_entry *entry, struct sums_row *sum)
{
    uint32_t n_hosts = node->view.hosts.n;
    double *value = lbm_alloc(LABELS_TOLD, sizeof *value);
    if (value == NULL)
        return LBM_E_NOMEM;
    if (sum->n == LABELS_LOADS + 2 * n_hosts) {
        memcpy(value, sum->value, LABELS_LOADS * sizeof *value);
        for (uint32_t k = 0; k < 2; k++) {
            const double *load = &sum->value[LABELS_LOADS + (size_t)k * n_hosts];
            value[LABELS_COST + k] = lbm_mapping_labels_cost(node, entry, sum->value[k], load);
            value[LABELS_OVER + k] = lbm_mapping_labels_over(node, entry, load);
        }
    }
    free(sum->value);
    sum->value = value;
    sum->n = LABELS_TOLD;
    return LBM_OK;
}

static void
note_costs(struct lbm_node *node, const struct job *job, const double *sum, const struct choice_cost *cost)
{
    lbm_core_note(node, LBM_NOTE_DEBUG,
                  "job %016" PRIx64 ": hop-bytes %.0f, annealed %.0f (%.0f, %.0f with what is too much)",
                  job->id, sum[0] / 2, sum[1] / 2, cost->before / 2, cost->now / 2);
}

/* The same of a sum of a large cluster. */
static void
compare_told(struct lbm_node *node, const struct job *job, struct choice_cost *out)
{
    double sum[LABELS_TOLD];
    const struct labels *l = &job->diffuse.labels;
    uint32_t self = lbm_view_number(&node->view, node->host);
    lbm_mapping_sums_total(&job->diffuse, LABELS_TOLD, sum);
    *out = (struct choice_cost){.before = sum[LABELS_COST],
                                .now = sum[LABELS_COST + 1],
                                .is_better = sum[LABELS_COST + 1] < sum[LABELS_COST],
                                .is_more_even = sum[LABELS_OVER + 1] < sum[LABELS_OVER],
                                .is_shared = sum[LABELS_SHARED] != 0,
                                .load_here = self < l->n_hosts ? l->others[self] + l->own[self] : 0};
    note_costs(node, job, sum, out);
}

int
lbm_mapping_choice_compare(struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
                           struct choice_cost *out)
{
    const struct diffuse *d = &job->diffuse;
    if (d->is_tree && d->labels.n_hosts == node->view.hosts.n && d->levels.version == job->shard.built) {
        compare_told(node, job, out);
        return 1;
    }
    uint32_t n_hosts = d->labels.n_hosts, self = lbm_view_number(&node->view, node->host);
    size_t n = LABELS_LOADS + 2 * (size_t)n_hosts;
    double *sum = lbm_alloc(n, sizeof *sum);
    if (sum == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    if (sum == NULL || d->is_tree || n_hosts != node->view.hosts.n || d->levels.version != job->shard.built) {
        free(sum);
        return 0;
    }
    lbm_mapping_sums_total(d, n, sum);
    out->before = lbm_mapping_labels_cost(node, entry, sum[0], &sum[LABELS_LOADS]);
    out->now = lbm_mapping_labels_cost(node, entry, sum[1], &sum[LABELS_LOADS + n_hosts]);
    out->is_better = out->now < out->before;
    out->is_more_even = lbm_mapping_labels_excess(node, entry, &sum[LABELS_LOADS + n_hosts]) <
                        lbm_mapping_labels_excess(node, entry, &sum[LABELS_LOADS]);
    out->work = 0;
    for (uint32_t p = 0; p < n_hosts && sum[LABELS_COUNT] == lbm_local_load_count(node, entry); p++)
        out->work += (uint64_t)sum[LABELS_LOADS + p];
    out->is_shared = sum[LABELS_SHARED] != 0;
    out->load_here = self < n_hosts ? sum[LABELS_LOADS + n_hosts + self] : 0;
    note_costs(node, job, sum, out);
    free(sum);
    return 1;
}

void
lbm_mapping_choice_take(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    const struct labels *l = &d->labels;
    const struct lbm_patch *patch = &job->shard.patch;
    struct choice_cost cost;
    if (!lbm_mapping_choice_compare(node, job, entry, &cost))
        return;
    d->was_alone = !cost.is_shared;
    free(d->label);
    d->label = lbm_copy(cost.is_better ? l->label : l->first, (size_t)patch->g.n + patch->n_ghosts,
                        sizeof *d->label);
    if (d->label == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (uint32_t i = 0; i < patch->g.n; i++)
        d->label[i] = lbm_view_host(&node->view, d->label[i]);
    d->label_version = job->shard.built;
    d->cost = cost.is_better ? cost.now : cost.before;
    d->moves = 1;
    d->has_moved = 1;
}
