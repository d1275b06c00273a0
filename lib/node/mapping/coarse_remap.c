/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan of the coarse graph (coarse_plan.h) for a job that runs. Rounds of pairs make loads even again, but
 * neither sees what a third host would give: after some such changes boundaries are long, and no pair sees a
 * way back. So where loads have come to be uneven by much, the coordinator asks for clusters, plans from the
 * mapping there is, and says what goes where. Rounds wait for that a little while, and do what it was too
 * coarse for; without it, they do all. Nobody waits for long, and what has gone elsewhere meanwhile stays
 * there (ADR 16). */
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum {
    EXCESS_PARTS = 200,     /* of all work, so much beyond the limits: less is left to rounds */
    EACH_LEAST = 4,         /* vertices a host */
    VERTICES_MAX = 1 << 17, /* four for each cluster: coarser ones make a worse mapping than rounds */
    LOOK_US = 100000,
    HEAR_US = 1100000,   /* a host that has too much hears within that time whether others have */
    GATHER_US = 1250000, /* within that all have told what changed, if they report once a second */
    HOLD_US = 2000000,   /* rounds wait so long for the coordinator to ask, */
    ANSWER_US = 5000000, /* and then for its plan */
    PARTS_US = 1000000,  /* the coordinator waits so long for clusters */
    CARRY_US = 10000000, /* what cannot go for so long stays */
    COME_US = 500000,    /* and nobody waits for what has not come for so long */
};
_Static_assert(HEAR_US > 2 * PING_US, "a ping there and one back have told whether others have too much");
_Static_assert(HEAR_US < GATHER_US && GATHER_US < HOLD_US,
               "rounds wait until the coordinator has heard, and gathered");
_Static_assert((int)GATHER_US > (int)STATS_AGAIN_US, "all have reported within that time");
_Static_assert(COME_US < CARRY_US && PARTS_US < ANSWER_US, "a part of the wait is shorter than the whole");
_Static_assert((int)VERTICES_MAX <= (int)LBM_VERTICES_MAX, "a guest may be as large");

/* Work beyond the limits of hosts, as heard. */
static uint64_t
excess_of_all(const struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    uint64_t excess = 0;
    for (size_t i = 0; i < node->view.active.n; i++) {
        uint32_t host = node->view.active.at[i];
        const struct load_report *load_report = lbm_local_report_known(job, host);
        uint64_t load = host == node->host    ? lbm_local_load(job)
                        : load_report != NULL ? load_report->load
                                              : 0;
        uint64_t limit = lbm_local_limit(node, entry, host);
        excess += load > limit ? load - limit : 0;
    }
    return excess;
}

/* Nonzero if this host is the job's coordinator, or the coordinator answers soon. */
static int
coordinator_is_near(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    return entry->coordinator == node->host || (!lbm_membership_is_unavailable(node, entry->coordinator) &&
                                                !lbm_membership_is_straggler(node, entry->coordinator));
}

/* Hosts of a large cluster know little of one another, and changes there stay where they are (ADR 8). Where
 * each move has to pay for itself a plan would make too many. */
static int
may_be_planned(struct lbm_node *node, const struct job *job, const struct lbm_job_entry *entry)
{
    uint32_t n_hosts = (uint32_t)node->view.active.n, n = lbm_local_load_count(node, entry);
    return job->drifts && job->flow.state == FLOW_NONE && n_hosts > 2 && n_hosts <= LBM_VIEW_SMALL &&
           n / n_hosts >= EACH_LEAST && n <= VERTICES_MAX && lbm_membership_is_routable(node) &&
           coordinator_is_near(node, entry) && lbm_migration_throttle_price(node, job, 1) <= 0;
}

/* Since when this host has too much. What little it may have had for long does not matter once it has twice
 * as much. */
static void
look_here(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct coarse_plan *o = &job->coarse;
    uint64_t load = lbm_local_load(job), limit = lbm_local_limit(node, entry, node->host);
    if (load <= limit) {
        o->over_us = 0;
    } else if (o->over_us == 0 || load - limit > 2 * o->over) {
        o->over = load - limit;
        o->over_us = node->now_us;
        node->ping_us = node->now_us; /* the others add it up at once */
    }
}

void
lbm_mapping_remap_look(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    struct coarse_plan *o = &job->coarse;
    o->look_us = node->now_us + LOOK_US;
    int is_possible = may_be_planned(node, job, entry);
    if (is_possible)
        look_here(node, job, entry);
    else
        o->over_us = 0;
    if (!is_possible || excess_of_all(node, job, entry) * EXCESS_PARTS < lbm_local_load_whole(node, entry)) {
        o->due_us = 0;
        o->is_spent = 0;
    } else if (o->due_us == 0) {
        o->due_us = node->now_us;
        node->ping_us = node->now_us; /* the coordinator hears of it at once */
    }
}

