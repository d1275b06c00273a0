/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annealed labels (Metropolis et al. 1953, Kirkpatrick et al. 1983), by all hosts at once: each draws
 * clusters of its own, and gives them labels of their neighbours, also if hop-bytes rise a little, less and
 * less so. What it knows of others is late: labels of neighbours elsewhere, and how much work others have for
 * whom. So too much at a host costs little, and what this host has just given counts for as many as may do
 * the same. Coarse clusters first. Records stay where they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"

enum {
    DRAWS_TICK = 100000, /* some ten milliseconds */
    ALL_TICKS = 64,      /* everything is told again this often */
    LOADS_TICKS = 2,     /* what work is for whom, to all */
    LAST_TICKS = 6,      /* and at the end all that is waited for */
    AHEAD_TICKS = 6,     /* without a word of some host this one is ahead of it, and waits for it, */
    AHEAD_US = 1000000,  /* but no longer than that */
    LINK_BITS = 6,       /* one draw in 2^6 tries a host linked to the label, not the label of a neighbour */
};

/* How labels are annealed. */
struct cooling {
    uint32_t rounds, rounds_least; /* on the coarsest level, less the more clusters there are, at least */
    uint32_t rounds_tick;          /* on views that stay the same */
    double warm, coldest;          /* mean edges; warm: at most, below the coarsest level */
    double strictness;             /* of work over a limit, in mean clusters z: strictness (z^2 + z) */
};
static const struct cooling together = {600, 24, 3, 0.5, 0.08, 0.3};
static const struct cooling many = {600, 200, 3, 2, 0.05, 0.3};            /* together, in a large cluster */
static const struct cooling alone = {1200, 8, LBM_ROWS_MAX, 0.5, 0.08, 2}; /* nobody else holds neighbours */
static const struct cooling running = {300, 250, 1, 0.5, 0.1, 2}; /* few vertices move, to where they stay */

void
lbm_mapping_labels_free(struct labels *l)
{
    free(l->label);
    free(l->own);
    free(l->before);
    free(l->heard);
    free(l->others);
    free(l->holders);
    free(l->heard_tick);
    free(l->first);
    free(l->pin);
    free(l->told);
    free(l->limit);
    free(l->is_known);
    free(l->is_wanted);
    free(l->asked);
    lbm_vec_free(&l->asker);
    *l = (struct labels){0};
}

static void
count_own(const struct job *job, struct labels *l, uint32_t level)
{
    const struct lbm_graph *g = lbm_mapping_levels_graph(job, level);
    memset(l->own, 0, l->n_hosts * sizeof *l->own);
    for (uint32_t v = 0; v < g->n; v++)
        l->own[l->label[v]] += lbm_graph_work(g, v);
}

/* ---- begin --------------------------------------------------------------------------------------------- */

static const struct cooling *
cooling_of(const struct job *job)
{
    return job->shard.patch.n_ghosts == 0          ? &alone
           : job->diffuse.stage >= LBM_STAGE_REMAP ? &running
           : job->diffuse.is_tree                  ? &many
                                                   : &together;
}

static void
begin_level(struct job *job)
{
    struct labels *l = &job->diffuse.labels;
    const struct diffuse_levels *levels = &job->diffuse.levels;
    const struct lbm_graph *g = lbm_mapping_levels_graph(job, levels->level);
    const struct cooling *cooling = cooling_of(job);
    uint64_t rounds = (uint64_t)cooling->rounds * l->n_top / (g->n != 0 ? g->n : 1);
    l->rounds = rounds > cooling->rounds_least ? (uint32_t)rounds : cooling->rounds_least;
    l->round = 0;
}

