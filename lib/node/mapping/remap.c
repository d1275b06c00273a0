/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that runs and has settled is mapped again where loads have become uneven by much. Rounds of pairs
 * make them even as well, but neither of a pair sees what a third host would give: after some such changes
 * boundaries are long. So hosts anneal the labels of what they hold, all at once and from where it is; a
 * vertex that is to move has a price. Records follow the labels if loads are more even then. Rounds wait for
 * that a little while, and do what is left; nobody waits for long, and what has gone elsewhere meanwhile
 * stays there. No host plans for others (ADR 31). */
#include <math.h>
#include <stdlib.h>

#include "map/map.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum {
    EXCESS_PARTS = 200, /* of all work, so much beyond the limits: less is left to rounds */
    SPREAD_PARTS =
        16,         /* of the hosts of a large cluster one has too much, at least: less is a local change */
    TOLD_PARTS = 3, /* of what limits allow: all hear at once of a sum that is so much another one, */
    TO_ALL = 2,     /* in that number of pings */
    EACH_LEAST = 4, /* vertices a host */
    LOOK_US = 100000,
    HEAR_US = 1100000,     /* a host that has too much hears within that time whether others have */
    GATHER_US = 1250000,   /* within that all have told what changed, if they report once a second */
    HOLD_US = 2000000,     /* rounds wait so long for labels to be annealed, */
    ANSWER_US = 5000000,   /* and then for what comes of it */
    ANNEAL_TICK_US = 1000, /* between rounds of annealing: a message gets there in that time */
    BEHIND_MAX = 8,        /* rounds that a slow host makes up for at a time */
    CARRY_US = 10000000,   /* what cannot go for so long stays */
    COME_US = 500000,      /* and nobody waits for what has not come for so long */
};
_Static_assert(HEAR_US > 2 * PING_US, "a ping there and one back have told whether others have too much");
_Static_assert(HEAR_US < GATHER_US && GATHER_US < HOLD_US, "rounds wait until all have heard, and begun");
_Static_assert(COME_US < CARRY_US, "a part of the wait is shorter than the whole");

/* What a unit of work costs that moves: that part of what it costs lbctl plan --current, less where more than
 * UPHEAVAL of all work has to move anyway: a mapping is nearly made again then. */
static const double COST = 0.15, UPHEAVAL = 0.06;
/* The temperature that labels are annealed from, in mean edges; where they begin even: hotter, some hosts
 * take back at once what was to go, since it need not have moved. */
static const double HOT = 1, WARM = 0.5;

/* Work beyond the limits of hosts, as heard. Out: n_over: hosts that have any. */
static uint64_t
add_up_excess(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry,
              uint32_t *n_over)
{
    uint64_t excess = 0;
    *n_over = 0;
    for (size_t i = 0; i < node->view.active.n; i++) {
        uint32_t host = node->view.active.at[i];
        const struct load_report *load_report = lbm_local_report_known(job, host);
        uint64_t load = host == node->host    ? lbm_local_load(job)
                        : load_report != NULL ? load_report->load
                                              : 0;
        uint64_t limit = lbm_local_limit(node, entry, host);
        excess += load > limit ? load - limit : 0;
        *n_over += load > limit;
    }
    return excess;
}

/* The same as all know it: hosts of a large cluster have it from the job's coordinator. */
static uint64_t
excess_of_all(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    uint32_t n_over;
    return lbm_mapping_tree_is_large(node) ? job->remap.uneven : add_up_excess(node, job, entry, &n_over);
}

/* The coordinator hears of all hosts, and tells all of a large cluster at once what they would hear in turn:
 * another sum of loads, and whether they have become uneven at many hosts. A change at a few stays where it
 * is (ADR 8). */
