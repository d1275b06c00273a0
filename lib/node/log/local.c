/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The local engine of the control log (protocol.md section 2): the leader orders commands, all others follow
 * it. While the leader is away nothing is added. */
#include <inttypes.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

static void
local_start(struct lbm_node *node)
{
    lbm_log_promote_resume(node);
    if (!node->leader)
        return;
    lbm_log_confirm_disk(node);
}

static void
local_applied(struct lbm_node *node, uint64_t from)
{
    for (size_t i = 0; node->leader && node->caught_up && i < node->peers.n; i++)
        if (node->peers.at[i].connected)
            lbm_log_send_entries(node, node->peers.at[i].host, from);
}

/* An entry that is being stored may be the first proposal itself, taken before a restart or without our
 * hearing of it: proposing it again could bring back what was deleted in between. */
static int
local_append_waits(const struct lbm_node *node)
{
    if (node->leader_host == LBM_NONE)
        return 1;     /* a promotion has yet to end */
    if (node->leader) /* a proposal may end while its entry is being stored */
        return node->append_us != 0 || node->ensemble.is_closed;
    return node->append_accepted || node->log_waits.n != 0;
}

/* The end of a proposal by the leader's clock, which was leader_clock_us or later when that was heard; 1 %:
 * clocks differ. What the leader takes until then it takes before the proposal ends here. 1: that clock is
 * not known; the leader refuses, and says it. */
static uint64_t
end_at_leader(const struct lbm_node *node, int64_t until_us)
{
    int64_t left_us = until_us - node->leader_heard_us;
    if (until_us == INT64_MAX)
        return 0;
    return node->leader_clock_us != 0 && left_us > 0
               ? node->leader_clock_us + (uint64_t)(left_us - left_us / 100)
               : 1;
}

static void
hear_clock(struct lbm_node *node, uint32_t from, uint64_t clock_us)
{
    if (from != node->leader_host || clock_us == 0 || clock_us > INT64_MAX / 2)
        return;
    node->leader_clock_us = clock_us;
    node->leader_heard_us = node->now_us;
}

static int
is_connected(const struct lbm_node *node, uint32_t host)
{
    const struct peer *peer = lbm_membership_peer_known(node, host);
    return peer != NULL && peer->connected;
}

static void
local_append(struct lbm_node *node)
{
    struct append *first = &node->appends.at[0];
    if (node->leader) {
        node->append_us = node->now_us;
        node->has_ordered = 1;
        first->at = lbm_log_last(node) + 1;
        node->ensemble.is_closed |= lbm_log_ensemble_closes(first->command, first->len);
        lbm_log_store(node, first->command, first->len);
        return;
    }
    if (node->append_us != 0 && node->now_us - node->append_us < APPEND_RETRY_US)
        return;
    node->append_us = node->now_us;
    if (!is_connected(node, node->leader_host))
        return;
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    append.token = first->token;
    append.index = first->at = lbm_log_last(node) + 1;
    append.until_us = end_at_leader(node, first->until_us);
    append.term = node->term;
    append.command = (ProtobufCBinaryData){first->len, first->command};
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    lbm_core_send(node, node->leader_host, &message);
}

static int64_t
local_append_deadline(const struct lbm_node *node)
{
    return node->append_us == 0 ? node->now_us : node->append_us + APPEND_RETRY_US;
}

/* The leader. But a host that has yet to join may only know the address of the one it was told to ask, which
 * may be gone: to a host that lost its disk others connect. And one that was away may not know where the
 * leader is: what a follower has, the leader has. */
static uint32_t
asked(const struct lbm_node *node)
{
    int is_stranger = lbm_view_member(&node->view, node->host) == NULL && node->join_host != node->host;
    uint32_t first = is_stranger ? node->join_host : node->leader_host;
    uint32_t other = is_connected(node, first) ? LBM_NONE : lbm_log_next_connected(node);
    return other != LBM_NONE ? other : first;
}

/* Nonzero if none of the others is heard any more: they may have promoted another one. */
static int
is_cut_off(const struct lbm_node *node)
{
    uint32_t n = 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (member->host == node->host || !lbm_view_participates(member))
            continue;
        if (!lbm_membership_is_unreachable(node, member->host, UNREACHABLE_US))
            return 0;
        n++;
    }
    return n != 0;
}

static void
local_fetch(struct lbm_node *node)
{
    int is_taking = lbm_log_promote_takes(node);
    if ((node->leader_host == LBM_NONE && !is_taking) ||
        (node->fetch_us != 0 && node->now_us - node->fetch_us < FETCH_RETRY_US))
        return;
    node->fetch_us = node->now_us;
    if (is_taking) {
        lbm_log_promote_fetch_rest(node);
        return;
    }
    if (node->leader) {
        if (!node->caught_up || is_cut_off(node))
            lbm_log_confirm(node);
        return;
    }
    uint32_t host = asked(node);
    if (host == lbm_log_heard_alone(node)) {
        lbm_log_ask_other(node, host);
        return;
    }
    node->fetch_host = host;
    lbm_log_ask(node, host);
}