/* Labels of clusters from those of what is in them, which are all the same. */
static enum lbm_err
lift(struct job *job, const uint32_t *label)
{
    struct labels *l = &job->diffuse.labels;
    const struct diffuse_levels *levels = &job->diffuse.levels;
    const struct lbm_patch *patch = &job->shard.patch;
    const struct lbm_graph *top = lbm_mapping_levels_graph(job, levels->level);
    l->label = lbm_alloc((size_t)patch->g.n + patch->n_ghosts, sizeof *l->label);
    if (l->label == NULL)
        return LBM_E_NOMEM;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        uint32_t cluster = row;
        for (uint32_t i = 0; i < levels->level; i++)
            cluster = levels->parent[i][cluster];
        l->label[cluster] = label[row];
    }
    memcpy(&l->label[top->n], &label[patch->g.n], patch->n_ghosts * sizeof *label);
    return LBM_OK;
}

enum lbm_err
lbm_mapping_labels_begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                         const uint32_t *label)
{
    struct labels *l = &job->diffuse.labels;
    const struct lbm_patch *patch = &job->shard.patch;
    uint32_t n = node->view.hosts.n;
    lbm_mapping_labels_free(l);
    enum lbm_err err = lbm_mapping_levels_build(node, job, entry, 0, label);
    if (err == LBM_OK)
        err = lift(job, label);
    l->n_hosts = n;
    l->own = lbm_alloc(n, sizeof *l->own);
    l->before = lbm_alloc(n, sizeof *l->before);
    enum lbm_err asking = job->diffuse.is_tree ? lbm_mapping_loads_begin(node, job, entry) : LBM_OK;
    l->heard = job->diffuse.is_tree ? NULL : lbm_alloc((size_t)n * n, sizeof *l->heard);
    l->others = lbm_alloc(n, sizeof *l->others);
    l->holders = lbm_alloc(n, sizeof *l->holders);
    l->heard_tick = lbm_alloc(n, sizeof *l->heard_tick);
    l->first = lbm_copy(label, (size_t)patch->g.n + patch->n_ghosts, sizeof *l->first);
    l->pin = lbm_alloc(patch->g.n, sizeof *l->pin);
    for (uint32_t row = 0; l->pin != NULL && row < patch->g.n; row++)
        l->pin[row] = job->shard.vertices.at[patch->vertex[row]].pin;
    l->told = lbm_copy(label, patch->g.n, sizeof *l->told);
    if (err == LBM_OK &&
        (l->own == NULL || l->before == NULL || asking != LBM_OK ||
         (l->heard == NULL && !job->diffuse.is_tree) || l->others == NULL || l->holders == NULL ||
         l->heard_tick == NULL || l->first == NULL || l->pin == NULL || l->told == NULL))
        err = LBM_E_NOMEM;
    if (err != LBM_OK)
        return err;
    l->n_top = lbm_mapping_levels_graph(job, job->diffuse.levels.level)->n;
    count_own(job, l, job->diffuse.levels.level);
    memcpy(l->before, l->own, n * sizeof *l->before);
    begin_level(job);
    return LBM_OK;
}

/* ---- annealing ----------------------------------------------------------------------------------------- */

struct anneal {
    struct labels *l;
    const struct lbm_graph *g;
    struct lbm_hosts *h;
    const uint32_t *pin; /* or NULL */
    const double *limit; /* [hosts] */
    double temperature, mean_edge, mean_work, strictness;
    uint32_t self; /* number of this host */
    int is_late;
};

static double
penalty(const struct anneal *a, uint32_t q, double more)
{
    const struct labels *l = a->l;
    double own = l->own[q] + more, gained = own - l->before[q];
    double load = l->others[q] + own + (a->is_late && gained > 0 ? sqrt(l->holders[q]) * gained : 0);
    double z = (load - a->limit[q]) / a->mean_work;
    return z > 0 ? a->strictness * (z * z + z) : 0;
}

/* Another label for a cluster; its own: none. */
static uint32_t
candidate(const struct anneal *a, uint32_t v, struct lbm_rng *rng)
{
    uint32_t degree = (uint32_t)(a->g->offset[v + 1] - a->g->offset[v]), p = a->l->label[v];
    uint32_t links = a->h->offset[p + 1] - a->h->offset[p];
    if (degree == 0 || lbm_rng_below(rng, 1u << LINK_BITS) == 0)
        return links != 0 ? a->h->target[a->h->offset[p] + lbm_rng_below(rng, links)] : p;
    return a->l->label[a->g->target[a->g->offset[v] + lbm_rng_below(rng, degree)]];
}