static void
look_for_all(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct remap *r = &job->remap;
    uint32_t n_over, n_hosts = (uint32_t)node->view.active.n;
    uint64_t whole = lbm_local_load_whole(node, entry), excess = add_up_excess(node, job, entry, &n_over);
    double other = fabs((double)whole - (double)(r->told != 0 ? r->told : entry->work));
    int is_uneven = excess * EXCESS_PARTS >= whole && n_over >= n_hosts / SPREAD_PARTS,
        is_more = r->is_spent && !r->anneals && !r->follows && is_uneven && excess > r->least &&
                  (excess - r->least) * EXCESS_PARTS >= whole,
        is_news =
            is_more || is_uneven != (r->uneven != 0) || other * TOLD_PARTS > entry->imbalance * (double)whole;
    r->uneven = is_uneven ? excess : 0;
    r->all_us = node->now_us + LOOK_US;
    if (is_news) {
        r->told = whole;
        r->to_all = TO_ALL;
        node->ping_us = node->now_us;
    } else if (is_uneven && !r->is_spent && r->to_all == 0) {
        r->to_all = 1;
    }
}

/* Nonzero for the coordinator of a job in a large cluster whose loads drift. */
static int
looks_for_all(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    return job->drifts && job->was_settled && entry->coordinator == node->host &&
           lbm_mapping_tree_is_large(node) && node->view.protocol >= LBM_PROTOCOL_LARGE;
}

/* Hosts that come and go are a matter of rounds, which pass over those that are silent (ADR 12). Where each
 * move has to pay for itself labels would make too many. */
static int
may_anneal(struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    uint32_t n_hosts = (uint32_t)node->view.active.n;
    return job->drifts && job->flow.state == FLOW_NONE && n_hosts > 2 &&
           lbm_local_load_count(node, entry) / n_hosts >= EACH_LEAST && lbm_membership_is_routable(node) &&
           lbm_view_number(&node->view, node->host) != LBM_NONE && /* a host that drains has none */
           lbm_migration_throttle_price(node, job, 1) <= 0;
}

/* Since when this host has too much. What little it may have had for long does not matter once it has twice
 * as much. */
static void
look_here(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct remap *r = &job->remap;
    uint64_t load = lbm_local_load(job), limit = lbm_local_limit(node, entry, node->host);
    if (load <= limit) {
        r->over_us = 0;
    } else if (r->over_us == 0 || load - limit > 2 * r->over) {
        r->over = load - limit;
        r->over_us = node->now_us;
        node->ping_us = node->now_us; /* the others add it up at once */
    }
}

/* In a large cluster rounds may not be done when loads become uneven once more. */
static void
look_again(const struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct remap *r = &job->remap;
    r->least = r->uneven < r->least ? r->uneven : r->least;
    if (!r->is_spent || r->anneals || r->follows ||
        (r->uneven - r->least) * EXCESS_PARTS < lbm_local_load_whole(node, entry))
        return;
    r->is_spent = 0;
    r->due_us = 0;
}

void
lbm_mapping_remap_look(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    struct remap *r = &job->remap;
    r->look_us = node->now_us + LOOK_US;
    int is_possible = may_anneal(node, job, entry);
    if (looks_for_all(node, job, entry) && node->now_us >= r->all_us)
        look_for_all(node, job, entry);
    if (is_possible)
        look_here(node, job, entry);
    else
        r->over_us = 0;
    if (is_possible && lbm_mapping_tree_is_large(node))
        look_again(node, job, entry);
    if (!is_possible || excess_of_all(node, job, entry) * EXCESS_PARTS < lbm_local_load_whole(node, entry)) {
        r->due_us = 0;
        r->is_spent = 0;
    } else if (r->due_us == 0) {
        r->due_us = node->now_us;
        node->ping_us = node->now_us; /* the others hear of it at once */
    }
}

/* Nonzero from when loads are known to be uneven by much until all is where labels have it. */
static int
awaits_labels(const struct lbm_node *node, const struct job *job)
{
    const struct remap *r = &job->remap;
    int may_begin = r->due_us != 0 && !r->is_spent && node->now_us < r->due_us + HOLD_US;
    return job->was_settled && (r->follows || r->anneals || may_begin);
}

int
lbm_mapping_remap_holds(const struct lbm_node *node, const struct job *job)
{
    const struct remap *r = &job->remap;
    int may_be_due = r->over_us != 0 && !r->is_spent && node->now_us < r->over_us + HEAR_US;
    return awaits_labels(node, job) || (job->was_settled && may_be_due);
}

int
lbm_mapping_remap_withholds(struct lbm_node *node, struct job *job)
{
    if (job->was_settled)
        lbm_mapping_remap_look(node, job); /* loads may have been reported since the last look */
    if (!awaits_labels(node, job))
        return 0;
    job->remap.withheld = 1;
    return 1;
}

