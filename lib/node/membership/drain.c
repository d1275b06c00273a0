/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host that drains (protocol.md section 9, HEI97 section 10): its region goes to the neighbours, its
 * vertices follow by ordinary handoffs, and it leaves when nothing of it is needed any more. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"
#include "node/records/records.h"

enum { WITNESSES = 2 }; /* who suspect a host, before it is evicted */

static int
takes(const struct lbm_node *node, const struct job *job, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    return member != NULL && member->state == LBM_MEMBER_ACTIVE && !lbm_local_is_withdrawn(job, host);
}

/* The host that takes vertices and that most of a row's edges lead to, targets of own neighbours counted as
 * places; LBM_NONE: no edge leads out yet. */
static uint32_t
pull_of(const struct lbm_node *node, const struct job *job, uint32_t row)
{
    const struct lbm_shard *shard = &job->shard;
    const struct lbm_patch *patch = &shard->patch;
    uint32_t best = LBM_NONE;
    uint64_t most = 0;
    for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1]; e++) {
        uint64_t sum = 0;
        uint32_t host = LBM_NONE;
        for (uint64_t f = e; f < patch->g.offset[row + 1]; f++) {
            uint32_t to = patch->g.target[f];
            uint32_t there = to < patch->g.n ? shard->vertices.at[patch->vertex[to]].destination
                                             : shard->ghosts.at[patch->ghost[to - patch->g.n]].host;
            if (there == LBM_NONE || !takes(node, job, there))
                continue;
            if (f == e)
                host = there;
            if (there == host)
                sum += patch->g.weight[f];
            if (host == LBM_NONE)
                break;
        }
        if (host != LBM_NONE && (sum > most || (sum == most && host < best))) {
            most = sum;
            best = host;
        }
    }
    return best;
}

/* Somebody for vertices that nothing pulls: a linked host that takes them if there is one, else the first. */
static uint32_t
nearest_taker(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    for (size_t k = 0; self != NULL && k < self->n_links; k++)
        if (takes(node, job, self->links[k].q))
            return self->links[k].q;
    for (uint32_t p = 0; p < node->view.active.n; p++)
        if (takes(node, job, lbm_view_host(&node->view, p)))
            return lbm_view_host(&node->view, p);
    return LBM_NONE;
}

static uint32_t *
target_of(struct lbm_shard *shard, uint32_t row)
{
    return &shard->vertices.at[shard->patch.vertex[row]].destination;
}

/* The neighbours' parts grow into this one, layer by layer, until all is shared out: a layer takes all rows
 * that somebody pulls; of the others only those next to it can be pulled after it. In: front [n] all rows;
 * to, next, is_next [n] for what is in progress, is_next 0. */
static void
grow(const struct lbm_node *node, struct job *job, uint32_t *front, uint32_t *to, uint32_t *next,
     uint8_t *is_next)
{
    struct lbm_shard *shard = &job->shard;
    const struct lbm_graph *g = &shard->patch.g;
    for (uint32_t n_front = g->n, n_next; n_front != 0; n_front = n_next) {
        n_next = 0;
        for (uint32_t i = 0; i < n_front; i++) {
            is_next[front[i]] = 0;
            to[i] = *target_of(shard, front[i]) == LBM_NONE ? pull_of(node, job, front[i]) : LBM_NONE;
        }
        for (uint32_t i = 0; i < n_front; i++) {
            if (to[i] == LBM_NONE)
                continue;
            *target_of(shard, front[i]) = to[i];
            for (uint64_t e = g->offset[front[i]]; e < g->offset[front[i] + 1]; e++) {
                uint32_t neighbour = g->target[e];
                if (neighbour < g->n && !is_next[neighbour] && *target_of(shard, neighbour) == LBM_NONE) {
                    is_next[neighbour] = 1;
                    next[n_next++] = neighbour;
                }
            }
        }
        uint32_t *swap = front;
        front = next;
        next = swap;
    }
}