/* In a large cluster hosts are asked what others have for them once that matters. */
static int
is_known(struct labels *l, uint32_t q)
{
    if (l->is_known == NULL || l->is_known[q])
        return 1;
    l->is_wanted[q] = 1;
    return 0;
}

static enum lbm_err
draw(const struct anneal *a, struct lbm_rng *rng)
{
    uint32_t v = lbm_rng_below(rng, a->g->n), p = a->l->label[v], q = candidate(a, v, rng);
    if (q == p || (a->pin != NULL && a->pin[v] != LBM_NONE))
        return LBM_OK;
    if (!is_known(a->l, p) || !is_known(a->l, q)) /* how full the hosts are; it is asked */
        return LBM_OK;
    if (lbm_hosts_route_from(a->h, p) != LBM_OK || lbm_hosts_route_from(a->h, q) != LBM_OK)
        return LBM_E_NOMEM;
    const uint32_t *here = lbm_dist_row(a->h, p), *there = lbm_dist_row(a->h, q);
    double bytes = 0, work = lbm_graph_work(a->g, v);
    for (uint64_t e = a->g->offset[v]; e < a->g->offset[v + 1]; e++) {
        uint32_t r = a->l->label[a->g->target[e]];
        bytes += (double)lbm_graph_weight(a->g, e) * ((double)there[r] - (double)here[r]);
    }
    bytes += a->l->price * work * ((q != a->self) - (p != a->self));
    double energy = bytes / a->mean_edge + penalty(a, q, work) - penalty(a, q, 0) + penalty(a, p, -work) -
                    penalty(a, p, 0);
    if (energy > 0 && lbm_rng_unit(rng) >= exp(-energy / a->temperature))
        return LBM_OK;
    a->l->label[v] = q;
    a->l->own[p] -= work;
    a->l->own[q] += work;
    return LBM_OK;
}

/* Between clusters: of neighbours elsewhere only single vertices are known. They count if there is nothing
 * else. */
static double
mean_edge(const struct lbm_graph *g)
{
    double sum[2] = {0, 0}, n[2] = {0, 0};
    for (uint64_t e = 0; e < g->offset[g->n]; e++) {
        int is_elsewhere = g->target[e] >= g->n;
        sum[is_elsewhere] += lbm_graph_weight(g, e);
        n[is_elsewhere]++;
    }
    return sum[0] > 0 ? sum[0] / n[0] : sum[1] > 0 ? sum[1] / n[1] : 1;
}

static double
mean_work(const struct lbm_graph *g)
{
    double sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum += lbm_graph_work(g, v);
    return sum > 0 ? sum / g->n : 1;
}

/* Some rounds on the present level, of as many draws as there are clusters: as many as a tick has time for,
 * and few where others have yet to hear of them. */
static enum lbm_err
anneal(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, double hottest)
{
    struct labels *l = &job->diffuse.labels;
    const struct diffuse_levels *levels = &job->diffuse.levels;
    const struct lbm_graph *g = lbm_mapping_levels_graph(job, levels->level);
    double *limit = l->limit != NULL ? l->limit : lbm_alloc(l->n_hosts, sizeof *limit);
    if (limit == NULL)
        return LBM_E_NOMEM;
    if (limit != l->limit)
        lbm_mapping_loads_limit(node, entry, l->n_hosts, limit);
    int is_late = job->shard.patch.n_ghosts != 0;
    const struct cooling *cooling = cooling_of(job);
    struct anneal a = {.l = l,
                       .g = g,
                       .h = &node->view.hosts,
                       .pin = levels->level != 0 ? levels->pin[levels->level - 1] : l->pin,
                       .limit = limit,
                       .mean_edge = mean_edge(g),
                       .mean_work = mean_work(g),
                       .strictness = cooling->strictness,
                       .self = lbm_view_number(&node->view, node->host),
                       .is_late = is_late};
    double first = levels->level == levels->n || hottest < cooling->warm ? hottest : cooling->warm;
    enum lbm_err err = LBM_OK;
    uint32_t rounds = l->rounds - l->round, most = g->n != 0 ? DRAWS_TICK / g->n + 1 : 1;
    uint32_t rounds_tick = cooling->rounds_tick * (l->behind != 0 ? l->behind : 1);
    most = most < rounds_tick ? most : rounds_tick;
    for (uint32_t k = 0; k < most && k < rounds && err == LBM_OK; k++) {
        a.temperature =
            first * pow(cooling->coldest / first, l->rounds > 1 ? (double)l->round / (l->rounds - 1) : 1);
        for (uint32_t i = 0; i < g->n && err == LBM_OK; i++)
            err = draw(&a, &node->rng);
        l->round++;
    }
    free(limit != l->limit ? limit : NULL);
    return err;
}

