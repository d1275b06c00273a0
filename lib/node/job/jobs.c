/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job on this host (architecture.md, "Life of a job"): from the log's word to SETTLED. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/job/internal.h"
#include "node/job/job.h"
#include "node/local/local.h"
#include "node/log/log.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"
#include "node/replication/replication.h"

void
lbm_job_free_all(struct lbm_node *node)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        lbm_job_free(node->jobs.at[i]);
    for (size_t i = 0; i < node->removed.n; i++)
        lbm_job_free(node->removed.at[i]);
    lbm_vec_free(&node->jobs);
    lbm_vec_free(&node->removed);
}

static int
is_coordinator(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    return entry != NULL && entry->coordinator == node->host;
}

/* ---- recovery and the log's word ------------------------------------------------------------------ */

static void
recover_job(struct lbm_node *node, const struct lbm_recovered_job *recovered)
{
    struct job *job = lbm_job_add(node, recovered->job);
    if (job == NULL)
        return;
    job->stored = recovered->state;
    if (recovered->state != LBM_JOB_PENDING)
        return;
    /* Whether the append got through is not known: it is proposed again; the log takes it once. */
    job->pending = lbm_copy(recovered->command, recovered->len, 1);
    job->pending_len = recovered->len;
    if (job->pending == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    else
        lbm_job_slice_recover(job);
}

void
lbm_job_recover(struct lbm_node *node, struct lbm_recovered *recovered)
{
    for (size_t i = 0; i < recovered->jobs.n && node->failed == LBM_OK; i++)
        recover_job(node, &recovered->jobs.at[i]);
    struct job *job = NULL;
    for (size_t i = 0; i < recovered->rows.n && node->failed == LBM_OK; i++) {
        struct lbm_row *row = &recovered->rows.at[i];
        if (job == NULL || job->id != row->job)
            job = lbm_local_job(node, row->job);
        if (job == NULL) {
            lbm_core_note(node, LBM_NOTE_ERROR, "stored vertex %" PRIu32 " belongs to no stored job",
                          row->vertex);
            lbm_core_fail(node, LBM_E_CORRUPT);
        } else if (lbm_shard_put(&job->shard, row) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
        } else {
            uint32_t slot = (uint32_t)job->shard.vertices.n - 1;
            job->shard.vertices.at[slot].since_us = node->now_us;
            if (job->shard.vertices.at[slot].seq > job->pending_seq)
                job->pending_seq = job->shard.vertices.at[slot].seq;
            lbm_records_list(node, job, slot);
        }
    }
}

/* The normalization of an anchored guest is fixed at its coordinator, which has a record of every vertex.
 * Should all hosts have restarted, nobody else knows. */
static void
recover_normalization(struct job *job, const struct lbm_job_entry *entry)
{
    if (!lbm_local_follows_regions(entry))
        return; /* ownership does not depend on it, and others may know the regions' weights */
    for (size_t i = 0; i < job->shard.vertices.n && !job->normalization_fixed; i++)
        job->normalization_fixed = job->shard.vertices.at[i].anchored;
    job->normalization_seq = job->normalization_fixed ? 1 : 0;
}

void
lbm_job_created(struct lbm_node *node, const struct lbm_job_entry *entry)
{
    struct job *job = lbm_local_job(node, entry->job);
    int known = job != NULL;
    if (job == NULL)
        job = lbm_job_add(node, entry->job);
    if (job == NULL)
        return;
    if (!known || job->stored == LBM_JOB_PENDING)
        lbm_job_store_state(node, job, LBM_JOB_SUBMITTED);
    free(job->pending);
    job->pending = NULL;
    job->part.is_slice = 0;
    if (job->shard.m != node->view.m) { /* recovered before the log said how many the cluster has */
        job->shard.m = node->view.m;
        lbm_affine_identity(&job->normalization, node->view.m);
    }
    job->phase = entry->coordinator == node->host && job->stored == LBM_JOB_PLACED ? LBM_PHASE_PLACED
                                                                                   : LBM_PHASE_SUBMITTED;
    if (job->phase == LBM_PHASE_PLACED)
        recover_normalization(job, entry);
    job->tick_us = node->now_us;
    lbm_exchange_policy_tell_unknown(node, entry);
    lbm_job_answer_submit(node, job, LBM_OK, "");
}

/* It is dropped at once if the log cannot have it, else as soon as that is known (jobs_overdue). */
void
lbm_job_given_up(struct lbm_node *node, uint64_t id, uint64_t at)
{
    struct job *job = lbm_local_job(node, id);
    if (job == NULL || lbm_view_job(&node->view, id) != NULL)
        return;
    if (at != 0) {
        job->dropped_at = at;
        job->until_us = 0;
        lbm_job_answer_submit(
            node, job, LBM_E_TIMEOUT,
            "the control log has not said in time whether it has the job: lbctl jobs tells, once it can "
            "be written again");
        return;
    }
    char awaited[160], text[LBM_DIAG_TEXT_MAX];
    if (job->proposed)
        lbm_log_tell_wait(node, awaited, sizeof awaited);
    else
        snprintf(awaited, sizeof awaited,
                 "host %" PRIu32 ", this host's backup, which has yet to store the guest",
                 node->replication.log[0].backup);
    snprintf(
        text, sizeof text,
        "the control log could not be written in time (it waits for %s): there is no job, and there will "
        "be none",
        awaited);
    lbm_job_answer_submit(node, job, LBM_E_TIMEOUT, text);
    lbm_job_deleted(node, id);
}

void
lbm_job_lost_all(struct lbm_node *node)
{
    while (node->jobs.n != 0) {
        struct job *job = node->jobs.at[0];
        lbm_job_answer_submit(node, job, LBM_E_STATE,
                              "this host was evicted before the job was taken; submit it again");
        lbm_job_remove(node, job->id);
    }
}

/* Nobody waits for a host that takes nothing any more. */
static void
drop_targets(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        const struct lbm_member *member =
            vertex->destination != LBM_NONE ? lbm_view_member(&node->view, vertex->destination) : NULL;
        if (member == NULL || member->state != LBM_MEMBER_ACTIVE)
            vertex->destination = LBM_NONE;
    }
}

