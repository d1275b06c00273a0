/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The external engine of the control log (protocol.md section 2): a log outside the daemons that takes
 * exactly one command an index. The shell appends and follows; this host proposes for the index after its
 * last entry.
 *
 * The next index is tried only when the entry of the one before is known, so a proposal whose answer was
 * lost may be repeated: at most one of the attempts gets that index. */
#include <inttypes.h>
#include <string.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

/* Nonzero if this host is no member yet, and those that run the ensemble let it in for nothing: other hosts
 * have the entries, and propose what it proposes. */
static int
is_stranger(const struct lbm_node *node)
{
    return lbm_log_is_managed(node) && lbm_view_member(&node->view, node->host) == NULL;
}

static void
follow(struct lbm_node *node)
{
    node->is_following = !is_stranger(node);
    if (node->is_following)
        lbm_core_emit_log(node, LBM_EFFECT_LOG_FOLLOW, lbm_log_last(node) + 1, NULL, 0);
}

void
lbm_log_external_begin(struct lbm_node *node)
{
    uint64_t moved = node->view.ensemble.moved;
    if (lbm_log_is_managed(node) && moved == node->view.index && moved > node->log_base) {
        const struct lbm_recovered_entry *entry = lbm_log_entry(node, moved);
        lbm_core_emit_log(node, LBM_EFFECT_LOG_BEGIN, moved, entry->command, entry->len);
    }
    follow(node);
}

static void
external_start(struct lbm_node *node)
{
    if (node->may_found && lbm_log_last(node) == 0)
        lbm_log_bootstrap(node);
    lbm_log_ensemble_start(node);
    lbm_log_external_begin(node);
}

/* Nothing to tell others: they follow the log themselves. A proposal whose index has another entry by now
 * is proposed again for the next one. */
static void
external_applied(struct lbm_node *node, uint64_t from)
{
    (void)from;
    if (!node->is_following && !is_stranger(node))
        follow(node);
    if (node->append_us != 0 && node->view.index >= node->append_index)
        node->append_us = node->append_accepted = 0;
}

/* A proposal waits for its answer, and after it for the entry of its index. */
static int
external_append_waits(const struct lbm_node *node)
{
    return node->append_us != 0 || node->log_waits.n != 0 || lbm_log_snapshot_pending(node);
}

/* A member proposes it; that it did is seen by the entry alone. */
static void
ask_to_append(struct lbm_node *node)
{
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    append.token = node->appends.at[0].token;
    append.index = lbm_log_last(node) + 1;
    append.command = (ProtobufCBinaryData){node->appends.at[0].len, node->appends.at[0].command};
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_LOG_APPEND;
    message.log_append = &append;
    uint32_t host = lbm_log_next_connected(node);
    if (host != LBM_NONE)
        lbm_core_send(node, host, &message);
    node->append_retry_us = node->now_us + APPEND_RETRY_US;
    node->caught_up = 0;
}

static void
external_append(struct lbm_node *node)
{
    struct append *first = &node->appends.at[0];
    if (node->now_us < node->append_retry_us)
        return;
    if (is_stranger(node)) {
        ask_to_append(node);
        return;
    }
    node->append_us = node->now_us;
    node->append_index = first->at = lbm_log_last(node) + 1;
    lbm_core_emit_log(node, LBM_EFFECT_LOG_APPEND, node->append_index, first->command, first->len);
}

static int64_t
external_append_deadline(const struct lbm_node *node)
{
    return node->now_us < node->append_retry_us ? node->append_retry_us : node->now_us;
}

/* When other hosts are asked for entries: the shell brings what is new, unless it cannot reach the ensemble,
 * or the log has left it. */
static int64_t
external_fetch_deadline(const struct lbm_node *node)
{
    if (!lbm_log_is_managed(node))
        return INT64_MAX;
    int64_t behind_us = is_stranger(node) || node->ensemble.behind_us == 0
                            ? node->ensemble.behind_us
                            : node->ensemble.behind_us + EXTERNAL_BEHIND_US;
    return node->fetch_us != 0 && node->fetch_us + FETCH_RETRY_US > behind_us
               ? node->fetch_us + FETCH_RETRY_US
               : behind_us;
}

