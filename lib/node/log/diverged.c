/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy that is not the cluster's log (protocol.md section 2): a former leader took entries that nobody else
 * had when another one was promoted by force, or an ensemble did that was given up. Such a host takes part in
 * nothing and asks the others what the log says of it. Once its incarnation is gone there, so that others
 * have what it had or have given it up, it archives all and begins again, with an empty copy, as the next
 * incarnation. Never: before that, since it may have the only copy of something; and not on the word of one
 * host that does not lead, while there is another one that could say the same. */
#include <inttypes.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
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

/* Of what the other host has before the entries that it sends, as far as it says so: 1: this copy has the
 * same, all of it; -1: it has something else there. */
static int
compare(const struct lbm_node *node, const Lbm__LogEntries *entries)
{
    uint64_t before = entries->from - 1;
    if (entries->chain == 0 || before < node->log_base || before > lbm_log_last(node))
        return 0;
    if (lbm_log_chain(node, before) != entries->chain)
        return -1;
    return before == lbm_log_last(node);
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

/* Nonzero if that host's word is enough: it is the leader whom this one follows, or a member, and another
 * host has said the same before or there is no other member. Else it waits for that. */
static int
is_believed(struct lbm_node *node, uint32_t host)
{
    const struct lbm_member *member = lbm_view_member(&node->view, host);
    uint32_t n = 0;
    for (size_t i = 0; i < node->view.members.n; i++)
        n += node->view.members.at[i].host != node->host && lbm_view_participates(&node->view.members.at[i]);
    int leads = node->engine == LBM_LOG_ENGINE_LOCAL && !node->leader && host == node->leader_host;
    int is_second = node->doubted_by != LBM_NONE && node->doubted_by != host;
    int counts = member != NULL && lbm_view_participates(member) && (is_second || n < 2);
    node->doubted_by = leads || counts ? LBM_NONE : host;
    return leads || counts;
}

/* Another host has the same entries: who said something else is not believed. Or that one takes it back. */
static void
doubt_ends(struct lbm_node *node, uint32_t host)
{
    uint32_t by = node->doubted_by;
    node->doubted_by = LBM_NONE;
    if (by == host)
        lbm_log_confirm_again(node);
    if (by == LBM_NONE || by == host)
        return;
    lbm_local_refused(node,
                      "host %" PRIu32
                      " says that this host's control log has entries that the cluster's does not have, and "
                      "host %" PRIu32 " has the same ones",
                      by, host);
    lbm_log_confirm_untrue(node, by);
}

/* Whether anybody waits for what this host has. */
static void
gone_heard(struct lbm_node *node, uint32_t host, int is_gone)
{
    if (!is_gone)
        node->doubted_by = LBM_NONE;
    else if (!node->leader && !node->resetting && is_believed(node, host))
        node->raise->replication_begin_again(node);
}

int
lbm_log_doubt_heard(struct lbm_node *node, const Lbm__Peer *message, int is_source)
{
    const Lbm__LogEntries *entries = message->log_entries;
    int same = entries->diverged ? -1 : compare(node, entries);
    int is_taking = lbm_log_promote_takes(node);
    int is_last = message->src == node->fetch_host && (!node->leader || node->doubted_by != LBM_NONE);
    int is_asked = is_last || (is_taking && !entries->diverged); /* then several are asked at a time */
    int doubts = message->src == node->doubted_by;
    if (!is_source && !is_asked && !doubts)
        return 1;
    if (!node->diverged && (same > 0 || (same == 0 && doubts)))
        doubt_ends(node, message->src);
    if (same >= 0 || lbm_log_last(node) == 0)
        return node->diverged || same < 0 || (!is_source && ((node->leader && !is_taking) || !is_asked));
    if (!node->diverged && !is_believed(node, message->src)) {
        lbm_local_refused(
            node,
            "host %" PRIu32
            " says that this host's control log has entries that the cluster's does not have, which "
            "counts once another one says so",
            message->src);
        lbm_log_fetch_other(node);
        lbm_log_confirm_doubt(node);
        return 1;
    }
    lbm_log_diverge(node);
    gone_heard(node, message->src, entries->gone != 0);
    return 1;
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
    node->log_untrue.n = node->log_words.n = 0;
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
    node->doubted_by = LBM_NONE;
    node->raise->log_engine_leave(node);
    lbm_log_ensemble_tell(node);
    lbm_membership_changed(node, 1);
}