/* Nonzero if a host that the entry touches is believed to own neighbours of our vertices. */
static int
is_touched(const struct lbm_node *node, const struct job *job, int all)
{
    for (size_t i = 0; i < job->shard.ghosts.n && !all; i++)
        for (size_t k = 0; k < node->view.touched.n && !all; k++)
            all = job->shard.ghosts.at[i].host == node->view.touched.at[k];
    return all;
}

static int
is_balancing(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        if (node->jobs.at[i]->phase == LBM_PHASE_BALANCING)
            return 1;
    return 0;
}

void
lbm_job_view_changed(struct lbm_node *node, int topology_changed, int all)
{
    int links_changed = topology_changed && is_balancing(node) && lbm_exchange_links_changed(node);
    for (size_t i = 0; i < node->jobs.n; i++) {
        struct job *job = node->jobs.at[i];
        lbm_migration_view_changed(node, job);
        if (is_coordinator(node, job) && job->phase == LBM_PHASE_PLACED && job->tick_us == INT64_MAX)
            job->tick_us = node->now_us; /* a coordinator by inheritance */
        job->finish_us = job->unfinished.n != 0 && job->finish_us > node->now_us + PING_US
                             ? node->now_us + PING_US
                             : job->finish_us;
        if (!topology_changed)
            continue;
        if (is_touched(node, job, all))
            lbm_local_ghosts_due(job, GHOSTS_ALL);
        if (node->caught_up)
            drop_targets(node, job);
        if (node->caught_up && job->phase >= LBM_PHASE_BALANCING)
            lbm_migration_pinned_look(node, job);
        lbm_exchange_topology_changed(node, job, all, links_changed);
    }
}

/* ---- phases ---------------------------------------------------------------------------------------- */

static void
store_positions(struct lbm_node *node, struct job *job)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_POSITIONS, .job = job->id};
    uint32_t n = job->shard.n_own, at = 0;
    unsigned m = job->shard.m;
    op.as.plan.n = n;
    op.as.plan.m = m;
    op.as.plan.vertex = lbm_alloc(n, sizeof *op.as.plan.vertex);
    op.as.plan.position = lbm_alloc((size_t)n * m, sizeof(double));
    if (op.as.plan.vertex == NULL || op.as.plan.position == NULL) {
        free(op.as.plan.vertex);
        free(op.as.plan.position);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm_shard_write_back(&job->shard);
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (vertex->stage != LBM_STAGE_OWN)
            continue;
        op.as.plan.vertex[at] = vertex->id;
        memcpy(&op.as.plan.position[(size_t)at++ * m], vertex->x, m * sizeof(double));
    }
    LBM_ASSERT(at == n);
    lbm_core_persist(node, op);
}