/* On to the next finer level. */
static enum lbm_err
descend(struct job *job)
{
    struct labels *l = &job->diffuse.labels;
    struct diffuse_levels *levels = &job->diffuse.levels;
    const struct lbm_patch *patch = &job->shard.patch;
    uint32_t n = lbm_mapping_levels_graph(job, levels->level)->n, *fine;
    levels->level--;
    uint32_t n_fine = lbm_mapping_levels_graph(job, levels->level)->n;
    fine = lbm_alloc((size_t)n_fine + patch->n_ghosts, sizeof *fine);
    if (fine == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < n_fine; v++)
        fine[v] = l->label[levels->parent[levels->level][v]];
    memcpy(&fine[n_fine], &l->label[n], patch->n_ghosts * sizeof *fine);
    free(l->label);
    l->label = fine;
    begin_level(job);
    return LBM_OK;
}

enum lbm_err
lbm_mapping_labels_end(struct job *job, const uint32_t *first)
{
    struct labels *l = &job->diffuse.labels;
    enum lbm_err err = LBM_OK;
    while (job->diffuse.levels.level != 0 && err == LBM_OK)
        err = descend(job);
    if (err == LBM_OK)
        memcpy(l->first, first, job->shard.patch.g.n * sizeof *first);
    l->is_over = 1;
    return err;
}

/* ---- telling ------------------------------------------------------------------------------------------- */

static void
send_labels(struct lbm_node *node, struct label_batch *batch, Lbm__Labels *labels)
{
    labels->n_vertex = labels->n_label = batch->vertex.n;
    labels->vertex = batch->vertex.at;
    labels->label = batch->label.at;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LABELS;
    message.labels = labels;
    uint32_t via = lbm_mapping_sums_relay(node, batch->host);
    labels->to = via != LBM_NONE ? 1 + batch->host : 0;
    lbm_core_send_now(node, via != LBM_NONE ? via : batch->host, &message);
}

struct label_batch *
lbm_mapping_labels_batch(label_batches *batches, uint32_t host)
{
    for (size_t i = 0; i < batches->n; i++)
        if (batches->at[i].host == host)
            return &batches->at[i];
    struct label_batch fresh = {.host = host, .last_row = LBM_NONE};
    return lbm_vec_push(batches, fresh) == LBM_OK ? &batches->at[batches->n - 1] : NULL;
}

/* Labels of rows that have changed, or all, by the hosts of their neighbours. */
static enum lbm_err
gather(struct lbm_node *node, struct job *job, int all, label_batches *batches)
{
    struct labels *l = &job->diffuse.labels;
    const struct diffuse_levels *levels = &job->diffuse.levels;
    const struct lbm_patch *patch = &job->shard.patch;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        uint32_t cluster = row;
        for (uint32_t i = 0; i < levels->level; i++)
            cluster = levels->parent[i][cluster];
        if (!all && l->told[row] == l->label[cluster])
            continue;
        l->told[row] = l->label[cluster];
        for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1]; e++) {
            if (patch->g.target[e] < patch->g.n)
                continue;
            uint32_t host = job->shard.ghosts.at[patch->ghost[patch->g.target[e] - patch->g.n]].host;
            struct label_batch *batch =
                host != LBM_NONE && host != node->host ? lbm_mapping_labels_batch(batches, host) : NULL;
            if (batch == NULL || batch->last_row == row || batch->vertex.n == LBM_ROWS_MAX)
                continue;
            batch->last_row = row;
            if (lbm_vec_push(&batch->vertex, job->shard.vertices.at[patch->vertex[row]].id) != LBM_OK ||
                lbm_vec_push(&batch->label, lbm_view_host(&node->view, l->told[row])) != LBM_OK)
                return LBM_E_NOMEM;
        }
    }
    return LBM_OK;
}

