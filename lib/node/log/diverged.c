/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy that is not the cluster's log (protocol.md section 2): a former leader took entries that nobody else
 * had when another one was promoted by force, or an ensemble did that was given up. Such a host takes part in
 * nothing and asks the others what the log says of it. Once its incarnation is gone there, so that others
 * have what it had or have given it up, it archives all and begins again, with an empty copy, as the next
 * incarnation. Never: before that, since it may have the only copy of something. */
#include <inttypes.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

void
lbm_log_diverge(struct lbm_node *node)
{
    if (node->diverged)
        return;
    lbm_core_note(node, LBM_NOTE_ERROR,
                  "this host's control log has entries that the cluster's does not have: it takes part in "
                  "nothing until the cluster has evicted it, then it begins again, empty; if that does not "
                  "happen, run %slbctl evict %" PRIu32 " --lost at another host",
                  node->leader ? "lbctl log promote --force and " : "", node->host);
    node->diverged = 1;
    node->raise->application_lease_lapsed(node);
}

int
lbm_log_is_other(const struct lbm_node *node, const Lbm__LogEntries *entries)
{
    uint64_t before = entries->from - 1;
    return entries->chain != 0 && before >= node->log_base && before <= lbm_log_last(node) &&
           lbm_log_chain(node, before) != entries->chain;
}

void
lbm_log_tell_diverged(struct lbm_node *node, const Lbm__Peer *asked)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, asked->src, asked->src_incarnation);
    const struct lbm_member *member = lbm_view_member(&node->view, asked->src);
    Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
    entries.from = node->view.index + 1;
    entries.last = node->view.index;
    entries.term = lbm_log_known_term(node);
    entries.leader = lbm_log_known_leader(node);
    entries.diverged = 1;
    entries.gone = (gone != NULL && (gone->taken_over || !gone->evicted)) ||
                   (member != NULL && member->incarnation > asked->src_incarnation);
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
    message.log_entries = &entries;
    lbm_core_send(node, asked->src, &message);
}

void
lbm_log_diverged_timer(struct lbm_node *node)
{
    if (node->now_us < lbm_log_diverged_deadline(node))
        return;
    node->fetch_us = node->now_us;
    node->fetch_host = lbm_log_next_connected(node);
    if (node->fetch_host != LBM_NONE)
        lbm_log_send_fetch(node, node->fetch_host);
}

int64_t
lbm_log_diverged_deadline(const struct lbm_node *node)
{
    int is_asking = node->diverged && !node->leader && !node->resetting && node->view.index != 0;
    return is_asking ? node->fetch_us + FETCH_RETRY_US : INT64_MAX;
}

void
lbm_log_diverged_heard(struct lbm_node *node, const Lbm__LogEntries *entries)
{
    lbm_log_diverge(node);
    if (entries->gone && !node->leader && !node->resetting)
        node->raise->replication_begin_again(node);
}

void
lbm_log_forget(struct lbm_node *node)
{
    lbm_log_proposals_end(node);
    for (size_t i = 0; i < node->log.n; i++)
        free(node->log.at[i].command);
    node->log.n = node->chains.n = 0;
    node->log_base = node->base_chain = node->snapshot_index = 0;
    node->log_waits.n = 0;
    node->held = 0;
    node->log_known = 0;
    node->log_untrue.n = 0;
    if (node->incoming != NULL)
        lbm_view_free(node->incoming);
    free(node->incoming);
    node->incoming = NULL;
    lbm_vec_free(&node->incoming_snapshot);
    lbm_view_free(&node->view);
    node->view = (struct lbm_view){0};
    node->caught_up = node->has_ordered = 0;
    node->fetch_us = 0;
    node->diverged = 0;
    node->raise->log_engine_leave(node);
    lbm_log_ensemble_tell(node);
    lbm_membership_changed(node, 1);
}