/* Target every own vertex onto a host near its neighbours. */
static void
drain_job(struct lbm_node *node, struct job *job)
{
    struct lbm_shard *shard = &job->shard;
    if (shard->n_own == 0)
        return;
    if (lbm_shard_patch(shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    uint32_t n = shard->patch.g.n, *rows = lbm_alloc(3 * (size_t)n, sizeof *rows);
    uint8_t *is_next = lbm_alloc(n, 1);
    if (rows == NULL || is_next == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (uint32_t row = 0; node->failed == LBM_OK && row < n; row++) {
        uint32_t pin = shard->vertices.at[shard->patch.vertex[row]].pin;
        rows[row] = row;
        if (*target_of(shard, row) != LBM_NONE && !takes(node, job, *target_of(shard, row)))
            *target_of(shard, row) = LBM_NONE;
        if (pin != LBM_NONE && takes(node, job, pin)) /* nobody else may take it */
            *target_of(shard, row) = pin;
    }
    if (node->failed == LBM_OK)
        grow(node, job, rows, rows + n, rows + 2 * (size_t)n, is_next);
    for (uint32_t row = 0; node->failed == LBM_OK && row < n; row++)
        if (*target_of(shard, row) == LBM_NONE)
            *target_of(shard, row) = nearest_taker(node, job);
    lbm_local_queue_changed(job);
    free(rows);
    free(is_next);
}

/* Nothing here that anybody could still need: no vertex, no answer due, no source that may offer again. */
static int
is_empty(const struct lbm_node *node)
{
    for (size_t j = 0; j < node->jobs.n; j++) {
        const struct job *job = node->jobs.at[j];
        if (job->shard.n_own != 0 || job->shard.n_out != 0 || job->planning)
            return 0;
        for (size_t i = 0; i < job->shard.vertices.n; i++) {
            const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
            if (vertex->stage != LBM_STAGE_NONE &&
                (!vertex->fin || vertex->n_news != 0 || !lbm_records_is_acked(node, vertex)))
                return 0;
        }
    }
    return 1;
}

/* A primary that is unreachable may be lost, and what is kept here all that is left of it: others evict it
 * first.
 */
static int
primaries_are_well(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->watched.n; i++) /* primaries are among them */
        if (lbm_view_backup_slot(lbm_view_member(&node->view, node->watched.at[i]), node->host) != NULL &&
            lbm_membership_is_unreachable(node, node->watched.at[i], UNREACHABLE_US))
            return 0;
    return 1;
}

/* Every backup has said in this life that it holds no more than this disk: else a host that seems to have
 * nothing may have lost it with its disk, and what the backup keeps is all there is. */
static int
backups_hold_no_more(const struct lbm_node *node)
{
    for (unsigned k = 0; k < LBM_COPIES_MAX; k++)
        if (node->replication.log[k].backup != LBM_NONE && !node->replication.log[k].compared)
            return 0;
    return 1;
}

/* A slot whose backup drains, or is in maintenance, and another one could take its place, or NULL. What it
 * holds is forgotten then: so not before it has said that it does not hold more than this disk. */
static const struct lbm_backup *
poor_backup(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (self == NULL || !lbm_local_is_alive(node) || !node->caught_up || !node->replication.compared)
        return NULL;
    for (unsigned k = 0; k < node->view.copies; k++) {
        const struct lbm_member *backup = lbm_view_member(&node->view, self->backups[k].host);
        if (backup != NULL && node->replication.log[k].compared &&
            (backup->state == LBM_MEMBER_DRAINING || lbm_view_is_in_maintenance(&node->view, backup->host)) &&
            lbm_view_has_other_backup(&node->view, self))
            return &self->backups[k];
    }
    return NULL;
}

static void
change_backup(struct lbm_node *node)
{
    if (!lbm_membership_may_propose(node))
        return;
    const struct lbm_backup *poor = poor_backup(node);
    if (poor == NULL)
        return;
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    Lbm__ChangeBackup change = LBM__CHANGE_BACKUP__INIT;
    change.host = node->host;
    change.incarnation = node->incarnation;
    change.view = poor->view;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_CHANGE_BACKUP;
    command.change_backup = &change;
    node->raise->log_append(node, &command);
}

/* Two hosts have to agree that a third one is lost. The one but last to leave sees first that nobody is:
 * where at most two others remain, each has been heard since this host learned that it drains. */
static int
others_are_heard(const struct lbm_node *node)
{
    if (node->view.members.n > WITNESSES + 1)
        return 1;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        const struct peer *peer = lbm_membership_peer_known(node, member->host);
        if (member->host != node->host && lbm_view_participates(member) &&
            (peer == NULL || peer->heard_us <= node->draining_us))
            return 0;
    }
    return 1;
}

/* A member of the ensemble that the log is in stays until another host has its place there, if one can have
 * it. */
static int
is_needed_in_ensemble(const struct lbm_node *node)
{
    const struct lbm_ensemble *ensemble = &node->view.ensemble;
    if (!node->view.external || lbm_ensemble_member(ensemble, node->host) == NULL)
        return 0;
    for (size_t i = 0; i < node->view.active.n; i++)
        if (lbm_ensemble_member(ensemble, node->view.active.at[i]) == NULL &&
            lbm_membership_runs_etcd(node, node->view.active.at[i]))
            return 1;
    return 0;
}

/* Everybody's target is known, unless some are not on the lists: they are looked for now and then. */
static void
give_away(struct lbm_node *node, struct job *job)
{
    if (job->shard.n_own == 0 || job->phase == LBM_PHASE_SUBMITTED)
        return;
    uint32_t waiting = node->raise->migration_queue_pump(node, job);
    if (waiting >= job->shard.n_own || node->now_us < job->drain_us)
        return;
    job->drain_us = node->now_us + DRAIN_LOOK_US;
    drain_job(node, job);
    (void)node->raise->migration_queue_pump(node, job);
}

/* Nonzero if this host takes part, and gives the vertices of that job away. */
static int
is_withdrawn(const struct lbm_node *node, const struct job *job)
{
    return job->withdrawn.n != 0 && job->shard.n_own != 0 && lbm_local_is_withdrawn(job, node->host);
}

void
lbm_membership_drain_timer(struct lbm_node *node)
{
    if (poor_backup(node) != NULL)
        change_backup(node);
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    int drains = self != NULL && self->state == LBM_MEMBER_DRAINING;
    if (!drains || node->draining_us == 0)
        node->draining_us = drains ? node->now_us : 0;
    int gives = drains;
    for (size_t i = 0; i < node->jobs.n; i++)
        gives |= is_withdrawn(node, node->jobs.at[i]);
    if (!gives || !lbm_local_is_alive(node) || !node->caught_up || node->now_us < node->drain_us)
        return;
    node->drain_us = node->now_us + MAPPING_TICK_US;
    /* It is needed until another one is promoted, or active. */
    int is_leader = node->engine == LBM_LOG_ENGINE_LOCAL && node->view.leader == node->host;
    int is_needed = is_leader || lbm_view_host(&node->view, 0) == LBM_NONE || is_needed_in_ensemble(node);
    for (size_t i = 0; i < node->jobs.n && node->failed == LBM_OK; i++) {
        if (drains || is_withdrawn(node, node->jobs.at[i]))
            give_away(node, node->jobs.at[i]);
    }
    if (!drains)
        return;
    if (is_leader && is_empty(node) && lbm_membership_may_propose(node)) {
        node->propose_us = node->now_us + APPEND_AGAIN_US;
        (void)node->raise->log_hand_over(node, "this host drains", 0);
    }
    if (is_needed || self->maintenance_us != 0 || !is_empty(node) || !backups_hold_no_more(node) ||
        !primaries_are_well(node) || !others_are_heard(node) ||
        (!lbm_local_takeovers_done(node) && !LBM_BUG(LEAVE_WITH_INHERITANCE)) ||
        !lbm_membership_may_propose(node))
        return;
    node->propose_us = node->now_us + APPEND_AGAIN_US;
    Lbm__Leave leave = LBM__LEAVE__INIT;
    leave.host = node->host;
    leave.incarnation = node->incarnation;
    leave.known = node->view.index;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_LEAVE;
    command.leave = &leave;
    node->raise->log_append(node, &command);
}

int64_t
lbm_membership_drain_deadline(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    int gives = self != NULL && self->state == LBM_MEMBER_DRAINING;
    for (size_t i = 0; i < node->jobs.n; i++)
        gives |= is_withdrawn(node, node->jobs.at[i]);
    gives = gives && lbm_local_is_alive(node) && node->caught_up;
    int64_t when = gives ? node->drain_us : INT64_MAX;
    return poor_backup(node) != NULL && node->appends.n < PROPOSALS_MAX && node->propose_us < when
               ? node->propose_us
               : when;
}