void
lbm_job_enter(struct lbm_node *node, struct job *job, enum lbm_phase phase)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (job->phase != phase)
        lbm_core_note(node, LBM_NOTE_DEBUG, "job %s: %s, %" PRIu32 " vertices here",
                      entry != NULL ? entry->name : "?", lbm_phase_name(phase), job->shard.n_own);
    int mapped = job->phase == LBM_PHASE_MAPPING;
    job->phase = phase;
    if (phase != LBM_PHASE_BALANCING)
        job->rounds.netted.n = 0;
    job->tick_us = phase == LBM_PHASE_PLACED && !is_coordinator(node, job) ? INT64_MAX : node->now_us;
    node->ping_us = node->now_us; /* the others hear of it at once */
    switch (phase) {
    case LBM_PHASE_MAPPING:
        job->ready = 0;
        job->converged = 0;
        job->sweeps = 0;
        lbm_local_ghosts_due(job, GHOSTS_ALL);
        job->checkpoint_us = node->now_us + CHECKPOINT_US;
        break;
    case LBM_PHASE_BALANCING:
        job->checkpoint_us = INT64_MAX;
        if (mapped) {
            lbm_mapping_normalization_free(job);
            lbm_mapping_diffuse_free(job);
            store_positions(node, job); /* the last ones: vertices stay in Omega where they are now */
        }
        lbm_migration_pinned_look(node, job);
        if (!lbm_exchange_flow_begin(node, job))
            lbm_exchange_start(node, job);
        break;
    case LBM_PHASE_SETTLED:
        job->was_settled = 1;
        break;
    case LBM_PHASE_SUBMITTED:
    case LBM_PHASE_PLACED:
    case LBM_PHASE_COUNT:
        break;
    }
}

int
lbm_job_is_ready(const struct lbm_node *node, const struct job *job)
{
    int is_at_rest = job->rounds.skipped.n == 0 && !lbm_mapping_remap_holds(node, job);
    return job->phase == LBM_PHASE_SETTLED ? is_at_rest : job->ready;
}

static enum lbm_phase
phase_at(const struct job *job, uint32_t host)
{
    const struct load_report *load_report = lbm_local_report_known(job, host);
    return load_report != NULL ? load_report->phase : LBM_PHASE_SUBMITTED;
}

/* MAPPING ends when every member that is not unreachable has come to rest. */
static int
all_ready(const struct lbm_node *node, const struct job *job)
{
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host == node->host || member->state != LBM_MEMBER_ACTIVE ||
            lbm_membership_is_excluded(node, member->host))
            continue;
        const struct load_report *load_report = lbm_local_report_known(job, member->host);
        int is_there =
            load_report != NULL && (load_report->phase >= LBM_PHASE_BALANCING || load_report->ready);
        if (!is_there)
            return 0;
    }
    return 1;
}

static void
waiting_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    if (entry->coordinator == node->host) {
        if (job->stored == LBM_JOB_SUBMITTED && !job->planning && node->caught_up &&
            lbm_membership_is_routable(node) && lbm_local_takeovers_done(node))
            lbm_job_plan_begin(node, job, entry);
        else if (job->stored == LBM_JOB_PLACED && job->phase == LBM_PHASE_SUBMITTED)
            lbm_job_enter(node, job, LBM_PHASE_PLACED); /* a coordinator by inheritance, after a restart */
    } else if (job->heard_phase >= LBM_PHASE_MAPPING) {
        lbm_job_enter(node, job, LBM_PHASE_MAPPING);
    } else if (phase_at(job, entry->coordinator) >= LBM_PHASE_PLACED && job->phase < LBM_PHASE_PLACED) {
        lbm_job_enter(node, job, LBM_PHASE_PLACED);
    }
}

static void
placed_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    if (entry->coordinator != node->host) {
        job->tick_us = INT64_MAX; /* the coordinator alone ticks; this host was it until the log went on */
        waiting_timer(node, job, entry);
        return;
    }
    if (node->now_us < job->tick_us)
        return;
    job->tick_us = node->now_us + PLACING_TICK_US;
    uint32_t waiting = lbm_migration_queue_pump(node, job);
    if (lbm_local_follows_regions(entry) || (waiting == 0 && !lbm_migration_waits(node, job)))
        lbm_job_enter(node, job, LBM_PHASE_MAPPING);
}

static void
job_timer(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (!lbm_local_is_alive(node))
        return;
    if (entry == NULL) { /* PENDING: not in the log yet */
        lbm_job_slice_timer(node, job);
        return;
    }
    lbm_exchange_load_timer(node, job);
    lbm_migration_timer(node, job);
    lbm_migration_completion_timer(node, job);
    lbm_application_edges_timer(node, job);
    switch (job->phase) {
    case LBM_PHASE_SUBMITTED:
        waiting_timer(node, job, entry);
        break;
    case LBM_PHASE_PLACED:
        placed_timer(node, job, entry);
        break;
    case LBM_PHASE_MAPPING:
        lbm_mapping_timer(node, job);
        if (!job->ready || !all_ready(node, job))
            job->ready_us = 0;
        else if (job->ready_us == 0)
            job->ready_us = node->now_us;
        if (job->ready && (job->heard_phase >= LBM_PHASE_BALANCING ||
                           (job->ready_us != 0 && node->now_us - job->ready_us >= READY_US)))
            lbm_job_enter(node, job, LBM_PHASE_BALANCING);
        break;
    case LBM_PHASE_BALANCING:
    case LBM_PHASE_SETTLED:
        lbm_migration_pinned_timer(node, job);
        lbm_mapping_remap_timer(node, job, entry);
        if (job->flow.state != FLOW_NONE)
            lbm_exchange_flow_timer(node, job);
        else
            lbm_exchange_timer(node, job);
        break;
    case LBM_PHASE_COUNT:
        break;
    }
    lbm_mapping_ghosts_timer(node, job);
    if (node->now_us >= job->checkpoint_us) {
        job->checkpoint_us = node->now_us + CHECKPOINT_US;
        store_positions(node, job);
    }
}