static void
tell(struct lbm_node *node, struct job *job, int all, int loads)
{
    struct labels *l = &job->diffuse.labels;
    label_batches batches = {0};
    LBM_VEC(uint32_t) host = {0};
    LBM_VEC(uint64_t) work = {0};
    enum lbm_err err = gather(node, job, all, &batches);
    int is_asking = l->is_known != NULL;
    if (is_asking)
        lbm_mapping_loads_add_up(node, l); /* more may have told since */
    if (is_asking && loads && err == LBM_OK)
        err = lbm_mapping_loads_due(node, l, all, &batches);
    if (is_asking && err == LBM_OK && (lbm_vec_push(&host, 0) != LBM_OK || lbm_vec_push(&work, 0) != LBM_OK))
        err = LBM_E_NOMEM;
    for (uint32_t q = 0; !is_asking && q < l->n_hosts && err == LBM_OK; q++)
        if (l->own[q] > 0 && (lbm_vec_push(&host, lbm_view_host(&node->view, q)) != LBM_OK ||
                              lbm_vec_push(&work, (uint64_t)l->own[q]) != LBM_OK))
            err = LBM_E_NOMEM;
    for (size_t i = 0; loads && !is_asking && i < node->view.members.n && err == LBM_OK; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host != node->host && member->state == LBM_MEMBER_ACTIVE &&
            lbm_mapping_labels_batch(&batches, member->host) == NULL)
            err = LBM_E_NOMEM;
    }
    Lbm__Labels labels = LBM__LABELS__INIT;
    labels.job = job->id;
    labels.stage = job->diffuse.stage;
    labels.stamp = ++l->stamp;
    labels.n_host = host.n;
    labels.host = host.at;
    labels.n_work = work.n;
    labels.work = work.at;
    for (size_t i = 0; i < batches.n; i++) {
        if (err == LBM_OK && is_asking)
            lbm_mapping_loads_tell(node, l, batches.at[i].host, work.at, &labels);
        if (err == LBM_OK)
            send_labels(node, &batches.at[i], &labels);
        lbm_vec_free(&batches.at[i].vertex);
        lbm_vec_free(&batches.at[i].label);
    }
    memcpy(l->before, l->own, l->n_hosts * sizeof *l->before);
    lbm_vec_free(&batches);
    lbm_vec_free(&host);
    lbm_vec_free(&work);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
}

/* Nonzero if this host anneals quicker than another one, of which it has heard nothing for several ticks:
 * what it knows of that one would be too old. A host that has told of this stage, or a later one, is silent,
 * or is behind a slow link is not waited for. */
static int
is_ahead(const struct lbm_node *node, const struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    const struct labels *l = &d->labels;
    if (d->is_tree || d->stage >= LBM_STAGE_REMAP || l->is_over || node->now_us >= l->ticked_us + AHEAD_US)
        return 0;
    for (size_t i = 0; i < node->view.active.n; i++) {
        uint32_t host = node->view.active.at[i], number = lbm_view_number(&node->view, host);
        if (host != node->host && number < l->n_hosts && l->ticks > l->heard_tick[number] + AHEAD_TICKS &&
            lbm_mapping_sums_stage(d, host) < d->stage && !lbm_membership_is_unavailable(node, host) &&
            !lbm_membership_is_straggler(node, host))
            return 1;
    }
    return 0;
}

void
lbm_mapping_labels_answer(struct lbm_node *node, struct job *job)
{
    struct labels *l = &job->diffuse.labels;
    if (l->label == NULL || !l->is_news || !job->shard.patch.valid)
        return;
    tell(node, job, 0, 1);
}