/* ---- annealing ----------------------------------------------------------------------------------------- */

/* What a unit of work costs that moves, in hop-bytes. */
static double
price(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    double work = fmax(1, (double)lbm_local_load_whole(node, entry)),
           must = (double)excess_of_all(node, job, entry) / work,
           part = must > UPHEAVAL ? UPHEAVAL / must * (UPHEAVAL / must) : 1;
    return part * COST *
           lbm_map_migration_cost_of((double)entry->weight, work, lbm_local_load_count(node, entry),
                                     node->view.hosts.n);
}

/* Which vertices labels are of (FNV-1a). */
static uint64_t
hash_patch(const struct lbm_shard *shard)
{
    const struct lbm_patch *patch = &shard->patch;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t row = 0; row < patch->g.n; row++)
        hash = (hash ^ shard->vertices.at[patch->vertex[row]].id) * UINT64_C(1099511628211);
    for (uint32_t i = 0; i < patch->n_ghosts; i++)
        hash = (hash ^ shard->ghosts.at[patch->ghost[i]].id) * UINT64_C(1099511628211);
    return hash ^ patch->g.offset[patch->g.n];
}

/* Nonzero in the first stage of annealing again in a large cluster. */
static int
is_of_loads(const struct diffuse *d)
{
    return d->is_tree && d->stage >= LBM_STAGE_REMAP && d->stage % 2 == 0;
}

static void
stop(struct job *job)
{
    struct diffuse *d = &job->diffuse;
    lbm_mapping_flow_free(&d->flow);
    job->remap.anneals = 0;
    lbm_mapping_levels_free(&d->levels);
    lbm_mapping_labels_free(&d->labels);
    lbm_mapping_sums_forget(d, d->stage);
}

/* Labels are where vertices are, to begin with. */
static void
begin_labels(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    enum lbm_err err = lbm_shard_patch(&job->shard);
    if (err == LBM_OK)
        err = lbm_mapping_choice_begin(node, job, entry);
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    job->diffuse.labels.price = price(node, job, entry);
    job->remap.patch = hash_patch(&job->shard);
}

/* All have told the first host of a large cluster: their loads, which all are to know, or what labels cost.
 */
