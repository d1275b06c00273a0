/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keeps vertices from moving too much: a time to cool down after a move, a time in
 * which a move must pay for itself, a budget of bytes and of vertices on their way. An operator sets them for
 * a job while it runs. Balance goes before the first two, never before the budget. */
#include <math.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"

enum {
    BURST_S = 1,     /* a budget that was not used is saved for so long */
    SAMPLE_ROWS = 32 /* of which the mean record is taken */
};

/* ---- as the control log has them ----------------------------------------------------------------------- */

static const struct lbm_gates *
gates_of(const struct lbm_node *node, const struct job *job)
{
    static const struct lbm_gates open = {0};
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    return entry != NULL ? &entry->gates : &open;
}

void
lbm_migration_throttle_changed(struct lbm_node *node, const Lbm__JobSet *set)
{
    struct job *job = lbm_local_job(node, set->job);
    if (set->gates != NULL && job != NULL && !node->starting && job->phase == LBM_PHASE_SETTLED)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING); /* what did not pay may do so now */
}

/* ---- cooling down -------------------------------------------------------------------------------------- */

static uint32_t
now_ms(const struct lbm_node *node)
{
    return (uint32_t)(node->now_us / 1000) | 1;
}

void
lbm_migration_throttle_came(struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex)
{
    vertex->arrived_ms = job->was_settled ? now_ms(node) : 0;
}

int
lbm_migration_throttle_cools(const struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex)
{
    double cooldown_s = gates_of(node, job)->cooldown_s;
    if (vertex->arrived_ms == 0 || cooldown_s <= 0)
        return 0;
    double left_s = cooldown_s - (now_ms(node) - vertex->arrived_ms) / 1e3;
    int64_t when_us = node->now_us + (int64_t)(left_s * 1e6) + 1;
    if (left_s <= 0)
        return 0;
    job->cool_us = when_us < job->cool_us ? when_us : job->cool_us;
    return 1;
}

void
lbm_migration_throttle_look_again(const struct lbm_node *node, struct job *job)
{
    int64_t when_us = node->now_us + EDGES_REST_US;
    job->cool_us = when_us < job->cool_us ? when_us : job->cool_us;
}

void
lbm_migration_throttle_look(const struct lbm_node *node, struct job *job)
{
    if (node->now_us < job->cool_us)
        return;
    job->cool_us = INT64_MAX;
    job->n_cooled++;
}

uint64_t
lbm_migration_throttle_cooled(const struct lbm_node *node, const struct job *job)
{
    uint64_t n = job->n_cooled + (node->now_us >= job->cool_us);
    return n ^ (gates_of(node, job)->view << 32);
}

/* ---- what a move costs --------------------------------------------------------------------------------- */

/* Bytes of a record of this host, about. */
static double
mean_bytes(const struct job *job)
{
    double bytes = 0;
    uint32_t n = 0;
    for (size_t i = 0; i < job->shard.vertices.n && n < SAMPLE_ROWS; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (vertex->stage != LBM_STAGE_OWN)
            continue;
        bytes += (double)lbm_migration_move_bytes(vertex, job->shard.m);
        n++;
    }
    return n != 0 ? bytes / n : 64;
}

double
lbm_migration_throttle_price(const struct lbm_node *node, const struct job *job, uint32_t links)
{
    double payback_s = gates_of(node, job)->payback_s;
    return payback_s > 0 ? mean_bytes(job) * links / payback_s : 0;
}

/* ---- the budget ---------------------------------------------------------------------------------------- */

static uint32_t
in_flight(const struct job *job)
{
    uint32_t n = job->shard.n_out;
    for (size_t i = 0; i < job->releasing.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->releasing.at[i]];
        n += vertex->stage == LBM_STAGE_OWN && vertex->move_to != LBM_NONE;
    }
    return n;
}

static uint32_t
room_for_bytes(const struct lbm_node *node, struct job *job, uint64_t bytes_per_s)
{
    double most = (double)bytes_per_s * BURST_S, more = most;
    if (job->budget_us != 0)
        more = (double)(node->now_us - job->budget_us) * 1e-6 * (double)bytes_per_s;
    job->budget_us = node->now_us;
    job->budget_bytes = fmin(job->budget_bytes + more, most);
    double n = job->budget_bytes > 0 ? ceil(job->budget_bytes / mean_bytes(job)) : 0;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

uint32_t
lbm_migration_throttle_budget(const struct lbm_node *node, struct job *job)
{
    const struct lbm_gates *gates = gates_of(node, job);
    uint32_t room = UINT32_MAX;
    if (gates->in_flight != 0) {
        uint32_t n = in_flight(job);
        room = gates->in_flight > n ? gates->in_flight - n : 0;
    }
    if (gates->bytes_per_s != 0) {
        uint32_t n = room_for_bytes(node, job, gates->bytes_per_s);
        room = n < room ? n : room;
    }
    job->was_short |= room == 0;
    return room;
}

int
lbm_migration_throttle_was_exhausted(const struct lbm_node *node, struct job *job)
{
    (void)lbm_migration_throttle_budget(node, job);
    int were = job->was_short;
    job->was_short = 0;
    return were;
}

void
lbm_migration_throttle_charge(const struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex)
{
    if (gates_of(node, job)->bytes_per_s != 0)
        job->budget_bytes -= (double)lbm_migration_move_bytes(vertex, job->shard.m);
}