static int64_t
local_fetch_deadline(const struct lbm_node *node)
{
    return node->leader_host == LBM_NONE && !lbm_log_promote_takes(node) ? INT64_MAX
                                                                         : node->fetch_us + FETCH_RETRY_US;
}

const struct log_engine log_local = {
    .start = local_start,
    .applied = local_applied,
    .append_waits = local_append_waits,
    .append = local_append,
    .append_deadline = local_append_deadline,
    .fetch = local_fetch,
    .fetch_deadline = local_fetch_deadline,
};

/* Operators hear of a leader that is lost, once each time. */
void
lbm_log_local_timer(struct lbm_node *node)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    int follows = node->engine == LBM_LOG_ENGINE_LOCAL && !node->leader && node->leader_host != LBM_NONE &&
                  self != NULL && self->state == LBM_MEMBER_ACTIVE;
    int is_lost = follows && lbm_membership_silence(node, node->leader_host) > SUSPECT_US;
    if (is_lost && !node->leader_is_lost)
        lbm_core_note(
            node, LBM_NOTE_WARNING,
            "host %" PRIu32
            ", which orders the control log, is unreachable: members and jobs stay as they are until it "
            "is back; if it is lost, run lbctl log promote --force at another host",
            node->leader_host);
    else if (!is_lost && node->leader_is_lost && follows)
        lbm_core_note(node, LBM_NOTE_INFO, "host %" PRIu32 ", which orders the control log, is heard again",
                      node->leader_host);
    node->leader_is_lost = is_lost;
}

/* ---- messages ------------------------------------------------------------------------------------------ */

/* The asking host has entries that this log does not have: a former leader took them, and nobody else got
 * them before another one was promoted. */
static int
has_diverged(const struct lbm_node *node, const Lbm__LogFetch *fetch)
{
    uint64_t last = fetch->from - 1;
    return last > lbm_log_last(node) || (last >= node->log_base && lbm_log_chain(node, last) != fetch->chain);
}

/* To a host that has more entries: whether it has these ones. */
static void
tell_end(struct lbm_node *node, uint32_t host)
{
    Lbm__LogEntries entries = LBM__LOG_ENTRIES__INIT;
    entries.last = lbm_log_last(node);
    entries.from = entries.last + 1;
    entries.term = lbm_log_known_term(node);
    entries.leader = lbm_log_known_leader(node);
    entries.chain = lbm_log_chain(node, entries.last);
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_ENTRIES;
    message.log_entries = &entries;
    lbm_core_send(node, host, &message);
}

void
lbm_log_on_fetch(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogFetch *fetch = message->log_fetch;
    /* The host that is being promoted takes what it lacks from the longest copy; so does a leader whose disk
     * is an older one, which may not even know of the term. */
    int takes_over = fetch->term <= node->term && message->src == node->leader_host;
    int follows = node->caught_up && fetch->term <= node->term && fetch->from - 1 <= lbm_log_last(node);
    if (fetch->from < 1 || !lbm_local_within_reach(node, message->src, "log index", fetch->from - 1,
                                                   lbm_log_last(node), LBM_INDEX_STEP))
        return;
    struct peer *peer = lbm_membership_peer_known(node, message->src);
    if (peer != NULL)
        peer->diverged = fetch->diverged ? message->src_incarnation : 0;
    if (node->diverged)
        return; /* what it has is nobody's */
    if (node->leader && !fetch->diverged)
        lbm_log_confirm_behind(node, message->src, fetch->from - 1);
    if (node->leader && !node->caught_up)
        return; /* what it has may not be all there is */
    if (fetch->diverged) {
        if (node->caught_up && fetch->term <= lbm_log_known_term(node))
            lbm_log_tell_diverged(node, message);
        return;
    }
    if (node->engine == LBM_LOG_ENGINE_EXTERNAL) {
        if (fetch->from - 1 > lbm_log_last(node)) {
            tell_end(node, message->src); /* what is in the ensemble comes here, too */
            return;
        }
        follows = 1;
    }
    if (!node->leader && !takes_over && !follows)
        lbm_log_tell_leader(node, message->src);
    else if (has_diverged(node, fetch) && (!takes_over || fetch->from - 1 <= lbm_log_last(node)))
        lbm_log_tell_diverged(node, message);
    else if (fetch->from <= node->log_base)
        lbm_log_snapshot_send(node, message->src);
    else {
        lbm_log_store_deferred(node);
        lbm_log_send_entries(node, message->src, fetch->from);
    }
}