static void
complete(struct lbm_node *node, struct job *job, struct sums_row *sum)
{
    if (!is_of_loads(&job->diffuse) &&
        lbm_mapping_choice_total(node, lbm_view_job(&node->view, job->id), sum) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* Tell this host's load; who is above and below in the tree hears of the stage at once. */
static void
tell_load(struct lbm_node *node, struct job *job)
{
    uint32_t n = node->view.hosts.n;
    double *value = lbm_alloc(n, sizeof *value);
    if (value == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    value[lbm_view_number(&node->view, node->host)] = 1 + (double)lbm_local_load(job);
    lbm_mapping_sums_tell(node, job, n, value, 0, NULL, NULL);
    free(value);
}

static void
begin_stage(const struct lbm_node *node, struct diffuse *d, uint32_t stage)
{
    d->stage = stage;
    d->is_told = d->has_pushed = 0;
    d->since_us = node->now_us;
    d->tree_us = node->now_us; /* who is above and below in the tree hears of it at once */
    lbm_mapping_sums_forget(d, stage);
}

static void
begin(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, uint32_t stage)
{
    struct remap *r = &job->remap;
    struct diffuse *d = &job->diffuse;
    d->is_tree = lbm_mapping_tree_is_large(node);
    d->complete = complete;
    d->topology = node->view.topology;
    d->hosts = lbm_mapping_hosts_hash(node);
    begin_stage(node, d, stage);
    r->is_spent = r->anneals = 1;
    r->tick_us = node->now_us;
    r->until_us = node->now_us + ANSWER_US;
    r->comes = r->came = 0;
    r->least = r->uneven;
    if (is_of_loads(d))
        tell_load(node, job);
    else
        begin_labels(node, job, entry);
}

/* The first stage of annealing again: in a large cluster two numbers belong to each time, the first of loads.
 */
static uint32_t
first_of(const struct lbm_node *node, uint32_t stage)
{
    return lbm_mapping_tree_is_large(node) ? stage / 2 * 2 : stage;
}

/* Another host anneals the labels of a job that runs: this one joins in. */
static int
may_join(const struct lbm_node *node, const struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    int is_known = job->remap.anneals && is_of_loads(d) && d->heard == d->stage + 1;
    return d->heard >= LBM_STAGE_REMAP && d->heard > d->stage && !is_known && !job->remap.follows &&
           lbm_view_number(&node->view, node->host) != LBM_NONE;
}

/* The vertices that labels send elsewhere, and how much work comes here by those of others. */
static void
follow_labels(struct lbm_node *node, struct job *job, double load)
{
    struct remap *r = &job->remap;
    const struct labels *l = &job->diffuse.labels;
    const struct lbm_patch *patch = &job->shard.patch;
    uint32_t self = lbm_view_number(&node->view, node->host);
    LBM_ASSERT(l->is_over && job->diffuse.levels.level == 0); /* labels are those of rows */
    double comes = load - l->own[self];
    r->comes = comes > 0 ? (uint64_t)comes : 0;
    r->came_us = r->follow_us = node->now_us;
    r->carry_us = node->now_us + CARRY_US;
    r->follows = r->comes != 0;
    for (uint32_t row = 0; row < patch->g.n; row++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        if (vertex->stage != LBM_STAGE_OWN || vertex->pin != LBM_NONE || vertex->move_to != LBM_NONE)
            continue;
        vertex->destination = LBM_NONE;
        if (l->label[row] == self || lbm_migration_throttle_cools(node, job, vertex))
            continue;
        vertex->destination = lbm_view_host(&node->view, l->label[row]);
        r->follows = 1;
    }
    lbm_local_queue_changed(job);
}

/* All have told what their labels cost. */
static void
conclude(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct choice_cost cost;
    if (lbm_mapping_choice_compare(node, job, entry, &cost)) {
        job->whole = cost.work != 0 ? cost.work : job->whole;
        if (job->flow.state == FLOW_NONE && (cost.is_better || cost.is_more_even))
            follow_labels(node, job, cost.load_here);
    }
    stop(job);
    if (!job->remap.follows && job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

/* In a large cluster, once all have told their loads: labels begin even. Returns nonzero if they do. */
static int
level(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    enum sums_state state = lbm_mapping_sums_state(node, job);
    if (state == SUMS_WAITING) {
        lbm_mapping_tree_timer(node, job);
        job->remap.tick_us = node->now_us + TREE_TICK_US;
        return 0;
    }
    if (state == SUMS_PASSED) {
        stop(job);
        return 0;
    }
    if (lbm_mapping_flow_find(node, job, entry) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return 0;
    }
    begin_stage(node, d, d->stage + 1);
    d->tree_us = node->now_us + SUMS_AGAIN_US;
    begin_labels(node, job, entry);
    return node->failed == LBM_OK;
}

/* Nonzero if numbers of hosts mean the same as when labels were begun. */
static int
has_the_same_hosts(const struct lbm_node *node, struct diffuse *d)
{
    if (d->topology == node->view.topology)
        return 1;
    d->topology = node->view.topology;
    return d->hosts == lbm_mapping_hosts_hash(node) && d->is_tree == lbm_mapping_tree_is_large(node);
}

static void
anneal(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct remap *r = &job->remap;
    struct diffuse *d = &job->diffuse;
    int64_t behind = 1 + (node->now_us - r->tick_us) / ANNEAL_TICK_US;
    d->labels.behind = behind < BEHIND_MAX ? (uint32_t)behind : BEHIND_MAX;
    r->tick_us = node->now_us + ANNEAL_TICK_US;
    int is_routable = lbm_membership_is_routable(node);
    if (node->now_us >= r->until_us || lbm_view_number(&node->view, node->host) == LBM_NONE ||
        (is_routable && !has_the_same_hosts(node, d))) {
        stop(job); /* numbers of hosts mean others than before, or somebody does not tell */
        return;
    }
    if (!is_routable)
        return;
    if (is_of_loads(d) && !level(node, job, entry))
        return;
    if (lbm_shard_patch(&job->shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    if (d->levels.version != job->shard.built && r->patch == hash_patch(&job->shard)) {
        d->levels.version = job->shard.built; /* the same vertices, of other work */
    } else if (d->levels.version != job->shard.built) {
        if (d->is_told) {
            stop(job); /* what was told is of other vertices */
            return;
        }
        begin_labels(node, job, entry);
    }
    if (node->failed == LBM_OK && !d->is_told &&
        lbm_mapping_labels_tick(node, job, entry, d->flow.n != 0 ? WARM : HOT))
        lbm_mapping_choice_tell(node, job);
    if (d->is_tree && d->is_told)
        lbm_mapping_labels_answer(node, job);
    if (d->is_tree)
        lbm_mapping_tree_timer(node, job);
    if (node->failed != LBM_OK || !d->is_told)
        return;
    enum sums_state state = lbm_mapping_sums_state(node, job);
    if (state == SUMS_COMPLETE)
        conclude(node, job, entry);
    else if (state == SUMS_PASSED)
        stop(job);
    else if (node->now_us >= d->told_us)
        lbm_mapping_sums_tell_again(node, job);
}

/* ---- records follow ------------------------------------------------------------------------------------ */

static void
forget_targets(struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++)
        if (job->shard.vertices.at[i].stage == LBM_STAGE_OWN)
            job->shard.vertices.at[i].destination = LBM_NONE;
    lbm_local_queue_changed(job);
}

void
lbm_mapping_remap_came(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex)
{
    job->remap.came += vertex->work;
    job->remap.came_us = node->now_us;
}

/* Nonzero while vertices go as the window allows, or come. What comes is not quite what was predicted if
 * loads have changed since, or if its source keeps it. */
static int
has_in_flight(struct lbm_node *node, struct job *job)
{
    struct remap *r = &job->remap;
    if (lbm_migration_queue_pump(node, job) != 0 || job->releasing.n != 0 || job->shard.n_out != 0) {
        r->came_us = node->now_us;
        return 1;
    }
    return r->came < r->comes && node->now_us < r->came_us + COME_US;
}

/* Once all have gone and come, boundaries are looked at. */
static void
follow(struct lbm_node *node, struct job *job)
{
    struct remap *r = &job->remap;
    r->follow_us = node->now_us + MAPPING_TICK_US;
    if (node->now_us >= r->carry_us)
        forget_targets(job);
    else if (has_in_flight(node, job))
        return;
    r->follows = 0;
    if (job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

/* ---- the timer ----------------------------------------------------------------------------------------- */

/* Boundaries that were left to labels which have come, or will not. */
static void
make_up(struct lbm_node *node, struct job *job)
{
    job->remap.withheld = 0;
    if (job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

void
lbm_mapping_remap_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct remap *r = &job->remap;
    if (may_join(node, job) && lbm_membership_is_routable(node))
        begin(node, job, entry, first_of(node, job->diffuse.heard));
    if (r->anneals && node->now_us >= r->tick_us)
        anneal(node, job, entry);
    if (r->follows && node->now_us >= r->follow_us)
        follow(node, job);
    if (!job->was_settled || node->failed != LBM_OK)
        return;
    if (node->now_us >= r->look_us)
        lbm_mapping_remap_look(node, job);
    if (r->withheld && !awaits_labels(node, job))
        make_up(node, job);
    if (!r->anneals && !r->follows && !r->is_spent && r->due_us != 0 &&
        node->now_us >= r->due_us + GATHER_US && node->caught_up)
        begin(node, job, entry,
              job->diffuse.stage >= LBM_STAGE_REMAP ? first_of(node, job->diffuse.stage + 2)
                                                    : LBM_STAGE_REMAP);
}

int64_t
lbm_mapping_remap_deadline(const struct lbm_node *node, const struct job *job)
{
    const struct remap *r = &job->remap;
    int64_t when = r->follows ? r->follow_us : INT64_MAX;
    if (r->anneals && r->tick_us < when)
        when = r->tick_us;
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    int looks = (entry != NULL && looks_for_all(node, job, entry)) || r->withheld ||
                ((r->due_us != 0 || r->over_us != 0) && !r->is_spent);
    if (job->was_settled && looks && r->look_us < when)
        when = r->look_us;
    return when;
}