static void
external_fetch(struct lbm_node *node)
{
    if (node->ensemble.behind_us == 0)
        node->ensemble.behind_us = node->now_us;
    if (!lbm_log_is_managed(node) || node->now_us < external_fetch_deadline(node))
        return;
    node->fetch_us = node->now_us;
    node->fetch_host = lbm_log_next_connected(node);
    if (node->fetch_host != LBM_NONE)
        lbm_log_ask(node, node->fetch_host);
}

const struct log_engine log_external = {
    .start = external_start,
    .applied = external_applied,
    .append_waits = external_append_waits,
    .append = external_append,
    .append_deadline = external_append_deadline,
    .fetch = external_fetch,
    .fetch_deadline = external_fetch_deadline,
};

/* ---- events -------------------------------------------------------------------------------------------- */

/* Taken, or taken by another: the entry will come. No answer: it may have happened, or not; the same index
 * is tried again, unless its entry comes first. */
void
lbm_log_on_external_result(struct lbm_node *node, uint64_t index, enum lbm_log_result result)
{
    if (node->engine != LBM_LOG_ENGINE_EXTERNAL || node->append_us == 0 || index != node->append_index ||
        result != LBM_LOG_UNKNOWN)
        return;
    node->append_us = 0;
    node->append_retry_us = node->now_us + APPEND_RETRY_US;
}

void
lbm_log_on_external_entries(struct lbm_node *node, uint64_t from, const struct lbm_bytes *command, size_t n,
                            int caught_up)
{
    if (node->engine != LBM_LOG_ENGINE_EXTERNAL)
        return; /* the log has left the ensemble */
    if (from > lbm_log_last(node) + 1) {
        follow(node); /* something is missing in between */
        return;
    }
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++)
        if (from + i == lbm_log_last(node) + 1) {
            lbm_log_known_entry(node, LBM_NONE, from + i, command[i].at, command[i].len);
            lbm_log_take(node, command[i].at, command[i].len);
        }
    node->caught_up |= caught_up != 0;
    node->ensemble.behind_us = 0;
    node->doubted_by = node->diverged ? node->doubted_by : LBM_NONE; /* the ensemble has what follows */
}

void
lbm_log_external_heard(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogEntries *entries = message->log_entries;
    if (!lbm_log_is_managed(node) || lbm_log_doubt_heard(node, message, 0))
        return;
    uint64_t before = lbm_log_last(node);
    if (lbm_log_heard_entries(node, message->src, entries))
        return;
    if (lbm_log_last(node) > before && lbm_log_last(node) < entries->last)
        lbm_log_send_fetch(node, message->src);
    else if (lbm_log_last(node) >= entries->last && is_stranger(node))
        node->caught_up = 1; /* the log refuses what comes too late */
}

void
lbm_log_external_asked(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__LogAppend *append = message->log_append;
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    if (!lbm_log_is_managed(node) || lbm_view_member(&node->view, message->src) != NULL ||
        node->appends.n >= PROPOSALS_MAX ||
        lbm_wire_unpack_command(append->command.data, append->command.len, &command, &diag) != LBM_OK)
        return;
    int is_waiting = 0;
    for (size_t i = 0; i < node->appends.n; i++)
        is_waiting |= node->appends.at[i].len == append->command.len &&
                      memcmp(node->appends.at[i].command, append->command.data, append->command.len) == 0;
    if (!is_waiting && lbm_log_may_propose(node, message->src, command))
        (void)lbm_log_append_until(node, command, node->now_us + REQUEST_US);
    lbm__command__free_unpacked(command, NULL);
}

void
lbm_log_on_external_snapshot(struct lbm_node *node, uint64_t index, const struct lbm_bytes *view)
{
    if (index <= lbm_log_last(node) || node->engine != LBM_LOG_ENGINE_EXTERNAL)
        return;
    lbm_log_snapshot_install(node, view->at, view->len);
    node->ensemble.behind_us = 0;
    follow(node); /* from behind it */
}

void
lbm_log_on_external_older(struct lbm_node *node, uint64_t index)
{
    if (node->engine != LBM_LOG_ENGINE_EXTERNAL)
        return;
    node->log_is_older = index != 0;
    if (index != 0)
        lbm_core_note(node, LBM_NOTE_ERROR,
                      "etcd does not have entry %" PRIu64
                      " of the control log, which this host has applied: it was restored from an older copy. "
                      "Members and jobs stay as they are until it has a copy that is as new",
                      index);
    else
        lbm_core_note(node, LBM_NOTE_INFO, "etcd has what this host has applied");
}
