/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of the control log that a host has read and need not store at once
 * (docs/adr/0011-defer-log-entries-that-do-not-concern-a-host.md). In a large cluster most entries are about
 * hosts far away, and a commit for each of them is what a host that has nothing else to do would do most.
 * They wait in memory and count for nothing: not applied, told to nobody. The next transaction takes them
 * along, before anything else in it; LOG_HELD_US later they are stored by themselves. */
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

/* A vertex is on its way to that host, or came from there and its source has yet to finish. */
static int
has_business(const struct lbm_node *node, uint32_t host)
{
    int has = 0;
    for (size_t j = 0; j < node->jobs.n && !has; j++) {
        const struct job *job = node->jobs.at[j];
        for (size_t i = 0; i < job->out.n && !has; i++)
            has = job->shard.vertices.at[job->out.at[i]].peer == host;
        for (size_t i = 0; i < job->unfinished.n && !has; i++)
            has = job->shard.vertices.at[job->unfinished.at[i]].source == host;
    }
    return has;
}

/* An entry about that host may change what this one has to do. */
static int
is_near(const struct lbm_node *node, const struct lbm_member *self, uint32_t host)
{
    const struct lbm_member *other = lbm_view_member(&node->view, host);
    int near = host == node->host || lbm_view_backup_slot(self, host) != NULL ||
               (other != NULL && lbm_view_backup_slot(other, node->host) != NULL);
    for (size_t k = 0; k < self->n_links; k++)
        near |= self->links[k].q == host;
    for (size_t k = 0; other != NULL && k < other->n_links; k++)
        near |= other->links[k].q == node->host;
    return near || has_business(node, host);
}

/* Nonzero if all hosts watch each other: one that comes expects to be pinged by all, soon. */
static int
all_are_watched(const struct lbm_node *node)
{
    return node->view.members.n <= LBM_VIEW_SMALL;
}

static int
joins_near(const struct lbm_node *node, const struct lbm_member *self, const Lbm__Join *join)
{
    int near = is_near(node, self, join->host) || all_are_watched(node);
    for (size_t k = 0; k < join->n_link_host; k++)
        near |= join->link_host[k] == node->host;
    return near;
}

/* Nonzero if the entry is about this host or one near it, or about a job, or what the log itself is. */
static int
concerns_us(const struct lbm_node *node, const Lbm__Command *command)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_JOIN:
        return joins_near(node, self, command->join);
    case LBM__COMMAND__WHAT_ACTIVATE:
        return is_near(node, self, command->activate->host);
    case LBM__COMMAND__WHAT_SET:
        return is_near(node, self, command->set->host);
    case LBM__COMMAND__WHAT_DRAIN:
        return is_near(node, self, command->drain->host);
    case LBM__COMMAND__WHAT_MAINTAIN:
        return is_near(node, self, command->maintain->host);
    case LBM__COMMAND__WHAT_CHANGE_BACKUP:
        return is_near(node, self, command->change_backup->host);
    case LBM__COMMAND__WHAT_LEAVE:
        return is_near(node, self, command->leave->host);
    case LBM__COMMAND__WHAT_REJOIN:
        return is_near(node, self, command->rejoin->host) || all_are_watched(node);
    case LBM__COMMAND__WHAT_TAKE_OVER:
        return is_near(node, self, command->take_over->host) ||
               is_near(node, self, command->take_over->successor);
    case LBM__COMMAND__WHAT_IN_SYNC:
        return command->in_sync->host == node->host;
    default: /* also EVICT: who may evict another one depends on how many were evicted lately */
        return 1;
    }
}

/* All jobs have settled once. Until then, and while loads are balanced, hosts everywhere have to do with one
 * another; after that only those that are near. */
static int
is_among_few(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->jobs.n; i++)
        if (!node->jobs.at[i]->was_settled || node->jobs.at[i]->flow.state != FLOW_NONE)
            return 0;
    return 1;
}

static int
may_wait(const struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    return lbm_membership_is_large(node) && !node->leader && node->caught_up && !node->diverged &&
           node->incoming == NULL && node->promotion.round == PROMOTION_NONE && node->appends.n == 0 &&
           node->operators.n == 0 && self != NULL && self->state == LBM_MEMBER_ACTIVE &&
           self->incarnation == node->incarnation && lbm_local_is_alive(node) && is_among_few(node);
}

void
lbm_log_take(struct lbm_node *node, const uint8_t *bytes, size_t len)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    int waits = may_wait(node) && lbm_wire_unpack_command(bytes, len, &command, &diag) == LBM_OK &&
                !concerns_us(node, command);
    if (command != NULL)
        lbm__command__free_unpacked(command, NULL);
    if (!lbm_log_add(node, bytes, len))
        return;
    if (node->held == 1)
        node->held_us = node->now_us + LOG_HELD_US;
    if (!waits)
        lbm_log_store_deferred(node);
}

void
lbm_log_deferred_timer(struct lbm_node *node)
{
    if (node->held != 0 && (node->now_us >= node->held_us || !may_wait(node)))
        lbm_log_store_deferred(node);
}

int64_t
lbm_log_deferred_deadline(const struct lbm_node *node)
{
    return node->held != 0 ? node->held_us : INT64_MAX;
}

/* What is between hosts that are near, or says nothing that this host could need a newer view for. An answer
 * to an offer, and the end of a handoff, count only in the view of their sender. */
static int
is_usual(const struct lbm_node *node, const Lbm__Peer *message)
{
    const struct lbm_member *source = lbm_view_member(&node->view, message->src);
    switch (message->body_case) {
    case LBM__PEER__BODY_HELLO:
    case LBM__PEER__BODY_PING:
    case LBM__PEER__BODY_GHOSTS:
    case LBM__PEER__BODY_WHERE:
    case LBM__PEER__BODY_OFFER_CHECK:
    case LBM__PEER__BODY_OFFER_CLAIMS:
    case LBM__PEER__BODY_LEASE:
    case LBM__PEER__BODY_LOG_FETCH:
    case LBM__PEER__BODY_REPL:
    case LBM__PEER__BODY_REPL_ACK:
    case LBM__PEER__BODY_PAIR_OPEN:
    case LBM__PEER__BODY_PAIR_ACCEPT:
    case LBM__PEER__BODY_PAIR_PLAN:
    case LBM__PEER__BODY_PAIR_NOTICE:
        return 1;
    case LBM__PEER__BODY_LEASE_REQ:
        return source != NULL && lbm_view_backup_slot(source, node->host) != NULL;
    default:
        return 0;
    }
}

/* What is not here yet is asked for, but by what brings it. What is held is stored for who wants something of
 * this host. */
void
lbm_log_view_heard(struct lbm_node *node, const Lbm__Peer *message)
{
    if (message->forced < node->forced || message->body_case == LBM__PEER__BODY_LOG_ENTRIES ||
        message->body_case == LBM__PEER__BODY_LOG_SNAPSHOT ||
        !lbm_local_within_reach(node, message->src, "view", message->view, lbm_log_last(node),
                                LBM_INDEX_STEP))
        return;
    if (message->view > lbm_log_last(node) && node->engine == LBM_LOG_ENGINE_LOCAL && node->leader)
        lbm_log_confirm_behind(node, message->src, message->view);
    else if (message->view > lbm_log_last(node))
        lbm_log_fetch(node);
    else if (node->held != 0 && !is_usual(node, message))
        lbm_log_store_deferred(node);
}
