/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of this host by id, and what follows from their fields alone: loads and limits, reports of other
 * hosts, marks that a later step of the job acts on. */
#include <math.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "space/space.h"

struct job *
lbm_local_job(const struct lbm_node *node, uint64_t id)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->id == id)
            return node->jobs.at[i];
    return NULL;
}

const struct load_report *
lbm_local_report_known(const struct job *job, uint32_t host)
{
    uint32_t at = lbm_idmap_get(&job->load_report_at, host);
    return at != LBM_NONE ? &job->load_reports.at[at] : NULL;
}

struct load_report *
lbm_local_report_of(struct job *job, uint32_t host)
{
    uint32_t at = lbm_idmap_get(&job->load_report_at, host);
    if (at != LBM_NONE)
        return &job->load_reports.at[at];
    struct load_report load_report = {.host = host};
    if (lbm_vec_reserve(&job->load_reports, 1) != LBM_OK ||
        lbm_idmap_put(&job->load_report_at, host, (uint32_t)job->load_reports.n) != LBM_OK)
        return NULL;
    job->load_reports.at[job->load_reports.n++] = load_report;
    return &job->load_reports.at[job->load_reports.n - 1];
}

uint64_t
lbm_local_load_whole(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    const struct job *job = lbm_local_job(node, entry->job);
    return job != NULL && job->whole != 0 ? job->whole : entry->work;
}

uint32_t
lbm_local_load_count(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    const struct job *job = lbm_local_job(node, entry->job);
    return job != NULL && job->count != 0 ? job->count : entry->vertices;
}

double
lbm_local_load_mean(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    return fmax(1, (double)lbm_local_load_whole(node, entry) / fmax(1, lbm_local_load_count(node, entry)));
}

int
lbm_local_is_withdrawn(const struct job *job, uint32_t host)
{
    for (size_t i = 0; i < job->withdrawn.n; i++)
        if (job->withdrawn.at[i] == host)
            return 1;
    return 0;
}

double
lbm_local_capacity(const struct lbm_node *node, const struct job *job, uint32_t host, double *all)
{
    uint32_t number = lbm_view_number(&node->view, host);
    *all = node->view.active_whole;
    for (size_t i = 0; job != NULL && i < job->withdrawn.n; i++) {
        uint32_t other = lbm_view_number(&node->view, job->withdrawn.at[i]);
        *all -= other != LBM_NONE ? node->view.active_capacity.at[other] : 0;
    }
    return number == LBM_NONE || (job != NULL && lbm_local_is_withdrawn(job, host))
               ? 0
               : node->view.active_capacity.at[number];
}

double
lbm_local_target(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host)
{
    double all, own = lbm_local_capacity(node, lbm_local_job(node, entry->job), host, &all);
    return all > 0 && own > 0 ? (double)lbm_local_load_whole(node, entry) * own / all : 0;
}

/* Of equal vertices the bound in whole ones, the target rounded up at least; else the bound, at least the
 * target and a vertex of mean weight: a host cannot know how whole vertices fit on others, and a single move
 * must fit. In other units of weight the same vertices are within it. */
uint64_t
lbm_local_limit(const struct lbm_node *node, const struct lbm_job_entry *entry, uint32_t host)
{
    double target = lbm_local_target(node, entry, host);
    uint64_t whole = lbm_local_load_whole(node, entry);
    uint32_t count = lbm_local_load_count(node, entry);
    int is_equal = whole == (uint64_t)entry->each_work * count || whole <= count;
    double unit = is_equal && whole > count ? entry->each_work : 1,
           vertex = is_equal ? 0 : (double)whole / count;
    double slack = entry->imbalance * target > vertex ? entry->imbalance * target : vertex;
    double bound = floor((target + slack) / unit * (1 + 1e-12)), least = ceil(target / unit * (1 - 1e-12));
    return (uint64_t)(unit * (bound > least ? bound : least));
}

int64_t
lbm_local_netting_sum(const struct rounds *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->netted.n; i++)
        sum += s->netted.at[i].outstanding;
    return sum;
}

uint64_t
lbm_local_load(const struct job *job)
{
    uint64_t leaving = 0;
    for (size_t i = 0; i < job->releasing.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->releasing.at[i]];
        leaving += vertex->stage == LBM_STAGE_OWN && vertex->move_to != LBM_NONE ? vertex->work : 0;
    }
    int64_t outstanding = lbm_local_netting_sum(&job->rounds);
    uint64_t goes = leaving + (outstanding > 0 ? (uint64_t)outstanding : 0),
             comes = outstanding < 0 ? (uint64_t)-outstanding : 0;
    return job->shard.load + comes > goes ? job->shard.load + comes - goes : 0;
}

void
lbm_local_free_guest(struct job *job)
{
    if (job->guest != NULL)
        lbm_graph_free(job->guest);
    free(job->guest);
    job->guest = NULL;
    lbm_hosts_free(&job->plan_hosts);
    lbm_vec_free(&job->plan_ids);
}

void
lbm_local_ghosts_due(struct job *job, enum ghosts_due what)
{
    job->ghosts_due = what > job->ghosts_due ? what : job->ghosts_due;
}

void
lbm_local_queue_changed(struct job *job)
{
    job->queue.are_listed = 0;
}

void
lbm_local_edges_soon(struct lbm_node *node, struct job *job)
{
    job->news_us = job->news_us < node->now_us ? job->news_us : node->now_us;
}

void
lbm_local_place(const struct job *job, const double *raw, double *x)
{
    lbm_affine_apply(&job->normalization, raw, x);
}

/* The row nearest to the partner's site, for hosts that share no boundary. */
uint32_t
lbm_local_nearest_row(const struct lbm_node *node, const struct job *job, uint32_t partner)
{
    const struct lbm_patch *patch = &job->shard.patch;
    unsigned m = job->shard.m;
    double least = 0;
    uint32_t best = LBM_NONE;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        double x[LBM_DIMENSIONS_MAX];
        lbm_local_place(job, &patch->x[(size_t)row * m], x);
        double d2 = lbm_space_distance2(x, &node->view.hosts.site[(size_t)partner * m], m, 0);
        if (best == LBM_NONE || d2 < least) {
            least = d2;
            best = row;
        }
    }
    return best;
}