/* Nonzero from when loads are known to be uneven by much until all is where the plan has it. */
static int
awaits_plan(const struct lbm_node *node, const struct job *job)
{
    const struct coarse_plan *o = &job->coarse;
    int is_asked = o->vertex.n != 0 && node->now_us < o->hold_us;
    int may_be_asked = o->due_us != 0 && !o->is_spent && node->now_us < o->due_us + HOLD_US;
    return job->was_settled && (o->follows || is_asked || may_be_asked);
}

int
lbm_mapping_remap_holds(const struct lbm_node *node, const struct job *job)
{
    const struct coarse_plan *o = &job->coarse;
    int may_be_due = o->over_us != 0 && !o->is_spent && node->now_us < o->over_us + HEAR_US;
    return awaits_plan(node, job) || (job->was_settled && may_be_due);
}

int
lbm_mapping_remap_withholds(struct lbm_node *node, struct job *job)
{
    if (job->was_settled)
        lbm_mapping_remap_look(node, job); /* loads may have been reported since the last look */
    if (!awaits_plan(node, job))
        return 0;
    job->coarse.withheld = 1;
    return 1;
}

/* Boundaries that were left to a plan which has come, or will not. */
static void
make_up(struct lbm_node *node, struct job *job)
{
    job->coarse.withheld = 0;
    if (job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

void
lbm_mapping_remap_answers(struct lbm_node *node, struct job *job)
{
    job->coarse.hold_us = node->now_us + ANSWER_US;
    job->coarse.comes = job->coarse.came = 0;
}

void
lbm_mapping_remap_follow(struct lbm_node *node, struct job *job, size_t n, const uint32_t *host,
                         uint64_t comes)
{
    struct coarse_plan *o = &job->coarse;
    o->comes = comes;
    o->came_us = node->now_us;
    o->follows |= comes != 0;
    for (size_t i = 0; i < o->vertex.n; i++) {
        struct lbm_vertex *vertex = lbm_records_of(job, o->vertex.at[i]);
        uint32_t cluster = o->cluster.at[i];
        if (vertex == NULL || vertex->stage != LBM_STAGE_OWN || vertex->pin != LBM_NONE ||
            vertex->move_to != LBM_NONE || cluster >= n)
            continue;
        vertex->destination = LBM_NONE; /* by the plan before */
        if (host[cluster] == node->host || lbm_migration_throttle_cools(node, job, vertex))
            continue;
        vertex->destination = host[cluster];
        o->follows = 1;
    }
    lbm_local_queue_changed(job);
    lbm_vec_free(&o->vertex);
    lbm_vec_free(&o->cluster);
    o->is_spent = 1;
    o->follow_us = node->now_us;
    o->until_us = node->now_us + CARRY_US;
}

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
    job->coarse.came += vertex->work;
    job->coarse.came_us = node->now_us;
}

/* Nonzero while vertices go as the window allows, or come. What comes is not quite what was predicted if
 * loads have changed since, or if its source keeps it. */
static int
has_in_flight(struct lbm_node *node, struct job *job)
{
    struct coarse_plan *o = &job->coarse;
    if (lbm_migration_queue_pump(node, job) != 0 || job->releasing.n != 0 || job->shard.n_out != 0) {
        o->came_us = node->now_us;
        return 1;
    }
    return o->came < o->comes && node->now_us < o->came_us + COME_US;
}

/* Once all have gone and come, boundaries are looked at. */
static void
follow(struct lbm_node *node, struct job *job)
{
    struct coarse_plan *o = &job->coarse;
    o->follow_us = node->now_us + MAPPING_TICK_US;
    if (node->now_us >= o->until_us)
        forget_targets(job);
    else if (has_in_flight(node, job))
        return;
    o->follows = 0;
    if (job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

void
lbm_mapping_remap_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct coarse_plan *o = &job->coarse;
    if (!job->was_settled)
        return;
    if (o->follows && node->now_us >= o->follow_us)
        follow(node, job);
    if (node->now_us >= o->look_us)
        lbm_mapping_remap_look(node, job);
    if (o->withheld && !awaits_plan(node, job))
        make_up(node, job);
    if (entry->coordinator != node->host || o->state == COARSE_PLANNING || (job->planning && !job->drawing))
        return;
    if (o->state == COARSE_ASKED) {
        lbm_mapping_coarse_continue(node, job, entry);
    } else if (o->due_us != 0 && !o->is_spent && !o->follows && node->now_us >= o->due_us + GATHER_US &&
               node->caught_up) {
        o->again = o->is_spent = 1;
        lbm_mapping_coarse_begin(node, job, entry);
        lbm_mapping_remap_answers(node, job);
        o->until_us = node->now_us + PARTS_US;
    }
}

int64_t
lbm_mapping_remap_deadline(const struct job *job)
{
    const struct coarse_plan *o = &job->coarse;
    int64_t when = o->follows ? o->follow_us : INT64_MAX;
    if (o->again && o->state == COARSE_ASKED && !job->planning && o->until_us < when)
        when = o->until_us;
    int looks = o->withheld || ((o->due_us != 0 || o->over_us != 0) && !o->is_spent);
    if (job->was_settled && looks && o->look_us < when)
        when = o->look_us;
    return when;
}