/* Jobs that were to be in the log by now, and were not even proposed; and those that it cannot have any more.
 */
static void
jobs_overdue(struct lbm_node *node)
{
    for (size_t i = node->jobs.n; i-- > 0;) {
        const struct job *job = node->jobs.at[i];
        if (job->pending == NULL || job->part.is_slice)
            continue;
        if (job->until_us != 0 && !job->proposed && node->now_us > job->until_us)
            lbm_job_given_up(node, job->id, 0);
        else if (job->dropped_at != 0 && node->view.index >= job->dropped_at)
            lbm_job_deleted(node, job->id);
    }
}

void
lbm_job_timer(struct lbm_node *node)
{
    lbm_job_ingest_timer(node);
    lbm_job_spread_timer(node);
    jobs_overdue(node);
    for (size_t i = 0; i < node->jobs.n && node->failed == LBM_OK;) {
        struct job *job = node->jobs.at[i];
        job_timer(node, job);
        i += i < node->jobs.n && node->jobs.at[i] == job; /* a part that is refused goes */
    }
}

static int64_t
sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
job_deadline(const struct lbm_node *node, const struct job *job)
{
    int64_t when = job->offers_us < job->checkpoint_us ? job->offers_us : job->checkpoint_us;
    when = job->finish_us < when ? job->finish_us : when;
    when = job->collect_us < when ? job->collect_us : when;
    when = lbm_application_edges_deadline(job) < when ? lbm_application_edges_deadline(job) : when;
    when = job->load_us < when ? job->load_us : when;
    if (job->phase == LBM_PHASE_PLACED || job->phase == LBM_PHASE_MAPPING)
        when = job->tick_us < when ? job->tick_us : when;
    if (job->phase >= LBM_PHASE_BALANCING)
        when = sooner(lbm_mapping_remap_deadline(node, job), when);
    if (job->phase >= LBM_PHASE_BALANCING)
        when = job->pinned_us < when ? job->pinned_us : when;
    int is_computing_flow = job->flow.state != FLOW_NONE;
    if (job->phase >= LBM_PHASE_BALANCING && is_computing_flow)
        when = job->flow.tick_us < when ? job->flow.tick_us : when;
    if (job->phase >= LBM_PHASE_BALANCING && job->rounds.state != ROUND_NONE)
        when = job->rounds.deadline_us < when ? job->rounds.deadline_us : when;
    if ((job->phase == LBM_PHASE_BALANCING && !is_computing_flow) || job->rounds.state != ROUND_NONE)
        when = job->rounds.retry_us < when ? job->rounds.retry_us : when;
    if (job->phase == LBM_PHASE_SETTLED && job->rounds.state == ROUND_NONE)
        when = job->cool_us < when ? job->cool_us : when;
    if (job->phase >= LBM_PHASE_MAPPING)
        when = lbm_mapping_ghosts_deadline(job) < when ? lbm_mapping_ghosts_deadline(job) : when;
    return when;
}

int64_t
lbm_job_deadline(const struct lbm_node *node)
{
    int64_t when = lbm_job_ingest_deadline(node);
    for (size_t i = 0; i < node->jobs.n; i++) {
        const struct job *job = node->jobs.at[i];
        int may_be_overdue =
            job->pending != NULL && job->until_us != 0 && !job->proposed && !job->part.is_slice;
        when = may_be_overdue && job->until_us < when ? job->until_us + 1 : when;
    }
    for (size_t i = 0; i < node->jobs.n && lbm_local_is_alive(node); i++) {
        /* only the log can wake what is not in it, unless it is a part */
        int is_logged = lbm_view_job(&node->view, node->jobs.at[i]->id) != NULL;
        int64_t own =
            is_logged ? job_deadline(node, node->jobs.at[i]) : lbm_job_slice_deadline(node->jobs.at[i]);
        when = own < when ? own : when;
    }
    return when;
}