void
lbm_log_on_entries(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogEntries *entries = message->log_entries;
    if (!lbm_local_within_reach(node, message->src, "log index", entries->last, lbm_log_last(node),
                                LBM_INDEX_STEP) ||
        !lbm_local_within_reach(node, message->src, "term", entries->term, node->term, LBM_TERM_STEP))
        return;
    if (!lbm_log_forced_heard(node, message, entries->term, entries->leader))
        return;
    if (node->engine == LBM_LOG_ENGINE_EXTERNAL) {
        lbm_log_external_heard(node, message);
        return;
    }
    (void)lbm_log_term_heard(node, entries->term, entries->leader, message->src);
    int is_source = lbm_log_is_source(node, message->src);
    int is_promised_to =
        node->promotion.round == PROMOTION_PROMISE; /* what was ordered meanwhile comes, too */
    if (entries->term < node->term && !is_source && !is_promised_to) {
        lbm_log_tell_leader(node, message->src);
        return;
    }
    if (node->leader && !is_source)
        lbm_log_confirm_behind(node, message->src, entries->last);
    if (node->engine != LBM_LOG_ENGINE_LOCAL || lbm_log_doubt_heard(node, message, is_source))
        return;
    if (lbm_log_confirm_refuted(node, message->src, entries) ||
        (entries->n_command == 0 && entries->last < lbm_log_last(node)))
        return;
    hear_clock(node, message->src, entries->now_us);
    if (lbm_log_heard_entries(node, message->src, entries))
        return;
    if (lbm_log_last(node) < entries->last) {
        node->fetch_us = 0;
        lbm_log_fetch(node);
        return;
    }
    if (node->leader)
        return;                   /* it asks again */
    node->caught_up |= is_source; /* of the end, the leader's word counts */
    if (!node->append_accepted && entries->n_command != 0)
        node->append_us = 0; /* the index it was sent for is taken: try the next one */
}

void
lbm_log_on_append(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogAppend *append = message->log_append;
    if (node->engine == LBM_LOG_ENGINE_EXTERNAL) {
        lbm_log_external_asked(node, message);
        return;
    }
    if (message->forced != node->forced || !lbm_log_term_heard(node, append->term, LBM_NONE, message->src) ||
        !node->leader || !node->caught_up) {
        lbm_log_tell_leader(node, message->src);
        return;
    }
    Lbm__LogResult result = LBM__LOG_RESULT__INIT;
    result.token = append->token;
    int is_late =
        append->until_us != 0 && (uint64_t)node->now_us > append->until_us && !LBM_BUG(LATE_IS_TAKEN);
    result.accepted = append->index == lbm_log_last(node) + 1 && !is_late && !node->ensemble.is_closed;
    if (result.accepted) {
        Lbm__Command *command = NULL;
        struct lbm_diag diag;
        if (lbm_wire_unpack_command(append->command.data, append->command.len, &command, &diag) != LBM_OK) {
            lbm_core_note(node, LBM_NOTE_WARNING,
                          "host %" PRIu32 " sent a command that cannot be read: %.160s", message->src,
                          diag.text);
            return;
        }
        int may = lbm_log_may_propose(node, message->src, command);
        lbm__command__free_unpacked(command, NULL);
        if (!may)
            return; /* no answer: an honest host does not ask, and another one would ask again at once */
        node->has_ordered = 1;
        lbm_log_store(node, append->command.data, append->command.len);
    }
    result.last = lbm_log_last(node);
    result.term = node->term;
    result.leader = node->host;
    result.now_us = (uint64_t)node->now_us;
    Lbm__Peer answer = LBM__PEER__INIT;
    answer.body_case = LBM__PEER__BODY_LOG_RESULT;
    answer.log_result = &result;
    lbm_core_send(node, message->src, &answer);
}

/* Accepted: the entry itself will come and settle the append. Refused: catch up, then try again. */
void
lbm_log_on_result(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogResult *result = message->log_result;
    if (!lbm_log_forced_heard(node, message, result->term, result->leader) ||
        !lbm_log_term_heard(node, result->term, result->leader, message->src))
        return;
    hear_clock(node, message->src, result->now_us);
    if (!lbm_local_within_reach(node, message->src, "log index", result->last, lbm_log_last(node),
                                LBM_INDEX_STEP))
        return;
    if (node->appends.n == 0 || node->appends.at[0].token != result->token)
        return;
    if (result->accepted) {
        node->append_accepted = 1;
        return;
    }
    if (result->last > lbm_log_last(node)) {
        node->fetch_us = 0;
        lbm_log_fetch(node);
    } else {
        node->append_us = 0; /* what was missing has come meanwhile: try again now */
    }
}