int
lbm_mapping_labels_tick(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry,
                        double temperature)
{
    struct labels *l = &job->diffuse.labels;
    struct diffuse_levels *levels = &job->diffuse.levels;
    if (is_ahead(node, job))
        return 0;
    l->ticked_us = node->now_us;
    uint32_t tick = l->ticks++;
    if (l->is_over) {
        if (tick == 1)
            tell(node, job, 1, 1);
        return tick >= LAST_TICKS;
    }
    enum lbm_err err = LBM_OK;
    lbm_mapping_loads_add_up(node, l);
    if (tick >= LAST_TICKS || job->shard.patch.n_ghosts == 0) /* else what others have is not known yet */
        err = anneal(node, job, entry, temperature);
    if (err == LBM_OK && l->round >= l->rounds && levels->level != 0)
        err = descend(job);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return 0;
    }
    int all =
        tick % ALL_TICKS == 0 || (job->diffuse.flow.n != 0 && tick < LAST_TICKS); /* others come later */
    tell(node, job, all, tick % LOADS_TICKS == 0);
    if (l->round >= l->rounds && levels->level == 0) {
        l->is_over = 1;
        l->ticks = 1;
    }
    return 0;
}

/* Pass on the labels of another host. */
static void
relay(struct lbm_node *node, const Lbm__Peer *message)
{
    uint32_t to = message->labels->to - 1;
    const struct lbm_member *member = lbm_view_member(&node->view, to);
    if (message->labels->of != 0 || to == message->src || member == NULL || !lbm_view_participates(member))
        return;
    Lbm__Labels labels = *message->labels;
    labels.of = 1 + message->src;
    labels.to = 0;
    Lbm__Peer passed = LBM__PEER__INIT;
    passed.body_case = LBM__PEER__BODY_LABELS;
    passed.labels = &labels;
    lbm_core_send_now(node, to, &passed);
}

void
lbm_mapping_on_labels(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Labels *labels = message->labels;
    if (labels->to != 0 && labels->to - 1 != node->host) {
        relay(node, message);
        return;
    }
    struct job *job = lbm_local_job(node, labels->job);
    if (job == NULL)
        return;
    struct labels *l = &job->diffuse.labels;
    if (!lbm_local_within_reach(node, message->src, "stage", labels->stage, job->diffuse.stage,
                                LBM_STAGE_STEP))
        return;
    job->diffuse.heard = labels->stage > job->diffuse.heard ? labels->stage : job->diffuse.heard;
    uint32_t src = lbm_view_number(&node->view, labels->of != 0 ? labels->of - 1 : message->src);
    if (l->label == NULL || labels->stage != job->diffuse.stage || src == LBM_NONE || src >= l->n_hosts ||
        !job->shard.patch.valid || job->diffuse.levels.version != job->shard.built)
        return;
    l->heard_tick[src] = l->ticks;
    if (l->heard == NULL)
        lbm_mapping_loads_heard(node, l, src, labels);
    else
        memset(&l->heard[(size_t)src * l->n_hosts], 0, l->n_hosts * sizeof *l->heard);
    for (size_t i = 0; l->heard != NULL && i < labels->n_host; i++) {
        uint32_t q = lbm_view_number(&node->view, labels->host[i]);
        if (q < l->n_hosts)
            l->heard[(size_t)src * l->n_hosts + q] = (double)labels->work[i];
    }
    uint32_t rows = lbm_mapping_levels_graph(job, job->diffuse.levels.level)->n, n = job->shard.patch.g.n;
    for (size_t i = 0; i < labels->n_vertex; i++) {
        const struct lbm_ghost *ghost = lbm_shard_ghost(&job->shard, labels->vertex[i]);
        uint32_t q = lbm_view_number(&node->view, labels->label[i]);
        if (ghost != NULL && ghost->at != LBM_NONE && ghost->at >= n &&
            ghost->at < n + job->shard.patch.n_ghosts && q < l->n_hosts)
            l->label[rows + (ghost->at - n)] = q;
    }
}
